"""Render a report as Markdown, with charts as pictures."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Container, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from urllib.parse import quote

from assay.lang.segments import get_whole, is_segment, name_file
from assay.report.cell_links import VERDICT
from assay.report.cells import are_numbers, has_numbers
from assay.report.charts.vega_spec import describe_chart
from assay.report.document import DATA_QUALITY, DICTIONARY, PARAMETERS, Chart, Document, Entry, Group, Part, Plot
from assay.report.first_page.answer import Answer, JudgedRow, JudgedSegment, KeyChange, list_linked_segments
from assay.report.formatted_text import list_leaves
from assay.report.judged_cells import format_verdict, mark_changes
from assay.report.render.markdown_text import format_coded, format_text_blocks, link_quotes
from assay.report.tables import Appendix, MetricTable, Table, get_cell_value, list_number_columns, select_rows
from assay.util.bidi import isolate_words
from assay.util.escape import normalize_text

#: characters that have a meaning anywhere; `$` begins a formula on GitHub
_ANYWHERE = re.compile(r"[\\`*\[\]<|~$]")
#: an underscore between letters or digits is no emphasis
_UNDERSCORE = re.compile(r"(?<![^\W_])_|_(?![^\W_])")
#: the start of a character reference
_REFERENCE = re.compile(r"&(?=[#A-Za-z])")
#: text that GitHub would turn into a link
_LINK = re.compile(r"(?<=\w)(?=://)|(?<=\bwww)(?=\.)", re.I)
#: text that GitHub would turn into a mention of a person, an issue or a pull request; a backslash does not prevent it
_MENTION = re.compile(r"(?<!\w)@(?=\w)|(?<!&)#(?=\d)")
#: text that begins a block at the start of a line (a heading may also end with #)
_BLOCK = re.compile(r"^(?=[-+=>])|^(\d+)(?=[.)](?:\s|$))|(?:^|(?<=\s))(?=#)")


def escape_cell(text: str) -> str:
    """Escape a text for a cell of a table; a line feed becomes `<br>`."""
    escaped = _ANYWHERE.sub(r"\\\g<0>", normalize_text(text))
    escaped = _LINK.sub(r"\\", _REFERENCE.sub(r"\\&", _UNDERSCORE.sub(r"\\_", escaped)))
    return "<br>".join(_escape_blanks(line) for line in escaped.split("\n"))


def escape_line(text: str) -> str:
    """Escape a text for a heading, an item or a paragraph of one line."""
    return _BLOCK.sub(lambda match: f"{match[1] or ''}\\", escape_cell(text))


def format_line(text: str) -> str:
    """Return a text as an item or a paragraph of one line; names between backticks are code."""
    return format_coded(normalize_text(text), escape_cell, escape_line)


def format_cell(text: str) -> str:
    """Return a text as a cell of a table; names between backticks are code."""
    return format_coded(normalize_text(text), escape_cell, escape_cell, is_cell=True)


def break_mentions(escaped: str) -> str:
    """Return escaped text that mentions nobody in a comment on GitHub: a space without width follows `@` and `#`."""
    return _MENTION.sub(r"\g<0>&#8203;", escaped)


def _escape_blanks(text: str) -> str:
    """Write leading and trailing white space, which would be stripped, as character references."""
    body = text.strip()
    if not body:
        return "".join(map(_format_reference, text))
    start = text.index(body)
    return (
        "".join(map(_format_reference, text[:start]))
        + body
        + "".join(map(_format_reference, text[start + len(body) :]))
    )


def _format_reference(character: str) -> str:
    return f"&#{ord(character)};"


def format_table(header: Sequence[str], rows: Sequence[Sequence[str]], right: Container[int] | None = None) -> str:
    """Return a table of Markdown cells under a header; columns in `right`, by default those of numbers, align right."""
    if right is None:
        columns = [[row[x] for row in rows] for x in range(len(header))]
        right = {x for x, column in enumerate(columns) if x and has_numbers(column)}
    rules = ["--:" if x in right else "---" for x in range(len(header))]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (header, rules, *rows))


HASHES = (
    "The column Definition holds the first ten digits of the hash of each definition. Two reports measure the same "
    "when these agree."
)
DIGITS = 10
EMPHASISED = ("worse", "better", "changed")
"""Marks of changes that are bold."""

Blocks = Iterator[str]
"""Paragraphs, headings, tables: each without blank lines and without a final line feed."""


def render_markdown(document: Document, pictures: Mapping[str, bytes] | None = None) -> str:
    """Return the whole report as the text of a Markdown file.

    `pictures` are SVG files by the ids of figures: the text then ends with all of them, as data URIs, and refers to
    nothing else. Without, it refers to files in `charts/`.
    """
    blocks = [block.strip("\n") for block in _list_blocks(document, has_files=pictures is None)]
    figures = index_figures(document)
    blocks += [
        f"[figure-{figures[name].figure}]: data:image/svg+xml;base64,{b64encode(content).decode()}"
        for name, content in (pictures or {}).items()
    ]
    return isolate_words("\n\n".join(blocks)) + "\n"


def read_pictures(document: Document, folder: Path) -> dict[str, bytes]:
    """Return the drawings of the figures of a report in a folder, by their ids."""
    return {
        item.id: (folder / "charts" / f"{item.id}.svg").read_bytes() for item in document.figures if item.has_samples
    }


def _list_blocks(document: Document, *, has_files: bool) -> Blocks:
    yield from _list_front(document)
    has_manifest = PARAMETERS not in document.placed
    if not document.answers and has_manifest:
        yield from _list_manifest(document)
    for part in list_observations(document):
        yield from _list_part(document, link_quotes(part, index_dictionary(document)), has_files)
    for part in document.parts:
        yield from _list_content(document, part) if part.content else _list_part(document, part, has_files)
    if DICTIONARY not in document.placed:
        yield from _list_dictionary(document)
    if document.answers and has_manifest:
        yield from _list_manifest(document)
    yield from _list_back(document)


def _list_content(document: Document, part: Part) -> Blocks:
    """Yield what a part is the place of."""
    lists = {PARAMETERS: _list_manifest, DICTIONARY: _list_dictionary, DATA_QUALITY: _list_appendices}
    yield from lists[part.content](document)


def list_observations(document: Document) -> tuple[Part, ...]:
    """Return the part with observations, if there is one."""
    return (document.observations,) if document.observations else ()


def _list_manifest(document: Document) -> Blocks:
    if document.manifest.rows:
        yield _format_heading(2, document.manifest.title, "manifest")
        yield _format_plain_table(document.manifest)


def _format_heading(level: int, title: str, anchor: str = "") -> str:
    return f"{'#' * level} {_format_anchor(anchor) if anchor else ''}{escape_line(title)}"


def _format_anchor(name: str) -> str:
    return f'<a id="{escape(name)}"></a>'


def _format_link(text: str, anchor: str) -> str:
    """Return a link to an anchor of this page; `text` is Markdown."""
    return f"[{text}](#{quote(anchor)})"


def _list_front(document: Document) -> Blocks:
    yield f"# {escape_line(document.title)}"
    if document.subtitle:
        yield f"*{escape_line(document.subtitle)}*"
    if stated := [part for part in (document.author, document.date) if part]:
        yield escape_line(" · ".join(stated))
    for number, answer in enumerate(document.answers, start=1):
        yield from _list_answer(document, answer, number)
    yield from map(format_line, document.intro)
    if count := len(document.warnings):
        warnings = "One warning" if count == 1 else f"{count} warnings"
        yield f"**{warnings}** to read before the numbers: see {_format_link('Warnings', 'warnings')}."
    yield "## Contents"
    yield "".join(f"- {_format_link(escape_cell(title), anchor)}\n" for title, anchor in list_contents(document))


def list_contents(document: Document) -> list[tuple[str, str]]:
    """Return title and anchor of each part of the report, in order."""
    manifest = [(document.manifest.title, "manifest")] if document.manifest.rows else []
    dictionary = [("Data dictionary", "dictionary")] if document.dictionary else []
    appendices = [(item.title, f"appendix-{number}") for number, item in enumerate(document.appendices, start=1)]
    contents = {PARAMETERS: manifest, DICTIONARY: dictionary, DATA_QUALITY: appendices}
    manifest, dictionary, appendices = ([] if name in document.placed else items for name, items in contents.items())
    parts = [(document.name_answer(item), f"answer-{number}") for number, item in enumerate(document.answers, start=1)]
    parts += [] if document.answers else manifest
    parts += [(item.title, f"section-{item.id}") for item in list_observations(document)]
    for item in document.parts:
        heading = [] if item.continues else [(item.title, f"section-{item.id}")]
        parts += contents[item.content] if item.content else heading
    parts += dictionary
    parts += manifest if document.answers else []
    parts += [(document.filters.title, "filters")] if document.filters.rows else []
    parts += [("Warnings", "warnings")] if document.warnings else []
    parts += appendices
    return parts + ([("Provenance", "provenance")] if document.provenance else [])


def _format_plain_table(source: Table | Appendix, right: Container[int] | None = None) -> str:
    """Return a table; cells that are marked as strong or bad are bold, columns in `right` aligned right."""
    if isinstance(source, Table) and source.shortlist:
        return _format_plain_table(select_rows(source, source.shortlist))
    marks = source.marks if isinstance(source, Table) else ()
    bold = {(mark.row, mark.column) for mark in marks if not mark.kind.startswith("shaded")}
    rows = [
        [
            f"**{escape_cell(text)}**" if (y, x) in bold and text.strip() else escape_cell(text)
            for x, text in enumerate(row)
        ]
        for y, row in enumerate(source.rows)
    ]
    if right is None:
        right = set(list_number_columns(source, with_intervals=True)) - {0}
    return format_table([escape_cell(text) for text in source.header], rows, right)


# The first page of a comparison


def _list_answer(document: Document, answer: Answer, number: int) -> Blocks:
    entries = index_dictionary(document)
    yield _format_heading(2, answer.headline, f"answer-{number}")
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
    return _format_link(label, _name_row(segment.section, segment.metric)) if segment.section else label


def _name_row(section: str, metric: str) -> str:
    """Return the anchor of the row of a metric in a section."""
    return f"row-{section}-{name_file(metric)}"


def _link_metric(label: str, metric: str, entries: Mapping[str, Entry]) -> str:
    return _format_link(escape_cell(label), f"metric-{metric}") if metric in entries else escape_cell(label)


def _format_verdict(item: JudgedRow | KeyChange) -> str:
    """Return a verdict after its arrow, bold if the metric changed."""
    text = format_verdict(item.arrow, item.verdict, item.is_by_itself)
    return f"**{text}**" if item.arrow else text


# Tables of metrics


def index_dictionary(document: Document) -> dict[str, Entry]:
    """Return the entries of the dictionary by id."""
    return {entry.id: entry for group in document.dictionary for entry in group.entries}


def index_figures(document: Document) -> dict[str, Chart | Plot]:
    """Return the figures by id, and by its metric the first chart by dimensions of one that has no other chart."""
    split_charts = {item.shows[0]: item for item in reversed(document.distributions) if item.shows}
    return {**split_charts, **{item.id: item for item in document.figures}}


def find_table(document: Document, figure: Chart | Plot) -> str:
    """Return the id of the first table with the metric of a figure; empty without one.

    For a chart by dimensions, a table with segments comes first.
    """
    metric = figure.shows[0] if isinstance(figure, Chart) and figure.shows else figure.id
    tables = [table for table in document.metric_tables if metric in table.metrics]
    if metric != figure.id:
        tables.sort(key=lambda table: not any(name and is_segment(name) for name in table.metrics))
    return tables[0].id if tables else ""


def _list_metric_table(document: Document, table: MetricTable) -> Blocks:
    if table.doc:
        yield format_line(table.doc)
    if table == document.metric_tables[0]:
        if len(table.header) > 2:
            yield (
                f"Δ is the difference from {escape_cell(table.header[1])}, Δ% the same as a "
                "percentage of it. A "
                "label leads to its entry in the data dictionary"
                + (", a number under Fig. to the figure of its distribution." if document.distributions else ".")
            )
        yield from (escape_line(text) for text in (document.averages, document.differences, document.noise) if text)
    yield _format_metric_rows(document, table)
    yield from map(format_line, table.notes)
    if table.percentiles:
        yield _format_plain_table(table.percentiles, range(1, len(table.percentiles.header)))


def _format_metric_rows(document: Document, table: MetricTable) -> str:
    entries, figures = index_dictionary(document), index_figures(document)
    has_figures = any(metric in figures for metric in table.metrics)
    linked = list_linked_segments(document.answers)
    rows = []
    for metric, row, marks in zip(table.metrics, table.rows, mark_changes(table), strict=True):
        label, *cells = (
            f"**{escape_cell(text)}**" if mark in EMPHASISED else escape_cell(text)
            for text, mark in zip(row, marks, strict=True)
        )
        entry = get_whole(metric) if metric else ""
        first = _format_link(label, f"metric-{entry}") if entry in entries else label
        if metric and (table.id, metric) in linked:
            first = f"{_format_anchor(_name_row(table.id, metric))}{first}"
        rows.append([first, *cells, *([_format_figure_link(metric, figures)] if has_figures else [])])
    header = [*map(escape_cell, table.header), *(["Fig."] if has_figures else [])]
    verdicts = {x for x, column in enumerate(table.printed, start=1) if column.prints == VERDICT}
    return format_table(header, rows, {*range(1, len(header))} - verdicts)


def _format_figure_link(metric: str | None, figures: Mapping[str, Chart | Plot]) -> str:
    figure = figures.get(metric) if metric else None
    return _format_link(str(figure.figure), f"figure-{figure.id}") if figure else ""


# Figures


def _format_figure(document: Document, figure: Chart | Plot, words: str, has_files: bool) -> Blocks:
    title = f"**Figure {figure.figure}** {escape_cell(figure.caption)}"
    metric = figure.shows[0] if isinstance(figure, Chart) and figure.shows else figure.id
    table = find_table(document, figure)
    places = [_format_link("table", f"section-{table}")] if table else []
    places += [_format_link("definition", f"metric-{metric}")] if metric in index_dictionary(document) else []
    yield f"{_format_anchor(f'figure-{figure.id}')}{title}{' — ' if places else ''}{' · '.join(places)}"
    address = f"(charts/{quote(figure.id)}.svg)" if has_files else f"[figure-{figure.figure}]"
    yield f"![{escape_cell(words)}]{address}" if figure.has_samples else _describe_lack(figure)


def _describe_lack(figure: Chart | Plot) -> str:
    """Return what replaces a figure without a drawing."""
    return format_line((figure.remark if isinstance(figure, Chart) else "") or "No samples.")


def _list_part(document: Document, part: Part, has_files: bool) -> Blocks:
    if not part.continues:
        yield _format_heading(2, part.title, f"section-{part.id}")
    yield from format_text_blocks(part.formatted, escape_cell, escape_line)
    yield from map(format_line, part.text[len(list_leaves(part.formatted)) :])
    figures = [*part.wide, *(figure for figure in part.plots if figure)]
    for figure in figures:
        words = describe_chart(figure) if isinstance(figure, Chart) else figure.description
        yield from _format_figure(document, figure, words, has_files)
    for table in part.tables:
        if isinstance(table, MetricTable):
            if table.title != part.title:
                yield _format_heading(3, table.title, f"section-{table.id}")
            yield from _list_metric_table(document, table)
        else:
            if table.title:
                yield _format_heading(3, table.title)
            yield _format_plain_table(table)


# Dictionary and appendices


def _list_dictionary(document: Document) -> Blocks:
    if not document.dictionary:
        return
    entries, figures = index_dictionary(document), index_figures(document)
    has_figures = any(name in figures for name in entries)
    yield _format_heading(2, "Data dictionary", "dictionary")
    if any(entry.definition for entry in entries.values()):
        yield HASHES
    for group in document.dictionary:
        yield _format_heading(3, group.title)
        yield _format_group(group, figures, has_figures=has_figures)


def _format_group(group: Group, figures: Mapping[str, Chart | Plot], *, has_figures: bool) -> str:
    """Return a table of a group of the dictionary.

    Ids and definitions have a column if any entry has one, figures if `has_figures` is set.
    """
    has_ids = any(entry.id != entry.name for entry in group.entries)
    has_definitions = any(entry.definition for entry in group.entries)
    header = [
        "Metric",
        *["Id"] * has_ids,
        "Description",
        "Unit",
        *["Fig."] * has_figures,
        *["Definition"] * has_definitions,
    ]
    rows: list[Sequence[str]] = [
        [
            _format_anchor(f"metric-{entry.id}") + escape_cell(entry.name),
            *[escape_cell(entry.id)] * has_ids,
            format_cell(entry.description),
            escape_cell(entry.unit),
            *[_format_figure_link(entry.id, figures)] * has_figures,
            *[escape_cell(entry.definition[:DIGITS])] * has_definitions,
        ]
        for entry in group.entries
    ]
    return format_table(header, rows, {x for x, title in enumerate(header) if title == "Fig."})


def _list_back(document: Document) -> Blocks:
    if document.filters.rows:
        yield _format_heading(2, document.filters.title, "filters")
        yield _format_plain_table(document.filters)
    if document.warnings:
        yield _format_heading(2, "Warnings", "warnings")
        yield "".join(f"- {format_line(text)}\n" for text in document.warnings)
    if DATA_QUALITY not in document.placed:
        yield from _list_appendices(document)
    if document.provenance:
        yield _format_heading(2, "Provenance", "provenance")
        yield format_table(["What", "Value"], [list(map(escape_cell, row)) for row in document.provenance], ())
    for part in document.claims:
        yield _format_heading(3, part.title)
        yield from map(format_line, part.text)
        yield _format_plain_table(part)


def _list_appendices(document: Document) -> Blocks:
    for number, part in enumerate(document.appendices, start=1):
        yield _format_heading(2, part.title, f"appendix-{number}")
        yield from map(format_line, part.text)
        if part.rows:
            yield _format_plain_table(part)
        if part.notes:
            yield "".join(f"- {format_line(text)}\n" for text in part.notes)
