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
from assay.ingest.small_tables import empty
from assay.sql import dialect
from assay.sql.dialect import column
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
SHOWN = 3  # items that an error names

FOUND = {
    "found_series": {"file": "INTEGER", "place": "BIGINT", "name": "TEXT", "labels": LABELS, "key": "TEXT"},
    "found_samples": {"file": "INTEGER", "place": "BIGINT", "number": "BIGINT", "t_ns": "BIGINT", "value": "DOUBLE"},
    "found_broken": {"file": "INTEGER", "number": "BIGINT", "reason": "TEXT", "text": "TEXT"},
}


def prepare(connection: duckdb.DuckDBPyConnection) -> None:
    """Create the tables for the content of files."""
    for name, columns in FOUND.items():
        connection.execute(empty(name, columns))


def run(connection: duckdb.DuckDBPyConnection, query: exp.Expr, **parameters: object) -> list[tuple[Any, ...]]:
    """Execute a statement; return its rows."""
    return connection.execute(query.sql(dialect=dialect.DIALECT, copy=False), parameters or None).fetchall()


def make(connection: duckdb.DuckDBPyConnection, name: str, query: exp.Query, **parameters: object) -> None:
    """Create a table from the rows of a query."""
    run(connection, exp.Create(this=exp.to_table(name), kind="TABLE", expression=query), **parameters)


def add(connection: duckdb.DuckDBPyConnection, name: str, query: exp.Query, **parameters: object) -> None:
    """Insert the rows of a query into a table."""
    run(connection, exp.Insert(this=exp.to_table(name), expression=query), **parameters)


def drop(connection: duckdb.DuckDBPyConnection, *names: str) -> None:
    """Drop tables."""
    for name in names:
        run(connection, exp.Drop(tables=[exp.to_table(name)], kind="TABLE"))


def counted() -> exp.Expr:
    """Return the number of a row, from 1. With one thread, the engine preserves the order of rows."""
    return exp.Window(this=exp.RowNumber())


def instant(seconds: exp.Expr) -> exp.Expr:
    """Return a decimal text of seconds since 1970 in ns, finer digits cut; null if it is not a number."""
    point = builder.call("strpos", seconds.copy(), builder.text("."))
    behind = exp.Sub(this=builder.call("strlen", seconds.copy()), expression=point)
    cut = builder.call("regexp_replace", seconds.copy(), builder.text(FINER), builder.text(r"\1"))
    rounded = builder.when(exp.GT(this=behind, expression=dialect.integer(DIGITS)), cut, seconds)
    exact = exp.Mul(
        this=builder.try_cast(rounded, SECONDS), expression=builder.cast(dialect.integer(10**9), NANOSECONDS)
    )
    return builder.when(builder.is_plain(seconds), builder.try_cast(exact, "BIGINT"))


def number(text: exp.Expr) -> exp.Expr:
    """Return the double of a text, NaN and infinities by their names; null if it is not a number.

    The cast alone would accept what `builder.is_plain` rejects, turn too large numbers into infinity, and ignore text
    after `nan`.
    """
    value = builder.try_cast(text, "DOUBLE")
    is_named = builder.call("regexp_full_match", text.copy(), builder.text(NO_DECIMAL))
    return builder.when(builder.when(builder.call("isfinite", value), builder.is_plain(text), is_named), value.copy())


def entries(labels: exp.Expr) -> exp.Expr:
    """Return labels ordered by name, without the name of the series and without empty labels, which do not count."""
    name, value = (exp.Dot(this=column("e"), expression=exp.to_identifier(part)) for part in ("key", "value"))
    is_label = exp.and_(
        exp.NEQ(this=name, expression=builder.text(NAME)), exp.NEQ(this=value, expression=builder.text(""))
    )  # fmt: skip
    chosen = exp.Lambda(this=is_label, expressions=[exp.to_identifier("e")], colon=True)
    listed = builder.call("list_filter", builder.call("map_entries", labels), chosen)
    return builder.call("map_from_entries", builder.call("list_sort", listed))


def add_series(connection: duckdb.DuckDBPyConnection, file: int, query: exp.Select) -> None:
    """Add the series of a file from a query of place, name, labels."""
    labels = builder.from_source(
        dialect.select("place", "name", builder.alias(entries(column("labels")), "labels")), query.subquery("s")
    )
    key = builder.cast(builder.call("to_json", column("labels")), "TEXT")
    values = [dialect.integer(file), column("place"), column("name"), column("labels"), key]
    query = builder.from_source(dialect.select(*values), labels.subquery("l"))
    add(connection, "found_series", query.where(builder.is_not_null(column("labels")), copy=False))


def add_samples(connection: duckdb.DuckDBPyConnection, file: int, table: str, ended: exp.Expr | None = None) -> None:
    """Add the samples of a file from a table of place, number, t_ns, value, fault, text; note malformed ones.

    `fault` is why a row is not a sample, null if only its instant or its value may be invalid. Where `ended` is true, a
    sample marks the end of its line and has no value.
    """
    is_valid = exp.and_(*map(builder.is_not_null, (column("t_ns"), column("value"))), builder.is_null(column("fault")))
    value = builder.when(exp.not_(ended), column("value")) if ended else column("value")
    valid = builder.from_source(dialect.select(dialect.integer(file), "place", "number", "t_ns", value), table)
    add(connection, "found_samples", valid.where(is_valid, copy=False))
    timeless = builder.text("no time, or a bad one")
    reason = builder.when(builder.is_null(column("t_ns")), timeless, builder.text("no value, or a bad one"))
    reason = builder.first_of([column("fault"), reason])
    text = builder.first_of([column("text"), builder.text("")])
    malformed = builder.from_source(dialect.select(dialect.integer(file), "number", reason, text), table)
    add(connection, "found_broken", malformed.where(exp.not_(is_valid.copy()), copy=False))


@dataclass(frozen=True, slots=True)
class Merged:
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
            sentences.append(_dropped(self.dropped))
        return tuple(sentences)


def _dropped(number: int) -> str:
    count, verb = numbers.format_count(number, "sample"), "is" if number == 1 else "are"
    return f"{count} stood twice with equal values, and {verb} counted once"


def merge(connection: duckdb.DuckDBPyConnection, names: Mapping[int, str]) -> Merged:
    """Create `series` and `samples` from the content of files; `names` are the names of the files.

    Raises AssayError if a series has two values at an instant: it is unknown which is right, and to drop both would
    change rates silently.
    """
    both = dialect.select("name", "key", builder.alias(builder.call("any_value", column("labels")), "labels"))
    each = builder.from_source(both, "found_series").group_by("name", "key").subquery("s")
    order = exp.Order(expressions=[exp.Ordered(this=column(name)) for name in ("name", "key")])
    number = builder.alias(exp.Window(this=exp.RowNumber(), order=order), "id")
    make(connection, "series", builder.from_source(dialect.select(number, "name", "labels", "key"), each))
    _join(connection)
    ((unordered,),) = run(connection, _unordered())
    ((total,),) = run(connection, builder.from_source(dialect.select(exp.Count(this=exp.Star())), "joined"))
    if not run(connection, query_duplicate_instants().limit(1)):
        run(connection, exp.Alter(this=exp.to_table("joined"), kind="TABLE",
                                  actions=[exp.AlterRename(this=exp.to_table("samples"))]))  # fmt: skip
        return Merged(total, 0, unordered)
    _no_conflict(connection, names)
    first = [
        builder.alias(exp.ArgMin(this=column(name), expression=sample_position()), name)
        for name in ("value", "file", "number")
    ]
    once = builder.from_source(dialect.select("series", "t_ns", *first), "joined").group_by("series", "t_ns")
    make(connection, "samples", once)
    drop(connection, "joined")
    ((unique,),) = run(connection, builder.from_source(dialect.select(exp.Count(this=exp.Star())), "samples"))
    return Merged(unique, total - unique, unordered)


def _join(connection: duckdb.DuckDBPyConnection) -> None:
    """Assign samples to their series."""
    places = builder.from_source(dialect.select("file", "place", "id"), "found_series")
    places = places.join("series", using=["name", "key"], copy=False)
    series = builder.alias(column("id"), "series")
    query = builder.from_source(dialect.select(series, "t_ns", "value", "file", "number"), "found_samples")
    make(connection, "joined", query.join(places.subquery("p"), using=["file", "place"], copy=False))
    drop(connection, "found_samples", "found_series")


def sample_position() -> exp.Expr:
    """Return the position of a sample: its file, and its number there."""
    return builder.call("row", column("file"), column("number"))


def _unordered() -> exp.Select:
    """Return the query for the number of series with samples that are not in order within a file."""
    window = exp.Window(
        this=exp.Lag(this=column("t_ns")),
        partition_by=[column("series"), column("file")],
        order=exp.Order(expressions=[exp.Ordered(this=column("number"))]),
    )
    before = builder.from_source(dialect.select("series", "t_ns", builder.alias(window, "before")), "joined").subquery(
        "b"
    )
    query = builder.from_source(dialect.select(exp.Count(this=exp.Distinct(expressions=[column("series")]))), before)
    return query.where(exp.LT(this=column("t_ns"), expression=column("before")), copy=False)


def query_duplicate_instants() -> exp.Select:
    """Return the query for instants of series with several samples."""
    many = exp.GT(this=exp.Count(this=exp.Star()), expression=dialect.integer(1))
    query = builder.from_source(dialect.select("series", "t_ns"), "joined").group_by("series", "t_ns")
    return query.having(many, copy=False)


def _no_conflict(connection: duckdb.DuckDBPyConnection, names: Mapping[int, str]) -> None:
    """Check that samples of a series at one instant are equal. Raises AssayError."""
    # The end of a line has no value; it compares as NaN, greater than all numbers.
    value = builder.first_of([column("value"), builder.cast(builder.text("NaN"), "DOUBLE")])
    least, most = exp.Min(this=value), exp.Max(this=value.copy())
    files = [exp.ArgMin(this=column("file"), expression=value.copy()),
             exp.ArgMax(this=column("file"), expression=value.copy())]  # fmt: skip
    values = [
        builder.alias(item, name) for item, name in zip([least, most, *files], ("a", "b", "fa", "fb"), strict=True)
    ]
    differ = exp.NEQ(this=least.copy(), expression=most.copy())
    each = builder.from_source(dialect.select("series", "t_ns", *values), "joined").group_by("series", "t_ns")
    each = each.having(differ, copy=False)
    make(connection, "conflicts", each)
    query = builder.from_source(dialect.select("name", "key", "t_ns", "a", "b", "fa", "fb"), "conflicts")
    query = query.join("series", on=exp.EQ(this=column("series", "conflicts"), expression=column("id")), copy=False)
    rows = run(connection, query.order_by("name", "key", "t_ns").limit(SHOWN))
    if not rows:
        drop(connection, "conflicts")
        return
    ((number,),) = run(connection, builder.from_source(dialect.select(exp.Count(this=exp.Star())), "conflicts"))
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


def unreadable(path: Path, cause: str) -> AssayError:
    """Return the error for a file of samples that cannot be read."""
    return AssayError((Diagnostic("broken-file", f"the samples cannot be read: {path}", found=cause,
                                  hint="is the file cut off, or still being written?"),))  # fmt: skip


def first_of(error: Exception) -> str:
    """Return the first line of an error message of the engine."""
    return str(error).split("\n")[0]


def listed(names: Sequence[str]) -> str:
    """Return the first names as text, and how many more there are."""
    return ", ".join(names[:SHOWN]) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")
