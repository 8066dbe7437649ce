"""Select the sources of the required events, and check that the runs have them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from assay.ingest.discovery import build_empty_run_diagnostic, has_files, suggest_runs
from assay.lang import dependencies
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.package import Metric, Source
from assay.runs.model import NamedRun
from assay.util.diagnostics import AssayError, Diagnostic, fail, raise_all
from assay.util.paths import format_listing

if TYPE_CHECKING:
    from assay.runs.model import RequiredFields


def select_sources(
    checked: CheckedPackage, metrics: Sequence[Metric], required_fields: RequiredFields, runs: Sequence[NamedRun]
) -> tuple[Source, ...]:
    """Return the sources of the required events; if no event is required, the first source that all runs have, if any.

    Raises AssayError if metrics need a source that no run has, or if a run is empty. Does not check a package's only
    source, as the search for its files reports what is missing.
    """
    package = checked.package
    if not package.sources:
        raise fail("sources", f"`{package.system}` has no source", hint="add one to the package's `sources`")
    source_of_event = {event.name: event.source for event in package.events}
    needed = [
        source for source in package.sources if source.name in {source_of_event[name] for name in required_fields}
    ]
    missing_sources = [source for source in needed if not any(has_source(run, source) for run in runs)]
    if missing_sources and len(package.sources) > 1:
        raise_all(build_empty_run_diagnostic(run.directory) for run in runs if not any(run.directory.iterdir()))
        raise AssayError(
            tuple(_create_missing_source_problem(checked, metrics, source, runs) for source in missing_sources)
        )
    shared = (source for source in package.sources if all(has_source(run, source) for run in runs))
    return tuple(needed) or tuple(shared)[:1]


def has_source(run: NamedRun, source: Source) -> bool:
    """Return whether a run has files of a source."""
    return has_files(source, run.directory)


def _create_missing_source_problem(
    checked: CheckedPackage, metrics: Sequence[Metric], source: Source, runs: Sequence[NamedRun]
) -> Diagnostic:
    """Return the problem of a source that no run has, with the metrics that need it."""
    events = {event.name for event in checked.package.events if event.source == source.name}
    events_by_metric = {
        metric.id: set(dependencies.collect_dependencies(checked.package, [metric], []).events) for metric in metrics
    }
    metric_names = [f"`{name}`" for name, read_events in events_by_metric.items() if read_events & events]
    more = f" and {len(metric_names) - 3} more" if len(metric_names) > 3 else ""
    readers = f"metrics {', '.join(metric_names[:3])}{more}" if metric_names else "the requested data"
    return Diagnostic(
        "no-source",
        f"no run has records of source `{source.name}`, which {readers} require",
        expected=f"{_describe_places(source)} in a run ({source.doc})",
        found=", ".join(run.place for run in runs),
        hint=_suggest_run_folder(checked, runs) or "remove the metrics from the report, or add the records to the runs",
    )


def _suggest_run_folder(checked: CheckedPackage, runs: Sequence[NamedRun]) -> str:
    """Return a hint about the first run that has no files of any source.

    It may be a folder of runs, or a folder within a run. Empty if all runs have files.
    """
    for run in runs:
        if not any(has_source(run, source) for source in checked.package.sources):
            return suggest_runs(checked.package.sources, run.directory) or (
                f"pass the directory of a run of {checked.package.system}; {run.place} contains "
                f"{format_listing(run.directory)}"
            )
    return ""


def _describe_places(source: Source) -> str:
    if source.hosts and not source.host_files:
        return f"directories {source.hosts}"
    return f"files {source.hosts or ', '.join(source.logs)}"
