"""Record what a build of a report over runs was made from, and with which choices."""

from __future__ import annotations

from collections.abc import Mapping

from assay.app.build.computed_build import ComputedBuild
from assay.app.build.prepared_report import PreparedReport
from assay.app.compute.report_dates import get_report_date
from assay.app.compute.report_metrics import list_report_metrics
from assay.app.compute.run_figures import collect_cut_runs, collect_inputs
from assay.app.session.prose import get_texts
from assay.app.session.session import Session
from assay.provenance.record import build_provenance
from assay.report.blocks.claims import build_claims_data
from assay.report.parts import list_part_metrics
from assay.report.prose import Prose
from assay.report.run_results import Choices


def create_choices(prepared: PreparedReport, computed: ComputedBuild) -> Choices:
    """Return the choices of a report; without a date in the options, it has that of its last record."""
    options, request = prepared.options, prepared.request
    return Choices(
        options.style,
        options.summary,
        tuple(item.label for item in request.applied_filters),
        options.date or get_report_date(computed.computed.computation),
        options.title,
        options.author,
        options.at,
        options.phases,
        options.margin,
        options.measures_noise,
        prepared.columns,
        tuple(metric.id for metric in request.details),
        options.by,
        options.filter_files,
        prepared.edition.name if prepared.edition else "",
    )


def record_build(
    session: Session, prepared: PreparedReport, computed: ComputedBuild, choices: Choices, prose: Mapping[str, Prose]
) -> dict[str, object]:
    """Return the provenance of a report as plain data; `prose` is all of its text."""
    checked, report = computed.checked, prepared.report
    defined = [
        *(metric.id for metric in list_report_metrics(checked, report)),
        *list_part_metrics(report, prepared.texts.values()),
    ]
    return build_provenance(
        checked,
        report,
        list(dict.fromkeys(defined)),
        choices,
        computed.runs,
        [collect_inputs(checked, item) for item in computed.computed.computation.runs],
        session.get_templates(),
        get_texts(prose),
        collect_cut_runs(computed.computation),
        build_claims_data(computed.claims),
        computed.calibration,
    )
