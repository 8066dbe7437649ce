"""Reports, their editions and histories, as frozen dataclasses: what is shown, in which order, under which names."""

from __future__ import annotations

from dataclasses import dataclass

from assay.lang.model.vocabulary import Judgement, Phase


@dataclass(frozen=True, slots=True)
class Cell:
    """How a manifest value is printed: `text`, `unsuffixed` (a text without the letters s at its end), `integer`,
    `real`, `spread`, `date`, `time`; `cut` 0 cuts nothing; `empty` stands for an empty text."""

    kind: str
    cut: int
    empty: str


@dataclass(frozen=True, slots=True)
class ManifestRow:
    """A row of the manifest: a constant of the run (empty when the constant `needs` is), a column of the one-row
    relation `relation`, or what only the build knows (`built`: `analysis date`, `filters applied`)."""

    id: str
    label: str
    constant: str
    needs: str
    relation: str
    column: str
    built: str
    cell: Cell


@dataclass(frozen=True, slots=True)
class Section:
    """A table of a report: the metrics that are its rows."""

    title: str
    doc: str
    metrics: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart of a report: a template and the metric it shows."""

    metric: str
    template: str
    scale: str


@dataclass(frozen=True, slots=True)
class DictionaryGroup:
    """A group of the data dictionary: every metric named is explained there."""

    title: str
    metrics: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FilterUse:
    """A filter of a report's default set, with its argument as text (empty: none)."""

    name: str
    argument: str


@dataclass(frozen=True, slots=True)
class RowLabel:
    """What an edition calls a row of the manifest: one of the report (by its id), or one that no longer is told."""

    id: str
    label: str


@dataclass(frozen=True, slots=True)
class Label:
    """What an edition calls a metric, and the symbol of its unit; None: as the metric says."""

    metric: str
    name: str | None
    symbol: str | None


@dataclass(frozen=True, slots=True)
class Edition:
    """A form in which a report was published from the day `since` (YYYY-MM-DD) on."""

    name: str
    since: str
    style: str
    manifest: tuple[RowLabel, ...]
    sections: tuple[Section, ...]
    charts: tuple[Chart, ...]
    dictionary: tuple[DictionaryGroup, ...]
    labels: tuple[Label, ...]
    doc: str


@dataclass(frozen=True, slots=True)
class Report:
    """A report: title, manifest, sections, charts, dictionary, number style, default filters and summary.

    `editions` are the forms in which it was published, oldest first; `phases` are compared instead of whole runs.

    `title`, `subtitle` and `intro` may hold `{base}`, `{others}`, `{era}`: `{NAME}` is a constant of the base run.
    """

    name: str
    title: str
    intro: str
    manifest: tuple[ManifestRow, ...]
    sections: tuple[Section, ...]
    charts: tuple[Chart, ...]
    dictionary: tuple[DictionaryGroup, ...]
    style: str
    summary: str
    filters: tuple[FilterUse, ...]
    also: tuple[str, ...]
    label: str
    compare: tuple[str, ...]
    editions: tuple[Edition, ...]
    doc: str
    phases: tuple[Phase, ...] = ()
    judgement: Judgement | None = None


@dataclass(frozen=True, slots=True)
class Break:
    """A point from which values of some metrics are no longer those of before: in publications from the day `since`
    (YYYY-MM-DD), of the first of them from the run of a label on (empty: from its first run)."""

    metrics: tuple[str, ...]
    since: str
    run: str
    doc: str


@dataclass(frozen=True, slots=True)
class History:
    """A report over publications of the report `of`: its metrics over releases; at most `moves` rows of moves.

    `title` and `intro` may hold `{publications}`, `{first}`, `{last}`, `{workloads}`, `{editions}`.
    """

    name: str
    title: str
    intro: str
    of: str
    sections: tuple[Section, ...]
    template: str
    breaks: tuple[Break, ...]
    moves: int
    doc: str
