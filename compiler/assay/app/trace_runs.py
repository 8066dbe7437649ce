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
    """A constant of a run.

    `value` is in ns for instants and durations; `text` is the value as tables print it, with its unit. `place` is where
    the run defines it; `told` is set if the run does, and its default does not apply.
    """

    name: str
    value: object
    text: str
    doc: str
    place: str
    told: bool

    @property
    def description(self) -> str:
        """Where its value comes from, in words."""
        return self.place if self.told else f"its default, as the run has no {self.place}"


@dataclass(frozen=True, slots=True)
class ConstantInputs:
    """The constants that values are computed from; `alone` is set if they depend on no record."""

    constants: tuple[RunConstant, ...] = ()
    alone: bool = False


NOTHING = ConstantInputs()


def find_constants(
    package: Package, prepared: IngestedRun, statements: Sequence[Statement], query: exp.Expr
) -> ConstantInputs:
    """Return the constants from which the column `value` of a query over statements is computed."""
    target = Statement("table", "asked", query)
    value_lineage = lineage([*statements, target], [Origin(target.name, VALUE)], checks=False)
    declarations = declared(package)
    run_constants = tuple(
        make_constant(declarations[item.name], prepared)
        for item in constants(package, value_lineage)
        if item.role == "value"
    )
    events = (item for item, role in value_lineage.roles.items() if role == "value")
    return ConstantInputs(
        run_constants,
        bool(run_constants)
        and not any(kind_of(value_lineage.statements.get(origin.table), origin.table) == "event" for origin in events),
    )


def make_constant(constant: Constant, prepared: IngestedRun) -> RunConstant:
    """Return a constant of the package with its value in a run."""
    value = prepared.constants[constant.name]
    symbol = {"duration": "s", "instant": ""}.get(constant.type, constant.unit.symbol)
    file, path = told_by(constant, prepared.run.directory)
    location = place((file,), path) if file else place(constant.files, constant.path, *constant.or_at)
    text = f"{fact(constant, value)} {symbol}".rstrip()
    return RunConstant(constant.name, value, text, constant.doc, location, bool(file))


TABLE = "traced samples"
SHOWN = 1000  # raw records looked up per sample
BINS, LEAST_BINS = 40, 10


@dataclass(frozen=True, slots=True)
class Line:
    """A raw record behind a sample: its event, host, position and text."""

    event: str
    host: str
    seq: int
    record: RawRecord


@dataclass(frozen=True, slots=True)
class Sample:
    """A sample: the columns that identify it, its value as measured and in the unit of the subject.

    Columns may also have texts, booleans and nulls as values. `lines` are the first records behind it, `records` is
    their total. The columns `instants` are in ns since 1970. `given` is set if the value is computed from constants of
    the run alone and thus has no records.
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
    """A histogram of samples: `counts` of bins of equal width from `low` to `high`."""

    low: float
    high: float
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """The samples of one of several distributions: its key (such as a host), size and mean."""

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
        """Return the number of samples."""
        return int(self._extremes()[0])

    def ranked(self, greatest: bool, limit: int, record_limit: int = SHOWN) -> tuple[Sample, ...]:
        """Return the greatest (or least) samples, each with at most `record_limit` records.

        Equal samples are in order of their keys.
        """
        rows = self._rows(sample_query.ranked(TABLE, self.asked.keys, greatest, limit))
        lines = self._lines([item for row in rows for item in row[companion(VALUE)][:record_limit]])
        return tuple(self._sample(row, lines, record_limit) for row in rows)

    def groups(self, per: str) -> tuple[Group, ...]:
        """Return the distributions for each value of a column; empty if `per` names no column."""
        if not per:
            return ()
        rows = self.connection.execute(dialect.text(sample_query.grouped(TABLE, per))).fetchall()
        return tuple(Group(str(key), int(size), scale(float(mean), self.factor)) for key, size, mean in rows)

    def matching(
        self, column_texts: Mapping[str, str], fits: Callable[[Any], bool] | None = None
    ) -> tuple[Sample, ...]:
        """Return at most one sample: the first by key whose columns have these texts.

        Samples whose value `fits` come first.
        """
        names = [dialect.column(name) for name in dict.fromkeys((*self.asked.keys, VALUE))]
        row_id = exp.alias_(dialect.column("rowid"), "place")
        rows = self._rows(dialect.select(row_id, *names).from_(dialect.table(TABLE)))
        matches = [
            row for row in rows if all(shown_text(str(row[name])) == text for name, text in column_texts.items())
        ]
        matches.sort(key=lambda row: tuple(_ordered(row[name]) for name in self.asked.keys))
        chosen = [*(row for row in matches if fits is None or fits(row[VALUE])), *matches][:1]
        query = dialect.select("*").from_(dialect.table(TABLE))
        is_chosen = exp.In(this=dialect.column("rowid"), expressions=[dialect.integer(row["place"]) for row in chosen])
        chosen_rows = self._rows(query.where(is_chosen)) if chosen else []
        lines = self._lines([item for row in chosen_rows for item in row[companion(VALUE)][:SHOWN]])
        return tuple(self._sample(row, lines, SHOWN) for row in chosen_rows)

    def spread(self) -> Spread | None:
        """Return the histogram of the samples; None if there are none, or not all are finite."""
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
        extremes: tuple[Any, ...] = row
        return extremes

    def _rows(self, query: exp.Expr) -> list[dict[str, Any]]:
        cursor = self.connection.execute(dialect.text(query))
        names = [item[0] for item in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    def _sample(
        self, row: Mapping[str, Any], lines: Mapping[tuple[str, Place], RawRecord], record_limit: int
    ) -> Sample:
        records = row[companion(VALUE)]
        sample_records = tuple(
            Line(item["event"], item["host"], item["seq"], lines[item["event"], Place(item["host"], item["seq"])])
            for item in records[:record_limit]
        )
        keys = {name: row[name] for name in self.asked.keys}
        value = row[VALUE]
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            value = scale(value, self.factor)
        return Sample(
            keys, row[VALUE], value, sample_records, len(records), self.asked.instants, self.made.alone and not records
        )

    def _lines(self, positions: Sequence[Mapping[str, Any]]) -> dict[tuple[str, Place], RawRecord]:
        """Look up the raw records at positions of events."""
        source_of_event = {event.name: event.source for event in self.package.events}
        raw_records: dict[tuple[str, Place], RawRecord] = {}
        for part in self.prepared.parts:
            source_positions = [item for item in positions if source_of_event[item["event"]] == part.source.name]
            records = find_records(
                part.source, part.files, {Place(item["host"], item["seq"]) for item in source_positions}
            )
            for item in source_positions:
                place = Place(item["host"], item["seq"])
                raw_records[item["event"], place] = records[place]
        return raw_records


def _ordered(value: object) -> tuple[int, float, str]:
    """Return a sort key that places numbers before texts."""
    return (0, value, "") if isinstance(value, (int, float)) else (1, 0.0, str(value))


@contextmanager
def tracing(
    session: Session,
    package: Package,
    prepared: IngestedRun,
    statements: Sequence[Statement],
    samples_query: SampleQuery,
    factor: Fraction,
) -> Iterator[Tracing]:
    """Yield the samples that a query selects from a run, with the records behind them."""
    import duckdb

    with_records = add_provenance(statements, samples_query.query, [VALUE])
    samples = Statement("table", TABLE, with_records.query)
    # One thread, so that the choice among equal rows is reproducible.
    with connect(1, session.store.room()) as connection:
        mount(connection, prepared.folders)
        for item in (*with_records.statements, samples):
            names = {str(place.this) for place in item.query.find_all(exp.Placeholder)}
            values = bind_parameters(names, prepared.constants)
            session.progress("tracing", with_records.statements.index(item) if item is not samples else 0, 1)
            try:
                limits = limit.read_limits(f"run {prepared.run.id}: the SQL of `{item.name}`")
                limit.execute(connection, creation(item), values, limits)
            except duckdb.Error as error:
                if is_memory(error):
                    raise out_of_memory(error, f" at `{item.name}` of run {prepared.run.id}") from None
                cause = str(error).split("\n")[0]
                raise fail("engine", f"run {prepared.run.id}: tracing stopped at `{item.name}`: {cause}",
                           status=INTERNAL) from None  # fmt: skip
        inputs = find_constants(package, prepared, statements, samples_query.query)
        yield Tracing(connection, package, prepared, samples_query, factor, inputs)
