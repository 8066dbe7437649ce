"""The folder of an ingested run as tables: `events`, `logs`, and `constants` (one row)."""

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
from assay.sql.events import EVENTS, parquet
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


def raw_tables(folder: Path) -> Mapping[str, exp.Select]:
    """The queries that read a run's folder (relative to the current one when `folder` is empty)."""
    return {
        EVENTS: parquet(str(folder / "events" / "*.parquet")),
        LOGS: parquet(str(folder / "logs.parquet")),
        CONSTANTS: parquet(str(folder / "constants.parquet")),
    }


def mount(connection: duckdb.DuckDBPyConnection, folder: Path) -> None:
    """Make the folder's tables known to a connection, as views."""
    for name, query in raw_tables(folder).items():
        if name != CONSTANTS:
            connection.execute(f"CREATE TEMP VIEW {name} AS {dialect.text(query)}")


def host_logs(folder: Path) -> tuple[HostLog, ...]:
    """The logs of a run, by host."""
    import duckdb

    wanted = ("host", "lines", "objects", "quarantined", "last_ns")
    query = exp.select(*wanted).from_(raw_tables(folder)[LOGS].subquery(alias=LOGS)).order_by("host")
    with duckdb.connect() as connection:
        return tuple(HostLog(*row) for row in connection.execute(dialect.text(query)).fetchall())


def write_constants(folder: Path, constants: Mapping[str, object]) -> None:
    """Put the constants of a run beside its events, as a table of one row, for SQL that stands alone."""
    import duckdb

    row = exp.select(*(exp.alias_(literal(value), name) for name, value in sorted(constants.items())))
    handle, fresh = tempfile.mkstemp(dir=folder, suffix=".part")
    os.close(handle)
    with duckdb.connect() as connection:
        connection.sql(dialect.text(row)).write_parquet(fresh)
    Path(fresh).replace(folder / "constants.parquet")
