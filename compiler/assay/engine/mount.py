"""Mount the folder of an ingested run as tables, with its hosts as an enumeration type, and bind parameters."""

from __future__ import annotations

import functools
import glob
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

from sqlglot import exp

from assay.engine.connection import open_shared_cursor
from assay.lang.reserved_names import CONSTANTS, CONSTANTS_FILE
from assay.lang.scopes import HOST, LOGS
from assay.sql import dialect
from assay.sql.codegen import Statement, build_create_sql
from assay.sql.dialect import build_column, build_create_enum, build_host_type, select_parquet
from assay.util.diagnostics import fail

if TYPE_CHECKING:
    import duckdb


#: how the engine's description of an enumeration type begins
ENUMERATION = "ENUM("


def enumerate_hosts(connection: duckdb.DuckDBPyConnection, folders: Sequence[Path]) -> None:
    """Create the enumeration type of a run's hosts, ordered as texts, and use it in the mounted `logs`."""
    names = dialect.select(build_column(HOST)).distinct().from_(LOGS).order_by(HOST)
    connection.execute(build_create_enum(names))
    mount_logs(connection, folders, exp.Star(replace=[_cast_host(build_column(HOST))]))


def build_host_view(statement: Statement, temporary: bool = True) -> str:
    """Return the SQL that creates an event's view, like `build_create_sql`, with hosts of the enumeration type."""
    return build_create_sql(replace(statement, query=convert_hosts(statement)), temporary)


def convert_hosts(statement: Statement) -> exp.Select:
    """Return the query of an event's rows with hosts of the enumeration type."""
    query = statement.query.copy()
    assert isinstance(query, exp.Select)
    for item in query.selects:
        if isinstance(item, exp.Column) and item.name == HOST:
            item.replace(_cast_host(item.copy()))
    return query


def _cast_host(host: exp.Expr) -> exp.Expr:
    return exp.alias_(exp.Cast(this=host, to=build_host_type()), HOST)


MIN_INTEGER, MAX_INTEGER = -(2**63), 2**63 - 1


def bind_parameters(names: Iterable[str], constants: Mapping[str, object]) -> dict[str, object] | None:
    """Return the constants for the placeholders of a statement; None (no parameters) if it has none.

    Integers are bound as 64 bits: the engine would give small ones 32 bits, and fail where products overflow.
    """
    return {name: _widen(constants[name]) for name in names} or None


def _widen(value: object) -> object:
    from duckdb.value.constant import LongValue

    if isinstance(value, bool) or not isinstance(value, int) or not MIN_INTEGER <= value <= MAX_INTEGER:
        return value
    return LongValue(value)


#: the folder of the events in the folder of an ingested run
EVENTS = "events"
HOSTS = "logs.parquet"


@dataclass(frozen=True, slots=True)
class HostLog:
    """Counts of a host's log: lines, objects, quarantined lines, and lines that are events (`recognised`),
    and lines that have no name (`text_lines`).

    `first_ns` and `last_ns` are the instants of the first and last object, in ns since 1970.
    """

    host: str
    lines: int
    objects: int
    quarantined: int
    last_ns: int | None
    first_ns: int | None = None
    recognised: int = 0
    text_lines: int = 0


def list_raw_tables() -> Mapping[str, exp.Select]:
    """Return the queries of the tables that every ingested folder has; paths are relative to the folder."""
    return {LOGS: select_parquet(HOSTS), CONSTANTS: select_parquet(CONSTANTS_FILE)}


def resolve_scan_paths(query: exp.Expr, folders: Sequence[Path], *, is_confined: bool = True) -> exp.Expr:
    """Return a query over ingested folders with absolute paths.

    Files are those of the first folder that has them; of `logs`, those of every folder. Characters of globs in the
    names of folders are escaped, unless the connection is confined to these names.
    """
    query = query.copy()
    for scan in query.find_all(exp.ReadParquet):
        pattern = scan.expressions[0].this
        selected = folders if pattern == HOSTS else [_find_folder(folders, pattern)]
        names = [str(folder.absolute()) for folder in selected]
        places = [f"{name if is_confined else glob.escape(name)}/{pattern}" for name in names]
        texts = [exp.Literal.string(place) for place in places]
        scan.set("expressions", texts if len(texts) == 1 else [exp.Array(expressions=texts)])
    return query


def _find_folder(folders: Sequence[Path], pattern: str) -> Path:
    """Return the first folder that has files of a pattern, else the first one."""
    return next((folder for folder in folders if any(folder.glob(pattern))), folders[0])


def mount_folders(
    connection: duckdb.DuckDBPyConnection,
    folders: Sequence[Path],
    other_paths: Sequence[str] = (),
    other_connections: Sequence[duckdb.DuckDBPyConnection] = (),
) -> None:
    """Make the files of folders readable by their relative paths, for connections to one engine.

    `logs` becomes a view of the logs of all folders, if there are any.  The connections can read no other files,
    except below `other_paths`.

    Raises AssayError when the path of a folder contains a comma, which the engine takes as a separator.
    """
    paths = [str(folder.absolute()) for folder in folders]
    for path in paths:
        if "," in path:
            raise fail("cache", f"the path of the cache folder contains a comma: {path}", hint="pass --cache DIR")
    for item in (connection, *other_connections):
        item.execute("SET file_search_path = ?", [",".join(paths)])
    if folders:
        mount_logs(connection, folders, exp.Star())
    confine_connection(connection, [*paths, EVENTS, *other_paths])


def mount_logs(connection: duckdb.DuckDBPyConnection, folders: Sequence[Path], columns: exp.Expr) -> None:
    """Create `logs` as a view of the logs of all folders."""
    all_logs = exp.Subquery(
        this=resolve_scan_paths(list_raw_tables()[LOGS], folders), alias=exp.TableAlias(this=exp.to_identifier("files"))
    )
    logs = dialect.select(columns).from_(all_logs)
    view = exp.Create(this=exp.to_table(LOGS), kind="VIEW", expression=logs, replace=True)
    connection.execute(dialect.to_sql(view))


def confine_connection(connection: duckdb.DuckDBPyConnection, folders: Sequence[str] = ()) -> None:
    """Deny a connection other folders, the network and extensions.  This cannot be undone."""
    connection.execute("SET allowed_directories = ?", [list(folders)])
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


@dataclass(frozen=True, slots=True)
class UnknownName:
    """The records of a host with a name that no event has: their number, and the `seq` of the first.

    The name is empty for records without a name, and None for all names except the most frequent ones. Malformed lines
    of a text log are `malformed`, and no unknown records.
    """

    host: str
    name: str | None
    n: int
    first_seq: int
    malformed: bool = False


@dataclass(frozen=True, slots=True)
class RunFacts:
    """Facts about a run from an ingested folder.

    `logs` of its hosts; the number of records of each event, in `events` and `by_host` (where 0 is left out); `unknown`
    names, which no event has.
    """

    logs: tuple[HostLog, ...]
    events: Mapping[str, int]
    by_host: Mapping[str, Mapping[str, int]]
    unknown: tuple[UnknownName, ...]


@functools.lru_cache(maxsize=256)  # an ingested folder never changes
def read_facts(folder: Path) -> RunFacts:
    """Return the facts of an ingested folder."""
    log_columns = (item.name for item in fields(HostLog))
    logs = (
        exp.select(*log_columns)
        .from_(select_parquet(str(folder / "logs.parquet")).subquery(alias=LOGS))
        .order_by("host")
    )
    count_files = select_parquet(str(folder / "counts.parquet")).subquery(alias="counts")
    counts = exp.select("event", "host", "n").from_(count_files).order_by("event", "host")
    names = select_parquet(str(folder / "unknown.parquet")).subquery(alias="names")
    unknown = exp.select(*(item.name for item in fields(UnknownName))).from_(names)
    events: Counter[str] = Counter()
    by_host: dict[str, dict[str, int]] = {}
    with open_shared_cursor() as connection:
        for event, host, number in connection.execute(dialect.to_sql(counts)).fetchall():
            events[event] += number
            if number:
                by_host.setdefault(event, {})[host] = number
        return RunFacts(
            tuple(HostLog(*row) for row in connection.execute(dialect.to_sql(logs)).fetchall()),
            dict(events),
            by_host,
            tuple(UnknownName(*row) for row in connection.execute(dialect.to_sql(unknown)).fetchall()),
        )


def find_first_quarantined(folder: Path) -> str:
    """Return the position and reason of the first quarantined record of a folder that has one."""
    rows = select_parquet(str(folder / "quarantine.parquet")).subquery(alias="broken")
    query = exp.select("file", "line", "reason").from_(rows).order_by("host", "file", "line").limit(1)
    with open_shared_cursor() as connection:
        row = connection.execute(dialect.to_sql(query)).fetchone()
    assert row is not None
    return f"{row[0]}:{row[1]}: {row[2]}"
