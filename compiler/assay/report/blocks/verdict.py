"""Render verdicts: compare further runs with the first, and summarize the result of each scenario."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from assay.judgement.change import Interval
from assay.lang.blocks.conclusion import NOT_WORSE
from assay.lang.blocks.verdict import METRIC_HEADING, Verdict
from assay.lang.model.headings import format_column_heading, format_metric_heading
from assay.lang.model.package import Metric
from assay.number_styles.cell_text import print_number
from assay.number_styles.exact_decimal import format_on_same_side
from assay.number_styles.prefixed import format_percent_interval
from assay.number_styles.row import NO_VALUE
from assay.plan.request import RowRequest
from assay.quality.finding import list_names
from assay.report.blocks import rows as block_rows
from assay.report.blocks.conclusion import NEITHER
from assay.report.blocks.context import (
    RenderContext,
    RenderedBlocks,
    ShownRun,
    add_label_to_title,
    find_column,
    format_cell,
    register_renderer,
)  # fmt: skip
from assay.report.blocks.repeats import (
    Groups,
    add_count_of_repeats,
    average_rows,
    compare_repeats,
    get_printed_kind,
    group_repeats,
    link_repeats,
)
from assay.report.blocks.row_notes import describe_excluded_rows, describe_repeats, exclude_rows, format_key
from assay.report.blocks.rows import Key, Row
from assay.report.cell_links import CHANGE, JUDGED, OUTCOME, CellLink, CellSource, CellVerdict
from assay.report.glossary import get_column_id
from assay.report.rules import is_change_allowed
from assay.report.run_results import RunFigures, list_own_names, name_run
from assay.report.tables import Mark, Table
from assay.util.escape import shorten
from assay.util.percent_change import compute_percent_change

BAD = "bad"
PASS, FAIL, CANNOT_TELL, NOT_RUN, NO_BASELINE = "pass", "fail", "cannot tell", "not run", "no baseline"
NOT_APPLICABLE = "N/A"
NOT_JUDGED = "not judged"
INTERVAL_HEADING = "95 %"
INTERVAL_NOTE = (
    "95 % is the interval of the change by the noise between repeats. While the interval of a change "
    "beyond the tolerance reaches into the tolerance, the runs cannot tell, which is no failure."
)


@dataclass(frozen=True, slots=True)
class ChangeTexts:
    """The change of a metric on a row: texts of base, value, change in percent and its interval, and the result.

    The interval is a dash without repeats.
    """

    base: str
    value: str
    percent: str
    interval: str
    result: str


@dataclass(frozen=True, slots=True)
class VerdictRow:
    """A row of a verdict: the texts of its key, its metric, and the change."""

    keys: tuple[str, ...]
    metric: Metric
    change: ChangeTexts

    def list_cells(self, *, has_intervals: bool) -> tuple[str, ...]:
        """Return the cells of the row in a table, with or without a column of intervals."""
        change = self.change
        interval = (change.interval,) if has_intervals else ()
        label = format_metric_heading(self.metric)
        return (*self.keys, label, change.base, change.value, change.percent, *interval, change.result)


VerdictRows = tuple[VerdictRow, ...]
"""A row for each of the baseline's rows and each metric."""


@register_renderer(Verdict)
def render(context: RenderContext, items: Sequence[Verdict]) -> RenderedBlocks:
    """Render the results of the scenarios, then each verdict on each run but the first, which is the baseline."""
    notes = []
    if not context.report.groups and not context.compared_runs:
        notes = [f"{describe_missing_baseline(context).replace('there', 'There', 1)}."]
    tables = tuple(build_verdict_tables(context, items))
    for verdict, group in _list_judged(context, items):
        notes += describe_judged_rows(group, [verdict], group.runs)
    if any(INTERVAL_HEADING in table.header for table in tables):
        notes.append(INTERVAL_NOTE)
    return RenderedBlocks(tables=tables, notes=tuple(notes))


def _list_judged(context: RenderContext, items: Sequence[Verdict]) -> list[tuple[Verdict, RenderContext]]:
    """Return the verdicts that judge runs, each with the context of its group."""
    groups = [(verdict, context.find_group(verdict.group)) for verdict in items if verdict.grain]
    return [(verdict, group) for verdict, group in groups if group and group.compared_runs]


def build_verdict_tables(context: RenderContext, items: Sequence[Verdict]) -> Iterator[Table]:
    """Yield the table of results, then a table for each verdict and run."""
    judged_runs = [
        (verdict, group, shown_run, _judge_run(group, verdict, group.runs[0], shown_run))
        for verdict, group in _list_judged(context, items)
        for shown_run in group.compared_runs
    ]
    yield _build_results_table(
        context, items, {(id(verdict), shown_run.run.id): rows for verdict, _, shown_run, rows in judged_runs}
    )
    for verdict, group, shown_run, rows in judged_runs:
        yield _build_verdict_table(group, verdict, group.runs[0], shown_run, rows)


def describe_judged_rows(context: RenderContext, items: Sequence[Verdict], runs: Sequence[ShownRun]) -> Iterator[str]:
    """Yield of which rows verdicts judge the mean, and which rows they do not judge."""
    for verdict in items:
        groups = [(item.label, group_judged_rows(context, verdict, item.run)) for item in runs]
        yield from describe_repeats(verdict.title, verdict.keys, verdict.first, groups)
        if not verdict.choice:
            yield from describe_excluded_rows(context, verdict.title, verdict.without, "not judged", runs)
            yield from _describe_rows_without_baseline(verdict, groups)


def _describe_rows_without_baseline(verdict: Verdict, groups: Sequence[tuple[str, Groups]]) -> Iterator[str]:
    """Yield a sentence on rows of further runs that the baseline lacks, since a scenario may pass without them."""
    (base_label, base_groups), *other_groups = groups
    row_descriptions = [
        f"{label}, {format_key(verdict.keys, key)}"
        for label, run_groups in other_groups
        for key in run_groups
        if key not in base_groups
    ]
    if row_descriptions:
        yield f"{verdict.title}: not judged, because {base_label} has no such rows: {'; '.join(row_descriptions)}."


def _get_request(context: RenderContext, verdict: Verdict) -> RowRequest:
    (request,) = block_rows.request_block_rows(context.checked, verdict)
    return request


def group_judged_rows(context: RenderContext, verdict: Verdict, run: RunFigures) -> dict[Key, list[Row]]:
    """Return the judged rows by the verdict's keys; of several with the same keys, the mean is judged."""
    request = _get_request(context, verdict)
    rows = block_rows.get_rows(run, request)
    if verdict.choice:
        chosen_rows = context.find_repeats(verdict.choice, run)
        rows = [row for row in rows if any(block_rows.is_same_row(request.grain, row, item) for item in chosen_rows)]
    rows = exclude_rows(context.checked, context.report, request.grain, verdict.without, run, rows)
    return group_repeats(rows, verdict.keys, verdict.first)


def _judge_run(context: RenderContext, verdict: Verdict, base: ShownRun, shown_run: ShownRun) -> VerdictRows:
    run_groups, base_groups = (group_judged_rows(context, verdict, item_run.run) for item_run in (shown_run, base))
    grain = _get_request(context, verdict).grain
    columns = [find_column(grain, name) for name in verdict.keys]
    return tuple(
        VerdictRow(
            tuple(map(format_cell, columns, key)),
            metric,
            _judge_change(context, metric, base_groups[key], run_groups.get(key, ()), verdict.tolerance),
        )
        for key in base_groups
        for metric in map(context.checked.get_metric, verdict.metrics)
    )


def _judge_change(
    context: RenderContext, metric: Metric, base_rows: Sequence[Row], run_rows: Sequence[Row], tolerance: int
) -> ChangeTexts:
    """Return the change of a metric between the means of rows; `run_rows` may be empty."""
    base = average_rows(base_rows, [metric.id])
    row = average_rows(run_rows, [metric.id]) if run_rows else None
    texts = (
        add_count_of_repeats(context.format_metric(metric, base), base_rows, metric.id),
        add_count_of_repeats(context.format_metric(metric, row), run_rows, metric.id),
    )
    old, new = context.compute_exact_metric(metric, base), context.compute_exact_metric(metric, row)
    if old is None or new is None:
        return ChangeTexts(*texts, NO_VALUE, NO_VALUE, NOT_RUN if row is None else "no value")
    if not old:
        result = PASS if is_change_allowed(NOT_WORSE, 0, metric.better, new) else FAIL
        return ChangeTexts(*texts, NO_VALUE, NO_VALUE, result)
    percent = compute_percent_change(old, new)
    is_within_tolerance = is_change_allowed(NOT_WORSE, tolerance, metric.better, percent)
    percent_text = format_on_same_side(
        percent,
        1,
        lambda printed_percent: (
            is_change_allowed(NOT_WORSE, tolerance, metric.better, printed_percent) == is_within_tolerance
        ),
    )
    interval = _compute_interval(context, metric, base_rows, run_rows)
    return ChangeTexts(
        *texts,
        print_number(percent_text),
        format_percent_interval(interval.low, interval.high) if interval else NO_VALUE,
        PASS if is_within_tolerance else CANNOT_TELL if _touches_tolerance(metric, tolerance, interval) else FAIL,
    )


def _compute_interval(
    context: RenderContext, metric: Metric, base_rows: Sequence[Row], run_rows: Sequence[Row]
) -> Interval | None:
    """Return the 95 % interval of the change in percent, by the noise between repeats; None with too few repeats."""
    base, other = (
        [value for row in rows if (value := context.compute_exact_metric(metric, row)) is not None]
        for rows in (base_rows, run_rows)
    )
    change = compare_repeats(base, other)
    return change.compute_interval() if change else None


def _touches_tolerance(metric: Metric, tolerance: int, interval: Interval | None) -> bool:
    """Return whether a change that is too large may be noise: its interval has changes that are allowed."""
    return interval is not None and (
        interval.low <= 0 <= interval.high
        or any(
            is_change_allowed(NOT_WORSE, tolerance, metric.better, Fraction(end))
            for end in (interval.low, interval.high)
        )
    )


def _build_verdict_table(
    context: RenderContext, verdict: Verdict, base: ShownRun, shown_run: ShownRun, rows: VerdictRows
) -> Table:
    grain = _get_request(context, verdict).grain
    keys = (format_column_heading(find_column(grain, name)) for name in verdict.keys)
    has_intervals = _has_intervals(rows)
    header = (
        *keys,
        METRIC_HEADING,
        base.label,
        shown_run.label,
        "Δ%",
        *([INTERVAL_HEADING] if has_intervals else []),
        "Result",
    )
    printed_rows = tuple(row.list_cells(has_intervals=has_intervals) for row in rows)
    verdicts = tuple(CellVerdict(y, len(header) - 1, row.change.result) for y, row in enumerate(rows))
    marks = tuple(Mark(item.row, item.column, BAD) for item in verdicts if item.word not in (PASS, CANNOT_TELL))
    columns = (
        *(get_column_id(verdict.grain, name) for name in verdict.keys),
        *[""] * (len(header) - len(verdict.keys)),
    )
    metric_ids = tuple(row.metric.id for row in rows)
    links = tuple(link_cells(context, verdict, base, shown_run, has_intervals=has_intervals))
    return Table(
        add_label_to_title(verdict.title, shown_run.title_label),
        header,
        printed_rows,
        marks,
        of_rows=metric_ids,
        of_columns=columns,
        leads=links,
        row_units=tuple(row.metric.unit.symbol for row in rows),
        verdicts=verdicts,
    )


def _has_intervals(rows: VerdictRows) -> bool:
    return any(row.change.interval != NO_VALUE for row in rows)


def link_cells(
    context: RenderContext, verdict: Verdict, base: ShownRun, shown_run: ShownRun, *, has_intervals: bool
) -> Iterator[CellLink]:
    """Yield the links of each row of `_judge_run`: values of the base's row, and of the other run's if there is one."""
    run_groups, base_groups = (group_judged_rows(context, verdict, item_run.run) for item_run in (shown_run, base))
    request = _get_request(context, verdict)
    for y, (key, metric) in enumerate((key, metric) for key in base_groups for metric in verdict.metrics):
        base_rows, run_rows = base_groups[key], run_groups.get(key, ())
        old: tuple[CellSource, ...] = link_repeats(metric, base.run.id, base_rows, request.keys)
        new = link_repeats(metric, shown_run.run.id, run_rows, request.keys)
        printed_kinds = get_printed_kind(base_rows), get_printed_kind(run_rows)
        judged = ((JUDGED, (*old, *new)),) * (2 if has_intervals else 1)
        cells = (printed_kinds[0], old), (printed_kinds[1], new), (CHANGE, (*old, *new)), *judged
        for x, (prints, sources) in enumerate(cells, start=len(verdict.keys) + 1):
            yield CellLink(y, x, prints, sources)


# Results of scenarios


ResultRow = tuple[str, str, str, str, str]
"""Scenario, day, version, result and reason."""


def _build_results_table(
    context: RenderContext, items: Sequence[Verdict], judged_rows: Mapping[tuple[int, str], VerdictRows]
) -> Table:
    """Build a table with a row for each scenario and run: its day, its label, result and reason."""
    rows: list[ResultRow] = []
    marks: list[Mark] = []
    links: list[CellLink] = []
    verdicts: list[CellVerdict] = []
    for verdict in items:
        for row, deciding_tables in _list_results(context, verdict, judged_rows):
            *_, result, reason = row
            if result not in (PASS, CANNOT_TELL, NO_BASELINE, NOT_APPLICABLE):
                marks.append(Mark(len(rows), 3, BAD))
            verdicts += [CellVerdict(len(rows), 3, result)] if reason != NOT_JUDGED else []
            links += [CellLink(len(rows), x, OUTCOME, (), deciding_tables) for x in (3, 4)]
            rows.append(row)
    header = ("Scenario", "Date", "Version", "Result", "Why")
    return Table("Scenarios", header, tuple(rows), tuple(marks), leads=tuple(links), verdicts=tuple(verdicts))


def _list_results(
    context: RenderContext, verdict: Verdict, judged_rows: Mapping[tuple[int, str], VerdictRows]
) -> Iterator[tuple[ResultRow, tuple[str, ...]]]:
    """Yield the rows of a scenario, each with the titles of the tables that decide on it."""
    group = context.find_group(verdict.group)
    if group is None:
        yield (verdict.scenario, NO_VALUE, NO_VALUE, NOT_APPLICABLE, f"there is no run of group {verdict.group}"), ()
        return
    if not verdict.grain:
        versions = dict.fromkeys((item.run.day, _format_version(group, item.run)) for item in group.all_runs)
        yield from (((verdict.scenario, *version, NOT_APPLICABLE, NOT_JUDGED), ()) for version in versions)
        return
    for shown_run in group.compared_runs or group.runs[:1]:
        rows = judged_rows.get((id(verdict), shown_run.run.id))
        result, reason = _summarize_run(group, verdict, shown_run, rows)
        deciding_tables = (add_label_to_title(verdict.title, shown_run.title_label),) if rows is not None else ()
        version = _format_version(group, shown_run.run, shown_run.label)
        yield (verdict.scenario, shown_run.run.day, version, result, reason), deciding_tables


def _format_version(context: RenderContext, run: RunFigures, label: str = "") -> str:
    """Return the label of a run (default: its name, or the label constant of a case) and the revision of its version.

    The name of a case is no version.
    """
    report = context.report
    revision = shorten(str(run.constants[report.revision])) if report.revision else ""
    if not label:
        is_case = any(item.run is run for item in context.cases)
        label = shorten(*list_own_names(report.label, [run])) if is_case else name_run(report, run)
    return label + (f" ({revision})" if revision else "")


def _summarize_run(
    context: RenderContext, verdict: Verdict, shown_run: ShownRun, rows: VerdictRows | None
) -> tuple[str, str]:
    """Return the result of a scenario for a run, and the reason; `rows` are None without a baseline."""
    if rows is None:
        return NO_BASELINE, describe_missing_baseline(context)
    results = [row.change.result for row in rows]
    if all(result == NOT_RUN for result in results):
        return NOT_RUN, describe_missing_rows(context, verdict, context.runs, shown_run, has_baseline_rows=bool(rows))
    metrics = map(context.checked.get_metric, verdict.metrics)
    return _summarize_results(results, verdict.tolerance, [item for item in metrics if item.better == NEITHER])


def describe_missing_baseline(context: RenderContext) -> str:
    """Return why a run has nothing to be compared with: there is no other, or only grids show the others."""
    others = [item for item in context.cases if item.run not in [main_run.run for main_run in context.runs]]
    if not others:
        return "there is no other run to compare with"
    names = list_names([f"{item.run.id} ({item.label})" for item in others])
    verb = "is a case" if len(others) == 1 else "are cases"
    return f"{names} {verb} of {context.report.cases}, which only grids show"


def describe_missing_rows(
    context: RenderContext, verdict: Verdict, runs: Sequence[ShownRun], shown_run: ShownRun, *, has_baseline_rows: bool
) -> str:
    """Return whose rows are missing if nothing can be judged; with `has_baseline_rows`, not the baseline's."""
    if not verdict.choice:
        return f"{shown_run.label} has no such rows" if has_baseline_rows else "the baseline has no such rows"
    choice = context.report.get_choice(verdict.choice)
    if choice.keys and context.find_row(choice.name, runs[-1].run) is None:
        return f"{runs[-1].label}, which determines the choice, has {choice.absent}"
    if has_baseline_rows:
        return f"{shown_run.label} has no such rows"
    is_missing_in_both = not choice.keys and context.find_row(choice.name, shown_run.run) is None
    return (
        f"neither the baseline nor {shown_run.label} has such rows"
        if is_missing_in_both
        else "the baseline has no such rows"
    )


def _summarize_results(
    results: Sequence[str], tolerance: int, undirected_metrics: Sequence[Metric] = ()
) -> tuple[str, str]:
    """Return whether a scenario passes, and why.

    For `undirected_metrics`, where neither direction is better, any change is judged.
    """
    counts = Counter(results)
    failed, unclear = counts[FAIL], counts[CANNOT_TELL]
    missing = len(results) - failed - unclear - counts[PASS]
    summary = f"{failed} of {len(results)} values worse by more than {tolerance} %"
    summary += (
        f" ({', '.join(metric.name for metric in undirected_metrics)}: changed by more)" if undirected_metrics else ""
    )
    summary += f", {unclear} worse by so much, but within the noise between repeats" if unclear else ""
    summary += f", {missing} missing" if missing else ""
    return (FAIL if failed + missing else CANNOT_TELL if unclear else PASS), summary
