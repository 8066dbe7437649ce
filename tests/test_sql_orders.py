"""An order that decides a value of a query tells all rows apart: the cases are files of SQL."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from assay.spec.diagnostics import AssayError
from assay.sql.relations import compile_query, refuse_ties
from assay.sql.row_keys import Key, Shape

CASES = Path(__file__).parent / "sql_orders"
WHAT = "relation `r`"


def of_event(name: str, *fields: str, are_lines: bool = True) -> tuple[str, Shape]:
    lines = frozenset({("logs", name)}) if are_lines else frozenset()
    return name, Shape(("host", "seq", "t_ns", *fields), (Key(frozenset(("host", "seq")), lines),))


TABLES = (
    of_event("received", "request"),
    of_event("sent", "request", "bytes"),
    # of a table of records each row is a row of both
    of_event("rows_a", "request", are_lines=False),
    of_event("rows_b", "request", are_lines=False),
    ("requests", Shape(("host", "request", "size"), (Key(frozenset(("host", "request"))),))),
    ("summary", Shape(("host", "total"), (Key(frozenset()),))),
    ("logs", Shape(("host", "lines"), (Key(frozenset(("host",))),))),
)


def statements(name: str) -> list[tuple[str, str]]:
    """The statements of a file, each with the comment behind it."""
    text = (CASES / name).read_text(encoding="utf-8").partition("\n")[2]
    found = re.findall(r"(.+?);(?: -- (\w+))?\n", text, re.DOTALL)
    return [(sql.strip(), word) for sql, word in found]


def check(sql: str) -> None:
    compile_query(sql, {}, [name for name, _ in TABLES], WHAT)
    refuse_ties(sql, TABLES, WHAT)


@pytest.mark.parametrize("sql", [sql for sql, _ in statements("accepted.sql")])
def test_order_that_suffices_is_accepted(sql: str) -> None:
    check(sql)


@pytest.mark.parametrize(("sql", "word"), statements("refused.sql"))
def test_order_that_ties_is_refused_at_its_word(sql: str, word: str) -> None:
    with pytest.raises(AssayError) as error:
        check(sql)
    (found,) = error.value.diagnostics
    assert found.code == "sql-order"
    assert found.span is not None
    lines = sql.splitlines()[found.span.line - 1 :]
    start = found.span.column - 1
    assert lines[0][start : start + found.span.length] == word


def test_refusal_hints_at_the_missing_columns() -> None:
    with pytest.raises(AssayError) as error:
        check("SELECT first(bytes ORDER BY seq) AS bytes FROM sent")
    (found,) = error.value.diagnostics
    assert found.hint == "add `host` to its ORDER BY: rows that tie have no order"
