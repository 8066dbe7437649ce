"""Write the rows of events as Parquet.

Whether a number is an integer, however it is written, takes long to ask: longer to plan than to answer on most logs.
So rows are written as if all integers were written as the engine writes them.  Where one is not, its row is not whole,
and all rows are written once more, with care.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from sqlglot import exp

from assay.ingest.event_forms import NumberedForm, wanted_events
from assay.ingest.readers.json_lines_worker import Part, ScanResult
from assay.ingest.recognition import Recognition
from assay.ingest.scanner import Scanned
from assay.lang.model.package import Event
from assay.sql import dialect
from assay.sql.dialect import column, copied, parquet

if TYPE_CHECKING:
    import duckdb


def enumerate_hosts(connection: duckdb.DuckDBPyConnection, hosts: Iterable[str]) -> None:
    """Let the hosts of a run be a type; a column of texts takes twice as long to write."""
    connection.execute(hosts_type(), {"hosts": sorted(set(hosts))})


def hosts_type() -> str:
    """The statement that makes the type of hosts, whose names are its parameter."""
    from sqlglot import exp

    from assay.ingest import builder
    from assay.sql import dialect
    from assay.sql.dialect import enumeration

    return enumeration(dialect.select(exp.Explode(this=builder.given_list("hosts", "TEXT"))))


def write(
    connection: duckdb.DuckDBPyConnection, text: str, target: Path, parameters: Mapping[str, object] | None = None
) -> bool:
    """Write rows by a statement of `copied`; whether all of them are whole."""
    row = connection.execute(text, {"target": str(target), **(parameters or {})}).fetchone()
    assert row is not None
    _, _, _, _, statistics, *_ = row
    return bool(statistics.get('"whole"', {}).get("min") != "0")


NOWHERE = [Part(0, "scan_0", scanned=True)]  # in a scan without rows of an event


@dataclass(frozen=True, slots=True)
class Statements:
    """The statements that write rows of events, each compiled once."""

    how: Recognition
    texts: dict[tuple[object, ...], str] = field(default_factory=dict, compare=False)

    def text(self, event: Event, parts: Sequence[Part], swift: bool, in_order: bool) -> str:
        """The statement that writes the rows of an event that some parts have."""
        key = event.name, *parts, swift, in_order
        if key not in self.texts:
            from assay.ingest.event_query import event_rows
            from assay.sql.dialect import copied

            self.texts[key] = copied(event_rows(self.how, event, parts, swift, in_order))
        return self.texts[key]


@dataclass(frozen=True, slots=True)
class Rows:
    """What files that were read together hold, and the folder that the rows of events are written into."""

    statements: Statements
    found: tuple[ScanResult, ...]
    folder: Path

    def target(self, event: Event) -> Path:
        """The file of an event."""
        return self.folder / f"{event.name}.parquet"

    def write(self, connection: duckdb.DuckDBPyConnection, event: Event, swift: bool) -> bool:
        """Write the rows of an event; whether all of them are whole."""
        forms = wanted_events(self.statements.how.forms)
        index, own = next((index, own) for index, own in enumerate(forms) if own[0].event is event)
        found = self.having(index, own)
        parts = [part for number, item in enumerate(found) for part in item.parts(number, index, own)] or NOWHERE
        views = {part.table: scan.rows(index) for part, scan in _scans(found, parts)}
        parameters = {name: value for part in parts for name, value in found[part.number].parameters(part).items()}
        for name, view in views.items():
            connection.register(name, view)
        try:
            text = self.statements.text(event, parts, swift, _are_in_order(found, parts))
            return write(connection, text, self.target(event), parameters)
        finally:
            for name, view in views.items():
                connection.unregister(name)
                view.close()

    def broken(self, connection: duckdb.DuckDBPyConnection, event: Event) -> list[tuple[str, int]]:
        """Host and `seq` of the rows of an event that were written and are not whole."""
        # MERGED

        return list_broken(connection, self.target(event))

    def having(self, index: int, own: Sequence[NumberedForm]) -> list[ScanResult]:
        """What has rows of an event; where nothing has any, the first.

        A statement counts these, so that it is the same whichever they are.
        """
        return [item for item in self.found if item.parts(0, index, own)] or list(self.found[:1])


def _are_in_order(found: Sequence[ScanResult], parts: Sequence[Part]) -> bool:
    """Whether the rows of parts, one part after the other, are in the order of hosts and of their lines.

    Those of one part are: files are numbered in this order.
    """
    extents = [found[part.number].extent for part in parts if found]
    return all(before[1] < after[0] for before, after in itertools.pairwise(extents))


def _scans(found: Sequence[ScanResult], parts: Sequence[Part]) -> Iterator[tuple[Part, Scanned]]:
    """The scans of parts that have one."""
    for part in parts:
        scan = found[part.number].scan
        if part.scanned and scan:
            yield part, scan


#: the rows of an event; swiftly, or with care
MakeQuery = Callable[[bool], exp.Query]


def write_event_rows(
    connection: duckdb.DuckDBPyConnection, event: str, rows: MakeQuery, target: Path, careful: set[str] | None = None
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
    return [] if write(connection, copied(rows(False)), target) else list_broken(connection, target)


def list_broken(connection: duckdb.DuckDBPyConnection, target: Path) -> list[tuple[str, int]]:
    """Host and `seq` of rows that were written and are not whole."""
    query = dialect.select("host", "seq").from_(parquet(str(target)).subquery(alias="rows"))
    query = query.where(exp.Not(this=column("whole"))).order_by("host", "seq")
    return [(host, seq) for host, seq in connection.execute(dialect.text(query)).fetchall()]
