"""Turn publications over time into a document and into data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from assay.number_styles.cell_text import print_number
from assay.publication.analysis import PublishedRuns
from assay.publication.blocks import build_published_parts
from assay.publication.history import Issue, list_history_warnings, list_workloads
from assay.publication.reader import MISSING
from assay.report.document import Document, Entry, Group
from assay.report.tables import Appendix, Table
from assay.util.numbers import format_count

STYLE, BUILDS_STYLE = "as published", "prefixed"
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


@dataclass(frozen=True, slots=True)
class Heading:
    """Options of a history's heading; empty texts default to the specs and the publications."""

    title: str = ""
    author: str = ""
    date: str = ""


def build_history_document(content: PublishedRuns, heading: Heading, provenance: Mapping[str, str]) -> Document:
    """Build the document of a history."""
    placeholder_values = _collect_placeholder_values(content)
    return Document(
        title=heading.title or _fill_placeholders(content.report.title, placeholder_values),
        subtitle="",
        author=heading.author,
        date=heading.date or content.issues[-1].publication.day,
        intro=tuple(_fill_placeholders(text, placeholder_values) for text in _list_intro_texts(content)),
        style=STYLE if content.publications else BUILDS_STYLE,
        manifest=_build_overview(content),
        parts=build_published_parts(content),
        dictionary=tuple(_build_dictionary(content)),
        warnings=tuple(list_history_warnings(content.over.breaks, content.metrics, content.issues)),
        filters=Table("Filters", ("Run", "Filter"), ()),
        provenance=tuple(provenance.items()),
        appendices=tuple(_list_appendices(content)),
        terms=(Group(_title_overview(content), tuple(_list_overview_entries(content))),),
    )


def _collect_placeholder_values(content: PublishedRuns) -> dict[str, str]:
    issues = content.issues
    return {
        "publications": str(len(content.publications)),
        "first": issues[0].publication.day,
        "last": issues[-1].publication.day,
        "workloads": ", ".join(list_workloads(issues)),
        "editions": _list_editions(issues),
        "builds": format_count(len(content.builds), "build"),
        "report": f"{content.checked.package.system}/{content.source.name}",
    }


def _list_intro_texts(content: PublishedRuns) -> Iterator[str]:
    """Yield the introduction of the specs, which is about publications, and that of builds."""
    if content.publications:
        yield from filter(str.strip, content.report.intro.split("\n\n"))
    if content.builds:
        yield BUILDS


def _list_editions(issues: Sequence[Issue]) -> str:
    return ", ".join(dict.fromkeys(issue.edition.name for issue in issues if not issue.build)) or MISSING


def _title_overview(content: PublishedRuns) -> str:
    return f"{content.inputs.capitalize()} and workloads"


def _list_overview_entries(content: PublishedRuns) -> Iterator[Entry]:
    """Yield the entry of each row of the overview; builds have no editions."""
    for name, text in OVERVIEW.items():
        if name != "Editions" or content.publications:
            label = content.inputs.capitalize() if name == "Publications" else name
            yield Entry(f"published.{name.lower()}", label, "", text.format(inputs=content.inputs), "")


def _fill_placeholders(text: str, placeholder_values: Mapping[str, str]) -> str:
    for name, value in placeholder_values.items():
        text = text.replace("{" + name + "}", value)
    return text


def _build_overview(content: PublishedRuns) -> Table:
    """Build the table of publications, with a column for each workload."""
    workload_names = list_workloads(content.issues)
    issues_by_workload = [
        [issue for issue in content.issues if issue.publication.workload == name] for name in workload_names
    ]
    cells = (
        [print_number(str(len(workload_issues))) for workload_issues in issues_by_workload],
        [workload_issues[0].publication.day for workload_issues in issues_by_workload],
        [workload_issues[-1].publication.day for workload_issues in issues_by_workload],
        [
            print_number(str(sum(len(issue.publication.runs) for issue in workload_issues)))
            for workload_issues in issues_by_workload
        ],
        [_list_editions(workload_issues) for workload_issues in issues_by_workload],
    )
    entries = tuple(_list_overview_entries(content))
    rows = tuple((entry.name, *row_cells) for entry, row_cells in zip(entries, cells, strict=False))
    return Table(_title_overview(content), ("", *workload_names), rows, of_rows=tuple(entry.id for entry in entries))


def _build_dictionary(content: PublishedRuns) -> Iterator[Group]:
    """Yield the groups of the report's dictionary, with the metrics that the history shows."""
    for group in content.source.dictionary:
        entries = tuple(
            # No hash: the published numbers were not computed with these definitions.
            Entry(name, *content.names[name], content.checked.get_metric(name).doc, "")
            for name in group.metrics
            if name in content.metrics
        )
        if entries:
            yield Group(group.title, entries)


def _list_appendices(content: PublishedRuns) -> Iterator[Appendix]:
    if publications := content.publications:
        rows = tuple(
            (item.publication.day, item.publication.title, item.publication.workload, item.edition.name, item.name)
            for item in publications
        )
        text = f"The {format_count(len(rows), 'publication')} in this report, oldest first."
        yield Appendix("Publications", (text,), ("Day", "Title", "Workload", "Edition", "File"), rows)
    if builds := content.builds:
        build_rows = tuple(
            (item.publication.day, ", ".join(item.publication.runs), item.publication.workload, item.name)
            for item in builds
        )
        text = f"The {format_count(len(builds), 'build')} in this report, oldest first."
        yield Appendix("Builds", (text,), ("Day", "Runs", "Workload", "Folder"), build_rows)


def build_series_data(content: PublishedRuns) -> dict[str, object]:
    """Return the series as data: metric -> workload -> a record for each further run, oldest first."""
    workload_names = list_workloads(content.issues)
    return {
        metric: {
            name: records for name in workload_names if (records := list(_list_series_records(content, metric, name)))
        }
        for metric in sorted(content.metrics)
    }


def _list_series_records(content: PublishedRuns, metric: str, workload: str) -> Iterator[dict[str, object]]:
    for issue in content.issues:
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
