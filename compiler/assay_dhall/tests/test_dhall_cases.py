"""Small expressions yield the types, normal forms and errors that `cases/` records, and evaluate to themselves."""

from __future__ import annotations

import doctest
from collections import Counter

import pytest

import assay_dhall
from assay_dhall import decode, encode, evaluate_text, normalize, print_node
from assay_dhall.tests.case_files import FOLDER, Case, format_result, list_cases

CASES = list_cases()
VALUES = [case for case in CASES if case.result.startswith(": ")]


def format_case_id(case: Case) -> str:
    return f"{case.file}-{case.number}"


@pytest.mark.parametrize("case", CASES, ids=format_case_id)
def test_case_yields_recorded_result(case) -> None:
    assert format_result(case.expression) == case.result


@pytest.mark.parametrize("file", sorted({case.file for case in VALUES}))
def test_printed_normal_form_is_its_own_normal_form(file) -> None:
    for case in (case for case in VALUES if case.file == file):
        printed_form = case.result.partition("\n= ")[2]
        node = normalize(evaluate_text(printed_form).value)
        assert print_node(node) == printed_form
        assert encode(decode(encode(node))) == encode(node)


def test_cases_are_many_and_distinct() -> None:
    counts = Counter(case.expression for case in CASES)
    assert [text for text, count in counts.items() if count > 1] == []
    assert len(CASES) >= 350
    assert len({case.file for case in CASES}) == len(list(FOLDER.glob("*.cases")))


def test_example_of_package_works() -> None:
    assert doctest.testmod(assay_dhall) == (0, 3)
