"""Tables that are filled row by row."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from assay.sql import dialect


def empty(table: str, columns: Mapping[str, str]) -> str:
    """The statement that makes an empty table of columns of the engine's types."""
    defined = [
        exp.ColumnDef(this=exp.to_identifier(name), kind=exp.DataType.build(kind, dialect=dialect.DIALECT))
        for name, kind in columns.items()
    ]
    schema = exp.Schema(this=exp.to_table(table), expressions=defined)
    return exp.Create(this=schema, kind="TABLE").sql(dialect=dialect.DIALECT)
