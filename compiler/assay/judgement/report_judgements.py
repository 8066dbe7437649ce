"""Hold the judgements of a report: each of its metrics in each version, compared with the first version."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from assay.judgement.paired_segments import PairedSegments
from assay.judgement.verdict import Judgement, Margin


@dataclass(frozen=True, slots=True)
class JudgedChange:
    """The change of a metric from the base to another version.

    `margin` is the declared one, in percent and in the metric's unit. `adjusted` is the p of the gate after Holm; None
    if the metric is not gated. `sizes` are the numbers of samples of base and other version; None for a formula.
    `paired` is what its segments show together if each has too few samples. `medians` are those of base and other
    version if they differ although the metric is open.
    """

    judgement: Judgement
    margin: Margin
    adjusted: float | None = None
    sizes: tuple[int, int] | None = None
    paired: PairedSegments | None = None
    medians: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class ReportJudgements:
    """The judgements of a report.

    `runs` has the number of runs of each version, the base first; `demanded` is the number that the gate demands, and
    `calibration` the number of calibration runs. `noise` is the sentence on the noise that intervals hold. `gated` are
    the ids of gated metrics. `changes` has metric ids and ids of versions as keys.
    """

    level: float
    runs: tuple[int, ...]
    demanded: int
    calibration: int
    noise: str
    gated: tuple[str, ...]
    changes: Mapping[tuple[str, str], JudgedChange]
