"""What the SQL of specs may be: one query over the tables that it declares, of the data alone.

The engine refuses files and settings at run time, too; here an author is told before any data is read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp

from assay.lang.sql_dependencies import parse_statements
from assay.sql import dialect
from assay.sql.determinism import find_nondeterminism
from assay.sql.error_positions import at, of_word
from assay.sql.total_order import Tables, find_ties
from assay.util.diagnostics import AssayError, Span, fail, suggest_nearest

#: tables that are made of their arguments alone
_MADE = (exp.GenerateSeries, exp.Unnest, exp.Explode)
#: what is no part of a query that only reads, wherever it stands in it
_STATEMENTS = (exp.DML, exp.Create, exp.Command, exp.Set, exp.Copy, exp.Describe, exp.Summarize, exp.Pragma)
#: what depends on the clock, on chance, on settings or on the machine; names that begin so are refused, too
_REFUSED = frozenset(
    [
        "now",
        "today",
        "get_current_time",
        "get_current_timestamp",
        "transaction_timestamp",
        "localtime",
        "localtimestamp",
        "ago",
        "sleep_ms",
        "rand",
        "random",
        "uuid",
        "gen_random_uuid",
        "uuidv4",
        "uuidv7",
        "setseed",
        "nextval",
        "currval",
        "setval",
        "stats",
        "in_search_path",
        "json_execute_serialized_sql",
        "json_serialize_plan",
        "getenv",
        "getvariable",
        "session_user",
        "user",
        "version",
        "query",
        "query_table",
        "write_log",
        "txid_current",
        "glob",
        "sniff_csv",
        "which_secret",
    ]
)
#: what tells of the engine's own affairs, which are others in its next version, or when hosts are held as numbers
_OF_THE_ENGINE = ("hash", "typeof", "enum_code", "enum_first", "enum_last", "enum_range", "enum_range_boundary",
                  "vector_type", "get_block_size")  # fmt: skip
#: what estimates: other values each time, by the number of threads, by the draw
_ESTIMATES = ("approx_", "reservoir_", "list_approx_")
#: what calls a function of a group by the name that its second argument says
_BY_NAME = ("aggregate", "array_aggr", "array_aggregate", "list_aggr", "list_aggregate")
_REFUSED_BEGINNINGS = ("current_", "inet_", "read_", "duckdb_", "pragma_", "parquet_", "pg_", "icu_",
                       "iceberg_", "sqlite_", "postgres_")  # fmt: skip


def parse_sandboxed(sql: str, reads: Collection[str], what: str) -> exp.Expr:
    """The tree of a query that stays within its tables.

    Raises sqlglot's ParseError or TokenError when it does not parse; AssayError `sql-statement` for anything but one
    query, `sql-table` for a table that is not declared, `sql-function` for what reads files, settings, the clock or
    chance, `sql-order` for what takes any of several rows.
    """
    trees = parse_statements(sql)
    text = _Text(sql, what)
    if len(trees) != 1 or not isinstance(trees[0], exp.Query):
        names = ", ".join(type(item).__name__.upper() for item in trees) or "nothing"
        raise text.fail("sql-statement", "is not one query", expected="SELECT ...", found=names)
    tree = trees[0]
    for problem in (*_parts(tree, text), *_tables(tree, reads, text), *_functions(tree, text), *_orders(tree, text)):
        raise problem
    return tree


def tied(tree: exp.Expr, sql: str, tables: Tables, what: str) -> Iterator[AssayError]:
    """What is decided by an order that does not tell all rows apart (`sql-order`), in a query over tables of these
    shapes."""
    assert isinstance(tree, exp.Query)
    text = _Text(sql, what)
    for tie in find_ties(tree, tables):
        word, called = text.word(tie.words)
        span = None
        if tie.place:
            first, last = tie.place
            word, span = sql[first : last + 1], at(sql, first, last - first + 1)
        columns = ", ".join(f"`{name}`" for name in tie.missing)
        hint = f"add {columns} to its ORDER BY: rows that tie have no order" if columns else ""
        yield text.fail(
            "sql-order",
            f"has a `{word}` {tie.problem}: the engine may take others each time",
            word,
            expected="ORDER BY with what tells the rows apart",
            hint=hint or "name a key of the rows in its ORDER BY, or all that is taken of them",
            called=called,
            span=span,
        )


@dataclass(frozen=True, slots=True)
class _Text:
    """The text of a query, and what it is of."""

    sql: str
    what: str

    def fail(
        self, code: str, said: str, word: str = "", *, expected: str, found: str = "", hint: str = "",
        called: bool = False, span: Span | None = None,
    ) -> AssayError:  # fmt: skip
        """A problem of the query; it stands at the span, by default where the word does, with `called` that of a
        function."""
        place = span or (of_word(self.sql, word, before="(" if called else "") if word else None)
        message = f"the SQL of {self.what} {said}"
        return fail(code, message, expected=expected, found=found, hint=hint, span=place, text=self.sql)

    def word(self, words: Sequence[str]) -> tuple[str, bool]:
        """The first of some words for one thing that stands in the query, and whether it is that of a function."""
        for before in ("(", "") if words[0].islower() else ("",):
            for word in words:
                if of_word(self.sql, word, before=before):
                    return word, bool(before)
        return words[0], False

    def refused(self, name: str) -> AssayError:
        """A function that there is no need of."""
        return self.fail(
            "sql-function",
            f"calls `{name}`, which reads more than its tables",
            name,
            expected="functions of the data alone: no files, settings, clock, chance",
        )


def _parts(tree: exp.Expr, text: _Text) -> Iterator[AssayError]:
    """Every part of a query is one, too."""
    inner = (part.this for part in tree.find_all(exp.CTE))
    for part in (*tree.find_all(*_STATEMENTS), *(part for part in inner if not isinstance(part, exp.Query))):
        found = type(part).__name__.upper()
        yield text.fail("sql-statement", "holds what is no query", found, expected="SELECT ...", found=found)
    for _ in tree.find_all(exp.TableSample):
        yield text.refused("tablesample")


def _tables(tree: exp.Expr, reads: Collection[str], text: _Text) -> Iterator[AssayError]:
    declared = {name.casefold() for name in reads}
    for lateral in tree.find_all(exp.Lateral):
        if not isinstance(lateral.this, (exp.Subquery, *_MADE)):
            yield text.refused(_name(lateral.this))
    for table in tree.find_all(exp.Table):
        inner = table.this
        if isinstance(inner, exp.Identifier):
            name = table.sql(dialect=dialect.DIALECT) if table.db or table.catalog else inner.name
            if table.db or name.casefold() not in declared | _named_around(table):
                yield text.fail(
                    "sql-table",
                    f"reads a table that it does not declare: `{name}`",
                    inner.name,
                    expected=", ".join(sorted(set(reads))) or "no table",
                    hint=suggest_nearest(name, reads) or "name it among `uses`",
                )
        elif not isinstance(inner, _MADE):
            yield text.refused(_name(inner))


def _named_around(table: exp.Expr) -> set[str]:
    """The names of queries that a table may mean where it stands: of each `WITH` around it those that come before, and
    when it is recursive the one that it stands in."""
    found: set[str] = set()
    inside, around = table, table.parent
    while around is not None:
        if isinstance(around, exp.With):
            place = next(number for number, item in enumerate(around.expressions) if item is inside)
            before = around.expressions[: place + bool(around.recursive)]
        else:
            given = around.args.get("with_")
            before = given.expressions if given is not None and given is not inside else []
        found |= {item.alias.casefold() for item in before}
        inside, around = around, around.parent
    return found


def _functions(tree: exp.Expr, text: _Text) -> Iterator[AssayError]:
    for function, name in _calls(tree):
        until_now = name == "age" and len(function.expressions) == 1
        if name in _OF_THE_ENGINE:
            yield text.fail(
                "sql-function",
                f"calls `{name}`, which tells of the engine and not of the data",
                name,
                expected="functions of the data alone",
                hint="md5 and sha256 are the same in every engine" if name == "hash" else "",
            )
        elif name.startswith(_ESTIMATES):
            yield text.fail(
                "sql-function",
                f"calls `{name}`, which estimates, another value each time",
                name,
                expected="functions of the data alone",
                hint="quantile_cont, quantile_disc and count(DISTINCT ...) are exact",
            )
        elif name in _BY_NAME and not _named_function(function):
            yield text.fail(
                "sql-function",
                f"calls by `{name}` a function that it does not name",
                name,
                expected="its name, as a text",
            )
        elif name in _REFUSED or name.startswith(_REFUSED_BEGINNINGS) or until_now:
            yield text.refused(name)
    for found in tree.find_all(exp.Column):
        name = found.name.casefold()
        if not found.table and not found.this.quoted and name.startswith("current_"):  # a function without brackets
            yield text.refused(name)


def _calls(tree: exp.Expr) -> Iterator[tuple[exp.Expr, str]]:
    """The functions that a query calls, and their names."""
    for function in tree.find_all(exp.Func):
        name = _name(function)
        yield function, name
        if name in _BY_NAME and (named := _named_function(function)):
            yield function, named


def _named_function(function: exp.Expr) -> str:
    """The name that a call has as its second argument; empty where that is no plain text."""
    second = function.expressions[1] if len(function.expressions) > 1 else None
    return second.name.casefold() if isinstance(second, exp.Literal) and second.is_string else ""


def _orders(tree: exp.Expr, text: _Text) -> Iterator[AssayError]:
    for words, said in find_nondeterminism(tree):
        word, called = text.word(words)
        yield text.fail(
            "sql-order",
            f"has a `{word}` that {said}: the engine may take others each time",
            word,
            expected="ORDER BY with what tells the rows apart",
            hint="min or max take the same each time" if word in ("any_value", "arbitrary") else "",
            called=called,
        )


def _name(function: exp.Expr) -> str:
    if isinstance(function, exp.Anonymous):
        return str(function.name).casefold()
    return function.sql_name().casefold() if isinstance(function, exp.Func) else type(function).__name__.casefold()
