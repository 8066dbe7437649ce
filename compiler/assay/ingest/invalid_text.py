"""Invalid text: bytes that are not UTF-8, NUL bytes, and byte order marks; in Python and in SQL.

A record with invalid text in a required value is malformed, since two values may differ only in such bytes.
"""

from __future__ import annotations

import codecs

from sqlglot import exp

from assay.ingest import sql_trees
from assay.sql import dialect

#: column separator in the scan of lines: a character that does not occur in text, so that a line is one column
NO_CHARACTER = 0x10FFFF
#: replacement of bytes that are not UTF-8: a control character, so that the line is not JSON, and a noncharacter, so
#: that it differs from a control character in the file
SUBSTITUTE = "\x1a\U0010fffe"
READABLE = "\ufffd"  # the replacement in messages
NUL = "\0"
BOM = "\ufeff"
NOT_UTF8 = "not UTF-8"
REASONS = {SUBSTITUTE: NOT_UTF8, NUL: "a NUL byte", BOM: "a byte order mark"}


def _substitute_bytes(error: UnicodeError) -> tuple[str, int]:
    """Replace each byte separately, so that the bytes of a text can be counted."""
    assert isinstance(error, UnicodeDecodeError)
    return SUBSTITUTE * (error.end - error.start), error.end


codecs.register_error("assay-substitute", _substitute_bytes)


def make_readable(text: str) -> str:
    """Replace bytes that are not UTF-8 with the usual replacement character."""
    return text.replace(SUBSTITUTE, READABLE)


def measure_size(text: str) -> int:
    """Return the size of a text in its file in bytes."""
    return len(text.replace(SUBSTITUTE, " ").encode())


def find_fault(text: str) -> str:
    """Return the reason why a text is invalid, empty if it is valid."""
    return next((reason for item, reason in REASONS.items() if item in text), "")


def find_line_fault(text: str) -> str:
    """Return the reason why a line is invalid, empty if it is valid.

    U+FEFF is a byte order mark only at the beginning of a line; within it, it is an ordinary character. A column
    separator would split the line in the scan.
    """
    if text.isprintable() and BOM not in text[:1]:  # fast, and the usual case: none of these characters is printable
        return ""
    reason = find_fault(text[:1] + text[1:].replace(BOM, ""))
    return reason or ("the character U+10FFFF" if chr(NO_CHARACTER) in text else "")


def is_invalid_text(value: exp.Expr, is_repaired: bool) -> exp.Expr:
    """Return the condition that a text is invalid; null for null.

    Only repaired copies have replaced bytes. Text that the engine reads from the file itself is UTF-8.
    """
    items = (NUL, BOM, SUBSTITUTE) if is_repaired else (NUL, BOM)
    return exp.or_(*(sql_trees.call("contains", value.copy(), _build_literal(item)) for item in items))


def is_invalid_line(value: exp.Expr) -> exp.Expr:
    """Return the condition that a line is invalid."""
    conditions = (sql_trees.call("contains", value.copy(), _build_literal(item)) for item in (SUBSTITUTE, NUL))
    return exp.or_(*conditions, build_starts_with_any(value, BOM))


def build_starts_with_any(value: exp.Expr, *items: str) -> exp.Expr:
    """Return the condition that a text starts with one of some characters."""
    return exp.or_(*(sql_trees.call("starts_with", value.copy(), _build_literal(item)) for item in items))


def _build_literal(item: str) -> exp.Expr:
    """Return a text as character codes, since its characters are invisible in a statement."""
    codes = [sql_trees.call("chr", dialect.build_integer(ord(character))) for character in item]
    return codes[0] if len(codes) == 1 else sql_trees.call("concat", *codes)
