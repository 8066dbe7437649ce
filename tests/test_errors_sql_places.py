"""SQL, filters and styles of specs that cannot be: told where they stand, in files of SQL or in specs."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.support.commands import assay
from tests.support.workspaces import edited

PACKAGE = Path(__file__).parent / "own_columns/package.dhall"
SQL = "SELECT host, t_ns AS at, n, place, island, holds, value, took FROM tried"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """The package of a workspace whose relation has its SQL in the specs."""
    (tmp_path / "specs/tries").mkdir(parents=True)
    shutil.copy(PACKAGE, tmp_path / "specs/tries/package.dhall")
    return tmp_path / "specs/tries/package.dhall"


def _checked(package: Path, cache: Path) -> str:
    done = assay("check", "--cache", cache, within=package.parents[2])
    assert done.status == 1
    return done.err


@pytest.mark.parametrize(
    ("slip", "word", "said"),
    [
        ("n::TEXT AS n,", "n::", "error[relation-type]: column `n` of relation `tries` is of another type"),
        ("n AS m,", "m,", "error[relation-columns]: relation `tries` does not yield the columns that it declares"),
        ("nn,", "nn,", "error[sql]: the SQL of `tries` fails: Binder Error"),
    ],
)
def test_sql_in_specs_is_told_where_it_stands_there(
    package: Path, cache: Path, slip: str, word: str, said: str
) -> None:
    edited(package, SQL, SQL.replace("n,", slip, 1))
    line = next(text for text in package.read_text(encoding="utf-8").splitlines() if "sql = " in text)
    number = package.read_text(encoding="utf-8").splitlines().index(line) + 1
    column = line.index(word) + 1
    error = _checked(package, cache)
    assert said in error
    assert f"  at specs/tries/package.dhall:{number}:{column}\n" in error


def test_a_column_of_a_result_is_found_in_the_outermost_query(package: Path, cache: Path) -> None:
    """Inner queries have columns of the same name."""
    queries = package.parents[2] / "queries"
    queries.mkdir()
    columns = "host, t_ns AS at,\n  n::TEXT AS n, place, island, holds, value, took"
    text = f"WITH made AS (SELECT *, n AS n2 FROM tried)\nSELECT {columns}\nFROM made\n"
    (queries / "tries.sql").write_text(text, encoding="utf-8")
    edited(package, f'"{SQL}"', "../../queries/tries.sql as Text")
    assert "  at queries/tries.sql:3:3\n" in _checked(package, cache)


def test_a_build_tells_where_a_style_stands_that_there_is_not(package: Path, cache: Path) -> None:
    edited(package, 'style = "three-digits"', 'style = "three-digit"')
    place = package.parents[2]
    (place / "run").mkdir()
    done = assay("build", "tries/all", "--run", "run", "-o", "out", "--cache", cache, within=place)
    assert done.status == 1
    lines = package.read_text(encoding="utf-8").splitlines()
    (number,) = [index for index, line in enumerate(lines, start=1) if '"three-digit"' in line]
    column = lines[number - 1].index('"three-digit"') + 1
    assert "error[unknown-style]: report `all` is in a number style that does not exist: `three-digit`\n" in done.err
    assert f"  at specs/tries/package.dhall:{number}:{column}\n" in done.err


def test_arguments_of_the_filters_of_reports_are_numbers(package: Path, cache: Path) -> None:
    edited(
        package, 'style = "three-digits"', 'filters = [ { name = "n-leq", argument = "two" } ], style = "three-digits"'
    )
    edited(
        package,
        "    , reports =",
        '    , filters = [ S.Filter::{ name = "n-leq", parameter = Some most, conditions = [ { grain = name, holds ='
        ' X.atMost (X.column n) (M.parameter most) } ], doc = "n" } ], reports =',
    )
    edited(package, "let same = ", 'let most = { name = "most", type = "integer", unit = U.none }\nlet same = ')
    error = _checked(package, cache)
    assert "error[filter-argument]: report `all` applies filter `n-leq` with an argument that is none\n" in error
    assert "  expected: most, a whole number\n  found:    two" in error
    package.write_text(package.read_text(encoding="utf-8").replace('"two"', '"2"'), encoding="utf-8")
    assert assay("check", "--cache", cache, within=package.parents[2]).status == 0
