"""Texts of cases with tokens changed at random: each gives a value or diagnostics, and normal forms keep their type."""

from __future__ import annotations

import random
import re

import pytest

from assay.dhall import Budget, DhallError, Evaluator, to_data
from assay.dhall.binary import encode
from assay.dhall.evaluator import run_deep
from assay.dhall.printing import print_node
from assay.dhall.quote import quote
from tests.dhall.test_cases import CASES

TEXTS = [case["text"] for _, case in CASES]
TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
BUDGET = Budget(steps=20_000, characters=1_000_000, items=100_000)
EVALUATOR = Evaluator(budget=BUDGET)


def mutate(generator: random.Random) -> str:
    tokens, others = TOKEN.findall(generator.choice(TEXTS)), TOKEN.findall(generator.choice(TEXTS))
    for _ in range(generator.randint(1, 3)):
        index, other = generator.randrange(len(tokens) or 1), generator.randrange(len(others))
        width = generator.randint(1, 5)
        tokens[index : index + generator.randint(0, 1)] = others[other : other + generator.choice((0, 1, width))]
    return "".join(tokens)


def evaluate(text: str) -> tuple[str, bytes, bytes]:
    """Give the normal form, its encoding and that of its type, both with bound variables renamed."""
    evaluated = EVALUATOR.evaluate_text(text)

    def describe() -> tuple[str, bytes, bytes]:
        value, kind = quote(evaluated.value), quote(evaluated.type)
        return print_node(value), encode(value, rename=True), encode(kind, rename=True)

    return run_deep(describe, BUDGET)


def find_data_problem(text: str) -> str:
    """Tell how the value of a text is no data: the code of the diagnostic, `value` as well where it is data."""
    try:
        to_data(EVALUATOR.evaluate_text(text).value)
    except DhallError as error:
        return error.diagnostics[0].code
    return "value"


def check_mutant(text: str) -> bool:
    """Check one text; tells whether it has a value."""
    problem = None
    try:
        written, value, kind = evaluate(text)
    except DhallError as error:
        problem = error
    if problem is not None:
        assert all(item.message and (item.span or item.code == "budget") for item in problem.diagnostics), text
        return False
    assert evaluate(written)[1:] == (value, kind), text
    assert find_data_problem(text) == "value", text
    return True


@pytest.mark.parametrize("seed", range(8))
def test_mutant_gives_value_or_diagnostics(seed: int) -> None:
    generator = random.Random(seed)
    assert sum(check_mutant(mutate(generator)) for _ in range(400)) > 20
