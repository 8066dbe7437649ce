"""Write the rows of events as Parquet.

A query that accepts every notation of integers is slow: on most logs, it takes longer to plan than to run. Rows are
first written by the fast query, which accepts only the notation of the engine. If a value may be an integer in another
notation, it does not decide whether its row is whole, and all rows are written again by the strict query.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from sqlglot import exp

from assay.ingest import sql_trees
from assay.ingest.event_forms import NumberedForm, group_required_forms
from assay.ingest.event_query import build_event_query
from assay.ingest.readers.json_lines_worker import Part, ScanResult
from assay.ingest.recognition import Recognition
from assay.ingest.scanner import Scan
from assay.lang.model.package import Event
from assay.sql import dialect
from assay.sql.dialect import build_column, build_copy_with_stats, build_create_enum, select_parquet

if TYPE_CHECKING:
    import duckdb


def enumerate_hosts(connection: duckdb.DuckDBPyConnection, hosts: Iterable[str]) -> None:
    """Create an enum type of the hosts of a run, since a text column takes twice as long to write."""
    names = dialect.select(exp.Explode(this=sql_trees.build_list_parameter("hosts", "TEXT")))
    connection.execute(build_create_enum(names), {"hosts": sorted(set(hosts))})


def write_rows(
    connection: duckdb.DuckDBPyConnection, statement: str, target: Path, parameters: Mapping[str, object] | None = None
) -> bool | None:
    """Write rows by a statement of `build_copy_with_stats`; return whether all of them are whole, None if undecided."""
    row = connection.execute(statement, {"target": str(target), **(parameters or {})}).fetchone()
    assert row is not None
    _, _, _, _, statistics, *_ = row
    whole = statistics.get('"whole"', {})
    return None if whole.get("null_count", "0") != "0" else bool(whole.get("min") != "0")


EMPTY_PARTS = [Part(0, "scan_0", is_scanned=True)]  # a scan without rows of the event


@dataclass(frozen=True, slots=True)
class StatementCache:
    """The statements that write rows of events, each built once."""

    recognition: Recognition
    statements: dict[tuple[object, ...], str] = field(default_factory=dict, compare=False)

    def get_statement(self, event: Event, parts: Sequence[Part], is_fast: bool, is_ordered: bool) -> str:
        """Return the statement that writes the rows of an event in some parts."""
        key = event.name, *parts, is_fast, is_ordered
        if key not in self.statements:
            self.statements[key] = build_copy_with_stats(
                build_event_query(self.recognition, event, parts, is_fast, is_ordered)
            )
        return self.statements[key]


@dataclass(frozen=True, slots=True)
class EventWriter:
    """Writer of the rows of events in files that were read together, to a folder."""

    statements: StatementCache
    results: tuple[ScanResult, ...]
    folder: Path

    def get_path(self, event: Event) -> Path:
        """Return the path of the Parquet file of an event."""
        return self.folder / f"{event.name}.parquet"

    def write(self, connection: duckdb.DuckDBPyConnection, event: Event, is_fast: bool) -> bool | None:
        """Write the rows of an event; return whether all of them are whole, None if the fast query cannot decide."""
        forms = group_required_forms(self.statements.recognition.forms)
        index, event_forms = next(
            (index, event_forms) for index, event_forms in enumerate(forms) if event_forms[0].event is event
        )
        event_results = self.select_results(index, event_forms)
        parts = [
            part for number, item in enumerate(event_results) for part in item.list_parts(number, index, event_forms)
        ] or EMPTY_PARTS
        views = {part.table: scan.get_rows(index) for part, scan in _iter_scans(event_results, parts)}
        parameters = {
            name: value for part in parts for name, value in event_results[part.number].build_parameters(part).items()
        }
        for name, view in views.items():
            connection.register(name, view)
        try:
            statement = self.statements.get_statement(event, parts, is_fast, _is_in_order(event_results, parts))
            return write_rows(connection, statement, self.get_path(event), parameters)
        finally:
            for name, view in views.items():
                connection.unregister(name)
                view.close()

    def list_incomplete(self, connection: duckdb.DuckDBPyConnection, event: Event) -> list[tuple[str, int]]:
        """Return host and `seq` of the written rows of an event that are not whole."""
        return list_incomplete_rows(connection, self.get_path(event))

    def select_results(self, index: int, event_forms: Sequence[NumberedForm]) -> list[ScanResult]:
        """Return the results with rows of an event, or the first result if no result has any.

        A statement numbers only these results, so that it does not depend on the others.
        """
        return [item for item in self.results if item.list_parts(0, index, event_forms)] or list(self.results[:1])


def _is_in_order(results: Sequence[ScanResult], parts: Sequence[Part]) -> bool:
    """Return whether the rows of consecutive parts are in the order of hosts and of their lines.

    The rows of one part are in this order, since files are numbered in it. The engine does not preserve the order of
    parts if some are tables and others are streams of the scanner.
    """
    if len({part.is_scanned for part in parts}) > 1:
        return False
    extents = [results[part.number].extent for part in parts if results]
    return all(before[1] < after[0] for before, after in itertools.pairwise(extents))


def _iter_scans(results: Sequence[ScanResult], parts: Sequence[Part]) -> Iterator[tuple[Part, Scan]]:
    """Yield the parts that have a scan, with the scan."""
    for part in parts:
        scan = results[part.number].scan
        if part.is_scanned and scan:
            yield part, scan


#: build the query for the rows of an event, the fast or the strict one
QueryBuilder = Callable[[bool], exp.Query]


def write_event_rows(
    connection: duckdb.DuckDBPyConnection,
    event: str,
    build_query: QueryBuilder,
    target: Path,
    strict_events: set[str] | None = None,
    parameters: Mapping[str, object] | None = None,
) -> list[tuple[str, int]]:
    """Write the rows of an event; return host and `seq` of those that are not whole, in order.

    `parameters` are those of the query. `strict_events` are the events that need the strict query. If this event does,
    it is added, since the other files of the run are likely to be similar.
    """
    is_whole = None
    if strict_events is None or event not in strict_events:
        is_whole = write_rows(connection, build_copy_with_stats(build_query(True)), target, parameters)
    if is_whole is None:
        if strict_events is not None:
            strict_events.add(event)
        is_whole = write_rows(connection, build_copy_with_stats(build_query(False)), target, parameters)
    return [] if is_whole else list_incomplete_rows(connection, target)


def list_incomplete_rows(connection: duckdb.DuckDBPyConnection, target: Path) -> list[tuple[str, int]]:
    """Return host and `seq` of written rows that are not whole."""
    query = dialect.select("host", "seq").from_(select_parquet(str(target)).subquery(alias="rows"))
    query = query.where(exp.Not(this=build_column("whole"))).order_by("host", "seq")
    return [(host, seq) for host, seq in connection.execute(dialect.to_sql(query)).fetchall()]
