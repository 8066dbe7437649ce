"""Samples of time series out of files of any form, in two tables of the engine.

`found_series` (file, place, name, labels, key) and `found_samples` (file, place, number, t_ns, value) hold what files
say: `place` numbers the series of a file, `number` its samples in the order they stand in.  Then `series` (id, name,
labels, key) has each series once, and `samples` (series, t_ns, value, file, number) each of its samples once.
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
#: instants are decimal texts of seconds: nine digits after the point are kept, never a double
SECONDS = "DECIMAL(28, 9)"
NANOSECONDS = "DECIMAL(10, 0)"
DIGITS = 9
FINER = r"^([-+]?[0-9]*\.[0-9]{9})[0-9]+$"
#: values that are no decimal numbers
NO_DECIMAL = "(?i)[-+]?(?:inf|infinity|nan)"
SHOWN = 3  # of things that an error names

FOUND = {
    "found_series": {"file": "INTEGER", "place": "BIGINT", "name": "TEXT", "labels": LABELS, "key": "TEXT"},
    "found_samples": {"file": "INTEGER", "place": "BIGINT", "number": "BIGINT", "t_ns": "BIGINT", "value": "DOUBLE"},
    "found_broken": {"file": "INTEGER", "number": "BIGINT", "reason": "TEXT", "text": "TEXT"},
}


def prepare(connection: duckdb.DuckDBPyConnection) -> None:
    """Make the tables of what files say."""
    for name, columns in FOUND.items():
        connection.execute(empty(name, columns))


def run(connection: duckdb.DuckDBPyConnection, query: exp.Expr, **parameters: object) -> list[tuple[Any, ...]]:
    """The rows of a statement."""
    return connection.execute(query.sql(dialect=dialect.DIALECT, copy=False), parameters or None).fetchall()


def make(connection: duckdb.DuckDBPyConnection, name: str, query: exp.Query, **parameters: object) -> None:
    """Make a table of a query's rows."""
    run(connection, exp.Create(this=exp.to_table(name), kind="TABLE", expression=query), **parameters)


def add(connection: duckdb.DuckDBPyConnection, name: str, query: exp.Query, **parameters: object) -> None:
    """Add a query's rows to a table."""
    run(connection, exp.Insert(this=exp.to_table(name), expression=query), **parameters)


def drop(connection: duckdb.DuckDBPyConnection, *names: str) -> None:
    """Drop tables."""
    for name in names:
        run(connection, exp.Drop(tables=[exp.to_table(name)], kind="TABLE"))


def counted() -> exp.Expr:
    """The number of a row, from 1: the engine, in one thread, keeps the order of what it reads."""
    return exp.Window(this=exp.RowNumber())


def instant(seconds: exp.Expr) -> exp.Expr:
    """Seconds since 1970, a decimal text, in ns, finer digits cut; null when it is none."""
    point = builder.call("strpos", seconds.copy(), builder.text("."))
    behind = exp.Sub(this=builder.call("strlen", seconds.copy()), expression=point)
    cut = builder.call("regexp_replace", seconds.copy(), builder.text(FINER), builder.text(r"\1"))
    said = builder.when(exp.GT(this=behind, expression=dialect.integer(DIGITS)), cut, seconds)
    exact = exp.Mul(this=builder.try_cast(said, SECONDS), expression=builder.cast(dialect.integer(10**9), NANOSECONDS))
    return builder.when(builder.is_plain(seconds), builder.try_cast(exact, "BIGINT"))


def number(text: exp.Expr) -> exp.Expr:
    """The double that a text writes, NaN and the infinite ones by their names; null when it is none.

    The cast takes what `tree.is_plain` refuses, makes a decimal number beyond all doubles infinite, and bears what
    follows `nan`.
    """
    value = builder.try_cast(text, "DOUBLE")
    named = builder.call("regexp_full_match", text.copy(), builder.text(NO_DECIMAL))
    return builder.when(builder.when(builder.call("isfinite", value), builder.is_plain(text), named), value.copy())


def entries(labels: exp.Expr) -> exp.Expr:
    """Labels in order of their names, without the name of the series and without empty ones, which are none."""
    name, value = (exp.Dot(this=column("e"), expression=exp.to_identifier(part)) for part in ("key", "value"))
    kept = exp.and_(
        exp.NEQ(this=name, expression=builder.text(NAME)), exp.NEQ(this=value, expression=builder.text(""))
    )  # fmt: skip
    chosen = exp.Lambda(this=kept, expressions=[exp.to_identifier("e")], colon=True)
    listed = builder.call("list_filter", builder.call("map_entries", labels), chosen)
    return builder.call("map_from_entries", builder.call("list_sort", listed))


def add_series(connection: duckdb.DuckDBPyConnection, file: int, query: exp.Select) -> None:
    """Add the series of a file: a query of place, name, labels."""
    labels = builder.from_source(
        dialect.select("place", "name", builder.alias(entries(column("labels")), "labels")), query.subquery("s")
    )
    key = builder.cast(builder.call("to_json", column("labels")), "TEXT")
    values = [dialect.integer(file), column("place"), column("name"), column("labels"), key]
    query = builder.from_source(dialect.select(*values), labels.subquery("l"))
    add(connection, "found_series", query.where(builder.is_not_null(column("labels")), copy=False))


def add_samples(connection: duckdb.DuckDBPyConnection, file: int, table: str, ended: exp.Expr | None = None) -> None:
    """Add the samples of a file out of a table of place, number, t_ns, value, fault, text; what is none is broken.

    `fault` is why something is no sample, null where nothing but the instant or the value may be wrong.  Where `ended`
    holds, a sample marks the end of its line, and has no value.
    """
    whole = exp.and_(*map(builder.is_not_null, (column("t_ns"), column("value"))), builder.is_null(column("fault")))
    value = builder.when(exp.not_(ended), column("value")) if ended else column("value")
    good = builder.from_source(dialect.select(dialect.integer(file), "place", "number", "t_ns", value), table)
    add(connection, "found_samples", good.where(whole, copy=False))
    timeless = builder.text("no time, or a bad one")
    reason = builder.when(builder.is_null(column("t_ns")), timeless, builder.text("no value, or a bad one"))
    reason = builder.first_of([column("fault"), reason])
    text = builder.first_of([column("text"), builder.text("")])
    bad = builder.from_source(dialect.select(dialect.integer(file), "number", reason, text), table)
    add(connection, "found_broken", bad.where(exp.not_(whole.copy()), copy=False))


@dataclass(frozen=True, slots=True)
class Merged:
    """How many samples there are, how many were dropped since they stood twice, how many series were out of order."""

    samples: int
    dropped: int
    unordered: int

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be known of them."""
        found = []
        if self.unordered:
            found.append(f"samples of {self.unordered} series were out of order, and are sorted")
        if self.dropped:
            found.append(_dropped(self.dropped))
        return tuple(found)


def _dropped(number: int) -> str:
    said, verb = numbers.format_count(number, "sample"), "is" if number == 1 else "are"
    return f"{said} stood twice with equal values, and {verb} counted once"


def merge(connection: duckdb.DuckDBPyConnection, names: Mapping[int, str]) -> Merged:
    """Make `series` and `samples` of all that was found; `names` are those of the files.

    Raises AssayError when a series has two values at an instant: nobody can tell which is right, and to leave out
    both would change rates without a word.
    """
    both = dialect.select("name", "key", builder.alias(builder.call("any_value", column("labels")), "labels"))
    each = builder.from_source(both, "found_series").group_by("name", "key").subquery("s")
    order = exp.Order(expressions=[exp.Ordered(this=column(name)) for name in ("name", "key")])
    number = builder.alias(exp.Window(this=exp.RowNumber(), order=order), "id")
    make(connection, "series", builder.from_source(dialect.select(number, "name", "labels", "key"), each))
    _join(connection)
    ((unordered,),) = run(connection, _unordered())
    ((found,),) = run(connection, builder.from_source(dialect.select(exp.Count(this=exp.Star())), "joined"))
    if not run(connection, query_duplicate_instants().limit(1)):
        run(connection, exp.Alter(this=exp.to_table("joined"), kind="TABLE",
                                  actions=[exp.AlterRename(this=exp.to_table("samples"))]))  # fmt: skip
        return Merged(found, 0, unordered)
    _no_conflict(connection, names)
    first = [
        builder.alias(exp.ArgMin(this=column(name), expression=sample_position()), name)
        for name in ("value", "file", "number")
    ]
    once = builder.from_source(dialect.select("series", "t_ns", *first), "joined").group_by("series", "t_ns")
    make(connection, "samples", once)
    drop(connection, "joined")
    ((kept,),) = run(connection, builder.from_source(dialect.select(exp.Count(this=exp.Star())), "samples"))
    return Merged(kept, found - kept, unordered)


def _join(connection: duckdb.DuckDBPyConnection) -> None:
    """The samples by the numbers of their series."""
    places = builder.from_source(dialect.select("file", "place", "id"), "found_series")
    places = places.join("series", using=["name", "key"], copy=False)
    named = builder.alias(column("id"), "series")
    query = builder.from_source(dialect.select(named, "t_ns", "value", "file", "number"), "found_samples")
    make(connection, "joined", query.join(places.subquery("p"), using=["file", "place"], copy=False))
    drop(connection, "found_samples", "found_series")


def sample_position() -> exp.Expr:
    """Where a sample stands: its file, and its number there."""
    return builder.call("row", column("file"), column("number"))


def _unordered() -> exp.Select:
    """How many series have a sample before an earlier one, within a file."""
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
    """Instants of series that have several samples."""
    many = exp.GT(this=exp.Count(this=exp.Star()), expression=dialect.integer(1))
    query = builder.from_source(dialect.select("series", "t_ns"), "joined").group_by("series", "t_ns")
    return query.having(many, copy=False)


def _no_conflict(connection: duckdb.DuckDBPyConnection, names: Mapping[int, str]) -> None:
    """AssayError when samples of a series at an instant differ."""
    # The end of a line is no number, and above all of them.
    said = builder.first_of([column("value"), builder.cast(builder.text("NaN"), "DOUBLE")])
    least, most = exp.Min(this=said), exp.Max(this=said.copy())
    files = [exp.ArgMin(this=column("file"), expression=said.copy()),
             exp.ArgMax(this=column("file"), expression=said.copy())]  # fmt: skip
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
    """The error of a file of samples that cannot be read."""
    return AssayError((Diagnostic("broken-file", f"the samples cannot be read: {path}", found=cause,
                                  hint="is the file cut off, or still being written?"),))  # fmt: skip


def first_of(error: Exception) -> str:
    """The first line of what the engine says."""
    return str(error).split("\n")[0]


def listed(names: Sequence[str]) -> str:
    """Some names, and how many more there are."""
    return ", ".join(names[:SHOWN]) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")
