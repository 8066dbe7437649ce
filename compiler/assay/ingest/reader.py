"""Ingest: the logs of a run to Parquet, in one pass over its files, hosts side by side."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from sqlglot import exp

from assay.ingest.extract import Wanted, extraction
from assay.ingest.files import HostFiles, RunFiles, broken
from assay.ingest.held import MANIFEST, manifest
from assay.ingest.summary import write_summary
from assay.spec.diagnostics import fail
from assay.spec.model import Event, Source
from assay.sql import dialect

if TYPE_CHECKING:
    import duckdb

FILE_STEP = 2**40  # places of lines of a host's next file begin here
MEMORY = 700  # MiB for all workers together

#: told how many bytes of raw files are done, of how many
Progress = Callable[[int, int], None]


def _silent(_done: int, _total: int) -> None:
    """Progress that nobody watches."""


def ingest(
    source: Source,
    events: Sequence[Event],
    wanted: Wanted,
    files: RunFiles,
    out: Path,
    *,
    workers: int | None = None,
    progress: Progress = _silent,
) -> None:
    """Write the folder `out` (all or nothing): events/<host>.parquet, logs.parquet, counts.parquet,
    quarantine.parquet, ingest.json.

    Raises AssayError: a file that cannot be read to its end, too many broken lines, no recognised line at all.
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix="ingest-", dir=out.parent))
    try:
        (fresh / "events").mkdir()
        _read_hosts(source, events, wanted, files, fresh, workers or os.cpu_count() or 1, progress)
        write_summary(source, events, wanted, files, fresh)
        (fresh / MANIFEST).write_text(manifest(source, events, wanted), encoding="utf-8")
        shutil.rmtree(out, ignore_errors=True)
        fresh.replace(out)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _read_hosts(
    source: Source,
    events: Sequence[Event],
    wanted: Wanted,
    files: RunFiles,
    folder: Path,
    workers: int,
    progress: Progress,
) -> None:
    """One statement a host; as many at a time as there are workers, the largest first."""
    lock, done = threading.Lock(), [0]
    count = min(workers, len(files.hosts))
    local = threading.local()

    def read(host: HostFiles) -> None:
        if not hasattr(local, "connection"):
            local.connection = _connect(folder, count)
        _read(local.connection, source, events, wanted, host, folder)
        with lock:
            done[0] += host.size
            progress(done[0], files.size)

    with ThreadPoolExecutor(max_workers=count) as pool:
        pending = [pool.submit(read, host) for host in sorted(files.hosts, key=lambda item: -item.size)]
        for item in pending:
            item.result()


def _connect(folder: Path, share: int) -> duckdb.DuckDBPyConnection:
    """A fresh engine with one thread, so that lines keep their places."""
    import duckdb

    connection = duckdb.connect()
    for name, value in (
        ("threads", "1"),
        ("memory_limit", f"{MEMORY // share}MiB"),
        ("temp_directory", str(folder / "spill")),
    ):
        connection.execute(f"SET {name} = ?", [value])
    return connection


def _read(
    connection: duckdb.DuckDBPyConnection,
    source: Source,
    events: Sequence[Event],
    wanted: Wanted,
    host: HostFiles,
    folder: Path,
) -> None:
    import duckdb

    parts = [
        extraction(source, events, wanted, host.host, file, index * FILE_STEP)
        for index, (file, size) in enumerate(zip(host.files, host.sizes, strict=True))
        if size
    ]
    if not parts:
        raise fail("no-logs", f"the log files of host {host.host} are empty: {host.files[0].parent}")
    query: exp.Query = parts[0]
    for part in parts[1:]:
        query = exp.union(query, part, distinct=False, copy=False)
    target = folder / "events" / f"{host.host}.parquet"
    try:
        connection.execute(copied(query, target))
    except duckdb.Error as error:
        raise broken(_culprit(host, str(error)), str(error).split("\n")[0]) from None


def _culprit(host: HostFiles, message: str) -> Path:
    return next((file for file in host.files if str(file) in message), host.files[0])


def copied(query: exp.Query, target: Path) -> str:
    """The statement that writes a query's rows as Parquet."""
    options = [("FORMAT", "parquet"), ("COMPRESSION", "snappy")]
    params = [exp.CopyParameter(this=exp.var(name), expression=exp.var(value)) for name, value in options]
    tree = exp.Copy(this=exp.paren(query), kind=False, files=[exp.Literal.string(str(target))], params=params)
    return tree.sql(dialect=dialect.DIALECT)
