"""Escape characters that a terminal would interpret or not show; measure and truncate text."""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Any

from assay.util.json_text import dump_indented

#: Unicode categories to escape: controls, formats (direction marks), surrogates, unassigned, private, line ends
HIDDEN = frozenset(("Cc", "Cf", "Cs", "Cn", "Co", "Zl", "Zp"))
LONGEST = 200  # maximal number of printed characters of a text of a run
_PLAIN = re.compile(r"[ -~]*")
_OTHER = re.compile(r"[^\n -~]")


def escape_text(text: str) -> str:
    """Return a text with characters to escape as `\\x1b`, `\\u202e` or `\\U000e0001`."""
    if _PLAIN.fullmatch(text):
        return text
    return "".join(escape_character(character) for character in text)


def escape_lines(text: str) -> str:
    """Escape a text of several lines; line feeds and tabs stay."""
    return "\n".join("\t".join(map(escape_text, line.split("\t"))) for line in text.split("\n"))


def normalize_text(text: str) -> str:
    """Escape a text of a report; line ends of all kinds become line feeds, and tabs stay."""
    return text if _PLAIN.fullmatch(text) else escape_lines(re.sub(r"\r\n?", "\n", text))


def reduce_name(name: str) -> str:
    """Return a name as it looks: single blanks of one kind, and no characters that nobody sees."""
    spaced = "".join(" " if character.isspace() else character for character in unicodedata.normalize("NFC", name))
    return " ".join("".join(item for item in spaced if unicodedata.category(item) not in HIDDEN).split())


def escape_character(character: str) -> str:
    """Return a character, escaped if its category is hidden."""
    return escape(character) if unicodedata.category(character) in HIDDEN else character


def escape(character: str) -> str:
    r"""Return the escape of a character: `\x1b`, `\u202e`, `\U000e0001`."""
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def dump_escaped_json(value: Any, indent: int | None = 1) -> str:
    """Return data as JSON text with escaped characters; without an `indent` on one line.

    A value that JSON has no form for becomes its text.
    """
    if indent == 1:
        return escape_json(dump_indented(value, default=str))
    return escape_json(json.dumps(value, ensure_ascii=False, indent=indent, default=str))


def escape_json(text: str) -> str:
    """Escape characters in JSON text, as JSON escapes."""
    return _OTHER.sub(_escape_match, text)


def _escape_match(match: re.Match[str]) -> str:
    character = match.group()
    if unicodedata.category(character) not in HIDDEN:
        return character
    return json.dumps(character)[1:-1]


def quote_code(text: str) -> str:
    """Return a text as code of Markdown, between more backticks than any run in it has."""
    fence = "`" * (find_longest_run(text) + 1)
    is_padded = text.startswith("`") or text.endswith("`") or (text != text.strip(" ") and text.strip(" "))
    return f"{fence} {text} {fence}" if is_padded else f"{fence}{text}{fence}"


def find_longest_run(text: str) -> int:
    """Return the length of the longest run of backticks."""
    return max(map(len, re.findall("`+", text)), default=0)


def truncate(text: str, width: int) -> str:
    """Truncate an escaped text to a number of columns, with an ellipsis."""
    if measure_width(text) <= width:
        return text
    characters, used_width = [], 0
    for character in text:
        used_width += measure_width(character)
        if used_width > width - 1:
            break
        characters.append(character)
    return "".join(characters) + "…"


def shorten_middle(text: str, count: int) -> str:
    """Keep `count` characters of a longer text: half from its start, half from its end."""
    return text if len(text) <= count else f"{text[: count - count // 2]}…{text[len(text) - count // 2 :]}"


def shorten(text: str) -> str:
    """Return a text of a run as pages print it: at most `LONGEST` characters, then the length."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(text)} characters)"


def measure_width(text: str) -> int:
    """Return the number of terminal columns of an escaped text; wide characters take two."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(item) else 2 if unicodedata.east_asian_width(item) in "WF" else 1 for item in text
    )


def is_encodable(text: str, encoding: str) -> bool:
    """Return whether an encoding can write a text."""
    try:
        text.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


#: sign in Assay's own texts -> ASCII replacement
PLAIN = {"…": "...", "≥": ">=", "≤": "<=", "×": "x", "−": "-", "≠": "!=", "·": "-", "→": "->", "÷": "div", "Δ": "d",
         "±": "+-", "µ": "u",
         "“": '"', "”": '"', "—": "-", "│": "|", "├": "+", "└": "+", "─": "-"}  # fmt: skip


def encode_lossless(text: str, encoding: str) -> str:
    """Return a text that an encoding can write: Assay's signs in ASCII, other characters escaped."""
    if is_encodable(text, encoding):
        return text
    signs = "".join(PLAIN.get(item, item) for item in text)
    return signs.encode(encoding, errors="backslashreplace").decode(encoding)
