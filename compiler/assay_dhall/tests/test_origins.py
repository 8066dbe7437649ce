"""Every part of a value knows the expression that wrote it, through whatever it passed on its way."""

from __future__ import annotations

import pytest

from assay_dhall import Evaluator, FolderPolicy, evaluate_text, find_origin, get_node_span, to_data


def find_origin_text(text: str, *path: str | int) -> str:
    """Return the text that wrote a part of the value of an expression."""
    node = find_origin(evaluate_text(text).value, path)
    assert node is not None
    return node.source.text[node.start : node.end]


@pytest.mark.parametrize(
    ("text", "path", "expected"),
    [
        ("{ a = 1, b = 2 }", ("b",), "2"),
        ("{ a = { b = { c = 3 } } }", ("a", "b", "c"), "3"),
        ("{ a.b = 1, a.c = 2 }", ("a", "c"), "2"),
        ("let x = 5 in { a = x }", ("a",), "5"),
        ("let x = 5 let y = x let z = y in { a = z }", ("a",), "5"),
        ('let r = { a = "here", b = 1 } in r.a', (), None),
        ('let r = { a = "here" } in { b = r.a }', ("b",), '"here"'),
        ('let r = { a = { c = "here" } } in { b = r.a.c }', ("b",), '"here"'),
        ("{ a = 1, b = 2 } // { b = 3 }", ("b",), "3"),
        ("{ a = 1, b = 2 } // { b = 3 }", ("a",), "1"),
        ("{ a = { b = 1 } } /\\ { a = { c = 2 } }", ("a", "c"), "2"),
        ("{ a = { b = 1 } } /\\ { a = { c = 2 } }", ("a", "b"), "1"),
        ("(\\(n : Natural) -> { a = n, b = 0 }) 7", ("a",), "7"),
        ("let f = \\(n : Natural) -> { a = n, b = 0 } let x = 8 in f x", ("a",), "8"),
        ('let f = \\(n : Natural) -> \\(t : Text) -> { n, t } in [ f 1 "one", f 2 "two" ]', (1, "t"), '"two"'),
        ("let f = \\(r : { n : Natural }) -> r // { m = 1 } in f { n = 4 }", ("n",), "4"),
        ("let f = \\(r : { n : Natural }) -> { inner = r } in f { n = 4 }", ("inner", "n"), "4"),
        ("[ 1, 2, 3 ]", (2,), "3"),
        ("[ 1 ] # [ 2, 3 ]", (2,), "3"),
        ("[ 1 ] # [ 2, 3 ]", (0,), "1"),
        ("List/reverse Natural [ 1, 2, 3 ]", (0,), "3"),
        ("{ a = Some { b = 1 } }", ("a", "b"), "1"),
        ("{ a = Some 5 }", ("a",), "5"),
        ("{ a = < X : { b : Natural } >.X { b = 1 } }", ("a", "b"), "1"),
        ('let T = { Type = { a : Natural, b : Text }, default = { b = "d" } } in T::{ a = 1 }', ("b",), '"d"'),
        ('let T = { Type = { a : Natural, b : Text }, default = { b = "d" } } in T::{ a = 1 }', ("a",), "1"),
        ("{ a = { b = 1, c = 2 } } with a.b = 9", ("a", "b"), "9"),
        ("{ a = { b = 1, c = 2 } } with a.b = 9", ("a", "c"), "2"),
        ("{ a = 1, b = 2, c = 3 }.{ b, c }", ("c",), "3"),
        ("toMap { k = 1, l = 2 }", ("l",), "2"),
        ('[ { mapKey = "k", mapValue = 5 } ]', ("k",), "5"),
        ("{ a = 1 : Natural }", ("a",), "1"),
        ("{ a = let x = 3 in x }", ("a",), "3"),
        ("{ a = 1 + 2 }", ("a",), "1 + 2"),
        ('List/indexed Text [ "a", "b" ]', (1, "value"), '"b"'),
        ("{ a = { b = 1 } }", ("a", "zzz", "y"), "{ b = 1 }"),
    ],
)
def test_origin_of_part_is_its_expression(text, path, expected) -> None:
    if expected is None:
        assert find_origin(evaluate_text(text).value, path) is None
    else:
        assert find_origin_text(text, *path) == expected


def test_origin_leads_into_imported_file(tmp_path) -> None:
    (tmp_path / "schema.dhall").write_text(
        'let make = \\(id : Text) ->\n  { id, unit = "s" }\nin  { make, size = 3 }\n'
    )
    (tmp_path / "package.dhall").write_text(
        'let S = ./schema.dhall\n\nin  { first = S.make "one"\n    , size = S.size\n    , all = ./schema.dhall\n    }'
    )
    value = Evaluator(FolderPolicy([tmp_path])).evaluate_file(tmp_path / "package.dhall").value
    places = {}
    for path in (("first",), ("first", "id"), ("first", "unit"), ("size",), ("all", "size")):
        node = find_origin(value, path)
        assert node is not None
        span = get_node_span(node)
        places[".".join(path)] = (span.file, span.line, span.column)
    assert places == {
        "first": ("schema.dhall", 2, 3),
        "first.id": ("package.dhall", 3, 22),
        "first.unit": ("schema.dhall", 2, 16),
        "size": ("schema.dhall", 3, 20),
        "all.size": ("schema.dhall", 3, 20),
    }


def test_every_part_of_shipped_data_has_an_origin() -> None:
    text = '{ a = [ { b = [ "x", "y" ], c = { d = None Text, e = Some True } } ], f = toMap { g = [ 1.5 ] } }'
    value = evaluate_text(text).value

    def list_paths(data: object, path: tuple[str | int, ...]) -> list[tuple[str | int, ...]]:
        items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
        return [path, *(inner for key, item in items for inner in list_paths(item, (*path, key)))]

    for path in list_paths(to_data(value), ()):
        assert find_origin(value, path) is not None, path


def test_tags_of_unions_can_be_retained() -> None:
    value = evaluate_text("let U = < A | B : Natural > in [ U.A, U.B 1 ]").value
    assert to_data(value) == ["A", 1]
    assert to_data(value, tags=True) == ["A", {"B": 1}]


def test_function_in_data_is_refused_where_it_is_written() -> None:
    from assay_dhall import DhallError

    value = evaluate_text("{ a = 1,\n  b = [ { c = \\(x : Natural) -> x } ] }").value
    with pytest.raises(DhallError) as error_info:
        to_data(value)
    problem = error_info.value.problems[0]
    assert problem.message == "`b.0.c` is a function or a type"
    assert problem.span is not None
    assert (problem.span.line, problem.span.column) == (2, 15)
