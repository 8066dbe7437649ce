"""Resolve the options of a build of a report over runs: which report is built, over which runs, with which rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from assay.app.build.author_texts import read_texts
from assay.app.build.report_check import check_reports
from assay.app.compute.grouping import group_metrics
from assay.app.compute.report_metrics import list_report_metrics, list_shown_metrics
from assay.app.compute.report_request import ReportRequest
from assay.app.compute.run_groups import check_run_names
from assay.app.compute.splitting import parse_dimensions, split_sections
from assay.app.judge.repeats import check_repeats, override_margin
from assay.app.session import filters
from assay.app.session.options import Options, choose_summary
from assay.app.session.phases import check_runs, select_phases
from assay.app.session.runs import fetch_runs
from assay.app.session.session import Session
from assay.lang.check.reports import is_day
from assay.lang.checked_package import CheckedPackage
from assay.lang.editions import describe_edition, find_edition, select_edition
from assay.lang.formula import is_formula
from assay.lang.model.package import Metric
from assay.lang.model.report import Chart, Edition, Report, Section
from assay.number_styles.registry import get_style, list_style_names
from assay.plan.planner import can_split_by_phase
from assay.report.prose import Prose
from assay.report.statistic_names import EXPECTED, STATISTICS, split_names, suggest_column
from assay.runs.model import NamedRun
from assay.util.diagnostics import USAGE, fail, suggest_names

NOISE_STYLE = "prefixed"  # of reports on noise, whose numbers differ in magnitude


@dataclass(frozen=True, slots=True)
class PreparedReport:
    """A report whose options are resolved.

    `report` is that of the specs. `shown_report` has the margin and the split sections of the options, and lacks the
    metrics that phases cannot split, whose names are `left_out`. `options` have a summary and a number style; `columns`
    are those of every section, `column` is that of `--by` if it is no dimension. `texts` is the prose. All of it is in
    the `edition` of the options, if they have one.
    """

    checked: CheckedPackage
    report: Report
    shown_report: Report
    options: Options
    request: ReportRequest
    texts: Mapping[str, Prose]
    columns: tuple[str, ...]
    column: str
    left_out: tuple[str, ...]
    edition: Edition | None

    def describe_edition(self) -> dict[str, str]:
        """Return the line of the provenance on the edition; none without one."""
        return {"Edition": describe_edition(self.edition)} if self.edition else {}


def prepare_report(session: Session, name: str, runs: Sequence[NamedRun], options: Options) -> PreparedReport:
    """Resolve the options of a build of the report `system/name` over runs. Raises AssayError."""
    checked, report = session.find_report_of_runs(name)
    check_reports(session, checked.package)
    edition = find_edition(report, options.edition) if options.edition else None
    checked, report = select_edition(checked, report, options.edition)
    check_run_names(report, runs)
    resolved_options = _resolve_options(checked, report, options)
    columns = _parse_columns(options.columns)
    phase_selection = select_phases(checked.package, report.phases, options.at, options.phases)
    check_repeats(report, runs, options, has_phases=phase_selection is not None)
    if phase_selection:
        check_runs(phase_selection, (run.id for run in runs))
    shown_report, left_out = _drop_uncut_metrics(checked, report) if phase_selection else (report, ())
    shown_report = override_margin(shown_report, options.margin)
    details = _find_detailed_metrics(list_report_metrics(checked, shown_report), options.details)
    shown_metrics = list_shown_metrics(checked, shown_report)
    _refuse_options_of_tables(report, options)
    dimensions = parse_dimensions(checked.package, shown_metrics, options.by)
    column = "" if dimensions else options.by
    shown_report = split_sections(checked, shown_report, dimensions)
    shown_report, texts = read_texts(session.workspace, checked, shown_report, options.texts)
    request = ReportRequest(
        fetch_runs(session, runs, checked.package.sources),
        filters.parse_filters(checked.package, report, options.filters, options.no_filters),
        tuple(sorted({row.relation for row in report.manifest if row.relation})),
        phase_selection,
        details,
        group_metrics(checked, shown_metrics, column, session.workspace),
        resolved_options,
    )
    return PreparedReport(
        checked, report, shown_report, resolved_options, request, texts, columns, column, left_out, edition
    )


def _drop_uncut_metrics(checked: CheckedPackage, report: Report) -> tuple[Report, tuple[str, ...]]:
    """Return the report without the metrics that phases cannot cut, and the names of those metrics."""
    package = checked.package
    splittable_ids = {metric.id for metric in package.metrics if can_split_by_phase(package, metric.grain)}
    left_out = tuple(metric.name for metric in list_report_metrics(checked, report) if metric.id not in splittable_ids)

    def keep_listed(names: Sequence[str]) -> tuple[str, ...]:
        return tuple(name for name in names if name in splittable_ids)

    def keep_section(_name: str, section: Section) -> Iterator[Section]:
        if metrics := keep_listed(section.metrics):
            yield replace(section, metrics=metrics)

    def keep_chart(_part: str, chart: Chart) -> Iterator[Chart]:
        if chart.metric in splittable_ids:
            yield chart

    groups = (replace(item, metrics=keep_listed(item.metrics)) for item in report.dictionary)
    shown_report = replace(
        report.replace_sections(keep_section).replace_charts(keep_chart),
        dictionary=tuple(item for item in groups if item.metrics),
        also=keep_listed(report.also),
    )
    return shown_report, left_out


def _resolve_options(checked: CheckedPackage, report: Report, options: Options) -> Options:
    """Return the options with the report's summary and number style as defaults.

    Raises AssayError (usage) for an unknown summary or style, and for an invalid date.
    """
    summary = choose_summary(checked.package, report, options.summary)
    style_name = options.style or (NOISE_STYLE if options.measures_noise else report.style)
    if style_name not in list_style_names():
        raise fail(
            "unknown-style",
            f"unknown number style `{style_name}`",
            hint=suggest_names(style_name, list_style_names()),
            status=USAGE,
        )
    get_style(style_name)
    filter_files = options.filter_files or filters.list_filter_sources(checked.package, options.filters)
    if options.date:
        _check_date(options.date)
    return replace(options, summary=summary, style=style_name, filter_files=filter_files)


def _refuse_options_of_tables(report: Report, options: Options) -> None:
    """Raise AssayError (usage) for options of tables of metrics if a report has none."""
    chosen = {"--columns": options.columns, "--by": options.by}
    option = next((name for name, value in chosen.items() if value), "")
    if option and not report.metric_sections:
        raise fail("no-sections", f"{option} is for tables of metrics, but the report `{report.name}` has none",
                   expected="a report with sections", status=USAGE)  # fmt: skip


def _parse_columns(text: str) -> tuple[str, ...]:
    """Return the columns of `--columns`. Raises AssayError (usage) for an unknown one."""
    columns = split_names(text)
    for name in columns:
        if name not in STATISTICS:
            raise fail(
                "unknown-column",
                f"unknown column `{name}` in --columns",
                expected=EXPECTED,
                hint=suggest_column(name),
                status=USAGE,
            )
    return columns


def _find_detailed_metrics(metrics: Sequence[Metric], names: Sequence[str]) -> tuple[Metric, ...]:
    """Return the metrics of `--details`. Raises AssayError (usage) for unknown ones and for formulas."""
    metrics_by_id = {metric.id: metric for metric in metrics}
    for name in names:
        if name not in metrics_by_id:
            message, hint = f"unknown metric `{name}` in --details", suggest_names(name, metrics_by_id)
            raise fail("unknown-metric", message, expected="a metric of the report", hint=hint, status=USAGE)
        if is_formula(metrics_by_id[name]):
            message = f"the metric `{name}` of --details is a formula, which has no distribution"
            raise fail("details-of-formula", message, hint="name the metrics that it is computed from", status=USAGE)
    return tuple(metrics_by_id[name] for name in dict.fromkeys(names))


def _check_date(text: str) -> None:
    if not is_day(text):
        raise fail("date", "--date takes a day that exists", expected="YYYY-MM-DD", found=text, status=USAGE)
