"""Every function of `specs/Prelude` has a comment, an example that holds, and the type that it should have."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.dhall import Evaluator, FolderPolicy, normal_form, print_node

PRELUDE = Path(__file__).resolve().parents[2] / "specs" / "Prelude"
FILES = sorted(PRELUDE.rglob("*.dhall"))
EVALUATOR = Evaluator(FolderPolicy([PRELUDE]))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(PRELUDE).as_posix())
def test_function_has_comment_and_example(path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.startswith("-- ")
    assert "let example =" in text
    assert EVALUATOR.evaluate_file(path).value is not None


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("./List/map.dhall Natural Natural (\\(n : Natural) -> n + 1) ([] : List Natural)", "[] : List Natural"),
        ("./List/filter.dhall Natural Natural/odd [ 2, 4 ]", "[] : List Natural"),
        ("./List/concat.dhall Text ([] : List (List Text))", "[] : List Text"),
        ("./List/any.dhall Natural Natural/odd ([] : List Natural)", "False"),
        ("./List/all.dhall Natural Natural/odd ([] : List Natural)", "True"),
        ('./List/null.dhall Text [ "" ]', "False"),
        ("./List/head.dhall Text ([] : List Text)", "None Text"),
        ("./Map/keys.dhall Text Bool ([] : ./Map/Type.dhall Text Bool)", "[] : List Text"),
        ("./Map/Entry.dhall Text Bool", "{ mapKey : Text, mapValue : Bool }"),
        ("toMap { a = 1 } : List (./Map/Entry.dhall Text Natural)", '[ { mapKey = "a", mapValue = 1 } ]'),
        ("./Optional/map.dhall Natural Text Natural/show (None Natural)", "None Text"),
        ("./Optional/default.dhall Natural 1 (Some 2)", "2"),
        ("./Optional/null.dhall Natural (None Natural)", "True"),
        ('./Text/concatSep.dhall "," ([] : List Text)', '""'),
        ('./Text/concatSep.dhall "," [ "a" ]', '"a"'),
        ("./Natural/equal.dhall 3 4", "False"),
        ("[ ./Natural/lessThan.dhall 2 2, ./Natural/greaterThan.dhall 3 2 ]", "[ False, True ]"),
        ("[ ./Natural/lessThanEqual.dhall 3 2, ./Natural/greaterThanEqual.dhall 2 2 ]", "[ False, True ]"),
        ("[ ./Natural/min.dhall 5 3, ./Natural/max.dhall 5 3 ]", "[ 3, 5 ]"),
        ("./Bool/and.dhall ([] : List Bool)", "True"),
        ("./Bool/or.dhall ([] : List Bool)", "False"),
    ],
)
def test_function_yields_value(expression, expected) -> None:
    assert print_node(normal_form(EVALUATOR.evaluate_text(expression, "main.dhall").value)) == expected
