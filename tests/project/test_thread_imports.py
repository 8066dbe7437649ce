"""Test that libraries are complete when worker threads use them first."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support.modules import COMPILER, list_all_modules

#: registers a dialect slowly, and lets several threads use it first at the same time
SLOW_REGISTRATION = """
import sys, threading, time
from sqlglot.dialects.dialect import Dialect

class SlowClasses(dict):
    def __setitem__(self, name, dialect):
        super().__setitem__(name, dialect)
        if name == "duckdb":
            registered.set()
            time.sleep(0.5)

registered = threading.Event()
if "duckdb" not in Dialect._classes:
    type(Dialect)._classes = SlowClasses(Dialect._classes)
errors = []

def use(is_second):
    if is_second:
        registered.wait()
    try:
        first_use()
    except Exception as error:
        errors.append(f"{type(error).__name__}: {error}")

threads = [threading.Thread(target=use, args=[number > 0]) for number in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(errors)
"""
FIRST_USES = {
    "types of ingest": (
        "def first_use():\n"
        "    from assay.ingest.sql_trees import build_text, cast\n"
        "    assert cast(build_text('1'), 'TIMESTAMP_NS').sql('duckdb') == \"CAST('1' AS TIMESTAMP_NS)\"\n"
    ),
    "statements of specs": (
        "from assay.lang import sql_dependencies\n"
        "def first_use():\n"
        "    assert len(sql_dependencies.parse_statements('SELECT 1::TIMESTAMP_NS AS a')) == 1\n"
    ),
    "reads of specs": (
        "from assay.lang import sql_dependencies\n"
        "def first_use():\n"
        "    names = sql_dependencies.find_reads('SELECT a::TIMESTAMP_NS AS b FROM t', ['t'], ()).names\n"
        "    assert names is not None, 'no reads are found'\n"
    ),
}


def run_python(program: str) -> str:
    """Run a program in a fresh interpreter and return its output."""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


@pytest.mark.parametrize("use", FIRST_USES)
def test_dialect_used_first_by_threads_is_complete(use: str) -> None:
    assert run_python(FIRST_USES[use] + SLOW_REGISTRATION) == "[]"


def test_modules_that_write_sql_load_the_whole_dialect() -> None:
    """A module takes the name of the dialect from `sql.dialect`, which imports the dialect."""
    lines = {
        path: path.read_text(encoding="utf-8").splitlines()
        for path in list_all_modules()
        if path.name not in {"dialect.py", "sql_dependencies.py"}
    }
    modules_without_optimizer = [
        f"{path.relative_to(COMPILER)}:{number}"
        for path, text in lines.items()
        for number, line in enumerate(text, 1)
        if any(word in line for word in ("sql_dependencies.DIALECT", 'dialect="', 'read="'))
    ]
    assert len(lines) > 100
    assert modules_without_optimizer == []
