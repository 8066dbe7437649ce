"""Decide which step is the cause of a change."""

from __future__ import annotations

from fractions import Fraction

import pytest

from assay.judgement.report_judgements import JudgedChange
from assay.judgement.steps import StepChange, StepTable
from assay.judgement.verdict import Direction, Judgement, Margin, Verdict

WORSE, BETTER, SAME, OPEN = Verdict.WORSE, Verdict.BETTER, Verdict.SAME, Verdict.CANNOT_TELL


def change(name: str, base: int, value: int, verdict: Verdict, *, is_by_itself: bool = False) -> StepChange:
    judged = JudgedChange(Judgement(verdict, Direction.LOWER), Margin(2.0), is_by_itself=is_by_itself)
    return StepChange(name, name, name, ("", ""), (Fraction(base), Fraction(value)), ((), ()), judged)


def build_table(total: StepChange, *steps: StepChange) -> StepTable:
    return StepTable("new", total, steps, (Fraction(0), Fraction(0)), ((1, 1), (1, 1)))


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ((change("a", 60, 69, WORSE), change("b", 40, 41, SAME)), "a"),
        ((change("a", 60, 65, WORSE), change("b", 40, 45, WORSE)), None),  # half of it, but all became slower alike
        ((change("a", 90, 95, WORSE), change("b", 10, 15, WORSE)), "b"),
        ((change("a", 60, 63, WORSE), change("b", 40, 47, WORSE)), "b"),  # 70 %, and 1.75 times 40 %
        ((change("a", 60, 64, WORSE), change("b", 40, 46, WORSE)), None),
        ((change("a", 60, 64, WORSE), change("b", 30, 33, WORSE), change("c", 10, 13, WORSE)), None),
        ((change("a", 60, 69, OPEN), change("b", 40, 41, WORSE)), None),
        ((change("a", 60, 69, WORSE, is_by_itself=True), change("b", 40, 41, SAME)), "a"),  # not the total
        ((change("a", 60, 90, WORSE), change("b", 40, 20, BETTER)), "a"),  # 300 % and -200 %
        ((change("a", 60, 40, BETTER), change("b", 40, 70, WORSE)), "b"),
        ((change("a", 60, 68, WORSE), change("b", 40, 47, WORSE), change("c", 20, 15, BETTER)), "a"),
    ],
)
def test_step_that_carries_half_of_a_change_is_its_cause(steps: tuple[StepChange, ...], expected: str | None) -> None:
    cause = build_table(change("total", 100, 110, WORSE), *steps).cause
    assert (cause.name if cause else None) == expected


@pytest.mark.parametrize(
    ("total", "expected"),
    [
        (change("total", 100, 110, WORSE), "a"),
        (change("total", 100, 110, OPEN), None),
        (change("total", 100, 110, WORSE, is_by_itself=True), None),
        (change("total", 100, 110, SAME), None),
        (change("total", 500, 510, WORSE), None),  # not more than the margin of the total
    ],
)
def test_change_without_verdict_has_no_cause(total: StepChange, expected: str | None) -> None:
    cause = build_table(total, change("a", 60, 69, WORSE), change("b", 40, 41, SAME)).cause
    assert (cause.name if cause else None) == expected


def test_total_that_did_not_change_has_no_shares() -> None:
    table = build_table(change("total", 100, 100, WORSE), change("a", 60, 69, WORSE), change("b", 40, 31, BETTER))
    assert (table.compute_share(Fraction(9)), table.cause) == (None, None)
