"""Render the blocks of reports over publications: level shifts, largest moves, plots of metrics."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from assay.judgement.verdict import Verdict
from assay.lang.blocks.largest_moves import LargestMoves
from assay.lang.blocks.level_shifts import LevelShifts
from assay.lang.blocks.trends import Trends
from assay.lang.model.parts import Block
from assay.number_styles.cell_text import print_number
from assay.number_styles.prefixed import format_value
from assay.publication.analysis import PublishedRuns
from assay.publication.history import LEAST_DIGITS, Move, describe_inputs, group_issues_by_runs, list_workloads
from assay.publication.history_plot import Frame, build_plot
from assay.publication.history_shifts import DriftOfMetric, Shift, count_short_series
from assay.publication.reader import MISSING, read_cell
from assay.report.blocks.context import RenderedBlocks
from assay.report.document import Part, Plot
from assay.report.parts import compose_part, finish_parts
from assay.report.run_results import add_unit
from assay.report.tables import Table

READING = (
    "Each column has the {inputs} of the same runs, and is labelled by the newest run. Dots are further "
    "runs; a thin line connects each to the hollow dot of its base. If a base differs from the same run in the "
    "preceding column, it was run or analysed again. Broad lines are levels between shifts. Axes may begin above zero."
)
INTERVALS = (
    "A whisker is the interval of the change of a run, as judged in its build, around the run: the base is taken as "
    "measured."
)
KEYS = (
    "A dashed line is a break in meaning: the values on its two sides were measured differently. A dotted line is a "
    "break in form: the {inputs} after it have other names, units or number styles. The letters refer to the table "
    "of breaks below the figures."
)
SHIFTS = (
    "From the first run on, the metric has another level than in the runs before; the newest shifts come first. Before "
    "and after are averages of the runs between two shifts, or a shift and a break in meaning. A shift is found by "
    "a test with p < 0.003 (less for more than 10 runs), and is larger than the margin of the metric. It “may be "
    "chance” if it is clear by itself, but not as one of so many series: without any change, about 5 % of such "
    "reports have a shift without these words. Between two runs of one version, only the environment can have changed. "
    "A level has at least two runs: whether the newest run begins a new level only the next shows.",
    "A base with the numbers of an earlier run is that run. A base that was run again is a run of its own, but only "
    "right after the run that it repeats: else the series would go back to an older version.",
)
EXPERIMENTS = "Experiments have no level shifts, since their runs are of several conditions: {names}."
DRIFT = "{metric}, {workload}: drifts from {before} to {after}{percent} from {first} to {last}, {verdict}."
MAY_BE_CHANCE = "{verdict}, may be chance"
NO_SHIFTS, NO_MOVES = "There are no level shifts.", "There are no moves."
FEW_RUNS = (
    "Too few runs to tell in {short} of {series} series, each of a metric in a workload: they show only level shifts "
    "that are larger than the margin of the metric."
)
MOVES = (
    "The greatest change of each metric and workload between the base and a further run of one {input}; Δ% is "
    "computed from {values}. Rises and falls are ordered by their factor: a fall by half ranks like a "
    "doubling. Changes from or to zero or negative values are left out, because they have no factor, and so are "
    "changes from a base printed with fewer than {digits} digits, because rounding alone could cause them. If the "
    "value has one digit, the factor is imprecise.",
    "A change across a break has the letter of the break, and may be due to the break rather than to the run; the "
    "tables below the figures explain the breaks.",
)


def build_published_parts(content: PublishedRuns) -> tuple[Part, ...]:
    """Return the parts of a report over publications."""
    return finish_parts(
        compose_part(
            part.title,
            [RENDERERS[kind](content, tuple(blocks)) for kind, blocks in itertools.groupby(part.blocks, key=type)],
        )
        for part in content.report.parts
    )


def render_shifts(content: PublishedRuns, _items: Sequence[LevelShifts]) -> RenderedBlocks:
    """Render the table of level shifts; drifts and how to read it are notes."""
    header = (
        "Metric",
        "Workload",
        _title_day(content),
        "Last run before",
        "First run",
        "Before",
        "After",
        "Δ%",
        "Verdict",
    )
    rows = tuple(_build_shift_row(content, item) for item in content.shifts)
    experiments = dict.fromkeys(issue.publication.workload for issue in content.issues if issue.experiment)
    notes = (
        *SHIFTS,
        *(_describe_drift(content, item) for item in content.drifts),
        *([EXPERIMENTS.format(names="; ".join(experiments))] if experiments else []),
        *([] if rows or content.drifts else [_describe_no_shifts(content)]),
    )
    return RenderedBlocks(tables=(Table("", header, rows),) if rows else (), notes=notes)


def _describe_no_shifts(content: PublishedRuns) -> str:
    """Return that there are no level shifts, and of how many series the runs are too few to tell."""
    short, series = count_short_series(content.checked, content.source, content.levels)
    if not short:
        return NO_SHIFTS
    few_runs = FEW_RUNS.format(short=short, series=series)
    return few_runs if short == series else f"{NO_SHIFTS} {few_runs}"


def _title_day(content: PublishedRuns) -> str:
    return "Day" if content.builds else "Published"


def _build_shift_row(content: PublishedRuns, shift: Shift) -> tuple[str, ...]:
    return (
        add_unit(*content.names[shift.metric]),
        shift.workload,
        shift.start.issue.publication.day,
        shift.before.points[-1].label,
        shift.start.label,
        format_value(shift.before.average),
        format_value(shift.after.average),
        MISSING if shift.share is None else format_percent(shift.share),
        _describe_verdict(shift.verdict, may_be_chance=shift.after.may_be_chance),
    )


def _describe_drift(content: PublishedRuns, item: DriftOfMetric) -> str:
    return DRIFT.format(
        metric=add_unit(*content.names[item.metric]),
        workload=item.workload,
        before=format_value(item.drift.before),
        after=format_value(item.drift.after),
        percent="" if item.share is None else f" ({format_percent(item.share)} %)",
        first=item.points[0].label,
        last=item.points[-1].label,
        verdict=_describe_verdict(item.verdict, may_be_chance=item.drift.may_be_chance),
    )


def _describe_verdict(verdict: Verdict, *, may_be_chance: bool) -> str:
    return MAY_BE_CHANCE.format(verdict=verdict.value) if may_be_chance else verdict.value


def render_moves(content: PublishedRuns, items: Sequence[LargestMoves]) -> RenderedBlocks:
    """Render the table of the largest changes."""
    header = ("Metric", "Workload", _title_day(content), "Base run", "Run", "Base", "Value", "Δ%", "Break")
    rows = tuple(build_move_row(content, item) for item in content.moves[: max(x.limit for x in items)])
    notes = tuple(
        paragraph.format(
            digits=LEAST_DIGITS,
            input=describe_inputs(content.issues, "or", 1),
            values="unrounded values" if not content.publications else "the printed values",
        )
        for paragraph in MOVES
    )
    if not rows:
        return RenderedBlocks(notes=(*notes, NO_MOVES))
    return RenderedBlocks(tables=(Table("", header, rows),), notes=notes)


def build_move_row(content: PublishedRuns, move: Move) -> tuple[str, ...]:
    """Return the row of a change in the table of the largest."""
    publication, values = move.issue.publication, move.issue.rows[move.metric].values
    return (
        add_unit(*content.names[move.metric]),
        publication.workload,
        publication.day,
        publication.runs[0],
        publication.runs[move.run],
        read_cell(values[0]),
        read_cell(values[move.run]),
        format_percent(move.share),
        " ".join(move.break_keys),
    )


def format_percent(share: Decimal) -> str:
    """Return a change as the text of its percentage, with its sign and one decimal."""
    return print_number(f"{100 * share:+.1f}")


def render_trends(content: PublishedRuns, items: Sequence[Trends]) -> RenderedBlocks:
    """Render a plot of each metric that an issue has, and the table of the breaks in these plots.

    The first plots of the report have notes on how to read them.
    """
    frame = Frame(
        group_issues_by_runs(content.issues),
        content.issues,
        list_workloads(content.issues),
        content.changes,
        content.levels,
    )
    metrics = [(metric, item.template) for item in items for metric in item.metrics]
    plots: list[Plot] = []
    for metric, template in metrics:
        if metric in content.figure_numbers:
            number = content.figure_numbers[metric]
            plots.append(build_plot(frame, metric, content.names[metric], number, template))
    rows = tuple(_list_break_notes(content, [metric for metric, _ in metrics]))
    table = Table("Breaks", ("Key", "Since", "Metrics", "What changes"), rows)
    is_first = items[0] is next(block for block in content.report.blocks if isinstance(block, Trends))
    notes = (*(item.doc for item in items if item.doc), *(_list_reading_notes(content) if is_first else ()))
    return RenderedBlocks(plots=tuple(plots), tables=(table,) if rows else (), notes=notes)


def _list_reading_notes(content: PublishedRuns) -> Iterator[str]:
    yield from (text.format(inputs=content.inputs) for text in (READING, KEYS))
    builds = [issue.build for issue in content.issues if issue.build]
    if any(any(intervals) for build in builds for intervals in build.intervals.values()):
        yield INTERVALS


def _list_break_notes(content: PublishedRuns, metrics: Sequence[str]) -> Iterator[tuple[str, ...]]:
    for change in content.changes:
        for changed_metrics, text in change.notes:
            changed_names = [content.names[name][0] for name in metrics if name in changed_metrics]
            if changed_names:
                is_whole_section = len(changed_names) == len(metrics) > 1
                since = f"{change.since}, {change.run}" if change.run else change.since
                yield change.key, since, "All of this section" if is_whole_section else "; ".join(changed_names), text


RENDERERS: Mapping[type[Block], Callable[[PublishedRuns, Any], RenderedBlocks]] = {
    LevelShifts: render_shifts,
    LargestMoves: render_moves,
    Trends: render_trends,
}
