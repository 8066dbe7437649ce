"""What the SQL of specs may be: one query over the tables that it declares, of the data alone.

The engine refuses files and settings at run time, too; here an author is told before any data is read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import sqlglot
from sqlglot import exp

from assay.spec.diagnostics import AssayError, did_you_mean, fail
from assay.sql import dialect

#: tables that are made of their arguments alone
_MADE = (exp.GenerateSeries, exp.Unnest, exp.Explode)
#: what depends on the clock, on chance, on settings or on the machine; names that begin so are refused, too
_REFUSED = frozenset(
    [
        "now",
        "current_timestamp",
        "current_date",
        "current_time",
        "current_localtime",
        "current_localtimestamp",
        "today",
        "get_current_time",
        "get_current_timestamp",
        "transaction_timestamp",
        "localtime",
        "localtimestamp",
        "rand",
        "random",
        "uuid",
        "gen_random_uuid",
        "uuidv4",
        "uuidv7",
        "setseed",
        "nextval",
        "currval",
        "getenv",
        "getvariable",
        "current_setting",
        "current_user",
        "current_role",
        "current_schema",
        "current_schemas",
        "current_database",
        "current_catalog",
        "current_query",
        "session_user",
        "user",
        "version",
        "query",
        "query_table",
        "write_log",
        "txid_current",
        "current_transaction_id",
        "current_connection_id",
        "current_query_id",
        "glob",
        "sniff_csv",
        "which_secret",
        "read_duckdb",
    ]
)
_REFUSED_BEGINNINGS = ("read_", "duckdb_", "pragma_", "parquet_", "pg_", "icu_", "iceberg_", "sqlite_", "postgres_")


def confined(sql: str, reads: Collection[str], what: str) -> exp.Expr:
    """The tree of a query that stays within its tables.

    Raises sqlglot's ParseError when it does not parse; AssayError `sql-statement` for anything but one query,
    `sql-table` for a table that is not declared, `sql-function` for what reads files, settings, the clock or chance.
    """
    statements = [item for item in sqlglot.parse(sql, read=dialect.DIALECT) if item is not None]
    if len(statements) != 1 or not isinstance(statements[0], exp.Query):
        names = ", ".join(type(item).__name__.upper() for item in statements) or "nothing"
        raise fail("sql-statement", f"the SQL of {what} is not one query", expected="SELECT ...", found=names)
    tree = statements[0]
    for problem in (*_tables(tree, reads, what), *_functions(tree, what)):
        raise problem
    return tree


def _tables(tree: exp.Expr, reads: Collection[str], what: str) -> Iterator[AssayError]:
    known = {name.casefold() for name in reads} | {cte.alias.casefold() for cte in tree.find_all(exp.CTE)}
    for table in tree.find_all(exp.Table):
        inner = table.this
        if isinstance(inner, exp.Identifier):
            name = table.sql(dialect=dialect.DIALECT) if table.db or table.catalog else inner.name
            if table.db or name.casefold() not in known:
                yield fail(
                    "sql-table",
                    f"the SQL of {what} reads a table that it does not declare: `{name}`",
                    expected=", ".join(sorted(reads)) or "no table",
                    hint=did_you_mean(name, reads) or "name it among `uses`",
                )
        elif not isinstance(inner, _MADE):
            yield _refused(_name(inner), what)


def _functions(tree: exp.Expr, what: str) -> Iterator[AssayError]:
    for function in tree.find_all(exp.Func):
        name = _name(function)
        if name in _REFUSED or name.startswith(_REFUSED_BEGINNINGS):
            yield _refused(name, what)


def _name(function: exp.Expr) -> str:
    if isinstance(function, exp.Anonymous):
        return str(function.name).casefold()
    return function.sql_name().casefold() if isinstance(function, exp.Func) else type(function).__name__.casefold()


def _refused(name: str, what: str) -> AssayError:
    return fail(
        "sql-function",
        f"the SQL of {what} calls `{name}`, which reads more than its tables",
        expected="functions of the data alone: no files, settings, clock, chance",
    )
