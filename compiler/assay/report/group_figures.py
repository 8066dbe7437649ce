"""Show the distributions of metrics by the values of a column: a figure of each metric and run, and the outliers.

Figures have the groups (hosts) in the order of the numbers in their names, the same in each run; the name of an odd one
is beside it. Of many groups, one figure shows all changes, and only metrics that show something have figures of their
own.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations

from assay.judgement.outliers import DEVIATION, FEWEST, LIMIT
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.package import Metric
from assay.number_styles.cell_text import print_number
from assay.number_styles.prefixed import format_percent, format_value
from assay.number_styles.row import NO_VALUE
from assay.number_styles.unit_prefix import choose_prefix
from assay.report.document import Part, Plot
from assay.report.group_changes import (
    NO_CHANGES,
    GroupChanges,
    build_changes_table,
    describe_changes,
    list_changed_groups,
)
from assay.report.group_spreads import Group, RunGroups, Spreads
from assay.report.heat_map import describe_heat_maps, draw_heat_maps
from assay.report.row_units import NO_UNITS, ReportUnits, RowUnit
from assay.report.run_results import add_unit
from assay.report.tables import Table
from assay.util.numbers import format_count, split_numbers

TEMPLATE = "groups"  # chart template
COLUMNS = ("mark", "x", "y", "low", "high", "lower", "upper", "text")
MOST_DRAWN = 64  # groups of a figure, besides outliers
MOST_LISTED = 20  # rows of a table; a web page has the others folded
MOST_APART = 10  # groups up to which each metric has figures and a table of its own
_MOST_NAMED = 3  # outliers in a label
_MOST_LETTERS = 60  # of names below an axis
_LABEL_GAP = 0.09  # share of the axis that two labels need
_LABEL_WIDTH = 0.3  # share of the other axis within which outliers have one label
_LETTER_WIDTH = 0.027  # share of the other axis that a letter of a label has
_LONG_TAIL = 3

Row = tuple[str | float | None, ...]


def build_groups_part(
    checked: CheckedPackage, column: str, spreads: Spreads, first_figure: int, units: ReportUnits = NO_UNITS,
    changes: GroupChanges = NO_CHANGES,
) -> Part:  # fmt: skip
    """Return the part of a report with the metrics by a column; its figures are numbered from `first_figure` on."""
    metrics = [checked.get_metric(name) for name in spreads]
    chosen = {item.id: units.get(item.id) or _choose_unit(item, spreads[item.id]) for item in metrics}
    is_many = max(len(_order_names(runs)) for runs in spreads.values()) > MOST_APART if spreads else False
    quiet = [item for item in metrics if is_many and _is_quiet(item, spreads[item.id], changes)]
    detailed = [item for item in metrics if item not in quiet]
    labels = {item.run: item.label for item in chain(*spreads.values())}
    maps = draw_heat_maps(column, metrics, changes, labels, first_figure) if is_many else ()
    figures, remarks, abreast = _draw_metrics(detailed, column, spreads, first_figure + len(maps), chosen)
    table = _build_table(metrics, column, spreads, chosen)
    changed = list(list_changed_groups(metrics, spreads, changes))
    changes_table = build_changes_table(column, changed, has_runs=len(changes.versions) > 1)
    text = (
        *describe_changes(metrics, column, changed, changes),
        *(describe_heat_maps(column) if maps else ()),
        *(_describe_figures(column, spreads) if figures else ()),
        *_describe_outliers(metrics, column, spreads, table),
        *(_describe_quiet(column, quiet) if quiet else ()),
        *(f"Not drawn: {'; '.join(remarks)}." if remarks else "",),
        *_list_absent(metrics, spreads),
    )
    tables = [changes_table] if changes_table.rows else []
    tables += [replace(table, rows=table.rows[:MOST_LISTED], values=table.values[:MOST_LISTED])] if table.rows else []
    tables += [_build_averages(metric, column, spreads[metric.id], chosen[metric.id], changes) for metric in detailed]
    tables += [_build_ranges(quiet, column, spreads, chosen)] if quiet else []
    part_text = tuple(filter(None, text))
    return Part(f"by-{column}", f"By {column}", part_text, tuple(figures), tuple(tables), abreast, wide=maps)


def _is_quiet(metric: Metric, runs: Sequence[RunGroups], changes: GroupChanges) -> bool:
    """Return whether no group changed beyond what chance makes of so many, and none is an outlier."""
    return not changes.list_certain(metric) and not any(item.outliers for item in runs)


def _draw_metrics(
    metrics: Sequence[Metric], column: str, spreads: Spreads, first_figure: int, units: ReportUnits
) -> tuple[list[Plot | None], list[str], int]:
    """Return the figures of metrics, phrases on those without one, and the number of figures side by side."""
    figures: list[Plot | None] = []
    remarks: list[str] = []
    counts = [len(spreads[item.id]) for item in metrics]
    abreast = 3 if max(counts, default=1) == 3 else 2
    for metric in metrics:
        drawn = _draw_metric(metric, column, spreads[metric.id], first_figure, units[metric.id])
        if isinstance(drawn, str):
            remarks.append(drawn)
            continue
        first_figure += len(drawn)
        # Each metric begins a row, so that its runs are side by side.
        figures += [*drawn, *[None] * (-len(drawn) % abreast if len(drawn) > 1 else 0)]
    return figures, remarks, abreast


def _describe_quiet(column: str, quiet: Sequence[Metric]) -> Iterator[str]:
    """Yield which metrics have neither figures nor tables of their own, and where their values are."""
    yield (
        f"In {format_count(len(quiet), 'metric')} no {column} changed beyond noise or is an outlier: the last table has"
        f" a row for each, and results.json all values."
    )


def _describe_figures(column: str, spreads: Spreads) -> Iterator[str]:
    """Yield what the figures show, and which groups are outliers."""
    yield (
        f"Each figure of a metric has the values of {column} in one order. A dot is the median, the thick line "
        "goes from the 20th to the 80th percentile, the thin one from the 5th to the 95th."
    )
    yield (
        f"An outlier is a {column} whose median differs from the median of all medians by more than {float(LIMIT)} "
        f"robust standard deviations ({float(DEVIATION)} times the median of the absolute differences from it), and, "
        f"where samples are whole numbers, by more than 1. It must also differ by more than the margin of the metric. "
        f"In fewer than {FEWEST} there is none."
    )
    greatest = max((len(item.groups) for item in chain(*spreads.values())), default=0)
    if greatest > MOST_DRAWN:
        yield (
            f"Of more than {MOST_DRAWN} in a run, {MOST_DRAWN} are drawn: the least, the greatest and others evenly by "
            "rank of their medians; outliers are drawn besides these. results.json has all."
        )
    if max((len(_order_names(runs)) for runs in spreads.values()), default=0) > MOST_LISTED:
        yield (
            f"Printed tables have {MOST_LISTED} of them: those that changed, then those whose medians are farthest "
            "from the median of the run. A web page has the others folded."
        )


def _describe_outliers(metrics: Sequence[Metric], column: str, spreads: Spreads, table: Table) -> Iterator[str]:
    """Yield the sentences that name the outliers of each metric, or one sentence if no metric has any."""
    sentences = []
    for metric in metrics:
        runs = [item for item in spreads[metric.id] if item.outliers]
        several = len(spreads[metric.id]) > 1
        parts = [f"{_name_outliers(item)}{f' in {item.label}' if several else ''}" for item in runs]
        if parts:
            sentences.append(f"{metric.name}: {'; '.join(parts)}")
    if not sentences:
        yield f"No {column} is an outlier in any of the metrics."
        return
    yield f"Outliers. {'. '.join(sentences)}."
    if len(table.rows) > MOST_LISTED:
        yield f"The table has {MOST_LISTED} of {len(table.rows)} outliers, those in most metrics first."


def _name_outliers(item: RunGroups) -> str:
    """Return the names of the outliers of a run: high ones, greatest first, then low ones."""
    sides = (
        ("high", [group for group in reversed(item.groups) if group.side > 0]),
        ("low", [group for group in item.groups if group.side < 0]),
    )
    return ", ".join(
        f"{_join_names([group.name for group in groups], MOST_LISTED)} ({side})" for side, groups in sides if groups
    )


def _join_names(names: Sequence[str], most: int) -> str:
    joined = ", ".join(names[:most])
    return f"{joined} and {len(names) - most} more" if len(names) > most else joined


def _list_absent(metrics: Sequence[Metric], spreads: Spreads) -> Iterator[str]:
    """Yield a sentence on the groups without samples, by metric and run."""
    parts = []
    for metric in metrics:
        several = len(spreads[metric.id]) > 1
        for item in spreads[metric.id]:
            if item.unmeasured:
                run = f" in {item.label}" if several else ""
                parts.append(f"{_join_names(item.unmeasured, _MOST_NAMED)} of {metric.name}{run}")
    if parts:
        yield f"No samples, or samples that are not finite, have: {'; '.join(parts)}."


def _build_table(metrics: Sequence[Metric], column: str, spreads: Spreads, units: ReportUnits) -> Table:
    """Return the table of outliers, one row for each group of a run; those in most metrics first."""
    cells_by_group: dict[tuple[str, str], list[str]] = {}
    for metric in metrics:
        for item in spreads[metric.id]:
            factor, symbol = float(units[metric.id][0]), units[metric.id][1]
            for group in item.outliers:
                texts = (format_value(value * factor) for value in (group.median, item.median or 0.0))
                cell = "{} {} (all: {})".format(add_unit(metric.name, symbol), *texts)
                cells_by_group.setdefault((item.label, group.name), []).append(cell)
    several = any(len(runs) > 1 for runs in spreads.values())
    rows = [
        (name, *((label,) if several else ()), print_number(str(len(cells))), "; ".join(cells))
        for (label, name), cells in sorted(
            cells_by_group.items(), key=lambda item: (-len(item[1]), item[0][0], split_numbers(item[0][1]))
        )
    ]
    header = (column, *(("run",) if several else ()), "metrics", "medians")
    return Table(f"Outliers by {column}", header, tuple(rows))


def _order_names(runs: Sequence[RunGroups]) -> tuple[str, ...]:
    """Return the names of the groups of all runs in their order."""
    return tuple(sorted({group.name for item in runs for group in item.groups}, key=split_numbers))


def _build_averages(
    metric: Metric, column: str, runs: Sequence[RunGroups], unit: RowUnit, changes: GroupChanges
) -> Table:
    """Return the table of a metric's averages by group and run, with the changes from the first run, and verdicts."""
    factor, symbol = float(unit[0]), unit[1]
    averages = [{group.name: group.average for group in item.groups} for item in runs]
    names = _order_names(runs)
    if len(names) > MOST_APART:
        names = tuple(sorted(names, key=lambda name: -_measure_difference(name, averages, runs)))
    rows = [
        (
            name,
            *(_format_average(values.get(name), factor) for values in averages),
            *(format_percent(averages[0].get(name), values.get(name)) for values in averages[1:]),
            *changes.format_cells(metric, name),
        )
        for name in names
    ]
    header = (column, *(item.label for item in runs), *_head_changes([item.label for item in runs[1:]]),
              *changes.list_headings(runs))  # fmt: skip
    title = f"{add_unit(metric.name, symbol)}: average of each {column}"
    first = 2 * len(runs)  # after the name, an average of each run, and a change of each but the first
    verdicts = (
        verdict for row, name in enumerate(names) for verdict in changes.list_verdicts(metric, name, row, first)
    )
    units = ("", *[symbol] * len(runs), *["%"] * (len(header) - 1 - len(runs)))
    return Table(
        title, header, tuple(rows), shortlist=_shorten(names, runs, changes.list_changed(metric)),
        column_units=units, verdicts=tuple(verdicts),
    )  # fmt: skip


def _measure_difference(name: str, averages: Sequence[Mapping[str, float]], runs: Sequence[RunGroups]) -> float:
    """Return the greatest relative change of a group's average; in a single run, its distance from the median."""
    first, *others = (item.get(name) for item in averages)
    if not others:
        return abs((first or 0.0) - (runs[0].median or 0.0))
    changes = [
        abs(value / first - 1) if first else math.inf for value in others if first is not None and value is not None
    ]
    return max(changes, default=0.0)


def _build_ranges(metrics: Sequence[Metric], column: str, spreads: Spreads, units: ReportUnits) -> Table:
    """Return the table of the least and the greatest average of a group, a row for each metric."""
    runs = list(dict.fromkeys(item.label for metric in metrics for item in spreads[metric.id]))
    several = len(runs) > 1
    rows = []
    for metric in metrics:
        groups = {item.label: [group.average for group in item.groups] for item in spreads[metric.id]}
        factor, symbol = float(units[metric.id][0]), units[metric.id][1]
        ends = (end(groups[run]) if groups.get(run) else None for run in runs for end in (min, max))
        rows.append((add_unit(metric.name, symbol), *(_format_average(value, factor) for value in ends)))
    headings = [f"{run}: {end}" if several else end for run in runs for end in ("least", "greatest")]
    return Table(f"Other metrics: least and greatest average of a {column}", ("metric", *headings), tuple(rows))


def _head_changes(labels: Sequence[str]) -> list[str]:
    return ["Δ%"] if len(labels) == 1 else [f"{label} Δ%" for label in labels]


def _format_average(value: float | None, factor: float) -> str:
    return NO_VALUE if value is None else format_value(value * factor)


def _shorten(names: Sequence[str], runs: Sequence[RunGroups], changed: Collection[str]) -> tuple[int, ...]:
    """Return the indexes of the groups that pages print, those that `changed` first; empty if these are all."""
    if len(names) <= MOST_LISTED:
        return ()
    distances = dict.fromkeys(names, 0.0)
    for item in runs:
        for group in item.groups:
            distances[group.name] = max(distances[group.name], abs(group.median - (item.median or 0.0)))
    ranked = sorted(range(len(names)), key=lambda index: (names[index] not in changed, -distances[names[index]], index))
    return tuple(sorted(ranked[:MOST_LISTED]))


def _choose_unit(metric: Metric, runs: Sequence[RunGroups]) -> RowUnit:
    return choose_prefix([item.median for item in runs], metric.unit.symbol)


def _draw_metric(
    metric: Metric, column: str, runs: Sequence[RunGroups], first_figure: int, unit: RowUnit
) -> list[Plot] | str:
    """Draw a metric in each run, on one scale; a phrase if there is nothing to see."""
    factor, symbol = float(unit[0]), unit[1]
    groups = [group for item in runs for group in item.groups]
    if len({value for group in groups for value in group.quantiles}) == 1:
        return f"{metric.name}, all {format_value(groups[0].median * factor)}{f' {symbol}' if symbol else ''}"
    if all(len(item.groups) < 2 for item in runs):
        return f"{metric.name}, of one {column}"
    low, high, is_cut = _choose_range(groups)
    several = len(runs) > 1
    places = {name: float(number) for number, name in enumerate(_order_names(runs), start=1)}
    cut = "; ranges cut" if is_cut else ""
    return [
        Plot(
            f"by-{column}-{metric.id}-{number}",
            first_figure + number,
            f"{add_unit(metric.name, symbol)}{f': {item.label}' if several else ''}{cut}",
            symbol,
            _describe_plot(metric, column, item, factor, symbol),
            TEMPLATE,
            COLUMNS,
            tuple(_list_rows(item, places, low, high, factor)),
            x_label=_label_axis(column, list(places)),
            y_label=add_unit(metric.name, symbol),
            shows=(metric.id,),
        )
        for number, item in enumerate(runs)
    ]


def _label_axis(column: str, names: Sequence[str]) -> str:
    """Return the names of the groups in their order if they fit below the axis, else the name of the column."""
    text = f"{column}: {', '.join(names)}"
    return text if len(text) <= _MOST_LETTERS else f"{column}, from {names[0]} to {names[-1]}"


def _describe_plot(metric: Metric, column: str, item: RunGroups, factor: float, symbol: str) -> str:
    """Return a figure in words."""
    if not item.groups:
        return f"{metric.name} by {column} in {item.label}: no samples."
    low, high = (format_value(group.median * factor) for group in (item.groups[0], item.groups[-1]))
    outliers = f"outliers {_name_outliers(item)}" if item.outliers else "no outliers"
    unit = f" {symbol}" if symbol else ""
    return f"{metric.name} by {column} in {item.label}: medians from {low} to {high}{unit}, {outliers}."


def _choose_range(groups: Sequence[Group]) -> tuple[float, float, bool]:
    """Return the range of values to draw, and whether it cuts the wide ranges of groups.

    It has all medians and narrow ranges. Wide ranges that are much longer would leave no room for the differences.
    """
    least, greatest = min(group.quantiles[0] for group in groups), max(group.quantiles[-1] for group in groups)
    low, high = min(group.quantiles[1] for group in groups), max(group.quantiles[-2] for group in groups)
    if high > low and greatest - least > _LONG_TAIL * (high - low):
        return low, high, True
    return least, greatest, False


def _list_rows(item: RunGroups, places: Mapping[str, float], low: float, high: float, factor: float) -> Iterator[Row]:
    """Yield the rows of a figure: the ends of its axes, its groups at their places, the names of outliers."""
    # Half a place beside the first and the last group, so that neither is on the border of the figure.
    for end, place in ((low, 0.5), (high, len(places) + 0.5)):
        yield ("extent", place, _round(end * factor), None, None, None, None, None)
    for group in sorted(_list_drawn(item.groups), key=lambda group: places[group.name]):
        ends = [min(max(value, low), high) * factor for value in group.quantiles]
        wide_low, narrow_low, _, narrow_high, wide_high = map(_round, ends)
        mark = "outlier" if group.side else "group"
        yield (mark, places[group.name], _round(ends[2]), wide_low, wide_high, narrow_low, narrow_high, group.name)
    yield from _list_labels(item.outliers, places, _LABEL_GAP * (high - low), factor)


def _list_drawn(groups: Sequence[Group]) -> list[Group]:
    """Return the groups to draw: all outliers, and of many others some evenly by rank of their medians."""
    count = len(groups)
    if count <= MOST_DRAWN:
        return list(groups)
    even = {index * (count - 1) // (MOST_DRAWN - 1) for index in range(MOST_DRAWN)}
    return [group for rank, group in enumerate(groups) if rank in even or group.side]


def _list_labels(outliers: Sequence[Group], places: Mapping[str, float], gap: float, factor: float) -> Iterator[Row]:
    """Yield the names of outliers, towards the middle of the figure; those close to each other have one label."""
    labels = [_Label(tuple(groups), places) for groups in _group_labels(outliers, places, gap)]
    while pair := next((pair for pair in combinations(labels, 2) if pair[0].overlaps(pair[1], gap)), None):
        groups = sorted((*pair[0].groups, *pair[1].groups), key=lambda group: places[group.name])
        labels = [*(label for label in labels if label not in pair), _Label(tuple(groups), places)]
    for label in sorted(labels, key=lambda label: places[label.groups[0].name]):
        mark = "name-left" if label.is_right else "name-right"
        yield (mark, label.place, _round(label.group.median * factor), None, None, None, None, label.text)


@dataclass(frozen=True, slots=True)
class _Label:
    """The names of outliers, in the order of their places, as one text beside the nearest to the middle."""

    groups: tuple[Group, ...]
    places: Mapping[str, float]

    @property
    def is_right(self) -> bool:
        """Whether the outliers are in the right half, so that the text is to their left."""
        return self.places[self.groups[0].name] > len(self.places) / 2

    @property
    def group(self) -> Group:
        """Return the outlier beside which the text is."""
        return self.groups[0] if self.is_right else self.groups[-1]

    @property
    def place(self) -> float:
        """Return its place."""
        return self.places[self.group.name]

    @property
    def text(self) -> str:
        """Return the names."""
        return _join_names([item.name for item in self.groups], _MOST_NAMED)

    def overlaps(self, other: _Label, gap: float) -> bool:
        """Return whether two texts overlap, as far as their letters can be counted."""
        (low, high), (other_low, other_high) = self._measure(), other._measure()
        return abs(self.group.median - other.group.median) < gap and low < other_high and other_low < high

    def _measure(self) -> tuple[float, float]:
        size = min(len(self.text) * _LETTER_WIDTH, 1.0) * len(self.places)
        return (self.place - size, self.place) if self.is_right else (self.place, self.place + size)


def _group_labels(outliers: Sequence[Group], places: Mapping[str, float], gap: float) -> list[list[Group]]:
    """Return outliers, those on one side that are close to each other together."""
    width = _LABEL_WIDTH * len(places)
    labels: list[list[Group]] = []
    for group in sorted(outliers, key=lambda group: places[group.name]):
        first = labels[-1][0] if labels else None
        is_near = first and places[group.name] - places[first.name] < width
        if first and is_near and first.side == group.side and abs(first.median - group.median) < gap:
            labels[-1].append(group)
        else:
            labels.append([group])
    return labels


def _round(number: float) -> float:
    """Return a number with six digits, so that data of figures are short."""
    return float(f"{number:.6g}")
