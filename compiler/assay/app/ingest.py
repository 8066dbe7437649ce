"""`assay ingest`: runs to Parquet.  It imports no more than that takes, and when it is needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from assay.app.required_sources import has
from assay.app.runs import NamedRun, here
from assay.app.session import Session
from assay.ingest.discovery import find_run
from assay.lang.model.package import Package, Source
from assay.lang.normal_form import CheckedPackage
from assay.util.diagnostics import AssayError, fail


@dataclass(frozen=True, slots=True)
class Ingested:
    """What was ingested of a run's source: the run's id, the source's name, the folder that is handed out."""

    run: str
    source: str
    folder: Path


def ingest_runs(
    session: Session, runs: Sequence[NamedRun], system: str | None, everything: bool
) -> tuple[Ingested, ...]:
    """Ingest runs: the events that the system's metrics need, or all of its events.

    AssayError with the problems of every run.
    """
    systems = (system,) if system else session.workspace.systems()
    runs = here(session, runs, [item for name in systems for item in session.sources(name)])
    checked = _system_of(session, runs[0], systems)
    package = checked.package
    session.hashes.begin([(run.id, run.directory) for run in runs], package.sources, package.events)
    from assay.app.prepare import SIDE_BY_SIDE, prepare  # while files are hashed

    wanted = _everything(package) if everything else wanted_of(package)
    found = prepare(session, checked, runs, select_available_events(checked, runs, wanted))
    from assay.app.export_run import handed_out  # loads much

    with ThreadPoolExecutor(max_workers=SIDE_BY_SIDE) as pool:
        handed = pool.map(lambda item: handed_out(session, item), found)
    return tuple(
        Ingested(item.run.id, part.source.name, folder)
        for item, folders in zip(found, handed, strict=True)
        for part, folder in zip(item.parts, folders, strict=True)
    )


def wanted_of(package: Package) -> dict[str, frozenset[str]]:
    """The fields of events that the metrics of a package need, its filters and its relations."""
    from assay.plan.planner import AppliedFilter, plan

    filters = [AppliedFilter(item, "1" if item.parameter else None) for item in package.filters]
    return dict(plan(package, package.metrics, filters, [item.name for item in package.relations]).required_fields)


def _everything(package: Package) -> dict[str, frozenset[str]]:
    return {event.name: frozenset(field.name for field in event.fields) for event in package.events}


def select_available_events(
    checked: CheckedPackage, runs: Sequence[NamedRun], wanted: Mapping[str, frozenset[str]]
) -> dict[str, frozenset[str]]:
    """The wanted events of sources that some run has; all of them where no run has any."""
    sources = {source.name for source in checked.package.sources if any(has(run, source) for run in runs)}
    events = {event.name for event in checked.package.events if event.source in sources}
    return {name: fields for name, fields in wanted.items() if name in events or not sources}


def _system_of(session: Session, run: NamedRun, systems: Sequence[str]) -> CheckedPackage:
    """The one system with a source that finds its files in the run's directory; of several, the one all of whose
    sources do."""
    if len(systems) == 1:
        return session.package(systems[0])
    having = [(item, [_finds(source, run) for source in session.sources(item)]) for item in systems]
    found = [system for system, there in having if any(there)]
    whole = [system for system, there in having if there and all(there)]
    for candidates in (found, whole):
        if len(candidates) == 1:
            return session.package(candidates[0])
    names = ", ".join(f"`{system}`" for system in found)
    raise fail(
        "unknown-system",
        f"the sources of {names} find their files in {run.place}"
        if found
        else f"no system's source finds its files in {run.place}",
        hint="name the system with --system",
    )


def _finds(source: Source, run: NamedRun) -> bool:
    """Whether a source finds its files in the run's directory."""
    try:
        find_run(source, run.directory)
    except AssayError:
        return False
    return True
