"""The folder of an ingested run as tables: a folder of files an event, `logs`, and `constants` (one row)."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sqlglot import exp

from assay.spec.scopes import LOGS
from assay.sql import dialect
from assay.sql.events import parquet
from assay.sql.expressions import literal

if TYPE_CHECKING:
    import duckdb

CONSTANTS = "constants"


@dataclass(frozen=True, slots=True)
class HostLog:
    """What a host's log holds: lines, objects, quarantined lines, instant of the last object (ns since 1970)."""

    host: str
    lines: int
    objects: int
    quarantined: int
    last_ns: int


def raw_tables() -> Mapping[str, exp.Select]:
    """The queries of the tables that every ingested folder has, relative to it."""
    return {LOGS: parquet("logs.parquet"), CONSTANTS: parquet("constants.parquet")}


def located(query: exp.Expr, folder: Path) -> exp.Expr:
    """A query over an ingested folder with the paths of its files in full."""
    query = query.copy()
    for scan in query.find_all(exp.ReadParquet):
        pattern = scan.expressions[0].this
        scan.set("expressions", [exp.Literal.string(str(folder.absolute() / pattern))])
    return query


def mount(connection: duckdb.DuckDBPyConnection, folder: Path) -> None:
    """Let a connection read the folder's files by their relative paths; `logs` is a view."""
    connection.execute("SET file_search_path = ?", [str(folder.absolute())])
    temporary = exp.Properties(expressions=[exp.TemporaryProperty()])
    view = exp.Create(this=exp.to_table(LOGS), kind="VIEW", expression=raw_tables()[LOGS], properties=temporary)
    connection.execute(dialect.text(view))


def host_logs(folder: Path) -> tuple[HostLog, ...]:
    """The logs of a run, by host."""
    import duckdb

    wanted = ("host", "lines", "objects", "quarantined", "last_ns")
    query = exp.select(*wanted).from_(parquet(str(folder / "logs.parquet")).subquery(alias=LOGS)).order_by("host")
    with duckdb.connect() as connection:
        return tuple(HostLog(*row) for row in connection.execute(dialect.text(query)).fetchall())


def event_counts(folder: Path) -> dict[str, int]:
    """How many log lines of a run are each event, over all hosts; events that none is are missing."""
    import duckdb

    counts = parquet(str(folder / "counts.parquet")).subquery(alias="counts")
    query = exp.select("event", exp.Sum(this=exp.column("n"))).from_(counts).group_by("event")
    with duckdb.connect() as connection:
        return {str(event): int(number) for event, number in connection.execute(dialect.text(query)).fetchall()}


def write_constants(folder: Path, constants: Mapping[str, object]) -> None:
    """Put the constants of a run beside its events, as a table of one row, for SQL that stands alone."""
    import duckdb

    row = exp.select(*(exp.alias_(literal(value), name) for name, value in sorted(constants.items())))
    handle, fresh = tempfile.mkstemp(dir=folder, suffix=".part")
    os.close(handle)
    with duckdb.connect() as connection:
        connection.sql(dialect.text(row)).write_parquet(fresh)
    Path(fresh).replace(folder / "constants.parquet")
