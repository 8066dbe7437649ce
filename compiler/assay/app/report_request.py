"""Request everything that a report over runs is computed from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.app.compute import Computation, compute, list_judged_metrics, list_report_metrics
from assay.app.options import Options
from assay.app.phases import PhaseSelection
from assay.app.runs import NamedRun
from assay.app.session import Session
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.package import Metric
from assay.lang.model.report import Report
from assay.plan.planner import AppliedFilter
from assay.plan.value_request import ValueRequest
from assay.report.listings import list_listing_requests
from assay.report.output_forms import HTML
from assay.report.render.pdf import warm_up_converters
from assay.report.run_timelines import list_timeline_series


@dataclass(frozen=True, slots=True)
class ReportRequest:
    """What a report is computed from, and with which metrics besides its own."""

    runs: Sequence[NamedRun]
    applied_filters: Sequence[AppliedFilter]
    relations: Sequence[str]
    phase_selection: PhaseSelection | None
    details: Sequence[Metric]
    grouped_metrics: Sequence[Metric]
    options: Options

    def compute(
        self, session: Session, checked: CheckedPackage, report: Report, value_requests: Sequence[ValueRequest] = ()
    ) -> Computation:
        """Compute the metrics of a report, and the numbers of rows of values. Raises AssayError."""
        compared_metrics, options = list_judged_metrics(checked, report), self.options
        is_judged = bool(report.judgement) and not options.measures_noise
        has_quantiles = HTML in options.forms or is_judged
        return compute(
            session,
            checked,
            self.runs,
            list_report_metrics(checked, report),
            self.applied_filters,
            self.relations,
            lambda: warm_up_converters(session.get_templates()),
            row_requests=list_listing_requests(checked, report),
            series=list_timeline_series(report),
            phase_selection=self.phase_selection,
            judged=compared_metrics if is_judged else (),
            detailed=tuple(dict.fromkeys((*(compared_metrics if has_quantiles else ()), *self.details))),
            grouped=self.grouped_metrics,
            value_requests=value_requests,
        )
