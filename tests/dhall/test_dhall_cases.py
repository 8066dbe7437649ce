"""Small expressions yield the types, normal forms and errors that `cases/` records, and evaluate to themselves."""

from __future__ import annotations

import doctest
from collections import Counter

import pytest

import assay.dhall
from assay.dhall import decode, encode, evaluate_text, normal_form, print_node
from tests.dhall.case_files import FOLDER, Case, all_cases, result_of

CASES = all_cases()
VALUES = [case for case in CASES if case.result.startswith(": ")]


def name(case: Case) -> str:
    return f"{case.file}-{case.number}"


@pytest.mark.parametrize("case", CASES, ids=name)
def test_case_yields_recorded_result(case) -> None:
    assert result_of(case.expression) == case.result


@pytest.mark.parametrize("file", sorted({case.file for case in VALUES}))
def test_printed_normal_form_is_its_own_normal_form(file) -> None:
    for case in (case for case in VALUES if case.file == file):
        printed = case.result.partition("\n= ")[2]
        node = normal_form(evaluate_text(printed).value)
        assert print_node(node) == printed
        assert encode(decode(encode(node))) == encode(node)


def test_cases_are_many_and_distinct() -> None:
    counts = Counter(case.expression for case in CASES)
    assert [text for text, count in counts.items() if count > 1] == []
    assert len(CASES) >= 350
    assert len({case.file for case in CASES}) == len(list(FOLDER.glob("*.cases")))


def test_example_of_package_works() -> None:
    assert doctest.testmod(assay.dhall) == (0, 3)
