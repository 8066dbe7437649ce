"""The rows of events, written as Parquet out of what workers have read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sqlglot import exp

from assay.ingest import tree
from assay.ingest.event_files import broken, write
from assay.ingest.event_rows import event_rows
from assay.ingest.filling import Filled, Part
from assay.ingest.forms import Numbered, wanted_events
from assay.ingest.recognition import Recognition
from assay.ingest.scanner import Scanned
from assay.spec.model import Event
from assay.sql import dialect
from assay.sql.copying import copied
from assay.sql.host_type import enumeration

if TYPE_CHECKING:
    import duckdb


def enumerate_hosts(connection: duckdb.DuckDBPyConnection, hosts: Iterable[str]) -> None:
    """Let the hosts of a run be a type; a column of texts takes twice as long to write."""
    names = exp.Explode(this=exp.Array(expressions=[tree.text(host) for host in sorted(set(hosts))]))
    connection.execute(enumeration(dialect.select(names)))


@dataclass(frozen=True, slots=True)
class Rows:
    """What files that were read together hold, and the folder that the rows of events are written into."""

    how: Recognition
    found: tuple[Filled, ...]
    folder: Path

    def target(self, event: Event) -> Path:
        """The file of an event."""
        return self.folder / f"{event.name}.parquet"

    def write(self, connection: duckdb.DuckDBPyConnection, event: Event, swift: bool) -> bool:
        """Write the rows of an event; whether all of them are whole."""
        index, own = next(
            (index, own) for index, own in enumerate(wanted_events(self.how.forms)) if own[0].event is event
        )
        parts = self.parts(index, own)
        views = {part.table: scan.rows(index) for part, scan in self.scans(parts)}
        parameters = {name: value for part in parts for name, value in self.found[part.number].parameters(part).items()}
        for name, view in views.items():
            connection.register(name, view)
        try:
            return write(connection, copied(event_rows(self.how, event, parts, swift), self.target(event)), parameters)
        finally:
            for name, view in views.items():
                connection.unregister(name)
                view.close()

    def broken(self, connection: duckdb.DuckDBPyConnection, event: Event) -> list[tuple[str, int]]:
        """Host and `seq` of the rows of an event that were written and are not whole."""
        return broken(connection, self.target(event))

    def parts(self, index: int, own: Sequence[Numbered]) -> list[Part]:
        """Where rows of an event are; where nothing has any, one place of none."""
        some = [part for number, item in enumerate(self.found) for part in item.parts(number, index, own)]
        return some or [Part(0, "scan_0", scanned=True)]

    def scans(self, parts: Sequence[Part]) -> Iterator[tuple[Part, Scanned]]:
        """The scans of parts that have one."""
        for part in parts:
            scan = self.found[part.number].scan
            if part.scanned and scan:
                yield part, scan
