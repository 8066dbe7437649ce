"""Turn publications over time into a document: tables, largest changes and plots.

Rows of a plot have the columns `COLUMNS`. `mark` is the kind of a row:

    run, base  a printed value at (`x`, `y`): `value` is its text, `run` and `publication` (a day) are its origin
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
from decimal import Decimal

from assay.lang.checked_package import CheckedPackage
from assay.lang.model.report import History, Report, Section
from assay.publication.edition import Word, collect_metric_words
from assay.publication.history import (
    FORM,
    LEAST_DIGITS,
    MEANING,
    Change,
    Issue,
    Move,
    find_break_place,
    find_largest_moves,
    group_issues_by_runs,
    list_changes,
    list_history_warnings,
    list_workloads,
)
from assay.report.document import Appendix, Document, Entry, Gallery, Group, Plot, Table, Value
from assay.report.run_results import add_unit
from assay.util.numbers import format_count

COLUMNS = ("panel", "mark", "x", "y", "x2", "y2", "kind", "text", "value", "run", "publication")
#: distance of the runs of a publication, and the greatest distance of its first and last run, in widths of a column
RUN_DISTANCE, MAX_RUNS_WIDTH = 0.4, 0.64
#: an axis begins at zero if its least value is at most this share of its greatest
NEAR_ZERO = 0.5
#: characters of a column's label that fit below the panels
MAX_LABEL_LENGTH = 13

Row = tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Frame:
    """The common data of all plots of a history: its columns, the issues in order, workloads, breaks."""

    columns: Sequence[Sequence[Issue]]
    issues: Sequence[Issue]
    workloads: Sequence[str]
    changes: Sequence[Change]

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
        template, COLUMNS, tuple(rows), panels,
    )  # fmt: skip


def select_issues(frame: Frame, workload: str) -> list[Issue]:
    """Return the issues with a workload."""
    return [issue for issue in frame.issues if issue.publication.workload == workload]


def _build_row(panel: str, mark: str, **columns: Value) -> Row:
    values_by_column: Mapping[str, Value] = {"panel": panel, "mark": mark, **columns}
    return tuple(values_by_column.get(name) for name in COLUMNS)


def _list_panel_rows(frame: Frame, metric: str, workload: str) -> Iterator[Row]:
    yield _build_row(workload, "panel", x=0.0, text=workload)
    for index in range(1, len(frame.columns)):
        yield _build_row(workload, "column", x=float(index))
    workload_issues = select_issues(frame, workload)
    printed_values = [value for issue in workload_issues for value in issue.list_numbers(metric) if value is not None]
    low, high = _choose_axis_ends(min(printed_values), max(printed_values))
    yield _build_row(workload, "extent", x=0.0, y=low)
    yield _build_row(workload, "extent", x=float(len(frame.columns)), y=high)
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
    for run, (value, label) in enumerate(zip(numbers, issue.publication.runs, strict=True)):
        if value is None:
            continue
        x = frame.compute_x(issue, run)
        if run and base is not None:
            yield _build_row(
                workload, "move", x=x, y=value, x2=frame.compute_x(issue, 0), y2=base, run=label, publication=day
            )
        mark = "run" if run else "base"
        yield _build_row(workload, mark, x=x, y=value, value=cells[run], run=label, publication=day)


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


def _list_label_rows(frame: Frame, panel: str) -> Iterator[Row]:
    for index, column in enumerate(frame.columns):
        label = column[0].publication.runs[-1]
        short_label = label if len(label) <= MAX_LABEL_LENGTH else label[: MAX_LABEL_LENGTH - 1] + "…"
        yield _build_row(panel, "label", x=index + 0.5, text=short_label)


def _describe_plot(frame: Frame, metric: str, name: str, symbol: str, panels: Sequence[str]) -> str:
    """Describe the plot in words: its first and last values by workload, and its breaks."""
    unit = f" {symbol}" if symbol else ""
    parts = []
    for workload in panels:
        rows = [issue.rows[metric] for issue in select_issues(frame, workload) if metric in issue.rows]
        ends = f"from {rows[0].values[0]}{unit} to {rows[-1].values[-1]}{unit}"
        parts.append(f"{workload}, {len(rows)} publication{'' if len(rows) == 1 else 's'}, {ends}")
    keys = [change.key for change in frame.changes if change.affects(metric)]
    breaks = f" Breaks: {', '.join(keys)}." if keys else ""
    return f"{name} over releases: {'; '.join(parts)}.{breaks}"


STYLE = "as published"
READING = (
    "Each column has the publications of the same runs, and is labelled by the newest run. Dots are further "
    "runs; a thin line connects each to the hollow dot of its base. If a base differs from the same run in the "
    "preceding column, it was run or analysed again. Axes may begin above zero."
)
KEYS = (
    "A dashed line is a break in meaning: the values on its two sides were measured differently. A dotted line is a "
    "break in form: the publications after it have other names, units or number styles. The letters refer to the table "
    "of breaks below the figures."
)
#: rows of the overview, with their descriptions
OVERVIEW = {
    "Publications": "The number of publications of the workload. The table of publications lists their files.",
    "First": "The day of the oldest publication, as printed in it.",
    "Last": "The day of the newest publication, as printed in it.",
    "Runs": "The number of runs in these publications; a run in several publications is counted in each.",
    "Editions": "The editions of these publications.",
}
MOVES = (
    "The greatest change of each metric and workload between the base and a further run of one publication; Δ% is "
    "computed from the printed values. Rises and falls are ordered by their factor: a fall by half ranks like a "
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
    """The content of a history: the publications in order, the breaks, the largest moves, the names of metrics."""

    checked: CheckedPackage
    report: Report
    history: History
    issues: tuple[Issue, ...]
    changes: tuple[Change, ...]
    moves: tuple[Move, ...]
    names: Mapping[str, Word]


def analyze_history(
    checked: CheckedPackage, report: Report, history: History, issues: Sequence[Issue]
) -> HistoryReport:
    """Return the content of a history of publications in order (at least one), with names of the newest edition."""
    breaks = list_changes(history, checked, issues)
    largest = find_largest_moves(history, issues, breaks, history.moves)
    return HistoryReport(
        checked, report, history, tuple(issues), breaks, largest, collect_metric_words(checked, issues[-1].edition)
    )


def build_history_document(history_report: HistoryReport, heading: Heading, provenance: Mapping[str, str]) -> Document:
    """Build the document of a history."""
    placeholder_values = _collect_placeholder_values(history_report)
    return Document(
        title=heading.title or _fill_placeholders(history_report.history.title, placeholder_values),
        subtitle="",
        author=heading.author,
        date=heading.date or history_report.issues[-1].publication.day,
        intro=tuple(
            _fill_placeholders(text, placeholder_values)
            for text in history_report.history.intro.split("\n\n")
            if text.strip()
        ),
        style=STYLE,
        manifest=_build_overview(history_report),
        sections=(),
        charts=(),
        dictionary=tuple(_build_dictionary(history_report)),
        warnings=tuple(list_history_warnings(history_report.history, history_report.issues)),
        filters=Table("Filters", ("Run", "Filter"), ()),
        provenance=tuple(provenance.items()),
        appendices=(_build_publications_appendix(history_report),),
        galleries=(_build_moves_gallery(history_report), *_build_galleries(history_report)),
        terms=(
            Group(
                "Publications and workloads",
                tuple(Entry(f"published.{name.lower()}", name, "", text, "") for name, text in OVERVIEW.items()),
            ),
        ),
    )


def _collect_placeholder_values(history_report: HistoryReport) -> dict[str, str]:
    issues = history_report.issues
    return {
        "publications": str(len(issues)),
        "first": issues[0].publication.day,
        "last": issues[-1].publication.day,
        "workloads": ", ".join(list_workloads(issues)),
        "editions": ", ".join(dict.fromkeys(issue.edition.name for issue in issues)),
    }


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
        [
            ", ".join(dict.fromkeys(issue.edition.name for issue in workload_issues))
            for workload_issues in issues_by_workload
        ],
    )
    rows = tuple((name, *row_cells) for name, row_cells in zip(OVERVIEW, cells, strict=True))
    entry_ids = tuple(f"published.{name.lower()}" for name in OVERVIEW)
    return Table("Publications and workloads", ("", *workload_names), rows, of_rows=entry_ids)


def _build_moves_gallery(history_report: HistoryReport) -> Gallery:
    header = ("Metric", "Workload", "Published", "Base run", "Run", "Base", "Value", "Δ%", "Break")
    rows = tuple(_build_move_row(history_report, item) for item in history_report.moves)
    text = tuple(paragraph.format(digits=LEAST_DIGITS) for paragraph in MOVES)
    return Gallery("largest-moves", "Largest moves", text, (), (Table("", header, rows),))


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


def _build_galleries(history_report: HistoryReport) -> Iterator[Gallery]:
    """Yield a gallery for each section, with the table of its breaks."""
    frame = Frame(
        group_issues_by_runs(history_report.issues),
        history_report.issues,
        list_workloads(history_report.issues),
        history_report.changes,
    )
    figure = 0
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
        text = ((section.doc,) if section.doc else ()) + ((READING, KEYS) if index == 0 else ())
        slug = "-".join(section.title.lower().split())
        yield Gallery(slug, section.title, text, tuple(plots), (table,) if rows else ())


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


def _build_publications_appendix(history_report: HistoryReport) -> Appendix:
    issues_and_publications = ((issue, issue.publication) for issue in history_report.issues)
    rows = tuple(
        (item.day, item.title, item.workload, issue.edition.name, issue.file.name)
        for issue, item in issues_and_publications
    )
    text = f"The {format_count(len(rows), 'publication')} in this report, oldest first."
    return Appendix("Publications", (text,), ("Day", "Title", "Workload", "Edition", "File"), rows)


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


def _list_series_records(history_report: HistoryReport, metric: str, workload: str) -> Iterator[dict[str, str]]:
    for issue in history_report.issues:
        publication = issue.publication
        if publication.workload != workload or metric not in issue.rows:
            continue
        row = issue.rows[metric]
        for run, value in zip(publication.runs[1:], row.values[1:], strict=True):
            yield {
                "publication": issue.file.name,
                "day": publication.day,
                "edition": issue.edition.name,
                "unit": row.unit,
                "base": publication.runs[0],
                "base_value": row.values[0],
                "run": run,
                "value": value,
            }
