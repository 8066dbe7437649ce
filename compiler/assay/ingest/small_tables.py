"""Small tables in memory and as Parquet."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from assay.sql import dialect

if TYPE_CHECKING:
    import duckdb
    from sqlglot import exp


def empty(table: str, columns: Mapping[str, str]) -> str:
    """The statement that makes an empty table of columns of the engine's types."""
    defined = [
        exp.ColumnDef(this=exp.to_identifier(name), kind=exp.DataType.build(kind, dialect=dialect.DIALECT))
        for name, kind in columns.items()
    ]
    schema = exp.Schema(this=exp.to_table(table), expressions=defined)
    return exp.Create(this=schema, kind="TABLE").sql(dialect=dialect.DIALECT)


BATCH = 5000  # rows that are held at a time

Columns = Mapping[str, str]
Row = tuple[Any, ...]


def write(connection: duckdb.DuckDBPyConnection, place: Path, columns: Columns, rows: Sequence[Row]) -> None:
    """Rows of columns of the engine's types."""
    connection.execute(write_statement(columns), _lists(columns, rows) | {"target": str(place)})


def write_statement(columns: Columns) -> str:
    """The statement that writes rows that are its parameters."""
    from assay.sql.dialect import copied_plainly

    return copied_plainly(_rows(columns))


def write_many(
    connection: duckdb.DuckDBPyConnection, place: Path, table: str, columns: Columns, rows: Iterable[Row]
) -> None:
    """The same of any number of rows, in order: some at a time, by way of a new table of that name."""
    empty, added, whole = many(table, columns)
    connection.execute(empty)
    found = iter(rows)
    while items := list(itertools.islice(found, BATCH)):
        connection.execute(added, _lists(columns, items))
    connection.execute(whole, {"target": str(place)})
    connection.execute(dropped(table))


def many(table: str, columns: Columns) -> tuple[str, str, str]:
    """The statements that make a table, add rows to it that are their parameters, and write it."""
    return _empty(table, columns), _added(table, columns), _whole(table)


def dropped(table: str) -> str:
    """The statement that drops a table, if it is there."""
    from sqlglot import exp

    from assay.sql import dialect

    return dialect.text(exp.Drop(tables=[exp.to_table(table)], kind="TABLE", exists=True))


def _lists(columns: Columns, rows: Sequence[Row]) -> dict[str, object]:
    """The parameters of `_rows`."""
    return {name: [row[index] for row in rows] for index, name in enumerate(columns)}


def _rows(columns: Columns) -> exp.Select:
    """A query of some rows, whose columns are lists that are parameters."""
    from sqlglot import exp

    from assay.ingest import builder
    from assay.sql import dialect

    values = [builder.alias(exp.Explode(this=builder.given_list(name, kind)), name) for name, kind in columns.items()]
    return dialect.select(*values)


def _empty(table: str, columns: Columns) -> str:
    # MERGED

    return empty(table, columns)


def _added(table: str, columns: Columns) -> str:
    from sqlglot import exp

    from assay.sql.dialect import DIALECT

    return exp.Insert(this=exp.to_table(table), expression=_rows(columns)).sql(dialect=DIALECT, copy=False)


def _whole(table: str) -> str:
    from assay.ingest import builder
    from assay.sql import dialect
    from assay.sql.dialect import copied_plainly

    return copied_plainly(builder.from_source(dialect.select("*"), table))
