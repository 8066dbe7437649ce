"""List the warnings of a report over runs: on groups, on data, on what is left out."""

from __future__ import annotations

from collections.abc import Iterator

from assay.app.build.computed_build import ComputedBuild
from assay.app.build.prepared_report import PreparedReport
from assay.app.compute.compute_groups import list_group_warnings, list_undrawn_series
from assay.app.compute.run_figures import create_run_figures, iter_findings, list_run_warnings
from assay.app.judge.repeats import split_calibration
from assay.lang.editions import list_former_rows
from assay.report.blocks.claims import list_claim_warnings
from assay.report.run_results import label_runs, list_own_names
from assay.report.versions import list_mixed_versions


def list_build_notes(prepared: PreparedReport, computed: ComputedBuild) -> tuple[str, ...]:
    """Return the warnings on groups, versions and runs as a whole, and on metrics that are left out."""
    report = prepared.report
    left_out = ", ".join(prepared.left_out)
    return (
        *list_group_warnings(report, computed.computed.groups),
        *computed.computed.notes.get("", ()),
        *list_mixed_versions(list_own_names(report.label, computed.runs), computed.runs),
        *_list_warnings_of_groups(prepared, computed),
        *_list_former_rows(prepared),
        *([f"Left out, because their data cannot be split into phases: {left_out}."] if left_out else []),
    )


def list_part_notes(computed: ComputedBuild) -> tuple[str, ...]:
    """Return the warnings on series that parts do not draw as a whole, and on claims."""
    undrawn = list_undrawn_series(computed.checked, computed.computed.groups)
    return (*undrawn, *list_claim_warnings(computed.claims))


def list_findings(prepared: PreparedReport, computed: ComputedBuild) -> tuple[str, ...]:
    """Return the findings on the data of runs, of calibration runs, and of whole runs beside their phases."""
    report = prepared.report
    labels = (
        *label_runs(report, computed.columns),
        *_label_calibration_runs(prepared, computed),
        *label_runs(report, computed.whole_runs),
    )
    return tuple(iter_findings(labels, [*computed.columns, *computed.calibration, *computed.whole_runs]))


def _list_warnings_of_groups(prepared: PreparedReport, computed: ComputedBuild) -> Iterator[str]:
    """Yield the warnings on the runs of each group; a run may be of several groups."""
    calibration_labels = _label_calibration_runs(prepared, computed)
    for group in computed.computed.groups:
        compared, _ = split_calibration(group.computation)
        labels = label_runs(prepared.report, list(map(create_run_figures, compared.runs)))
        yield from list_run_warnings(computed.checked.package, group.computation, (*labels, *calibration_labels))


def _list_former_rows(prepared: PreparedReport) -> Iterator[str]:
    """Yield a warning on the run parameters of an edition that have no value."""
    if labels := list_former_rows(prepared.report):
        edition = prepared.edition.name if prepared.edition else ""
        yield f"Edition {edition} has run parameters that are not computed from logs: {'; '.join(labels)}."


def _label_calibration_runs(prepared: PreparedReport, computed: ComputedBuild) -> list[str]:
    return [f"calibration run {label}" for label in label_runs(prepared.report, computed.calibration)]
