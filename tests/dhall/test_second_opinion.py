"""The binding of dhall-rust gives the same data: for the shipped packages, and for random well-typed terms."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.dhall import Evaluator, FolderPolicy, to_data
from assay.dhall.builtins import show_text

dhall = pytest.importorskip("dhall")
ROOT = Path(__file__).parents[2]
PACKAGES = ["specs/antelope/package.dhall", "specs/cardano/package.dhall", "specs/cometbft/package.dhall"]
STARTERS = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "starter").rglob("package.dhall"))


@pytest.mark.parametrize("name", PACKAGES + STARTERS)
def test_package_has_the_value_of_the_binding(name: str) -> None:
    root = ROOT / name.split("/")[0] if name.startswith("starter") else ROOT
    evaluated = Evaluator(FolderPolicy(root, ROOT)).evaluate_file(ROOT / name)
    path = (ROOT / name).as_posix()
    if name.startswith("starter"):
        from assay.spec.dhall_adapter import evaluate

        assert to_data(evaluated.value) == evaluate(ROOT / name, root, ROOT)
    else:
        assert to_data(evaluated.value) == dhall.loads(path)


TEXTS = st.text(st.characters(min_codepoint=32, max_codepoint=0x2FF), max_size=8)
NAMES = st.sampled_from("abcdef")


def naturals(depth: int) -> st.SearchStrategy[str]:
    simple = st.integers(0, 1000).map(str)
    if depth == 0:
        return simple
    part = naturals(depth - 1)
    return st.one_of(
        simple,
        st.tuples(part, st.sampled_from("+*"), part).map(lambda item: f"({item[0]} {item[1]} {item[2]})"),
        st.tuples(booleans(depth - 1), part, part).map(lambda item: f"(if {item[0]} then {item[1]} else {item[2]})"),
        st.tuples(part, part).map(lambda item: f"(let x = {item[0]} in x + {item[1]} + x)"),
        st.tuples(part, part).map(lambda item: f"(Natural/subtract {item[0]} {item[1]})"),
        st.tuples(st.integers(0, 5), part).map(
            lambda item: f"(Natural/fold {item[0]} Natural (\\(n : Natural) -> n + {item[1]}) 1)"
        ),
        st.lists(part, min_size=1, max_size=3).map(
            lambda items: (
                f"(List/fold Natural [{', '.join(items)}] Natural (\\(a : Natural) -> \\(b : Natural) -> a + b) 0)"
            )
        ),
        part.map(lambda item: f"(merge {{ A = \\(n : Natural) -> n + 1, B = 0 }} (< A : Natural | B >.A {item}))"),
        part.map(lambda item: f"({{ a = 1, b = {item} }} // {{ a = 2 }}).b"),
    )


def booleans(depth: int) -> st.SearchStrategy[str]:
    simple = st.sampled_from(["True", "False"])
    if depth == 0:
        return simple
    part = booleans(depth - 1)
    return st.one_of(
        simple,
        st.tuples(part, st.sampled_from(["&&", "||", "==", "!="]), part).map(lambda item: "({} {} {})".format(*item)),
        naturals(depth - 1).map(lambda item: f"(Natural/even {item})"),
    )


def texts(depth: int) -> st.SearchStrategy[str]:
    simple = TEXTS.map(show_text)
    if depth == 0:
        return simple
    part = texts(depth - 1)
    return st.one_of(
        simple,
        st.tuples(part, part).map(lambda item: f"({item[0]} ++ {item[1]})"),
        part.map(lambda item: f'"<${{{item}}}>"'),
        naturals(depth - 1).map(lambda item: f"(Natural/show {item})"),
        st.tuples(NAMES, part, part).map(lambda item: f'(Text/replace "{item[0]}" {item[1]} {item[2]})'),
    )


def values(depth: int) -> st.SearchStrategy[str]:
    """Well-typed terms of several types, as text."""
    plain = st.one_of(naturals(2), booleans(2), texts(2), st.floats(allow_nan=False, allow_infinity=False).map(repr))
    if depth == 0:
        return plain
    part = values(depth - 1)
    record = st.dictionaries(NAMES, part, min_size=1, max_size=3)
    return st.one_of(
        plain,
        record.map(lambda fields: "{ " + ", ".join(f"{name} = {item}" for name, item in fields.items()) + " }"),
        st.lists(naturals(2), min_size=1, max_size=4).map(lambda items: f"[ {', '.join(items)} ]"),
        st.lists(texts(1), max_size=3).map(
            lambda items: f'([ {", ".join(items)} ] # [ "last" ])' if items else '[ "x" ]'
        ),
        part.map(lambda item: f"(Some {item})"),
        st.tuples(part, part).map(lambda item: f"({{ a = {item[0]}, b = 1 }} // {{ b = {item[1]} }})"),
        st.tuples(part, part).map(
            lambda item: f"(let f = \\(n : Natural) -> {item[0]} in {{ l = f 1, r = {item[1]} }})"
        ),
        part.map(lambda item: f"{{ p.q = {item}, p.r = 1 }}"),
    )


def normalize(data: Any) -> str:
    return json.dumps(data, sort_keys=True)


@settings(max_examples=150, deadline=None)
@given(values(2))
def test_random_terms_have_the_same_value(text: str) -> None:
    own = to_data(Evaluator().evaluate_text(text).value)
    if is_within_64_bits(own):
        assert normalize(own) == normalize(dhall.loads(text))


def is_within_64_bits(data: Any) -> bool:
    """Tell whether the binding, whose numbers wrap, can hold all numbers."""
    if isinstance(data, dict):
        return all(map(is_within_64_bits, data.values()))
    if isinstance(data, list):
        return all(map(is_within_64_bits, data))
    return not isinstance(data, int) or data < 1 << 63
