"""An article over runs to the document: each part as prose, figures and tables."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest

from assay.compare.style import Style, style
from assay.plan.steps import Listed
from assay.report import article_rows as asked
from assay.report.article_rows import Row
from assay.report.assemble import filled, words
from assay.report.averages import averages
from assay.report.document import Document, Entry, Gallery, Group, Plot, Table
from assay.report.figures import Choices, RunFigures, row_label
from assay.report.prose import Prose
from assay.spec.article_model import Article, Listing, Part, Pivot, Scatter, Timeline, Verdict
from assay.spec.labels import read_of
from assay.spec.model import Column, Grain, Metric
from assay.spec.normal_form import Checked

SECOND = 1_000_000_000
MEAN = "mean"
SHORT = " *"
#: points nearer to each other than these parts of both axes are drawn once
GRID = (400, 200)


def assemble_article(
    checked: Checked,
    article: Article,
    runs: Sequence[RunFigures],
    choices: Choices,
    provenance: Mapping[str, str],
    prose: Mapping[str, Prose],
    notes: Mapping[str, tuple[str, ...]],
) -> Document:
    """The document of an article over some runs.

    `prose` is that of the files by their names, `notes` what parts (by their titles) leave out.
    """
    named, look = labels_of(article, runs), style(choices.style)
    said = words(runs, named)
    numbers = iter(range(1, 10_000))

    def said_of(part: Part) -> tuple[str, ...]:
        return _said(checked, look, part, prose, runs[0])

    galleries = [
        _gallery(checked, look, part, index, runs, named, (*said_of(part), *notes.get(part.title, ())), numbers)
        for index, part in enumerate(article.parts, start=1)
    ]
    return Document(
        title=choices.title or filled(article.title, said),
        subtitle="",
        author=choices.author,
        date=choices.date,
        intro=tuple(filled(text, said) for text in article.intro.split("\n\n") if text.strip()),
        style=choices.style,
        manifest=Table("Runs", ("", *named), _facts(checked, article, runs)),
        sections=(),
        charts=(),
        dictionary=_dictionary(checked, article),
        warnings=tuple(f"{label}: {note}" for label, run in zip(named, runs, strict=True) for note in _notes(run)),
        filters=Table("Filters", ("Run", "Filter", "Argument", "Of", "Rejected", "Rows"), ()),
        provenance=tuple(provenance.items()),
        galleries=tuple(galleries),
    )


def _facts(checked: Checked, article: Article, runs: Sequence[RunFigures]) -> tuple[tuple[str, ...], ...]:
    """What is known of each run beside its label: its constants, as they are kept."""
    constants = {item.name: item for source in checked.package.sources for item in source.constants}
    return tuple(
        (row_label(item.doc, item.unit.symbol), *(str(run.constants[name]) for run in runs))
        for name, item in constants.items()
        if item.type in ("integer", "real", "text", "boolean") and name != article.label
    )


def metrics_of(article: Article) -> tuple[str, ...]:
    """The metrics that an article's tables and figures show, each once."""
    found: list[str] = []
    for part in article.parts:
        found += [name for listing in part.listings for name in listing.metrics]
        found += [name for pivot in part.pivots for name in (pivot.metric, pivot.due) if name]
        found += [name for verdict in part.verdicts for name in verdict.metrics]
        found += [name for scatter in part.scatters for name in (scatter.x, scatter.y)]
    return tuple(dict.fromkeys(found))


def labels_of(article: Article, runs: Sequence[RunFigures]) -> tuple[str, ...]:
    """What an article calls each run: its label constant, or its id where two runs share one."""
    named = [str(run.constants[article.label]) for run in runs]
    return tuple(name if named.count(name) == 1 else run.id for name, run in zip(named, runs, strict=True))


def _notes(run: RunFigures) -> tuple[str, ...]:
    return (*run.notes, *run.results.warnings)


def _said(checked: Checked, look: Style, part: Part, prose: Mapping[str, Prose], run: RunFigures) -> tuple[str, ...]:
    """The prose of a part, its quotes those of a run."""
    return prose[part.prose].paragraphs(lambda quote: asked.quoted(checked, look, quote, run)) if part.prose else ()


def _gallery(
    checked: Checked,
    look: Style,
    part: Part,
    index: int,
    runs: Sequence[RunFigures],
    named: Sequence[str],
    text: tuple[str, ...],
    numbers: Iterator[int],
) -> Gallery:
    shown = list(zip(runs, named if len(runs) > 1 else [""], strict=True))
    plots: list[Plot] = []
    for scatter in part.scatters:
        plots += _beside([list(_scatters(checked, scatter, run, label)) for run, label in shown])
    for timeline in part.timelines:
        plots += [_timeline(checked, timeline, run, label) for run, label in shown]
    tables = [_pivot(checked, look, item, run, label) for item in part.pivots for run, label in shown]
    tables += [_listing(checked, look, item, run, label) for item in part.listings for run, label in shown]
    tables += [
        _verdict(checked, look, item, runs[0], run, (named[0], label))
        for item in part.verdicts
        for run, label in zip(runs[1:], named[1:], strict=True)
    ]
    tables += [averages(checked, look, item, run, label) for item in part.averages for run, label in shown]
    if part.verdicts and len(runs) == 1:
        text = (*text, "There is no other run to judge by.")
    plots = [dataclasses.replace(plot, figure=next(numbers)) for plot in plots]
    return Gallery(f"part-{index}", part.title, text, tuple(plots), tuple(tables))


def _beside(runs: Sequence[Sequence[Plot]]) -> list[Plot]:
    """The figures of runs, each beside its like."""
    return [plot for likes in zip_longest(*runs) for plot in likes if plot]


def _file_name(run: str) -> str:
    """A run's id as part of the name of a file."""
    return re.sub(r"[^\w.+-]", "-", run)


def _titled(title: str, run: str) -> str:
    return f"{title}: {run}" if run else title


def _column(grain: Grain, name: str) -> Column:
    return next(column for column in grain.columns if column.name == name)


def _heading(column: Column) -> str:
    return row_label(column.name.replace("_", " ").capitalize(), column.unit.symbol)


def _listing(checked: Checked, look: Style, listing: Listing, run: RunFigures, label: str) -> Table:
    metrics = [checked.metric(name) for name in listing.metrics]
    grain = next(item for item in checked.package.grains if item.name == listing.grain)
    found = asked.rows(run, Listed(grain, listing.keys, tuple(metrics)))
    header = [_heading(_column(grain, name)) for name in listing.keys]
    header += [row_label(metric.name, metric.unit.symbol) for metric in metrics]
    rows = [
        (
            *(str(row[name]) for name in listing.keys),
            *(asked.text(checked, look, item, row[item.id]) for item in metrics),
        )
        for row in sorted(found, key=lambda row: tuple(_ordered(row[name]) for name in listing.keys))
    ]
    return Table(_titled(listing.title, label), tuple(header), tuple(rows))


_ordered = asked.ordered


def _pivot(checked: Checked, look: Style, pivot: Pivot, run: RunFigures, label: str) -> Table:
    item = asked.of_pivot(checked, pivot)
    cells: dict[tuple[object, object], Row] = {}
    for row in sorted(asked.rows(run, item), key=lambda row: _ordered(row[pivot.first])):
        cells.setdefault((row[pivot.down], row[pivot.across]), row)
    downs = sorted({down for down, _ in cells}, key=_ordered)
    acrosses = sorted({across for _, across in cells}, key=_ordered)
    down, across = (_heading(_column(item.grain, name)) for name in (pivot.down, pivot.across))
    rows = [(str(left), *(_cell(checked, look, pivot, cells.get((left, top))) for top in acrosses)) for left in downs]
    return Table(_titled(pivot.title, label), (f"{down} \\ {across}", *map(str, acrosses)), tuple(rows))


def _verdict(
    checked: Checked, look: Style, verdict: Verdict, base: RunFigures, run: RunFigures, named: tuple[str, str]
) -> Table:
    """A row for each metric and each of the baseline's rows; where several rows agree in the keys, the first counts."""
    item = asked.of_verdict(checked, verdict)
    ours, theirs = (_by_keys(verdict, asked.rows(of, item)) for of in (run, base))
    header = (*(_heading(_column(item.grain, name)) for name in verdict.keys), "Metric", *named, "Δ%", "Result")
    rows = [
        (
            *map(str, key),
            row_label(metric.name, metric.unit.symbol),
            *_judged(checked, look, metric, theirs[key], ours.get(key), verdict.tolerance),
        )
        for key in sorted(theirs, key=lambda key: tuple(map(_ordered, key)))
        for metric in item.metrics
    ]
    return Table(_titled(verdict.title, named[1]), header, tuple(rows))


def _by_keys(verdict: Verdict, rows: Sequence[Row]) -> dict[tuple[object, ...], Row]:
    found: dict[tuple[object, ...], Row] = {}
    for row in rows:
        found.setdefault(tuple(row[name] for name in verdict.keys), row)
    return found


def _judged(
    checked: Checked,
    look: Style,
    metric: Metric,
    base: Row,
    row: Row | None,
    tolerance: int,
) -> tuple[str, str, str, str]:
    """Base, value, percent of change, and whether that passes."""
    before = base[metric.id]
    after = row[metric.id] if row else None
    texts = asked.text(checked, look, metric, before), asked.text(checked, look, metric, after)
    old, new = asked.number(checked, metric, before), asked.number(checked, metric, after)
    if old is None or new is None:
        return (*texts, asked.NO_VALUE, "not run" if row is None else "no value")
    change = new - old
    worse = {"lower": change, "higher": -change}.get(metric.better, abs(change))
    passed = 100 * worse <= tolerance * abs(old)
    percent = f"{100 * change / old:.1f}" if old else asked.NO_VALUE
    return (*texts, percent, "pass" if passed else "fail")


def _cell(checked: Checked, look: Style, pivot: Pivot, row: Row | None) -> str:
    """A cell; marked when it falls short of what is due."""
    if row is None:
        return asked.NO_VALUE
    metric = checked.metric(pivot.metric)
    text = asked.text(checked, look, metric, row[metric.id])
    due = asked.number(checked, checked.metric(pivot.due), row[pivot.due]) if pivot.due else None
    found = asked.number(checked, metric, row[metric.id])
    short = due is not None and found is not None and 100 * found < (100 - pivot.tolerance) * due
    return text + SHORT if short else text


def _scatters(checked: Checked, scatter: Scatter, run: RunFigures, label: str) -> Iterator[Plot]:
    points, names = asked.of_scatter(checked, scatter)
    x, y = points.metrics
    called = {row[scatter.per]: row for row in asked.rows(run, names)}
    groups: dict[object, list[tuple[float, float]]] = {}
    for row in asked.rows(run, points):
        pair = (asked.number(checked, x, row[x.id]), asked.number(checked, y, row[y.id]))
        if pair[0] is not None and pair[1] is not None:
            groups.setdefault(row[scatter.per], []).append((pair[0], pair[1]))
    ordered = sorted(groups, key=lambda key: tuple(_ordered(called[key][name]) for name in scatter.label))
    for place, key in enumerate(ordered, start=1):
        pairs = groups[key]
        mean = math.fsum(value for _, value in pairs) / len(pairs)
        said = ", ".join(f"{name} {called[key][name]}" for name in scatter.label)
        rows = (*((*pair, None) for pair in _thinned(pairs)), (None, None, mean))
        yield Plot(
            f"scatter-{_file_name(run.id)}-{y.id}-{place}",
            1,
            _titled(f"{scatter.title}, {said}", label),
            y.unit.symbol,
            f"{y.name} over {x.name} of {len(pairs)} rows ({said}); mean {mean:.6g} {y.unit.symbol}",
            scatter.template,
            ("x", "y", "mean"),
            rows,
        )


def _thinned(pairs: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """One point of those that an eye cannot tell apart, the first in order; in order of x, then y."""
    xs, ys = [x for x, _ in pairs], [y for _, y in pairs]
    left, low = min(xs), min(ys)
    width, height = max(xs) - left or 1.0, max(ys) - low or 1.0
    kept: dict[tuple[int, int], tuple[float, float]] = {}
    for x, y in sorted(pairs):
        kept.setdefault((int((x - left) / width * GRID[0]), int((y - low) / height * GRID[1])), (x, y))
    return list(kept.values())


def _timeline(checked: Checked, item: Timeline, run: RunFigures, label: str) -> Plot:
    series = next(found for found in checked.package.series if found.name == item.series)
    lines = _lines(item, asked.rows(run, series))
    symbol = series.unit.symbol
    rows = tuple((line, t, value) for line, points in lines.items() for t, value in points)
    return Plot(
        f"series-{_file_name(run.id)}-{item.series}{'-mean' if item.alone else ''}",
        1,
        _titled(row_label(item.title, symbol), label),
        symbol,
        f"{item.title} over time: {len(lines)} lines, {len(rows)} points",
        item.template,
        ("line", "x", "y"),
        rows,
        tuple(lines),
    )


def _lines(item: Timeline, rows: Sequence[Row]) -> dict[str, list[tuple[float, float]]]:
    """The points of each line, in seconds since the first instant of all; the mean over lines last."""
    start = min((int(str(row["t_ns"])) for row in rows), default=0)
    lines: dict[str, list[tuple[float, float]]] = {}
    at: dict[float, list[float]] = {}
    for row in rows:
        t, value = (int(str(row["t_ns"])) - start) / SECOND, float(str(row["value"]))
        at.setdefault(t, []).append(value)
        if not item.alone and math.isfinite(value):
            lines.setdefault(str(row[item.line]) or "none", []).append((t, value))
    if item.mean:
        lines[MEAN] = [
            (t, math.fsum(values) / len(values)) for t, values in sorted(at.items()) if all(map(math.isfinite, values))
        ]
    return lines


def _dictionary(checked: Checked, article: Article) -> tuple[Group, ...]:
    entries = tuple(
        Entry(name, metric.name, metric.unit.symbol, metric.doc, checked.definitions[name])
        for name in metrics_of(article)
        for metric in [checked.metric(name)]
    )
    shown = asked.series_of(article)
    lines = tuple(
        Entry(item.name, item.name, item.unit.symbol, f"{item.doc}. {read_of(checked.package, item)}", "")
        for item in checked.package.series
        if item.name in shown
    )
    groups = (Group("Metrics", entries), Group("Time series", lines))
    return tuple(group for group in groups if group.entries)
