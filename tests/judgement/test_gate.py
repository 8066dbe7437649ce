"""Gates: Holm's adjustment, what counts in the family, and whether there are repeats enough."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.judgement.gate import GatedMetric, adjust_by_holm, assess_gate, has_enough_repeats
from assay.judgement.interval import Reason
from assay.judgement.verdict import Direction, Judgement, Verdict

PS = st.lists(st.floats(0, 1), max_size=12)


def judged(p_worse: float | None, verdict: Verdict = Verdict.CANNOT_TELL, reason: Reason | None = None) -> Judgement:
    return Judgement(verdict, Direction.LOWER, reason, p_worse=p_worse)


def is_open(gate: Sequence[GatedMetric]) -> bool:
    return not any(metric.is_worse for metric in gate)


def test_p_of_a_textbook_are_adjusted() -> None:
    # R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm")
    assert adjust_by_holm((0.01, 0.04, 0.03, 0.005)) == pytest.approx((0.03, 0.06, 0.06, 0.02))


@given(PS)
def test_adjusted_p_are_between_p_and_bonferroni(ps: list[float]) -> None:
    for p, adjusted in zip(ps, adjust_by_holm(ps), strict=True):
        assert p <= adjusted <= min(1.0, len(ps) * p)


@given(PS)
def test_adjusted_p_have_the_order_of_p(ps: list[float]) -> None:
    pairs = sorted(zip(ps, adjust_by_holm(ps), strict=True))
    assert [adjusted for _, adjusted in pairs] == sorted(adjusted for _, adjusted in pairs)


@given(PS, st.randoms(use_true_random=False))
def test_order_of_metrics_changes_nothing(ps: list[float], random: object) -> None:
    metrics = {(f"m{index}", "b"): judged(p) for index, p in enumerate(ps)}
    keys = list(metrics)
    random.shuffle(keys)  # type: ignore[attr-defined]
    assert assess_gate({key: metrics[key] for key in keys}) == assess_gate(metrics)


def test_gate_is_closed_by_a_worse_metric() -> None:
    gate = assess_gate({("cpu", "b"): judged(0.02), ("heap", "b"): judged(0.6)})
    assert not is_open(gate)
    assert [(metric.key[0], metric.adjusted, metric.is_worse) for metric in gate] == [
        ("cpu", 0.04, True),
        ("heap", 0.6, False),
    ]


def test_a_large_family_keeps_the_gate_open() -> None:
    others = {(f"m{index}", "b"): judged(0.6) for index in range(3)}
    assert is_open(assess_gate({("cpu", "b"): judged(0.02)} | others))


def test_all_versions_are_one_family() -> None:
    assert is_open(assess_gate({("cpu", version): judged(0.02) for version in "bcd"}))


def test_level_of_a_gate_includes_its_bound() -> None:
    assert not is_open(assess_gate({("cpu", "b"): judged(0.05)}))
    assert not is_open(assess_gate({("cpu", "b"): judged(0.1)}, level=0.9))
    assert is_open(assess_gate({("cpu", "b"): judged(0.0501)}))


@pytest.mark.parametrize(
    "judgement",
    [judged(None, Verdict.NO_INTERVAL, Reason.FORMULA), judged(0.0, Verdict.CANNOT_TELL, Reason.TOO_SHORT)],
)
def test_unjudged_metric_is_not_worse_but_counts(judgement: Judgement) -> None:
    assert is_open(assess_gate({("cpu", "b"): judgement}))
    gate = assess_gate({("cpu", "b"): judgement, ("heap", "b"): judged(0.03)})
    assert gate[0].adjusted == 0.06


def test_metric_without_direction_is_refused() -> None:
    with pytest.raises(ValueError, match="size of a gate is better in no direction"):
        assess_gate({("size", "b"): Judgement(Verdict.CANNOT_TELL, Direction.NEITHER)})


def test_empty_gate_is_open() -> None:
    assert is_open(assess_gate({}))


@pytest.mark.parametrize(
    ("demanded", "runs", "calibration", "expected"),
    [
        (0, (1, 1), 0, True),
        (1, (1, 1), 0, True),
        (3, (1, 1), 0, False),
        (3, (3, 3), 0, True),
        (3, (3, 2), 0, False),
        (3, (1, 1), 3, True),
        (3, (2, 2), 2, False),
    ],
)
def test_repeats_are_runs_of_versions_or_calibration(
    demanded: int, runs: tuple[int, ...], calibration: int, expected: bool
) -> None:
    assert has_enough_repeats(demanded, runs, calibration) is expected
