"""Request everything that a report over runs is computed from."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from assay.app.compute.computation import Computation
from assay.app.compute.compute import compute
from assay.app.compute.report_metrics import list_judged_metrics, list_report_metrics
from assay.app.session.options import Options
from assay.app.session.phases import PhaseSelection
from assay.app.session.session import Session
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.package import Metric
from assay.lang.model.report import Report
from assay.plan.planner import AppliedFilter
from assay.plan.request import Request, RowRequest
from assay.plan.value_request import ValueRequest
from assay.report.blocks.rows import list_row_requests, list_shown_series
from assay.report.output_forms import HTML
from assay.report.prose import Prose
from assay.report.render.pdf import warm_up_converters
from assay.runs.model import NamedRun


def list_report_rows(
    checked: CheckedPackage, report: Report, texts: Iterable[Prose] = (), point_names: Collection[str] = ()
) -> tuple[RowRequest, ...]:
    """Return the rows that a report and its prose show; those whose names are among `point_names` are points."""
    requests = list_row_requests(checked, report, texts)
    return tuple(dataclasses.replace(item, are_points=item.are_points or item.name in point_names) for item in requests)


@dataclass(frozen=True, slots=True)
class ReportRequest:
    """What a report is computed from, and with which metrics besides its own.

    `texts` is its prose; rows whose names are among `point_names` are points.
    """

    runs: Sequence[NamedRun]
    applied_filters: Sequence[AppliedFilter]
    relations: Sequence[str]
    phase_selection: PhaseSelection | None
    details: Sequence[Metric]
    grouped_metrics: Sequence[Metric]
    options: Options
    texts: Sequence[Prose] = ()
    point_names: Collection[str] = ()

    def build_request(self, checked: CheckedPackage, report: Report) -> Request:
        """Return what a report needs of each run."""
        compared_metrics, options = list_judged_metrics(checked, report), self.options
        is_judged = bool(report.judgement) and not options.measures_noise
        has_quantiles = HTML in options.forms or is_judged
        return Request(
            list_report_metrics(checked, report),
            tuple(self.relations),
            list_report_rows(checked, report, self.texts, self.point_names),
            list_shown_series(report, self.texts),
            compared_metrics if is_judged else (),
            tuple(dict.fromkeys((*(compared_metrics if has_quantiles else ()), *self.details))),
            tuple(self.grouped_metrics),
        )

    def compute(
        self, session: Session, checked: CheckedPackage, report: Report, value_requests: Sequence[ValueRequest] = ()
    ) -> Computation:
        """Compute the metrics of a report, and the numbers of rows of values. Raises AssayError."""
        return compute(
            session,
            checked,
            self.runs,
            self.build_request(checked, report) | Request(values=tuple(value_requests)),
            self.applied_filters,
            self.phase_selection,
            lambda: warm_up_converters(session.get_templates()),
        )
