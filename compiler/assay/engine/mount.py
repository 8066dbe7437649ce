"""The folder of an ingested run as tables: a folder of files an event, `logs`, and `constants` (one row)."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from sqlglot import exp

from assay.engine.small_engine import small_engine
from assay.lang.reserved_names import CONSTANTS, OWN_CONSTANTS
from assay.lang.scopes import LOGS
from assay.sql import dialect
from assay.sql.events import parquet
from assay.util.diagnostics import fail

if TYPE_CHECKING:
    import duckdb

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
