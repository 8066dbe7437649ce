"""`assay build` of an article: from runs to a document of prose, figures and tables."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from assay.app.comparison import date_of, figures_of, findings, inputs_of, phases_of, run_warnings
from assay.app.compute import Computation, RunResult, compute
from assay.app.options import Built, Options, reports
from assay.app.outputs import replacing
from assay.app.phases import select_phases
from assay.app.prose import read_prose, texts_of
from assay.app.rendering import Assembled, behind_article, write_report
from assay.app.report_check import refuse
from assay.app.required_sources import has
from assay.app.runs import NamedRun, here
from assay.app.session import Session
from assay.lang import dependencies, formula
from assay.lang.checked_package import CheckedPackage
from assay.lang.formula import is_formula
from assay.lang.model.article import Article, Block, Part
from assay.lang.model.package import Metric, Source
from assay.plan.planner import FROM, TO, Plan, RowRequest, cut_name, rows_of, span_of
from assay.provenance.record import printed, provenance
from assay.report.article import assemble_article, compared_metrics, labels_of, metrics_of, undrawn, with_claims
from assay.report.blocks import claims
from assay.report.blocks.claims import File, Judged, check_claims
from assay.report.blocks.context import Compared
from assay.report.blocks.rows import Row, listed, of_quote, series_of
from assay.report.data_quality import as_json
from assay.report.prose import Prose
from assay.report.render.pdf import warm_up
from assay.report.results_json import distribution, of_formula, phase_json
from assay.report.run_results import Choices, RunFigures
from assay.util.diagnostics import USAGE, AssayError, fail

#: types of columns that are no numbers, and have no unit
NO_NUMBERS = ("text", "boolean")
NANOSECOND = "ns"

Units = Mapping[str, Mapping[str, str]]
"""Column -> `unit`, a symbol (empty: a number without a unit), and `factor`: a value times it is in that unit."""


def units(checked: CheckedPackage, plan: Plan) -> dict[str, Units]:
    """The units of all rows that a plan yields, by the names of their statements; of columns of text there are none."""
    instant = _unit(NANOSECOND)
    found: dict[str, Units] = {item.name: dict(_listed_units(checked, item)) for item in plan.listed}
    for step in plan.series:
        found[rows_of(step.name)] = {"t_ns": instant, "value": _unit(step.series.unit.symbol)}
        found[span_of(step.series.windows)] = {FROM: instant, TO: instant}
    found |= {cut_name(item.name): {"t_ns": instant} for item in plan.cuts}
    return dict(sorted(found.items()))


def _listed_units(checked: CheckedPackage, item: RowRequest) -> Iterator[tuple[str, Mapping[str, str]]]:
    known = {column.name: column for column in item.grain.columns}
    for name in item.keys:
        if known[name].type not in NO_NUMBERS:
            yield name, _unit(known[name].unit.symbol)
    for metric in item.metrics:
        yield metric.id, _unit(metric.unit.symbol, str(checked.measured[metric.id].factor))
    for metric in item.formulas:
        yield metric.id, _unit(metric.unit.symbol)


def _unit(symbol: str, factor: str = "1") -> Mapping[str, str]:
    return {"unit": symbol, "factor": factor}


def claims_of(
    checked: CheckedPackage, article: Article, runs: Sequence[RunResult], figures: Sequence[RunFigures]
) -> tuple[Judged, ...]:
    """What comes of each claim of an article."""
    if not article.claims:
        return ()
    files = {
        (run.prepared.run.id, pivot.title): _grain_files(checked, run, pivot.grain)
        for run in runs
        for pivot in claims.find_pivots(article).values()
    }
    return check_claims(checked, article, figures, labels_of(article, figures), files)


def _grain_files(checked: CheckedPackage, run: RunResult, grain: str) -> tuple[File, ...]:
    """The raw files of a run that the rows of a grain are made of."""
    events = dependencies.collect_dependencies(checked.package, [], [], [grain]).events
    sources = {event.source for event in checked.package.events if event.name in events}
    parts = [part for part in run.prepared.parts if part.source.name in sources]
    return tuple((item.name, item.size, item.sha256) for part in parts for item in part.hashes)


Notes = Mapping[str, tuple[str, ...]]
"""Title of a part -> sentences on what it does not show."""


def drop_unavailable_parts(
    checked: CheckedPackage, article: Article, prose: Mapping[str, Prose], runs: Sequence[NamedRun]
) -> tuple[Article, Notes]:
    """The article without what some run has no records for, and what is left out of which part.

    Prose that quotes results is left out as a whole.
    """
    lacking = {source.name: [run.id for run in runs if not has(run, source)] for source in checked.package.sources}
    missing = [source for source in checked.package.sources if lacking[source.name]]
    lost = _Lost(checked, article, {source.name for source in missing})
    parts, notes, wanting = [], {}, set[str]()
    for part in article.parts:
        kept, gone = _part(lost, part, prose)
        parts.append(kept)
        wanting |= gone
        if gone:
            told = [source for source in missing if source.name in gone]
            notes[part.title] = tuple(
                f"Left out for want of {source.doc[:1].lower() + source.doc[1:]}: {_list_runs(lacking[source.name])} "
                f"{'has' if len(lacking[source.name]) == 1 else 'have'} none."
                for source in told
            )
    if notes and any(map(_asks, article.parts)) and not any(map(_asks, parts)):
        raise nothing_to_show_error(article, [source for source in missing if source.name in wanting], runs)
    choices = tuple(choice for choice in article.choices if not lost.of_choice(choice.name))
    return dataclasses.replace(article, parts=tuple(parts), choices=choices), notes


def _asks(part: Part) -> bool:
    """Whether a part shows anything of a run."""
    return any(block.needs_records for block in part.blocks)


def nothing_to_show_error(article: Article, missing: Sequence[Source], runs: Sequence[NamedRun]) -> AssayError:
    """The error of runs that have nothing of what an article shows."""
    return fail(
        "no-source",
        f"article `{article.name}` has nothing to show: each of its parts needs records that a run lacks",
        expected="; ".join(f"{_source_files(source)} ({source.doc})" for source in missing),
        found=", ".join(run.place for run in runs),
    )


def _source_files(source: Source) -> str:
    """Where a source's files are looked for."""
    if source.host_files:
        return f"files {source.hosts}"
    return f"{f'directories {source.hosts} with ' if source.hosts else ''}files {', '.join(source.logs)}"


def _list_runs(runs: Sequence[str]) -> str:
    return "run " + runs[0] if len(runs) == 1 else "runs " + ", ".join(runs)


@dataclasses.dataclass(frozen=True, slots=True)
class _Lost:
    """What of an article's things is lost with the sources that some run lacks."""

    checked: CheckedPackage
    article: Article
    missing: set[str]

    def of_tables(self, tables: Iterable[str]) -> set[str]:
        """The missing sources of all that tables are made of."""
        events = dependencies.collect_dependencies(self.checked.package, [], [], tables).events
        return {event.source for event in self.checked.package.events if event.name in events} & self.missing

    def of_choice(self, name: str) -> set[str]:
        """The missing sources of a choice (none of an empty name)."""
        return self.of_tables([self.article.choice(name).grain]) if name else set()

    def of_block(self, block: Block) -> set[str]:
        """The missing sources of a table or figure, and of the choices that it refers to."""
        package = self.checked.package
        metrics = formula.list_measured(formula.index_metrics(package), map(self.checked.metric, block.read_metrics()))
        tables = {*(request.grain for request in block.read_rows(package)), *(metric.grain for metric in metrics)}
        return self.of_tables({*tables, *block.read_series()}).union(*map(self.of_choice, block.list_choices()))

    def of_prose(self, prose: Prose) -> set[str]:
        """The missing sources of all that a text quotes."""
        tables = {of_quote(self.checked, quote).grain.name for quote in prose.quotes}
        return self.of_tables(tables).union(*(self.of_choice(quote.choice) for quote in prose.quotes))


def _part(lost: _Lost, part: Part, prose: Mapping[str, Prose]) -> tuple[Part, set[str]]:
    """A part without what is of missing sources, and the names of those."""
    without = lost.of_prose(prose[part.prose]) if part.prose else set()
    lacks = [(block, lost.of_block(block)) for block in part.blocks]
    blocks = tuple(block for block, sources in lacks if not sources)
    kept = dataclasses.replace(part, prose="" if without else part.prose, blocks=blocks)
    return kept, without.union(*(sources for _, sources in lacks))


def build_article(session: Session, name: str, runs: Sequence[NamedRun], out: Path, options: Options) -> Built:
    """Build the article `system/name` over runs, the first of which is the baseline, into `out`.

    Writes the files of a report; all or nothing.  Raises AssayError.
    """
    with replacing(out, session.waits_for(out), session.finished) as fresh:
        warnings = write_report(session, assembled(session, name, runs, options), fresh, options.forms)
    return Built(out, reports(out, options.forms), warnings)


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
    averaged = (checked.metric(name) for block in part_of.blocks for name in block.read_averages())
    metrics = tuple(dict.fromkeys((*compared(checked, part_of), *averaged)))
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
    results = _results(checked, name, figures, units(checked, found.compiled.plan)) | _compared(
        checked, part_of, columns
    )
    results |= {"claims": claims.as_data(said)} if said else {}
    by_label = dict(zip(named, figures, strict=True))
    beside_each_other = dict(zip(labels_of(article, columns), columns, strict=True))
    behind = behind_article(checked, rows, found, by_label, beside_each_other, checked.package.summaries[0].name)
    shown_quality = {**dict(zip(named, figures, strict=True)), **beside_each_other}
    lacks = tuple(findings(list(shown_quality), list(shown_quality.values())))
    return Assembled(checked, document, made, results, found, behind, texts, lacks)


def compared(checked: CheckedPackage, article: Article) -> tuple[Metric, ...]:
    """The metrics that an article compares between runs or phases, each once."""
    return tuple(map(checked.metric, compared_metrics(article)))


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


def said_value(value: object) -> object:
    """A value as JSON has it: what is no number, or infinite, as the text by which Prometheus calls it."""
    if not isinstance(value, float) or math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"
