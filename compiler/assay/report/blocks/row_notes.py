"""Say which rows blocks combine, leave out, or might have chosen as well, so that none is dropped without a word."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from assay.lang.checked_package import CheckedPackage
from assay.lang.model.package import Grain
from assay.lang.model.parts import Choice
from assay.lang.model.report import Report
from assay.report.blocks import rows as block_rows
from assay.report.blocks.chosen_rows import choose_row, describe_chosen_row, list_ties
from assay.report.blocks.context import RenderContext, ShownRun
from assay.report.blocks.repeats import Groups
from assay.report.blocks.rows import Key, Row
from assay.report.run_results import RunFigures


def exclude_rows(
    checked: CheckedPackage, report: Report, grain: Grain, names: Sequence[str], run: RunFigures, rows: Iterable[Row]
) -> list[Row]:
    """Return rows of a run without those of some choices."""
    excluded_rows = [row for name in names if (row := choose_row(checked, report, name, run))]
    return [row for row in rows if not any(block_rows.is_same_row(grain, row, other) for other in excluded_rows)]


def format_key(names: Sequence[str], key: Key) -> str:
    """Return key columns with their values."""
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in zip(names, key, strict=True))


def describe_repeats(
    title: str, keys: Sequence[str], first: str, groups_by_label: Iterable[tuple[str, Groups]]
) -> Iterator[str]:
    """Yield a sentence on the repeats of which a block titled `title` shows means, by the labels of their runs."""
    descriptions = [
        f"{label}{', ' if label else ''}{format_key(keys, key)}: {first.replace('_', ' ')} "
        + ", ".join(str(row[first]) for row in rows)
        for label, groups in groups_by_label
        for key, rows in groups.items()
        if len(rows) > 1
    ]
    if descriptions:
        key_names = " and ".join(name.replace("_", " ") for name in keys)
        yield (
            f"{title}: rows with the same {key_names} are repeats, of which the mean counts; n is their number "
            f"({'; '.join(descriptions)})."
        )


def describe_excluded_rows(
    context: RenderContext, title: str, names: Sequence[str], verb: str, runs: Sequence[ShownRun]
) -> Iterator[str]:
    """Yield a sentence on the rows of each choice that a block leaves out: `not shown`, `not judged`."""
    for name in names:
        choice = context.report.get_choice(name)
        rows = [(item.title_label, choose_row(context.checked, context.report, name, item.run)) for item in runs]
        descriptions = "; ".join(
            f"{label}{': ' if label else ''}{describe_chosen_row(choice, row)}" for label, row in rows if row
        )
        if descriptions:
            yield f"{title}: {verb}: {choice.title.lower()} ({descriptions})."


def describe_unshown_rows(context: RenderContext, choice: Choice, run: RunFigures, *, is_own: bool) -> Iterator[str]:
    """Yield which rows repeat the row of a choice in a run, and which the run might have chosen as well.

    With `is_own`, the run has chosen its row itself.
    """
    row = context.find_row(choice.name, run)
    if row is None:
        return
    name = choice.first.replace("_", " ")
    grain = block_rows.find_grain(context.checked, choice.grain)
    others = [
        str(item[choice.first])
        for item in context.find_repeats(choice.name, run)
        if not block_rows.is_same_row(grain, item, row)
    ]
    if others:
        yield f"repeated by {name} {', '.join(others)}"
    ties = list_ties(context.checked, context.report, choice, run, row) if is_own else ()
    if ties:
        yield f"as good would be {'; '.join(describe_chosen_row(choice, item) for item in ties)}"
