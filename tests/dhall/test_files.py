"""Files: what may be imported, what is evaluated again, and where parts of values are written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from assay.dhall import DhallError, Evaluator, FolderPolicy, find_origin, to_data

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write_files(**texts: str) -> Path:
        root = tmp_path / "root"
        for name, text in texts.items():
            path = root / f"{name.replace('__', '/')}.dhall"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return root

    return write_files


def refuse(root: Path, name: str = "a.dhall") -> DhallError:
    with pytest.raises(DhallError) as problem:
        Evaluator(FolderPolicy(root)).evaluate_file(name)
    return problem.value


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("env:HOME as Text", "reads the environment"),
        ("https://example.org/a.dhall", "reads from the network"),
        ("/etc/passwd as Text", "is an absolute path"),
        ("~/a.dhall", "is in a home folder"),
        ("../a.dhall", "leaves the workspace"),
        ("./b/../../a.dhall", "leaves the workspace"),
        ("../root/a.dhall as Text", "leaves the workspace"),
        ("missing", "can never be resolved"),
        ("./b", "is a folder"),
        ("./none.dhall", "does not exist"),
        ('./".."/a.dhall', "leaves the workspace"),
        ("https://example.org/a.dhall ? 1", "reads from the network"),
        ("env:HOME ? 1", "reads the environment"),
        ("./a.dhall as Bytes", "`as Bytes` is not supported"),
        ("./a.dhall as Location", "`as Location` is not supported"),
    ],
)
def test_import_outside_is_refused_with_its_place(written: str, message: str, write: Write) -> None:
    error = refuse(write(a=f"let x = 1\n\nin  {written}", b__c="1"))
    (item,) = error.diagnostics
    assert item.code == "import"
    assert message in item.message
    assert item.span
    assert (item.span.file, item.span.line, item.span.column) == ("a.dhall", 3, 5)


@pytest.mark.parametrize("is_folder", [False, True])
def test_link_that_leads_outside_is_refused(is_folder: bool, write: Write, tmp_path: Path) -> None:
    root = write(a="./link.dhall" if not is_folder else "./link/secret.dhall")
    (tmp_path / "secret.dhall").write_text("1")
    (root / ("link" if is_folder else "link.dhall")).symlink_to(tmp_path if is_folder else tmp_path / "secret.dhall")
    assert "symbolic link that leads out" in refuse(root).diagnostics[0].message


def test_link_that_stays_inside_is_followed(write: Write) -> None:
    root = write(a="./link.dhall + 1", b="1")
    (root / "link.dhall").symlink_to(root / "b.dhall")
    assert to_data(Evaluator(FolderPolicy(root)).evaluate_file("a.dhall").value) == 2


def test_second_root_has_what_the_first_lacks(write: Write, tmp_path: Path) -> None:
    root = write(a="{ own = ./b.dhall, shipped = ./c.dhall }", b="1")
    for name, text in {"b": "2", "c": "./b.dhall + 10"}.items():
        (tmp_path / "shipped").mkdir(exist_ok=True)
        (tmp_path / "shipped" / f"{name}.dhall").write_text(text)
    evaluated = Evaluator(FolderPolicy(root, tmp_path / "shipped")).evaluate_file("a.dhall")
    assert to_data(evaluated.value) == {"own": 1, "shipped": 11}
    assert evaluated.files_read == ("a.dhall", "b.dhall", "c.dhall")


def test_cycle_is_refused_with_its_files(write: Write) -> None:
    item = refuse(write(a="./b.dhall", b="./c.dhall", c="./a.dhall")).diagnostics[0]
    assert item.message == "imports form a cycle: a.dhall -> b.dhall -> c.dhall -> a.dhall"
    assert item.span
    assert item.span.file == "c.dhall"


def test_missing_file_is_replaced_by_the_other_side(write: Write) -> None:
    evaluated = Evaluator(FolderPolicy(write(a="./none.dhall ? ./b.dhall", b="7"))).evaluate_file("a.dhall")
    assert to_data(evaluated.value) == 7


def test_file_that_appears_is_preferred(write: Write) -> None:
    root = write(a="./b.dhall", b="./none.dhall ? 7")
    evaluator = Evaluator(FolderPolicy(root))
    assert to_data(evaluator.evaluate_file("a.dhall").value) == 7
    (root / "none.dhall").write_text("8")
    assert to_data(evaluator.evaluate_file("a.dhall").value) == 8


def test_hash_of_an_import_is_checked(write: Write) -> None:
    right = "sha256:d9089b60a3ec6f6d9f2e4a2b5e0e9b1a5e0f7f1a9d9b7d2f2f8ea9b1d3c0f000"
    item = refuse(write(a=f"./b.dhall {right}", b="1 + 1")).diagnostics[0]
    assert item.expected == right
    assert item.found
    fixed = write(a=f"./b.dhall {item.found}", b="\\(x : Natural) -> x", c="1")
    assert "not the one whose hash is given" in refuse(fixed).diagnostics[0].message
    again = write(a=f"./b.dhall {item.found}", b="let two = 2 in two")
    assert to_data(Evaluator(FolderPolicy(again)).evaluate_file("a.dhall").value) == 2


def test_ill_typed_file_is_not_replaced(write: Write) -> None:
    assert refuse(write(a="./b.dhall ? 1", b="1 + True")).diagnostics[0].code == "type"


def test_text_import_gives_the_content(write: Write) -> None:
    root = write(a="./q.sql as Text")
    (root / "q.sql").write_text("SELECT '${x}' -- \\(")
    assert to_data(Evaluator(FolderPolicy(root)).evaluate_file("a.dhall").value) == "SELECT '${x}' -- \\("


def test_bytes_are_imported_where_the_policy_allows(write: Write) -> None:
    policy = FolderPolicy(write(a="./b.dhall as Bytes", b="1"), modes=frozenset(("Code", "Bytes")))
    assert to_data(Evaluator(policy).evaluate_file("a.dhall").value) == b"1"


def test_errors_of_independent_parts_come_together(write: Write) -> None:
    text = (
        'let a = 1 + True\nlet b = "x" : Natural\nlet c = a\nin { a, b, c, d = [ 1, -2, missing_name ], e = { f = z } }'
    )
    places = [(item.span.line, item.span.column) for item in refuse(write(a=text)).diagnostics if item.span]
    assert places == [(1, 13), (2, 9), (4, 24), (4, 28), (4, 54)]


def test_edit_is_seen_and_the_rest_remembered(write: Write) -> None:
    root = write(a="{ b = ./b.dhall, c = ./c.dhall }", b="{ n = 1 }", c="{ m = ./d.dhall }", d="5")
    evaluator = Evaluator(FolderPolicy(root))
    first = evaluator.evaluate_file("a.dhall")
    assert evaluator.evaluate_file("a.dhall").value is first.value
    (root / "d.dhall").write_text("6")
    second = evaluator.evaluate_file("a.dhall")
    assert to_data(second.value) == {"b": {"n": 1}, "c": {"m": 6}}
    assert second.value.fields["b"] is first.value.fields["b"]


def test_error_goes_when_the_file_is_right_again(write: Write) -> None:
    root = write(a="./b.dhall + 1", b="1")
    evaluator = Evaluator(FolderPolicy(root))
    assert to_data(evaluator.evaluate_file("a.dhall").value) == 2
    (root / "b.dhall").write_text("True")
    with pytest.raises(DhallError) as problem:
        evaluator.evaluate_file("a.dhall")
    assert problem.value.files_read == ("a.dhall", "b.dhall")
    (root / "b.dhall").write_text("2")
    assert to_data(evaluator.evaluate_file("a.dhall").value) == 3


ORIGINS: dict[str, tuple[str, list[str | int], str]] = {
    "through a let": ('let t = "x"\nin { a = t }', ["a"], "a.dhall:1:9"),
    "through an import": ("{ a = (./b.dhall).c }", ["a"], "b.dhall:2:7"),
    "preferred side": ("{ a = 1, b = 2 } // { b = 3 }", ["b"], "a.dhall:1:27"),
    "other side": ("{ a = 1, b = 2 } // { b = 3 }", ["a"], "a.dhall:1:7"),
    "nested record": ("{ a.b.c = 1 }", ["a", "b", "c"], "a.dhall:1:11"),
    "item": ("[ 1, 2 ] #\n[ 3,\n  4 ]", [3], "a.dhall:3:3"),
    "default": (
        "let T = { Type = { a : Natural, b : Natural }, default.a = 1 }\nin T::{ b = 2 }",
        ["a"],
        "a.dhall:1:60",
    ),
    "completed": (
        "let T = { Type = { a : Natural, b : Natural }, default.a = 1 }\nin T::{ b = 2 }",
        ["b"],
        "a.dhall:2:13",
    ),
    "argument": ("let f = \\(x : Natural) -> { a = x }\nin f 5", ["a"], "a.dhall:2:6"),
    "field of an argument": (
        "let f = \\(x : { n : Natural }) -> { a = x.n }\nin f { n = 5 }",
        ["a"],
        "a.dhall:2:12",
    ),
    "what a function writes": ("let f = \\(x : Natural) -> { a = 7 }\nin f 5", ["a"], "a.dhall:1:33"),
    "optional": ('{ a = Some { b = "x" } }', ["a", "b"], "a.dhall:1:18"),
    "payload": ("let U = < N : { b : Natural } >\nin { a = U.N { b = 4 } }", ["a", "b"], "a.dhall:2:20"),
    "map": ("{ a = toMap { x = 1, y = 2 } }", ["a", "y"], "a.dhall:1:26"),
    "list of pairs": ('{ a = [ { mapKey = "k", mapValue = 9 } ] }', ["a", "k"], "a.dhall:1:36"),
    "changed field": ("{ a = 1, b = 2 } with b = 8", ["b"], "a.dhall:1:27"),
    "chosen branch": ("{ a = if True then 1 else 2 }", ["a"], "a.dhall:1:20"),
}


@pytest.mark.parametrize("case", ORIGINS)
def test_part_knows_where_it_is_written(case: str, write: Write) -> None:
    text, path, place = ORIGINS[case]
    root = write(a=text, b='{ d = 1\n, c = "text" }')
    origin = find_origin(Evaluator(FolderPolicy(root)).evaluate_file("a.dhall"), path)
    assert origin
    assert str(origin.value) == place


def test_absent_part_has_no_origin(write: Write) -> None:
    assert find_origin(Evaluator(FolderPolicy(write(a="{ a = [ 1 ] }"))).evaluate_file("a.dhall"), ["a", 1]) is None


def test_tags_are_kept_where_wanted() -> None:
    value = (
        Evaluator()
        .evaluate_text("let U = < A | B : Natural > in { a = U.A, b = U.B 1, c = Some 2, d = None Text }")
        .value
    )
    assert to_data(value) == {"a": "A", "b": 1, "c": 2, "d": None}
    assert to_data(value, keep_tags=True) == {"a": "A", "b": {"B": 1}, "c": 2, "d": None}


def test_package_imports_nothing_else_of_assay() -> None:
    package = Path(__file__).parents[2] / "compiler" / "assay" / "dhall"
    lines = [line for path in package.glob("*.py") for line in path.read_text().splitlines() if "import" in line]
    assert len(lines) > 100
    assert [line for line in lines if "assay" in line and "assay.dhall" not in line] == []
