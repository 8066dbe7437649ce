"""An order that decides a value of a query tells all rows apart: the cases are files of SQL."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from assay.sql.relations import compile_query, refuse_ties
from assay.sql.row_keys import Key, Shape
from assay.util.diagnostics import AssayError
from tests.support.commands import assay, assay_process

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
    statements = re.findall(r"(.+?);(?: -- (\w+))?\n", text, re.DOTALL)
    return [(sql.strip(), word) for sql, word in statements]


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
    (diagnostic,) = error.value.diagnostics
    assert diagnostic.code == "sql-order"
    assert diagnostic.span is not None
    lines = sql.splitlines()[diagnostic.span.line - 1 :]
    start = diagnostic.span.column - 1
    assert lines[0][start : start + diagnostic.span.length] == word


def test_refusal_hints_at_the_missing_columns() -> None:
    with pytest.raises(AssayError) as error:
        check("SELECT first(bytes ORDER BY seq) AS bytes FROM sent")
    (diagnostic,) = error.value.diagnostics
    assert diagnostic.hint == "add `host` to its ORDER BY: rows that tie have no order"


def test_refusal_points_to_the_call_that_ties() -> None:
    sql = "SELECT row_number() OVER (ORDER BY host, seq) AS n,\n  row_number() OVER (ORDER BY t_ns) AS m FROM sent"
    with pytest.raises(AssayError) as error:
        check(sql)
    (diagnostic,) = error.value.diagnostics
    assert diagnostic.span is not None
    assert (diagnostic.span.line, diagnostic.span.column, diagnostic.span.length) == (2, 3, 10)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A workspace, half of the lines of whose run are left to the engine."""
    folder = tmp_path / "workspace"
    assert assay("init", folder).status == 0
    shutil.rmtree(folder / "golden")
    log = folder / "runs" / "1.0" / "web-1" / "log.jsonl"
    lines = log.read_text(encoding="utf-8").splitlines(keepends=True)
    odd = [line.replace('Z"', '+00:00"', 1) for line in lines[:30]]
    log.write_text("".join((*odd, *lines[30:])), encoding="utf-8")
    return folder


def write_query(place: Path, order: str) -> None:
    sql = f"SELECT host, request FROM request_received ORDER BY {order} LIMIT 15\n"
    (place / "queries" / "service" / "requests.sql").write_text(sql, encoding="utf-8")


@pytest.mark.parametrize("command", [("check",), ("query", "wait", "--run", "runs/1.0")], ids=["check", "query"])
def test_order_by_a_constant_is_an_error_with_its_place(place: Path, command: tuple[str, ...]) -> None:
    write_query(place, "1+1")
    done = assay("--cache", place.parent / "cache", *command, within=place)
    assert (done.status, done.err) == (
        1,
        """\
error[sql-order]: the SQL of relation `requests` has a `LIMIT` whose order does not tell all rows apart: \
the engine may take others each time
  at queries/service/requests.sql:1:57
    1 | SELECT host, request FROM request_received ORDER BY 1+1 LIMIT 15
      |                                                         ^^^^^
  expected: ORDER BY with what tells the rows apart
  hint: add `host`, `seq` to its ORDER BY: rows that tie have no order
""",
    )


def test_numbers_are_the_same_without_the_scanner(place: Path) -> None:
    write_query(place, "host, seq")
    command = ("query", "wait", "--run", "runs/1.0", "--format", "json")
    runs = [
        assay_process("--cache", place.parent / mode, *command, within=place, environment={"ASSAY_SCANNER": mode})
        for mode in ("on", "off")
    ]
    assert runs[0].status == 0
    assert runs[0] == runs[1]
