"""Runaway expressions end with a message, at the same point everywhere, in bounded memory."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from assay_dhall import Budget, DhallError, evaluate_text, to_data
from assay_dhall.tests.hostile import BOMBS

FOLDER = Path(__file__).parent
MAX_MEGABYTES = 300


def test_hostile_expressions_end_as_expected() -> None:
    names_by_message = tomllib.loads((FOLDER / "hostile.toml").read_text(encoding="utf-8"))
    expected = {name: message for message, names in names_by_message.items() for name in names}
    # One process for all of them: its peak memory is the largest of any.
    command = [sys.executable, "-m", "assay_dhall.tests.hostile"]
    output = subprocess.run(command, cwd=FOLDER.parents[1], capture_output=True, text=True, check=True).stdout
    report = json.loads(output)
    assert {name: entry["outcome"] for name, entry in report["outcomes"].items()} == expected
    assert expected.keys() == BOMBS.keys()
    assert report["megabytes"] < MAX_MEGABYTES


def test_data_beyond_the_budget_have_a_place() -> None:
    value = evaluate_text(BOMBS["value_pairs"]()).value
    with pytest.raises(DhallError) as error:
        to_data(value)
    assert [problem.span.line for problem in error.value.problems if problem.span] == [5]


def count_needed_steps(text: str) -> int:
    """Return the smallest number of steps that an expression can be evaluated with."""
    low, high = 0, 100_000
    while low < high:
        middle = (low + high) // 2
        try:
            evaluate_text(text, budget=Budget(steps=middle))
            high = middle
        except DhallError:
            low = middle + 1
    return low


def test_steps_are_counted_exactly() -> None:
    text = "Natural/fold {} Natural (\\(n : Natural) -> n + 1) 0"
    steps_of_ten, steps_of_thousand = (count_needed_steps(text.format(number)) for number in (10, 1000))
    assert steps_of_thousand - steps_of_ten == 2 * 990


def test_budget_is_full_again_after_an_error() -> None:
    for _ in range(3):
        with pytest.raises(DhallError, match="characters of text"):
            evaluate_text(BOMBS["text_doubling"]())
    assert evaluate_text("1 + 1").value == 2
