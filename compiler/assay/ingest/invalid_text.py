"""Invalid text: bytes that are not UTF-8, NUL bytes, and byte order marks; in Python and in SQL.

Two values may differ by nothing else.  So a record that has such a thing in what is read of it is broken.
"""

from __future__ import annotations

import codecs

from sqlglot import exp

from assay.ingest import builder
from assay.sql import dialect

#: what separates columns in the scan of lines: a character that no text has, so that a line is one column
NO_CHARACTER = 0x10FFFF
#: what stands for bytes that are no UTF-8: a control character, so that no line becomes JSON by it, and one that no
#: text has, which tells it from a control character that stood there
SUBSTITUTE = "\x1a\U0010fffe"
READABLE = "\ufffd"  # what it is shown as
NUL = "\0"
BOM = "\ufeff"
NOT_UTF8 = "not UTF-8"
REASONS = {SUBSTITUTE: NOT_UTF8, NUL: "a NUL byte", BOM: "a byte order mark"}


def _substituted(error: UnicodeError) -> tuple[str, int]:
    """One for each byte, so that the bytes of a text can be counted."""
    assert isinstance(error, UnicodeDecodeError)
    return SUBSTITUTE * (error.end - error.start), error.end


codecs.register_error("assay-substitute", _substituted)


def readable(text: str) -> str:
    """A text with the usual sign for bytes that are no UTF-8."""
    return text.replace(SUBSTITUTE, READABLE)


def size(text: str) -> int:
    """How many bytes a text has in its file."""
    return len(text.replace(SUBSTITUTE, " ").encode())


def fault(text: str) -> str:
    """What stands in a text that no text holds; empty when nothing does."""
    return next((reason for item, reason in REASONS.items() if item in text), "")


def fault_of_line(text: str) -> str:
    """The same of a line, within which U+FEFF is a character, what once was a blank without width; and which the scan
    would cut at a character that separates columns."""
    found = fault(text[:1] + text[1:].replace(BOM, ""))
    return found or ("the character U+10FFFF" if chr(NO_CHARACTER) in text else "")


def is_invalid_text(value: exp.Expr, mended: bool) -> exp.Expr:
    """Whether a text of the engine has such a thing; null when it is null.  What the engine reads out of a file itself,
    and not out of a mended copy, is UTF-8."""
    items = (NUL, BOM, SUBSTITUTE) if mended else (NUL, BOM)
    return exp.or_(*(builder.call("contains", value.copy(), _literal(item)) for item in items))


def is_invalid_line(value: exp.Expr) -> exp.Expr:
    """The same of a line."""
    within = (builder.call("contains", value.copy(), _literal(item)) for item in (SUBSTITUTE, NUL))
    return exp.or_(*within, starts_with_any(value, BOM))


def invalid_sign() -> exp.Expr:
    """`SUBSTITUTE` in a statement."""
    return _literal(SUBSTITUTE)


def starts_with_any(value: exp.Expr, *items: str) -> exp.Expr:
    """Whether one of some characters is the first of a text."""
    return exp.or_(*(builder.call("starts_with", value.copy(), _literal(item)) for item in items))


def _literal(item: str) -> exp.Expr:
    """A text whose characters nobody would see in a statement."""
    codes = [builder.call("chr", dialect.integer(ord(character))) for character in item]
    return codes[0] if len(codes) == 1 else builder.call("concat", *codes)
