"""Small expressions as data: tests/dhall/cases holds texts with their normal form and type, or their diagnostics."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from assay.dhall import Budget, DhallError, Diagnostic, Evaluator
from assay.dhall.evaluator import run_deep
from assay.dhall.printing import print_node
from assay.dhall.quote import quote

FILES = {path.stem: path for path in sorted(Path(__file__).with_name("cases").glob("*.toml"))}
EVALUATOR = Evaluator()


def read_cases(stem: str) -> list[dict[str, Any]]:
    cases: list[dict[str, Any]] = tomllib.loads(FILES[stem].read_text(encoding="utf-8"))["case"]
    return cases


CASES = [(stem, case) for stem in FILES for case in read_cases(stem)]
IDS = [f"{stem}: {' '.join(case['text'].split())[:50]}" for stem, case in CASES]


def evaluate(text: str) -> dict[str, Any]:
    """Give what a case says: normal form and type, or the diagnostics."""
    try:
        evaluated = EVALUATOR.evaluate_text(text)
    except DhallError as error:
        return {"text": text, "error": [describe(item) for item in error.diagnostics]}
    value, kind = run_deep(lambda: (print_node(quote(evaluated.value)), print_node(quote(evaluated.type))), Budget())
    return {"text": text, "value": value, "type": kind}


def describe(item: Diagnostic) -> dict[str, str]:
    assert item.span
    place = f"{item.span.line}:{item.span.column}-{item.span.end_line}:{item.span.end_column}"
    parts = {"expected": item.expected, "found": item.found, "hint": item.hint}
    return {"place": place, "message": item.message} | {name: text for name, text in parts.items() if text}


@pytest.mark.parametrize(("stem", "case"), CASES, ids=IDS)
def test_expression_gives_what_its_case_says(stem: str, case: dict[str, Any]) -> None:  # noqa: ARG001
    assert evaluate(case["text"]) == case


@pytest.mark.parametrize(("stem", "case"), CASES, ids=IDS)
def test_normal_form_is_its_own_normal_form(stem: str, case: dict[str, Any]) -> None:  # noqa: ARG001
    if "value" in case:
        again = evaluate(case["value"])
        assert (again.get("value"), again.get("type")) == (case["value"], case["type"])


def test_there_are_several_hundred_cases() -> None:
    assert len(CASES) > 290
