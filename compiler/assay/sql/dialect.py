"""Everything specific to DuckDB: types, casts, COPY, event tables over Parquet files, hosts as an enumeration type.

A host of the enumeration type compares, sorts and prints like its text, so statements need not distinguish them.
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

#: sqlglot registers a dialect by its name before the class is complete; a thread that looks it up at that moment gets
#: a parser without a dialect.  The import above waits for the complete class, in every thread.
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


def to_sql(tree: exp.Expr) -> str:
    """Return the SQL of a statement, formatted for readers."""
    return tree.sql(dialect=DIALECT, pretty=True)


#: a string literal, a quoted name or a comment
_QUOTED = re.compile(r"(?P<text>'(?:[^']|'')*')|\"(?:[^\"]|\"\")*\"|/\*.*?\*/|--[^\n]*", re.DOTALL)


def escape_statement(sql: str) -> str:
    """Return a statement with invisible characters in its string literals escaped (`E'...'`)."""
    return _QUOTED.sub(_escape_literal, sql)


def _escape_literal(match: re.Match[str]) -> str:
    literal = match["text"]
    if not literal or escape_lines(literal) == literal:
        return match.group()
    body = literal[1:-1].replace("\\", "\\\\")
    return "E'" + "".join(c if escape_text(c) == c else _escape_bytes(c) for c in body) + "'"


def _escape_bytes(character: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in character.encode())


def normalize_sql(sql: str) -> str:
    """Return a statement without comments, in one layout: equal texts mean equal tokens."""
    return sqlglot.parse_one(sql, read=DIALECT).sql(dialect=DIALECT, comments=False)


def build_column(name: str, table: str = "") -> exp.Column:
    """Return a column, quoted where its name needs it."""
    return exp.column(name, table=table or None)


@functools.cache
def _build_type(kind: str) -> exp.DataType:
    return exp.DataType.build(TYPES[kind], dialect=DIALECT)


def cast(value: exp.Expr, kind: str) -> exp.Expr:
    """Return a value cast to a type of the spec language."""
    return exp.Cast(this=value, to=_build_type(kind).copy())


def build_nullif_zero(value: exp.Expr) -> exp.Expr:
    """Return a divisor that is null where it is zero, so that the quotient is null, too."""
    return exp.Anonymous(this="nullif", expressions=[value, build_integer(0)])


def build_real_list(values: Sequence[str]) -> exp.Expr:
    """Return a list of doubles from their decimal texts; as one literal, which the engine parses faster than many."""
    numbers = exp.Literal.string(f"[{', '.join(values)}]")
    return exp.Cast(this=numbers, to=exp.DataType.build("DOUBLE[]", dialect=DIALECT))


def build_table(name: str, alias: str = "") -> exp.Table:
    """Return a table by its name."""
    table_alias = exp.TableAlias(this=exp.to_identifier(alias)) if alias else None
    return exp.Table(this=exp.to_identifier(name), alias=table_alias)


def select(*values: exp.Expr | str) -> exp.Select:
    """Return a query for values; strings are column names, and `*` means all columns."""
    expressions = [value if isinstance(value, exp.Expr) else _name_column(value) for value in values]
    return exp.Select(expressions=expressions)


def _name_column(name: str) -> exp.Expr:
    return exp.Star() if name == "*" else build_column(name)


def add_stages(
    query: exp.Select,
    stages: Iterable[tuple[str, exp.Expr]],
    materialized: Container[str] = (),
    inlined: Container[str] = (),
) -> exp.Select:
    """Add stages to a query, as common table expressions in their order.

    The engine computes a stage whose name is in `materialized` once, before anything reads it, and one in `inlined`
    wherever it is read; the others as it sees fit.
    """
    expressions = [
        exp.CTE(
            this=stage,
            alias=exp.TableAlias(this=exp.to_identifier(name)),
            materialized=True if name in materialized else False if name in inlined else None,
        )
        for name, stage in stages
    ]
    query.set("with_", exp.With(expressions=expressions) if expressions else None)
    return query


def build_real(value: str) -> exp.Expr:
    """Return a double from its decimal text (the engine reads a bare `0.1` as a decimal)."""
    return cast(exp.Literal.number(value), "real")


def build_integer(value: int) -> exp.Expr:
    """Return an integer literal."""
    return exp.Literal.number(value) if value >= 0 else exp.Neg(this=exp.Literal.number(-value))


def build_pick(value: exp.Expr, sort_key: exp.Expr, last: bool) -> exp.Expr:
    """Return the value in the row of a group with the least `sort_key` (`last`: the greatest); it may be null."""
    return exp.Anonymous(this="arg_max_null" if last else "arg_min_null", expressions=[value, sort_key])


def build_ordered_list(value: exp.Expr) -> exp.Expr:
    """Return all values of a group as a list, ascending."""
    return exp.Anonymous(this="list", expressions=[exp.Order(this=value, expressions=[exp.Ordered(this=value.copy())])])


def build_list(value: exp.Expr) -> exp.Expr:
    """Return all values of a group as a list, in the order of the rows that the query reads."""
    return exp.Anonymous(this="list", expressions=[value])


def build_length(values: exp.Expr) -> exp.Expr:
    """Return the number of members of a list."""
    return exp.Anonymous(this="len", expressions=[values])


def build_list_extract(values: exp.Expr, index: exp.Expr) -> exp.Expr:
    """Return a member of a list by its index, counted from 1."""
    return exp.Anonymous(this="list_extract", expressions=[values, index])


def build_list_transform(values: exp.Expr, name: str, body: exp.Expr) -> exp.Expr:
    """Return a list with an expression applied to each member, which the expression calls `name`."""
    return exp.Transform(
        this=values, expression=exp.Lambda(this=body, expressions=[exp.to_identifier(name)], colon=True)
    )


def build_exact_sum(values: exp.Expr) -> exp.Expr:
    """Return the compensated sum of a list of doubles, in list order: the same for any number of threads."""
    return exp.Anonymous(this="list_aggregate", expressions=[values, exp.Literal.string("fsum")])


def build_match(value: exp.Expr, pattern: exp.Expr) -> exp.Expr:
    """Return the condition that a regular expression matches a whole text."""
    return exp.Anonymous(this="regexp_full_match", expressions=[value, pattern])


def join_latest_before(query: exp.Select, rows: exp.Expr, on: exp.Expr) -> exp.Select:
    """Join each row with the last row of `rows` (a table or subquery) that `on` allows: equalities and one `<`."""
    query.append("joins", exp.Join(this=rows, method="ASOF", side="LEFT", on=on))
    return query


TARGET = "target"
#: rows in a row group, which is in memory until it is written: half of the default fits into the processor's caches
GROUP = 61_440


def build_copy_with_stats(query: exp.Query) -> str:
    """Return the statement that writes the rows of a query as Parquet, and returns statistics of its columns."""
    options = {"FORMAT": "parquet", "COMPRESSION": "snappy", "PARQUET_VERSION": "v2", "ROW_GROUP_SIZE": str(GROUP)}
    return _copy(query, options, "RETURN_STATS")


def build_copy(query: exp.Query) -> str:
    """Return the statement that writes a small table as Parquet."""
    return _copy(query, {"FORMAT": "parquet"})


def build_copy_to(file: str, query: exp.Query) -> str:
    """Return the statement that writes the rows of a query into a Parquet file for other programs.

    The groups are so large that most files have one: then the bytes depend on nothing but the rows.
    """
    options = {"FORMAT": "parquet", "COMPRESSION": "zstd", "ROW_GROUP_SIZE": str(16 * GROUP)}
    return _copy(query, options, target=exp.Literal.string(file))


def build_copy_to_csv(file: str, query: exp.Query) -> str:
    """Return the statement that writes the rows of a query into a file of comma-separated values, after their names."""
    return _copy(query, {"FORMAT": "csv"}, "HEADER", target=exp.Literal.string(file))


def _copy(query: exp.Query, options: Mapping[str, str], *flags: str, target: exp.Expr | None = None) -> str:
    params = [exp.CopyParameter(this=exp.var(name), expression=exp.var(value)) for name, value in options.items()]
    params += [exp.CopyParameter(this=exp.var(name)) for name in flags]
    target = target or exp.Placeholder(this=TARGET)
    copy = exp.Copy(this=exp.Paren(this=query), kind=False, files=[target], params=params)
    return copy.sql(dialect=DIALECT, copy=False)


TYPE = "host_name"


def build_host_type(suffix: str = "") -> exp.DataType:
    """Return the enumeration type of hosts; with `[]`, the type of lists of them."""
    return exp.DataType.build(f"{TYPE}{suffix}", dialect=DIALECT, udt=True)


def build_create_enum(names: exp.Select) -> str:
    """Return the statement that creates the enumeration type from a query of distinct names."""
    # sqlglot has no tree for CREATE TYPE.
    return f"CREATE TYPE {TYPE} AS ENUM ({to_sql(names)})"


def select_event_rows(source: exp.Expr, fields: Iterable[str], keys: Iterable[str] = KEYS) -> exp.Select:
    """Return the rows of an event that have all required fields: keys and fields, from a scan of its files."""
    return select(*keys, *sorted(fields)).from_(source).where(build_column("whole"))


def build_scan(pattern: str) -> exp.Expr:
    """Return a scan of Parquet files."""
    return exp.ReadParquet(expressions=[exp.Literal.string(pattern)])


def select_parquet(pattern: str) -> exp.Select:
    """Return all rows of Parquet files."""
    return select("*").from_(build_scan(pattern))


def build_empty_table(name: str, columns: Iterable[tuple[str, str]]) -> str:
    """Return the statement that creates an empty table from pairs of column and type of the spec language."""
    definitions = [
        exp.ColumnDef(
            this=exp.to_identifier(item),
            kind=exp.DataType.build(TYPES[kind], dialect=DIALECT),
        )
        for item, kind in columns
    ]
    schema = exp.Schema(this=exp.to_table(name), expressions=definitions)
    return exp.Create(this=schema, kind="TABLE").sql(dialect=DIALECT)
