"""Write the first page of a report as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from assay.report.cells import are_numbers
from assay.report.document import Document, Entry
from assay.report.first_page.answer import Answer, JudgedRow, JudgedSegment, KeyChange
from assay.report.judged_cells import format_verdict
from assay.report.render.markdown_syntax import (
    escape_cell,
    escape_line,
    format_heading,
    format_line,
    format_link,
    format_table,
    name_row,
)
from assay.report.tables import Table, get_cell_value


def list_answers(document: Document) -> Iterator[str]:
    """Yield the paragraphs, headings and tables of the answers, as Markdown."""
    for number, answer in enumerate(document.answers, start=1):
        yield from _list_answer(document, answer, number)


def _list_answer(document: Document, answer: Answer, number: int) -> Iterator[str]:
    entries = document.dictionary_entries
    yield format_heading(2, answer.headline, f"answer-{number}")
    yield escape_line(answer.counts)
    if answer.key_changes:
        yield "".join(
            f"- **{_link_metric(item.label, item.metric, entries)}:** {escape_cell(item.text)} "
            f"{_format_verdict(item)}\n"
            for item in answer.key_changes
        )
    yield from map(escape_line, answer.causes)
    if answer.caution:
        yield f"**{format_line(answer.caution)}**"
    groups = [(item.title, item.rows) for item in answer.groups]
    groups += [("Conditions (neither better nor worse)", answer.conditions)] if answer.conditions else []
    if groups:
        yield _format_forest(answer, groups, entries)
    yield from map(escape_line, filter(None, (answer.omitted,)))
    if answer.differing:
        yield "The runs differ in:"
        yield format_table(
            ["", *map(escape_cell, (answer.base, answer.run))],
            [list(map(escape_cell, row)) for row in answer.differing],
            [column for column in (1, 2) if _are_numbers(document.manifest, answer.differing, column)],
        )
    yield from map(format_line, answer.notes)


def _are_numbers(manifest: Table, differing: Sequence[tuple[str, str, str]], column: int) -> bool:
    """Return whether a column of the parameters that differ, which are cells of the manifest, has numbers."""
    values = {
        (row[0], text): get_cell_value(manifest, y, x)
        for y, row in enumerate(manifest.rows)
        for x, text in enumerate(row)
    }
    return are_numbers(
        [values.get((row[0], row[column])) for row in differing], [row[column] for row in differing],
        with_intervals=True,
    )  # fmt: skip


def _format_forest(
    answer: Answer, groups: Sequence[tuple[str, Sequence[JudgedRow]]], entries: Mapping[str, Entry]
) -> str:
    """Return a table of all changes; the title of a group is a row of its own."""
    header = ["", answer.base, answer.run, "Change", answer.level, "Verdict", "Samples"]
    rows = []
    for title, judged_rows in groups:
        rows.append([f"**{escape_cell(title)}**", *[""] * (len(header) - 1)])
        rows += [cells for row in judged_rows for cells in _list_row_cells(row, entries, len(header))]
    return format_table(list(map(escape_cell, header)), rows, (1, 2, 3, 4, 6))


def _list_row_cells(row: JudgedRow, entries: Mapping[str, Entry], columns: int) -> Iterator[list[str]]:
    """Yield the cells of a change, and those of a row that names its segments, if it has any."""
    yield [
        _link_metric(row.label, row.metric, entries),
        *map(escape_cell, (row.base, row.value, row.percent, row.interval)),
        _format_verdict(row) if row.interval else escape_cell(f"{row.verdict}: {row.reason}"),
        escape_cell(row.sizes),
    ]
    if row.segments:
        texts = [f"{_link_segment(item)} {item.percent} {item.verdict}" for item in row.segments]
        more = f" and {row.more_segments} more" if row.more_segments else ""
        yield [f"{row.within}: {', '.join(texts)}{more}", *[""] * (columns - 1)]


def _link_segment(segment: JudgedSegment) -> str:
    """Return the label of a segment, linked to its row if there is one."""
    label = escape_cell(segment.label)
    return format_link(label, name_row(segment.section, segment.metric)) if segment.section else label


def _link_metric(label: str, metric: str, entries: Mapping[str, Entry]) -> str:
    return format_link(escape_cell(label), f"metric-{metric}") if metric in entries else escape_cell(label)


def _format_verdict(item: JudgedRow | KeyChange) -> str:
    """Return a verdict after its arrow, bold if the metric changed."""
    text = format_verdict(item.arrow, item.verdict, item.is_by_itself)
    return f"**{text}**" if item.arrow else text
