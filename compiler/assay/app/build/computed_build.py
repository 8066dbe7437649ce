"""Compute a report over runs: segments of its metrics, and what each group of runs has the records for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from assay.app.build.prepared_report import PreparedReport
from assay.app.compute.computation import Computation
from assay.app.compute.compute_groups import ComputedReport, check_group_claims, compute_groups
from assay.app.compute.report_metrics import list_report_metrics
from assay.app.compute.run_figures import create_run_figures
from assay.app.compute.run_groups import divide_into_groups
from assay.app.compute.splitting import SplitReport, split_report
from assay.app.judge.repeats import split_calibration
from assay.app.session.session import Session
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.package import Metric
from assay.lang.model.report import Report
from assay.report.blocks.claims import CheckedClaim
from assay.report.run_groups import list_main_runs
from assay.report.run_results import RunFigures


@dataclass(frozen=True, slots=True)
class ComputedBuild:
    """The results of a report over runs.

    `split` has the package with segments, and the report without what the runs lack records for; `computed` the results
    of each group. `computation` has the compared runs. `columns` are the figures of these, or of their phases; `runs`
    those of whole runs, `calibration` those of the other runs. `main_runs` are the columns that are no cases.
    """

    split: SplitReport
    computed: ComputedReport
    computation: Computation
    columns: Sequence[RunFigures]
    runs: Sequence[RunFigures]
    calibration: Sequence[RunFigures]
    main_runs: Sequence[RunFigures]
    claims: tuple[CheckedClaim, ...]

    @property
    def checked(self) -> CheckedPackage:
        """The package with the segments."""
        return self.split.checked

    @property
    def report(self) -> Report:
        """The report that is shown."""
        return self.split.report

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics of the report."""
        return list_report_metrics(self.checked, self.report)

    @property
    def whole_runs(self) -> Sequence[RunFigures]:
        """The runs whose phases are columns; empty if runs are."""
        return self.runs if self.computation.views else ()


def compute_build(session: Session, prepared: PreparedReport) -> ComputedBuild:
    """Compute a report over runs. Raises AssayError."""
    checked, report, request = prepared.checked, prepared.shown_report, prepared.request
    split = split_report(checked, report, partial(request.compute, session, checked, report), prepared.column)
    groups = divide_into_groups(split.report, prepared.texts, request.runs)
    computed = compute_groups(session, split.checked, split.report, request, groups)
    computation, calibration = split_calibration(computed.computation)
    columns = [create_run_figures(item) for item in computation.columns]
    return ComputedBuild(
        replace(split, report=computed.report),
        computed,
        computation,
        columns,
        list(map(create_run_figures, computation.runs)),
        list(map(create_run_figures, calibration)),
        list_main_runs(prepared.report, columns),
        check_group_claims(split.checked, computed.groups),
    )
