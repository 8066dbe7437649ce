"""Prepare the raw data of runs: find files, read constants, ingest events unless they are cached."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from assay.app.session.cache_filler import DiscoveredFiles
from assay.app.session.discover import discover_files, list_duplicate_constant_notes
from assay.app.session.ingester import MAX_CONCURRENT, Ingester, UnrecognisedSourcesError
from assay.app.session.required_sources import select_sources
from assay.app.session.runs import fetch_runs
from assay.app.session.session import Session
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.package import Metric
from assay.runs.model import IngestedRun, NamedRun, Part, RequiredFields
from assay.util.diagnostics import AssayError
from assay.util.numbers import format_count
from assay.util.progress import ignore

T = TypeVar("T")


def prepare(
    session: Session,
    checked: CheckedPackage,
    runs: Sequence[NamedRun],
    required_fields: RequiredFields,
    metrics: Sequence[Metric] = (),
    on_work_start: Callable[[], None] = ignore,
) -> tuple[IngestedRun, ...]:
    """Return every run with its events ingested, unless they are cached.

    `metrics` are the metrics that need the events; an error names them if no run has a source. `on_work_start` is
    called before raw files are read.

    Raises AssayError with the problems of every run.
    """
    runs = fetch_runs(session, runs, checked.package.sources)
    sources = select_sources(checked, metrics, required_fields, runs)
    discovered_files, constants = discover_files(session, checked, sources, runs, required_fields)
    ingester = Ingester(
        session,
        on_work_start,
        sum(item.files.size for item in discovered_files),
        len(discovered_files),
        _format_progress_label(discovered_files),
    )
    if session.filler:
        session.filler.read_logs(session, checked, [item for item in discovered_files if not ingester.is_cached(item)])
    # Ingesting one folder does not keep all cores busy all the time, so two are ingested at once.
    with ThreadPoolExecutor(max_workers=max(1, min(len(discovered_files), MAX_CONCURRENT))) as pool:
        parts = collect_results([pool.submit(ingester.read_part, item) for item in discovered_files])
    parts_by_run: dict[str, list[Part]] = {run.id: [] for run in runs}
    for item, part in zip(discovered_files, parts, strict=True):
        parts_by_run[item.run.id].append(part)
    return tuple(
        IngestedRun(
            run,
            constants[run.id],
            tuple(parts_by_run[run.id]),
            list_duplicate_constant_notes(checked.package.sources, run),
        )
        for run in runs
    )


def _format_progress_label(discovered_files: Sequence[DiscoveredFiles]) -> str:
    """Return the label of the progress display."""
    runs = list(dict.fromkeys(item.run.id for item in discovered_files))
    files = sum(len(host.files) for item in discovered_files for host in item.files.hosts)
    return f"reading {runs[0] if len(runs) == 1 else f'{len(runs)} runs'}, {format_count(files, 'file')}"


def collect_results(futures: Sequence[Future[T]]) -> list[T]:
    """Return the results of all futures.

    Raises AssayError with the problems of all that failed: an UnrecognisedSourcesError if each of them is one.
    """
    results: list[T] = []
    problems: list[AssayError] = []
    for item in futures:
        try:
            results.append(item.result())
        except AssayError as error:
            problems.append(error)
    if problems:
        distinct_problems = tuple(dict.fromkeys(item for error in problems for item in error.diagnostics))
        unrecognised = [error for error in problems if isinstance(error, UnrecognisedSourcesError)]
        if len(unrecognised) == len(problems):
            raise UnrecognisedSourcesError(dict(pair for error in unrecognised for pair in error.problems.items()))
        raise AssayError(distinct_problems, problems[0].status)
    return results
