"""Runaway expressions end with a diagnostic, at the same point each time, in bounded memory."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from assay.dhall import Budget, DhallError, Evaluator, to_data
from tests.dhall.hostile import HOSTILE

MOST_MEGABYTES = 300


def run_all() -> dict[str, Any]:
    run = subprocess.run([sys.executable, "-m", "tests.dhall.hostile"], capture_output=True, text=True, check=True)
    result: dict[str, Any] = json.loads(run.stdout)
    return result


@pytest.fixture(scope="module")
def outcome() -> dict[str, Any]:
    return run_all()


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_expression_ends_with_diagnostic(name: str, outcome: dict[str, Any]) -> None:
    message, code, _ = outcome["ends"][name]
    assert HOSTILE[name][1] in message
    assert code in ("budget", "parse", "value")


def test_hostile_expressions_need_bounded_memory(outcome: dict[str, Any]) -> None:
    assert 10 < outcome["megabytes"] < MOST_MEGABYTES


def test_second_run_ends_at_the_same_places(outcome: dict[str, Any]) -> None:
    assert run_all()["ends"] == outcome["ends"]


def test_steps_are_counted_exactly() -> None:
    text = "Natural/fold 10 Natural (\\(n : Natural) -> n + 1) 0"
    least = next(steps for steps in range(100) if fits(text, Budget(steps=steps)))
    assert 10 < least < 40
    assert not fits(text, Budget(steps=least - 1))
    assert not fits(text.replace("10", "11"), Budget(steps=least))


def fits(text: str, budget: Budget) -> bool:
    try:
        Evaluator(budget=budget).evaluate_text(text)
    except DhallError as error:
        return error.diagnostics[0].code != "budget"
    return True


def test_exhausted_budget_names_the_binding() -> None:
    text = "let a = 1\nlet b = Natural/fold 99999999 Natural (\\(n : Natural) -> n + 1) 0\nin { a, b }"
    with pytest.raises(DhallError) as problem:
        Evaluator().evaluate_text(text)
    (item,) = problem.value.diagnostics
    assert (item.code, item.span and item.span.line, item.span and item.span.column) == ("budget", 2, 9)


def test_evaluator_works_after_an_exhausted_budget() -> None:
    evaluator = Evaluator()
    with pytest.raises(DhallError):
        evaluator.evaluate_text(HOSTILE["long count"][0])
    assert to_data(evaluator.evaluate_text("1 + 1").value) == 2


def test_naturals_do_not_wrap() -> None:
    evaluated = Evaluator().evaluate_text("18446744073709551615 + 1")
    assert to_data(evaluated.value) == 1 << 64
