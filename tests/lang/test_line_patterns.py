"""Test patterns of lines: which lines they match, and which texts are no patterns."""

from __future__ import annotations

import re
import string
import sys
import unicodedata
from collections import defaultdict

import duckdb
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from assay.lang.check.covered_patterns import covers
from assay.lang.line_pattern import PatternError, build_literal_regex, build_marks_regex, parse_pattern
from assay.util.regex import BLANK, WHITE_SPACE, escape_literal

LAYOUT = "{level} {at} {thread} {file} {function} ] {message...}"


def match_places(pattern: str, line: str) -> dict[str, str] | None:
    """Return the texts that the engine extracts at the places of a pattern; None for a line that does not match."""
    parsed = parse_pattern(pattern)
    names = [f"p{index}" for index, _ in enumerate(parsed.places)]
    matches = duckdb.execute("SELECT regexp_matches(?, ?)", [line, parsed.build_expression(())]).fetchone()
    assert matches is not None
    if not matches[0]:
        return None
    if not names:
        return {}
    query = (
        f"SELECT regexp_extract(?, '{parsed.build_expression(parsed.places).replace(chr(39), chr(39) * 2)}', {names})"
    )
    row = duckdb.execute(query, [line]).fetchone()
    assert row is not None
    return {name: value for name, value in zip(parsed.places, row[0].values(), strict=True) if value}


@pytest.mark.parametrize(
    ("pattern", "line", "places"),
    [
        ("{a} {b...}", "one two three", {"a": "one", "b": "two three"}),
        ("{a}, {b}", "x,y, z", {"a": "x,y", "b": "z"}),
        ("{a},{b}", "x,y,z", {"a": "x", "b": "y,z"}),
        ("{a}...{b}", "x....y", {"a": "x", "b": ".y"}),
        ("{a} {b}", "x  \t  y", {"a": "x", "b": "y"}),
        ("{a} {b}", "x y z", None),
        ("{a}", "", None),
        ("n: {n}{?, m: {m}?}", "n: 1", {"n": "1"}),
        ("n: {n}{?, m: {m}?}", "n: 1, m: 2", {"n": "1", "m": "2"}),
        ("n: {n}{?, m: {m}?}", "n: 1, k: 2", None),
        ("n: {n}{?, m: {m}?}{?, k: {k}?}", "n: 1, k: 2", {"n": "1", "k": "2"}),
        ("{{{n}}}", "{7}", {"n": "7"}),
        ("{} [{n}] {...}", "x [7] any text", {"n": "7"}),
        ("a.c {n}", "abc 1", None),
        ("a? (b|c)* ^$ \\d+ {n}", "a? (b|c)* ^$ \\d+ 1", {"n": "1"}),
        ("Größe {n}", "Größe ½", {"n": "½"}),
        (LAYOUT, "info  2022-09-08T17:22:36.707 nodeos    a.cpp:4      f()    ] x ] y", {
            "level": "info", "at": "2022-09-08T17:22:36.707", "thread": "nodeos", "file": "a.cpp:4", "function": "f()",
            "message": "x ] y",
        }),
    ],
)  # fmt: skip
def test_pattern_matches_whole_lines(pattern: str, line: str, places: dict[str, str] | None) -> None:
    assert match_places(pattern, line) == places


@pytest.mark.parametrize(
    ("pattern", "message", "position", "length"),
    [
        ("", "the pattern is empty", 0, 0),
        ("x {a} y {a}", "duplicate place `a`", 8, 3),
        ("x {a", "unmatched brace", 2, 1),
        ("x a}", "unmatched brace", 3, 1),
        ("x {a b}", "`{a b}` is not a place", 2, 5),
        ("x {1}", "`{1}` is not a place", 2, 3),
        ("{a}{b}", "two adjacent places without text between them", 3, 3),
        ("x {? y", "unclosed optional part", 2, 2),
        ("x y?}", "`?}` without `{?`", 3, 2),
        ("{? a {? b ?} ?}", "an optional part begins within another", 5, 2),
    ],
)
def test_invalid_pattern_has_a_position(pattern: str, message: str, position: int, length: int) -> None:
    with pytest.raises(PatternError) as error:
        parse_pattern(pattern)
    assert (error.value.message, error.value.position, error.value.length) == (message, position, length)


WORDS = st.text(st.characters(exclude_categories=("Cs", "Cc", "Zs", "Zl", "Zp")), min_size=1, max_size=8)


@settings(max_examples=60, deadline=None)
@given(
    st.text(string.printable.replace("\n", "").replace("\r", "").replace("\x0b", "").replace("\x0c", ""), min_size=1)
)
def test_literal_text_matches_itself(text: str) -> None:
    expression = f"^{build_literal_regex(text)}$"
    row = duckdb.execute("SELECT regexp_matches(?, ?)", [text, expression]).fetchone()
    assert row == (True,)
    assert re.search(expression, text)


def list_characters() -> list[str]:
    """Return all ASCII characters, and some of each category of Unicode; none that UTF-8 lacks."""
    by_category: defaultdict[str, list[str]] = defaultdict(list)
    for code in range(sys.maxunicode + 1):
        character = chr(code)
        by_category[unicodedata.category(character)].append(character)
    del by_category["Cs"]
    assert len(by_category) == 29
    chosen = [item for characters in by_category.values() for item in characters[:: max(1, len(characters) // 40)]]
    return sorted({*map(chr, range(128)), *chosen, *"→…°€😀✓│µ", "\ufeff", "\U0010ffff"})


def list_matches(expressions: list[str], texts: list[str]) -> list[bool]:
    query = "SELECT regexp_full_match(text, expression) FROM (SELECT unnest(?) AS expression, unnest(?) AS text)"
    return [value for (value,) in duckdb.execute(query, [expressions, texts]).fetchall()]


def test_every_character_matches_itself_in_engine_and_python() -> None:
    characters = list_characters()
    texts = [f"{character}a{character}{character}1" for character in characters]
    expressions = [escape_literal(text) for text in texts]
    assert [text for text, is_match in zip(texts, list_matches(expressions, texts), strict=True) if not is_match] == []
    assert [text for text, item in zip(texts, expressions, strict=True) if not re.fullmatch(item, text)] == []
    others = [f"x{text[1:]}" if text[0] != "x" else f"y{text[1:]}" for text in texts]
    assert not any(list_matches(expressions, others))


def test_patterns_have_any_character() -> None:
    """In literal texts, before and behind places, and at the beginning of lines that look like lines of a pattern."""
    characters = [item for item in list_characters() if item not in " \t\n{}?"]
    patterns = [parse_pattern(f"{item}{{a}}{item} {item} {{b...}}{{? {item}?}}") for item in characters]
    lines = [f"{item}1{item}  {item} 2 3 {item}" for item in characters]
    matches = list_matches([pattern.build_expression(("a", "b"))[1:-1] for pattern in patterns], lines)
    assert [item for item, is_match in zip(characters, matches, strict=True) if not is_match] == []
    marks = list_matches([f"(?:{build_marks_regex([parse_pattern(f'{item} {{a}}')])}).*" for item in characters], lines)
    words = [item for item, is_match in zip(characters, marks, strict=True) if not is_match]
    assert words == [item for item in characters if item == "_" or unicodedata.category(item)[0] in "LMN"]


def test_blanks_are_the_same_in_engine_and_python() -> None:
    characters = [item for item in list_characters() if item.isspace() or unicodedata.category(item)[0] in "ZC"]
    engine_blanks = list_matches([BLANK] * len(characters), characters)
    assert [item for item, is_blank in zip(characters, engine_blanks, strict=True) if is_blank] == sorted(WHITE_SPACE)
    assert [item for item in characters if re.fullmatch(BLANK, item)] == sorted(WHITE_SPACE)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.text("abc:[](.*+?", max_size=3), WORDS), min_size=1, max_size=4))
def test_words_between_blanks_are_read_back(parts: list[tuple[str, str]]) -> None:
    pattern = " ".join(f"{text} {{p{index}}}" for index, (text, _) in enumerate(parts))
    line = " ".join(f"{text} {word}" for text, word in parts)
    assert match_places(pattern, line) == {f"p{index}": word for index, (_, word) in enumerate(parts)}


def test_matching_takes_linear_time() -> None:
    """A backtracking matcher would take years for this pattern."""
    pattern = " ".join(f"{{a{index}...}}" for index in range(12)) + " !"
    assert match_places(pattern, "x " * 2000) is None


@pytest.mark.parametrize(
    ("wider", "narrower", "is_covered"),
    [
        ("a {x}", "a {y}", True),
        ("{x...}", "a {y} b", True),
        ("a {x}", "a b", True),
        ("a {x}", "a b c", False),
        ("a {x...}", "a {y} {z...}", True),
        ("a {x...} c", "a {y} b c", True),
        ("a {x} c", "a {y...} c", False),
        ("a{x}c", "abbc", True),
        ("a{x}c", "ac", False),
        ("a{? b?} c", "a c", True),
        ("a{? b?} c", "a b c", True),
        ("a c", "a{? b?} c", False),
        ("a{? {x}?}{? {y}?}", "a{? b?} c", True),
        ("a{?, n: {n}?}{?, m: {m}?}", "a{?, m: {x}?}", True),
        ("a {x}:{y}", "a {z}", False),
        ("a {x} ", "a  {y}", True),
        ("a {x...}", "a{x...}", False),
        ("a{x...}", "a {x...}", True),
        ("{x} b", "a b", True),
        ("a b", "{x} b", False),
        ("{{{x}}}", "{{7}}", True),
    ],
)
def test_wider_pattern_covers_narrower_one(wider: str, narrower: str, *, is_covered: bool) -> None:
    assert covers(parse_pattern(wider), parse_pattern(narrower)) is is_covered


@st.composite
def draw_pattern(draw: st.DrawFn) -> str:
    """Draw a pattern of few characters, so that many pairs of patterns cover each other."""
    parts = draw(
        st.lists(st.sampled_from(["a", "b", " ", "{}", "{...}", "{? a?}", "{?{} ?}", "{?b{...}?}"]), max_size=6)
    )
    text = "a" + "".join(parts)
    try:
        parse_pattern(text)
    except PatternError:
        reject()
    return text


@settings(max_examples=300, deadline=None)
@given(draw_pattern(), draw_pattern(), st.lists(st.text("ab ", min_size=1, max_size=7), min_size=8, max_size=8))
def test_covered_pattern_matches_no_further_line(wider: str, narrower: str, lines: list[str]) -> None:
    """No line contradicts the decision, whatever optional parts the patterns have."""
    if covers(parse_pattern(wider), parse_pattern(narrower)):
        for line in (f"a{item}".rstrip() for item in lines):
            assert match_places(narrower, line) is None or match_places(wider, line) is not None
