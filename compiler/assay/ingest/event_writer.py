"""Write the rows of events as Parquet.

Accepting every notation of integers makes the query slow, on most logs slower to plan than to run. So rows are first
written as if all integers had the notation of the engine. If one has not, its row is not whole, and all rows are
written again by the strict query.
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
    """Create an enum type of the hosts of a run. A text column takes twice as long to write."""
    connection.execute(hosts_type(), {"hosts": sorted(set(hosts))})


def hosts_type() -> str:
    """Return the statement that creates the type of hosts; its parameter `hosts` has their names."""
    from sqlglot import exp

    from assay.ingest import builder
    from assay.sql import dialect
    from assay.sql.dialect import enumeration

    return enumeration(dialect.select(exp.Explode(this=builder.given_list("hosts", "TEXT"))))


def write(
    connection: duckdb.DuckDBPyConnection, text: str, target: Path, parameters: Mapping[str, object] | None = None
) -> bool:
    """Write rows by a statement of `copied`; return whether all of them are whole."""
    row = connection.execute(text, {"target": str(target), **(parameters or {})}).fetchone()
    assert row is not None
    _, _, _, _, statistics, *_ = row
    return bool(statistics.get('"whole"', {}).get("min") != "0")


NOWHERE = [Part(0, "scan_0", scanned=True)]  # a scan without rows of the event


@dataclass(frozen=True, slots=True)
class Statements:
    """The statements that write rows of events, each compiled once."""

    how: Recognition
    texts: dict[tuple[object, ...], str] = field(default_factory=dict, compare=False)

    def text(self, event: Event, parts: Sequence[Part], swift: bool, in_order: bool) -> str:
        """Return the statement that writes the rows of an event in some parts."""
        key = event.name, *parts, swift, in_order
        if key not in self.texts:
            from assay.ingest.event_query import event_rows
            from assay.sql.dialect import copied

            self.texts[key] = copied(event_rows(self.how, event, parts, swift, in_order))
        return self.texts[key]


@dataclass(frozen=True, slots=True)
class Rows:
    """Writer of the rows of events in files that were read together, to a folder."""

    statements: Statements
    found: tuple[ScanResult, ...]
    folder: Path

    def target(self, event: Event) -> Path:
        """Return the path of the Parquet file of an event."""
        return self.folder / f"{event.name}.parquet"

    def write(self, connection: duckdb.DuckDBPyConnection, event: Event, swift: bool) -> bool:
        """Write the rows of an event; return whether all of them are whole."""
        forms = wanted_events(self.statements.how.forms)
        index, event_forms = next(
            (index, event_forms) for index, event_forms in enumerate(forms) if event_forms[0].event is event
        )
        results = self.having(index, event_forms)
        parts = [
            part for number, item in enumerate(results) for part in item.parts(number, index, event_forms)
        ] or NOWHERE
        views = {part.table: scan.rows(index) for part, scan in _scans(results, parts)}
        parameters = {name: value for part in parts for name, value in results[part.number].parameters(part).items()}
        for name, view in views.items():
            connection.register(name, view)
        try:
            text = self.statements.text(event, parts, swift, _are_in_order(results, parts))
            return write(connection, text, self.target(event), parameters)
        finally:
            for name, view in views.items():
                connection.unregister(name)
                view.close()

    def broken(self, connection: duckdb.DuckDBPyConnection, event: Event) -> list[tuple[str, int]]:
        """Return host and `seq` of the written rows of an event that are not whole."""
        return list_broken(connection, self.target(event))

    def having(self, index: int, event_forms: Sequence[NumberedForm]) -> list[ScanResult]:
        """Return the results with rows of an event, or the first result if no result has any.

        A statement numbers these, so it does not depend on the other results.
        """
        return [item for item in self.found if item.parts(0, index, event_forms)] or list(self.found[:1])


def _are_in_order(results: Sequence[ScanResult], parts: Sequence[Part]) -> bool:
    """Return whether the rows of consecutive parts are in the order of hosts and of their lines.

    The rows of one part are, since files are numbered in this order.
    """
    extents = [results[part.number].extent for part in parts if results]
    return all(before[1] < after[0] for before, after in itertools.pairwise(extents))


def _scans(results: Sequence[ScanResult], parts: Sequence[Part]) -> Iterator[tuple[Part, Scanned]]:
    """Yield the parts that have a scan, with the scan."""
    for part in parts:
        scan = results[part.number].scan
        if part.scanned and scan:
            yield part, scan


#: build the query for the rows of an event, the fast or the strict one
MakeQuery = Callable[[bool], exp.Query]


def write_event_rows(
    connection: duckdb.DuckDBPyConnection, event: str, rows: MakeQuery, target: Path, careful: set[str] | None = None
) -> list[tuple[str, int]]:
    """Write the rows of an event; return host and `seq` of those that are not whole, in order.

    `careful` names the events that need the strict query. Others that turn out to need it are added, since further
    files of the run are likely to be similar.
    """
    if careful is None or event not in careful:
        if write(connection, copied(rows(True)), target):
            return []
        if careful is not None:
            careful.add(event)
    return [] if write(connection, copied(rows(False)), target) else list_broken(connection, target)


def list_broken(connection: duckdb.DuckDBPyConnection, target: Path) -> list[tuple[str, int]]:
    """Return host and `seq` of written rows that are not whole."""
    query = dialect.select("host", "seq").from_(parquet(str(target)).subquery(alias="rows"))
    query = query.where(exp.Not(this=column("whole"))).order_by("host", "seq")
    return [(host, seq) for host, seq in connection.execute(dialect.text(query)).fetchall()]
