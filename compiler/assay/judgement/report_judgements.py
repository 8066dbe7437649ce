"""Hold the judgements of a report: each of its metrics in each version, compared with the first version."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from assay.judgement.mix import Mix
from assay.judgement.paired_segments import PairedSegments
from assay.judgement.repeats import can_measure_noise
from assay.judgement.tails import TailChange
from assay.judgement.verdict import Judgement, Margin, Verdict

if TYPE_CHECKING:
    from assay.judgement.focus import FocusTable
    from assay.judgement.record_rates import RecordChange
    from assay.judgement.steps import StepTable


@dataclass(frozen=True, slots=True)
class JudgedChange:
    """The change of a metric from the base to another version.

    `averages` are those of base and other version, None if one has none. `margin` is the declared one, in percent and
    in the metric's unit. `adjusted` is the p of the gate after Holm; None if the metric is not gated. `sizes` are the
    numbers of samples of base and other version; None for a formula. `paired` is what its segments show together if
    each has too few samples.
    `mix` is how samples differ in the values of a dimension: the change is then that of the common values.
    `tails` are quantiles that changed beyond the margin, if they are judged (`has_quantiles`). `is_by_itself` says that
    the verdict is right in 95 of 100 cases, but not on a page with so many metrics. `equal_to` is the first metric with
    the same averages and interval, also for that metric itself: they are one measurement, and count once.
    """

    judgement: Judgement
    margin: Margin
    adjusted: float | None = None
    sizes: tuple[int, int] | None = None
    paired: PairedSegments | None = None
    averages: tuple[float, float] | None = None
    mix: Mix | None = None
    tails: tuple[TailChange, ...] = ()
    has_quantiles: bool = False
    is_by_itself: bool = False
    equal_to: str = ""

    @property
    def is_moved(self) -> bool:
        """Whether the metric has no interval although its averages differ by more than the margin."""
        if self.judgement.verdict is not Verdict.NO_INTERVAL or self.averages is None:
            return False
        base, value = self.averages
        return abs(value - base) > self.margin.convert_to_amount(base)


@dataclass(frozen=True, slots=True)
class ReportJudgements:
    """The judgements of a report.

    `runs` has the number of runs of each version, the base first; `demanded` is the number that the gate demands, and
    `calibration` the number of calibration runs. `noise` is the sentence on the noise that intervals hold. `gated` are
    the ids of gated metrics. `changes` has metric ids and ids of versions as keys; `base` is the id of the base.
    `steps` are those of totals that changed, and `foci` say where changes come from, with the same keys; `grouped` are
    the changes of each value of the column `grouped_by`, such as each host. `records` are names of records that only
    the base or a version has, by version.
    """

    level: float
    runs: tuple[int, ...]
    demanded: int
    calibration: int
    noise: str
    gated: tuple[str, ...]
    changes: Mapping[tuple[str, str], JudgedChange]
    base: str = ""
    steps: Mapping[tuple[str, str], StepTable] = field(default_factory=dict)
    foci: Mapping[tuple[str, str], FocusTable] = field(default_factory=dict)
    grouped: Mapping[tuple[str, str], Mapping[str, JudgedChange]] = field(default_factory=dict)
    grouped_by: str = ""
    records: Mapping[str, tuple[RecordChange, ...]] = field(default_factory=dict)

    def find_change(self, metric: str, base: str, version: str) -> JudgedChange | None:
        """Return the change of a metric from `base` to a version; None if another base was judged, or nothing."""
        return self.changes.get((metric, version)) if base == self.base else None

    @property
    def are_single_runs(self) -> bool:
        """Whether nothing shows how much runs of one version differ."""
        return bool(self.runs) and not can_measure_noise(self.runs, self.calibration)
