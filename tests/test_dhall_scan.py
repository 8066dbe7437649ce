"""What counts as an import is decided by Dhall's lexical rules, before anything is evaluated."""

from __future__ import annotations

import dhall
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.spec.dhall_scan import bound_names, imports, interpolations, nesting, scan


def found(text: str) -> list[str]:
    """The imports of a text as they are written."""
    return [ref.text for ref in imports(scan(text))]


IMPORTS = {
    "a path": ("./a.dhall", ["./a.dhall"]),
    "a parent path": ("../a/b.dhall", ["../a/b.dhall"]),
    "an absolute path": ("f /etc/passwd", ["/etc/passwd"]),
    "a home path": ("~/a.dhall", ["~/a.dhall"]),
    "a quoted component": ('./"a b.dhall" ./c/"d e"', ['./"a b.dhall"', './c/"d e"']),
    "with a hash": ("./a.dhall sha256:" + "0" * 64, ["./a.dhall"]),
    "as text": ("./a.sql as Text", ["./a.sql"]),
    "both sides of an alternative": ("./a ? ./b", ["./a", "./b"]),
    "the environment": ('[ env:HOME, env:"A B" ]', ["env:HOME", 'env:"A B"']),
    "the network, in parentheses": ("(https://a.b/c.dhall)", ["https://a.b/c.dhall"]),
    "plain http with headers": ("http://a.b/c using ./h.dhall", ["http://a.b/c", "./h.dhall"]),
    "missing": ("missing ? ./a", ["missing", "./a"]),
    "in brackets without spaces": ("{a=./a.dhall,b=[./b.dhall]}", ["./a.dhall", "./b.dhall"]),
    "selected from": ("(./a.dhall).b", ["./a.dhall"]),
    "inside a text": ('"a ${./b.dhall} c"', ["./b.dhall"]),
    "inside a text inside a text": ('"a ${"b ${./c.dhall}"}"', ["./c.dhall"]),
    "inside a text of several lines": ("''\n${./a.dhall}\n''", ["./a.dhall"]),
    "behind an escaped interpolation": ("''\n''${./no} ${./yes}\n''", ["./yes"]),
    "behind escaped quotes": ("''\na ''' ./no\n'' ++ ./yes", ["./yes"]),
    "behind an escaped quote": ('"a \\" ./no" ++ ./yes', ["./yes"]),
    "behind an escaped backslash": ('"a \\\\" ++ ./yes ++ "b"', ["./yes"]),
    "behind a comment": ("-- ./no\n./yes", ["./yes"]),
    "behind nested comments": ("{- ./no {- ./no -} ./no -} ./yes", ["./yes"]),
    "behind a quote in a comment": ('{- " -} ./yes {- " -}', ["./yes"]),
    "behind comment signs in a text": ('"{- --" ++ ./yes', ["./yes"]),
    "behind a script's first lines": ("#!/usr/bin/env dhall\n#! ./no\n./yes", ["./yes"]),
    "not a label with slashes": ("let a/./b = Natural/show in List/map", ["./b"]),
    "not operators": ("a // b /\\ c //\\\\ d", []),
    "not a field of that name": ("{ env = 1, https = 2 }.env", []),
    "not a label in backticks": ("{ `missing` = 1, `./a` = 2 }", []),
    "not a longer label": ("missing/x missingx", []),
    "not an annotation": ("\\(env : Text) -> env", []),
}


@pytest.mark.parametrize("name", IMPORTS)
def test_imports_are_found_and_nothing_else_is(name: str) -> None:
    text, expected = IMPORTS[name]
    assert found(text) == expected


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        ("./a as Text", "Text"),
        ("./a\n  -- how\n  as {- it is -} Text", "Text"),
        ("./a sha256:" + "f" * 64 + " as Text", "Text"),
        ("./a as Location", "Location"),
        ("./a as Bytes", "Bytes"),
        ("./a", ""),
        ("[ ./a, as ]", ""),
    ],
)
def test_the_mode_of_an_import_is_read_across_comments(text: str, mode: str) -> None:
    assert imports(scan(text))[0].mode == mode


def test_places_count_lines_and_characters_from_one() -> None:
    scanned = scan('{ a = "é𝄞"\n, b = ./c.dhall }')
    (ref,) = imports(scanned)
    assert scanned.place(ref.start) == (2, 7)
    assert scanned.offset(2, 7) == ref.start


def test_the_components_of_a_path_lose_their_quotes() -> None:
    (ref,) = imports(scan('../a/"b c"/d.dhall'))
    assert ref.parts == ("..", "a", "b c", "d.dhall")


def test_what_is_not_closed_is_known() -> None:
    assert [token.text for token in scan('{ a = "b').unclosed] == ["{", '"']
    assert [token.text for token in scan("{- {- -}").unclosed] == ["{-"]
    assert scan('{ a = "${[ 1 ]}" }').unclosed == ()


def test_expressions_inside_texts_are_found() -> None:
    text = "\"a ${b} ${f \"c ${d}\"}\" ++ ''\n${e}''"
    assert [text[start:end] for start, end in interpolations(scan(text))] == ["b", 'f "c ${d}"', "d", "e"]


def test_bound_names_are_those_of_lets_and_functions() -> None:
    text = "let a = 1 let `b c` = 2 in \\(d : Text) -> forall (e : Text) -> (f : g)"
    assert bound_names(scan(text)) == {"a", "b c", "d", "e"}


def test_the_deepest_literal_is_found_and_costs_threefold_a_level() -> None:
    flat, deep = nesting(scan("[ 1 ]")), nesting(scan("[\n [\n  [ 1 ] ] ]"))
    assert (flat.levels, deep.levels, deep.start) == (1, 3, 7)
    assert (flat.weight, deep.weight) == (3 + 3 + 1, 3 + 9 + 27 + 27 + 9 + 3 + 1)


def comments() -> st.SearchStrategy[str]:
    """Comments that hold what would be imports and texts outside of them."""
    words = st.sampled_from(["./no", '"', "''", "$", "}", "env:NO", " ", "é"])
    line = st.lists(words, max_size=4).map(lambda parts: "--" + " ".join(parts) + "\n")
    block = st.lists(words, max_size=4).map(lambda parts: "{-" + " ".join(parts) + "-}")
    return st.one_of(line, block, block.map(lambda inner: "{- " + inner + " -}"))


def expressions() -> st.SearchStrategy[tuple[str, int]]:
    """Text expressions with how many imports they have; every imported file is `./yes`."""
    quoted = st.sampled_from(["./no", "{-", "--", "$", "}", "''", '\\"', "\\\\", "\\${", "/no", "(", "é"])
    long = st.sampled_from(["./no", "{-", "--", "$", "}", '"', "'''", "''${", "/no", "(", "\n", "é"])
    leaves = st.sampled_from([("./yes", 1), ("x", 0), ("(./yes)", 1), ("{ a = ./yes }.a", 1)])

    def grow(inner: st.SearchStrategy[tuple[str, int]]) -> st.SearchStrategy[tuple[str, int]]:
        short_text = st.tuples(quoted, inner, quoted).map(lambda p: (f'"{p[0]}${{{p[1][0]}}} {p[2]}"', p[1][1]))
        long_text = st.tuples(long, inner, long).map(lambda p: (f"''\n{p[0]} ${{{p[1][0]}}} {p[2]} ''", p[1][1]))
        added = st.tuples(inner, inner).map(lambda p: (f"{p[0][0]} ++ {p[1][0]}", p[0][1] + p[1][1]))
        remarked = st.tuples(comments(), inner).map(lambda p: (f"{p[0]} {p[1][0]}", p[1][1]))
        bracketed = inner.map(lambda p: (f"({p[0]}\n)", p[1]))
        return st.one_of(short_text, long_text, added, remarked, bracketed)

    return st.recursive(leaves, grow, max_leaves=5)


@settings(derandomize=True, deadline=None, max_examples=300)
@given(expressions())
def test_as_many_imports_are_found_as_were_written(expression: tuple[str, int]) -> None:
    text, count = expression
    assert found(text) == ["./yes"] * count


@settings(derandomize=True, deadline=None, max_examples=300)
@given(expressions())
def test_the_evaluator_looks_for_a_file_exactly_where_an_import_was_found(
    expression: tuple[str, int],
) -> None:
    text, _ = expression
    with pytest.raises(TypeError) as problem:  # there is no file `./yes`, and no variable `x`
        dhall.loads(text)
    assert ("No such file" in str(problem.value)) == bool(found(text))
