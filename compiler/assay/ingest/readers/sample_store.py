"""Store samples of time series from files of any format in two tables of the engine.

`found_series` (file, place, name, labels, key) and `found_samples` (file, place, number, t_ns, value) have the content
of files: `place` numbers the series of a file, `number` its samples in order. From these, `series` (id, name, labels,
key) has each series once, and `samples` (series, t_ns, value, file, number) each of its samples once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from assay.ingest import builder
from assay.ingest.small_tables import build_create_statement
from assay.sql import dialect
from assay.sql.dialect import build_column
from assay.util import numbers
from assay.util.diagnostics import AssayError, Diagnostic

if TYPE_CHECKING:
    import duckdb

LABELS = "MAP(VARCHAR, VARCHAR)"
NAME = "__name__"
#: instants are decimal texts of seconds with nine digits after the point, never doubles
SECONDS = "DECIMAL(28, 9)"
NANOSECONDS = "DECIMAL(10, 0)"
DIGITS = 9
FINER = r"^([-+]?[0-9]*\.[0-9]{9})[0-9]+$"
#: values that are not decimal numbers
NO_DECIMAL = "(?i)[-+]?(?:inf|infinity|nan)"
MAX_LISTED = 3  # items that an error names

FILE_TABLES = {
    "found_series": {"file": "INTEGER", "place": "BIGINT", "name": "TEXT", "labels": LABELS, "key": "TEXT"},
    "found_samples": {"file": "INTEGER", "place": "BIGINT", "number": "BIGINT", "t_ns": "BIGINT", "value": "DOUBLE"},
    "found_broken": {"file": "INTEGER", "number": "BIGINT", "reason": "TEXT", "text": "TEXT"},
}


def prepare(connection: duckdb.DuckDBPyConnection) -> None:
    """Create the tables for the content of files."""
    for name, columns in FILE_TABLES.items():
        connection.execute(build_create_statement(name, columns))


def execute_statement(
    connection: duckdb.DuckDBPyConnection, query: exp.Expr, **parameters: object
) -> list[tuple[Any, ...]]:
    """Execute a statement; return its rows."""
    return connection.execute(query.sql(dialect=dialect.DIALECT, copy=False), parameters or None).fetchall()


def create_table(connection: duckdb.DuckDBPyConnection, name: str, query: exp.Query, **parameters: object) -> None:
    """Create a table from the rows of a query."""
    execute_statement(connection, exp.Create(this=exp.to_table(name), kind="TABLE", expression=query), **parameters)


def insert_rows(connection: duckdb.DuckDBPyConnection, name: str, query: exp.Query, **parameters: object) -> None:
    """Insert the rows of a query into a table."""
    execute_statement(connection, exp.Insert(this=exp.to_table(name), expression=query), **parameters)


def drop_tables(connection: duckdb.DuckDBPyConnection, *names: str) -> None:
    """Drop tables."""
    for name in names:
        execute_statement(connection, exp.Drop(tables=[exp.to_table(name)], kind="TABLE"))


def build_row_number() -> exp.Expr:
    """Return the number of a row, from 1. With one thread, the engine preserves the order of rows."""
    return exp.Window(this=exp.RowNumber())


def build_instant(seconds: exp.Expr) -> exp.Expr:
    """Return a decimal text of seconds since 1970 in ns, finer digits cut; null if it is not a number."""
    point = builder.call("strpos", seconds.copy(), builder.build_text("."))
    decimals = exp.Sub(this=builder.call("strlen", seconds.copy()), expression=point)
    truncated = builder.call("regexp_replace", seconds.copy(), builder.build_text(FINER), builder.build_text(r"\1"))
    rounded = builder.build_if(exp.GT(this=decimals, expression=dialect.build_integer(DIGITS)), truncated, seconds)
    exact = exp.Mul(
        this=builder.try_cast(rounded, SECONDS), expression=builder.cast(dialect.build_integer(10**9), NANOSECONDS)
    )
    return builder.build_if(builder.is_plain(seconds), builder.try_cast(exact, "BIGINT"))


def build_number(text: exp.Expr) -> exp.Expr:
    """Return the double of a text, NaN and infinities by their names; null if it is not a number.

    The cast alone would accept what `builder.is_plain` rejects, turn too large numbers into infinity, and ignore text
    after `nan`.
    """
    value = builder.try_cast(text, "DOUBLE")
    is_named = builder.call("regexp_full_match", text.copy(), builder.build_text(NO_DECIMAL))
    return builder.build_if(
        builder.build_if(builder.call("isfinite", value), builder.is_plain(text), is_named), value.copy()
    )


def build_label_entries(labels: exp.Expr) -> exp.Expr:
    """Return labels ordered by name, without the name of the series and without empty labels, which do not count."""
    name, value = (exp.Dot(this=build_column("e"), expression=exp.to_identifier(part)) for part in ("key", "value"))
    is_label = exp.and_(
        exp.NEQ(this=name, expression=builder.build_text(NAME)), exp.NEQ(this=value, expression=builder.build_text(""))
    )  # fmt: skip
    keep_label = exp.Lambda(this=is_label, expressions=[exp.to_identifier("e")], colon=True)
    listed = builder.call("list_filter", builder.call("map_entries", labels), keep_label)
    return builder.call("map_from_entries", builder.call("list_sort", listed))


def add_series(connection: duckdb.DuckDBPyConnection, file: int, query: exp.Select) -> None:
    """Add the series of a file from a query of place, name, labels."""
    labels = builder.set_source(
        dialect.select("place", "name", builder.build_alias(build_label_entries(build_column("labels")), "labels")),
        query.subquery("s"),
    )
    key = builder.cast(builder.call("to_json", build_column("labels")), "TEXT")
    values = [dialect.build_integer(file), build_column("place"), build_column("name"), build_column("labels"), key]
    query = builder.set_source(dialect.select(*values), labels.subquery("l"))
    insert_rows(connection, "found_series", query.where(builder.is_not_null(build_column("labels")), copy=False))


def add_samples(connection: duckdb.DuckDBPyConnection, file: int, table: str, is_end: exp.Expr | None = None) -> None:
    """Add the samples of a file from a table of place, number, t_ns, value, fault, text; note malformed ones.

    `fault` is why a row is not a sample, null if only its instant or its value may be invalid. Where `is_end` is true,
    a sample marks the end of its line and has no value.
    """
    is_valid = exp.and_(
        *map(builder.is_not_null, (build_column("t_ns"), build_column("value"))), builder.is_null(build_column("fault"))
    )
    value = builder.build_if(exp.not_(is_end), build_column("value")) if is_end else build_column("value")
    valid = builder.set_source(dialect.select(dialect.build_integer(file), "place", "number", "t_ns", value), table)
    insert_rows(connection, "found_samples", valid.where(is_valid, copy=False))
    timeless = builder.build_text("no time, or a bad one")
    reason = builder.build_if(
        builder.is_null(build_column("t_ns")), timeless, builder.build_text("no value, or a bad one")
    )
    reason = builder.build_coalesce([build_column("fault"), reason])
    text = builder.build_coalesce([build_column("text"), builder.build_text("")])
    malformed = builder.set_source(dialect.select(dialect.build_integer(file), "number", reason, text), table)
    insert_rows(connection, "found_broken", malformed.where(exp.not_(is_valid.copy()), copy=False))


@dataclass(frozen=True, slots=True)
class MergeResult:
    """Number of samples, of duplicates that were dropped, and of series that were not in order."""

    samples: int
    dropped: int
    unordered: int

    @property
    def notes(self) -> tuple[str, ...]:
        """Return warnings about them."""
        sentences = []
        if self.unordered:
            sentences.append(f"samples of {self.unordered} series were out of order, and are sorted")
        if self.dropped:
            sentences.append(_format_dropped(self.dropped))
        return tuple(sentences)


def _format_dropped(number: int) -> str:
    count_text, verb = numbers.format_count(number, "sample"), "is" if number == 1 else "are"
    return f"{count_text} stood twice with equal values, and {verb} counted once"


def merge(connection: duckdb.DuckDBPyConnection, names: Mapping[int, str]) -> MergeResult:
    """Create `series` and `samples` from the content of files; `names` are the names of the files.

    Raises AssayError if a series has two values at an instant: it is unknown which is right, and to drop both would
    change rates silently.
    """
    both = dialect.select(
        "name", "key", builder.build_alias(builder.call("any_value", build_column("labels")), "labels")
    )
    each = builder.set_source(both, "found_series").group_by("name", "key").subquery("s")
    order = exp.Order(expressions=[exp.Ordered(this=build_column(name)) for name in ("name", "key")])
    number = builder.build_alias(exp.Window(this=exp.RowNumber(), order=order), "id")
    create_table(connection, "series", builder.set_source(dialect.select(number, "name", "labels", "key"), each))
    _join(connection)
    ((unordered,),) = execute_statement(connection, _build_unordered_count())
    ((total,),) = execute_statement(
        connection, builder.set_source(dialect.select(exp.Count(this=exp.Star())), "joined")
    )
    if not execute_statement(connection, build_duplicate_instants_query().limit(1)):
        execute_statement(connection, exp.Alter(this=exp.to_table("joined"), kind="TABLE",
                                  actions=[exp.AlterRename(this=exp.to_table("samples"))]))  # fmt: skip
        return MergeResult(total, 0, unordered)
    _check_conflicts(connection, names)
    first = [
        builder.build_alias(exp.ArgMin(this=build_column(name), expression=build_sample_position()), name)
        for name in ("value", "file", "number")
    ]
    once = builder.set_source(dialect.select("series", "t_ns", *first), "joined").group_by("series", "t_ns")
    create_table(connection, "samples", once)
    drop_tables(connection, "joined")
    ((unique,),) = execute_statement(
        connection, builder.set_source(dialect.select(exp.Count(this=exp.Star())), "samples")
    )
    return MergeResult(unique, total - unique, unordered)


def _join(connection: duckdb.DuckDBPyConnection) -> None:
    """Assign samples to their series."""
    places = builder.set_source(dialect.select("file", "place", "id"), "found_series")
    places = places.join("series", using=["name", "key"], copy=False)
    series = builder.build_alias(build_column("id"), "series")
    query = builder.set_source(dialect.select(series, "t_ns", "value", "file", "number"), "found_samples")
    create_table(connection, "joined", query.join(places.subquery("p"), using=["file", "place"], copy=False))
    drop_tables(connection, "found_samples", "found_series")


def build_sample_position() -> exp.Expr:
    """Return the position of a sample: its file, and its number there."""
    return builder.call("row", build_column("file"), build_column("number"))


def _build_unordered_count() -> exp.Select:
    """Return the query for the number of series with samples that are not in order within a file."""
    window = exp.Window(
        this=exp.Lag(this=build_column("t_ns")),
        partition_by=[build_column("series"), build_column("file")],
        order=exp.Order(expressions=[exp.Ordered(this=build_column("number"))]),
    )
    before = builder.set_source(
        dialect.select("series", "t_ns", builder.build_alias(window, "before")), "joined"
    ).subquery("b")
    query = builder.set_source(
        dialect.select(exp.Count(this=exp.Distinct(expressions=[build_column("series")]))), before
    )
    return query.where(exp.LT(this=build_column("t_ns"), expression=build_column("before")), copy=False)


def build_duplicate_instants_query() -> exp.Select:
    """Return the query for instants of series with several samples."""
    has_many = exp.GT(this=exp.Count(this=exp.Star()), expression=dialect.build_integer(1))
    query = builder.set_source(dialect.select("series", "t_ns"), "joined").group_by("series", "t_ns")
    return query.having(has_many, copy=False)


def _check_conflicts(connection: duckdb.DuckDBPyConnection, names: Mapping[int, str]) -> None:
    """Check that samples of a series at one instant are equal. Raises AssayError."""
    # The end of a line has no value; it compares as NaN, greater than all numbers.
    value = builder.build_coalesce([build_column("value"), builder.cast(builder.build_text("NaN"), "DOUBLE")])
    least, most = exp.Min(this=value), exp.Max(this=value.copy())
    files = [exp.ArgMin(this=build_column("file"), expression=value.copy()),
             exp.ArgMax(this=build_column("file"), expression=value.copy())]  # fmt: skip
    values = [
        builder.build_alias(item, name)
        for item, name in zip([least, most, *files], ("a", "b", "fa", "fb"), strict=True)
    ]
    is_different = exp.NEQ(this=least.copy(), expression=most.copy())
    each = builder.set_source(dialect.select("series", "t_ns", *values), "joined").group_by("series", "t_ns")
    each = each.having(is_different, copy=False)
    create_table(connection, "conflicts", each)
    query = builder.set_source(dialect.select("name", "key", "t_ns", "a", "b", "fa", "fb"), "conflicts")
    query = query.join(
        "series", on=exp.EQ(this=build_column("series", "conflicts"), expression=build_column("id")), copy=False
    )
    rows = execute_statement(connection, query.order_by("name", "key", "t_ns").limit(MAX_LISTED))
    if not rows:
        drop_tables(connection, "conflicts")
        return
    ((number,),) = execute_statement(
        connection, builder.set_source(dialect.select(exp.Count(this=exp.Star())), "conflicts")
    )
    notes = tuple(
        f"{name}{key} at {Decimal(t_ns) / 10**9} s: {a!r} in {names[fa]}, {b!r} in {names[fb]}"
        for name, key, t_ns, a, b, fa, fb in rows
    )
    raise AssayError((Diagnostic(
        "samples-differ",
        f"{numbers.format_count(number, 'instant of a series has', 'instants of series have')} two samples that differ",
        expected="one value of a series at an instant",
        notes=notes,
        hint="are these samples of two servers, or of two runs?",
    ),))  # fmt: skip


def build_unreadable_error(path: Path, cause: str) -> AssayError:
    """Return the error for a file of samples that cannot be read."""
    return AssayError((Diagnostic("broken-file", f"the samples cannot be read: {path}", found=cause,
                                  hint="is the file cut off, or still being written?"),))  # fmt: skip


def get_first_line(error: Exception) -> str:
    """Return the first line of an error message of the engine."""
    return str(error).split("\n")[0]


def format_names(names: Sequence[str]) -> str:
    """Return the first names as text, and how many more there are."""
    return ", ".join(names[:MAX_LISTED]) + (f" and {len(names) - MAX_LISTED} more" if len(names) > MAX_LISTED else "")
