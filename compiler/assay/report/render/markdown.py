"""Render a report as Markdown, with charts as pictures."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from urllib.parse import quote

from assay.report.charts.vega_spec import description
from assay.report.document import Appendix, Chart, Document, Entry, Gallery, Group, Plot, Section, Table
from assay.util.escape import normalize_text

#: what has a meaning wherever it stands; `$` begins a formula on GitHub
_ANYWHERE = re.compile(r"[\\`*\[\]<|~$]")
#: an underscore between letters or digits is no emphasis
_UNDERSCORE = re.compile(r"(?<![^\W_])_|_(?![^\W_])")
#: what would be read as a character reference
_REFERENCE = re.compile(r"&(?=[#A-Za-z])")
#: what GitHub would make a link of, with what follows
_LINK = re.compile(r"(?<=\w)(?=://)|(?<=\bwww)(?=\.)", re.I)
#: what begins a block at the start of a line (a heading may also end with #)
_BLOCK = re.compile(r"^(?=[-+=>])|^(\d+)(?=[.)](?:\s|$))|(?:^|(?<=\s))(?=#)")
_NUMBER = re.compile(r"[-−+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?( \*)?")
_NO_VALUE = ("", "-", "—", "–", "---", "nan", "NaN", "unknown")


def cell(text: str) -> str:
    """A text as the content of a cell of a table; a line feed becomes `<br>`."""
    escaped = _ANYWHERE.sub(r"\\\g<0>", normalize_text(text))
    escaped = _LINK.sub(r"\\", _REFERENCE.sub(r"\\&", _UNDERSCORE.sub(r"\\_", escaped)))
    return "<br>".join(_kept_blanks(line) for line in escaped.split("\n"))


def line(text: str) -> str:
    """A text as a heading, an item or a paragraph of one line."""
    return _BLOCK.sub(lambda found: f"{found[1] or ''}\\", cell(text))


def _kept_blanks(text: str) -> str:
    """White space at either end, which would be taken away, as character references."""
    body = text.strip()
    if not body:
        return "".join(map(_reference, text))
    at = text.index(body)
    return "".join(map(_reference, text[:at])) + body + "".join(map(_reference, text[at + len(body) :]))


def _reference(character: str) -> str:
    return f"&#{ord(character)};"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of finished Markdown cells under a header; a column whose cells are numbers stands flush right."""
    rules = ["--:" if x and _is_numeric([row[x] for row in rows]) else "---" for x in range(len(header))]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (header, rules, *rows))


def _is_numeric(cells: Sequence[str]) -> bool:
    """Whether all cells are numbers (links to numbers, too) or stand for a missing one."""
    plain = [re.sub(r"^\[(.*)\]\(#.*\)$|^\*\*(.*)\*\*$", r"\1\2", text).replace("\\", "") for text in cells]
    numbers = [bool(_NUMBER.fullmatch(text)) for text in plain]
    return any(numbers) and all(found or text in _NO_VALUE for found, text in zip(numbers, plain, strict=True))


DISTRIBUTIONS = (
    "Cumulative distributions. A line stands at height *c* where a share *c* of the samples is at most *x*; it steps "
    "at the listed centiles, which are samples, not interpolations. Where each host has a distribution of its own, the "
    "line is at the median of theirs, and a shaded band spans the least and the greatest. An arrow at the end of an "
    "axis says that the axis is cut there and samples lie beyond."
)
HASHES = (
    "The column Definition holds the first ten digits of the hash of each definition. Two reports measure the same "
    "when these agree."
)
DIGITS = 10

Blocks = Iterator[str]
"""Paragraphs, headings, tables: each without a blank line, and without a line feed at its end."""


def markdown(document: Document) -> str:
    """The whole report as the text of a Markdown file."""
    return "\n\n".join(block.strip("\n") for block in _blocks(document)) + "\n"


def _blocks(document: Document) -> Blocks:
    yield from _front(document)
    if document.manifest.rows:
        yield _heading(2, document.manifest.title, "manifest")
        yield _plain_table(document.manifest)
    yield from _sections(document)
    yield from _charts(document)
    for gallery in document.galleries:
        yield from _gallery(document, gallery)
    yield from _dictionary(document)
    yield from _back(document)


def _heading(level: int, title: str, anchor: str = "") -> str:
    return f"{'#' * level} {_anchor(anchor) if anchor else ''}{line(title)}"


def _anchor(name: str) -> str:
    return f'<a id="{escape(name)}"></a>'


def _link(text: str, anchor: str) -> str:
    """A link to an anchor of this page; `text` is Markdown."""
    return f"[{text}](#{quote(anchor)})"


def _front(document: Document) -> Blocks:
    yield f"# {line(document.title)}"
    if document.subtitle:
        yield f"*{line(document.subtitle)}*"
    yield line(" · ".join(part for part in (document.author, document.date) if part))
    yield from map(line, document.intro)
    if count := len(document.warnings):
        what = "One warning" if count == 1 else f"{count} warnings"
        yield f"**{what}** to read before the numbers: see {_link('Warnings', 'warnings')}."
    yield "## Contents"
    yield "".join(f"- {_link(cell(title), anchor)}\n" for title, anchor in contents(document))


def contents(document: Document) -> list[tuple[str, str]]:
    """Title and anchor of each part of the report, in order."""
    parts = [(document.manifest.title, "manifest")] if document.manifest.rows else []
    parts += [(item.title, f"section-{item.id}") for item in document.sections]
    parts += [("Distributions", "distributions")] if document.charts else []
    parts += [(item.title, f"section-{item.id}") for item in document.galleries]
    parts += [("Data dictionary", "dictionary")] if document.dictionary else []
    parts += [(document.filters.title, "filters")] if document.filters.rows else []
    parts += [("Warnings", "warnings")] if document.warnings else []
    parts += [(item.title, f"appendix-{number}") for number, item in enumerate(document.appendices, start=1)]
    return parts + ([("Provenance", "provenance")] if document.provenance else [])


def _plain_table(found: Table | Appendix) -> str:
    """A table; cells that are set apart as strong or bad are bold."""
    marks = found.marks if isinstance(found, Table) else ()
    bold = {(mark.row, mark.column) for mark in marks if mark.kind != "shaded"}
    rows = [
        [f"**{cell(text)}**" if (y, x) in bold and text.strip() else cell(text) for x, text in enumerate(row)]
        for y, row in enumerate(found.rows)
    ]
    return table([cell(text) for text in found.header], rows)


# Tables of metrics


def explained(document: Document) -> dict[str, Entry]:
    """The entries of the dictionary by their ids."""
    return {entry.id: entry for group in document.dictionary for entry in group.entries}


def figures(document: Document) -> dict[str, int]:
    """The numbers of the figures by their ids."""
    return {item.id: item.figure for item in document.figures}


def _sections(document: Document) -> Blocks:
    for index, section in enumerate(document.sections):
        yield _heading(2, section.title, f"section-{section.id}")
        if section.doc:
            yield line(section.doc)
        if index == 0 and len(document.manifest.header) > 2:
            yield (
                f"Δ is the difference from {cell(document.manifest.header[1])}, Δ% the same as a percentage of it. A "
                "label leads to its entry in the data dictionary"
                + (", a number under Fig. to the figure of its distribution." if document.charts else ".")
            )
        if index == 0:
            yield from (line(text) for text in (document.averages, document.differences) if text)
        yield _metric_table(document, section)


def _metric_table(document: Document, section: Section) -> str:
    known, numbers = explained(document), figures(document)
    drawn = any(metric in numbers for metric in section.metrics)
    rows = []
    for metric, (label, *cells) in zip(section.metrics, section.rows, strict=True):
        first = _link(cell(label), f"metric-{metric}") if metric in known else cell(label)
        rows.append([first, *map(cell, cells), *([_figure_link(metric, numbers)] if drawn else [])])
    return table([*map(cell, section.header), *(["Fig."] if drawn else [])], rows)


def _figure_link(metric: str | None, numbers: Mapping[str, int]) -> str:
    return _link(str(numbers[metric]), f"figure-{metric}") if metric and metric in numbers else ""


# Figures


def _charts(document: Document) -> Blocks:
    if document.charts:
        yield _heading(2, "Distributions", "distributions")
        yield DISTRIBUTIONS
        for chart in document.charts:
            yield from _figure(document, chart, description(chart))


def _figure(document: Document, figure: Chart | Plot, words: str) -> Blocks:
    title = f"**Figure {figure.figure}** {cell(figure.caption)}"
    tables = [section.id for section in document.sections if figure.id in section.metrics]
    places = [_link("table", f"section-{name}") for name in tables[:1]]
    places += [_link("definition", f"metric-{figure.id}")] if figure.id in explained(document) else []
    yield f"{_anchor(f'figure-{figure.id}')}{title}{' — ' if places else ''}{' · '.join(places)}"
    yield f"![{cell(words)}](charts/{quote(figure.id)}.svg)" if figure.has_samples else "No samples."


def _gallery(document: Document, gallery: Gallery) -> Blocks:
    yield _heading(2, gallery.title, f"section-{gallery.id}")
    yield from map(line, gallery.text)
    for plot in (*filter(None, gallery.plots), *gallery.wide):
        yield from _figure(document, plot, plot.description)
    for found in gallery.tables:
        if found.title:
            yield _heading(3, found.title)
        yield _plain_table(found)


# What stands behind the numbers


def _dictionary(document: Document) -> Blocks:
    if not document.dictionary:
        return
    entries, numbers = explained(document), figures(document)
    drawn = any(name in numbers for name in entries)
    yield _heading(2, "Data dictionary", "dictionary")
    if any(entry.definition for entry in entries.values()):
        yield HASHES
    for group in document.dictionary:
        yield _heading(3, group.title)
        yield _group(group, numbers, drawn=drawn)


def _group(group: Group, numbers: Mapping[str, int], *, drawn: bool) -> str:
    """A table of a group of the dictionary; ids and definitions have a column where they say anything, figures where
    they are `drawn`."""
    named = any(entry.id != entry.name for entry in group.entries)
    defined = any(entry.definition for entry in group.entries)
    header = ["Metric", *["Id"] * named, "Description", "Unit", *["Fig."] * drawn, *["Definition"] * defined]
    rows: list[Sequence[str]] = [
        [
            _anchor(f"metric-{entry.id}") + cell(entry.name),
            *[cell(entry.id)] * named,
            *map(cell, (entry.description, entry.unit)),
            *[_figure_link(entry.id, numbers)] * drawn,
            *[cell(entry.definition[:DIGITS])] * defined,
        ]
        for entry in group.entries
    ]
    return table(header, rows)


def _back(document: Document) -> Blocks:
    if document.filters.rows:
        yield _heading(2, document.filters.title, "filters")
        yield _plain_table(document.filters)
    if document.warnings:
        yield _heading(2, "Warnings", "warnings")
        yield "".join(f"- {line(text)}\n" for text in document.warnings)
    for number, part in enumerate(document.appendices, start=1):
        yield _heading(2, part.title, f"appendix-{number}")
        yield from map(line, part.text)
        if part.rows:
            yield _plain_table(part)
        if part.notes:
            yield "".join(f"- {line(text)}\n" for text in part.notes)
    if document.provenance:
        yield _heading(2, "Provenance", "provenance")
        yield table(["What", "Value"], [list(map(cell, row)) for row in document.provenance])
    for part in document.claims:
        yield _heading(3, part.title)
        yield from map(line, part.text)
        yield _plain_table(part)
