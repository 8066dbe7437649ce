"""Types, documentation, definitions and completions at a place of a text, be it unfinished."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay_dhall import DhallError, Evaluator, FolderPolicy
from assay_dhall.editor import complete_at, describe_at, find_definition
from assay_dhall.names import RenameError, find_renaming, rename

SCHEMA = """\
-- How long something takes.
let elapsed = \\(from : Text) -> { from, unit = "s" }

{- What can be
   observed. -}
let at =
      { -- the start
        started = "a"
        -- the end
      , stopped = "b"
      }

in  { elapsed
    , at
    , Kind = < Count | Share : Double >
    }
"""

PASSING = """\
-- The words.

-- Those of the schema.
let X = ./schema.dhall

in  { elapsed = X.elapsed, at = X.at }
"""

ELAPSED = "∀(from : Text) → { from : Text, unit : Text }"


@pytest.fixture
def evaluator(tmp_path: Path) -> Evaluator:
    (tmp_path / "schema.dhall").write_text(SCHEMA)
    (tmp_path / "passing.dhall").write_text(PASSING)
    return Evaluator(FolderPolicy([tmp_path]))


def locate_mark(marked_text: str) -> tuple[str, int, int]:
    """Return the text without the mark `|!|`, and the line and column of it."""
    before, _, after = marked_text.partition("|!|")
    line = before.count("\n") + 1
    return before + after, line, len(before) - (before.rfind("\n") + 1) + 1


@pytest.mark.parametrize(
    ("marked_text", "expected"),
    [
        ("let S = ./schema.dhall in S.at.|!|", ["started", "stopped"]),
        ("let S = ./schema.dhall in S.at.st|!|o", ["started", "stopped"]),
        ("let S = ./schema.dhall in S.at.sto|!|", ["stopped"]),
        ("let S = ./schema.dhall in { a = S.|!|, b = 1 }", ["Kind", "at", "elapsed"]),
        ("let S = ./schema.dhall in [ S.Kind.|!| ]", ["Count", "Share"]),
        ("let S = ./schema.dhall let at = S.at in [ at.|!|", ["started", "stopped"]),
        ("let S = ./schema.dhall let x = { a = at.b, c = S.at.|!|\nlet y = 1", ["started", "stopped"]),
        ("\\(r : { one : Natural, two : Text }) -> r.|!|", ["one", "two"]),
        ("let x = 1 in x.|!|", []),
        ("let S = ./schema.dhall in zzz.|!|", []),
        ("\\(r : { one : Natural, two : Text }) -> { a = r.|!|, b = ", ["one", "two"]),
        ("let f = \\(r : { one : Natural }) ->\n  let x = r.|!|\nlet g = 1 in", ["one"]),
        ("let f = \\(r : { one : Natural }) -> let s = r in s.|!| let", ["one"]),
        ("let f = \\(r : { one : Natural }) -> r let x = r.|!|", []),
        ("[ \\(r : { one : Natural }) -> r, r.|!|", []),
        ("let a = { x = 1 }\nlet b = = 2\nlet c = a.|!|", ["x"]),
        ("let a = { x = 1 }\nlet b = { y =\nlet c = a.|!|", ["x"]),
        ("let a = { x = 1 } let b = let a = { y = 2 } in a.|!|", ["y"]),
        ("let a = { x = 1 } let b = let a = { y = 2 } in a in [ a.|!|", ["x"]),
        ('let a = { x = "" } in "${a.|!|', ["x"]),
        ("let a = { x = \"\" } in ''\n  ''${ ''' ${a.|!|} ''", ["x"]),
        ('let a = { x = 1 } in "a.|!|"', []),
        ("let a = { x = 1 } -- a.|!|\nin a", []),
        ("let a = { x = 1 } {- a.|!| -} in a", []),
        ("let a = { x = 1 } in (a // { y = 2 }).|!|", ["x", "y"]),
        ("let a = { x = 1 } in { b = (a // { y = 2 }).|!|", ["x", "y"]),
        ("let a = { x = { y = 1 } } in a.x.|!|", ["y"]),
        ("let a = { `x y` = 1, z = 2 } in a.`x|!|", ["x y"]),
        ("let a = { T = { Type = Natural, default = {=} } } in a.T.|!|", ["Type", "default"]),
        ("let S = ./schema.dhall in 1 + |!|", []),
    ],
)
def test_completions_are_fields_of_the_record_before_the_dot(evaluator, marked_text, expected) -> None:
    text, line, column = locate_mark(marked_text)
    assert [item.name for item in complete_at(evaluator, "main.dhall", text, line, column)] == expected


def test_completion_shows_type(evaluator) -> None:
    text, line, column = locate_mark("let S = ./schema.dhall in S.ela|!|")
    items = complete_at(evaluator, "main.dhall", text, line, column)
    assert [item.type for item in items] == ["∀(from : Text) → { from : Text, unit : Text }"]


def test_completion_shows_comment_of_definition(evaluator) -> None:
    text, line, column = locate_mark("let S = ./schema.dhall in { a = S.|!|")
    items = complete_at(evaluator, "main.dhall", text, line, column)
    assert [item.documentation for item in items] == ["", "What can be\nobserved.", "How long something takes."]


@pytest.mark.parametrize(
    ("marked_text", "type_text", "documentation"),
    [
        ("let S = ./schema.dhall in S.at.star|!|ted", "Text", "the start"),
        ("let S = ./schema.dhall in S.at.stop|!|ped", "Text", "the end"),
        ("-- A number.\nlet size = 3\n\nin  { a = si|!|ze }", "Natural", "A number."),
        ("-- Of two\n-- lines.\nlet size = 3\n\nin  { a = si|!|ze }", "Natural", "Of two\nlines."),
        ("let f = \\(n : Natural) -> |!|n + 1 in f", "Natural", ""),
        ("let a = 1 + tr|!|ue let b = |!|2 in b", None, None),
        ("{ a = 1 + True, b = |!|2.5 }", "Double", ""),
        ("-- A number.\nlet si|!|ze = 3 in size", "Natural", "A number."),
        ("\\(n|!| : Natural) -> n", None, None),
        ("\\(|!|n : Natural) -> n", "Natural", ""),
        ("{ -- how many\n  co|!|unt = 1\n}", "Natural", "how many"),
        ("{ co|!|unt : Natural }", "Natural", ""),
        ("let S = ./schema.dhall in S.ela|!|psed", ELAPSED, "How long something takes."),
        ("let S = ./passing.dhall in S.ela|!|psed", ELAPSED, "How long something takes."),
        ("let S = ./passing.dhall in |!|S.at.started", None, "The words."),
        ("let a = 1 -- |!|one\nin a", None, None),
        ("le|!|t a = 1 in a", None, None),
    ],
)
def test_hover_shows_type_and_comment(evaluator, marked_text, type_text, documentation) -> None:
    text, line, column = locate_mark(marked_text)
    answer = describe_at(evaluator, "main.dhall", text, line, column)
    if documentation is None:
        assert answer is None
    else:
        assert answer is not None
        assert type_text is None or answer.type == type_text
        assert answer.documentation == documentation


@pytest.mark.parametrize(
    ("marked_text", "file", "line", "column"),
    [
        ("let S = ./schema.dhall in S.at.star|!|ted", "schema.dhall", 8, 9),
        ("let S = ./schema.dhall\nin |!|S.at", "main.dhall", 1, 5),
        ("let a = 1\nlet b = 2\nlet c = a + |!|b in c", "main.dhall", 2, 5),
        ("let a = 1\nlet a = 2\nin |!|a@1", "main.dhall", 1, 5),
        ("\\(one : Natural) ->\n\\(two : Natural) -> |!|one + two", "main.dhall", 1, 3),
        ("let S = ./sche|!|ma.dhall in S", "schema.dhall", 1, 1),
        ("let r = { a = 1 } // { b = 2 } in r.|!|b", "main.dhall", 1, 24),
        ("let f = \\(n : Natural) -> { a = n } in (f 1).|!|a", "main.dhall", 1, 29),
        ("let S = ./passing.dhall in S.ela|!|psed", "schema.dhall", 2, 5),
        ("let S = ./passing.dhall in S.a|!|t", "schema.dhall", 6, 5),
        ("let |!|a = 1 in a", "main.dhall", 1, 5),
    ],
)
def test_definition_of_name_is_where_it_is_bound(evaluator, marked_text, file, line, column) -> None:
    text, cursor_line, cursor_column = locate_mark(marked_text)
    span = find_definition(evaluator, "main.dhall", text, cursor_line, cursor_column)
    assert span is not None
    assert (span.file, span.line, span.column) == (file, line, column)


def test_unfinished_text_has_no_describe_at(evaluator) -> None:
    assert describe_at(evaluator, "main.dhall", "let a = ", 1, 2) is None


def rename_at_mark(marked_text: str, new: str) -> str:
    """Return the text after a rename at the mark."""
    return rename_at_position(*locate_mark(marked_text), new)


def rename_at_position(text: str, line: int, column: int, new: str) -> str:
    """Return a text after a rename at a place."""
    for item in reversed(rename("main.dhall", text, line, column, new)):
        text = text[: item.span.start] + item.text + text[item.span.end :]
    return text


@pytest.mark.parametrize(
    ("marked_text", "expected"),
    [
        ("let |!|a = 1 in a + a", "let b = 1 in b + b"),
        ("let a = 1 in a + |!|a", "let b = 1 in b + b"),
        ("let a = 1 in a|!|", "let b = 1 in b"),
        ("let a = 1 let |!|a = a in a + a@1", "let a = 1 let b = a in b + a"),
        ("let |!|a = 1 let a = a in a + a@1", "let b = 1 let a = b in a + b"),
        ("let |!|a = 1 let b = 2 in a + b", "let b = 1 let b = 2 in b@1 + b"),
        ("let b = 1 let |!|a = 2 in a + b", "let b = 1 let b = 2 in b + b@1"),
        ("\\(|!|a : Natural) -> a + 1", "\\(b : Natural) -> b + 1"),
        ("forall (|!|a : Type) -> a", "forall (b : Type) -> b"),
        ("let |!|a = 1 in { a }", "let b = 1 in { a = b }"),
        ("let |!|a = 1 in { a = a, c.a = 2 }.a", "let b = 1 in { a = b, c.a = 2 }.a"),
        ("let |!|a = \"x\" in \"${a}\" ++ ''\n  ${a}''", "let b = \"x\" in \"${b}\" ++ ''\n  ${b}''"),
        ("let |!|`a c` = 1 in `a c`", "let b = 1 in b"),
        ("let |!|a = True + 1 in zzz a", "let b = True + 1 in zzz b"),
        ("let |!|a = 1 + in a", DhallError),
        ("let a = 1 in |!|zzz", RenameError),
        ("let a = { c = 1 } in a.|!|c", RenameError),
    ],
)
def test_rename_preserves_the_binding_of_each_variable(marked_text, expected) -> None:
    if isinstance(expected, str):
        assert rename_at_mark(marked_text, "b") == expected
    else:
        with pytest.raises(expected):
            rename_at_mark(marked_text, "b")


@pytest.mark.parametrize("new", ["", "1a", "a b", "let", "Natural", "`a`", "é"])
def test_rename_refuses_an_invalid_name(new) -> None:
    with pytest.raises(RenameError, match=f"`{new}`"):
        rename_at_mark("let |!|a = 1 in a", new)


def test_renaming_is_the_name_at_place() -> None:
    renaming = find_renaming("main.dhall", "let a = 1\nlet bc = a in bc", 2, 16)
    assert renaming is not None
    assert (renaming.name, renaming.span.line, renaming.span.column, renaming.span.end_column) == ("bc", 2, 15, 17)
    assert find_renaming("main.dhall", "let a = 1 in a", 1, 9) is None
