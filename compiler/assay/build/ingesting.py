"""`assay ingest`: runs to Parquet.  It imports no more than that takes."""

from __future__ import annotations

from collections.abc import Sequence

from assay import ingest
from assay.build.prepare import Prepared, prepare
from assay.build.runs import NamedRun
from assay.build.session import Session
from assay.plan.steps import Applied, plan
from assay.spec.diagnostics import AssayError, fail
from assay.spec.normal_form import Checked


def ingest_runs(
    session: Session, runs: Sequence[NamedRun], system: str | None, everything: bool
) -> tuple[Prepared, ...]:
    """Ingest runs: the events that the system's metrics need, or all of its events."""
    checked = _system_of(session, runs[0], system)
    package = checked.package
    made = plan(
        package,
        package.metrics,
        [Applied(item, "1" if item.parameter else None) for item in package.filters],
        [item.name for item in package.relations],
    )
    wanted = dict(made.wanted)
    if everything:
        wanted = {event.name: frozenset(field.name for field in event.fields) for event in package.events}
    return prepare(session, checked, runs, wanted)


def _system_of(session: Session, run: NamedRun, system: str | None) -> Checked:
    """The system whose source finds its files in the run's directory; the only one there is, if there is one."""
    systems = (system,) if system else session.workspace.systems()
    if len(systems) == 1:
        return session.package(systems[0])
    for item in systems:
        checked = session.package(item)
        try:
            for source in checked.package.sources:
                ingest.find_run(source, run.directory)
        except AssayError:
            continue
        return checked
    raise fail(
        "unknown-system",
        f"no system's source finds its files in {run.directory}",
        hint="name the system with --system",
    )
