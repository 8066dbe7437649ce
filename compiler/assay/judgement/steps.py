"""Hold how a change of a total divides into the changes of its steps, and decide which of them is its cause.

Averages are exact, so the steps add up to the total. A step is the cause if all of these hold:

* the total is worse, better or changed, and not by itself (what chance makes of so many metrics);
* the step has the same verdict, if only by itself: the total shows that something changed, and chance gives no step
  both its own interval and half of that change;
* it carries three quarters of the change of the total, or half of it and 1.75 times its share in the total: if all
  steps become slower alike, noise gives half of the change to a step of 40 % now and then;
* its change exceeds the margin of the total.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from assay.judgement.report_judgements import JudgedChange

_LEAST_SHARE, _MOST_OF_CHANGE = Fraction(1, 2), Fraction(3, 4)
_LEAST_FACTOR = Fraction(7, 4)  # of a share in the change to that in the total


@dataclass(frozen=True, slots=True)
class StepChange:
    """The change of a step: its exact averages in base and other version, and its judgement.

    `id` is that of the step, `metric` of the metric that measures it; empty if none does. `sums` are those of all
    samples of each run of the base, and of the other version, in whole nanoseconds.
    """

    id: str
    name: str
    metric: str
    ends: tuple[str, str]
    averages: tuple[Fraction, Fraction]
    sums: tuple[tuple[int, ...], tuple[int, ...]]
    change: JudgedChange

    @property
    def difference(self) -> Fraction:
        """The exact change of the average."""
        return self.averages[1] - self.averages[0]


@dataclass(frozen=True, slots=True)
class StepTable:
    """A total and its steps in two versions.

    `rest` are the averages of the total minus those of all steps: what rows that lack an instant add to it. `rows` are
    the numbers of rows of the total, and of those with all instants, in each of the two versions.
    """

    version: str
    total: StepChange
    steps: tuple[StepChange, ...]
    rest: tuple[Fraction, Fraction]
    rows: tuple[tuple[int, int], tuple[int, int]]

    @property
    def has_rest(self) -> bool:
        """Whether some rows of the total lack an instant of the steps."""
        return any(every != complete for every, complete in self.rows)

    def compute_share(self, difference: Fraction) -> Fraction | None:
        """Return the share of a change in that of the total; None if the total did not change."""
        return difference / self.total.difference if self.total.difference else None

    @property
    def cause(self) -> StepChange | None:
        """The step that is the cause of the change; None if there is none."""
        if not _is_known(self.total.change):
            return None
        least = self.total.change.margin.convert_to_amount(float(self.total.averages[0]))
        verdict = self.total.change.judgement.verdict
        causes = [
            step
            for step in self.steps
            if step.change.judgement.verdict is verdict and self._carries_most(step) and abs(step.difference) > least
        ]
        return max(causes, key=lambda step: abs(step.difference), default=None)

    def _carries_most(self, step: StepChange) -> bool:
        """Return whether a step carries most of the change, or half of it and much more than its part of the total."""
        share, whole = self.compute_share(step.difference) or Fraction(0), self.total.averages[0]
        expected = step.averages[0] / whole if whole else Fraction(0)
        return share >= _MOST_OF_CHANGE or share >= max(_LEAST_SHARE, _LEAST_FACTOR * expected)

    @property
    def largest(self) -> StepChange:
        """The step that carries most of the change of the total."""
        return max(self.steps, key=lambda step: self.compute_share(step.difference) or 0)


def _is_known(change: JudgedChange) -> bool:
    return change.judgement.is_certain and not change.is_by_itself


def add_averages(parts: Sequence[tuple[Fraction, Fraction]]) -> tuple[Fraction, Fraction]:
    """Return the sums of averages in base and other version."""
    return sum((one for one, _ in parts), Fraction(0)), sum((other for _, other in parts), Fraction(0))
