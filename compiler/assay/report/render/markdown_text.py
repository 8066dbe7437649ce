"""Texts as Markdown (CommonMark with the tables of GitHub) that is read back as just these texts."""

from __future__ import annotations

import re
from collections.abc import Sequence

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
