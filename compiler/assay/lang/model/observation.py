"""Rules that draft what a report says of the differences that its tables print, as frozen dataclasses."""

from __future__ import annotations

from dataclasses import dataclass

from assay.lang.model.vocabulary import Margin

EACH, MEDIAN, RUNS, ALIKE = "each", "median", "runs", "alike"
LEVEL, TREND, BELOW, ABOVE = "level", "trend", "below", "above"
WHOLES = (EACH, MEDIAN, RUNS, ALIKE, LEVEL, TREND, BELOW, ABOVE)
#: kinds of observations that are made of changes of a size
OF_SIZES = (EACH, MEDIAN)
#: kinds of observations on the rows of a table, not on changes
OF_ROWS = (LEVEL, TREND, BELOW, ABOVE)
#: kinds of observations with a bound: on most rows, values below or above it; changes of at most so many percent
BOUNDED = (BELOW, ABOVE, ALIKE)
#: the placeholders of the text of an observation, and of a detail
OBSERVATION_PLACEHOLDERS = (
    "name",
    "goes",
    "percent",
    "amount",
    "size",
    "speed",
    "run",
    "base",
    "from",
    "to",
    "level",
    "first",
    "last",
    "least",
    "greatest",
    "bound",
    "share",
)
CASE_PLACEHOLDERS = ("case",)
DETAIL_PLACEHOLDERS = ("name", "percent", "amount")


@dataclass(frozen=True, slots=True)
class Observation:
    """A statement on some metrics, which is made if their printed changes are at least as large as `at_least`.

    `whole` is `each` (metrics that go the same way share a sentence) or `median` (all share one, if the median of
    their changes in percent is large enough; those at least `outlier` percentage points from it have their own).
    `runs` is on averages that never fall, or never rise, from run to run, `alike` on metrics of which no change is
    larger than `bound` percent. `level` is on the values of a metric on the rows of a table, `trend` on values that
    never fall, or never rise, from row to row, `below` and `above` on values that lie beyond `bound` on most rows.
    `also` are metrics that the sentence names too, `after` are those whose statements replace this one.
    `name` is what sentences call the metrics, if not by their own names.
    """

    name: str
    metrics: tuple[str, ...]
    at_least: Margin
    whole: str
    bound: str
    outlier: str
    also: tuple[str, ...]
    after: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class ObservationGroup:
    """Observations under a title: `quiet` is on metrics that are the same if none holds, `rest` if some hold."""

    title: str
    observations: tuple[Observation, ...]
    quiet: str
    rest: str


@dataclass(frozen=True, slots=True)
class SizeWord:
    """A word for changes below so many percent, a decimal text."""

    below: str
    word: str


@dataclass(frozen=True, slots=True)
class ObservationRules:
    """The rules of a report: groups of observations, and the words of sentences.

    `sizes` ascend; `beyond` is the word for larger changes (empty: no words). The first two words of `up` and `down`
    are drafted, for one metric and for several; all are recognized in sentences. `plurals` are metrics with names in
    the plural. `detail` names a further metric. `undecided` is on metrics of which the runs cannot tell, `unjudged` on
    those without a statement in a report that judges no differences. `in_case` follows a sentence that is about some
    of several reports or groups of runs. `every` and `most` say on which rows values lie beyond a bound.
    """

    groups: tuple[ObservationGroup, ...]
    sizes: tuple[SizeWord, ...]
    beyond: str
    up: tuple[str, ...]
    down: tuple[str, ...]
    detail: str
    undecided: str
    unjudged: str
    plurals: tuple[str, ...]
    in_case: str
    every: str
    most: str
