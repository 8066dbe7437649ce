"""The raw samples of a Prometheus server over a time, page by page, into one Parquet file.

A range of a selector (`up[1h]`), asked for at an instant, gives raw samples.  Servers differ in whether the range holds
its own beginning, so that pages overlap by a millisecond; a sample that comes twice counts once.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sqlglot import exp

from assay.ingest import builder
from assay.ingest.readers import sample_files, sample_store
from assay.ingest.workspace_dir import open_engine
from assay.remote import prometheus_times
from assay.remote.http import Server, TooManyError
from assay.sql import dialect
from assay.sql.dialect import TARGET, column, copied
from assay.util.diagnostics import USAGE, AssayError, did_you_mean, fail
from assay.util.locks import release
from assay.util.progress import Progress
from assay.util.scratch import BESIDE, create_locked_folder

if TYPE_CHECKING:
    import duckdb

FILE = "samples.parquet"
SHORTEST = 1000  # ms: a page of a shorter time is divided by series
FIRST = 60_000  # ms that the first page covers
LARGE = 16 * 2**20  # bytes of an answer after which the next is to be smaller
QUERY, SERIES, NAMES = "/api/v1/query", "/api/v1/series", "/api/v1/label/__name__/values"


@dataclass(frozen=True, slots=True)
class Request:
    """What is wanted: samples of the series of selectors, from `start` to `end` (both included), ms since 1970.

    `step` is the most time of a page in ms.
    """

    selectors: tuple[str, ...]
    start: int
    end: int
    step: int


@dataclass(frozen=True, slots=True)
class Page:
    """A question: the samples of a selector from an instant to another, both included."""

    selector: str
    start: int
    end: int


def fetch(server: Server, request: Request, out: Path, tell: Progress) -> Path:
    """Write `samples.parquet` (name, labels, t_ns, value; ordered by name, labels as text, t_ns) into the folder `out`.

    The file is there when all of it is.  Raises AssayError: no server, no Prometheus, an error as an answer, no such
    series, a time that is none.
    """
    if request.end < request.start:
        start, end = prometheus_times.format_instant(request.start), prometheus_times.format_instant(request.end)
        raise fail("bad-time", "--end is before --start", expected=f"a time after {start}", found=end, status=USAGE)
    for selector in request.selectors:
        require_series(server, request, selector)
    fresh_folder = not out.exists()
    scratch, lock = create_locked_folder(out, BESIDE)
    try:
        (scratch / "plain").mkdir()
        with open_engine(scratch) as connection:
            _fill(connection, server, request, scratch, tell)
            fresh = scratch / FILE
            (written,) = connection.execute(copied(_ordered(request)), {TARGET: str(fresh)}).fetchall()
            if not written[1]:
                start, end = (
                    prometheus_times.format_instant(request.start),
                    prometheus_times.format_instant(request.end),
                )
                message = f"the server has no samples of this time: {server.public_address}"
                raise fail("no-samples", message, found=f"none from {start} to {end}")
        fresh.replace(out / FILE)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
        release(lock)
        if fresh_folder and not any(out.iterdir()):
            out.rmdir()
    return out / FILE


def require_series(server: Server, request: Request, selector: str) -> None:
    """AssayError when the server has no series of a selector in the time."""
    if not _series(server, Page(selector, request.start, request.end)):
        names = [str(name) for name in server.data(NAMES, ())]
        word = selector.split("{")[0]
        hint = did_you_mean(word, names) if word and word not in names else ""
        raise fail(
            "no-series",
            f"the server has no series of {selector}: {server.public_address}",
            expected=f"series from {prometheus_times.format_instant(request.start)} "
            f"to {prometheus_times.format_instant(request.end)}",
            found="none" if names else "a server without any series",
            hint=hint or "were they there at another time?",
        )


def _series(server: Server, page: Page) -> list[Mapping[str, str]]:
    """The labels of the series of a page."""
    span = [("start", prometheus_times.seconds(page.start)), ("end", prometheus_times.seconds(page.end))]
    found = server.data(SERIES, [("match[]", page.selector), *span])
    return list(found)


def _fill(
    connection: duckdb.DuckDBPyConnection, server: Server, request: Request, scratch: Path, tell: Progress
) -> None:
    """Ask for all pages, and put their samples together."""
    sample_store.prepare(connection)
    span = (request.end - request.start) // 1000
    total = max(span * len(request.selectors), 1)
    tell("fetching", 0, total)
    number = 0
    for index, selector in enumerate(request.selectors):
        for page, text in _pages(server, request, selector):
            _load(connection, server, text, scratch / f"{number}.json", number)
            number += 1
            tell("fetching", index * span + (page.end - request.start) // 1000, total)
    tell("fetching", total, total)
    sample_store.merge(connection, {index: f"answer {index + 1}" for index in range(number)})


def _pages(server: Server, request: Request, selector: str) -> Iterator[tuple[Page, bytes]]:
    """The answers of a selector; each begins where the one before ends, and covers less when that was large."""
    start, step = request.start, min(FIRST, request.step)
    while True:
        end, size = min(start + step, request.end), 0
        for page, text in _answers(server, Page(selector, start, end)):
            size += len(text)
            yield page, text
        if end == request.end:
            return
        if size > LARGE:
            step = max(step // 2, SHORTEST)
        elif size < LARGE // 4:
            step = min(step * 2, request.step)
        start = end


def _answers(server: Server, page: Page) -> Iterator[tuple[Page, bytes]]:
    """The answers to a page; when one would be too large, those to halves of its time, then to series of it."""
    try:
        yield page, _ask(server, page)
        return
    except TooManyError as error:
        parts = list(_parts(server, page))
        if len(parts) < 2:
            raise fail(
                "too-many-samples",
                f"the server refuses even a second of one series: {server.public_address}",
                found=str(error),
                hint="its limit is too low: see --query.max-samples of the server",
            ) from None
    for part in parts:
        yield from _answers(server, part)


def _ask(server: Server, page: Page) -> bytes:
    """The raw samples of a page; the range begins a millisecond early, for servers that leave its beginning out."""
    range_ = f"{page.selector}[{page.end - page.start + 1}ms]"
    return server.ask(QUERY, [("query", range_), ("time", prometheus_times.seconds(page.end))])


def _parts(server: Server, page: Page) -> Iterator[Page]:
    """A page in parts."""
    if page.end - page.start >= 2 * SHORTEST:
        middle = (page.start + page.end) // 2
        yield Page(page.selector, page.start, middle)
        yield Page(page.selector, middle, page.end)
        return
    found = _series(server, page)
    names = {name for labels in found for name in labels}
    for labels in found:
        yield Page(_exactly({name: labels.get(name, "") for name in names}), page.start, page.end)


def _exactly(labels: Mapping[str, str]) -> str:
    """The selector of one series; an empty label is one that it lacks."""
    return "{" + ",".join(f"{name}={_quoted(value)}" for name, value in sorted(labels.items())) + "}"


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _load(connection: duckdb.DuckDBPyConnection, server: Server, text: bytes, place: Path, number: int) -> None:
    """Add the samples of an answer.  AssayError when it cannot be read, or the server says that some are missing."""
    place.write_bytes(text)
    try:
        told = sample_files.load(connection, place, number, place.parent / "plain")
    except AssayError as error:
        (cause, *_) = error.diagnostics
        found = cause.message.removesuffix(f": {place}") + (f" ({cause.found})" if cause.found else "")
        message = f"an answer of the server cannot be read: {server.public_address}"
        raise fail("bad-answer", message, found=found) from None
    if told:
        raise fail(
            "partial-answer",
            f"samples may be missing, as the server says with its answer: {server.public_address}",
            found="; ".join(told),
            hint="are all of its stores there? nothing was written",
        )
    place.unlink()


def _ordered(request: Request) -> exp.Select:
    """The samples of the time, in order."""
    query = builder.from_source(dialect.select("name", "labels", "t_ns", "value"), "samples")
    query = query.join(
        "series", on=exp.EQ(this=column("series", "samples"), expression=column("id", "series")), copy=False
    )
    first, last = (dialect.integer(instant * 10**6) for instant in (request.start, request.end))
    return query.where(exp.Between(this=column("t_ns"), low=first, high=last), copy=False).order_by("id", "t_ns")


def request_of(selectors: Sequence[str], start: str, end: str, step: str) -> Request:
    """A request out of what a user writes.  AssayError when a time or the step is none."""
    problems: list[AssayError] = []
    found: list[int] = []
    for read, text, option in ((prometheus_times.instant, start, "--start"), (prometheus_times.instant, end, "--end"),
                               (prometheus_times.duration, step, "--step-size")):  # fmt: skip
        try:
            found.append(read(text, option))
        except AssayError as error:
            problems.append(error)
    if problems:
        raise AssayError([item for error in problems for item in error.diagnostics], problems[0].status)
    return Request(tuple(dict.fromkeys(selectors)), *found)
