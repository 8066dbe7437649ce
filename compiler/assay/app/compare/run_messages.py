"""Say on what a comparison of runs rests: their data, repeats, intervals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from assay.app.compute.computation import Computation, RunResult
from assay.app.compute.query import list_run_messages
from assay.app.compute.raw_data_notes import iter_shared_file_notes
from assay.app.compute.report_dates import list_break_warnings
from assay.app.compute.run_figures import create_run_figures
from assay.app.session.repeat_names import find_repeats
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.package import Metric
from assay.lang.model.report import Report
from assay.quality.finding import describe_findings
from assay.report.comparison_caution import describe_caution, list_unequal_parameters
from assay.report.verdicts.recorded_change import RecordedChange
from assay.runs.model import NamedRun


def list_messages(
    checked: CheckedPackage, computation: Computation, runs: Sequence[NamedRun], metrics: Sequence[Metric]
) -> tuple[str, ...]:
    """Return notes on the names and files of runs, and the warnings about their data."""
    ingested_runs = [item.ingested_run for item in computation.runs]
    return (
        *iter_repeats_notes(runs),
        *iter_shared_file_notes(ingested_runs, [item.id for item in runs]),
        *list_break_warnings(computation),
        *list_run_messages(checked, computation, metrics),
    )


def iter_repeats_notes(runs: Sequence[NamedRun]) -> Iterator[str]:
    """Yield a note if the names of runs that are compared one by one are those of repeats."""
    versions = {} if any(run.version for run in runs) else find_repeats([run.id for run in runs])
    if versions:
        words = " ".join(f"{versions[run.id]}={run.place}" for run in runs)
        yield f"the names of these runs look like those of repeats; to compare versions, write: {words}"


def list_conditions(changes: Iterable[RecordedChange]) -> list[str]:
    """Return the names of the metrics that are better in no direction and changed."""
    whole = [change for change in changes if not change.is_segment]
    return [change.name for change in whole if not change.has_direction and change.is_other_condition]


def describe_runs(
    report: Report | None, runs: Sequence[RunResult], compared: tuple[str, str], conditions: Sequence[str]
) -> tuple[str, tuple[tuple[int, ...], tuple[int, ...]]]:
    """Return why a comparison of two versions is suspect, and the numbers of hosts of their runs.

    It is if hosts, constants that should agree or `conditions` differ, or if data of a run are incomplete.
    """
    names = [(item.ingested_run.run.version or item.id, item) for item in runs]
    first, second = ([item for name, item in names if name == wanted] for wanted in compared)
    figures = (list(map(create_run_figures, first)), list(map(create_run_figures, second)))
    unequal = list_unequal_parameters(report, figures, compared)
    findings = describe_findings({item.id: item.quality.codes for item in (*first, *second)}, "see the warnings")
    hosts = (tuple(run.hosts for run in figures[0]), tuple(run.hosts for run in figures[1]))
    return " ".join(filter(None, (describe_caution([*unequal, *conditions]), findings))), hosts
