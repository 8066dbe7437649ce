"""What size costs: whole builds of runs of 52 hosts from 0.3 to 10 GB, beside other programs on the same files.

    python bench/sizes.py                        0.3, 1, 3 and 10 GB; prints the tables of bench/README.md
    python bench/sizes.py --gigabytes 0.3 --gigabytes 1

Every row is a command in a process of its own, measured three times: of times the shortest counts, of memory the most.
Builds begin with an empty cache. Programs that are not installed are left out. The logs are in the page cache where
they fit: the first row has read them.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from compare import ASSAY, HERE, INCUMBENT, REPORT, Data, better, machine, progress, simulated
from measure import CommandError, Measurement, measure

ALONE = [sys.executable, str(HERE / "duckdb_baseline.py")]
CHDB = [sys.executable, str(HERE / "chdb_baseline.py")]
#: of these only the smallest size is measured: they take minutes a gigabyte
SLOW = ("jq, one field",)
#: every row is measured so often, all of them in turn, so that a slow minute of the machine hits every row
ROUNDS = 3
STAGES = ("hash", "read", "results", "charts", "pdf")


@dataclass(frozen=True, slots=True)
class Built:
    """A whole build: time and memory, bytes of Parquet, seconds from the begin of a stage of any run to its last end
    (stages of several runs overlap)."""

    measured: Measurement
    parquet: int
    stages: dict[str, float]


@dataclass(slots=True)
class Size:
    """What was measured of a size: so many megabytes of logs, which may be gone since."""

    megabytes: float
    others: dict[str, Measurement] = field(default_factory=dict)
    built: Built | None = None
    again: Measurement | None = None


def others(data: Data, smallest: bool) -> dict[str, list[str]]:
    """Commands that read the same logs, by name."""
    logs = [log for run in data.runs for log in data.logs(run)]
    found = {
        "wc -l": ["wc", "-l", *logs],
        "DuckDB, count lines": [*ALONE, "lines", *logs],
        "DuckDB, read_json, inferred columns": [*ALONE, "read_json", *logs],
    }
    if find_spec("chdb"):
        found["ClickHouse (chDB), two paths"] = [*CHDB, *logs]
    if smallest and shutil.which("jq"):
        found[SLOW[0]] = ["jq", "-cR", "fromjson? | .ns", *logs]
    return found


def build(data: Data, work: Path, log: Path) -> Built:
    """A whole build with an empty cache.  Raises CommandError."""
    runs = [part for run in data.runs for part in ("--run", str(run))]
    command = [ASSAY, "build", REPORT, *runs, "-o", str(work / "out"), "--cache", str(work / "cache")]
    measured = measure([*command, "--log-format", "json"], log)
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines() if line.startswith("{")]
    stages = {stage: _span([line for line in lines if line["stage"] == stage]) for stage in STAGES}
    paths = {path.stat().st_ino: path.stat().st_size for path in (work / "cache" / "batches").rglob("*.parquet")}
    return Built(measured, sum(paths.values()), stages)


def _span(lines: Sequence[Mapping[str, Any]]) -> float:
    """Seconds from where the first of some lines of the log begins to where the last one ends."""
    ends = [datetime.fromisoformat(line["at"]).timestamp() for line in lines]
    return max(ends) - min(end - line["seconds"] for end, line in zip(ends, lines, strict=True)) if lines else 0.0


def measured(data: Data, smallest: bool, work: Path) -> Size:
    """All rows of a size, each in each of some rounds.  What was written before is on the disk by then: to write it out
    takes time from others."""
    found = Size(data.megabytes)
    os.sync()
    for number in range(1, ROUNDS + 1):
        for name, command in others(data, smallest).items():
            progress(f"{data.megabytes:.0f} MB, {number}/{ROUNDS}: {name}")
            found.others[name] = best(found.others.get(name), measure(command, work / "stderr"))
        progress(f"{data.megabytes:.0f} MB, {number}/{ROUNDS}: assay build")
        for folder in ("out", "cache"):
            shutil.rmtree(work / folder, ignore_errors=True)
        found.built = faster(found.built, build(data, work, work / "log"))
        runs = [part for run in data.runs for part in ("--run", str(run))]
        again = [ASSAY, "build", REPORT, *runs, "-o", str(work / "out"), "--cache", str(work / "cache")]
        found.again = best(found.again, measure(again, work / "stderr"))
    progress("")
    return found


def best(known: Measurement | None, found: Measurement) -> Measurement:
    """The shorter time, but the greater memory."""
    return better(known, found) if known else found


def faster(known: Built | None, found: Built) -> Built:
    """The build of the shorter time, with the greater memory."""
    if known is None:
        return found
    quick = min(known, found, key=lambda item: item.measured.seconds)
    return replace(quick, measured=better(known.measured, found.measured))


def rates(sizes: Sequence[Size]) -> list[list[str]]:
    """MB/s of raw logs of every program at every size."""
    names = list(dict.fromkeys(name for size in sizes for name in size.others))
    rows = [["MB/s of raw logs", *(f"{size.megabytes / 1000:.1f} GB" for size in sizes)]]
    for name in names:
        rows.append([name, *(_rate(size, size.others.get(name)) for size in sizes)])
    rows.append(["**assay build**, empty cache", *(_rate(size, size.built and size.built.measured) for size in sizes)])
    return rows


def costs(sizes: Sequence[Size]) -> list[list[str]]:
    """What a build costs at every size, and how far it is from the bounds."""
    rows = [["assay build", *(f"{size.megabytes / 1000:.1f} GB" for size in sizes)]]
    built = [(size, size.built) for size in sizes if size.built]
    rows.append(["seconds", *(f"{item.measured.seconds:.1f}" for _, item in built)])
    rows += [[f"of these, {stage}", *(f"{item.stages[stage]:.1f}" for _, item in built)] for stage in STAGES]
    rows.append(["peak memory, MB", *(f"{item.measured.peak / 1e6:.0f}" for _, item in built)])
    rows.append(["Parquet, share of raw", *(f"{item.parquet / size.megabytes / 1e4:.1f} %" for size, item in built)])
    for name in ("wc -l", "DuckDB, read_json, inferred columns"):
        ratios = (size.others[name].seconds / item.measured.seconds for size, item in built)
        rows.append([f"times as fast as {name}", *(f"{ratio:.2f}" for ratio in ratios)])
    times = (size.megabytes / item.measured.seconds / INCUMBENT for size, item in built)
    rows.append([f"times as fast as the incumbent ({INCUMBENT:.0f} MB/s)", *(f"{ratio:.1f}" for ratio in times)])
    rows.append(
        ["built again, nothing changed, seconds", *(f"{size.again.seconds:.1f}" for size in sizes if size.again)]
    )
    return rows


def _rate(size: Size, found: Measurement | None) -> str:
    return f"{size.megabytes / found.seconds:.0f}" if found else ""


def table(rows: Sequence[Sequence[str]]) -> str:
    """Rows as a Markdown table."""
    head, *body = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([head, "|---" + "|---:" * (len(rows[0]) - 1) + "|", *body])


def main() -> int:
    """Prints the tables.  Status 1 when a command fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gigabytes", type=float, action="append", help="plain logs of both runs (repeatable)")
    parser.add_argument("--hosts", type=int, default=52, help="hosts of a run (default 52)")
    parser.add_argument("--data", type=Path, default=HERE.parent / "build" / "bench", help="keeps runs of up to 1 GB")
    options = parser.parse_args()
    compileall.compile_dir(HERE.parent / "compiler", quiet=1)
    found: list[Size] = []
    for gigabytes in sorted(options.gigabytes or [0.3, 1, 3, 10]):
        data = simulated(options.data, gigabytes * 1000, options.hosts)
        work = options.data / "work"
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        try:
            found.append(measured(data, not found, work))
        except CommandError as failure:
            print(failure, file=sys.stderr)
            return 1
        finally:
            shutil.rmtree(work)
            for run in data.runs if gigabytes > 1 else ():
                shutil.rmtree(run)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False, cwd=HERE
    )
    print(f"{machine()}, {memory:.0f} GiB of memory; {options.hosts} hosts, two runs; {commit.stdout.strip()}\n")
    print(table(rates(found)), table(costs(found)), sep="\n\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
