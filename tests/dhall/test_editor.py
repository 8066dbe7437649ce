"""Types, documentation, definitions and completions at a place of a text, be it unfinished."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.dhall import Evaluator, FolderPolicy
from assay.dhall.editor import complete_at, describe_at, find_definition

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


@pytest.fixture
def evaluator(tmp_path: Path) -> Evaluator:
    (tmp_path / "schema.dhall").write_text(SCHEMA)
    return Evaluator(FolderPolicy([tmp_path]))


def place(marked: str) -> tuple[str, int, int]:
    """Return the text without the mark `|!|`, and the line and column of it."""
    before, _, after = marked.partition("|!|")
    line = before.count("\n") + 1
    return before + after, line, len(before) - (before.rfind("\n") + 1) + 1


@pytest.mark.parametrize(
    ("marked", "expected"),
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
        ("let S = ./schema.dhall in 1 + |!|", []),
    ],
)
def test_completions_are_names_of_what_is_before_dot(evaluator, marked, expected) -> None:
    text, line, column = place(marked)
    assert [item.name for item in complete_at(evaluator, "main.dhall", text, line, column)] == expected


def test_completion_shows_type(evaluator) -> None:
    text, line, column = place("let S = ./schema.dhall in S.ela|!|")
    items = complete_at(evaluator, "main.dhall", text, line, column)
    assert [item.type for item in items] == ["∀(from : Text) → { from : Text, unit : Text }"]


@pytest.mark.parametrize(
    ("marked", "type_text", "documentation"),
    [
        ("let S = ./schema.dhall in S.at.star|!|ted", "Text", "the start"),
        ("let S = ./schema.dhall in S.at.stop|!|ped", "Text", "the end"),
        ("-- A number.\nlet size = 3\n\nin  { a = si|!|ze }", "Natural", "A number."),
        ("-- Of two\n-- lines.\nlet size = 3\n\nin  { a = si|!|ze }", "Natural", "Of two\nlines."),
        ("let f = \\(n : Natural) -> |!|n + 1 in f", "Natural", ""),
        ("let a = 1 + tr|!|ue let b = |!|2 in b", None, None),
        ("{ a = 1 + True, b = |!|2.5 }", "Double", ""),
    ],
)
def test_hover_shows_type_and_comment(evaluator, marked, type_text, documentation) -> None:
    text, line, column = place(marked)
    answer = describe_at(evaluator, "main.dhall", text, line, column)
    if type_text is None:
        assert answer is None
    else:
        assert answer is not None
        assert (answer.type, answer.documentation) == (type_text, documentation)


@pytest.mark.parametrize(
    ("marked", "file", "line", "column"),
    [
        ("let S = ./schema.dhall in S.at.star|!|ted", "schema.dhall", 8, 9),
        ("let S = ./schema.dhall\nin |!|S.at", "main.dhall", 1, 5),
        ("let a = 1\nlet b = 2\nlet c = a + |!|b in c", "main.dhall", 2, 5),
        ("let a = 1\nlet a = 2\nin |!|a@1", "main.dhall", 1, 5),
        ("\\(one : Natural) ->\n\\(two : Natural) -> |!|one + two", "main.dhall", 1, 3),
        ("let S = ./sche|!|ma.dhall in S", "schema.dhall", 1, 1),
        ("let r = { a = 1 } // { b = 2 } in r.|!|b", "main.dhall", 1, 24),
        ("let f = \\(n : Natural) -> { a = n } in (f 1).|!|a", "main.dhall", 1, 29),
    ],
)
def test_definition_of_name_is_where_it_is_bound(evaluator, marked, file, line, column) -> None:
    text, cursor_line, cursor_column = place(marked)
    span = find_definition(evaluator, "main.dhall", text, cursor_line, cursor_column)
    assert span is not None
    assert (span.file, span.line, span.column) == (file, line, column)


def test_unfinished_text_has_no_describe_at(evaluator) -> None:
    assert describe_at(evaluator, "main.dhall", "let a = ", 1, 2) is None
