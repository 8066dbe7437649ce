"""Event tables out of ingested records: a folder of Parquet files an event, with the rows of all hosts."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from assay.lang.reserved_names import KEYS
from assay.sql import dialect
from assay.sql.dialect import column


def event_table(source: exp.Expr, fields: Iterable[str], keys: Iterable[str] = KEYS) -> exp.Select:
    """The rows of an event that lack no required field: its keys and the fields, of a scan of its files."""
    return dialect.select(*keys, *sorted(fields)).from_(source).where(column("whole"))


def scan(pattern: str) -> exp.Expr:
    """A scan of Parquet files."""
    return exp.ReadParquet(expressions=[exp.Literal.string(pattern)])


def parquet(pattern: str) -> exp.Select:
    """All rows of Parquet files."""
    return dialect.select("*").from_(scan(pattern))


def empty_table(name: str, columns: Iterable[tuple[str, str]]) -> str:
    """The statement that makes an empty table of (column, type of the spec language)."""
    defined = [
        exp.ColumnDef(
            this=exp.to_identifier(item),
            kind=exp.DataType.build(dialect.TYPES[kind], dialect=dialect.DIALECT),
        )
        for item, kind in columns
    ]
    schema = exp.Schema(this=exp.to_table(name), expressions=defined)
    return exp.Create(this=schema, kind="TABLE").sql(dialect=dialect.DIALECT)
