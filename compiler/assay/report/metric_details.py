"""Describe how the distributions of a metric differ between runs: sentences, figures, and a table of quantiles.

A figure that shows nothing (all samples are equal, all differences are 0) is not drawn; a sentence says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeVar

from assay.judgement.change import Interval
from assay.judgement.shift import (
    DECILES,
    QuantileChange,
    RunQuantiles,
    ShareGap,
    find_greatest_gap,
    list_gaps,
)
from assay.lang.model.package import Metric
from assay.lang.segments import name_file
from assay.number_styles.prefixed import format_delta, format_interval, format_value
from assay.number_styles.unit_prefix import choose_prefix
from assay.report.cell_links import STATISTIC, CellLink, CellSource
from assay.report.document import Plot
from assay.report.judged_cells import NO_VALUE
from assay.report.row_units import RowUnit
from assay.report.run_results import add_unit
from assay.report.tables import Table

LINES, HOSTS = "detail", "detail-hosts"  # chart templates
COLUMNS = ("line", "x", "y", "low", "high", "step", "gap")
MOST_POINTS = 64  # of a line
_TAIL = 0.05  # share of samples at each end that figures leave out where these would fill most of the axis
_LONG_TAIL = 4

Row = tuple[str | float | None, ...]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RunCourse:
    """A metric in a run (its id and label), in the metric's unit.

    `means` are those over time (share of the run, mean), `hosts` the means of hosts by name. `changes`
    are those of quantiles from the base; empty for the base itself.
    """

    run: str
    label: str
    quantiles: RunQuantiles
    means: tuple[tuple[float, float], ...]
    hosts: tuple[tuple[str, float], ...]
    changes: tuple[QuantileChange, ...]


@dataclass(frozen=True, slots=True)
class MetricDetails:
    """What is shown of a metric; the table is None for one run, or where all samples are equal."""

    text: tuple[str, ...]
    plots: tuple[Plot, ...]
    table: Table | None = None


def build_metric_details(
    metric: Metric, runs: Sequence[RunCourse], first_figure: int = 1, unit_of_report: RowUnit | None = None
) -> MetricDetails:
    """Return the details of a metric; its figures are numbered from `first_figure` on. Every run has samples.

    Without a unit of the report, the unit suits the medians.
    """
    middle = DECILES.index(Fraction(1, 2))
    factor, symbol = unit_of_report or choose_prefix(
        [run.quantiles.quantiles[middle] for run in runs], metric.unit.symbol
    )
    runs = [_scale_run(run, float(factor)) for run in runs]
    unit = f" {symbol}" if symbol else ""
    label = add_unit(metric.name, symbol)
    text = ["Samples of all hosts are pooled."] if metric.per else []
    if all(run.quantiles.is_constant for run in runs):
        values = (f"all samples of {run.label} are {format_value(run.quantiles.steps[0])}{unit}" for run in runs)
        return MetricDetails((*text, f"Nothing is drawn: {', '.join(values)}."), ())
    base, *others = runs
    changes = {run.label: run.changes for run in others}
    gaps = {run.label: find_greatest_gap(base.quantiles, run.quantiles) for run in others}
    text += [_describe_gap(base.label, name, gap, unit) for name, gap in gaps.items()]
    text += [sentence for name, items in changes.items() for sentence in _describe_changes(base.label, name, items)]
    if any(isinstance(item.interval, Interval) for items in changes.values() for item in items):
        text.append("Intervals of quantiles hold what varies within these runs, not what differs from run to run.")
    figures = [
        _draw_shares(runs, label),
        _draw_changes(base.label, changes, symbol),
        _draw_gaps(base, others, gaps, label),
        _draw_means(runs, label),
        _draw_hosts(runs, label),
    ]
    text += [figure for figure in figures if isinstance(figure, str)]
    plots = [figure for figure in figures if isinstance(figure, Plot)]
    named = (
        replace(
            plot,
            id=f"details-{name_file(metric.id)}-{number}",
            figure=first_figure + number,
            unit=symbol,
            description=f"{metric.name}: {plot.title}.",
            panels=tuple(run.label for run in runs),
            shows=(metric.id,),
        )
        for number, plot in enumerate(plots)
    )
    return MetricDetails(tuple(filter(None, text)), tuple(named), _build_table(metric, runs, symbol))


def _scale_run(run: RunCourse, factor: float) -> RunCourse:
    quantiles = replace(
        run.quantiles,
        quantiles=tuple(item * factor for item in run.quantiles.quantiles),
        steps=tuple(item * factor for item in run.quantiles.steps),
    )
    return replace(
        run,
        quantiles=quantiles,
        means=tuple((time, mean * factor) for time, mean in run.means),
        hosts=tuple((host, mean * factor) for host, mean in run.hosts),
        changes=tuple(_scale_change(item, factor) for item in run.changes),
    )


def _scale_change(change: QuantileChange, factor: float) -> QuantileChange:
    ends = change.interval
    if isinstance(ends, Interval):
        ends = Interval(ends.low * factor, ends.high * factor)
    return QuantileChange(change.share, change.base * factor, change.value * factor, ends)


def _describe_gap(base: str, run: str, gap: ShareGap, unit: str) -> str:
    if not gap.difference:
        return f"The distributions of {run} and {base} are equal."
    return (
        f"The distributions differ most at {format_value(gap.value)}{unit}: {100 * gap.base:.0f} % of the samples of "
        f"{base} are at most that, and {100 * gap.other:.0f} % of those of {run}."
    )


def _describe_changes(base: str, run: str, changes: Sequence[QuantileChange]) -> Iterator[str]:
    """Yield which quantiles differ by more than noise, and why others have no interval."""
    estimated_changes = [item for item in changes if isinstance(item.interval, Interval)]
    if estimated_changes:
        changed = [
            name_share(item.share)
            for item in estimated_changes
            if isinstance(item.interval, Interval) and not item.interval.low <= 0 <= item.interval.high
        ]
        names = ", ".join(changed) if len(changed) < len(estimated_changes) else "all"
        yield f"Quantiles of {run} that differ from {base}, with an interval that excludes 0: {names or 'none'}."
    unknown: dict[str, list[str]] = {}
    for item in changes:
        if not isinstance(item.interval, Interval):
            unknown.setdefault(item.interval.value, []).append(name_share(item.share))
    for reason, shares in unknown.items():
        yield f"Without an interval: {', '.join(shares) if estimated_changes else 'all quantiles'}, because {reason}."


def name_share(share: Fraction) -> str:
    """Return the name of a quantile: `p50`."""
    return f"p{100 * share}"


def _plot(title: str, labels: tuple[str, str], rows: Sequence[Row], template: str = LINES) -> Plot:
    """Return a plot whose axes x and y have these titles."""
    x_label, y_label = labels
    return Plot("details", 0, title, "", title, template, COLUMNS, tuple(rows), x_label=x_label, y_label=y_label)


def _draw_shares(runs: Sequence[RunCourse], label: str) -> Plot:
    """Draw the cumulative distribution of each run as steps."""
    low, high, x_label = _choose_range(runs, label)
    rows: list[Row] = []
    for run in runs:
        values = [item for item in sorted({*run.quantiles.steps}) if low <= item <= high]
        rows += [_draw_step(run.label, item, run.quantiles.compute_share(item)) for item in _thin(values)]
    return _plot("Share of samples that are at most so much", (x_label, "share of samples"), rows)


def _draw_step(line: str, x: float, share: float) -> Row:
    """Return the row of a point from which on a line is level."""
    return (line, _round(x), None, None, None, _round(share), None)


def _draw_changes(base: str, changes: dict[str, tuple[QuantileChange, ...]], symbol: str) -> Plot | str:
    """Draw the shift function of each run; a sentence if all quantiles are equal."""
    if not changes:
        return ""
    if all(not item.difference for items in changes.values() for item in items):
        return f"The quantiles are those of {base}, so their differences are not drawn."
    rows: list[Row] = []
    for line, items in changes.items():
        for item in items:
            ends = (item.interval.low, item.interval.high) if isinstance(item.interval, Interval) else (None, None)
            share, low, high = float(item.share), *(None if end is None else _round(end) for end in ends)
            rows.append((line, share, _round(item.difference), low, high, None, None))
    unit = f", {symbol}" if symbol else ""
    return _plot(f"Difference of quantiles from {base}{unit}", ("share of samples", f"difference{unit}"), rows)


def _draw_gaps(base: RunCourse, others: Sequence[RunCourse], gaps: dict[str, ShareGap], label: str) -> Plot | str:
    """Draw the difference of the shares of samples up to each value, and mark the greatest."""
    if not others or not any(gap.difference for gap in gaps.values()):
        return ""
    low, high, x_label = _choose_range([base, *others], label)
    rows: list[Row] = []
    for run in others:
        greatest = gaps[run.label]
        every = [item for item in list_gaps(base.quantiles, run.quantiles) if low <= item.value <= high]
        points = sorted({(item.value, item.difference) for item in [*_thin(every), greatest]})
        rows += [_draw_step(run.label, *point) for point in points]
        rows.append((run.label, _round(greatest.value), None, None, None, None, _round(greatest.difference)))
    return _plot(f"Difference of shares from {base.label}", (x_label, "difference of shares"), rows)


def _draw_means(runs: Sequence[RunCourse], label: str) -> Plot | str:
    """Draw the averages over time; a sentence if they do not vary."""
    if all(len({mean for _, mean in run.means}) < 2 for run in runs):
        return "The averages do not vary over the run, and are not drawn."
    rows: list[Row] = [
        (run.label, _round(100 * time), _round(mean), None, None, None, None)
        for run in runs
        for time, mean in run.means
    ]
    return _plot(f"Averages over the run: {label}", ("time, % of the run", label), rows)


def _draw_hosts(runs: Sequence[RunCourse], label: str) -> Plot | str:
    """Draw the averages of hosts; a sentence if they are equal, nothing if the metric has no hosts."""
    if all(len(run.hosts) < 2 for run in runs):
        return ""
    if len({mean for run in runs for _, mean in run.hosts}) == 1:
        return "The averages of all hosts are equal, and are not drawn."
    rows: list[Row] = [
        (run.label, host, _round(mean), None, None, None, None) for run in runs for host, mean in run.hosts
    ]
    return _plot(f"Averages of hosts: {label}", ("host", label), rows, HOSTS)


def _build_table(metric: Metric, runs: Sequence[RunCourse], symbol: str) -> Table | None:
    """Return the table of quantiles: the base's, then value, difference and interval of each further run.

    Quantiles are linked to the percentiles of a metric without hosts of its own; pooled ones of others are not printed.
    """
    base, *others = runs
    if not others:
        return None
    header = ["", base.label, *(text for run in others for text in (run.label, "Δ", "95 %"))]
    rows, links = [], []
    for y, items in enumerate(zip(*(run.changes for run in others), strict=True)):
        name = name_share(items[0].share)
        cells = [add_unit(name, symbol), format_value(items[0].base)]
        for item in items:
            interval = item.interval
            text = _format_ends(interval) if isinstance(interval, Interval) else NO_VALUE
            cells += [format_value(item.value), format_delta(item.base, item.value), text]
        rows.append(tuple(cells))
        columns = [1, *(2 + 3 * index for index in range(len(others)))]
        for x, run in zip(columns, () if metric.per else runs, strict=False):
            links.append(CellLink(y, x, STATISTIC, (CellSource(metric.id, run.run, statistic=name),)))
    return Table("Quantiles", tuple(header), tuple(rows), leads=tuple(links), row_units=(symbol,) * len(rows))


def _format_ends(interval: Interval) -> str:
    if interval.low == interval.high:  # of integers; it has no width that tells its precision
        return " … ".join([format_delta(0.0, interval.low)] * 2)
    return format_interval(interval.low, interval.high)


def _choose_range(runs: Sequence[RunCourse], label: str) -> tuple[float, float, str]:
    """Return the range of values to draw, and the title of the axis: without long tails."""
    least, greatest = (pick(run.quantiles.steps[end] for run in runs) for pick, end in ((min, 0), (max, -1)))

    def get_value(run: RunCourse, share: float) -> float:
        return run.quantiles.steps[int(share * (len(run.quantiles.steps) - 1))]

    low = min(get_value(run, _TAIL) for run in runs)
    high = max(get_value(run, 1 - _TAIL) for run in runs)
    if high > low and greatest - least > _LONG_TAIL * (high - low):
        return low, high, f"{label} ({100 * _TAIL:.0f} % at each end is left out)"
    return least, greatest, label


def _thin(items: Sequence[T]) -> list[T]:
    """Return at most so many items as a line has points, the first and the last among them."""
    if len(items) <= MOST_POINTS:
        return list(items)
    return [items[index * (len(items) - 1) // (MOST_POINTS - 1)] for index in range(MOST_POINTS)]


def _round(number: float) -> float:
    """Return a number with six digits, so that data of figures are short."""
    return float(f"{number:.6g}")
