"""Restrict the SQL of specs to one query over its declared tables that depends on nothing but the data.

The engine denies access to files and settings at run time, too; these checks report a problem before any data is read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp

from assay.lang.sql_dependencies import parse_statements
from assay.sql import dialect
from assay.sql.determinism import find_nondeterminism
from assay.sql.error_positions import build_span, find_word
from assay.sql.read_tables import list_visible_queries
from assay.sql.total_order import Tables, find_ties
from assay.util.diagnostics import AssayError, Span, fail, suggest_nearest

#: table functions that depend on their arguments alone
_TABLE_FUNCTIONS = (exp.GenerateSeries, exp.Unnest, exp.Explode)
#: nodes that a query which only reads never contains
_STATEMENTS = (exp.DML, exp.Create, exp.Command, exp.Set, exp.Copy, exp.Describe, exp.Summarize, exp.Pragma)
#: functions that depend on the clock, on chance, on settings or on the machine; see also _REFUSED_BEGINNINGS
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
#: functions that reveal internals, which change with the engine's version or when hosts are an enumeration type
_ENGINE_FUNCTIONS = ("hash", "typeof", "enum_code", "enum_first", "enum_last", "enum_range", "enum_range_boundary",
                  "vector_type", "get_block_size")  # fmt: skip
#: beginnings of functions that estimate: their values depend on the number of threads or on chance
_ESTIMATES = ("approx_", "reservoir_", "list_approx_")
#: functions that call an aggregate function, which their second argument names
_AGGREGATE_CALLERS = ("aggregate", "array_aggr", "array_aggregate", "list_aggr", "list_aggregate")
#: parts of messages about an order that does not decide a value
_VARYING = "its result may differ each time"
_COMPLETE_ORDER = "ORDER BY with columns that distinguish all rows"
_REFUSED_BEGINNINGS = ("current_", "inet_", "read_", "duckdb_", "pragma_", "parquet_", "pg_", "icu_",
                       "iceberg_", "sqlite_", "postgres_")  # fmt: skip


def parse_sandboxed(sql: str, reads: Collection[str], subject: str) -> exp.Expr:
    """Return the tree of a query that reads nothing but its declared tables; `subject` names it in messages.

    Raises sqlglot's ParseError or TokenError when the text does not parse.  Raises AssayError: `sql-statement` for
    anything but one query, `sql-table` for a table that is not declared, `sql-function` for a function that reads
    files, settings, the clock or chance, `sql-order` where the engine would choose one of several rows.
    """
    trees = parse_statements(sql)
    text = _Text(sql, subject)
    if len(trees) != 1 or not isinstance(trees[0], exp.Query):
        names = ", ".join(type(item).__name__.upper() for item in trees) or "nothing"
        raise text.fail("sql-statement", "is not a single query", expected="SELECT ...", found=names)
    tree = trees[0]
    for problem in (
        *_check_statements(tree, text),
        *_check_tables(tree, reads, text),
        *_check_functions(tree, text),
        *_check_order(tree, text),
    ):
        raise problem
    return tree


def find_tie_problems(tree: exp.Expr, sql: str, tables: Tables, subject: str) -> Iterator[AssayError]:
    """Yield the problems (`sql-order`) of a query that decides a value by an order in which rows tie.

    `tables` are the shapes of the tables that it reads.
    """
    assert isinstance(tree, exp.Query)
    text = _Text(sql, subject)
    for tie in find_ties(tree, tables):
        word, is_function = text.choose_word(tie.words)
        span = None
        if tie.place:
            first, last = tie.place
            word, span = sql[first : last + 1], build_span(sql, first, last - first + 1)
        columns = ", ".join(f"`{name}`" for name in tie.missing)
        hint = f"add {columns} to its ORDER BY: rows that tie have no defined order" if columns else ""
        yield text.fail(
            "sql-order",
            f"has a `{word}` {tie.problem}: {_VARYING}",
            word,
            expected=_COMPLETE_ORDER,
            hint=hint or "add a key of the rows, or all values that are selected from them, to its ORDER BY",
            is_call=is_function,
            span=span,
        )


@dataclass(frozen=True, slots=True)
class _Text:
    """The text of a query; `subject` names it in messages."""

    sql: str
    subject: str

    def fail(
        self, code: str, problem: str, word: str = "", *, expected: str, found: str = "", hint: str = "",
        is_call: bool = False, span: Span | None = None,
    ) -> AssayError:  # fmt: skip
        """Return a problem of the query, at the span if there is one, else at the first `word`.

        With `is_call`, the word is the name of a function that is called.
        """
        position = span or (find_word(self.sql, word, before="(" if is_call else "") if word else None)
        message = f"the SQL of {self.subject} {problem}"
        return fail(code, message, expected=expected, found=found, hint=hint, span=position, text=self.sql)

    def choose_word(self, words: Sequence[str]) -> tuple[str, bool]:
        """Return the first of some synonyms that the query contains, and whether it is a function call."""
        for before in ("(", "") if words[0].islower() else ("",):
            for word in words:
                if find_word(self.sql, word, before=before):
                    return word, bool(before)
        return words[0], False

    def build_refusal(self, name: str) -> AssayError:
        """Return the problem of a call that is not allowed in the SQL of specs."""
        return self.fail(
            "sql-function",
            f"calls `{name}`, which depends on more than its tables",
            name,
            expected="functions of the data alone, not of files, settings, the clock or chance",
        )


def _check_statements(tree: exp.Expr, text: _Text) -> Iterator[AssayError]:
    """Report parts of a query that are not queries themselves."""
    stages = (part.this for part in tree.find_all(exp.CTE))
    for part in (*tree.find_all(*_STATEMENTS), *(part for part in stages if not isinstance(part, exp.Query))):
        keyword = type(part).__name__.upper()
        yield text.fail(
            "sql-statement", "contains a statement that is not a query", keyword, expected="SELECT ...", found=keyword
        )
    for _ in tree.find_all(exp.TableSample):
        yield text.build_refusal("tablesample")


def _check_tables(tree: exp.Expr, reads: Collection[str], text: _Text) -> Iterator[AssayError]:
    declared = {name.casefold() for name in reads}
    for lateral in tree.find_all(exp.Lateral):
        if not isinstance(lateral.this, (exp.Subquery, *_TABLE_FUNCTIONS)):
            yield text.build_refusal(_get_function_name(lateral.this))
    for table in tree.find_all(exp.Table):
        inner = table.this
        if isinstance(inner, exp.Identifier):
            name = table.sql(dialect=dialect.DIALECT) if table.db or table.catalog else inner.name
            if table.db or name.casefold() not in declared | list_visible_queries(table):
                yield text.fail(
                    "sql-table",
                    f"reads the undeclared table `{name}`",
                    inner.name,
                    expected=", ".join(sorted(set(reads))) or "no table",
                    hint=suggest_nearest(name, reads) or "add it to `uses`",
                )
        elif not isinstance(inner, _TABLE_FUNCTIONS):
            yield text.build_refusal(_get_function_name(inner))


def _check_functions(tree: exp.Expr, text: _Text) -> Iterator[AssayError]:
    for function, name in _list_calls(tree):
        depends_on_now = name == "age" and len(function.expressions) == 1
        if name in _ENGINE_FUNCTIONS:
            yield text.fail(
                "sql-function",
                f"calls `{name}`, which depends on the engine, not on the data",
                name,
                expected="functions of the data alone",
                hint="use md5 or sha256, which are the same in every engine" if name == "hash" else "",
            )
        elif name.startswith(_ESTIMATES):
            yield text.fail(
                "sql-function",
                f"calls `{name}`, whose estimates differ each time",
                name,
                expected="functions of the data alone",
                hint="use quantile_cont, quantile_disc or count(DISTINCT ...), which are exact",
            )
        elif name in _AGGREGATE_CALLERS and not _find_named_function(function):
            yield text.fail(
                "sql-function",
                f"calls `{name}` without a literal function name",
                name,
                expected="the name of a function as a string literal",
            )
        elif name in _REFUSED or name.startswith(_REFUSED_BEGINNINGS) or depends_on_now:
            yield text.build_refusal(name)
    for column in tree.find_all(exp.Column):
        name = column.name.casefold()
        # functions such as `current_date` are called without parentheses
        if not column.table and not column.this.quoted and name.startswith("current_"):
            yield text.build_refusal(name)


def _list_calls(tree: exp.Expr) -> Iterator[tuple[exp.Expr, str]]:
    """Yield the functions that a query calls, with their names."""
    for function in tree.find_all(exp.Func):
        name = _get_function_name(function)
        yield function, name
        if name in _AGGREGATE_CALLERS and (inner_name := _find_named_function(function)):
            yield function, inner_name


def _find_named_function(function: exp.Expr) -> str:
    """Return the name that a call has as its second argument; empty if that is not a string literal."""
    second = function.expressions[1] if len(function.expressions) > 1 else None
    return second.name.casefold() if isinstance(second, exp.Literal) and second.is_string else ""


def _check_order(tree: exp.Expr, text: _Text) -> Iterator[AssayError]:
    for words, problem in find_nondeterminism(tree):
        word, is_function = text.choose_word(words)
        yield text.fail(
            "sql-order",
            f"has a `{word}` {problem}: {_VARYING}",
            word,
            expected=_COMPLETE_ORDER,
            hint="use min or max, which need no order" if word in ("any_value", "arbitrary") else "",
            is_call=is_function,
        )


def _get_function_name(function: exp.Expr) -> str:
    if isinstance(function, exp.Anonymous):
        return str(function.name).casefold()
    return function.sql_name().casefold() if isinstance(function, exp.Func) else type(function).__name__.casefold()
