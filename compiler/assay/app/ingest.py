"""Ingest runs to Parquet (`assay ingest`).

Imports only what that requires, and as late as possible, for a fast start.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from assay.app.required_sources import has
from assay.app.runs import NamedRun, here
from assay.app.session import Session
from assay.ingest.discovery import find_run
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.package import Package, Source
from assay.plan.planner import AppliedFilter
from assay.util.diagnostics import AssayError, fail


@dataclass(frozen=True, slots=True)
class Ingested:
    """An ingested source of a run: the run's id, the source's name, and the folder for the user."""

    run: str
    source: str
    folder: Path


def ingest_runs(
    session: Session, runs: Sequence[NamedRun], system: str | None, everything: bool
) -> tuple[Ingested, ...]:
    """Ingest runs: the events that the system's metrics require, or all events.

    Raises AssayError with the problems of every run.
    """
    systems = (system,) if system else session.workspace.systems()
    runs = here(session, runs, [item for name in systems for item in session.sources(name)])
    checked = _system_of(session, runs[0], systems)
    package = checked.package
    session.hashes.begin([(run.id, run.directory) for run in runs], package.sources, package.events)
    from assay.app.prepare import SIDE_BY_SIDE, prepare  # imported while files are hashed

    required_fields = _everything(package) if everything else wanted_of(package)
    ingested = prepare(session, checked, runs, select_available_events(checked, runs, required_fields))
    from assay.app.export_run import handed_out  # slow to import

    with ThreadPoolExecutor(max_workers=SIDE_BY_SIDE) as pool:
        output_folders = pool.map(lambda item: handed_out(session, item), ingested)
    return tuple(
        Ingested(item.run.id, part.source.name, folder)
        for item, folders in zip(ingested, output_folders, strict=True)
        for part, folder in zip(item.parts, folders, strict=True)
    )


def wanted_of(package: Package) -> dict[str, frozenset[str]]:
    """Return the fields of events that the metrics, filters and relations of a package require."""
    from assay.plan.planner import plan

    filters = [AppliedFilter(item, "1" if item.parameter else None) for item in package.filters]
    return dict(plan(package, package.metrics, filters, [item.name for item in package.relations]).required_fields)


def _everything(package: Package) -> dict[str, frozenset[str]]:
    return {event.name: frozenset(field.name for field in event.fields) for event in package.events}


def select_available_events(
    checked: CheckedPackage, runs: Sequence[NamedRun], required_fields: Mapping[str, frozenset[str]]
) -> dict[str, frozenset[str]]:
    """Return the required events of sources that some run has; all of them if no run has any."""
    sources = {source.name for source in checked.package.sources if any(has(run, source) for run in runs)}
    events = {event.name for event in checked.package.events if event.source in sources}
    return {name: fields for name, fields in required_fields.items() if name in events or not sources}


def _system_of(session: Session, run: NamedRun, systems: Sequence[str]) -> CheckedPackage:
    """Return the package of the system whose sources find files in the run's directory.

    If several do, the one all of whose sources do. Raises AssayError if that is ambiguous.
    """
    if len(systems) == 1:
        return session.package(systems[0])
    matches = [(item, [_finds(source, run) for source in session.sources(item)]) for item in systems]
    partial = [system for system, finds in matches if any(finds)]
    complete = [system for system, finds in matches if finds and all(finds)]
    for candidates in (partial, complete):
        if len(candidates) == 1:
            return session.package(candidates[0])
    names = ", ".join(f"`{system}`" for system in partial)
    raise fail(
        "unknown-system",
        f"the sources of {names} find their files in {run.place}"
        if partial
        else f"no system's source finds its files in {run.place}",
        hint="name the system with --system",
    )


def _finds(source: Source, run: NamedRun) -> bool:
    """Return whether a source finds its files in the run's directory."""
    try:
        find_run(source, run.directory)
    except AssayError:
        return False
    return True
