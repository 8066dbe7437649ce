"""The data model of a published report, as its printed strings."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Facts:
    """A row of the manifest: a cell per run."""

    label: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MetricRow:
    """A row of a table: a value per run, a delta and a percentage per further run."""

    label: str
    unit: str
    values: tuple[str, ...]
    deltas: tuple[str, ...]
    percents: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table of metrics; `counts` has a sample count per run, or is empty."""

    title: str
    rows: tuple[MetricRow, ...]
    counts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart of the publication: its number, the metric's id, its caption."""

    number: int
    metric: str
    caption: str


@dataclass(frozen=True, slots=True)
class DictionaryEntry:
    """An entry of the publication's data dictionary."""

    metric: str
    name: str
    description: str


Points = dict[str, dict[str, tuple[tuple[float, float], ...]]]
"""Plotted points: metric -> run -> (value, centile from 0 to 1), both never descending."""


@dataclass(frozen=True, slots=True)
class Publication:
    """A published report.  `date` is as printed, `day` as YYYY-MM-DD; `points` is empty if they are unknown."""

    source: str
    title: str
    author: str
    date: str
    workload: str
    subtitle: str
    intro: str
    runs: tuple[str, ...]
    manifest: tuple[Facts, ...]
    tables: tuple[Table, ...]
    figures: tuple[Figure, ...]
    dictionary: tuple[tuple[str, tuple[DictionaryEntry, ...]], ...]
    notes: tuple[str, ...]
    points: Points

    @property
    def day(self) -> str:
        """The day of the publication."""
        return self.date[:10]
