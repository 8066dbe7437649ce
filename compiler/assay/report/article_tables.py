"""Tables of an article: rows of grains, pivots with their diagonals, verdicts and what they come to."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from assay.compare.style import Style
from assay.plan.steps import listed_rows
from assay.report import article_rows as asked
from assay.report.article_choices import Chosen
from assay.report.article_rows import Row, ordered
from assay.report.document import Mark, Table
from assay.report.figures import RunFigures, named_once
from assay.report.terms import of_column, of_product, of_share
from assay.spec.article_model import Article, Listing, Part, Pivot, Verdict
from assay.spec.model import Column, Grain, Metric
from assay.spec.normal_form import Checked

SHORT = " *"
STRONG, BAD, SHADED = "strong", "bad", "shaded"
NO_BASELINE = "no baseline"


@dataclass(frozen=True, slots=True)
class Shown:
    """A run as an article shows it: its results, its label, and that in titles (empty where there is one run only)."""

    run: RunFigures
    label: str
    titled: str


@dataclass(frozen=True, slots=True)
class Setting:
    """What all tables and figures are made with: the specs, the number style, the rows of choices, the instants (name,
    ns) at which runs are cut, by run."""

    checked: Checked
    article: Article
    look: Style
    chosen: Chosen
    instants: Mapping[str, Sequence[tuple[str, int]]] = field(default_factory=dict)

    def row(self, choice: str, run: RunFigures) -> Row | None:
        """The row of a choice in a run."""
        return self.chosen.get((choice, run.id))

    def text(self, metric: Metric, row: Row | None) -> str:
        """What a metric measures on a row, as tables print it."""
        return asked.text(self.checked, self.look, metric, row[metric.id] if row else None)

    def number(self, metric: Metric, row: Row | None) -> float | None:
        """What a metric measures on a row, in its unit."""
        return asked.number(self.checked, metric, row[metric.id]) if row else None


def tables(setting: Setting, part: Part, runs: Sequence[Shown]) -> tuple[Table, ...]:
    """The tables of a part; the first run is the baseline of verdicts."""
    found = [table for item in part.pivots for table in _pivots(setting, item, runs)]
    found += [_listing(setting, item, shown) for item in part.listings for shown in runs]
    judged = [(item, shown, _judged(setting, item, runs[0], shown)) for item in part.verdicts for shown in runs[1:]]
    if part.verdicts:
        found.append(_results(part, runs, {(id(item), shown.run.id): rows for item, shown, rows in judged}))
    found += [_verdict(setting, item, runs[0], shown, rows) for item, shown, rows in judged]
    return tuple(found)


def titled(title: str, run: str) -> str:
    """A title with the label of the run that it is about."""
    return f"{title}: {run}" if run else title


def _column(grain: Grain, name: str) -> Column:
    return next(column for column in grain.columns if column.name == name)


def _heading(column: Column) -> str:
    return named_once(column.name.replace("_", " ").capitalize(), column.unit.symbol)


def _metric_heading(metric: Metric) -> str:
    return named_once(metric.name, metric.unit.symbol)


def _listing(setting: Setting, listing: Listing, shown: Shown) -> Table:
    metrics = tuple(setting.checked.metric(name) for name in listing.metrics)
    grain = next(item for item in setting.checked.package.grains if item.name == listing.grain)
    found = asked.rows(shown.run, listed_rows(setting.checked.package, grain, listing.keys, metrics))
    header = [_heading(_column(grain, name)) for name in listing.keys] + [_metric_heading(metric) for metric in metrics]
    rows = [
        (*(str(row[name]) for name in listing.keys), *(setting.text(item, row) for item in metrics))
        for row in sorted(found, key=lambda row: tuple(ordered(row[name]) for name in listing.keys))
    ]
    means = (*(of_column(grain.name, name) for name in listing.keys), *listing.metrics)
    return Table(titled(listing.title, shown.titled), tuple(header), tuple(rows), of_columns=means)


# Pivots


@dataclass(frozen=True, slots=True)
class Cells:
    """The rows of a pivot by their places, and the values down and across in order."""

    at: Mapping[tuple[object, object], Row]
    down: Sequence[object]
    across: Sequence[object]


def _pivots(setting: Setting, pivot: Pivot, runs: Sequence[Shown]) -> Iterator[Table]:
    """The tables of all runs side by side, then those of their diagonals."""
    made = [_pivot(setting, pivot, shown) for shown in runs]
    yield from (replace(table, beside=place > 0) for place, (table, _) in enumerate(made))
    yield from (diagonals for _, diagonals in made if diagonals)


def _pivot(setting: Setting, pivot: Pivot, shown: Shown) -> tuple[Table, Table | None]:
    """The table, and that of its diagonals."""
    item = asked.of_pivot(setting.checked, pivot)
    at: dict[tuple[object, object], Row] = {}
    for row in sorted(asked.rows(shown.run, item), key=lambda row: ordered(row[pivot.first])):
        at.setdefault((row[pivot.down], row[pivot.across]), row)
    cells = Cells(at, sorted({d for d, _ in at}, key=ordered), sorted({a for _, a in at}, key=ordered))
    chosen = setting.row(pivot.choice, shown.run)
    place = (chosen[pivot.down], chosen[pivot.across]) if chosen else None
    down, across = (_column(item.grain, name) for name in (pivot.down, pivot.across))
    rows = [(str(left), *(_cell(setting, pivot, at.get((left, top))) for top in cells.across)) for left in cells.down]
    marks = [
        Mark(y, x, kind)
        for y, left in enumerate(cells.down)
        for x, top in enumerate(cells.across, start=1)
        for kind in _kinds(pivot, cells, (left, top), place)
    ]
    header = (f"{_heading(down)} \\ {_heading(across)}", *map(str, cells.across))
    means = (of_column(pivot.grain, pivot.down), *(pivot.metric for _ in cells.across))
    title, heads = titled(pivot.title, shown.titled), of_column(pivot.grain, pivot.across)
    table = Table(title, header, tuple(rows), tuple(marks), of_columns=means, of_headings=heads)
    return table, _diagonals(setting, pivot, shown, cells, place, (across, down)) if pivot.diagonals else None


def _kinds(pivot: Pivot, cells: Cells, at: tuple[object, object], chosen: object) -> Iterator[str]:
    """What sets a cell apart: every other diagonal is shaded, the chosen cell strong."""
    if pivot.diagonals and _products(cells).index(_product(at)) % 2:
        yield SHADED
    if at == chosen:
        yield STRONG


def _product(at: tuple[object, object]) -> float:
    down, across = at
    assert isinstance(down, (int, float))
    assert isinstance(across, (int, float))
    return down * across


def _products(cells: Cells) -> list[float]:
    """What the diagonals amount to, those of all places, in order."""
    return sorted({_product((down, across)) for down in cells.down for across in cells.across})


def _diagonals(
    setting: Setting, pivot: Pivot, shown: Shown, cells: Cells, chosen: object, columns: tuple[Column, Column]
) -> Table:
    """A row for each cell, those of a diagonal together: what it amounts to, place, value, what is due."""
    across, down = columns
    metric = setting.checked.metric(pivot.metric)
    due = setting.checked.metric(pivot.due) if pivot.due else None
    places = sorted(cells.at, key=lambda at: (_product(at), ordered(at[1])))
    rows, marks = [], []
    for y, at in enumerate(places):
        row = cells.at[at]
        given = (f"{_product(at):g}", str(at[1]), str(at[0]), setting.text(metric, row))
        rows.append((*given, *(_due(setting, pivot, metric, due, row) if due else ())))
        kinds = tuple(_kinds(pivot, cells, at, chosen))
        marks += [Mark(y, x, kind) for kind in kinds for x in range(len(rows[-1]))]
    header = [
        f"{across.name.replace('_', ' ').capitalize()} × {down.name.replace('_', ' ')}",
        _heading(across), _heading(down), _metric_heading(metric),
    ]  # fmt: skip
    header += [_metric_heading(due), "Of what is due, %", f"Short by more than {pivot.tolerance} %"] if due else []
    places_ = (of_column(pivot.grain, pivot.across), of_column(pivot.grain, pivot.down))
    means: tuple[str, ...] = (of_product(pivot.grain, pivot.down, pivot.across), *places_, metric.id)
    means += (due.id, of_share(metric.id, due.id), "") if due else ()
    return Table(titled("Diagonals", shown.titled), tuple(header), tuple(rows), tuple(marks), of_columns=means)


def _due(setting: Setting, pivot: Pivot, metric: Metric, due: Metric, row: Row) -> tuple[str, str, str]:
    """What is due, the share of it that there is, whether that falls short."""
    found, wanted = setting.number(metric, row), setting.number(due, row)
    share = f"{100 * found / wanted:.1f}" if found is not None and wanted else asked.NO_VALUE
    short = asked.short(setting.checked, metric, due, row, pivot.tolerance)
    return setting.text(due, row), share, "yes" if short else "no"


def _cell(setting: Setting, pivot: Pivot, row: Row | None) -> str:
    """A cell; marked when it falls short of what is due."""
    if row is None:
        return asked.NO_VALUE
    metric = setting.checked.metric(pivot.metric)
    text = setting.text(metric, row)
    due = setting.checked.metric(pivot.due) if pivot.due else None
    return text + SHORT if due and asked.short(setting.checked, metric, due, row, pivot.tolerance) else text


# Verdicts

Judged = tuple[tuple[str, ...], ...]


def _judged(setting: Setting, verdict: Verdict, base: Shown, shown: Shown) -> Judged:
    """A row for each metric and each of the baseline's rows: key, metric, base, value, percent of change, result.

    Where several rows agree in the keys, the first counts.
    """
    item = asked.of_verdict(setting.checked, verdict)
    ours, theirs = (_by_keys(setting, verdict, of.run, asked.rows(of.run, item)) for of in (shown, base))
    return tuple(
        (
            *map(str, key),
            _metric_heading(metric),
            *_change(setting, metric, theirs[key], ours.get(key), verdict.tolerance),
        )
        for key in sorted(theirs, key=lambda key: tuple(map(ordered, key)))
        for metric in map(setting.checked.metric, verdict.metrics)
    )


def _verdict(setting: Setting, verdict: Verdict, base: Shown, shown: Shown, rows: Judged) -> Table:
    grain = asked.of_verdict(setting.checked, verdict).grain
    keys = (_heading(_column(grain, name)) for name in verdict.keys)
    header = (*keys, "Metric", base.label, shown.label, "Δ%", "Result")
    marks = tuple(Mark(y, len(header) - 1, BAD) for y, row in enumerate(rows) if row[-1] != "pass")
    columns = (*(of_column(verdict.grain, name) for name in verdict.keys), *[""] * 5)
    means = tuple(verdict.metrics[y % len(verdict.metrics)] for y in range(len(rows)))
    return Table(titled(verdict.title, shown.titled), header, rows, marks, of_rows=means, of_columns=columns)


def _by_keys(setting: Setting, verdict: Verdict, run: RunFigures, rows: Sequence[Row]) -> dict[tuple[object, ...], Row]:
    if verdict.choice:
        chosen = setting.row(verdict.choice, run)
        key = next(grain.key for grain in setting.checked.package.grains if grain.name == verdict.grain)
        rows = [row for row in rows if chosen and all(row[name] == chosen[name] for name in key)]
    found: dict[tuple[object, ...], Row] = {}
    for row in rows:
        found.setdefault(tuple(row[name] for name in verdict.keys), row)
    return found


def _change(setting: Setting, metric: Metric, base: Row, row: Row | None, tolerance: int) -> tuple[str, str, str, str]:
    """Base, value, percent of change, and whether that passes."""
    texts = setting.text(metric, base), setting.text(metric, row)
    old, new = setting.number(metric, base), setting.number(metric, row)
    if old is None or new is None or not (math.isfinite(old) and math.isfinite(new)):
        return (*texts, asked.NO_VALUE, "not run" if row is None else "no value")
    change = new - old
    worse = {"lower": change, "higher": -change}.get(metric.better, abs(change))
    passed = 100 * worse <= tolerance * abs(old)
    percent = f"{100 * change / old:.1f}" if old else asked.NO_VALUE
    return (*texts, percent, "pass" if passed else "fail")


def _results(part: Part, runs: Sequence[Shown], judged: Mapping[tuple[int, str], Judged]) -> Table:
    """A row for each scenario and run: when it ran, its label, and what the verdict comes to."""
    rows: list[tuple[str, ...]] = []
    marks: list[Mark] = []
    for verdict in part.verdicts:
        for shown in runs[1:] or runs:
            result, said = _outcome(judged.get((id(verdict), shown.run.id)), verdict.tolerance)
            if result not in ("pass", NO_BASELINE):
                marks.append(Mark(len(rows), 3, BAD))
            rows.append((verdict.scenario, shown.run.day, shown.label, result, said))
    return Table("Scenarios", ("Scenario", "Date", "Version", "Result", "Why"), tuple(rows), tuple(marks))


def _outcome(rows: Judged | None, tolerance: int) -> tuple[str, str]:
    """Whether a scenario passes, and why."""
    if rows is None:
        return NO_BASELINE, "there is no other run to judge by"
    if not rows:
        return "not run", "the baseline has no such rows"
    failed = sum(row[-1] == "fail" for row in rows)
    missing = sum(row[-1] not in ("pass", "fail") for row in rows)
    said = f"{failed} of {len(rows)} values worse by more than {tolerance} %"
    said += f", {missing} missing" if missing else ""
    return ("pass" if failed + missing == 0 else "fail"), said
