"""What no text holds (`strange`), as conditions of statements."""

from __future__ import annotations

from sqlglot import exp

from assay.ingest import builder
from assay.ingest.invalid_text import BOM, NUL, SUBSTITUTE
from assay.sql import dialect


def in_text(value: exp.Expr, mended: bool) -> exp.Expr:
    """Whether a text of the engine has such a thing; null when it is null.  What the engine reads out of a file itself,
    and not out of a mended copy, is UTF-8."""
    items = (NUL, BOM, SUBSTITUTE) if mended else (NUL, BOM)
    return exp.or_(*(builder.call("contains", value.copy(), _literal(item)) for item in items))


def in_line(value: exp.Expr) -> exp.Expr:
    """The same of a line."""
    within = (builder.call("contains", value.copy(), _literal(item)) for item in (SUBSTITUTE, NUL))
    return exp.or_(*within, ahead(value, BOM))


def sign() -> exp.Expr:
    """`SUBSTITUTE` in a statement."""
    return _literal(SUBSTITUTE)


def ahead(value: exp.Expr, *items: str) -> exp.Expr:
    """Whether one of some characters is the first of a text."""
    return exp.or_(*(builder.call("starts_with", value.copy(), _literal(item)) for item in items))


def _literal(item: str) -> exp.Expr:
    """A text whose characters nobody would see in a statement."""
    codes = [builder.call("chr", dialect.integer(ord(character))) for character in item]
    return codes[0] if len(codes) == 1 else builder.call("concat", *codes)
