"""Choose the rows of runs that a report's choices select."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assay.lang.checked_package import CheckedPackage
from assay.lang.model.parts import Choice
from assay.lang.model.report import Report
from assay.report.blocks import rows as block_rows
from assay.report.blocks.repeats import average_rows, group_repeats
from assay.report.blocks.rows import Row
from assay.report.run_results import RunFigures
from assay.util.diagnostics import fail

RowsByChoice = Mapping[tuple[str, str], Row]
"""Name of a choice, id of a run -> the chosen row; runs without one have no item."""


def choose_rows(checked: CheckedPackage, report: Report, runs: Sequence[RunFigures]) -> RowsByChoice:
    """Return the rows of all choices in some runs.

    Raises AssayError: the constants of a run choose a row that it does not have.
    """
    rows_by_choice: dict[tuple[str, str], Row] = {}
    for choice in report.choices if runs else ():
        for run, row in zip(runs, _choose_rows_by_run(checked, report, choice, runs), strict=True):
            if row is not None:
                rows_by_choice[choice.name, run.id] = row
    return rows_by_choice


def list_repeats(
    checked: CheckedPackage, report: Report, choice: Choice, run: RunFigures, chosen_row: Row
) -> Sequence[Row]:
    """Return a chosen row and those that agree with it in the choice's columns of repeats, ordered by `first`."""
    columns, grain = choice.repeat_columns, block_rows.find_grain(checked, choice.grain)
    rows = [
        row
        for row in (list_candidates(checked, report, choice, run) if columns else ())
        if all(row[name] == chosen_row[name] for name in columns) and not block_rows.is_same_row(grain, row, chosen_row)
    ]
    return sorted([chosen_row, *rows], key=lambda row: block_rows.get_sort_key(row[choice.first]))


def describe_chosen_row(choice: Choice, row: Row) -> str:
    """Return a description of the row: its label columns with their values."""
    return ", ".join(f"{name.replace('_', ' ')} {row[name]}" for name in choice.label)


def _choose_rows_by_run(
    checked: CheckedPackage, report: Report, choice: Choice, runs: Sequence[RunFigures]
) -> list[Row | None]:
    """Return the row of each run: chosen by the run itself, or with the same keys as the row of the last run."""
    if not choice.keys:
        return [choose_own_row(checked, report, choice, run) for run in runs]
    last_row = choose_own_row(checked, report, choice, runs[-1])
    if last_row is None:
        return [None] * len(runs)
    matching_rows = [
        _find_first_row(choice, [row for row in rows if all(row[k] == last_row[k] for k in choice.keys)])
        for rows in (list_candidates(checked, report, choice, run) for run in runs[:-1])
    ]
    return [*matching_rows, last_row]


def choose_row(checked: CheckedPackage, report: Report, name: str, run: RunFigures) -> Row | None:
    """Return the row of a choice without keys in a run."""
    return choose_own_row(checked, report, report.get_choice(name), run)


def list_candidates(checked: CheckedPackage, report: Report, choice: Choice, run: RunFigures) -> Sequence[Row]:
    """Return the rows among which a choice is made unless constants pin it, without the rows that it excludes."""
    grain = block_rows.find_grain(checked, choice.grain)
    excluded_rows = [row for name in choice.without if (row := choose_row(checked, report, name, run))]
    return [
        row
        for row in _get_rows(checked, choice, run)
        if not any(block_rows.is_same_row(grain, row, excluded_row) for excluded_row in excluded_rows)
    ]


def _get_rows(checked: CheckedPackage, choice: Choice, run: RunFigures) -> Sequence[Row]:
    return block_rows.get_rows(run, block_rows.request_choice_rows(checked, choice))


def _find_first_row(choice: Choice, rows: Sequence[Row]) -> Row | None:
    return min(rows, key=lambda row: block_rows.get_sort_key(row[choice.first]), default=None)


def choose_own_row(checked: CheckedPackage, report: Report, choice: Choice, run: RunFigures) -> Row | None:
    """Return the row that a run chooses for itself: by its constants, otherwise by the rule."""
    pins = {pin.column: run.constants[pin.constant] for pin in choice.pins}
    if pins and all(pins.values()):
        return _find_pinned_row(choice, run, _get_rows(checked, choice, run), pins)
    if pins and not choice.most:
        return None
    return _find_first_row(choice, _list_best_rows(checked, report, choice, run))


def _list_best_rows(checked: CheckedPackage, report: Report, choice: Choice, run: RunFigures) -> Sequence[Row]:
    """Return the rows that the rule of a choice selects, the first of which is chosen; repeats have their mean."""
    rows = list_candidates(checked, report, choice, run)
    metrics = tuple(name for name in (choice.most, choice.done, choice.due) if name)
    columns = choice.repeat_columns or block_rows.find_grain(checked, choice.grain).key
    groups = group_repeats(rows, columns, choice.first).values()
    means = {id(row): mean for group in groups for mean in [average_rows(group, metrics)] for row in group}
    if choice.due:
        done, due = checked.get_metric(choice.done), checked.get_metric(choice.due)
        rows = [
            row
            for row in rows
            if block_rows.is_short(checked, done, due, means[id(row)], choice.tolerance) == choice.short
        ]
    if not choice.most:
        return rows
    most = checked.get_metric(choice.most)
    values = {id(row): block_rows.compute_value(checked, most, means[id(row)][choice.most]) for row in rows}
    greatest = max((value for value in values.values() if value is not None), default=None)
    rows = [row for row in rows if greatest is not None and values[id(row)] == greatest]
    least = min((_list_least_values(choice, row) for row in rows), default=None)
    return [row for row in rows if _list_least_values(choice, row) == least]


def _list_least_values(choice: Choice, row: Row) -> list[object]:
    return [block_rows.get_sort_key(row[name]) for name in choice.least]


def list_ties(
    checked: CheckedPackage, report: Report, choice: Choice, run: RunFigures, chosen_row: Row
) -> Sequence[Row]:
    """Return the rows that a run might have chosen as well as its own, without the repeats of that, ordered by `first`.

    A choice by the least `first` alone, and one that constants pin, has no ties.
    """
    pins = {pin.column: run.constants[pin.constant] for pin in choice.pins}
    if not choice.most or (pins and all(pins.values())):
        return ()
    repeats = list_repeats(checked, report, choice, run, chosen_row)
    grain = block_rows.find_grain(checked, choice.grain)
    rows = [
        row
        for row in _list_best_rows(checked, report, choice, run)
        if not any(block_rows.is_same_row(grain, row, item) for item in repeats)
    ]
    return sorted(rows, key=lambda row: block_rows.get_sort_key(row[choice.first]))


def _find_pinned_row(choice: Choice, run: RunFigures, rows: Sequence[Row], pins: Mapping[str, object]) -> Row:
    pinned_row = _find_first_row(
        choice, [row for row in rows if all(str(row[name]) == str(pins[name]) for name in pins)]
    )
    if pinned_row is None:
        pinned_values = ", ".join(f"{name} = {value}" for name, value in pins.items())
        available_values = (", ".join(f"{name} = {row[name]}" for name in pins) for row in rows)
        raise fail(
            "chosen-row",
            f"run {run.id}: its constants choose an unknown row of `{choice.grain}`: {pinned_values}",
            expected="; ".join(dict.fromkeys(available_values)) or f"a row of `{choice.grain}`; the run has none",
            found=pinned_values,
            hint=f"correct the constants {', '.join(pin.constant for pin in choice.pins)} of choice `{choice.name}`",
        )
    return pinned_row
