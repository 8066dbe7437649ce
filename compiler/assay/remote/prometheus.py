"""Fetch the raw samples of a Prometheus server over a period, page by page, into one Parquet file.

A range selector (`up[1h]`), evaluated at an instant, returns raw samples. Servers differ in whether the range includes
its start, so pages overlap by a millisecond; duplicate samples count once.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sqlglot import exp

from assay.ingest import sql_trees
from assay.ingest.output_folder import open_engine
from assay.ingest.readers import sample_files, sample_store
from assay.ingest.readers.native_histograms import HistogramSample, add_histograms
from assay.remote import prometheus_times
from assay.remote.http import Server, TooManySamplesError
from assay.sql import dialect
from assay.sql.dialect import TARGET, build_column, build_copy_with_stats
from assay.util.diagnostics import USAGE, AssayError, fail, suggest_names
from assay.util.locks import release
from assay.util.progress import Progress
from assay.util.scratch import TEMPORARY_PREFIX, create_locked_folder

if TYPE_CHECKING:
    import duckdb

FILE = "samples.parquet"
SHORTEST = 1000  # ms: a shorter page is split by series
FIRST = 60_000  # ms of the first page
LARGE = 16 * 2**20  # bytes of a response above which the next page is smaller
QUERY, SERIES, NAMES = "/api/v1/query", "/api/v1/series", "/api/v1/label/__name__/values"


@dataclass(frozen=True, slots=True)
class Request:
    """A request: samples of the series of selectors from `start` to `end` (both included), in ms since 1970.

    `step` is the longest period of a page in ms.
    """

    selectors: tuple[str, ...]
    start: int
    end: int
    step: int


@dataclass(frozen=True, slots=True)
class Page:
    """A query: the samples of a selector between two instants, both included."""

    selector: str
    start: int
    end: int


def fetch(server: Server, request: Request, out: Path, report: Progress) -> Path:
    """Write `samples.parquet` into the folder `out` and return its path.

    Its columns are name, labels, t_ns, value, ordered by name, labels as text, t_ns. The file appears once it is
    complete. Raises AssayError: no server, no Prometheus, an error response, unknown series, an empty or invalid
    period.
    """
    if request.end < request.start:
        start, end = prometheus_times.format_instant(request.start), prometheus_times.format_instant(request.end)
        raise fail("bad-time", "--end is before --start", expected=f"a time after {start}", found=end, status=USAGE)
    for selector in request.selectors:
        require_series(server, request, selector)
    fresh_folder = not out.exists()
    scratch, lock = create_locked_folder(out, TEMPORARY_PREFIX)
    try:
        (scratch / "plain").mkdir()
        with open_engine(scratch) as connection:
            _fetch_pages(connection, server, request, scratch, report)
            new_file = scratch / FILE
            (counts,) = connection.execute(
                build_copy_with_stats(_select_samples(request)), {TARGET: str(new_file)}
            ).fetchall()
            if not counts[1]:
                start, end = (
                    prometheus_times.format_instant(request.start),
                    prometheus_times.format_instant(request.end),
                )
                message = f"the server has no samples of this period: {server.public_address}"
                raise fail("no-samples", message, found=f"none from {start} to {end}")
        new_file.replace(out / FILE)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
        release(lock)
        if fresh_folder and not any(out.iterdir()):
            out.rmdir()
    return out / FILE


def require_series(server: Server, request: Request, selector: str) -> None:
    """Check that the server has series of a selector in the period.  Raises AssayError."""
    if not _list_series(server, Page(selector, request.start, request.end)):
        names = [str(name) for name in server.request_data(NAMES, ())]
        word = selector.split("{")[0]
        hint = suggest_names(word, names) if word and word not in names else ""
        raise fail(
            "no-series",
            f"the server has no series of {selector}: {server.public_address}",
            expected=f"series from {prometheus_times.format_instant(request.start)} "
            f"to {prometheus_times.format_instant(request.end)}",
            found="none" if names else "no series of any name",
            hint=hint or "check --start and --end",
        )


def _list_series(server: Server, page: Page) -> list[Mapping[str, str]]:
    """Return the labels of the series of a page."""
    span = [("start", prometheus_times.format_seconds(page.start)), ("end", prometheus_times.format_seconds(page.end))]
    series = server.request_data(SERIES, [("match[]", page.selector), *span])
    return list(series)


def _fetch_pages(
    connection: duckdb.DuckDBPyConnection, server: Server, request: Request, scratch: Path, report: Progress
) -> None:
    """Query all pages and merge their samples."""
    sample_store.prepare(connection)
    span = (request.end - request.start) // 1000
    total = max(span * len(request.selectors), 1)
    report("fetching", 0, total)
    number = 0
    histograms: list[HistogramSample] = []
    for index, selector in enumerate(request.selectors):
        for page, text in _query_selector(server, request, selector):
            histograms += _load(connection, server, text, scratch / f"{number}.json", number)
            number += 1
            report("fetching", index * span + (page.end - request.start) // 1000, total)
    report("fetching", total, total)
    add_histograms(connection, histograms)
    sample_store.merge(connection, {index: f"response {index + 1}" for index in range(number)})


def _query_selector(server: Server, request: Request, selector: str) -> Iterator[tuple[Page, bytes]]:
    """Yield the responses for a selector.

    The period of a page shrinks after a large response and grows after a small one.
    """
    start, step = request.start, min(FIRST, request.step)
    while True:
        end, size = min(start + step, request.end), 0
        for page, text in _query_page(server, Page(selector, start, end)):
            size += len(text)
            yield page, text
        if end == request.end:
            return
        if size > LARGE:
            step = max(step // 2, SHORTEST)
        elif size < LARGE // 4:
            step = min(step * 2, request.step)
        start = end


def _query_page(server: Server, page: Page) -> Iterator[tuple[Page, bytes]]:
    """Yield the responses for a page; if it is too large, for halves of its period, then for single series."""
    try:
        yield page, _send_query(server, page)
        return
    except TooManySamplesError as error:
        parts = list(_split_page(server, page))
        if len(parts) < 2:
            raise fail(
                "too-many-samples",
                f"the server refuses a query of one series over a second: {server.public_address}",
                found=str(error),
                hint="raise the limit of the server (--query.max-samples)",
            ) from None
    for part in parts:
        yield from _query_page(server, part)


def _send_query(server: Server, page: Page) -> bytes:
    """Return the raw samples of a page; the range starts a millisecond early for servers that exclude its start."""
    range_ = f"{page.selector}[{page.end - page.start + 1}ms]"
    return server.send_request(QUERY, [("query", range_), ("time", prometheus_times.format_seconds(page.end))])


def _split_page(server: Server, page: Page) -> Iterator[Page]:
    """Yield the parts of a page."""
    if page.end - page.start >= 2 * SHORTEST:
        middle = (page.start + page.end) // 2
        yield Page(page.selector, page.start, middle)
        yield Page(page.selector, middle, page.end)
        return
    series = _list_series(server, page)
    names = {name for labels in series for name in labels}
    for labels in series:
        yield Page(_build_selector({name: labels.get(name, "") for name in names}), page.start, page.end)


def _build_selector(labels: Mapping[str, str]) -> str:
    """Return the selector of one series; an empty value matches a label that the series does not have."""
    return "{" + ",".join(f"{name}={_quote(value)}" for name, value in sorted(labels.items())) + "}"


def _quote(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _load(
    connection: duckdb.DuckDBPyConnection, server: Server, text: bytes, path: Path, number: int
) -> list[HistogramSample]:
    """Load the samples of a response; return its native histograms.

    Raises AssayError: it cannot be read, or has warnings.
    """
    path.write_bytes(text)
    try:
        warnings, histograms = sample_files.load(connection, path, number, path.parent / "plain")
    except AssayError as error:
        (cause, *_) = error.diagnostics
        details = cause.message.removesuffix(f": {path}") + (f" ({cause.found})" if cause.found else "")
        message = f"a response of the server cannot be read: {server.public_address}"
        raise fail("bad-answer", message, found=details) from None
    if warnings:
        raise fail(
            "partial-answer",
            f"the server warns that samples may be missing: {server.public_address}",
            found="; ".join(warnings),
            hint="check the stores of the server; no file was written",
        )
    path.unlink()
    return histograms


def _select_samples(request: Request) -> exp.Select:
    """Return the query for the samples of the period, in order."""
    query = sql_trees.set_source(dialect.select("name", "labels", "t_ns", "value"), "samples")
    query = query.join(
        "series", on=exp.EQ(this=build_column("series", "samples"), expression=build_column("id", "series")), copy=False
    )
    first, last = (dialect.build_integer(instant * 10**6) for instant in (request.start, request.end))
    return query.where(exp.Between(this=build_column("t_ns"), low=first, high=last), copy=False).order_by("id", "t_ns")


def build_request(selectors: Sequence[str], start: str, end: str, step: str) -> Request:
    """Build a request from the user's arguments.  Raises AssayError: an invalid time or step."""
    problems: list[AssayError] = []
    times: list[int] = []
    parse_instant, parse_duration = prometheus_times.parse_instant, prometheus_times.parse_duration
    arguments = (
        (parse_instant, start, "--start"),
        (parse_instant, end, "--end"),
        (parse_duration, step, "--step-size"),
    )
    for parse, text, option in arguments:
        try:
            times.append(parse(text, option))
        except AssayError as error:
            problems.append(error)
    if problems:
        raise AssayError([item for error in problems for item in error.diagnostics], problems[0].status)
    return Request(tuple(dict.fromkeys(selectors)), *times)
