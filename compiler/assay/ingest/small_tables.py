"""Create small tables in memory and write them as Parquet."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from assay.ingest import sql_trees
from assay.sql import dialect
from assay.sql.dialect import build_copy

if TYPE_CHECKING:
    import duckdb


def build_create_statement(table: str, columns: Mapping[str, str]) -> str:
    """Return the statement that creates an empty table with column types of the engine."""
    column_definitions = [
        exp.ColumnDef(this=exp.to_identifier(name), kind=exp.DataType.build(kind, dialect=dialect.DIALECT))
        for name, kind in columns.items()
    ]
    schema = exp.Schema(this=exp.to_table(table), expressions=column_definitions)
    return exp.Create(this=schema, kind="TABLE").sql(dialect=dialect.DIALECT)


BATCH = 5000  # rows in memory at a time

Columns = Mapping[str, str]
Row = tuple[Any, ...]


def write_table(connection: duckdb.DuckDBPyConnection, target: Path, columns: Columns, rows: Sequence[Row]) -> None:
    """Write rows as Parquet, with column types of the engine."""
    statement = build_copy(_build_rows_query(columns))
    connection.execute(statement, _build_parameters(columns, rows) | {"target": str(target)})


def write_large_table(
    connection: duckdb.DuckDBPyConnection, target: Path, table: str, columns: Columns, rows: Iterable[Row]
) -> None:
    """Write any number of rows as Parquet, in order, in batches by way of a temporary table."""
    connection.execute(build_create_statement(table, columns))
    insertion = exp.Insert(this=exp.to_table(table), expression=_build_rows_query(columns))
    insert_statement = insertion.sql(dialect=dialect.DIALECT, copy=False)
    remaining = iter(rows)
    while items := list(itertools.islice(remaining, BATCH)):
        connection.execute(insert_statement, _build_parameters(columns, items))
    connection.execute(build_copy(dialect.select("*").from_(table)), {"target": str(target)})
    connection.execute(build_drop_statement(table))


def build_drop_statement(table: str) -> str:
    """Return the statement that drops a table if it exists."""
    return dialect.to_sql(exp.Drop(tables=[exp.to_table(table)], kind="TABLE", exists=True))


def _build_parameters(columns: Columns, rows: Sequence[Row]) -> dict[str, object]:
    """Return the parameters of `_build_rows_query`."""
    return {name: [row[index] for row in rows] for index, name in enumerate(columns)}


def _build_rows_query(columns: Columns) -> exp.Select:
    """Return the query for rows from list parameters, one for each column."""
    values = [
        sql_trees.build_alias(exp.Explode(this=sql_trees.build_list_parameter(name, kind)), name)
        for name, kind in columns.items()
    ]
    return dialect.select(*values)
