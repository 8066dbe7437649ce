"""Plot metrics over publications and builds.

Rows of a plot have the columns `COLUMNS`. `mark` is the kind of a row:

    run, base  a value at (`x`, `y`): `value` is its text, `run` and `publication` (a day) are its origin
    interval   the interval from `y` to `y2` of the run at `x`
    move       from a run to its base: (`x`, `y`) to (`x2`, `y2`)
    level      the average `y` of the points from `x` to `x2`, where a metric has level shifts
    break      a break before `x`; `kind` is `meaning` or `form`, `text` holds its key (several where they coincide)
    column     the boundary of a column at `x`
    label      `text` under the column whose middle is `x`
    panel      `text` names the panel
    extent     a corner of the panel's axes
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from assay.publication.history import FORM, MEANING, Change, Issue, describe_inputs, find_break_place
from assay.publication.history_shifts import Levels
from assay.report.document import Plot, Value
from assay.report.run_results import add_unit

COLUMNS = ("panel", "mark", "x", "y", "x2", "y2", "kind", "text", "value", "run", "publication")
#: distance of the runs of a publication, and the greatest distance of its first and last run, in widths of a column
RUN_DISTANCE, MAX_RUNS_WIDTH = 0.4, 0.64
#: an axis begins at zero if its least value is at most this share of its greatest
NEAR_ZERO = 0.5
#: characters of a column's label that fit below the panels
MAX_LABEL_LENGTH = 13
#: labels that fit side by side
MAX_LABELS = 26

Row = tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Frame:
    """The common data of all plots of a history: its columns, the issues in order, workloads, breaks, levels."""

    columns: Sequence[Sequence[Issue]]
    issues: Sequence[Issue]
    workloads: Sequence[str]
    changes: Sequence[Change]
    levels: Levels = field(default_factory=dict)

    def compute_x(self, issue: Issue, run: int) -> float:
        """Return the position of a run of a publication."""
        column = next(index for index, column_issues in enumerate(self.columns) if issue in column_issues)
        return round(column + 0.5 + (run - (len(issue.publication.runs) - 1) / 2) * self._compute_step(issue), 4)

    def compute_break_x(self, issue: Issue, run: int) -> float:
        """Return the position between a run and the one before it; between columns for the first run."""
        if run:
            return round(self.compute_x(issue, run) - self._compute_step(issue) / 2, 4)
        return float(next(index for index, column_issues in enumerate(self.columns) if issue in column_issues))

    def _compute_step(self, issue: Issue) -> float:
        return min(RUN_DISTANCE, MAX_RUNS_WIDTH / max(len(issue.publication.runs) - 1, 1))


def build_plot(frame: Frame, metric: str, metric_word: tuple[str, str], figure: int, template: str) -> Plot:
    """Build the plot of a metric, called `metric_word` (name and unit symbol)."""
    panels = tuple(
        name
        for name in frame.workloads
        if any(value is not None for issue in select_issues(frame, name) for value in issue.list_numbers(metric))
    )
    rows = [row for name in panels for row in _list_panel_rows(frame, metric, name)]
    rows += _list_label_rows(frame, panels[-1]) if panels else ()
    name, symbol = metric_word
    return Plot(
        metric, figure, add_unit(name, symbol), symbol, _describe_plot(frame, metric, name, symbol, panels),
        template, COLUMNS, tuple(rows), panels, y_label=add_unit(name, symbol),
    )  # fmt: skip


def select_issues(frame: Frame, workload: str) -> list[Issue]:
    """Return the issues with a workload."""
    return [issue for issue in frame.issues if issue.publication.workload == workload]


def _build_row(panel: str, mark: str, **columns: Value) -> Row:
    values_by_column: Mapping[str, Value] = {"panel": panel, "mark": mark, **columns}
    return tuple(values_by_column.get(name) for name in COLUMNS)


def _list_panel_rows(frame: Frame, metric: str, workload: str) -> Iterator[Row]:
    yield _build_row(workload, "panel", x=0.0, text=workload)
    step = _compute_label_step(frame)
    for index in range(step, len(frame.columns), step):
        yield _build_row(workload, "column", x=float(index))
    workload_issues = select_issues(frame, workload)
    values = [value for issue in workload_issues for value in issue.list_numbers(metric) if value is not None]
    values += (end for issue in workload_issues for _, interval in _list_intervals(issue, metric) for end in interval)
    low, high = _choose_axis_ends(min(values), max(values))
    yield _build_row(workload, "extent", x=0.0, y=low)
    yield _build_row(workload, "extent", x=float(len(frame.columns)), y=high)
    yield from _list_level_rows(frame, metric, workload)
    yield from _list_break_rows(frame, metric, workload)
    for issue in workload_issues:
        yield from _list_value_rows(frame, metric, issue)


def _choose_axis_ends(low: float, high: float) -> tuple[float, float]:
    """Return the ends of an axis: from zero if the least value is near it; with room around a single value."""
    if low == high:
        return (low - 0.1 * abs(low), high + 0.1 * abs(high)) if low else (0.0, 1.0)
    return (0.0 if 0 <= low <= NEAR_ZERO * high else low), high


def _list_value_rows(frame: Frame, metric: str, issue: Issue) -> Iterator[Row]:
    """Yield the values of a publication as they are printed; a run without a value has no row."""
    workload, day = issue.publication.workload, issue.publication.day
    if metric not in issue.rows:
        return
    base, *_ = numbers = issue.list_numbers(metric)
    cells = issue.rows[metric].values
    for run, (interval_low, interval_high) in _list_intervals(issue, metric):
        yield _build_row(workload, "interval", x=frame.compute_x(issue, run), y=interval_low, y2=interval_high)
    for run, (value, label) in enumerate(zip(numbers, issue.publication.runs, strict=True)):
        if value is None:
            continue
        x = frame.compute_x(issue, run)
        if run and base is not None:
            yield _build_row(
                workload, "move", x=x, y=value, x2=frame.compute_x(issue, 0), y2=base, run=label, publication=day
            )
        mark = "base" if run == 0 and issue.has_base else "run"
        yield _build_row(workload, mark, x=x, y=value, value=cells[run], run=label, publication=day)


def _list_intervals(issue: Issue, metric: str) -> Iterator[tuple[int, tuple[float, float]]]:
    """Yield the runs of a build that have an interval, with it."""
    for run, interval in enumerate(issue.build.intervals.get(metric, ()) if issue.build else ()):
        if interval:
            yield run, interval


def _list_level_rows(frame: Frame, metric: str, workload: str) -> Iterator[Row]:
    """Yield the levels of a metric between its shifts; none if it has no shift."""
    for levels in frame.levels.get((metric, workload), ()):
        for level in levels if len(levels) > 1 else ():
            first, last = level.points[0], level.points[-1]
            x, x2 = frame.compute_x(first.issue, first.run), frame.compute_x(last.issue, last.run)
            yield _build_row(workload, "level", x=x, y=level.average, x2=x2)


def _list_break_rows(frame: Frame, metric: str, workload: str) -> Iterator[Row]:
    """Yield the breaks of a metric; those at one place share a row."""
    places: dict[float, list[Change]] = {}
    for change in frame.changes:
        break_place = find_break_place(change, frame.issues, workload) if change.affects(metric) else None
        if break_place:
            places.setdefault(frame.compute_break_x(*break_place), []).append(change)
    for x, coinciding_changes in places.items():
        kind = MEANING if any(change.kind == MEANING for change in coinciding_changes) else FORM
        yield _build_row(workload, "break", x=x, kind=kind, text=" ".join(change.key for change in coinciding_changes))


def _compute_label_step(frame: Frame) -> int:
    return math.ceil(len(frame.columns) / MAX_LABELS)


def _list_label_rows(frame: Frame, panel: str) -> Iterator[Row]:
    """Yield the title of the axis of releases, and the labels of columns.

    Of more labels than fit, every second, third, ... is left, with that of the newest.
    """
    yield _build_row(panel, "axis", x=len(frame.columns) / 2, text="release")
    step = _compute_label_step(frame)
    for index, column in enumerate(frame.columns):
        if (len(frame.columns) - 1 - index) % step == 0:
            label = column[0].publication.runs[-1]
            short_label = label if len(label) <= MAX_LABEL_LENGTH else label[: MAX_LABEL_LENGTH - 1] + "…"
            yield _build_row(panel, "label", x=index + 0.5, text=short_label)


def _describe_plot(frame: Frame, metric: str, name: str, symbol: str, panels: Sequence[str]) -> str:
    """Describe the plot in words: its first and last values by workload, and its breaks."""
    unit = f" {symbol}" if symbol else ""
    parts = []
    for workload in panels:
        issues = [issue for issue in select_issues(frame, workload) if metric in issue.rows]
        rows = [issue.rows[metric] for issue in issues]
        ends = f"from {rows[0].values[0]}{unit} to {rows[-1].values[-1]}{unit}"
        inputs = describe_inputs(issues, count=len(issues))
        parts.append(f"{workload}, {len(issues)} {inputs}, {ends}")
    keys = [change.key for change in frame.changes if change.affects(metric)]
    breaks = f" Breaks: {', '.join(keys)}." if keys else ""
    return f"{name} over releases: {'; '.join(parts)}.{breaks}"
