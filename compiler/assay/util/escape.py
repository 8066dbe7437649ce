"""Texts of logs and specs as a terminal can show them: what would act on it, or would not be seen, as an escape."""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Any

from assay.util.json_text import dump_indented

#: categories of characters that control, direct or hide: controls, marks of direction, surrogates, unassigned, own
HIDDEN = frozenset(("Cc", "Cf", "Cs", "Cn", "Co", "Zl", "Zp"))
LONGEST = 200  # characters of a text of a run that are printed: charts and pages take time, and room, for each
_PLAIN = re.compile(r"[ -~]*")
_OTHER = re.compile(r"[^\n -~]")


def visible(text: str) -> str:
    """The text with every such character as `\\x1b`, `\\u202e` or `\\U000e0001`."""
    if _PLAIN.fullmatch(text):
        return text
    return "".join(escape_character(character) for character in text)


def visible_lines(text: str) -> str:
    """The same of a text of several lines; line feeds and tabs stay."""
    return "\n".join("\t".join(map(visible, line.split("\t"))) for line in text.split("\n"))


def normalize_text(text: str) -> str:
    """A text of a report as its pages show it: line ends of all kinds are line feeds, these and tabs stay."""
    return text if _PLAIN.fullmatch(text) else visible_lines(re.sub(r"\r\n?", "\n", text))


def escape_character(character: str) -> str:
    return escape(character) if unicodedata.category(character) in HIDDEN else character


def escape(character: str) -> str:
    r"""What stands for a character: `\x1b`, `\u202e`, `\U000e0001`."""
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def visible_json(value: Any, indent: int | None = 1) -> str:
    """Data as JSON text in which every such character is escaped as JSON does; without an `indent` on one line.

    What JSON has no form for stands as its text.
    """
    if indent == 1:
        return escaped_json(dump_indented(value, default=str))
    return escaped_json(json.dumps(value, ensure_ascii=False, indent=indent, default=str))


def escaped_json(text: str) -> str:
    """JSON text with every such character as JSON escapes it."""
    return _OTHER.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    character = found.group()
    if unicodedata.category(character) not in HIDDEN:
        return character
    return json.dumps(character)[1:-1]


def cut(text: str, width: int) -> str:
    """A visible text cut to so many columns, wide characters counting for two; an ellipsis says that it goes on."""
    if columns(text) <= width:
        return text
    kept, used = [], 0
    for character in text:
        used += columns(character)
        if used > width - 1:
            break
        kept.append(character)
    return "".join(kept) + "…"


def shorten(text: str) -> str:
    """Return a text of a run as pages print it: of a long one its first `LONGEST` characters and how many it has."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(text)} characters)"


def columns(text: str) -> int:
    """How many columns of a terminal a visible text takes."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(item) else 2 if unicodedata.east_asian_width(item) in "WF" else 1 for item in text
    )


def encodable(text: str, encoding: str) -> bool:
    """Whether an encoding can write a text."""
    try:
        text.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


#: what stands for the signs of ours that an encoding cannot write
PLAIN = {"…": "...", "≥": ">=", "≤": "<=", "×": "x", "−": "-", "≠": "!=", "·": "-", "→": "->", "÷": "div", "Δ": "d",
         "“": '"', "”": '"', "—": "-", "│": "|", "├": "+", "└": "+", "─": "-"}  # fmt: skip


def encode_lossless(text: str, encoding: str) -> str:
    """A text as an encoding can write it: our own signs in ASCII, any other character as an escape."""
    if encodable(text, encoding):
        return text
    signs = "".join(PLAIN.get(item, item) for item in text)
    return signs.encode(encoding, errors="backslashreplace").decode(encoding)
