"""Render verdicts: further runs beside the first, and what that comes to in each scenario."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from assay.lang.blocks.conclusion import NOT_WORSE
from assay.lang.blocks.verdict import Verdict
from assay.lang.model.package import Metric
from assay.plan.planner import RowRequest
from assay.report.blocks import rows as asked
from assay.report.blocks.choices import called, choose_row
from assay.report.blocks.conclusion import NEITHER, allows
from assay.report.blocks.context import (
    RenderContext,
    Rendered,
    ShownRun,
    cell,
    column_named,
    heading,
    metric_heading,
    renders,
    titled,
)  # fmt: skip
from assay.report.blocks.rows import Row, ordered
from assay.report.cell_links import CHANGE, JUDGED, OUTCOME, ROW, CellLink, CellSource, on_row
from assay.report.document import Mark, Table
from assay.report.glossary import of_column
from assay.report.run_results import RunFigures
from assay.styles.exact_decimal import on_its_side, percent_change
from assay.styles.row import NO_VALUE

BAD = "bad"
PASS, FAIL, NOT_RUN, NO_BASELINE = "pass", "fail", "not run", "no baseline"

Key = tuple[object, ...]
Judged = tuple[tuple[str, ...], ...]
"""A row for each metric and each of the baseline's rows: key, metric, base, value, percent of change, result."""


@renders(Verdict, position=80)
def render(context: RenderContext, items: Sequence[Verdict]) -> Rendered:
    """Render what the scenarios come to, then each verdict on each run but the first, which is the baseline."""
    if len(context.runs) == 1:
        notes: tuple[str, ...] = ("There is no other run to judge by.",)
    else:
        notes = tuple(verdict_notes(context, items, context.runs))
    return Rendered(tables=tuple(verdicts(context, items, context.runs)), notes=notes)


def verdicts(context: RenderContext, items: Sequence[Verdict], runs: Sequence[ShownRun]) -> Iterator[Table]:
    """The table of results, then a table for each verdict and run."""
    judged = [(item, shown, _judged(context, item, runs[0], shown)) for item in items for shown in runs[1:]]
    yield _results(context, items, runs, {(id(item), shown.run.id): rows for item, shown, rows in judged})
    for item, shown, rows in judged:
        yield _verdict(context, item, runs[0], shown, rows)


def verdict_notes(context: RenderContext, items: Sequence[Verdict], runs: Sequence[ShownRun]) -> Iterator[str]:
    """Which rows verdicts judge where several of a run agree, and which they do not."""
    for verdict in items:
        if not verdict.choice:
            yield from _passed_over(context, verdict, runs)
            yield from _left_out(context, verdict, runs)
            yield from _beside_none(context, verdict, runs)


def _passed_over(context: RenderContext, verdict: Verdict, runs: Sequence[ShownRun]) -> Iterator[str]:
    first = verdict.first.replace("_", " ")
    said = []
    for shown in runs:
        groups = groups_of(context, verdict, shown.run)
        for key in sorted(groups, key=lambda key: tuple(map(ordered, key))):
            kept, *others = (str(row[verdict.first]) for row in groups[key])
            if others:
                said.append(f"{shown.label}, {_of_key(verdict, key)}: {first} {kept}, not {', '.join(others)}")
    if said:
        keys = " and ".join(name.replace("_", " ") for name in verdict.keys)
        yield f"{verdict.title}: where several agree in {keys}, the least {first} counts ({'; '.join(said)})."


def _left_out(context: RenderContext, verdict: Verdict, runs: Sequence[ShownRun]) -> Iterator[str]:
    for name in verdict.without:
        choice = context.article.choice(name)
        rows = [(shown.label, choose_row(context.checked, context.article, name, shown.run)) for shown in runs]
        said = "; ".join(f"{label}: {called(choice, row)}" for label, row in rows if row)
        if said:
            yield f"{verdict.title}: not judged there: {choice.title.lower()} ({said})."


def _beside_none(context: RenderContext, verdict: Verdict, runs: Sequence[ShownRun]) -> Iterator[str]:
    """Rows of further runs that there is nothing to judge by: a scenario may pass without them."""
    known = groups_of(context, verdict, runs[0].run)
    said = [
        f"{shown.label}, {_of_key(verdict, key)}"
        for shown in runs[1:]
        for key in sorted(groups_of(context, verdict, shown.run), key=lambda key: tuple(map(ordered, key)))
        if key not in known
    ]
    if said:
        yield f"{verdict.title}: not judged, as {runs[0].label} has none like these: {'; '.join(said)}."


def _listed(context: RenderContext, verdict: Verdict) -> RowRequest:
    (item,) = asked.listed_of(context.checked, verdict)
    return item


def _of_key(verdict: Verdict, key: Key) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in zip(verdict.keys, key, strict=True))


def groups_of(context: RenderContext, verdict: Verdict, run: RunFigures) -> dict[Key, list[Row]]:
    """The rows that are judged, by the verdict's keys; of several that agree the one that counts is the first."""
    item = _listed(context, verdict)
    rows = asked.rows(run, item)
    if verdict.choice:
        chosen = context.row(verdict.choice, run)
        rows = [row for row in rows if chosen and asked.same(item.grain, row, chosen)]
    gone = [row for name in verdict.without if (row := choose_row(context.checked, context.article, name, run))]
    found: dict[Key, list[Row]] = {}
    for row in sorted(rows, key=lambda row: ordered(row[verdict.first])):
        if not any(asked.same(item.grain, row, other) for other in gone):
            found.setdefault(tuple(row[name] for name in verdict.keys), []).append(row)
    return found


def _judged(context: RenderContext, verdict: Verdict, base: ShownRun, shown: ShownRun) -> Judged:
    ours, theirs = (groups_of(context, verdict, of.run) for of in (shown, base))
    grain = _listed(context, verdict).grain
    columns = [column_named(grain, name) for name in verdict.keys]
    return tuple(
        (
            *map(cell, columns, key),
            metric_heading(metric),
            *_change(context, metric, theirs[key][0], ours[key][0] if key in ours else None, verdict.tolerance),
        )
        for key in sorted(theirs, key=lambda key: tuple(map(ordered, key)))
        for metric in map(context.checked.metric, verdict.metrics)
    )


def _change(
    context: RenderContext, metric: Metric, base: Row, row: Row | None, tolerance: int
) -> tuple[str, str, str, str]:
    """Base, value, percent of change, and whether that passes."""
    texts = context.text(metric, base), context.text(metric, row)
    old, new = context.exact(metric, base), context.exact(metric, row)
    if old is None or new is None:
        return (*texts, NO_VALUE, NOT_RUN if row is None else "no value")
    if not old:
        return (*texts, NO_VALUE, PASS if allows(NOT_WORSE, 0, metric, new) else FAIL)
    percent = percent_change(old, new)
    passed = allows(NOT_WORSE, tolerance, metric, percent)
    said = on_its_side(percent, 1, lambda shown: allows(NOT_WORSE, tolerance, metric, shown) == passed)
    return (*texts, said, PASS if passed else FAIL)


def _verdict(context: RenderContext, verdict: Verdict, base: ShownRun, shown: ShownRun, rows: Judged) -> Table:
    grain = _listed(context, verdict).grain
    keys = (heading(column_named(grain, name)) for name in verdict.keys)
    header = (*keys, "Metric", base.label, shown.label, "Δ%", "Result")
    marks = tuple(Mark(y, len(header) - 1, BAD) for y, row in enumerate(rows) if row[-1] != PASS)
    columns = (*(of_column(verdict.grain, name) for name in verdict.keys), *[""] * 5)
    means = tuple(verdict.metrics[y % len(verdict.metrics)] for y in range(len(rows)))
    leads = tuple(link_cells(context, verdict, base, shown))
    return Table(
        titled(verdict.title, shown.titled), header, rows, marks, of_rows=means, of_columns=columns, leads=leads
    )


def link_cells(context: RenderContext, verdict: Verdict, base: ShownRun, shown: ShownRun) -> Iterator[CellLink]:
    """What is judged in each row, as `_judged` has them: of the base's row and of the other's, where it has one."""
    ours, theirs = (groups_of(context, verdict, of.run) for of in (shown, base))
    listed = _listed(context, verdict)
    keys = sorted(theirs, key=lambda key: tuple(map(ordered, key)))
    for y, (key, metric) in enumerate((key, metric) for key in keys for metric in verdict.metrics):
        old: tuple[CellSource, ...] = (on_row(metric, base.run.id, theirs[key][0], listed.keys),)
        new = (on_row(metric, shown.run.id, ours[key][0], listed.keys),) if key in ours else ()
        made = (ROW, old), (ROW, new), (CHANGE, (*old, *new)), (JUDGED, (*old, *new))
        for x, (prints, of) in enumerate(made, start=len(verdict.keys) + 1):
            yield CellLink(y, x, prints, of)


# What scenarios come to


def _results(
    context: RenderContext, items: Sequence[Verdict], runs: Sequence[ShownRun], judged: Mapping[tuple[int, str], Judged]
) -> Table:
    """A row for each scenario and run: when it ran, its label, and what the verdict comes to."""
    rows: list[tuple[str, ...]] = []
    marks: list[Mark] = []
    leads: list[CellLink] = []
    for verdict in items:
        for shown in runs[1:] or runs:
            found = judged.get((id(verdict), shown.run.id))
            if found is None:
                result, said = NO_BASELINE, "there is no other run to judge by"
            elif all(row[-1] == NOT_RUN for row in found):
                result, said = NOT_RUN, describe_missing_rows(context, verdict, runs, shown, there=bool(found))
            else:
                metrics = map(context.checked.metric, verdict.metrics)
                result, said = _outcome(found, verdict.tolerance, [item for item in metrics if item.better == NEITHER])
            if result not in (PASS, NO_BASELINE):
                marks.append(Mark(len(rows), 3, BAD))
            tables = (titled(verdict.title, shown.titled),) if found is not None else ()
            leads += [CellLink(len(rows), x, OUTCOME, (), tables) for x in (3, 4)]
            rows.append((verdict.scenario, shown.run.day, shown.label, result, said))
    header = ("Scenario", "Date", "Version", "Result", "Why")
    return Table("Scenarios", header, tuple(rows), tuple(marks), leads=tuple(leads))


def describe_missing_rows(
    context: RenderContext, verdict: Verdict, runs: Sequence[ShownRun], shown: ShownRun, *, there: bool
) -> str:
    """Whose rows are missing, when nothing can be judged; `there`: not the baseline's."""
    if not verdict.choice:
        return f"{shown.label} has no such rows" if there else "the baseline has no such rows"
    choice = context.article.choice(verdict.choice)
    if choice.keys and context.row(choice.name, runs[-1].run) is None:
        return f"{runs[-1].label}, which chooses, has {choice.absent}"
    if there:
        return f"{shown.label} has no such rows"
    neither = not choice.keys and context.row(choice.name, shown.run) is None
    return f"neither the baseline nor {shown.label} has such rows" if neither else "the baseline has no such rows"


def _outcome(rows: Judged, tolerance: int, either: Sequence[Metric] = ()) -> tuple[str, str]:
    """Whether a scenario passes, and why; of `either` metrics any change is judged, as neither direction is better."""
    failed = sum(row[-1] == FAIL for row in rows)
    missing = sum(row[-1] not in (PASS, FAIL) for row in rows)
    said = f"{failed} of {len(rows)} values worse by more than {tolerance} %"
    said += f" ({', '.join(metric.name for metric in either)}: changed by more)" if either else ""
    said += f", {missing} missing" if missing else ""
    return (PASS if failed + missing == 0 else FAIL), said
