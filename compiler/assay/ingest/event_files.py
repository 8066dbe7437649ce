"""The rows of an event written as Parquet.

Whether a number is an integer, however it is written, takes long to ask: longer to plan than to answer on most logs.
So rows are written as if all integers were written as the engine writes them.  Where one is not, its row is not whole,
and all rows are written once more, with care.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from sqlglot import exp

from assay.ingest.event_writer import write
from assay.sql import dialect
from assay.sql.copy_to import copied
from assay.sql.dialect import column
from assay.sql.events import parquet

if TYPE_CHECKING:
    import duckdb

#: the rows of an event; swiftly, or with care
Rows = Callable[[bool], exp.Query]


def write_rows(
    connection: duckdb.DuckDBPyConnection, event: str, rows: Rows, target: Path, careful: set[str] | None = None
) -> list[tuple[str, int]]:
    """Write the rows of an event; host and `seq` of those that are not whole, in this order.

    `careful` are events that are known to need care; those that turn out to are added, as other files of a run are
    likely to be alike.
    """
    if careful is None or event not in careful:
        if write(connection, copied(rows(True)), target):
            return []
        if careful is not None:
            careful.add(event)
    return [] if write(connection, copied(rows(False)), target) else broken(connection, target)


def broken(connection: duckdb.DuckDBPyConnection, target: Path) -> list[tuple[str, int]]:
    """Host and `seq` of rows that were written and are not whole."""
    query = dialect.select("host", "seq").from_(parquet(str(target)).subquery(alias="rows"))
    query = query.where(exp.Not(this=column("whole"))).order_by("host", "seq")
    return [(host, seq) for host, seq in connection.execute(dialect.text(query)).fetchall()]
