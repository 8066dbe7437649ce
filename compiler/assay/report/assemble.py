"""Assemble the document of a comparison from results: cells, charts, dictionary, warnings."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from assay.lang.checked_package import CheckedPackage
from assay.lang.formula import index_metrics, is_formula, list_measured
from assay.lang.model.package import Metric
from assay.lang.model.report import Chart as ChartSpec
from assay.lang.model.report import Report
from assay.lang.model.report import Section as SectionSpec
from assay.report import run_results
from assay.report.cell_links import COLUMN, FACT, FILTER, CellLink, CellSource, columns
from assay.report.data_quality import quality_parts
from assay.report.document import Chart, Document, Group, Section, Series, Table
from assay.report.glossary import SINCE, UNTIL, entry, of_filter, of_row, terms
from assay.report.run_results import Choices, RunFigures, row_label
from assay.styles.registry import Style, style
from assay.styles.row import Distribution, RunResults, misses, tells
from assay.util.escape import shorten


def cut(checked: CheckedPackage, report: Report, runs: Sequence[RunFigures], choices: Choices) -> Iterable[str]:
    """Warnings of values whose digits before the point are cut."""
    look = style(choices.style)
    for metric, values in _list_averages(checked, report, runs, choices):
        cells = look.table_row(values, metric.width).cells
        off = [(cell, value) for cell, value in zip(cells, values, strict=True) if not tells(cell, value)]
        if off:
            said = ", ".join(f"{cell} for {value:.0f}" for cell, value in off)
            yield (
                f"The number style {choices.style} has no room for values of {metric.name} ({said}): its cells and "
                "differences do not tell them."
            )


def differences(checked: CheckedPackage, report: Report, runs: Sequence[RunFigures], choices: Choices) -> str:
    """Of which metrics the printed differences do not tell the change; empty: of none."""
    look = style(choices.style)
    names = []
    for metric, (base, *values) in _list_averages(checked, report, runs, choices):
        percents = look.table_row([base, *values], metric.width).percents
        if any(misses(percent, base, value) for percent, value in zip(percents, values, strict=True)):
            names.append(metric.name)
    if not names:
        return ""
    listed = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
    return (
        f"The number style {choices.style} has too few decimals for differences of {listed}: their Δ and Δ% do not "
        "tell how much they changed."
    )


def _list_averages(
    checked: CheckedPackage, report: Report, runs: Sequence[RunFigures], choices: Choices
) -> Iterator[tuple[Metric, list[float | None]]]:
    """Each metric of the sections, and its average in each run."""
    shown = dict.fromkeys(name for section in report.sections for name in section.metrics)
    for metric in map(checked.metric, shown):
        yield metric, [run_results.average(run, metric, choices.summary) for run in runs]


DELTA = ("Δ", "Δ%")

COMPARING = re.compile(r"\{(others|last)\}")
_PLACE = re.compile(r"\{([^{}]+)\}")


def assemble(
    checked: CheckedPackage,
    report: Report,
    runs: Sequence[RunFigures],
    choices: Choices,
    provenance: Mapping[str, str],
    whole: Sequence[RunFigures] = (),
) -> Document:
    """The document of a report over some runs, the first of which is the baseline.

    `whole` are the runs whose phases are compared.
    """
    named = run_results.labels(report, runs)
    said = words(checked, runs, named)
    title, intro = _alone(report, named[0]) if len(runs) == 1 else (report.title, _paragraphs(report))
    manifest, filters = _manifest(report, runs, named, choices), _filters(runs, named)
    quality = quality_parts(
        {label: run.quality for label, run in zip(named, runs, strict=True)},
        {label: run.quality for label, run in zip(run_results.labels(report, whole), whole, strict=True)},
    )
    sections = tuple(_section(checked, item, runs, named, choices) for item in report.sections)
    return Document(
        title=choices.title or filled(title, said),
        subtitle="",
        author=choices.author,
        date=choices.date,
        intro=tuple(filled(text, said) for text in intro),
        style=choices.style,
        manifest=manifest,
        sections=sections,
        charts=_charts(checked, report, runs, named),
        dictionary=_dictionary(checked, report),
        warnings=(
            *notes(whole, run_results.labels(report, whole)),
            *_warnings(checked, report, runs, named),
            *cut(checked, report, runs, choices),
            *quality.warnings,
        ),
        filters=filters,
        provenance=tuple(provenance.items()),
        terms=terms(checked, report, (manifest, filters), counts=any(None in item.metrics for item in sections)),
        averages=_describe_averages(checked, report, choices.summary),
        differences=differences(checked, report, runs, choices),
        appendices=quality.appendices,
    )


def _paragraphs(report: Report) -> list[str]:
    return [text for text in report.intro.split("\n\n") if text.strip()]


def _alone(report: Report, label: str) -> tuple[str, list[str]]:
    """Title and introduction over one run: what says of others would compare it with itself."""
    title = label if COMPARING.search(report.title) else report.title
    return title, [text for text in _paragraphs(report) if not COMPARING.search(text)]


def words(checked: CheckedPackage, runs: Sequence[RunFigures], named: Sequence[str]) -> dict[str, str]:
    """What the places of titles and introductions stand for: labels of runs, constants of the first run."""
    others = named[1:] or named
    listed = ", ".join(others[:-1]) + " and " + others[-1] if len(others) > 1 else others[0]
    declared = [item for source in checked.package.sources for item in source.constants]
    told = runs[0].constants
    constants = {
        f"constant.{item.name}": run_results.fact(item, told[item.name]) if told[item.name] != "" else ""
        for item in declared
        if item.name in told
    }
    return {"base": named[0], "others": listed, "last": named[-1], **constants}


def filled(text: str, said: Mapping[str, str]) -> str:
    """A text with its places filled."""
    return _PLACE.sub(lambda found: said.get(found[1], found[0]), text)


def _manifest(report: Report, runs: Sequence[RunFigures], named: Sequence[str], choices: Choices) -> Table:
    rows = tuple(
        (row.label, *(run_results.manifest_text(row, run, choices) for run in runs)) for row in report.manifest
    )
    phases = run_results.phase_rows(runs)
    means = (*map(of_row, report.manifest), *((SINCE, UNTIL) if phases else ()))
    kinds = [COLUMN if row.relation else FACT for row in report.manifest] + [FACT] * len(phases)
    leads = tuple(
        CellLink(y, x, kind, (CellSource(entry, run.id),))
        for y, (entry, kind) in enumerate(zip(means, kinds, strict=True))
        for x, run in enumerate(runs, start=1)
    )
    return Table("Overall run parameters", ("", *named), (*rows, *phases), of_rows=means, leads=leads)


def _section(
    checked: CheckedPackage, section: SectionSpec, runs: Sequence[RunFigures], named: Sequence[str], choices: Choices
) -> Section:
    look = style(choices.style)
    metrics = map(checked.metric, section.metrics)
    rows = [
        compare_values(look, metric, [run_results.average(run, metric, choices.summary) for run in runs])
        for metric in metrics
    ]
    ids: list[str | None] = list(section.metrics)
    measured = [name for name in section.metrics if not is_formula(checked.metric(name))]
    counted = measured[0] if look.has_sample_counts and measured else ""
    if counted:
        rows.append(_sample_counts(look, counted, runs))
        ids.append(None)
    slug = "-".join(section.title.lower().split())
    printed = columns([run.id for run in runs])
    return Section(
        slug, section.title, section.doc, name_columns(named), tuple(rows), tuple(ids), counted=counted, printed=printed
    )  # fmt: skip


def name_columns(named: Sequence[str]) -> tuple[str, ...]:
    """Return the header of a table of runs, each with its differences from the first."""
    return ("", named[0], *(cell for name in named[1:] for cell in (name, *DELTA)))


def compare_values(look: Style, metric: Metric, values: Sequence[float | None]) -> tuple[str, ...]:
    """Return the row of a metric: its label, the first value, then each further one with its differences from that."""
    row = look.table_row(values, metric.width)
    cells = [row_label(metric.name, metric.unit.symbol), row.cells[0]]
    for cell, delta, percent in zip(row.cells[1:], row.deltas, row.percents, strict=True):
        cells += [cell, delta, percent]
    return tuple(cells)


def _sample_counts(look: Style, metric: str, runs: Sequence[RunFigures]) -> tuple[str, ...]:
    first, *rest = (look.sample_count(run.results.metrics[metric].size) for run in runs)
    cells = ["Sample count", first]
    for count in rest:
        cells += [count, "", ""]
    return tuple(cells)


def _describe_averages(checked: CheckedPackage, report: Report, summary: str) -> str:
    """How averages are taken of shown metrics that have a distribution for each of something; empty: there are none."""
    names = [name for section in report.sections for name in section.metrics]
    names += [item.metric for item in report.charts]
    found = list_measured(index_metrics(checked.package), map(checked.metric, names))
    groups = sorted({metric.per for metric in found if metric.per})
    if not groups:
        return ""
    doc = next((item.doc for item in checked.package.summaries if item.name == summary), "").rstrip(".")
    said = f"Where each {' or '.join(groups)} has a distribution of its own, averages are by the summary {summary}."
    return f"{said} {doc}." if doc else said


def _charts(
    checked: CheckedPackage, report: Report, runs: Sequence[RunFigures], named: Sequence[str]
) -> tuple[Chart, ...]:
    names = Counter(checked.metric(item.metric).name for item in report.charts)
    return tuple(
        _chart(checked, number, item, runs, named, names) for number, item in enumerate(report.charts, start=1)
    )


def _chart(
    checked: CheckedPackage,
    figure: int,
    chart: ChartSpec,
    runs: Sequence[RunFigures],
    named: Sequence[str],
    names: Mapping[str, int],
) -> Chart:
    """The chart of a metric; where another one is called the same, its caption says which it is."""
    metric = checked.metric(chart.metric)
    series = tuple(
        Series(name, _points(run.results.metrics[metric.id]))
        for name, run in zip(named, runs, strict=True)
        if run.results.metrics[metric.id].size
    )
    symbol = metric.unit.symbol
    return Chart(
        metric.id,
        figure,
        metric.name,
        row_label(metric.name, symbol),
        symbol,
        chart.template,
        series,
        chart.scale,
        of=metric.id if names[metric.name] > 1 else "",
    )


def _points(found: Distribution) -> tuple[tuple[float, float, float | None, float | None], ...]:
    def unit(value: float | None) -> float | None:
        return None if value is None else found.scaled(value)

    return tuple((found.scaled(item.value), item.centile, unit(item.low), unit(item.high)) for item in found.centiles)


def _dictionary(checked: CheckedPackage, report: Report) -> tuple[Group, ...]:
    return tuple(
        Group(group.title, tuple(entry(checked, name) for name in group.metrics)) for group in report.dictionary
    )


def _warnings(
    checked: CheckedPackage, report: Report, runs: Sequence[RunFigures], named: Sequence[str]
) -> Iterable[str]:
    for name in report.compare:
        values = [str(run.constants[name]) for run in runs]
        if len(set(values)) > 1:
            said = ", ".join(f"{label}: {shorten(value)}" for label, value in zip(named, values, strict=True))
            yield f"The runs differ in {name} ({said})."
    if len({run.hosts for run in runs}) > 1:
        said = ", ".join(f"{label}: {run.hosts}" for label, run in zip(named, runs, strict=True))
        yield f"The runs differ in their number of hosts ({said})."
    yield from notes(runs, named)
    shown = [name for section in report.sections for name in section.metrics if name]
    for label, run in zip(named, runs, strict=True):
        measured = (name for name in dict.fromkeys(shown) if name in run.results.metrics)
        empty = [checked.metric(name) for name in measured if not run.results.metrics[name].size]
        if empty:
            yield f"{label}: {no_samples([metric.name for metric in empty], rejected(checked, run.results, empty))}"


def no_samples(names: Iterable[str], why: Iterable[str]) -> str:
    """A sentence on what has no samples."""
    return "; ".join((f"there are no samples of {', '.join(names)}", *why)) + "."


def rejected(checked: CheckedPackage, results: RunResults, metrics: Iterable[Metric]) -> list[str]:
    """What filters rejected of the rows that metrics, or the rows that these follow, are of."""
    judged = {metric.grain for metric in metrics if metric.accepted}
    judged |= {grain.subject.grain for grain in checked.package.grains if grain.subject and grain.name in judged}
    return [item.sentence for item in results.filters if item.rejected and item.grain in judged]


def notes(runs: Sequence[RunFigures], named: Sequence[str]) -> Iterable[str]:
    """What is to be known of each run."""
    for label, run in zip(named, runs, strict=True):
        for note in (*run.notes, *run.results.warnings, *run.results.notes):
            yield f"{label}: {note}"


def _filters(runs: Sequence[RunFigures], named: Sequence[str]) -> Table:
    rows = tuple(
        (label, item.filter, item.argument, item.grain, str(item.rejected), str(item.rows))
        for label, run in zip(named, runs, strict=True)
        for item in run.results.filters
    )
    told = [(run.id, of_filter(item.filter)) for run in runs for item in run.results.filters]
    leads = tuple(
        CellLink(y, x, FILTER, (CellSource(name, run),)) for y, (run, name) in enumerate(told) for x in (4, 5)
    )
    means = tuple(name for _, name in told)
    return Table("Filters", ("Run", "Filter", "Argument", "Of", "Rejected", "Rows"), rows, of_rows=means, leads=leads)
