"""Turn publications over time into a document: tables, largest changes and plots.

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
from decimal import Decimal

from assay.lang.checked_package import CheckedPackage
from assay.lang.model.report import History, Report, Section
from assay.publication.edition import Word, words
from assay.publication.history import (
    FORM,
    LEAST_DIGITS,
    MEANING,
    Change,
    Issue,
    Move,
    changes,
    columns,
    moves,
    place,
    warnings,
    workloads,
)
from assay.report.document import Appendix, Document, Entry, Gallery, Group, Plot, Table, Value
from assay.report.run_results import row_label
from assay.util.numbers import format_count

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
    yield from _break_rows(frame, metric, workload)
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


def _break_rows(frame: Frame, metric: str, workload: str) -> Iterator[Row]:
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


STYLE = "as published"
READING = (
    "A column holds the publications of the same runs, and is called by the newest of them; its dots are the further "
    "runs, and a thin line leads from each to the hollow dot of its base. A base that has another value than the same "
    "run in the column before was run or analysed again. An axis that begins above zero is not marked."
)
KEYS = (
    "A dashed rule is a break: what stands on its two sides was not measured alike. A dotted rule says that the "
    "publications go on in another form: other names, units or number styles. The letters lead to the table of breaks "
    "below the figures."
)
#: rows of the overview, with what they say of a workload
OVERVIEW = {
    "Publications": "How many publications of the workload were read. The table of publications names their files.",
    "First": "The day of the oldest of them, as it says itself.",
    "Last": "The day of the newest of them, as it says itself.",
    "Runs": "How many runs they print, each as often as it is printed.",
    "Editions": "The forms in which they were published.",
}
MOVES = (
    "The greatest change of each metric and workload between the base and a further run of one publication; Δ% is "
    "worked out from the printed values. Rises and falls are ordered by their factor: a fall by half stands beside a "
    "doubling. Left out are moves from or to zero and values below it, which have no factor, and those from a base "
    "that is printed with fewer than {digits} digits, which rounding alone could make. To a value of one digit the "
    "factor is rough.",
    "Moves across a break are marked with its letter, and tell of the break rather than of the run; the tables below "
    "the figures say what it is.",
)


@dataclass(frozen=True, slots=True)
class Heading:
    """What a user may say of a history; empty texts leave it to the specs and the publications."""

    title: str = ""
    author: str = ""
    date: str = ""


@dataclass(frozen=True, slots=True)
class HistoryReport:
    """All that a history tells: the publications in order, the breaks, the largest moves, what metrics are called."""

    checked: CheckedPackage
    report: Report
    history: History
    issues: tuple[Issue, ...]
    changes: tuple[Change, ...]
    moves: tuple[Move, ...]
    names: Mapping[str, Word]


def analyze_history(checked: CheckedPackage, report: Report, history: History, found: Sequence[Issue]) -> HistoryReport:
    """What a history tells of publications in order (at least one); metrics are called as in the newest edition."""
    breaks = changes(history, checked, found)
    largest = moves(history, found, breaks, history.moves)
    return HistoryReport(checked, report, history, tuple(found), breaks, largest, words(checked, found[-1].edition))


def document(said: HistoryReport, heading: Heading, provenance: Mapping[str, str]) -> Document:
    """The document of a history."""
    facts = _facts(said)
    return Document(
        title=heading.title or _filled(said.history.title, facts),
        subtitle="",
        author=heading.author,
        date=heading.date or said.issues[-1].publication.day,
        intro=tuple(_filled(text, facts) for text in said.history.intro.split("\n\n") if text.strip()),
        style=STYLE,
        manifest=_overview(said),
        sections=(),
        charts=(),
        dictionary=tuple(_dictionary(said)),
        warnings=tuple(warnings(said.history, said.issues)),
        filters=Table("Filters", ("Run", "Filter"), ()),
        provenance=tuple(provenance.items()),
        appendices=(_publications(said),),
        galleries=(_largest(said), *_galleries(said)),
        terms=(
            Group(
                "Publications and workloads",
                tuple(Entry(f"published.{name.lower()}", name, "", text, "") for name, text in OVERVIEW.items()),
            ),
        ),
    )


def _facts(said: HistoryReport) -> dict[str, str]:
    issues = said.issues
    return {
        "publications": str(len(issues)),
        "first": issues[0].publication.day,
        "last": issues[-1].publication.day,
        "workloads": ", ".join(workloads(issues)),
        "editions": ", ".join(dict.fromkeys(issue.edition.name for issue in issues)),
    }


def _filled(text: str, facts: Mapping[str, str]) -> str:
    for name, value in facts.items():
        text = text.replace("{" + name + "}", value)
    return text


def _overview(said: HistoryReport) -> Table:
    """What the report is made of, a column a workload."""
    names = workloads(said.issues)
    mine = [[issue for issue in said.issues if issue.publication.workload == name] for name in names]
    cells = (
        [str(len(part)) for part in mine],
        [part[0].publication.day for part in mine],
        [part[-1].publication.day for part in mine],
        [str(sum(len(issue.publication.runs) for issue in part)) for part in mine],
        [", ".join(dict.fromkeys(issue.edition.name for issue in part)) for part in mine],
    )
    rows = tuple((name, *found) for name, found in zip(OVERVIEW, cells, strict=True))
    means = tuple(f"published.{name.lower()}" for name in OVERVIEW)
    return Table("Publications and workloads", ("", *names), rows, of_rows=means)


def _largest(said: HistoryReport) -> Gallery:
    header = ("Metric", "Workload", "Published", "Base run", "Run", "Base", "Value", "Δ%", "Break")
    rows = tuple(_move(said, item) for item in said.moves)
    text = tuple(paragraph.format(digits=LEAST_DIGITS) for paragraph in MOVES)
    return Gallery("largest-moves", "Largest moves", text, (), (Table("", header, rows),))


def _move(said: HistoryReport, move: Move) -> tuple[str, ...]:
    publication, values = move.issue.publication, move.issue.rows[move.metric].values
    return (
        row_label(*said.names[move.metric]),
        publication.workload,
        publication.day,
        publication.runs[0],
        publication.runs[move.run],
        values[0],
        values[move.run],
        percent(move.share),
        " ".join(move.keys),
    )


def percent(share: Decimal) -> str:
    """A change as the text of its percentage, with its sign and one decimal."""
    return f"{100 * share:+.1f}"


def _galleries(said: HistoryReport) -> Iterator[Gallery]:
    """A gallery a section, with the table of its breaks."""
    frame = Frame(columns(said.issues), said.issues, workloads(said.issues), said.changes)
    figure = 0
    for index, section in enumerate(said.history.sections):
        plots: list[Plot] = []
        for metric in section.metrics:
            if any(metric in issue.rows for issue in said.issues):
                figure += 1
                plots.append(plot(frame, metric, said.names[metric], figure, said.history.template))
        rows = tuple(_break_notes(said, section))
        table = Table("Breaks", ("Key", "Since", "Metrics", "What changes"), rows)
        text = ((section.doc,) if section.doc else ()) + ((READING, KEYS) if index == 0 else ())
        slug = "-".join(section.title.lower().split())
        yield Gallery(slug, section.title, text, tuple(plots), (table,) if rows else ())


def _break_notes(said: HistoryReport, section: Section) -> Iterator[tuple[str, ...]]:
    for change in said.changes:
        for metrics, text in change.notes:
            mine = [said.names[name][0] for name in section.metrics if name in metrics]
            if mine:
                whole = len(mine) == len(section.metrics) > 1
                since = f"{change.since}, {change.run}" if change.run else change.since
                yield change.key, since, "All of this section" if whole else "; ".join(mine), text


def _dictionary(said: HistoryReport) -> Iterator[Group]:
    """The groups of the report's dictionary, with the metrics that the history shows."""
    shown = {name for section in said.history.sections for name in section.metrics}
    for group in said.report.dictionary:
        entries = tuple(
            # No hash: what was published was not worked out by the definitions of these specs.
            Entry(name, *said.names[name], said.checked.metric(name).doc, "")
            for name in group.metrics
            if name in shown
        )
        if entries:
            yield Group(group.title, entries)


def _publications(said: HistoryReport) -> Appendix:
    told_of = ((issue, issue.publication) for issue in said.issues)
    rows = tuple((item.day, item.title, item.workload, issue.edition.name, issue.file.name) for issue, item in told_of)
    text = f"The {format_count(len(rows), 'publication')} that this report is made of, oldest first."
    return Appendix("Publications", (text,), ("Day", "Title", "Workload", "Edition", "File"), rows)


def series_json(said: HistoryReport) -> dict[str, object]:
    """The series as data: metric -> workload -> a record for each further run, values as printed, oldest first."""
    shown = [name for section in said.history.sections for name in section.metrics]
    names = workloads(said.issues)
    return {
        metric: {name: found for name in names if (found := list(_series(said, metric, name)))}
        for metric in sorted(shown)
    }


def _series(said: HistoryReport, metric: str, workload: str) -> Iterator[dict[str, str]]:
    for issue in said.issues:
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
