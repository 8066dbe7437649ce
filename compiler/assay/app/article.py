"""`assay build` of an article: runs in, a report of prose, figures and tables out."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.app.article_parts import drop_unavailable_parts
from assay.app.article_units import Units, units
from assay.app.cell_details import behind_article
from assay.app.claims import claims_of
from assay.app.comparison import date_of, figures_of, findings, inputs_of, phases_of
from assay.app.compute import Computation, compute
from assay.app.options import Built, Options, reports
from assay.app.outputs import replacing
from assay.app.phases import select_phases
from assay.app.prose import read_prose, texts_of, write_texts_of
from assay.app.rendering import rendered
from assay.app.report_check import refuse
from assay.app.run_warnings import run_warnings
from assay.app.runs import NamedRun, here
from assay.app.session import Session
from assay.app.specs_file import write_specs
from assay.app.sql_files import write_sql
from assay.lang.formula import is_formula
from assay.lang.model.article import Article
from assay.lang.model.package import Metric
from assay.lang.normal_form import CheckedPackage
from assay.provenance.record import in_forms, printed, provenance
from assay.report.article import assemble_article, compared_metrics, labels_of, metrics_of, with_claims
from assay.report.blocks import claims
from assay.report.blocks.class_tables import averaged
from assay.report.blocks.comparison_columns import Compared
from assay.report.blocks.rows import Row, listed, series_of
from assay.report.data_quality import as_json
from assay.report.document import Document
from assay.report.missing_data import said_value, undrawn
from assay.report.prose import Prose
from assay.report.render.html_details import Behind
from assay.report.render.pdf import warm_up
from assay.report.results_json import distribution, lines_json, of_formula, phase_json
from assay.report.run_results import Choices, RunFigures
from assay.util.diagnostics import USAGE, fail


@dataclass(frozen=True, slots=True)
class Assembled:
    """An article before it is laid out: its prose by file, what was worked out, provenance, the document, the results
    as plain data, what stands behind its numbers, what the runs' data lack."""

    checked: CheckedPackage
    prose: Mapping[str, Prose]
    found: Computation
    provenance: Mapping[str, object]
    document: Document
    results: Mapping[str, object]
    behind: Behind
    findings: tuple[str, ...]


def build_article(session: Session, name: str, runs: Sequence[NamedRun], out: Path, options: Options) -> Built:
    """Build the article `system/name` over runs, the first of which is the baseline, into `out`.

    Writes the files of a report; all or nothing.  Raises AssayError.
    """
    with replacing(out, session.waits_for(out), session.finished) as fresh:
        made = assembled(session, name, runs, options)

        def write() -> None:
            (fresh / "results.json").write_text(lines_json(made.results), "utf-8")
            (fresh / "provenance.json").write_text(lines_json(in_forms(made.provenance, options.forms)), "utf-8")
            write_specs(made.checked, fresh, session.store.folder)
            write_texts_of(made.prose, fresh)
            write_sql(fresh / "sql", made.found)

        warnings = rendered(made.document, fresh, session, options.forms, made.behind, write)
    return Built(out, reports(out, options.forms), (*warnings, *made.findings))


def assembled(session: Session, name: str, runs: Sequence[NamedRun], options: Options) -> Assembled:
    """The article `system/name` over runs, with nothing of it drawn or written.  Raises AssayError."""
    checked, article = session.article(name)
    refuse(session, checked.package)
    if options.filters or options.no_filters or options.summary or options.style:
        raise fail(
            "article-options", f"`{name}` has no filters, no summary and no number style to choose", status=USAGE
        )
    cut = select_phases(checked.package, article.phases, options.at, options.phases)
    texts = read_prose(session.workspace, checked, article)
    runs = here(session, runs, checked.package.sources)
    part_of, notes = drop_unavailable_parts(checked, article, texts, runs)
    prose = {part.prose: texts[part.prose] for part in part_of.parts if part.prose}
    rows = listed(checked, part_of, prose.values())
    metrics = tuple(dict.fromkeys((*compared(checked, part_of), *averaged(checked, part_of))))
    found = compute(
        session, checked, runs, metrics, [], [], lambda: warm_up(session.templates()),
        rows, series_of(part_of), cut,
    )  # fmt: skip
    choices = Choices(
        article.style, "", (), options.date or date_of(found), options.title, options.author, options.at,
        options.phases,
    )  # fmt: skip
    figures = [figures_of(item) for item in found.runs]
    said = claims_of(checked, article, found.runs, figures)
    made = provenance(
        checked, article, metrics_of(article, texts.values()), choices, figures,
        [inputs_of(checked, item) for item in found.runs], session.templates(),
        texts_of(texts), phases_of(found), claims.as_data(said),
    )  # fmt: skip
    beside = describe_phases(found)
    document = assemble_article(checked, part_of, figures, choices, printed(made, checked), prose, notes, beside)
    named = labels_of(article, figures)
    counts = [run.prepared.counts for run in found.runs]
    told = run_warnings(checked.package, found, named)
    warned = (*told, *document.warnings, *undrawn(checked, part_of, figures, named, counts), *claims.warnings(said))
    document = with_claims(document, checked, part_of, claims.describe_claims(said))
    document = dataclasses.replace(document, warnings=warned)
    columns = beside.columns if beside else figures
    results = _results(checked, name, figures, units(checked, found.plan)) | _compared(checked, part_of, columns)
    results |= {"claims": claims.as_data(said)} if said else {}
    by_label = dict(zip(named, figures, strict=True))
    beside_each_other = dict(zip(labels_of(article, columns), columns, strict=True))
    behind = behind_article(checked, rows, found, by_label, beside_each_other, checked.package.summaries[0].name)
    shown_quality = {**dict(zip(named, figures, strict=True)), **beside_each_other}
    lacks = tuple(findings(list(shown_quality), list(shown_quality.values())))
    return Assembled(checked, texts, found, made, document, results, behind, lacks)


def compared(checked: CheckedPackage, article: Article) -> tuple[Metric, ...]:
    """The metrics that an article compares between runs or phases, each once."""
    names = dict.fromkeys(name for part in article.parts for name in compared_metrics(part))
    return tuple(checked.metric(name) for name in names)


def describe_phases(found: Computation) -> Compared | None:
    """The phases of runs, and the instants at which they are cut; None when they are not."""
    if not found.views:
        return None
    instants = {
        run.id: tuple((item.name, item.t_ns) for item in phases.instants)
        for run, phases in zip(found.runs, found.phases, strict=True)
    }
    return Compared([figures_of(view) for view in found.views], instants)


def _compared(checked: CheckedPackage, article: Article, columns: Sequence[RunFigures]) -> dict[str, object]:
    """What is compared, as plain data: the columns, and each metric in them; nothing when nothing is."""
    metrics = compared(checked, article)
    if not metrics:
        return {}
    summary = checked.package.summaries[0].name
    return {
        "columns": [{"id": run.id, **phase_json(run)} for run in columns],
        "metrics": {
            metric.id: {
                "name": metric.name,
                "unit": metric.unit.symbol,
                "definition": checked.definitions[metric.id],
                "columns": {run.id: _in_column(run, metric, summary) for run in columns},
            }
            for metric in metrics
        },
    }


def _in_column(run: RunFigures, metric: Metric, summary: str) -> dict[str, object]:
    """A metric in a run or phase: its distribution, or what a formula comes to."""
    if is_formula(metric):
        return of_formula(run.results.formulas[metric.id], summary)
    return distribution(run.results.metrics[metric.id], summary)


def _results(
    checked: CheckedPackage, name: str, runs: Sequence[RunFigures], units_of: Mapping[str, Units]
) -> dict[str, object]:
    """The rows behind an article, as measured, by the names of their statements, and their units; and averages over
    runs, where tables are made of them."""
    averages = {run.id: _averages(checked, run) for run in runs if run.results.metrics}
    return {
        "report": name,
        "runs": [{"id": run.id} for run in runs],
        "quality": {run.id: as_json(run.quality) for run in runs},
        "units": units_of,
        "rows": {run.id: {rows: _plain(found) for rows, found in sorted(run.results.rows.items())} for run in runs},
        **({"averages": averages} if averages else {}),
    }


def _averages(checked: CheckedPackage, run: RunFigures) -> dict[str, float | None]:
    """The averages of metrics (by the first summary, as tables against classes take them) and what formulas come to."""
    summary = checked.package.summaries[0].name
    formulas = {name: found.averages[summary] for name, found in run.results.formulas.items()}
    return dict(
        sorted({**{name: found.averages[summary] for name, found in run.results.metrics.items()}, **formulas}.items())
    )


def _plain(rows: Sequence[Row]) -> list[dict[str, object]]:
    """Rows as JSON has them."""
    return [{name: said_value(value) for name, value in row.items()} for row in rows]
