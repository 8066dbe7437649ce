"""Which changes of a page are more than chance makes of so many."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.judgement.discoveries import select_discoveries


@pytest.mark.parametrize(
    ("ps", "selected"),
    [
        ([], set()),
        ([0.05], {0}),
        ([0.051], set()),
        ([0.03, 0.9], set()),
        ([0.025, 0.9], {0}),
        ([0.04, 0.05], {0, 1}),  # the second makes the first one count
        ([0.001, 0.02, 0.04, 0.9, 0.9], {0, 1}),
        ([0.0, 0.0, 1.0], {0, 1}),
    ],
)
def test_selection_is_that_of_benjamini_and_hochberg(ps: list[float], selected: set[int]) -> None:
    assert select_discoveries({number: (number, p) for number, p in enumerate(ps)}, 0.05) == selected


def test_equal_measurements_count_once() -> None:
    """Six names of one measurement are no six proofs, and do not make others harder to prove."""
    alike = {f"share {number}": ("share", 0.04) for number in range(6)}
    assert select_discoveries(alike | {"other": ("other", 0.9)}, 0.05) == frozenset()
    assert select_discoveries(alike | {"other": ("other", 0.05)}, 0.05) == {*alike, "other"}


@given(st.lists(st.floats(0, 1), max_size=20))
def test_adjusted_p_select_the_same(ps: list[float]) -> None:
    """The p of Benjamini and Hochberg in their other form: the least m p(j) / j of all j from the rank on."""
    ordered = sorted(set(ps))
    adjusted = {
        p: min(len(ordered) * other / rank for rank, other in list(enumerate(ordered, start=1))[index:])
        for index, p in enumerate(ordered)
    }
    clear = [p for p in ps if abs(adjusted[p] - 0.05) > 1e-9]
    selected = select_discoveries({number: (p, p) for number, p in enumerate(ps)}, 0.05)
    assert {p for number, p in enumerate(ps) if number in selected and p in clear} == {
        p for p in clear if adjusted[p] < 0.05
    }


def test_few_pages_without_a_change_show_one() -> None:
    random = Random(1)
    pages = 2000
    false = sum(
        bool(select_discoveries({number: (number, random.random()) for number in range(40)}, 0.05))
        for _ in range(pages)
    )
    assert 0.03 < false / pages < 0.07
