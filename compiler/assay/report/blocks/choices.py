"""Which rows of its runs an article means by its choices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assay.lang.checked_package import CheckedPackage
from assay.lang.model.article import Article, Choice
from assay.report.blocks import rows as asked
from assay.report.blocks.rows import Row
from assay.report.run_results import RunFigures
from assay.util.diagnostics import fail

Chosen = Mapping[tuple[str, str], Row]
"""Name of a choice, id of a run -> its row, where there is one."""


def chosen(checked: CheckedPackage, article: Article, runs: Sequence[RunFigures]) -> Chosen:
    """The rows of all choices in some runs.  AssayError when a run's constants name a row that it does not have."""
    found: dict[tuple[str, str], Row] = {}
    for choice in article.choices if runs else ():
        for run, row in zip(runs, _rows(checked, article, choice, runs), strict=True):
            if row is not None:
                found[choice.name, run.id] = row
    return found


def called(choice: Choice, row: Row) -> str:
    """Which row it is: its label columns with their values."""
    return ", ".join(f"{name.replace('_', ' ')} {row[name]}" for name in choice.label)


def _rows(checked: CheckedPackage, article: Article, choice: Choice, runs: Sequence[RunFigures]) -> list[Row | None]:
    """The row of each run: chosen by the run itself, or agreeing with that of the last run in the keys."""
    if not choice.keys:
        return [choose_own_row(checked, article, choice, run) for run in runs]
    last = choose_own_row(checked, article, choice, runs[-1])
    if last is None:
        return [None] * len(runs)
    alike = [
        _first(choice, [row for row in rows if all(row[k] == last[k] for k in choice.keys)])
        for rows in (left(checked, article, choice, run) for run in runs[:-1])
    ]
    return [*alike, last]


def choose_row(checked: CheckedPackage, article: Article, name: str, run: RunFigures) -> Row | None:
    """The row of a choice without keys in a run."""
    return choose_own_row(checked, article, article.choice(name), run)


def left(checked: CheckedPackage, article: Article, choice: Choice, run: RunFigures) -> Sequence[Row]:
    """The rows among which a choice is made when nothing pins it: all but those that it leaves out."""
    grain = asked.grain_named(checked, choice.grain)
    gone = [row for name in choice.without if (row := choose_row(checked, article, name, run))]
    return [row for row in _all(checked, choice, run) if not any(asked.same(grain, row, item) for item in gone)]


def _all(checked: CheckedPackage, choice: Choice, run: RunFigures) -> Sequence[Row]:
    return asked.rows(run, asked.of_choice(checked, choice))


def _first(choice: Choice, rows: Sequence[Row]) -> Row | None:
    return min(rows, key=lambda row: asked.ordered(row[choice.first]), default=None)


def choose_own_row(checked: CheckedPackage, article: Article, choice: Choice, run: RunFigures) -> Row | None:
    """The row that a run chooses for itself: by its constants, else by the rule."""
    pins = {pin.column: run.constants[pin.constant] for pin in choice.pins}
    if pins and all(pins.values()):
        return _pinned(choice, run, _all(checked, choice, run), pins)
    if pins and not choice.most:
        return None
    rows = left(checked, article, choice, run)
    if choice.due:
        done, due = checked.metric(choice.done), checked.metric(choice.due)
        rows = [row for row in rows if asked.short(checked, done, due, row, choice.tolerance) == choice.short]
    if not choice.most:
        return _first(choice, rows)
    values = {id(row): asked.number(checked, checked.metric(choice.most), row[choice.most]) for row in rows}
    greatest = max((value for value in values.values() if value is not None), default=None)
    return _first(choice, [row for row in rows if greatest is not None and values[id(row)] == greatest])


def _pinned(choice: Choice, run: RunFigures, rows: Sequence[Row], pins: Mapping[str, object]) -> Row:
    found = _first(choice, [row for row in rows if all(str(row[name]) == str(pins[name]) for name in pins)])
    if found is None:
        said = ", ".join(f"{name} = {value}" for name, value in pins.items())
        known = (", ".join(f"{name} = {row[name]}" for name in pins) for row in rows)
        raise fail(
            "chosen-row",
            f"run {run.id}: its constants choose a row of `{choice.grain}` that it does not have: {said}",
            expected="; ".join(dict.fromkeys(known)) or f"a row of `{choice.grain}`; the run has none",
            found=said,
            hint=f"constants {', '.join(pin.constant for pin in choice.pins)} say which row is `{choice.name}`",
        )
    return found
