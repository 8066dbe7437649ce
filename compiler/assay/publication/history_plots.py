"""Series of published values -> plots: a panel a workload, a column a release.

Rows of a plot have the columns below.  `mark` says what a row is:

    run, base  a printed value at (`x`, `y`): `value` is its text, `run` and `publication` (a day) whose it is
    move       from a run to its base: (`x`, `y`) to (`x2`, `y2`)
    break      a break before `x`; `kind` is `meaning` or `form`, `text` holds its key (several where they coincide)
    column     the boundary of a column at `x`
    label      `text` under the column whose middle is `x`
    panel      `text` names the panel
    extent     a corner of the panel's axes
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from assay.publication.history import FORM, MEANING, Change, Issue, place
from assay.report.document import Plot, Value
from assay.report.run_results import row_label

COLUMNS = ("panel", "mark", "x", "y", "x2", "y2", "kind", "text", "value", "run", "publication")
#: runs of one publication stand this far apart, in widths of a column, and all within this part of it
APART, WITHIN = 0.4, 0.64
#: an axis begins at zero when its least value is no more than this part of its greatest
NEAR_ZERO = 0.5
#: so many characters of a column's label have room below the panels
LABEL = 13

Row = tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Frame:
    """What all plots of a history share: its columns, the issues in order, workloads, breaks."""

    columns: Sequence[Sequence[Issue]]
    issues: Sequence[Issue]
    workloads: Sequence[str]
    changes: Sequence[Change]

    def at(self, issue: Issue, run: int) -> float:
        """Where a run of a publication stands."""
        column = next(index for index, held in enumerate(self.columns) if issue in held)
        return round(column + 0.5 + (run - (len(issue.publication.runs) - 1) / 2) * self._step(issue), 4)

    def before(self, issue: Issue, run: int) -> float:
        """The place between a run and the one before it; between columns for the first run."""
        if run:
            return round(self.at(issue, run) - self._step(issue) / 2, 4)
        return float(next(index for index, held in enumerate(self.columns) if issue in held))

    def _step(self, issue: Issue) -> float:
        return min(APART, WITHIN / max(len(issue.publication.runs) - 1, 1))


def plot(frame: Frame, metric: str, word: tuple[str, str], figure: int, template: str) -> Plot:
    """The plot of a metric, called `word` (name and unit symbol)."""
    panels = tuple(
        name
        for name in frame.workloads
        if any(value is not None for issue in select_issues(frame, name) for value in issue.numbers(metric))
    )
    rows = [row for name in panels for row in _panel(frame, metric, name)]
    rows += _labels(frame, panels[-1]) if panels else ()
    name, symbol = word
    return Plot(
        metric, figure, row_label(name, symbol), symbol, _described(frame, metric, name, symbol, panels),
        template, COLUMNS, tuple(rows), panels,
    )  # fmt: skip


def select_issues(frame: Frame, workload: str) -> list[Issue]:
    return [issue for issue in frame.issues if issue.publication.workload == workload]


def _row(panel: str, mark: str, **columns: Value) -> Row:
    said: Mapping[str, Value] = {"panel": panel, "mark": mark, **columns}
    return tuple(said.get(name) for name in COLUMNS)


def _panel(frame: Frame, metric: str, workload: str) -> Iterator[Row]:
    yield _row(workload, "panel", x=0.0, text=workload)
    for index in range(1, len(frame.columns)):
        yield _row(workload, "column", x=float(index))
    mine = select_issues(frame, workload)
    known = [value for issue in mine for value in issue.numbers(metric) if value is not None]
    low, high = _ends(min(known), max(known))
    yield _row(workload, "extent", x=0.0, y=low)
    yield _row(workload, "extent", x=float(len(frame.columns)), y=high)
    yield from _breaks(frame, metric, workload)
    for issue in mine:
        yield from _values(frame, metric, issue)


def _ends(low: float, high: float) -> tuple[float, float]:
    """The values that an axis must hold: from zero where the least value is near it; room around a single one."""
    if low == high:
        return (low - 0.1 * abs(low), high + 0.1 * abs(high)) if low else (0.0, 1.0)
    return (0.0 if 0 <= low <= NEAR_ZERO * high else low), high


def _values(frame: Frame, metric: str, issue: Issue) -> Iterator[Row]:
    """The values of a publication as they are printed; a run that has none has no row."""
    workload, day = issue.publication.workload, issue.publication.day
    if metric not in issue.rows:
        return
    base, *_ = numbers = issue.numbers(metric)
    printed = issue.rows[metric].values
    for run, (value, label) in enumerate(zip(numbers, issue.publication.runs, strict=True)):
        if value is None:
            continue
        x = frame.at(issue, run)
        if run and base is not None:
            yield _row(workload, "move", x=x, y=value, x2=frame.at(issue, 0), y2=base, run=label, publication=day)
        mark = "run" if run else "base"
        yield _row(workload, mark, x=x, y=value, value=printed[run], run=label, publication=day)


def _breaks(frame: Frame, metric: str, workload: str) -> Iterator[Row]:
    """The breaks of a metric; those at one place share a rule."""
    places: dict[float, list[Change]] = {}
    for change in frame.changes:
        found = place(change, frame.issues, workload) if change.concerns(metric) else None
        if found:
            places.setdefault(frame.before(*found), []).append(change)
    for x, held in places.items():
        kind = MEANING if any(change.kind == MEANING for change in held) else FORM
        yield _row(workload, "break", x=x, kind=kind, text=" ".join(change.key for change in held))


def _labels(frame: Frame, panel: str) -> Iterator[Row]:
    for index, column in enumerate(frame.columns):
        label = column[0].publication.runs[-1]
        cut = label if len(label) <= LABEL else label[: LABEL - 1] + "…"
        yield _row(panel, "label", x=index + 0.5, text=cut)


def _described(frame: Frame, metric: str, name: str, symbol: str, panels: Sequence[str]) -> str:
    """The plot in words: its first and last values by workload, and its breaks."""
    unit = f" {symbol}" if symbol else ""
    parts = []
    for workload in panels:
        rows = [issue.rows[metric] for issue in select_issues(frame, workload) if metric in issue.rows]
        ends = f"from {rows[0].values[0]}{unit} to {rows[-1].values[-1]}{unit}"
        parts.append(f"{workload}, {len(rows)} publication{'' if len(rows) == 1 else 's'}, {ends}")
    keys = [change.key for change in frame.changes if change.concerns(metric)]
    breaks = f" Breaks: {', '.join(keys)}." if keys else ""
    return f"{name} over releases: {'; '.join(parts)}.{breaks}"
