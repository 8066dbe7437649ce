"""Mount the folder of an ingested run as tables, with its hosts and the values of parameters."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

from sqlglot import exp

from assay.engine.connection import small_engine
from assay.lang.reserved_names import CONSTANTS, OWN_CONSTANTS
from assay.lang.scopes import HOST, LOGS
from assay.sql import dialect
from assay.sql.codegen import Statement, creation
from assay.sql.dialect import column, enumeration, host_type, parquet
from assay.util.diagnostics import fail

if TYPE_CHECKING:
    import duckdb


#: how the engine describes such a type, whose values are texts
ENUMERATION = "ENUM("


def enumerate_hosts(connection: duckdb.DuckDBPyConnection, folders: Sequence[Path]) -> None:
    """Let the hosts of a run whose folders are mounted be a type, in their order as texts, and `logs` have them."""
    names = dialect.select(column(HOST)).distinct().from_(LOGS).order_by(HOST)
    connection.execute(enumeration(names))
    mount_logs(connection, folders, exp.Star(replace=[_numbered(column(HOST))]))


def by_number(statement: Statement, temporary: bool = True) -> str:
    """The text that keeps an event's rows as a view, like `creation`, whose hosts are of that type."""
    return creation(replace(statement, query=numbered(statement)), temporary)


def numbered(statement: Statement) -> exp.Select:
    """The query of an event's rows, whose hosts are of that type."""
    query = statement.query.copy()
    assert isinstance(query, exp.Select)
    for item in query.selects:
        if isinstance(item, exp.Column) and item.name == HOST:
            item.replace(_numbered(item.copy()))
    return query


def _numbered(host: exp.Expr) -> exp.Expr:
    return exp.alias_(exp.Cast(this=host, to=host_type()), HOST)


LEAST, GREATEST = -(2**63), 2**63 - 1


def bind_parameters(names: Iterable[str], constants: Mapping[str, object]) -> dict[str, object] | None:
    """The constants that a statement has places for; None, which is what the engine takes for none.

    Whole numbers are of 64 bits: the engine would take small ones to be of 32, and end where products are beyond.
    """
    return {name: _wide(constants[name]) for name in names} or None


def _wide(value: object) -> object:
    from duckdb.value.constant import LongValue

    if isinstance(value, bool) or not isinstance(value, int) or not LEAST <= value <= GREATEST:
        return value
    return LongValue(value)


#: the folder of the events, in that of an ingested run
EVENTS = "events"
HOSTS = "logs.parquet"


@dataclass(frozen=True, slots=True)
class HostLog:
    """What a host's log holds: lines, objects, quarantined lines, instants of the last and the first object (ns since
    1970), lines that are events."""

    host: str
    lines: int
    objects: int
    quarantined: int
    last_ns: int | None
    first_ns: int | None = None
    recognised: int = 0


def raw_tables() -> Mapping[str, exp.Select]:
    """The queries of the tables that every ingested folder has, relative to it."""
    return {LOGS: parquet(HOSTS), CONSTANTS: parquet(OWN_CONSTANTS)}


def located(query: exp.Expr, folders: Sequence[Path]) -> exp.Expr:
    """A query over ingested folders with the paths of its files in full: of the first folder that has such files; of
    the hosts, those of every folder."""
    query = query.copy()
    for scan in query.find_all(exp.ReadParquet):
        pattern = scan.expressions[0].this
        places = [folder / HOSTS for folder in folders] if pattern == HOSTS else [_place(folders, pattern)]
        texts = [exp.Literal.string(str(place.absolute())) for place in places]
        scan.set("expressions", texts if len(texts) == 1 else [exp.Array(expressions=texts)])
    return query


def _place(folders: Sequence[Path], pattern: str) -> Path:
    return next((folder for folder in folders if any(folder.glob(pattern))), folders[0]) / pattern


def mount(
    connection: duckdb.DuckDBPyConnection,
    folders: Sequence[Path],
    others: Sequence[str] = (),
    beside: Sequence[duckdb.DuckDBPyConnection] = (),
) -> None:
    """Let a connection, and those to the same engine `beside` it, read the folders' files by their relative paths;
    `logs` is a view of every one's.

    They reach no other files than those, and those in `others`.
    AssayError when a folder's path holds a comma, which the engine takes for the end of it.
    """
    paths = [str(folder.absolute()) for folder in folders]
    for path in paths:
        if "," in path:
            raise fail("cache", f"the cache folder's path holds a comma: {path}", hint="name another with --cache")
    for item in (connection, *beside):
        item.execute("SET file_search_path = ?", [",".join(paths)])
    mount_logs(connection, folders, exp.Star())
    confine(connection, [*paths, EVENTS, *others])


def mount_logs(connection: duckdb.DuckDBPyConnection, folders: Sequence[Path], columns: exp.Expr) -> None:
    """Let `logs` be a view of every folder's."""
    held = exp.Subquery(this=located(raw_tables()[LOGS], folders), alias=exp.TableAlias(this=exp.to_identifier("held")))
    logs = dialect.select(columns).from_(held)
    view = exp.Create(this=exp.to_table(LOGS), kind="VIEW", expression=logs, replace=True)
    connection.execute(dialect.text(view))


def confine(connection: duckdb.DuckDBPyConnection, folders: Sequence[str] = ()) -> None:
    """Let a connection reach no file outside these folders, no network, no extension; this cannot be undone."""
    connection.execute("SET allowed_directories = ?", [list(folders)])
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


@dataclass(frozen=True, slots=True)
class UnknownName:
    """Records of a host that have a name which no event has: how many, and the `seq` of the first.

    The name is empty where a record has none, and None for those of all names beyond the most frequent.
    """

    host: str
    name: str | None
    n: int
    first_seq: int


@dataclass(frozen=True, slots=True)
class Facts:
    """What an ingested folder tells of a run: its hosts' logs; how many records are each event, in all and by host
    (none: missing); names that no event has."""

    logs: tuple[HostLog, ...]
    events: Mapping[str, int]
    by_host: Mapping[str, Mapping[str, int]]
    unknown: tuple[UnknownName, ...]


@functools.lru_cache(maxsize=256)  # what is in such a folder does not change
def facts(folder: Path) -> Facts:
    """The facts of a folder."""
    wanted = (item.name for item in fields(HostLog))
    logs = exp.select(*wanted).from_(parquet(str(folder / "logs.parquet")).subquery(alias=LOGS)).order_by("host")
    lines = parquet(str(folder / "counts.parquet")).subquery(alias="counts")
    counts = exp.select("event", "host", "n").from_(lines).order_by("event", "host")
    names = parquet(str(folder / "unknown.parquet")).subquery(alias="names")
    unknown = exp.select(*(item.name for item in fields(UnknownName))).from_(names)
    events: Counter[str] = Counter()
    by_host: dict[str, dict[str, int]] = {}
    with small_engine() as connection:
        for event, host, number in connection.execute(dialect.text(counts)).fetchall():
            events[event] += number
            if number:
                by_host.setdefault(event, {})[host] = number
        return Facts(
            tuple(HostLog(*row) for row in connection.execute(dialect.text(logs)).fetchall()),
            dict(events),
            by_host,
            tuple(UnknownName(*row) for row in connection.execute(dialect.text(unknown)).fetchall()),
        )


def first_broken(folder: Path) -> str:
    """The first record that was set aside, of a folder that has any: where it is, and why."""
    rows = parquet(str(folder / "quarantine.parquet")).subquery(alias="broken")
    query = exp.select("file", "line", "reason").from_(rows).order_by("host", "file", "line").limit(1)
    with small_engine() as connection:
        row = connection.execute(dialect.text(query)).fetchone()
    assert row is not None
    return f"{row[0]}:{row[1]}: {row[2]}"
