"""Ingest runs to Parquet (`assay ingest`).

Imports only what that requires, and as late as possible, for a fast start.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from assay.app.session.required_sources import has_source
from assay.app.session.runs import fetch_runs
from assay.app.session.session import Session
from assay.ingest.discovery import find_run, suggest_runs
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.package import Package, Source
from assay.plan.planner import AppliedFilter
from assay.runs.model import NamedRun
from assay.util.diagnostics import AssayError, fail


@dataclass(frozen=True, slots=True)
class IngestedSource:
    """An ingested source of a run: the run's id, the source's name, and the folder for the user."""

    run: str
    source: str
    folder: Path


def ingest_runs(
    session: Session, runs: Sequence[NamedRun], system: str | None, all_events: bool
) -> tuple[IngestedSource, ...]:
    """Ingest runs: the events that the system's metrics require, or all events.

    Raises AssayError with the problems of every run.
    """
    systems = (system,) if system else session.workspace.list_systems()
    runs = fetch_runs(session, runs, [item for name in systems for item in session.load_sources(name)])
    checked = find_system(session, runs[0], systems)
    package = checked.package
    session.run_hasher.begin([(run.id, run.directory) for run in runs], package.sources, package.events)
    from assay.app.session.ingester import MAX_CONCURRENT
    from assay.app.session.prepare import prepare

    required_fields = _collect_all_fields(package) if all_events else collect_required_fields(package)
    ingested_runs = prepare(session, checked, runs, select_available_events(checked, runs, required_fields))
    from assay.app.compute.export_run import link_run_folders  # slow to import

    with ThreadPoolExecutor(max_workers=MAX_CONCURRENT) as pool:
        output_folders = pool.map(lambda item: link_run_folders(session, item), ingested_runs)
    return tuple(
        IngestedSource(item.run.id, part.source.name, folder)
        for item, folders in zip(ingested_runs, output_folders, strict=True)
        for part, folder in zip(item.parts, folders, strict=True)
    )


def collect_required_fields(package: Package) -> dict[str, frozenset[str]]:
    """Return the fields of events that the metrics, filters and relations of a package require."""
    from assay.plan.planner import build_plan
    from assay.plan.request import Request

    filters = [AppliedFilter(item, "1" if item.parameter else None) for item in package.filters]
    request = Request(package.metrics, tuple(item.name for item in package.relations))
    return dict(build_plan(package, request, filters).required_fields)


def _collect_all_fields(package: Package) -> dict[str, frozenset[str]]:
    return {event.name: frozenset(field.name for field in event.fields) for event in package.events}


def select_available_events(
    checked: CheckedPackage, runs: Sequence[NamedRun], required_fields: Mapping[str, frozenset[str]]
) -> dict[str, frozenset[str]]:
    """Return the required events of sources that some run has; all of them if no run has any."""
    sources = {source.name for source in checked.package.sources if any(has_source(run, source) for run in runs)}
    events = {event.name for event in checked.package.events if event.source in sources}
    return {name: fields for name, fields in required_fields.items() if name in events or not sources}


def find_system(session: Session, run: NamedRun, systems: Sequence[str]) -> CheckedPackage:
    """Return the package of the system whose sources have files in the run's directory.

    Of several systems, returns the only one whose sources all have files. Raises AssayError if there is no such system.
    """
    if len(systems) == 1:
        return session.load_package(systems[0])
    system_matches = [(item, [_has_files(source, run) for source in session.load_sources(item)]) for item in systems]
    partial_matches = [system for system, source_matches in system_matches if any(source_matches)]
    complete_matches = [system for system, source_matches in system_matches if source_matches and all(source_matches)]
    for candidates in (partial_matches, complete_matches):
        if len(candidates) == 1:
            return session.load_package(candidates[0])
    names = ", ".join(f"`{system}`" for system in partial_matches)
    sources = [] if partial_matches else [source for item in systems for source in session.load_sources(item)]
    raise fail(
        "unknown-system",
        f"the run matches several systems, {names}: {run.place}"
        if partial_matches
        else f"the run has no files of any source of any system: {run.place}",
        hint=suggest_runs(sources, run.directory) or "pass --system NAME",
    )


def _has_files(source: Source, run: NamedRun) -> bool:
    """Return whether a run's directory has files of a source."""
    try:
        find_run(source, run.directory)
    except AssayError:
        return False
    return True
