"""A real run with a change in its middle: node_exporter and Prometheus watch a program that writes through a shared
mapping of a file, then through a private one.

    python -m tests.support.upgrade_run FOLDER [SECONDS] [MEGABYTES A SECOND]

records such a run into FOLDER: `samples.parquet` (the output of `assay fetch`) and `meta.json`.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

HERE = Path(__file__).parent
PROGRAMS = ("prometheus", "prometheus-node-exporter")
MISSING = [name for name in PROGRAMS if not shutil.which(name)]
SKIP_REASON = f"{' and '.join(MISSING)} missing: apt-get install prometheus prometheus-node-exporter"
PATIENCE = 30.0  # seconds until a server must answer
NANOSECONDS = 1_000_000_000
#: window of rates in seconds, for one sample per second
WINDOW = 5
SELECTORS = (
    "up",
    'node_cpu_seconds_total{mode="idle"}',
    '{__name__=~"node_memory_(MemTotal|MemAvailable|SwapTotal|SwapFree)_bytes"}',
    "node_disk_written_bytes_total",
)


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """A recorded run: its folder, the time of the change, and the storage writes of the writer before and after.

    The writes are in bytes per second, by the kernel's counter of the process.
    """

    folder: Path
    change_ns: int
    before: float
    after: float


def find_device(folder: Path) -> str:
    """Return the kernel's name of a folder's disk; empty for a folder that is on no disk."""
    number = folder.stat().st_dev
    place = Path("/sys/dev/block") / f"{os.major(number)}:{os.minor(number)}"
    if not place.exists():
        return ""
    real = place.resolve()
    return real.parent.name if (real / "partition").exists() else real.name


def record_run(folder: Path, scratch: Path, seconds: float, rate: float) -> RecordedRun:
    """Record a run of two parts of `seconds` each, with `rate` MB/s written below `scratch`."""
    folder.mkdir(parents=True, exist_ok=True)
    exporter_port = _find_free_port()
    with (
        _run_program([PROGRAMS[1], f"--web.listen-address=127.0.0.1:{exporter_port}"], scratch / "exporter.log"),
        _run_prometheus(scratch, exporter_port) as (server, url),
    ):
        _wait_for_answer(f"http://127.0.0.1:{exporter_port}/metrics", scratch / "exporter.log")
        _wait_for_answer(f"{url}/-/ready", scratch / "server.log")
        time.sleep(WINDOW)
        records = _run_writer(scratch / "state", seconds, rate)
        time.sleep(1.5)
        _fetch(url, folder, records[0]["t_ns"], records[2]["t_ns"])
        assert server.poll() is None
    _describe(folder, scratch, records)
    return RecordedRun(folder, records[1]["t_ns"], *(_compute_rate(one, other) for one, other in pairwise(records)))


def _compute_rate(one: dict[str, int], other: dict[str, int]) -> float:
    """Return the bytes per second between two reports of the writer."""
    return (other["written"] - one["written"]) / (other["t_ns"] - one["t_ns"]) * NANOSECONDS


def measure_write_rates(run: RecordedRun, device: str) -> tuple[float, float]:
    """Return the bytes per second that all programs wrote to a drive, before and after the change."""
    import duckdb

    with duckdb.connect() as connection:
        rows = connection.execute(
            "SELECT t_ns, value FROM read_parquet(?) WHERE name = 'node_disk_written_bytes_total' "
            "AND labels::VARCHAR LIKE ? ORDER BY t_ns",
            [str(run.folder / "samples.parquet"), f"%device={device},%"],
        ).fetchall()
    parts = [row for row in rows if row[0] < run.change_ns], [row for row in rows if row[0] >= run.change_ns]
    before, after = ((part[-1][1] - part[0][1]) / (part[-1][0] - part[0][0]) * NANOSECONDS for part in parts)
    return before, after


def _describe(folder: Path, scratch: Path, records: Sequence[dict[str, int]]) -> None:
    meta = {
        "ident": "mapped writer",
        "host": f"{os.cpu_count()} CPUs, Linux",
        "versions": {"before": "shared mapping", "after": "private mapping"},
        "state": {"mode_before": "mapped", "mode_after": "mapped_private", "device": find_device(scratch)},
        "upgrade": _format_time(records[1]["t_ns"]),
        "rate_window_seconds": WINDOW,
    }
    (folder / "meta.json").write_text(json.dumps(meta, indent=2) + "\n", encoding="utf-8")


def _format_time(nanoseconds: int) -> str:
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(nanoseconds // NANOSECONDS))
    return f"{whole}.{nanoseconds % NANOSECONDS:09d}Z"


def _run_writer(place: Path, seconds: float, rate: float) -> list[dict[str, int]]:
    """Return the writer's reports at its start, its change and its end."""
    command = [sys.executable, str(HERE / "mapped_writer.py"), str(place), str(int(rate)), str(seconds)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=2 * seconds + PATIENCE, check=True)
    return [json.loads(line) for line in result.stdout.splitlines()]


def _fetch(url: str, folder: Path, since: int, until: int) -> None:
    matches = [part for selector in SELECTORS for part in ("--match", selector)]
    times = ["--start", str(since // NANOSECONDS), "--end", str(until // NANOSECONDS)]
    command = [sys.executable, "-m", "assay", "fetch", "prometheus", url, *matches, *times, "-o", str(folder)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, result.stderr


@contextmanager
def _run_prometheus(scratch: Path, exporter_port: int) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """Run a server that scrapes the exporter once per second; return its address."""
    config = scratch / "prometheus.yml"
    target = f"[{{job_name: node, static_configs: [{{targets: ['127.0.0.1:{exporter_port}']}}]}}]"
    config.write_text(
        f"global: {{scrape_interval: 1s, scrape_timeout: 1s}}\nscrape_configs: {target}\n", encoding="utf-8"
    )
    port = _find_free_port()
    command = [
        PROGRAMS[0], f"--config.file={config}", f"--storage.tsdb.path={scratch / 'data'}",
        f"--web.listen-address=127.0.0.1:{port}",
    ]  # fmt: skip
    with _run_program(command, scratch / "server.log") as server:
        yield server, f"http://127.0.0.1:{port}"


@contextmanager
def _run_program(command: Sequence[str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program during the block."""
    with log.open("wb") as stream:
        program = subprocess.Popen(command, stdout=stream, stderr=stream, env={**os.environ, "GOMAXPROCS": "2"})
        try:
            yield program
        finally:
            program.terminate()
            try:
                program.wait(timeout=10)
            except subprocess.TimeoutExpired:
                program.kill()
                program.wait()


def _find_free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def _wait_for_answer(url: str, log: Path) -> None:
    """Wait until a server answers."""
    end = time.monotonic() + PATIENCE
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    while time.monotonic() < end:
        try:
            with opener.open(url, timeout=5):
                return
        except OSError:
            time.sleep(0.1)
    raise AssertionError(f"{url} does not answer:\n{log.read_text(errors='replace')}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as scratch:
        print(record_run(Path(sys.argv[1]), Path(scratch), *map(float, [*sys.argv[2:4], "30", "20"][:2])))
