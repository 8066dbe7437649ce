"""Render a report as Markdown, with charts as pictures."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Container, Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

from assay.lang.segments import get_whole, is_segment
from assay.report.cell_links import VERDICT
from assay.report.charts.vega_spec import describe_chart
from assay.report.document import (
    DATA_QUALITY,
    DICTIONARY,
    FIRST_PAGE,
    PARAMETERS,
    Chart,
    Document,
    Group,
    Part,
    Plot,
)
from assay.report.first_page.answer import list_linked_segments
from assay.report.formatted_text import list_leaves
from assay.report.judged_cells import mark_changes
from assay.report.render.markdown_answer import list_answers
from assay.report.render.markdown_syntax import (
    escape_cell,
    escape_line,
    format_anchor,
    format_cell,
    format_heading,
    format_line,
    format_link,
    format_table,
    name_row,
)
from assay.report.render.markdown_text import format_text_blocks, link_quotes
from assay.report.tables import Appendix, MetricTable, Table, list_number_columns, select_rows
from assay.util.bidi import isolate_words

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
    if not document.leading_answers and has_manifest:
        yield from _list_manifest(document)
    for part in list_observations(document):
        yield from _list_part(document, link_quotes(part, document.dictionary_entries), has_files)
    for part in document.parts:
        yield from _list_content(document, part) if part.content else _list_part(document, part, has_files)
    if DICTIONARY not in document.placed:
        yield from _list_dictionary(document)
    if document.leading_answers and has_manifest:
        yield from _list_manifest(document)
    yield from _list_back(document)


def _list_content(document: Document, part: Part) -> Blocks:
    """Yield what a part is the place of."""
    lists = {
        FIRST_PAGE: list_answers,
        PARAMETERS: _list_manifest,
        DICTIONARY: _list_dictionary,
        DATA_QUALITY: _list_appendices,
    }
    yield from lists[part.content](document)


def list_observations(document: Document) -> tuple[Part, ...]:
    """Return the part with observations, if there is one."""
    return (document.observations,) if document.observations else ()


def _list_manifest(document: Document) -> Blocks:
    if document.manifest.rows:
        yield format_heading(2, document.manifest.title, "manifest")
        yield _format_plain_table(document.manifest)


def _list_front(document: Document) -> Blocks:
    yield f"# {escape_line(document.title)}"
    if document.subtitle:
        yield f"*{escape_line(document.subtitle)}*"
    if stated := [part for part in (document.author, document.date) if part]:
        yield escape_line(" · ".join(stated))
    if document.leading_answers:
        yield from list_answers(document)
    yield from map(format_line, document.intro)
    if count := len(document.warnings):
        warnings = "One warning" if count == 1 else f"{count} warnings"
        yield f"**{warnings}** to read before the numbers: see {format_link('Warnings', 'warnings')}."
    yield "## Contents"
    yield "".join(f"- {format_link(escape_cell(title), anchor)}\n" for title, anchor in list_contents(document))


def list_contents(document: Document) -> list[tuple[str, str]]:
    """Return title and anchor of each part of the report, in order."""
    manifest = [(document.manifest.title, "manifest")] if document.manifest.rows else []
    dictionary = [("Data dictionary", "dictionary")] if document.dictionary else []
    appendices = [(item.title, f"appendix-{number}") for number, item in enumerate(document.appendices, start=1)]
    answers = [
        (document.name_answer(item), f"answer-{number}") for number, item in enumerate(document.answers, start=1)
    ]
    contents = {FIRST_PAGE: answers, PARAMETERS: manifest, DICTIONARY: dictionary, DATA_QUALITY: appendices}
    parts, manifest, dictionary, appendices = (
        [] if name in document.placed else list(items) for name, items in contents.items()
    )
    parts += [] if document.leading_answers else manifest
    parts += [(item.title, f"section-{item.id}") for item in list_observations(document)]
    for item in document.parts:
        heading = [] if item.continues else [(item.title, f"section-{item.id}")]
        parts += contents[item.content] if item.content else heading
    parts += dictionary
    parts += manifest if document.leading_answers else []
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


# Tables of metrics


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
    entries, figures = document.dictionary_entries, index_figures(document)
    has_figures = any(metric in figures for metric in table.metrics)
    linked = list_linked_segments(document.answers)
    rows = []
    for metric, row, marks in zip(table.metrics, table.rows, mark_changes(table), strict=True):
        label, *cells = (
            f"**{escape_cell(text)}**" if mark in EMPHASISED else escape_cell(text)
            for text, mark in zip(row, marks, strict=True)
        )
        entry = get_whole(metric) if metric else ""
        first = format_link(label, f"metric-{entry}") if entry in entries else label
        if metric and (table.id, metric) in linked:
            first = f"{format_anchor(name_row(table.id, metric))}{first}"
        rows.append([first, *cells, *([_format_figure_link(metric, figures)] if has_figures else [])])
    header = [*map(escape_cell, table.header), *(["Fig."] if has_figures else [])]
    verdicts = {x for x, column in enumerate(table.printed, start=1) if column.prints == VERDICT}
    return format_table(header, rows, {*range(1, len(header))} - verdicts)


def _format_figure_link(metric: str | None, figures: Mapping[str, Chart | Plot]) -> str:
    figure = figures.get(metric) if metric else None
    return format_link(str(figure.figure), f"figure-{figure.id}") if figure else ""


# Figures


def _format_figure(document: Document, figure: Chart | Plot, words: str, has_files: bool) -> Blocks:
    title = f"**Figure {figure.figure}** {escape_cell(figure.caption)}"
    metric = figure.shows[0] if isinstance(figure, Chart) and figure.shows else figure.id
    table = find_table(document, figure)
    places = [format_link("table", f"section-{table}")] if table else []
    places += [format_link("definition", f"metric-{metric}")] if metric in document.dictionary_entries else []
    yield f"{format_anchor(f'figure-{figure.id}')}{title}{' — ' if places else ''}{' · '.join(places)}"
    address = f"(charts/{quote(figure.id)}.svg)" if has_files else f"[figure-{figure.figure}]"
    yield f"![{escape_cell(words)}]{address}" if figure.has_samples else _describe_lack(figure)


def _describe_lack(figure: Chart | Plot) -> str:
    """Return what replaces a figure without a drawing."""
    return format_line((figure.remark if isinstance(figure, Chart) else "") or "No samples.")


def _list_part(document: Document, part: Part, has_files: bool) -> Blocks:
    if not part.continues:
        yield format_heading(2, part.title, f"section-{part.id}")
    yield from format_text_blocks(part.formatted, escape_cell, escape_line)
    yield from map(format_line, part.text[len(list_leaves(part.formatted)) :])
    figures = [*part.wide, *(figure for figure in part.plots if figure)]
    for figure in figures:
        words = describe_chart(figure) if isinstance(figure, Chart) else figure.description
        yield from _format_figure(document, figure, words, has_files)
    for table in part.tables:
        if isinstance(table, MetricTable):
            if table.title != part.title:
                yield format_heading(3, table.title, f"section-{table.id}")
            yield from _list_metric_table(document, table)
        else:
            if table.title:
                yield format_heading(3, table.title)
            yield _format_plain_table(table)


# Dictionary and appendices


def _list_dictionary(document: Document) -> Blocks:
    if not document.dictionary:
        return
    entries, figures = document.dictionary_entries, index_figures(document)
    has_figures = any(name in figures for name in entries)
    yield format_heading(2, "Data dictionary", "dictionary")
    if any(entry.definition for entry in entries.values()):
        yield HASHES
    for group in document.dictionary:
        yield format_heading(3, group.title)
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
            format_anchor(f"metric-{entry.id}") + escape_cell(entry.name),
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
        yield format_heading(2, document.filters.title, "filters")
        yield _format_plain_table(document.filters)
    if document.warnings:
        yield format_heading(2, "Warnings", "warnings")
        yield "".join(f"- {format_line(text)}\n" for text in document.warnings)
    if DATA_QUALITY not in document.placed:
        yield from _list_appendices(document)
    if document.provenance:
        yield format_heading(2, "Provenance", "provenance")
        yield format_table(["What", "Value"], [list(map(escape_cell, row)) for row in document.provenance], ())
    for part in document.claims:
        yield format_heading(3, part.title)
        yield from map(format_line, part.text)
        yield _format_plain_table(part)


def _list_appendices(document: Document) -> Blocks:
    for number, part in enumerate(document.appendices, start=1):
        yield format_heading(2, part.title, f"appendix-{number}")
        yield from map(format_line, part.text)
        if part.rows:
            yield _format_plain_table(part)
        if part.notes:
            yield "".join(f"- {format_line(text)}\n" for text in part.notes)
