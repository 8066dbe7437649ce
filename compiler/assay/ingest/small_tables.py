"""Create small tables in memory and write them as Parquet."""

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
    """Return the statement that creates an empty table with column types of the engine."""
    defined = [
        exp.ColumnDef(this=exp.to_identifier(name), kind=exp.DataType.build(kind, dialect=dialect.DIALECT))
        for name, kind in columns.items()
    ]
    schema = exp.Schema(this=exp.to_table(table), expressions=defined)
    return exp.Create(this=schema, kind="TABLE").sql(dialect=dialect.DIALECT)


BATCH = 5000  # rows in memory at a time

Columns = Mapping[str, str]
Row = tuple[Any, ...]


def write(connection: duckdb.DuckDBPyConnection, place: Path, columns: Columns, rows: Sequence[Row]) -> None:
    """Write rows as Parquet, with column types of the engine."""
    connection.execute(write_statement(columns), _lists(columns, rows) | {"target": str(place)})


def write_statement(columns: Columns) -> str:
    """Return the statement that writes rows; its parameters are lists named like the columns."""
    from assay.sql.dialect import copied_plainly

    return copied_plainly(_rows(columns))


def write_many(
    connection: duckdb.DuckDBPyConnection, place: Path, table: str, columns: Columns, rows: Iterable[Row]
) -> None:
    """Write any number of rows, in order, in batches by way of a temporary table."""
    empty, added, whole = many(table, columns)
    connection.execute(empty)
    remaining = iter(rows)
    while items := list(itertools.islice(remaining, BATCH)):
        connection.execute(added, _lists(columns, items))
    connection.execute(whole, {"target": str(place)})
    connection.execute(dropped(table))


def many(table: str, columns: Columns) -> tuple[str, str, str]:
    """Return the statements that create a table, insert rows from parameters, and write it."""
    return _empty(table, columns), _added(table, columns), _whole(table)


def dropped(table: str) -> str:
    """Return the statement that drops a table if it exists."""
    from sqlglot import exp

    from assay.sql import dialect

    return dialect.text(exp.Drop(tables=[exp.to_table(table)], kind="TABLE", exists=True))


def _lists(columns: Columns, rows: Sequence[Row]) -> dict[str, object]:
    """Return the parameters of `_rows`."""
    return {name: [row[index] for row in rows] for index, name in enumerate(columns)}


def _rows(columns: Columns) -> exp.Select:
    """Return the query for rows from list parameters, one for each column."""
    from sqlglot import exp

    from assay.ingest import builder
    from assay.sql import dialect

    values = [builder.alias(exp.Explode(this=builder.given_list(name, kind)), name) for name, kind in columns.items()]
    return dialect.select(*values)


def _empty(table: str, columns: Columns) -> str:
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
