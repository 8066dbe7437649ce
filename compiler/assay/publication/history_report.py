"""Turn publications over time into a document: tables, level shifts, largest changes and plots."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from assay.judgement.verdict import Verdict
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.report import History, Report, Section
from assay.number_styles.prefixed import format_value
from assay.publication.edition import Word, collect_metric_words
from assay.publication.history import (
    LEAST_DIGITS,
    Change,
    Issue,
    Move,
    describe_inputs,
    find_largest_moves,
    group_issues_by_runs,
    list_changes,
    list_history_warnings,
    list_workloads,
)
from assay.publication.history_builds import compare_builds
from assay.publication.history_plot import Frame, build_plot
from assay.publication.history_shifts import (
    DriftOfMetric,
    Levels,
    Shift,
    count_short_series,
    find_levels,
    list_drifts,
    list_shifts,
)
from assay.publication.reader import MISSING
from assay.report.document import Appendix, Document, Entry, Group, Part, Plot, Table
from assay.report.formatted_text import name_anchor
from assay.report.run_results import add_unit
from assay.util.numbers import format_count

STYLE, BUILDS_STYLE = "as published", "prefixed"
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
BUILDS = (
    "Every metric over {builds} of {report} from {first} to {last}, a panel for each workload ({workloads}). The "
    "values are unrounded averages, printed with three digits."
)
#: rows of the overview, with their descriptions; the first is named after what it counts
OVERVIEW = {
    "Publications": "The number of {inputs} of the workload. An appendix lists them.",
    "First": "The day of the oldest of them.",
    "Last": "The day of the newest of them.",
    "Runs": "The number of runs in them; a run in several of them is counted in each.",
    "Editions": "The editions of the publications.",
}
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


@dataclass(frozen=True, slots=True)
class Heading:
    """Options of a history's heading; empty texts default to the specs and the publications."""

    title: str = ""
    author: str = ""
    date: str = ""


@dataclass(frozen=True, slots=True)
class HistoryReport:
    """The content of a history: publications in order, breaks, largest moves, levels and shifts, names of metrics."""

    checked: CheckedPackage
    report: Report
    history: History
    issues: tuple[Issue, ...]
    changes: tuple[Change, ...]
    moves: tuple[Move, ...]
    levels: Levels
    shifts: tuple[Shift, ...]
    drifts: tuple[DriftOfMetric, ...]
    names: Mapping[str, Word]

    @property
    def publications(self) -> tuple[Issue, ...]:
        """The issues that are publications."""
        return tuple(issue for issue in self.issues if not issue.build)

    @property
    def builds(self) -> tuple[Issue, ...]:
        """The issues that are builds."""
        return tuple(issue for issue in self.issues if issue.build)

    @property
    def inputs(self) -> str:
        """What the issues are: `publications`, `builds`, or both."""
        return describe_inputs(self.issues)


def analyze_history(
    checked: CheckedPackage, report: Report, history: History, issues: Sequence[Issue]
) -> HistoryReport:
    """Return the content of a history of publications in order (at least one), with names of the newest edition."""
    breaks = list_changes(history, checked, issues, compare_builds(issues))
    largest = find_largest_moves(history, issues, breaks, history.moves)
    levels = find_levels(history, issues, breaks)
    shifts = list_shifts(checked, report, levels, issues)
    drifts = list_drifts(checked, report, levels)
    names = collect_metric_words(checked, issues[-1].edition)
    return HistoryReport(checked, report, history, tuple(issues), breaks, largest, levels, shifts, drifts, names)


def build_history_document(history_report: HistoryReport, heading: Heading, provenance: Mapping[str, str]) -> Document:
    """Build the document of a history."""
    placeholder_values = _collect_placeholder_values(history_report)
    return Document(
        title=heading.title or _fill_placeholders(history_report.history.title, placeholder_values),
        subtitle="",
        author=heading.author,
        date=heading.date or history_report.issues[-1].publication.day,
        intro=tuple(_fill_placeholders(text, placeholder_values) for text in _list_intro_texts(history_report)),
        style=STYLE if history_report.publications else BUILDS_STYLE,
        manifest=_build_overview(history_report),
        parts=(
            _build_shifts_part(history_report),
            _build_moves_part(history_report),
            *_build_parts(history_report),
        ),
        dictionary=tuple(_build_dictionary(history_report)),
        warnings=tuple(list_history_warnings(history_report.history, history_report.issues)),
        filters=Table("Filters", ("Run", "Filter"), ()),
        provenance=tuple(provenance.items()),
        appendices=tuple(_list_appendices(history_report)),
        terms=(Group(_title_overview(history_report), tuple(_list_overview_entries(history_report))),),
    )


def _collect_placeholder_values(history_report: HistoryReport) -> dict[str, str]:
    issues = history_report.issues
    return {
        "publications": str(len(history_report.publications)),
        "first": issues[0].publication.day,
        "last": issues[-1].publication.day,
        "workloads": ", ".join(list_workloads(issues)),
        "editions": _list_editions(issues),
        "builds": format_count(len(history_report.builds), "build"),
        "report": f"{history_report.checked.package.system}/{history_report.report.name}",
    }


def _list_intro_texts(history_report: HistoryReport) -> Iterator[str]:
    """Yield the introduction of the specs, which is about publications, and that of builds."""
    if history_report.publications:
        yield from filter(str.strip, history_report.history.intro.split("\n\n"))
    if history_report.builds:
        yield BUILDS


def _list_editions(issues: Sequence[Issue]) -> str:
    return ", ".join(dict.fromkeys(issue.edition.name for issue in issues if not issue.build)) or MISSING


def _title_overview(history_report: HistoryReport) -> str:
    return f"{history_report.inputs.capitalize()} and workloads"


def _list_overview_entries(history_report: HistoryReport) -> Iterator[Entry]:
    """Yield the entry of each row of the overview; builds have no editions."""
    for name, text in OVERVIEW.items():
        if name != "Editions" or history_report.publications:
            label = history_report.inputs.capitalize() if name == "Publications" else name
            yield Entry(f"published.{name.lower()}", label, "", text.format(inputs=history_report.inputs), "")


def _fill_placeholders(text: str, placeholder_values: Mapping[str, str]) -> str:
    for name, value in placeholder_values.items():
        text = text.replace("{" + name + "}", value)
    return text


def _build_overview(history_report: HistoryReport) -> Table:
    """Build the table of publications, with a column for each workload."""
    workload_names = list_workloads(history_report.issues)
    issues_by_workload = [
        [issue for issue in history_report.issues if issue.publication.workload == name] for name in workload_names
    ]
    cells = (
        [str(len(workload_issues)) for workload_issues in issues_by_workload],
        [workload_issues[0].publication.day for workload_issues in issues_by_workload],
        [workload_issues[-1].publication.day for workload_issues in issues_by_workload],
        [str(sum(len(issue.publication.runs) for issue in workload_issues)) for workload_issues in issues_by_workload],
        [_list_editions(workload_issues) for workload_issues in issues_by_workload],
    )
    entries = tuple(_list_overview_entries(history_report))
    rows = tuple((entry.name, *row_cells) for entry, row_cells in zip(entries, cells, strict=False))
    return Table(
        _title_overview(history_report), ("", *workload_names), rows, of_rows=tuple(entry.id for entry in entries)
    )


def _build_shifts_part(history_report: HistoryReport) -> Part:
    header = (
        "Metric",
        "Workload",
        _title_day(history_report),
        "Last run before",
        "First run",
        "Before",
        "After",
        "Δ%",
        "Verdict",
    )
    rows = tuple(_build_shift_row(history_report, item) for item in history_report.shifts)
    experiments = dict.fromkeys(issue.publication.workload for issue in history_report.issues if issue.experiment)
    text = (
        *SHIFTS,
        *(_describe_drift(history_report, item) for item in history_report.drifts),
        *([EXPERIMENTS.format(names="; ".join(experiments))] if experiments else []),
        *([] if rows or history_report.drifts else [_describe_no_shifts(history_report)]),
    )
    return Part("level-shifts", "Level shifts", text, (), (Table("", header, rows),) if rows else ())


def _describe_no_shifts(history_report: HistoryReport) -> str:
    """Return that there are no level shifts, and of how many series the runs are too few to tell."""
    short, series = count_short_series(history_report.checked, history_report.report, history_report.levels)
    if not short:
        return NO_SHIFTS
    few_runs = FEW_RUNS.format(short=short, series=series)
    return few_runs if short == series else f"{NO_SHIFTS} {few_runs}"


def _title_day(history_report: HistoryReport) -> str:
    return "Day" if history_report.builds else "Published"


def _build_shift_row(history_report: HistoryReport, shift: Shift) -> tuple[str, ...]:
    return (
        add_unit(*history_report.names[shift.metric]),
        shift.workload,
        shift.start.issue.publication.day,
        shift.before.points[-1].label,
        shift.start.label,
        format_value(shift.before.average),
        format_value(shift.after.average),
        MISSING if shift.share is None else format_percent(shift.share),
        _describe_verdict(shift.verdict, may_be_chance=shift.after.may_be_chance),
    )


def _describe_drift(history_report: HistoryReport, item: DriftOfMetric) -> str:
    return DRIFT.format(
        metric=add_unit(*history_report.names[item.metric]),
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


def _build_moves_part(history_report: HistoryReport) -> Part:
    header = ("Metric", "Workload", _title_day(history_report), "Base run", "Run", "Base", "Value", "Δ%", "Break")
    rows = tuple(_build_move_row(history_report, item) for item in history_report.moves)
    text = tuple(
        paragraph.format(
            digits=LEAST_DIGITS,
            input=describe_inputs(history_report.issues, "or", 1),
            values="unrounded values" if not history_report.publications else "the printed values",
        )
        for paragraph in MOVES
    )
    if not rows:
        return Part("largest-moves", "Largest moves", (*text, NO_MOVES), (), ())
    return Part("largest-moves", "Largest moves", text, (), (Table("", header, rows),))


def _build_move_row(history_report: HistoryReport, move: Move) -> tuple[str, ...]:
    publication, values = move.issue.publication, move.issue.rows[move.metric].values
    return (
        add_unit(*history_report.names[move.metric]),
        publication.workload,
        publication.day,
        publication.runs[0],
        publication.runs[move.run],
        values[0],
        values[move.run],
        format_percent(move.share),
        " ".join(move.break_keys),
    )


def format_percent(share: Decimal) -> str:
    """Return a change as the text of its percentage, with its sign and one decimal."""
    return f"{100 * share:+.1f}"


def _build_parts(history_report: HistoryReport) -> Iterator[Part]:
    """Yield a part for each section, with the table of its breaks."""
    frame = Frame(
        group_issues_by_runs(history_report.issues),
        history_report.issues,
        list_workloads(history_report.issues),
        history_report.changes,
        history_report.levels,
    )
    figure = 0
    reading = [text.format(inputs=history_report.inputs) for text in (READING, KEYS)]
    if any(
        any(intervals) for issue in history_report.issues if issue.build for intervals in issue.build.intervals.values()
    ):
        reading.append(INTERVALS)
    for index, section in enumerate(history_report.history.sections):
        plots: list[Plot] = []
        for metric in section.metrics:
            if any(metric in issue.rows for issue in history_report.issues):
                figure += 1
                plots.append(
                    build_plot(frame, metric, history_report.names[metric], figure, history_report.history.template)
                )
        rows = tuple(_list_break_notes(history_report, section))
        table = Table("Breaks", ("Key", "Since", "Metrics", "What changes"), rows)
        text = ((section.doc,) if section.doc else ()) + (tuple(reading) if index == 0 else ())
        yield Part(name_anchor(section.title), section.title, text, tuple(plots), (table,) if rows else ())


def _list_break_notes(history_report: HistoryReport, section: Section) -> Iterator[tuple[str, ...]]:
    for change in history_report.changes:
        for metrics, text in change.notes:
            changed_names = [history_report.names[name][0] for name in section.metrics if name in metrics]
            if changed_names:
                is_whole_section = len(changed_names) == len(section.metrics) > 1
                since = f"{change.since}, {change.run}" if change.run else change.since
                yield change.key, since, "All of this section" if is_whole_section else "; ".join(changed_names), text


def _build_dictionary(history_report: HistoryReport) -> Iterator[Group]:
    """Yield the groups of the report's dictionary, with the metrics that the history shows."""
    shown_metrics = {name for section in history_report.history.sections for name in section.metrics}
    for group in history_report.report.dictionary:
        entries = tuple(
            # No hash: the published numbers were not computed with these definitions.
            Entry(name, *history_report.names[name], history_report.checked.get_metric(name).doc, "")
            for name in group.metrics
            if name in shown_metrics
        )
        if entries:
            yield Group(group.title, entries)


def _list_appendices(history_report: HistoryReport) -> Iterator[Appendix]:
    if publications := history_report.publications:
        rows = tuple(
            (item.publication.day, item.publication.title, item.publication.workload, item.edition.name, item.name)
            for item in publications
        )
        text = f"The {format_count(len(rows), 'publication')} in this report, oldest first."
        yield Appendix("Publications", (text,), ("Day", "Title", "Workload", "Edition", "File"), rows)
    if builds := history_report.builds:
        build_rows = tuple(
            (item.publication.day, ", ".join(item.publication.runs), item.publication.workload, item.name)
            for item in builds
        )
        text = f"The {format_count(len(builds), 'build')} in this report, oldest first."
        yield Appendix("Builds", (text,), ("Day", "Runs", "Workload", "Folder"), build_rows)


def build_series_data(history_report: HistoryReport) -> dict[str, object]:
    """Return the series as data: metric -> workload -> a record for each further run, oldest first."""
    shown_metrics = [name for section in history_report.history.sections for name in section.metrics]
    workload_names = list_workloads(history_report.issues)
    return {
        metric: {
            name: records
            for name in workload_names
            if (records := list(_list_series_records(history_report, metric, name)))
        }
        for metric in sorted(shown_metrics)
    }


def _list_series_records(history_report: HistoryReport, metric: str, workload: str) -> Iterator[dict[str, object]]:
    for issue in history_report.issues:
        publication = issue.publication
        if publication.workload != workload or metric not in issue.rows:
            continue
        row, first = issue.rows[metric], int(issue.has_base)
        values = row.values if not issue.build else issue.list_numbers(metric)
        for run, value in zip(publication.runs[first:], values[first:], strict=True):
            yield {
                "publication": issue.name,
                "day": publication.day,
                "edition": issue.edition.name,
                "unit": row.unit,
                "base": publication.runs[0] if issue.has_base else None,
                "base_value": values[0] if issue.has_base else None,
                "run": run,
                "value": value,
            }
