"""Ingest: the logs of a run to Parquet, in one pass over its files, hosts side by side.

Each worker recognises the lines of some hosts (up to a batch of bytes), writes a file for each event out of them, and
goes on with the next hosts, so that memory stays the same for any number and length of logs.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sqlglot import exp

from assay.ingest.extract import ROWS, Numbered, Wanted, event_rows, numbered, recognition
from assay.ingest.files import HostFiles, RunFiles, broken, check_whole, one_kind_of_ends
from assay.ingest.held import MANIFEST, manifest
from assay.ingest.summary import Batch, Tally, lacking_rows, mark_lacking, read_batch, write_summary
from assay.spec.diagnostics import fail
from assay.spec.model import Event, Source
from assay.sql import dialect

if TYPE_CHECKING:
    import duckdb

FILE_STEP = 2**40  # places of lines of a host's next file begin here
BATCH = 192 * 2**20  # bytes of raw files whose rows are held at a time
MEMORY = 900  # MiB for all workers together; more is spilt to disk

MIXED_ENDS = "state machine reached an invalid state"  # what the engine says of lines that end in several ways

#: told how many bytes of raw files are done, of how many
Progress = Callable[[int, int], None]


def _silent(_done: int, _total: int) -> None:
    """Progress that nobody watches."""


@dataclass(frozen=True, slots=True)
class _Texts:
    """What is to be done, as far as it is the same for every batch."""

    source: Source
    forms: tuple[Numbered, ...]
    events: tuple[tuple[str, exp.Select], ...]


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
    """Write the folder `out` (all or nothing): events/<event>/<n>.parquet, logs.parquet, counts.parquet,
    quarantine.parquet, ingest.json.

    Raises AssayError: a file that cannot be read to its end, too many broken lines, no recognised line at all.
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix="ingest-", dir=out.parent))
    forms = numbered(events, wanted)
    queries = tuple((event.name, event_rows(source, event, forms)) for event in events if event.name in wanted)
    try:
        for name, _ in queries:
            (fresh / "events" / name).mkdir(parents=True)
        texts = _Texts(source, forms, queries)
        batches = _read_all(texts, files, fresh, workers or os.cpu_count() or 1, progress)
        write_summary(source, events, wanted, files, batches, forms, fresh)
        (fresh / MANIFEST).write_text(manifest(source, events, wanted), encoding="utf-8")
        shutil.rmtree(fresh / "spill", ignore_errors=True)
        shutil.rmtree(out, ignore_errors=True)
        fresh.replace(out)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _batches(hosts: Iterable[HostFiles]) -> list[list[HostFiles]]:
    """Hosts together up to a batch of bytes, the largest first."""
    found: list[list[HostFiles]] = []
    for host in sorted(hosts, key=lambda item: (-item.size, item.host)):
        fitting = next((item for item in found if sum(h.size for h in item) + host.size <= BATCH), None)
        if fitting is None:
            found.append([host])
        else:
            fitting.append(host)
    return found


def _spread(hosts: Sequence[HostFiles], workers: int) -> list[list[HostFiles]]:
    """Batches, at least as many as workers where there are hosts enough."""
    found = _batches(hosts)
    while len(found) < min(workers, len(hosts)):
        largest = max(found, key=len)
        found.remove(largest)
        found += [largest[::2], largest[1::2]]
    return found


def _read_all(texts: _Texts, files: RunFiles, folder: Path, workers: int, progress: Progress) -> tuple[Batch, ...]:
    lock, done = threading.Lock(), [0]
    batches = _spread(files.hosts, workers)
    count = min(workers, len(batches))

    def tell(size: int) -> None:
        with lock:
            done[0] += size
            progress(done[0], files.size)

    def read(job: tuple[int, list[HostFiles]]) -> Batch:
        with _connect(folder, count) as connection:
            return _read(connection, texts, job[0], job[1], folder, tell)

    with ThreadPoolExecutor(max_workers=count) as pool:
        return tuple(pool.map(read, enumerate(batches)))


def _connect(folder: Path, share: int) -> duckdb.DuckDBPyConnection:
    """A fresh engine with one thread, so that lines keep their places."""
    import duckdb

    connection = duckdb.connect()
    settings = (
        ("threads", "1"),
        ("memory_limit", f"{MEMORY // share}MiB"),
        ("temp_directory", str(folder / "spill")),
    )
    for name, value in settings:
        connection.execute(f"SET {name} = ?", [value])
    return connection


def _read(
    connection: duckdb.DuckDBPyConnection,
    texts: _Texts,
    number: int,
    hosts: Sequence[HostFiles],
    folder: Path,
    tell: Callable[[int], None],
) -> Batch:
    """Recognise the lines of some hosts, write a file for each event, and say what the logs hold."""
    fresh = True
    for host in hosts:
        for index, file in _filled_files(host):
            _recognise(connection, texts, host.host, file, index * FILE_STEP, fresh, folder)
            fresh = False
        tell(host.size)
    for name, query in texts.events:
        connection.execute(copied(query, folder / "events" / name / f"{number}.parquet"))
    lacking = lacking_rows(connection, folder, number, [name for name, _ in texts.events])
    mark_lacking(connection, lacking)
    return read_batch(connection)


def _filled_files(host: HostFiles) -> list[tuple[int, Path]]:
    """The files of a host that are not empty, each with its place among all."""
    found = [(index, file) for index, (file, size) in enumerate(zip(host.files, host.sizes, strict=True)) if size]
    if not found:
        raise fail("no-logs", f"the log files of host {host.host} are empty: {host.files[0].parent}")
    return found


def _recognise(
    connection: duckdb.DuckDBPyConnection,
    texts: _Texts,
    host: str,
    file: Path,
    first: int,
    fresh: bool,
    folder: Path,
) -> None:
    """Put the recognised lines of a file into the table `rows`, or make it of them."""
    import duckdb

    def fill(place: Path) -> None:
        connection.execute(_filled(recognition(texts.source, texts.forms, host, place, first), fresh))

    check_whole(file)
    try:
        try:
            fill(file)
        except duckdb.InvalidInputException as error:
            if MIXED_ENDS not in str(error):
                raise
            with one_kind_of_ends(file, folder) as plain:
                fill(plain)
    except duckdb.Error as error:
        raise broken(file, str(error).split("\n")[0]) from None


def _filled(query: exp.Select, fresh: bool) -> str:
    """The statement that makes the table `rows` of a query, or adds to it."""
    table = exp.to_table(ROWS)
    if fresh:
        properties = exp.Properties(expressions=[exp.TemporaryProperty()])
        tree: exp.Expr = exp.Create(this=table, kind="TABLE", expression=query, properties=properties)
    else:
        tree = exp.Insert(this=table, expression=query)
    return tree.sql(dialect=dialect.DIALECT, copy=False)


def copied(query: exp.Query, target: Path) -> str:
    """The statement that writes a query's rows as Parquet."""
    options = [("FORMAT", "parquet"), ("COMPRESSION", "snappy")]
    params = [exp.CopyParameter(this=exp.var(name), expression=exp.var(value)) for name, value in options]
    tree = exp.Copy(this=exp.paren(query), kind=False, files=[exp.Literal.string(str(target))], params=params)
    return tree.sql(dialect=dialect.DIALECT)


__all__ = ["FILE_STEP", "Tally", "ingest"]
