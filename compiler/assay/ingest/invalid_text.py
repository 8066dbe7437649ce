"""What no text holds: bytes that are no UTF-8, NUL bytes, and marks of the byte order where no file begins.

Two values may differ by nothing else.  So a record that has such a thing in what is read of it is broken.
"""

from __future__ import annotations

import codecs

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
