"""Articles: reports made of prose, tables of rows, pivots and figures, as frozen dataclasses."""

from __future__ import annotations

from dataclasses import dataclass

from assay.spec.claim_model import Claim


@dataclass(frozen=True, slots=True)
class Listing:
    """A table of the rows of a grain: columns `keys`, then what metrics measure on each row."""

    title: str
    grain: str
    keys: tuple[str, ...]
    metrics: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pivot:
    """A table with a row for each value of a grain's column `down`, a column for each of `across`, cells of a metric.

    Where several rows of the grain meet in a cell, the one that comes first in `first` counts.  With a metric `due`, a
    cell that falls short of it by more than `tolerance` percent is marked.
    """

    title: str
    grain: str
    down: str
    across: str
    metric: str
    first: str
    due: str
    tolerance: int


@dataclass(frozen=True, slots=True)
class Timeline:
    """A figure of a series: a line for each value of the label `line`, over the seconds of a window; with `mean`, the
    mean of all lines too; with `alone`, only that."""

    series: str
    title: str
    line: str
    mean: bool
    alone: bool
    template: str


@dataclass(frozen=True, slots=True)
class Scatter:
    """A figure for each value of a grain's column `per`: its rows as points, one metric over another, and the mean.

    `label` are columns of the grain `of` (with the column `per` as its key) that name a figure.
    """

    title: str
    grain: str
    per: str
    of: str
    label: tuple[str, ...]
    x: str
    y: str
    template: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """A table that judges further runs by the first: what metrics measure on the rows of a grain that agree in `keys`.

    A change for the worse of more than `tolerance` percent fails; of a metric that is not better in any direction, any
    change.
    """

    title: str
    grain: str
    keys: tuple[str, ...]
    metrics: tuple[str, ...]
    tolerance: int


@dataclass(frozen=True, slots=True)
class Averages:
    """A table of series in one unit: their label filters, and the mean over time of the mean of all lines."""

    title: str
    series: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of an article, in this order: prose (a file of the specs), figures, tables."""

    title: str
    prose: str
    scatters: tuple[Scatter, ...]
    timelines: tuple[Timeline, ...]
    listings: tuple[Listing, ...]
    pivots: tuple[Pivot, ...]
    verdicts: tuple[Verdict, ...]
    averages: tuple[Averages, ...] = ()


@dataclass(frozen=True, slots=True)
class Article:
    """A report of parts over runs, its numbers in a style; `label` is the constant that names a run.

    `title` and `intro` may hold `{base}`, `{others}`, `{constant.NAME}`.  `claims` are what documents say of its
    pivots.
    """

    name: str
    title: str
    intro: str
    parts: tuple[Part, ...]
    style: str
    label: str
    doc: str
    claims: tuple[Claim, ...] = ()
