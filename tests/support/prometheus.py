"""Serve samples with a Prometheus server of the machine."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import socket
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

from tests.support.servers import wait

MISSING = [name for name in ("prometheus", "promtool") if not shutil.which(name)]
SKIP_REASON = f"{' and '.join(MISSING)} missing: apt-get install prometheus"

Series = Mapping[str, Any]


def read_saved_series(path: Path) -> list[Series]:
    """Return the series of a saved answer: `metric`, and `values` as pairs of texts."""
    with gzip.open(path, "rb") as stream:
        series: list[Series] = json.load(stream, parse_float=str, parse_int=str)["data"]["result"]
    return series


def format_openmetrics(series: Iterable[Series]) -> str:
    """Return series as OpenMetrics text."""
    lines = []
    for item in series:
        labels = (
            f"{name}={json.dumps(value, ensure_ascii=False)}"
            for name, value in item["metric"].items()
            if name != "__name__"
        )
        head = f"{item['metric']['__name__']}{{{','.join(labels)}}}"
        lines += [f"{head} {value} {Decimal(t):.3f}" for t, value in item["values"]]
    return "".join(f"{line}\n" for line in [*lines, "# EOF"])


def create_database(folder: Path, series: Iterable[Series]) -> Path:
    """Create a database of samples for servers."""
    text, base = folder / "samples.txt", folder / "database"
    text.write_text(format_openmetrics(series), encoding="utf-8")
    command = ["promtool", "tsdb", "create-blocks-from", "openmetrics", "--quiet", str(text), str(base)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stdout + result.stderr
    return base


@contextmanager
def serve_database(base: Path, folder: Path, *options: str) -> Iterator[str]:
    """Serve a copy of a database, and return the server's address."""
    folder.mkdir(parents=True)
    config = folder / "prometheus.yml"
    config.write_text("global: {scrape_interval: 1h}\n", encoding="utf-8")
    shutil.copytree(base, folder / "data")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        "prometheus", f"--config.file={config}", f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address=127.0.0.1:{port}", "--storage.tsdb.retention.time=100y", *options,
    ]  # fmt: skip
    url = f"http://127.0.0.1:{port}"
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log, env={**os.environ, "GOMAXPROCS": "2"})
        try:
            wait(server, f"{url}/-/ready", folder / "log")
            yield url
        finally:
            server.kill()
            server.wait()
