"""What is specific to DuckDB: types, casts, COPY, hosts as an enumeration, and event tables over Parquet files.

To a statement such a host is the text that it was: it compares, sorts and prints as that.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Container, Iterable, Mapping, Sequence

import sqlglot.dialects.duckdb
from sqlglot import exp

from assay.lang import sql_dependencies
from assay.lang.reserved_names import KEYS
from assay.util.escape import escape_lines, escape_text

#: The library registers a dialect by its name before the class is complete; a thread that looks it up by that name
#: meanwhile gets the parser of no dialect.  The import above waits for the whole class, in every thread.
DIALECT = sql_dependencies.DIALECT

#: column type of the spec language -> type of the engine
TYPES = {
    "integer": "BIGINT",
    "unsigned": "UBIGINT",
    "huge": "INT128",
    "real": "DOUBLE",
    "text": "TEXT",
    "boolean": "BOOLEAN",
    "instant": "BIGINT",
}


def text(tree: exp.Expr) -> str:
    """A statement as people read it."""
    return tree.sql(dialect=DIALECT, pretty=True)


#: a text, a name in quotes or a comment, each as a whole
_QUOTED = re.compile(r"(?P<text>'(?:[^']|'')*')|\"(?:[^\"]|\"\")*\"|/\*.*?\*/|--[^\n]*", re.DOTALL)


def printable(sql: str) -> str:
    """The same statement with nothing in its texts that a terminal would not show: such bytes escaped (`E'...'`)."""
    return _QUOTED.sub(_printable, sql)


def _printable(found: re.Match[str]) -> str:
    text_ = found["text"]
    if not text_ or escape_lines(text_) == text_:
        return found.group()
    body = text_[1:-1].replace("\\", "\\\\")
    return "E'" + "".join(c if escape_text(c) == c else _bytes(c) for c in body) + "'"


def _bytes(character: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in character.encode())


def bare(text_: str) -> str:
    """A statement without its comments, laid out in one way: equal for texts that say the same in the same words."""
    return sqlglot.parse_one(text_, read=DIALECT).sql(dialect=DIALECT, comments=False)


def column(name: str, table: str = "") -> exp.Column:
    """A column, quoted where its name needs it."""
    return exp.column(name, table=table or None)


@functools.cache
def _type(kind: str) -> exp.DataType:
    return exp.DataType.build(TYPES[kind], dialect=DIALECT)


def cast(value: exp.Expr, kind: str) -> exp.Expr:
    """A value as another type of the spec language."""
    return exp.Cast(this=value, to=_type(kind).copy())


def unless_zero(value: exp.Expr) -> exp.Expr:
    """A number, null where it is zero: what is divided by it has no value then."""
    return exp.Anonymous(this="nullif", expressions=[value, integer(0)])


def reals(values: Sequence[str]) -> exp.Expr:
    """A list of doubles from their decimal texts: as one text, which the engine reads faster than so many literals."""
    numbers = exp.Literal.string(f"[{', '.join(values)}]")
    return exp.Cast(this=numbers, to=exp.DataType.build("DOUBLE[]", dialect=DIALECT))


def table(name: str, alias: str = "") -> exp.Table:
    """A table by its name."""
    named = exp.TableAlias(this=exp.to_identifier(alias)) if alias else None
    return exp.Table(this=exp.to_identifier(name), alias=named)


def select(*values: exp.Expr | str) -> exp.Select:
    """A query of values; texts are names of columns, `*` all of them."""
    found = [value if isinstance(value, exp.Expr) else _named(value) for value in values]
    return exp.Select(expressions=found)


def _named(name: str) -> exp.Expr:
    return exp.Star() if name == "*" else column(name)


def staged(query: exp.Select, stages: Iterable[tuple[str, exp.Expr]], kept: Container[str] = ()) -> exp.Select:
    """A query that reads named queries, in their order, as common table expressions; the rows of those that are `kept`
    are worked out once, before anything reads them, as if they were tables."""
    named = [
        exp.CTE(this=stage, alias=exp.TableAlias(this=exp.to_identifier(name)), materialized=name in kept or None)
        for name, stage in stages
    ]
    query.set("with_", exp.With(expressions=named) if named else None)
    return query


def real(value: str) -> exp.Expr:
    """A double from its decimal text (a bare `0.1` would be a decimal)."""
    return cast(exp.Literal.number(value), "real")


def integer(value: int) -> exp.Expr:
    """An integer literal."""
    return exp.Literal.number(value) if value >= 0 else exp.Neg(this=exp.Literal.number(-value))


def picked(value: exp.Expr, by: exp.Expr, last: bool) -> exp.Expr:
    """The value of the row of a group where `by` is least (`last`: greatest), null if it is null there."""
    return exp.Anonymous(this="arg_max_null" if last else "arg_min_null", expressions=[value, by])


def ordered_list(value: exp.Expr) -> exp.Expr:
    """All values of a group, ascending."""
    return exp.Anonymous(this="list", expressions=[exp.Order(this=value, expressions=[exp.Ordered(this=value.copy())])])


def listed(value: exp.Expr) -> exp.Expr:
    """All values of a group as a list, in an order made by the query."""
    return exp.Anonymous(this="list", expressions=[value])


def length(of: exp.Expr) -> exp.Expr:
    """Number of members of a list."""
    return exp.Anonymous(this="len", expressions=[of])


def member(of: exp.Expr, index: exp.Expr) -> exp.Expr:
    """A member of a list by its index, counted from 1."""
    return exp.Anonymous(this="list_extract", expressions=[of, index])


def transformed(of: exp.Expr, name: str, body: exp.Expr) -> exp.Expr:
    """A list with an expression worked out for each member, which the expression calls `name`."""
    return exp.Transform(this=of, expression=exp.Lambda(this=body, expressions=[exp.to_identifier(name)], colon=True))


def exact_sum(of: exp.Expr) -> exp.Expr:
    """Sum of a list of doubles with compensation, in the order of the list: the same for any number of threads."""
    return exp.Anonymous(this="list_aggregate", expressions=[of, exp.Literal.string("fsum")])


def deviation(of: exp.Expr) -> exp.Expr:
    """Standard deviation (n - 1) of a list of numbers, worked out in the order of the list; null for fewer than two."""
    return exp.Anonymous(this="list_aggregate", expressions=[of, exp.Literal.string("stddev_samp")])


def matches(of: exp.Expr, pattern: exp.Expr) -> exp.Expr:
    """Whether the whole of a text matches a regular expression."""
    return exp.Anonymous(this="regexp_full_match", expressions=[of, pattern])


def latest_before(query: exp.Select, rows: exp.Expr, on: exp.Expr) -> exp.Select:
    """Join each row with the last of `rows` (a table or subquery) that `on` (equalities and one `<`) allows."""
    query.append("joins", exp.Join(this=rows, method="ASOF", side="LEFT", on=on))
    return query


TARGET = "target"
#: rows of a group, which are held until it is written: half as many as usual stay in the processor's caches
GROUP = 61_440


def copied(query: exp.Query) -> str:
    """The statement that writes a query's rows as Parquet, and tells about its columns."""
    options = {"FORMAT": "parquet", "COMPRESSION": "snappy", "PARQUET_VERSION": "v2", "ROW_GROUP_SIZE": str(GROUP)}
    return _copy(query, options, "RETURN_STATS")


def copied_plainly(query: exp.Query) -> str:
    """The statement that writes a small table as Parquet."""
    return _copy(query, {"FORMAT": "parquet"})


def _copy(query: exp.Query, options: Mapping[str, str], *flags: str) -> str:
    params = [exp.CopyParameter(this=exp.var(name), expression=exp.var(value)) for name, value in options.items()]
    params += [exp.CopyParameter(this=exp.var(name)) for name in flags]
    target = exp.Placeholder(this=TARGET)
    copy = exp.Copy(this=exp.Paren(this=query), kind=False, files=[target], params=params)
    return copy.sql(dialect=DIALECT, copy=False)


TYPE = "host_name"


def host_type(suffix: str = "") -> exp.DataType:
    """The type of such hosts; with `[]`, that of lists of them."""
    return exp.DataType.build(f"{TYPE}{suffix}", dialect=DIALECT, udt=True)


def enumeration(names: exp.Select) -> str:
    """The statement that makes the type, of a query of names, no two the same."""
    # The library of trees has none for types.
    return f"CREATE TYPE {TYPE} AS ENUM ({text(names)})"


def event_table(source: exp.Expr, fields: Iterable[str], keys: Iterable[str] = KEYS) -> exp.Select:
    """The rows of an event that lack no required field: its keys and the fields, of a scan of its files."""
    return select(*keys, *sorted(fields)).from_(source).where(column("whole"))


def scan(pattern: str) -> exp.Expr:
    """A scan of Parquet files."""
    return exp.ReadParquet(expressions=[exp.Literal.string(pattern)])


def parquet(pattern: str) -> exp.Select:
    """All rows of Parquet files."""
    return select("*").from_(scan(pattern))


def empty_table(name: str, columns: Iterable[tuple[str, str]]) -> str:
    """The statement that makes an empty table of (column, type of the spec language)."""
    defined = [
        exp.ColumnDef(
            this=exp.to_identifier(item),
            kind=exp.DataType.build(TYPES[kind], dialect=DIALECT),
        )
        for item, kind in columns
    ]
    schema = exp.Schema(this=exp.to_table(name), expressions=defined)
    return exp.Create(this=schema, kind="TABLE").sql(dialect=DIALECT)
