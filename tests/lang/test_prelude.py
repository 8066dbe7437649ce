"""Every function of `specs/Prelude` has a comment, an example that holds, and the type of the official Prelude."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay_dhall import Evaluator, FolderPolicy, normalize, print_node

PRELUDE = Path(__file__).resolve().parents[2] / "specs" / "Prelude"
PACKAGES = sorted(PRELUDE.rglob("package.dhall"))
FILES = sorted(set(PRELUDE.rglob("*.dhall")) - set(PACKAGES))
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
    assert print_node(normalize(EVALUATOR.evaluate_text(expression, "main.dhall").value)) == expected


@pytest.mark.parametrize("path", PACKAGES, ids=lambda path: path.relative_to(PRELUDE).as_posix())
def test_package_has_everything_in_its_folder(path) -> None:
    files = {file.stem for file in path.parent.glob("*.dhall")} - {"package"}
    folders = {folder.name for folder in path.parent.iterdir() if folder.is_dir()}
    assert set(EVALUATOR.evaluate_file(path).value.fields) == files | folders


#: types of functions of dhall-lang 23
MAP = "List { mapKey : k, mapValue : v }"
OFFICIAL = {
    "Bool/and": "List Bool -> Bool",
    "Bool/not": "Bool -> Bool",
    "Bool/or": "List Bool -> Bool",
    "List/all": "forall (a : Type) -> (a -> Bool) -> List a -> Bool",
    "List/any": "forall (a : Type) -> (a -> Bool) -> List a -> Bool",
    "List/concat": "forall (a : Type) -> List (List a) -> List a",
    "List/concatMap": "forall (a : Type) -> forall (b : Type) -> (a -> List b) -> List a -> List b",
    "List/filter": "forall (a : Type) -> (a -> Bool) -> List a -> List a",
    "List/head": "forall (a : Type) -> List a -> Optional a",
    "List/indexed": "forall (a : Type) -> List a -> List { index : Natural, value : a }",
    "List/last": "forall (a : Type) -> List a -> Optional a",
    "List/length": "forall (a : Type) -> List a -> Natural",
    "List/map": "forall (a : Type) -> forall (b : Type) -> (a -> b) -> List a -> List b",
    "List/null": "forall (a : Type) -> List a -> Bool",
    "List/reverse": "forall (a : Type) -> List a -> List a",
    "Map/Entry": "Type -> Type -> Type",
    "Map/Type": "Type -> Type -> Type",
    "Map/keyText": "Text -> Text -> { mapKey : Text, mapValue : Text }",
    "Map/keys": f"forall (k : Type) -> forall (v : Type) -> {MAP} -> List k",
    "Map/map": "forall (k : Type) -> forall (a : Type) -> forall (b : Type) -> (a -> b) -> "
    "List { mapKey : k, mapValue : a } -> List { mapKey : k, mapValue : b }",
    "Map/values": f"forall (k : Type) -> forall (v : Type) -> {MAP} -> List v",
    "Natural/equal": "Natural -> Natural -> Bool",
    "Natural/greaterThan": "Natural -> Natural -> Bool",
    "Natural/greaterThanEqual": "Natural -> Natural -> Bool",
    "Natural/lessThan": "Natural -> Natural -> Bool",
    "Natural/lessThanEqual": "Natural -> Natural -> Bool",
    "Natural/max": "Natural -> Natural -> Natural",
    "Natural/min": "Natural -> Natural -> Natural",
    "Optional/default": "forall (a : Type) -> a -> Optional a -> a",
    "Optional/fold": "forall (a : Type) -> Optional a -> forall (o : Type) -> forall (some : a -> o) -> "
    "forall (none : o) -> o",
    "Optional/map": "forall (a : Type) -> forall (b : Type) -> (a -> b) -> Optional a -> Optional b",
    "Optional/null": "forall (a : Type) -> Optional a -> Bool",
    "Text/concat": "List Text -> Text",
    "Text/concatMapSep": "forall (separator : Text) -> forall (a : Type) -> (a -> Text) -> List a -> Text",
    "Text/concatSep": "forall (separator : Text) -> forall (texts : List Text) -> Text",
}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(PRELUDE).as_posix())
def test_function_has_type_of_official_prelude(path) -> None:
    name = path.relative_to(PRELUDE).with_suffix("").as_posix()
    assert EVALUATOR.evaluate_text(f"./{name}.dhall : {OFFICIAL[name]}", "main.dhall").value is not None
