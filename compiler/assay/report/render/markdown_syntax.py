"""Write the syntax of Markdown: escaped texts, headings, links, tables."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from html import escape
from urllib.parse import quote

from assay.lang.segments import name_file
from assay.report.cells import has_numbers
from assay.report.render.markdown_text import format_coded
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


def format_heading(level: int, title: str, anchor: str = "") -> str:
    """Return a heading; links to its anchor lead to it."""
    return f"{'#' * level} {format_anchor(anchor) if anchor else ''}{escape_line(title)}"


def format_anchor(name: str) -> str:
    """Return what links to an anchor lead to."""
    return f'<a id="{escape(name)}"></a>'


def format_link(text: str, anchor: str) -> str:
    """Return a link to an anchor of this page; `text` is Markdown."""
    return f"[{text}](#{quote(anchor)})"


def name_row(section: str, metric: str) -> str:
    """Return the anchor of the row of a metric in a section."""
    return f"row-{section}-{name_file(metric)}"
