"""The samples behind a number of a run, with the raw records that they were made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from assay.audit import sample_query
from assay.audit.raw_lines import Place, RawRecord, raw_records
from assay.audit.sample_query import VALUE, SampleQuery
from assay.audit.witness import companion, witnessed
from assay.build.prepare import Prepared
from assay.build.session import Session
from assay.engine.execute import connect
from assay.engine.mount import mount
from assay.engine.results import scale
from assay.spec.diagnostics import INTERNAL, fail
from assay.spec.model import Package
from assay.sql import dialect
from assay.sql.program import Statement, creation

if TYPE_CHECKING:
    import duckdb

TABLE = "traced samples"
SHOWN = 1000  # records of a sample that are looked up
BINS = 40


@dataclass(frozen=True, slots=True)
class Line:
    """A raw record behind a sample: the event that it is, its host and place, the record."""

    event: str
    host: str
    seq: int
    record: RawRecord


@dataclass(frozen=True, slots=True)
class Sample:
    """A sample: the columns that say which it is, its value as measured and in the unit of what is asked.

    `lines` are the first records that it was made of, `records` how many there are.
    """

    keys: Mapping[str, object]
    measured: int | float
    value: float
    lines: tuple[Line, ...]
    records: int


@dataclass(frozen=True, slots=True)
class Spread:
    """How samples are spread: `counts` of samples in parts of the same width from `low` to `high`."""

    low: float
    high: float
    counts: tuple[int, ...]


@dataclass(slots=True)
class Tracing:
    """The samples of a run in an open engine."""

    connection: duckdb.DuckDBPyConnection
    package: Package
    prepared: Prepared
    asked: SampleQuery
    factor: Fraction

    def size(self) -> int:
        """How many samples there are."""
        return int(self._extremes()[0])

    def ranked(self, greatest: bool, limit: int, shown: int = SHOWN) -> tuple[Sample, ...]:
        """The greatest (or least) samples, of equal ones the first by key, each with at most `shown` records."""
        rows = self._rows(sample_query.ranked(TABLE, self.asked.keys, greatest, limit))
        lines = self._lines([item for row in rows for item in row[companion(VALUE)][:shown]])
        return tuple(self._sample(row, lines, shown) for row in rows)

    def spread(self, bins: int = BINS) -> Spread | None:
        """How the samples are spread; None without samples."""
        size, low, high = self._extremes()
        if not size:
            return None
        ends = scale(low, self.factor), scale(high, self.factor)
        if not (isinstance(low, (int, float)) and float(high) > float(low)):
            return Spread(*ends, (int(size),))
        width = (float(high) - float(low)) / bins
        rows = self._rows(sample_query.binned(TABLE, float(low), width, bins))
        counts = {int(row["part"]): int(row["n"]) for row in rows}
        return Spread(*ends, tuple(counts.get(part, 0) for part in range(bins)))

    def _extremes(self) -> tuple[Any, ...]:
        (row,) = self.connection.execute(dialect.text(sample_query.extremes(TABLE))).fetchall()
        found: tuple[Any, ...] = row
        return found

    def _rows(self, query: exp.Expr) -> list[dict[str, Any]]:
        cursor = self.connection.execute(dialect.text(query))
        names = [item[0] for item in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    def _sample(self, row: Mapping[str, Any], lines: Mapping[tuple[str, Place], RawRecord], shown: int) -> Sample:
        told = row[companion(VALUE)]
        found = tuple(
            Line(item["event"], item["host"], item["seq"], lines[item["event"], Place(item["host"], item["seq"])])
            for item in told[:shown]
        )
        keys = {name: row[name] for name in self.asked.keys}
        return Sample(keys, row[VALUE], scale(row[VALUE], self.factor), found, len(told))

    def _lines(self, told: Sequence[Mapping[str, Any]]) -> dict[tuple[str, Place], RawRecord]:
        """The records at places of events."""
        of_event = {event.name: event.source for event in self.package.events}
        found: dict[tuple[str, Place], RawRecord] = {}
        for part in self.prepared.parts:
            own = [item for item in told if of_event[item["event"]] == part.source.name]
            records = raw_records(part.source.kind, part.files, {Place(item["host"], item["seq"]) for item in own})
            for item in own:
                place = Place(item["host"], item["seq"])
                found[item["event"], place] = records[place]
        return found


@contextmanager
def tracing(
    session: Session,
    package: Package,
    prepared: Prepared,
    statements: Sequence[Statement],
    asked: SampleQuery,
    factor: Fraction,
) -> Iterator[Tracing]:
    """The samples that a query yields of a run, with what they were made of."""
    import duckdb

    told = witnessed(statements, asked.query, [VALUE])
    samples = Statement("table", TABLE, told.query)
    # In one thread, so that of equal rows always the same one is told of.
    with connect(1, session.store.folder / "spill") as connection:
        mount(connection, prepared.folders)
        for item in (*told.statements, samples):
            names = {str(place.this) for place in item.query.find_all(exp.Placeholder)}
            values = {name: prepared.constants[name] for name in names}
            session.progress("tracing", told.statements.index(item) if item is not samples else 0, 1)
            try:
                connection.execute(creation(item), values or None)
            except duckdb.Error as error:
                cause = str(error).split("\n")[0]
                raise fail("engine", f"run {prepared.run.id}: tracing stopped at `{item.name}`: {cause}",
                           status=INTERNAL) from None  # fmt: skip
        yield Tracing(connection, package, prepared, asked, factor)
