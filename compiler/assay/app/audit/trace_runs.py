"""Trace a value of a run to its samples, raw records and constants."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from assay.app.session.session import Session
from assay.engine import connection as engine_connection
from assay.engine.executor import connect
from assay.engine.mount import bind_parameters, mount_folders
from assay.engine.results import scale
from assay.ingest.pipeline import find_records
from assay.ingest.readers.protocol import Place, RawRecord
from assay.ingest.run_constants import locate_constant
from assay.lang.model.package import Constant, Package
from assay.lineage import sample_query
from assay.lineage.column_lineage import Origin
from assay.lineage.constants import format_place, index_constants, list_constant_facts
from assay.lineage.graph import get_kind
from assay.lineage.metric_lineage import build_lineage
from assay.lineage.record_lists import build_quoted_column, get_companion_name
from assay.lineage.row_provenance import add_provenance
from assay.lineage.sample_query import VALUE, SampleQuery
from assay.report.run_results import format_constant
from assay.runs.model import IngestedRun
from assay.sql import dialect
from assay.sql.codegen import Statement, build_create_sql
from assay.util.diagnostics import INTERNAL, fail
from assay.util.escape import normalize_text
from assay.util.os_errors import build_memory_error, is_memory_error

if TYPE_CHECKING:
    import duckdb


@dataclass(frozen=True, slots=True)
class RunConstant:
    """A constant of a run.

    `value` is in ns for instants and durations; `text` is the value as tables print it, with its unit. `place` is where
    runs define it; `is_defined` is set if this run does, so that the default does not apply.
    """

    name: str
    value: object
    text: str
    doc: str
    place: str
    is_defined: bool

    @property
    def description(self) -> str:
        """Where its value comes from, in words."""
        return self.place if self.is_defined else f"its default, as the run has no {self.place}"


@dataclass(frozen=True, slots=True)
class ConstantInputs:
    """The constants that values are computed from; `is_sole_input` is set if the values depend on no record."""

    constants: tuple[RunConstant, ...] = ()
    is_sole_input: bool = False


NOTHING = ConstantInputs()


def find_constants(
    package: Package, ingested_run: IngestedRun, statements: Sequence[Statement], query: exp.Expr
) -> ConstantInputs:
    """Return the constants from which the column `value` of a query over statements is computed."""
    target = Statement("table", "traced value", query)
    value_lineage = build_lineage([*statements, target], [Origin(target.name, VALUE)], checks=False)
    declarations = index_constants(package)
    run_constants = tuple(
        create_run_constant(declarations[item.name], ingested_run)
        for item in list_constant_facts(package, value_lineage)
        if item.role == "value"
    )
    events = (item for item, role in value_lineage.roles.items() if role == "value")
    return ConstantInputs(
        run_constants,
        bool(run_constants)
        and not any(get_kind(value_lineage.statements.get(origin.table), origin.table) == "event" for origin in events),
    )


def create_run_constant(constant: Constant, ingested_run: IngestedRun) -> RunConstant:
    """Return a constant of the package with its value in a run."""
    value = ingested_run.constants[constant.name]
    symbol = {"duration": "s", "instant": ""}.get(constant.type, constant.unit.symbol)
    located = locate_constant(constant, ingested_run.run.directory)
    location = format_place(located or constant)
    text = f"{format_constant(constant, value)} {symbol}".rstrip()
    return RunConstant(constant.name, value, text, constant.doc, location, located is not None)


TABLE = "traced samples"
ROW_ID = "row id"  # with a blank, unlike any column of specs
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
    their total. The columns `instants` are in ns since 1970. `is_from_constants` is set if the value is computed from
    constants of the run alone and thus has no records.
    """

    keys: Mapping[str, object]
    measured_value: Any
    value: Any
    lines: tuple[Line, ...]
    records: int
    instants: frozenset[str] = frozenset()
    is_from_constants: bool = False


@dataclass(frozen=True, slots=True)
class Spread:
    """A histogram of samples: `counts` of bins of equal width from `low` to `high`."""

    low: float
    high: float
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """The samples of one of several distributions: its key (such as a host), size and mean."""

    key: str
    size: int
    mean: float


@dataclass(slots=True)
class RunSamples:
    """The samples of a run in an open engine, with the records behind the columns `traced_columns`."""

    connection: duckdb.DuckDBPyConnection
    package: Package
    ingested_run: IngestedRun
    query: SampleQuery
    factor: Fraction
    constant_inputs: ConstantInputs
    traced_columns: tuple[str, ...] = (VALUE,)

    def count_samples(self) -> int:
        """Return the number of samples."""
        return int(self._read_extremes()[0])

    def list_ranked(
        self, greatest: bool, limit: int, record_limit: int = SHOWN, equal_to: float | None = None, skip: int = 0
    ) -> tuple[Sample, ...]:
        """Return the greatest (or least) samples, without the first `skip`, each with at most `record_limit` records.

        Equal samples are in order of their keys. `equal_to` selects the samples of one value, as measured.
        """
        rows = self._fetch_rows(sample_query.select_ranked(TABLE, self.query.keys, greatest, limit, equal_to, skip))
        lines = self._read_records([item for row in rows for item in row[get_companion_name(VALUE)][:record_limit]])
        return tuple(self._create_sample(row, lines, record_limit) for row in rows)

    def list_groups(self, per: str) -> tuple[Group, ...]:
        """Return the distributions for each value of a column; empty if `per` names no column."""
        if not per:
            return ()
        rows = self.connection.execute(dialect.to_sql(sample_query.select_groups(TABLE, per))).fetchall()
        return tuple(Group(str(key), int(size), scale(float(mean), self.factor)) for key, size, mean in rows)

    def find_matching(
        self, column_texts: Mapping[str, str], is_preferred: Callable[[Any], bool] | None = None, limit: int = 1
    ) -> tuple[Sample, ...]:
        """Return at most `limit` samples: the first by key whose columns have these texts.

        Samples for whose value `is_preferred` returns true come first.
        """
        matches = self.list_matching_keys(column_texts)
        best_match = [*(row for row in matches if is_preferred is None or is_preferred(row[VALUE])), *matches][:limit]
        query = dialect.select("*").from_(dialect.build_table(TABLE))
        is_chosen = exp.In(
            this=dialect.build_column("rowid"), expressions=[dialect.build_integer(row[ROW_ID]) for row in best_match]
        )
        chosen_rows = self._fetch_rows(query.where(is_chosen)) if best_match else []
        lines = self._read_records([item for row in chosen_rows for item in row[get_companion_name(VALUE)][:SHOWN]])
        return tuple(self._create_sample(row, lines, SHOWN) for row in chosen_rows)

    def list_matching_keys(self, column_texts: Mapping[str, str]) -> list[dict[str, Any]]:
        """Return keys, value and number (`ROW_ID`) of the samples whose columns have these texts, ordered by key."""
        names = [dialect.build_column(name) for name in dict.fromkeys((*self.query.keys, VALUE))]
        row_id = exp.alias_(dialect.build_column("rowid"), exp.to_identifier(ROW_ID, quoted=True))
        rows = self._fetch_rows(dialect.select(row_id, *names).from_(dialect.build_table(TABLE)))
        matches = [row for row in rows if is_row(row, column_texts.items())]
        return sorted(matches, key=lambda row: tuple(_get_sort_key(row[name]) for name in self.query.keys))

    def list_records(self, row_id: int) -> tuple[tuple[str, Place], ...]:
        """Return event and place of all records behind the traced columns of the sample of a number, in order."""
        is_chosen = exp.EQ(this=dialect.build_column("rowid"), expression=dialect.build_integer(row_id))
        names = [build_quoted_column(get_companion_name(name)) for name in self.traced_columns]
        (row,) = self._fetch_rows(dialect.select(*names).from_(dialect.build_table(TABLE)).where(is_chosen))
        records = {(item["event"], Place(item["host"], item["seq"])) for items in row.values() for item in items or ()}
        return tuple(sorted(records))

    def compute_spread(self) -> Spread | None:
        """Return the histogram of the samples; None without samples, or if not all are finite."""
        size, low, high = self._read_extremes()
        if not size or not (math.isfinite(low) and math.isfinite(high)):
            return None
        ends = scale(low, self.factor), scale(high, self.factor)
        if high == low:
            return Spread(*ends, (int(size),))
        bins = max(LEAST_BINS, min(BINS, round(2 * math.sqrt(size))))
        if isinstance(low, int) and isinstance(high, int):
            bins = min(bins, high - low + 1)
        width = (float(high) - float(low)) / bins
        rows = self._fetch_rows(sample_query.select_bins(TABLE, float(low), width, bins))
        counts = {int(row["part"]): int(row["n"]) for row in rows}
        return Spread(*ends, tuple(counts.get(part, 0) for part in range(bins)))

    def _read_extremes(self) -> tuple[Any, ...]:
        (row,) = self.connection.execute(dialect.to_sql(sample_query.select_extremes(TABLE))).fetchall()
        extremes: tuple[Any, ...] = row
        return extremes

    def _fetch_rows(self, query: exp.Expr) -> list[dict[str, Any]]:
        cursor = self.connection.execute(dialect.to_sql(query))
        names = [item[0] for item in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    def _create_sample(
        self, row: Mapping[str, Any], lines: Mapping[tuple[str, Place], RawRecord], record_limit: int
    ) -> Sample:
        records = row[get_companion_name(VALUE)]
        sample_records = tuple(
            Line(item["event"], item["host"], item["seq"], lines[item["event"], Place(item["host"], item["seq"])])
            for item in records[:record_limit]
        )
        keys = {name: row[name] for name in self.query.keys}
        value = row[VALUE]
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            value = scale(value, self.factor)
        return Sample(
            keys,
            row[VALUE],
            value,
            sample_records,
            len(records),
            self.query.instants,
            self.constant_inputs.is_sole_input and not records,
        )

    def _read_records(self, positions: Sequence[Mapping[str, Any]]) -> dict[tuple[str, Place], RawRecord]:
        """Look up the raw records at positions of events."""
        source_of_event = {event.name: event.source for event in self.package.events}
        raw_records: dict[tuple[str, Place], RawRecord] = {}
        for part in self.ingested_run.parts:
            source_positions = [item for item in positions if source_of_event[item["event"]] == part.source.name]
            records = find_records(
                part.source, part.files, {Place(item["host"], item["seq"]) for item in source_positions}
            )
            for item in source_positions:
                place = Place(item["host"], item["seq"])
                raw_records[item["event"], place] = records[place]
        return raw_records


def is_row(row: Mapping[str, object], column_texts: Iterable[tuple[str, str]]) -> bool:
    """Return whether columns of a row have these texts."""
    return all(normalize_text(str(row[name])) == text for name, text in column_texts)


def _get_sort_key(value: object) -> tuple[int, float, str]:
    """Return a sort key that places numbers before texts."""
    return (0, value, "") if isinstance(value, (int, float)) else (1, 0.0, str(value))


@dataclass(frozen=True, slots=True)
class TracedQuery:
    """A query of samples over statements, the factor to the unit of its metric, and the columns that are traced."""

    statements: Sequence[Statement]
    query: SampleQuery
    factor: Fraction
    columns: Sequence[str] = (VALUE,)


@contextmanager
def open_run_samples(
    session: Session,
    package: Package,
    ingested_run: IngestedRun,
    traced: TracedQuery,
) -> Iterator[RunSamples]:
    """Yield the samples that a query selects from a run, with the records behind its traced columns."""
    import duckdb

    statements, samples_query, traced_columns = traced.statements, traced.query, traced.columns
    with_records = add_provenance(statements, samples_query.query, traced_columns)
    samples = Statement("table", TABLE, with_records.query)
    # One thread, so that the choice among equal rows is reproducible.
    with connect(1, session.store.create_folder()) as connection:
        mount_folders(connection, ingested_run.folders)
        for item in (*with_records.statements, samples):
            names = {str(place.this) for place in item.query.find_all(exp.Placeholder)}
            values = bind_parameters(names, ingested_run.constants)
            session.progress("tracing", with_records.statements.index(item) if item is not samples else 0, 1)
            try:
                limits = engine_connection.read_limits(f"run {ingested_run.run.id}: the SQL of `{item.name}`")
                engine_connection.execute(connection, build_create_sql(item), values, limits)
            except duckdb.Error as error:
                if is_memory_error(error):
                    raise build_memory_error(error, f" at `{item.name}` of run {ingested_run.run.id}") from None
                cause = str(error).split("\n")[0]
                raise fail("engine", f"run {ingested_run.run.id}: tracing stopped at `{item.name}`: {cause}",
                           status=INTERNAL) from None  # fmt: skip
        inputs = find_constants(package, ingested_run, statements, samples_query.query)
        yield RunSamples(connection, package, ingested_run, samples_query, traced.factor, inputs, tuple(traced_columns))
