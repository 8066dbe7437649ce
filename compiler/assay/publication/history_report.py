"""Publications over time to the document: what it is made of, the largest moves, a gallery a section."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from assay.lang.model.report import History, Report, Section
from assay.lang.normal_form import CheckedPackage
from assay.publication.edition import Word, words
from assay.publication.history import LEAST_DIGITS, Change, Issue, Move, changes, columns, moves, warnings, workloads
from assay.publication.history_plots import Frame, plot
from assay.report.document import Appendix, Document, Entry, Gallery, Group, Plot, Table
from assay.report.run_results import row_label
from assay.util.numbers import counted

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
        rows = tuple(_breaks(said, section))
        table = Table("Breaks", ("Key", "Since", "Metrics", "What changes"), rows)
        text = ((section.doc,) if section.doc else ()) + ((READING, KEYS) if index == 0 else ())
        slug = "-".join(section.title.lower().split())
        yield Gallery(slug, section.title, text, tuple(plots), (table,) if rows else ())


def _breaks(said: HistoryReport, section: Section) -> Iterator[tuple[str, ...]]:
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
    text = f"The {counted(len(rows), 'publication')} that this report is made of, oldest first."
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
