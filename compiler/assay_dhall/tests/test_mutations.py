"""Test that damaged expressions end with errors of the evaluator, never with other exceptions."""

from __future__ import annotations

import random

import pytest

from assay_dhall import DhallError, decode, encode, evaluate_text, normalize, to_data
from assay_dhall.parser import parse
from assay_dhall.syntax import Source
from assay_dhall.tests.case_files import list_cases

EXPRESSIONS = sorted({case.expression for case in list_cases()})
PIECES = [
    *"(){}[]<>,.:=|\\`\"'$@?#+*&/-_ \n",
    "let ",
    " in ",
    "->",
    "//",
    "/\\",
    "''",
    "${",
    "::",
    "with ",
    "Some ",
    "merge ",
]


def damage(text: str, chance: random.Random) -> str:
    """Return a text with one to three pieces removed, doubled, replaced by others, or taken from another case."""
    for _ in range(chance.randint(1, 3)):
        start = chance.randrange(len(text) + 1)
        end = min(len(text), start + chance.randint(0, 6))
        other = chance.choice(EXPRESSIONS)
        filling = chance.choice(("", text[start:end] * 2, chance.choice(PIECES), other, f"({other})"))
        text = text[:start] + filling + text[end:]
    return text


@pytest.mark.parametrize("seed", range(8))
def test_damaged_expression_is_refused_or_evaluated(seed) -> None:
    chance = random.Random(seed)
    outcomes = {"value": 0, "error": 0}
    for _ in range(400):
        text = damage(chance.choice(EXPRESSIONS), chance)
        try:
            value = evaluate_text(text).value
            normalize(value)
            outcomes["value"] += 1
            to_data(value)
        except DhallError as error:
            outcomes["error"] += all(problem.message for problem in error.problems)
    assert outcomes["value"] > 5
    assert outcomes["error"] > 300


@pytest.mark.parametrize("seed", range(4))
def test_damaged_binary_form_is_refused_or_decoded(seed) -> None:
    chance = random.Random(seed)
    forms = [encode(normalize(evaluate_text(case.expression).value)) for case in list_cases() if case.result[0] == ":"]
    refused_count = 0
    for _ in range(1000):
        content = bytearray(chance.choice(forms))
        content[chance.randrange(len(content))] = chance.randrange(256)
        try:
            node = decode(bytes(content))
        except DhallError:
            refused_count += 1
            continue
        decoded_form = encode(node)
        assert encode(decode(decoded_form)) == decoded_form
    assert 100 < refused_count < 900


def test_binary_form_of_parsed_expression_is_read_back() -> None:
    for case in list_cases():
        if case.result.startswith(":"):
            content = encode(parse(Source("case.dhall", case.expression)))
            assert encode(decode(content)) == content
