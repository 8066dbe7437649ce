"""The engine's library as commands load it: without what its package adds."""

from __future__ import annotations

import subprocess
import sys

import pytest

BEFORE = """
import sys
from assay.bare_engine import load_bare
load_bare()
import duckdb
"""


def said(*lines: str, before: str = BEFORE) -> list[str]:
    """What a fresh Python prints that loads the engine so and does some more."""
    command = [sys.executable, "-c", before + "\n".join(lines)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def test_the_engine_works_without_the_rest_of_its_package() -> None:
    assert said(
        "from duckdb.value.constant import LongValue",
        "with duckdb.connect() as connection:",
        "    print(connection.execute('SELECT typeof($n)', {'n': LongValue(1)}).fetchone())",
        "print(duckdb.Error.__name__, 'duckdb._relation' in sys.modules, 'importlib.metadata' in sys.modules)",
    ) == ["('BIGINT',)", "Error False False"]


def test_the_version_is_that_of_the_package() -> None:
    assert said("print(duckdb.__version__)") == said("import duckdb", "print(duckdb.__version__)", before="")


@pytest.mark.parametrize("name", ["sql", "build_info"])
def test_what_the_engine_lacks_loads_the_package(name: str) -> None:
    assert said(
        f"print(duckdb.{name} is vars(duckdb)['{name}'], 'duckdb._relation' in sys.modules)",
        "print(duckdb.connect().sql('SELECT 1').fetchall())",
    ) == ["True True", "[(1,)]"]


def test_what_connections_lack_loads_the_package() -> None:
    assert said(
        "connection = duckdb.connect()",
        "print(connection.sql('SELECT 1').fetchall())",
        "print(hasattr(connection, 'nothing'), 'duckdb._relation' in sys.modules)",
    ) == ["[(1,)]", "False True"]


def test_what_nobody_has_is_told_as_of_any_module() -> None:
    assert said(
        "try:",
        "    duckdb.nothing",
        "except AttributeError as error:",
        "    print(error)",
    ) == ["module 'duckdb' has no attribute 'nothing'"]


def test_a_package_that_is_loaded_stays() -> None:
    assert said("load_bare()", "print(len(sys.meta_path))") == said("print(len(sys.meta_path))")


def test_of_another_release_all_is_loaded() -> None:
    """One whose engine is told otherwise what it reads."""
    assert said(
        "from assay.bare_engine import load_bare",
        "import _duckdb, sys",
        "own = _duckdb._set_arrow_sources",
        "del _duckdb._set_arrow_sources",
        "load_bare()",
        "class Loaded:",
        "    def find_spec(self, name, *_):",
        "        if name == 'duckdb._relation':",
        "            _duckdb._set_arrow_sources = own",
        "sys.meta_path.insert(0, Loaded())",
        "import duckdb",
        "print('duckdb._relation' in sys.modules)",
        before="",
    ) == ["True"]
