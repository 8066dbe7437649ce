"""Define the first page of a comparison: what got better, what got worse, and what is noise."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class JudgedRow:
    """The change of a metric in words and as a line of the forest plot.

    `base`, `value`, `percent` and `interval` are texts; values have a unit: `29.4 µs`. `verdict` is a word, `arrow` the
    direction of a change beyond the margin (▲, ▼, or empty). `sizes` are the numbers of samples: `56 / 64`. `change`,
    `low`, `high` and `margin` are in percent of the base, None for a metric that is not judged; `reason` says why it
    is not.
    """

    metric: str
    label: str
    base: str
    value: str
    percent: str
    interval: str
    verdict: str
    arrow: str
    sizes: str
    change: float | None
    low: float | None
    high: float | None
    margin: float | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class JudgedGroup:
    """The judged metrics of a section."""

    title: str
    rows: tuple[JudgedRow, ...]


@dataclass(frozen=True, slots=True)
class Axis:
    """The axis of a forest plot, in percent: what lies beyond `low` or `high` is cut there."""

    low: float
    high: float
    ticks: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a comparison of a run with the base.

    `base` and `run` are their labels, `run_id` is the id of the run. `counts` and `key_changes` are sentences below the
    headline. Metrics that are better in no direction are `conditions`; `caution` is a sentence if one of them changed.
    `differing` are the rows of the manifest in which the runs differ: label, base, run. `omitted` says which metrics do
    not fit on the page. `notes` are sentences: on the noise in intervals, few units of time, the quality of the data.
    """

    base: str
    run: str
    run_id: str
    headline: str
    counts: str
    key_changes: tuple[str, ...]
    groups: tuple[JudgedGroup, ...]
    axis: Axis
    conditions: tuple[JudgedRow, ...]
    caution: str
    differing: tuple[tuple[str, str, str], ...]
    omitted: str
    notes: tuple[str, ...]
