"""Trace a value of a run to its samples, raw records and constants."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from assay.app.prepare import IngestedRun
from assay.app.session import Session
from assay.engine import connection as limit
from assay.engine.executor import connect
from assay.engine.mount import bind_parameters, mount
from assay.engine.results import scale
from assay.ingest.pipeline import find_records
from assay.ingest.readers.protocol import Place, RawRecord
from assay.ingest.run_metadata import told_by
from assay.lang.model.package import Constant, Package
from assay.lineage import sample_query
from assay.lineage.column_lineage import Origin
from assay.lineage.constants import constants, declared, place
from assay.lineage.graph import kind_of
from assay.lineage.metric_lineage import lineage
from assay.lineage.record_lists import companion
from assay.lineage.row_provenance import add_provenance
from assay.lineage.sample_query import VALUE, SampleQuery
from assay.report.run_results import fact
from assay.sql import dialect
from assay.sql.codegen import Statement, creation
from assay.util.diagnostics import INTERNAL, fail
from assay.util.escape import normalize_text as shown_text
from assay.util.os_errors import is_memory, out_of_memory

if TYPE_CHECKING:
    import duckdb


@dataclass(frozen=True, slots=True)
class RunConstant:
    """A constant of a run: its value (instants and durations in ns), that as tables print it, with its unit; where the
    run tells it, and whether it does or its default stands in."""

    name: str
    value: object
    text: str
    doc: str
    place: str
    told: bool

    @property
    def description(self) -> str:
        """Where its value is from, in words."""
        return self.place if self.told else f"its default, as the run has no {self.place}"


@dataclass(frozen=True, slots=True)
class ConstantInputs:
    """The constants that values are computed of, and whether no record has a part in these (`alone`)."""

    constants: tuple[RunConstant, ...] = ()
    alone: bool = False


NOTHING = ConstantInputs()


def find_constants(
    package: Package, prepared: IngestedRun, statements: Sequence[Statement], query: exp.Expr
) -> ConstantInputs:
    """The constants of which the column `value` of a query over statements is computed."""
    asked = Statement("table", "asked", query)
    found = lineage([*statements, asked], [Origin(asked.name, VALUE)], checks=False)
    known = declared(package)
    own = tuple(make_constant(known[item.name], prepared) for item in constants(package, found) if item.role == "value")
    events = (item for item, role in found.roles.items() if role == "value")
    return ConstantInputs(
        own, bool(own) and not any(kind_of(found.statements.get(of.table), of.table) == "event" for of in events)
    )


def make_constant(constant: Constant, prepared: IngestedRun) -> RunConstant:
    value = prepared.constants[constant.name]
    symbol = {"duration": "s", "instant": ""}.get(constant.type, constant.unit.symbol)
    file, path = told_by(constant, prepared.run.directory)
    where = place((file,), path) if file else place(constant.files, constant.path, *constant.or_at)
    text = f"{fact(constant, value)} {symbol}".rstrip()
    return RunConstant(constant.name, value, text, constant.doc, where, bool(file))


TABLE = "traced samples"
SHOWN = 1000  # records of a sample that are looked up
BINS, LEAST_BINS = 40, 10


@dataclass(frozen=True, slots=True)
class Line:
    """A raw record behind a sample: the event that it is, its host and place, the record."""

    event: str
    host: str
    seq: int
    record: RawRecord


@dataclass(frozen=True, slots=True)
class Sample:
    """A sample: the columns that say which it is, its value as measured and in the unit of what is asked (of a column a
    text, a truth or nothing, too).

    `lines` are the first records that it was made of, `records` how many there are.  The columns `instants` are in ns
    since 1970.  Of what is `given` there is no record: constants of the run make it.
    """

    keys: Mapping[str, object]
    measured: Any
    value: Any
    lines: tuple[Line, ...]
    records: int
    instants: frozenset[str] = frozenset()
    given: bool = False


@dataclass(frozen=True, slots=True)
class Spread:
    """How samples are spread: `counts` of samples in parts of the same width from `low` to `high`."""

    low: float
    high: float
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """The samples of one distribution of several: what it is of (a host), how many samples, their mean."""

    of: str
    size: int
    mean: float


@dataclass(slots=True)
class Tracing:
    """The samples of a run in an open engine."""

    connection: duckdb.DuckDBPyConnection
    package: Package
    prepared: IngestedRun
    asked: SampleQuery
    factor: Fraction
    made: ConstantInputs

    def size(self) -> int:
        """How many samples there are."""
        return int(self._extremes()[0])

    def ranked(self, greatest: bool, limit: int, shown: int = SHOWN) -> tuple[Sample, ...]:
        """The greatest (or least) samples, of equal ones the first by key, each with at most `shown` records."""
        rows = self._rows(sample_query.ranked(TABLE, self.asked.keys, greatest, limit))
        lines = self._lines([item for row in rows for item in row[companion(VALUE)][:shown]])
        return tuple(self._sample(row, lines, shown) for row in rows)

    def groups(self, per: str) -> tuple[Group, ...]:
        """The distributions for each value of a column; none where there is but one."""
        if not per:
            return ()
        rows = self.connection.execute(dialect.text(sample_query.grouped(TABLE, per))).fetchall()
        return tuple(Group(str(of), int(size), scale(float(mean), self.factor)) for of, size, mean in rows)

    def matching(self, where: Mapping[str, str], fits: Callable[[Any], bool] | None = None) -> tuple[Sample, ...]:
        """The sample whose columns have these texts; of several the first, by key, whose value fits, else the first.

        None when there is no such sample.
        """
        names = [dialect.column(name) for name in dict.fromkeys((*self.asked.keys, VALUE))]
        place = exp.alias_(dialect.column("rowid"), "place")
        rows = self._rows(dialect.select(place, *names).from_(dialect.table(TABLE)))
        own = [row for row in rows if all(shown_text(str(row[name])) == text for name, text in where.items())]
        own.sort(key=lambda row: tuple(_ordered(row[name]) for name in self.asked.keys))
        chosen = [*(row for row in own if fits is None or fits(row[VALUE])), *own][:1]
        query = dialect.select("*").from_(dialect.table(TABLE))
        here = exp.In(this=dialect.column("rowid"), expressions=[dialect.integer(row["place"]) for row in chosen])
        found = self._rows(query.where(here)) if chosen else []
        lines = self._lines([item for row in found for item in row[companion(VALUE)][:SHOWN]])
        return tuple(self._sample(row, lines, SHOWN) for row in found)

    def spread(self) -> Spread | None:
        """How the samples are spread; None without samples, and where they are not all finite."""
        size, low, high = self._extremes()
        if not size or not (math.isfinite(low) and math.isfinite(high)):
            return None
        ends = scale(low, self.factor), scale(high, self.factor)
        if high == low:
            return Spread(*ends, (int(size),))
        bins = max(LEAST_BINS, min(BINS, round(2 * math.sqrt(size))))
        if isinstance(low, int) and isinstance(high, int):
            bins = min(bins, high - low + 1)
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
        value = row[VALUE]
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            value = scale(value, self.factor)
        return Sample(keys, row[VALUE], value, found, len(told), self.asked.instants, self.made.alone and not told)

    def _lines(self, told: Sequence[Mapping[str, Any]]) -> dict[tuple[str, Place], RawRecord]:
        """The records at places of events."""
        of_event = {event.name: event.source for event in self.package.events}
        found: dict[tuple[str, Place], RawRecord] = {}
        for part in self.prepared.parts:
            own = [item for item in told if of_event[item["event"]] == part.source.name]
            records = find_records(part.source, part.files, {Place(item["host"], item["seq"]) for item in own})
            for item in own:
                place = Place(item["host"], item["seq"])
                found[item["event"], place] = records[place]
        return found


def _ordered(value: object) -> tuple[int, float, str]:
    """Numbers before texts, each in their order."""
    return (0, value, "") if isinstance(value, (int, float)) else (1, 0.0, str(value))


@contextmanager
def tracing(
    session: Session,
    package: Package,
    prepared: IngestedRun,
    statements: Sequence[Statement],
    asked: SampleQuery,
    factor: Fraction,
) -> Iterator[Tracing]:
    """The samples that a query yields of a run, with what they were made of."""
    import duckdb

    told = add_provenance(statements, asked.query, [VALUE])
    samples = Statement("table", TABLE, told.query)
    # In one thread, so that of equal rows always the same one is told of.
    with connect(1, session.store.room()) as connection:
        mount(connection, prepared.folders)
        for item in (*told.statements, samples):
            names = {str(place.this) for place in item.query.find_all(exp.Placeholder)}
            values = bind_parameters(names, prepared.constants)
            session.progress("tracing", told.statements.index(item) if item is not samples else 0, 1)
            try:
                limits = limit.read_limits(f"run {prepared.run.id}: the SQL of `{item.name}`")
                limit.execute(connection, creation(item), values, limits)
            except duckdb.Error as error:
                if is_memory(error):
                    raise out_of_memory(error, f" at `{item.name}` of run {prepared.run.id}") from None
                cause = str(error).split("\n")[0]
                raise fail("engine", f"run {prepared.run.id}: tracing stopped at `{item.name}`: {cause}",
                           status=INTERNAL) from None  # fmt: skip
        made = find_constants(package, prepared, statements, asked.query)
        yield Tracing(connection, package, prepared, asked, factor, made)
