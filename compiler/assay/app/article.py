"""`assay build` of an article: from runs to a document of prose, figures and tables."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from assay.app.available_parts import Notes, drop_unavailable_parts
from assay.app.build_comparison import (
    collect_cut_runs,
    collect_inputs,
    create_run_figures,
    get_report_date,
    iter_findings,
    list_run_warnings,
)
from assay.app.compute import Computation, RunResult, compute
from assay.app.options import BuildResult, Options, list_report_files
from assay.app.outputs import replace_folder
from assay.app.phases import PhaseSelection, select_phases
from assay.app.point_files import PointFiles, name_point_files
from assay.app.prepare import UnrecognisedSourcesError
from assay.app.prose import get_texts, read_prose
from assay.app.rendering import AssembledReport, collect_article_details, write_report
from assay.app.repeats import refuse_repeats
from assay.app.report_check import check_reports
from assay.app.runs import NamedRun, fetch_runs
from assay.app.session import Session
from assay.lang import dependencies
from assay.lang.checked_package import CheckedPackage
from assay.lang.formula import is_formula
from assay.lang.model.article import Article
from assay.lang.model.package import Metric
from assay.plan.planner import FROM, TO, Plan, RowRequest, name_cut_statement, name_rows_statement, name_span_statement
from assay.provenance.record import build_provenance, format_provenance
from assay.report.article import (
    add_claims,
    assemble_article,
    describe_undrawn_series,
    label_article_runs,
    list_article_metrics,
    list_compared_metrics,
)
from assay.report.blocks import claims
from assay.report.blocks.claims import CheckedClaim, File, check_claims
from assay.report.blocks.context import ComparisonColumns
from assay.report.blocks.rows import Row, list_row_requests, list_shown_series
from assay.report.data_quality import build_quality_data
from assay.report.prose import Prose
from assay.report.render.pdf import warm_up_converters
from assay.report.results_json import build_distribution_data, build_formula_data, build_phase_data
from assay.report.run_results import Choices, RunFigures
from assay.util.diagnostics import USAGE, AssayError, Diagnostic, fail

#: The types of columns that have no unit, since they are not numbers.
UNITLESS_TYPES = ("text", "boolean")
NANOSECOND = "ns"

Units = Mapping[str, Mapping[str, str]]
"""Column -> `unit`, a symbol (empty for a number without a unit), and `factor`, which converts a value to that unit."""


def collect_units(checked: CheckedPackage, plan: Plan) -> dict[str, Units]:
    """Return the units of all rows that a plan yields, by the names of their statements.

    Columns of text and of truth values are left out.
    """
    instant_unit = _describe_unit(NANOSECOND)
    units_by_statement: dict[str, Units] = {
        item.name: dict(_iter_column_units(checked, item)) for item in plan.row_requests
    }
    for step in plan.series:
        units_by_statement[name_rows_statement(step.name)] = {
            "t_ns": instant_unit,
            "value": _describe_unit(step.series.unit.symbol),
        }
        units_by_statement[name_span_statement(step.series.windows)] = {FROM: instant_unit, TO: instant_unit}
    units_by_statement |= {name_cut_statement(item.name): {"t_ns": instant_unit} for item in plan.cuts}
    return dict(sorted(units_by_statement.items()))


def _iter_column_units(checked: CheckedPackage, item: RowRequest) -> Iterator[tuple[str, Mapping[str, str]]]:
    columns_by_name = {column.name: column for column in item.grain.columns}
    for name in item.keys:
        if columns_by_name[name].type not in UNITLESS_TYPES:
            yield name, _describe_unit(columns_by_name[name].unit.symbol)
    for metric in item.metrics:
        yield metric.id, _describe_unit(metric.unit.symbol, str(checked.measured[metric.id].factor))
    for metric in item.formulas:
        yield metric.id, _describe_unit(metric.unit.symbol)


def _describe_unit(symbol: str, factor: str = "1") -> Mapping[str, str]:
    return {"unit": symbol, "factor": factor}


def judge_claims(
    checked: CheckedPackage, article: Article, runs: Sequence[RunResult], figures: Sequence[RunFigures]
) -> tuple[CheckedClaim, ...]:
    """Check each claim of an article against the results of runs."""
    if not article.claims:
        return ()
    files = {
        (run.ingested_run.run.id, pivot.title): _list_grain_files(checked, run, pivot.grain)
        for run in runs
        for pivot in claims.find_pivots(article).values()
    }
    return check_claims(checked, article, figures, label_article_runs(article, figures), files)


def _list_grain_files(checked: CheckedPackage, run: RunResult, grain: str) -> tuple[File, ...]:
    """Return name, size and SHA-256 of the raw files of a run that the rows of a grain are computed from."""
    events = dependencies.collect_dependencies(checked.package, [], [], [grain]).events
    sources = {event.source for event in checked.package.events if event.name in events}
    parts = [part for part in run.ingested_run.parts if part.source.name in sources]
    return tuple((item.name, item.size, item.sha256) for part in parts for item in part.hashes)


def build_article(session: Session, name: str, runs: Sequence[NamedRun], out: Path, options: Options) -> BuildResult:
    """Build the article `system/name` over runs (the first is the baseline) into the folder `out`.

    Writes either all files of the report or none. Raises AssayError.
    """
    with replace_folder(out, session.get_wait_notice(out), session.on_finished) as new_folder:
        warnings = write_report(
            session, assemble_article_report(session, name, runs, options), new_folder, options.forms
        )
    return BuildResult(out, list_report_files(out, options.forms), warnings)


def assemble_article_report(session: Session, name: str, runs: Sequence[NamedRun], options: Options) -> AssembledReport:
    """Compute the article `system/name` over runs, without drawing or writing anything. Raises AssayError."""
    checked, article = session.find_article(name)
    check_reports(session, checked.package)
    _refuse_report_options(name, runs, options)
    phase_selection = select_phases(checked.package, article.phases, options.at, options.phases)
    texts = read_prose(session.workspace, checked, article)
    runs = fetch_runs(session, runs, checked.package.sources)
    available = _compute_available(session, checked, article, texts, runs, phase_selection)
    available_article, computation = available.article, available.computation
    prose = {part.prose: texts[part.prose] for part in available_article.parts if part.prose}
    choices = Choices(
        article.style, "", (), options.date or get_report_date(computation), options.title, options.author, options.at,
        options.phases,
    )  # fmt: skip
    figures = [create_run_figures(item) for item in computation.runs]
    judged_claims = judge_claims(checked, article, computation.runs, figures)
    provenance_record = build_provenance(
        checked, article, list_article_metrics(article, texts.values()), choices, figures,
        [collect_inputs(checked, item) for item in computation.runs], session.get_templates(),
        get_texts(texts), collect_cut_runs(computation), claims.build_claims_data(judged_claims),
    )  # fmt: skip
    phase_columns = describe_phases(computation)
    document = assemble_article(
        checked, available_article, figures, choices, format_provenance(provenance_record, checked), prose,
        available.notes,
        phase_columns,
    )  # fmt: skip
    run_labels = label_article_runs(article, figures)
    counts = [run.ingested_run.counts for run in computation.runs]
    run_messages = list_run_warnings(checked.package, computation, run_labels)
    warnings = (
        *available.warnings,
        *run_messages,
        *document.warnings,
        *describe_undrawn_series(checked, available_article, figures, run_labels, counts),
        *claims.list_claim_warnings(judged_claims),
    )
    document = add_claims(document, checked, available_article, claims.describe_claims(judged_claims))
    document = dataclasses.replace(document, warnings=warnings)
    columns = phase_columns.columns if phase_columns else figures
    results = _export_results(
        checked,
        name,
        figures,
        collect_units(checked, computation.compiled_plan.plan),
        name_point_files(computation),
    ) | _export_comparison(checked, available_article, columns)
    results |= {"claims": claims.build_claims_data(judged_claims)} if judged_claims else {}
    figures_by_label = dict(zip(run_labels, figures, strict=True))
    columns_by_label = dict(zip(label_article_runs(article, columns), columns, strict=True))
    details = collect_article_details(
        checked, available.rows, computation, figures_by_label, columns_by_label, checked.package.summaries[0].name
    )
    labelled_figures = {**figures_by_label, **columns_by_label}
    data_findings = tuple(iter_findings(list(labelled_figures), list(labelled_figures.values())))
    return AssembledReport(checked, document, provenance_record, results, computation, details, texts, data_findings)


@dataclasses.dataclass(frozen=True, slots=True)
class _AvailableArticle:
    """What of an article runs have the records for, with the rows that it shows and the results of the runs.

    `notes` say what was dropped, `warnings` which files have no event.
    """

    article: Article
    notes: Notes
    rows: tuple[RowRequest, ...]
    computation: Computation
    warnings: tuple[str, ...]


def _compute_available(
    session: Session,
    checked: CheckedPackage,
    article: Article,
    texts: Mapping[str, Prose],
    runs: Sequence[NamedRun],
    phase_selection: PhaseSelection | None,
) -> _AvailableArticle:
    """Compute what runs have the records for.

    Files of a source without any event count as no files if other sources remain that the article shows.

    Raises AssayError: the problem of such files if nothing else remains.
    """
    unrecognised: dict[tuple[str, str], Diagnostic] = {}
    problem: AssayError | None = None
    while True:
        try:
            available, notes = drop_unavailable_parts(checked, article, texts, runs, unrecognised)
        except AssayError as error:
            raise problem or error from None
        prose_texts = [texts[part.prose] for part in available.parts if part.prose]
        rows = list_row_requests(checked, available, prose_texts)
        try:
            computation = compute(
                session, checked, runs, _list_metrics(checked, available), [], [],
                lambda: warm_up_converters(session.get_templates()), rows,
                list_shown_series(available, prose_texts),
                phase_selection,
            )  # fmt: skip
        except UnrecognisedSourcesError as error:
            if error.problems.keys() <= unrecognised.keys():
                raise
            problem = error
            unrecognised |= error.problems
            continue
        return _AvailableArticle(available, notes, tuple(rows), computation, _list_unrecognised(unrecognised))


def _list_unrecognised(unrecognised: Mapping[tuple[str, str], Diagnostic]) -> tuple[str, ...]:
    """Return a warning about each source of a run whose files have no event."""
    return tuple(
        f"{run}: {item.message.removeprefix(f'run {run}: ')} (source {source}), so what reads it is left out; "
        + "; ".join(item.notes)
        for (run, source), item in sorted(unrecognised.items())
    )


def _refuse_report_options(name: str, runs: Sequence[NamedRun], options: Options) -> None:
    """Raise AssayError (usage) for options of tables of metrics, which articles do not have."""
    if options.filters or options.no_filters or options.summary or options.style or options.columns or options.details:
        raise fail(
            "article-options",
            f"filters, summary, number style, columns and details cannot be chosen for the article `{name}`",
            status=USAGE,
        )
    refuse_repeats(name, runs, options)


def _list_metrics(checked: CheckedPackage, article: Article) -> tuple[Metric, ...]:
    """Return the metrics that an article compares, and those whose averages it prints."""
    averaged_metrics = (checked.get_metric(name) for block in article.blocks for name in block.read_averages())
    return tuple(dict.fromkeys((*resolve_compared_metrics(checked, article), *averaged_metrics)))


def resolve_compared_metrics(checked: CheckedPackage, article: Article) -> tuple[Metric, ...]:
    """Return the metrics that an article compares between runs or phases, each once."""
    return tuple(map(checked.get_metric, list_compared_metrics(article)))


def describe_phases(computation: Computation) -> ComparisonColumns | None:
    """Return the results of the phases of runs, and the instants that bound them; None if runs are not cut."""
    if not computation.views:
        return None
    instants = {
        run.id: tuple((item.name, item.t_ns) for item in phases.instants)
        for run, phases in zip(computation.runs, computation.phases, strict=True)
    }
    return ComparisonColumns([create_run_figures(view) for view in computation.views], instants)


def _export_comparison(checked: CheckedPackage, article: Article, columns: Sequence[RunFigures]) -> dict[str, object]:
    """Return the compared columns and the value of each metric in them as plain data.

    The result is empty if the article compares no metrics.
    """
    metrics = resolve_compared_metrics(checked, article)
    if not metrics:
        return {}
    summary = checked.package.summaries[0].name
    return {
        "columns": [{"id": run.id, **build_phase_data(run)} for run in columns],
        "metrics": {
            metric.id: {
                "name": metric.name,
                "unit": metric.unit.symbol,
                "definition": checked.definitions[metric.id],
                "columns": {run.id: _export_metric(run, metric, summary) for run in columns},
            }
            for metric in metrics
        },
    }


def _export_metric(run: RunFigures, metric: Metric, summary: str) -> dict[str, object]:
    """Return the distribution of a metric in a run or phase, or the value of a formula, as plain data."""
    if is_formula(metric):
        return build_formula_data(run.results.formulas[metric.id], summary)
    return build_distribution_data(run.results.metrics[metric.id], summary)


def _export_results(
    checked: CheckedPackage,
    name: str,
    runs: Sequence[RunFigures],
    units_by_statement: Mapping[str, Units],
    point_files: PointFiles,
) -> dict[str, object]:
    """Return the rows behind an article as measured, by the names of their statements, with the units of columns.

    Of rows that are points it names the file. Averages are included if tables of the article print them.
    """
    averages = {run.id: _collect_averages(checked, run) for run in runs if run.results.metrics}
    return {
        "report": name,
        "runs": [{"id": run.id} for run in runs],
        "quality": {run.id: build_quality_data(run.quality) for run in runs},
        "units": units_by_statement,
        "rows": {
            run.id: {
                statement: {"file": file, "rows": len(sample_rows)}
                if (file := point_files.get((run.id, statement)))
                else _export_rows(sample_rows)
                for statement, sample_rows in sorted(run.results.rows.items())
            }
            for run in runs
        },
        **({"averages": averages} if averages else {}),
    }


def _collect_averages(checked: CheckedPackage, run: RunFigures) -> dict[str, float | None]:
    """Return the averages of metrics and the values of formulas in a run, by the first summary of the package.

    Tables against classes use the same summary.
    """
    summary = checked.package.summaries[0].name
    formulas = {name: result.averages[summary] for name, result in run.results.formulas.items()}
    return dict(
        sorted({**{name: result.averages[summary] for name, result in run.results.metrics.items()}, **formulas}.items())
    )


def _export_rows(rows: Sequence[Row]) -> list[dict[str, object]]:
    """Convert rows to JSON values."""
    return [{name: to_json_value(value) for name, value in row.items()} for row in rows]


def to_json_value(value: object) -> object:
    """Convert a value to JSON: an infinite number or NaN becomes the text that Prometheus writes for it."""
    if not isinstance(value, float) or math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"
