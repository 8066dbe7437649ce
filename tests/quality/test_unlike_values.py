"""Metrics whose samples mean something else in a run than in another."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from assay.engine.results import Centile, Distribution
from assay.lang.model.expression import Expression
from assay.lang.model.package import Metric
from assay.lang.model.vocabulary import Unit
from assay.quality.unlike_values import find_unlike_values
from assay.util.centiles import CENTILES

USUAL = [10.5 + 0.37 * number for number in range(1000)]
COARSE = [1.0 + number % 5 for number in range(1000)]

#: case -> symbol of the unit, samples of the base and of another run, and the beginning of the finding on the latter
CASES: dict[str, tuple[str, list[float], list[float], str]] = {
    "alike": ("ms", USUAL, USUAL[::2], ""),
    "twice as slow": ("ms", USUAL, [2 * item for item in USUAL], ""),
    "a tenth 0": ("ms", USUAL, [0.0] * 100 + USUAL[100:], "at least 5 % of the samples are 0, in base less than 1 %"),
    "0 as the least of few numbers": ("ms", COARSE, [item - 1 for item in COARSE], ""),
    "another unit": (
        "", USUAL, [item / 1000 for item in USUAL],
        "the samples are 1000 times as small as those of base: the unit may have changed (wait, p99)",
    ),
    "a millionfold": ("ms", USUAL, [item * 1.1e6 for item in USUAL], "the samples are 1000000 times as large as"),
    "a hundredfold": ("ms", USUAL, [item * 100 for item in USUAL], ""),
    "most a thousandfold": ("ms", USUAL, [*USUAL[:300], *(item * 1000 for item in USUAL[300:])], ""),
    "a parameter": ("", [1.0] * 1000, [1000.0] * 1000, ""),
}  # fmt: skip


def create_distribution(samples: list[float]) -> Distribution:
    ordered = sorted(samples)
    values = [ordered[min(int(float(share) * len(ordered)), len(ordered) - 1)] for share in CENTILES]
    centiles = [Centile(float(share), value, None, None, None) for share, value in zip(CENTILES, values, strict=True)]
    return Distribution(len(ordered), {}, 0.0, {}, ordered[0], ordered[-1], (*centiles,), Fraction(1), integral=False)


@pytest.mark.parametrize("case", CASES)
def test_samples_unlike_those_of_another_run(case: str) -> None:
    symbol, base, other, expected = CASES[case]
    measure = Expression(op="column", name="wait")
    wait = Metric("wait", "", "", "request", measure, None, True, None, "", Unit("unit", symbol), "lower", 0)
    runs = [("base", {"wait": create_distribution(base)}), ("other", {"wait": create_distribution(other)})]
    findings = find_unlike_values(runs, [wait, replace(wait, id="p99")])[1]
    assert [item.code for item in findings] == ["unlike-values"] * bool(expected)
    assert [item.message for item in findings if not item.message.startswith(expected)] == []
