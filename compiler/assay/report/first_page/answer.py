"""Define the first page of a comparison: what got better, what got worse, and what is noise."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

#: members of the classes below that are left out of the JSON text if they have these values
ANSWER_DEFAULTS: dict[str, object] = {
    "reason": "",
    "segments": (),
    "more_segments": 0,
    "is_by_itself": False,
    "within": "Within these",
}


@dataclass(frozen=True, slots=True)
class KeyChange:
    """The change of an important metric in words: `200 → 229 ms, +14 % (+8 … +21)`.

    `verdict` is a word, `arrow` the direction of a change beyond the margin (▲, ▼, or empty), and `is_by_itself` says
    that so many metrics make such a verdict by chance.
    """

    metric: str
    label: str
    text: str
    verdict: str
    arrow: str
    is_by_itself: bool = False


@dataclass(frozen=True, slots=True)
class JudgedSegment:
    """The change of a segment of a metric: `write`, `+16 %`, `worse`.

    `section` is the id of the one with its row; empty in a part.
    """

    metric: str
    section: str
    label: str
    percent: str
    verdict: str
    arrow: str


@dataclass(frozen=True, slots=True)
class JudgedRow:
    """The change of a metric in words and as a line of the forest plot.

    `base`, `value`, `percent` and `interval` are texts; values have a unit: `29.4 µs`. `verdict` is a word, `arrow` the
    direction of a change beyond the margin (▲, ▼, or empty). `sizes` are the numbers of samples: `56 / 64`. `change`,
    `low`, `high` and `margin` are in percent of the base, None for a metric whose base is 0 or that has no interval;
    `reason` says why. `is_by_itself` is that of a key change. `segments` are the largest certain changes of segments
    that are worse or better, and `more_segments` is the number of further ones; `within` are the words before them,
    with the number of values of a column, such as hosts: `11 of 50 hosts worse`.
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
    segments: tuple[JudgedSegment, ...] = ()
    more_segments: int = 0
    is_by_itself: bool = False
    within: str = "Within these"


def list_linked_segments(answers: Iterable[Answer]) -> frozenset[tuple[str, str]]:
    """Return section and metric of each segment that first pages name: their rows need anchors."""
    return frozenset(
        (item.section, item.metric)
        for answer in answers
        for group in answer.groups
        for row in group.rows
        for item in row.segments
    )


@dataclass(frozen=True, slots=True)
class JudgedGroup:
    """The judged metrics of a section."""

    title: str
    rows: tuple[JudgedRow, ...]


@dataclass(frozen=True, slots=True)
class Axis:
    """The axis of a forest plot, in percent: what lies beyond `low` or `high` is cut there.

    `ticks` are positions with their labels; `left` and `right` say what lies on either side of 0: better and
    worse, or less and more if directions differ.
    """

    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]
    left: str
    right: str


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a comparison of a run with the base.

    `base` and `run` are their labels, `run_id` is the id of the run, `level` that of intervals: `95 %`. `counts` is a
    sentence. Metrics that are better in no direction are `conditions`; `caution` is a sentence if one of them changed,
    or a parameter that should not. `differing` are the rows of the manifest in which the runs differ: label, base, run.
    `omitted` says which metrics do not fit on the page. `notes` are sentences: on the noise in intervals, few units of
    time, the quality of the data. `causes` are sentences on the steps that changes come from.
    """

    base: str
    run: str
    run_id: str
    level: str
    headline: str
    counts: str
    key_changes: tuple[KeyChange, ...]
    groups: tuple[JudgedGroup, ...]
    axis: Axis
    conditions: tuple[JudgedRow, ...]
    caution: str
    differing: tuple[tuple[str, str, str], ...]
    omitted: str
    notes: tuple[str, ...] = ()
    causes: tuple[str, ...] = ()
