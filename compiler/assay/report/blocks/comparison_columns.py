"""Tables of an article that set runs, or phases of them, beside each other: comparisons, conclusions, facts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from assay.lang import dependencies, formula
from assay.lang.model.article import Article, Comparison, Conclusion, Part, Rule
from assay.lang.model.package import Constant, Metric
from assay.lang.normal_form import CheckedPackage
from assay.report.assemble import DELTA
from assay.report.blocks import rows as asked
from assay.report.blocks.conclusion_rules import holds, in_words, percent_told
from assay.report.cell_links import AVERAGE, JUDGED, PERCENT, WORDS, CellLink, CellSource, compared
from assay.report.cell_links import facts as of_facts
from assay.report.document import Gallery, Table
from assay.report.glossary import SINCE, UNTIL, of_constant
from assay.report.run_results import RunFigures, fact, phase_rows, row_label
from assay.styles.registry import Style
from assay.styles.row import NO_VALUE


@dataclass(frozen=True, slots=True)
class Compared:
    """What comparisons have as columns, and the instants at which runs are cut: (name, ns), by run."""

    columns: Sequence[RunFigures]
    instants: Mapping[str, Sequence[tuple[str, int]]]


HOLDS = {True: "yes", False: "no", None: "no value"}


def comparison(
    checked: CheckedPackage, look: Style, item: Comparison, columns: Sequence[RunFigures], named: Sequence[str]
) -> Table:
    """A row a metric: its average in each column, with the differences from the first."""
    header = ["", named[0]]
    for name in named[1:]:
        header += [name, *DELTA]
    rows = [_row(look, checked.metric(name), [average(checked, run, name) for run in columns]) for name in item.metrics]
    ids = [run.id for run in columns]
    leads = tuple(lead for place, name in enumerate(item.metrics) for lead in compared(place, name, ids))
    return Table(item.title, tuple(header), tuple(rows), of_rows=item.metrics, leads=leads)


def _row(look: Style, metric: Metric, values: Sequence[float | None]) -> tuple[str, ...]:
    found = look.table_row(values, metric.width)
    cells = [row_label(metric.name, metric.unit.symbol), found.cells[0]]
    for cell, delta, percent in zip(found.cells[1:], found.deltas, found.percents, strict=True):
        cells += [cell, delta, percent]
    return tuple(cell or NO_VALUE for cell in cells)


def average(checked: CheckedPackage, run: RunFigures, metric: str) -> float | None:
    """The average of a metric in a run or phase, or what a formula comes to; None without samples."""
    summary = checked.package.summaries[0].name
    if metric in run.results.formulas:
        return run.results.formulas[metric].averages[summary]
    found = run.results.metrics[metric]
    return found.averages[summary] if found.size else None


def conclusion(
    checked: CheckedPackage, look: Style, item: Conclusion, columns: Sequence[RunFigures], named: Sequence[str]
) -> Table:
    """A row for each rule and column but the first: the two averages, what is expected, and whether it is so."""
    many = len(columns) > 2
    rows = [
        (*((name,) if many else ()), *_judged(checked, look, rule, columns[0], run))
        for rule in item.rules
        for run, name in zip(columns[1:], named[1:], strict=True)
    ]
    values = (named[0], "there" if many else "".join(named[1:]), "Δ%")
    header = (*(("",) if many else ()), "Metric", *values, "Rule", "Holds")
    means = tuple(rule.metric for rule in item.rules for _ in columns[1:])
    others = [run.id for _ in item.rules for run in columns[1:]]
    leads = tuple(
        lead
        for place, (metric, run) in enumerate(zip(means, others, strict=True))
        for lead in link_cells(place, len(header) - 5, metric, (columns[0].id, run))
    )
    return Table(item.title, header, tuple(rows), of_rows=means, leads=leads)


def link_cells(row: int, first: int, metric: str, runs: tuple[str, str]) -> Iterator[CellLink]:
    """The cells of a rule from the base's average on, which stands in column `first`."""
    base, other = (CellSource(metric, run) for run in runs)
    made = (AVERAGE, (base,)), (AVERAGE, (other,)), (PERCENT, (base, other)), (WORDS, ()), (JUDGED, (base, other))
    for column, (prints, of) in enumerate(made, start=first):
        yield CellLink(row, column, prints, of)


def _judged(checked: CheckedPackage, look: Style, rule: Rule, base: RunFigures, run: RunFigures) -> tuple[str, ...]:
    metric = checked.metric(rule.metric)
    values = [average(checked, item, rule.metric) for item in (base, run)]
    row = _row(look, metric, values)
    told = percent_told(rule, metric, values, row[4])
    return row[0], row[1], row[2], told, in_words(rule, metric), HOLDS[holds(rule, metric, *values)]


def facts(checked: CheckedPackage, names: Sequence[str], runs: Sequence[RunFigures], named: Sequence[str]) -> Table:
    """Constants of the runs, a row each."""
    known = {item.name: item for source in checked.package.sources for item in source.constants}
    rows = tuple((_called(known[name]), *(fact(known[name], run.constants[name]) for run in runs)) for name in names)
    means = tuple(map(of_constant, names))
    leads = tuple(of_facts(means, [run.id for run in runs]))
    return Table("Facts", ("", *named), rows, of_rows=means, leads=leads)


def _called(constant: Constant) -> str:
    symbol = {"duration": "s", "instant": ""}.get(constant.type, constant.unit.symbol)
    return row_label(constant.doc, symbol)


def manifest(checked: CheckedPackage, article: Article, columns: Sequence[RunFigures], named: Sequence[str]) -> Table:
    """What is known of each run beside its label, or of each phase, and from when to when that is.

    Constants are as they are kept; those that parts tell are left out.
    """
    read = _sources(checked, article)
    constants = {
        item.name: item
        for source in checked.package.sources
        if source.name in read or not read
        for item in source.constants
    }
    left_out = {article.label, *(name for part in article.parts for name in part.facts)}
    told = {
        name: (row_label(item.doc, item.unit.symbol), *(fact(item, run.constants[name]) for run in columns))
        for name, item in constants.items()
        if item.type in ("integer", "real", "text", "boolean") and name not in left_out
    }
    phases = phase_rows(columns)
    means = (*map(of_constant, told), *((SINCE, UNTIL) if phases else ()))
    leads = tuple(of_facts(means, [run.id for run in columns]))
    return Table("Phases" if phases else "Runs", ("", *named), (*told.values(), *phases), of_rows=means, leads=leads)


def _sources(checked: CheckedPackage, article: Article) -> set[str]:
    """The sources of which an article shows anything."""
    rows = [item.grain.name for item in asked.of_parts(checked, article)]
    names = [name for part in article.parts for item in part.comparisons for name in item.metrics]
    names += [rule.metric for part in article.parts for item in part.conclusions for rule in item.rules]
    metrics = formula.list_measured(formula.index_metrics(checked.package), [checked.metric(name) for name in names])
    tables = [*rows, *asked.series_of(article), *(metric.grain for metric in metrics)]
    events = dependencies.collect_dependencies(checked.package, [], [], tables).events
    return {event.source for event in checked.package.events if event.name in events}


def add_comparisons(
    gallery: Gallery,
    checked: CheckedPackage,
    look: Style,
    part: Part,
    compared: Compared,
    runs: tuple[Sequence[RunFigures], Sequence[str]],
) -> Gallery:
    """A part with its facts and comparisons before its other tables, its conclusions after them.

    The phases of each run are compared in tables of their own, runs in one.
    """
    told = [facts(checked, part.facts, *runs)] if part.facts else []
    groups = list(_groups(compared.columns, *runs))
    before = [
        _titled(comparison(checked, look, item, columns, named), label)
        for item in part.comparisons
        for columns, named, label in groups
    ]
    after = [
        _titled(conclusion(checked, look, item, columns, named), label)
        for item in part.conclusions
        for columns, named, label in groups
        if len(columns) > 1
    ]
    text = gallery.text
    if part.conclusions and not after:
        text = (*text, "There is nothing to compare with.")
    return replace(gallery, tables=(*told, *before, *gallery.tables, *after), text=text)


def _groups(
    columns: Sequence[RunFigures], runs: Sequence[RunFigures], named: Sequence[str]
) -> Iterator[tuple[Sequence[RunFigures], Sequence[str], str]]:
    """What one table compares: all runs, or the phases of one; columns, their names, the run where it must be told."""
    if not any(column.phase for column in columns):
        yield columns, named, ""
        return
    for run, label in zip(runs, named, strict=True):
        phases = [(column, column.phase.name) for column in columns if column.phase and column.phase.run == run.id]
        yield [column for column, _ in phases], [name for _, name in phases], label if len(runs) > 1 else ""


def _titled(table: Table, run: str) -> Table:
    return replace(table, title=f"{table.title}: {run}") if run else table
