"""Reports and their editions, as frozen dataclasses: what is shown, in which order, under which names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

from assay.lang.model.observation import ObservationRules
from assay.lang.model.parts import Block, Choice, Claim, Part, RunGroup
from assay.lang.model.vocabulary import Judgement, Phase

B = TypeVar("B", bound=Block)


@dataclass(frozen=True, slots=True)
class Cell:
    """How a manifest value is printed.

    `kind` is `text`, `unsuffixed` (a text without trailing letters s), `integer`, `real`, `spread`, `date` or `time`;
    `cut` is the number of characters to print (0: all); `empty` is printed for an empty text.
    """

    kind: str
    cut: int
    empty: str


@dataclass(frozen=True, slots=True)
class ManifestRow:
    """A row of the manifest.

    It shows a constant of the run (empty if the constant `needs` is empty), a column of the one-row relation
    `relation`, or a value of the build (`built`: `analysis date`, `filters applied`).
    """

    id: str
    label: str
    constant: str
    needs: str
    relation: str
    column: str
    built: str
    cell: Cell


@dataclass(frozen=True, slots=True)
class Section(Block):
    """A table of a report: the metrics that are its rows; `columns` are statistics that it shows besides averages.

    With the dimensions `by`, each metric has a further row for each of the `limit` values with most samples, and one
    for all others.
    """

    may_name_grains = True
    title: str
    doc: str
    metrics: tuple[str, ...]
    columns: tuple[str, ...] = ()
    by: tuple[str, ...] = ()
    limit: int = 0


@dataclass(frozen=True, slots=True)
class Chart(Block):
    """A chart of a report or a part of it: a template and the metric it shows.

    With the dimensions `by`, each run has a figure, with a line for each of the `limit` values with most samples: once
    these are known, `lines` are the segments of the metric.
    """

    metric: str
    template: str
    scale: str
    by: tuple[str, ...] = ()
    limit: int = 0
    lines: tuple[str, ...] = ()

    @property
    def title(self) -> str:  # type: ignore[override]
        """The empty text: its caption is the name of the metric."""
        return ""

    @property
    def metrics(self) -> tuple[str, ...]:
        """Return the metrics whose distributions it needs."""
        return (self.metric, *self.lines)


@dataclass(frozen=True, slots=True)
class DictionaryGroup:
    """A group of the data dictionary: the metrics that it explains."""

    title: str
    metrics: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FilterUse:
    """A filter of the default set of a report, with its argument as text (empty: none)."""

    name: str
    argument: str


@dataclass(frozen=True, slots=True)
class RowLabel:
    """The label of a manifest row in an edition: of a row of the report (by its id), or of a former row."""

    id: str
    label: str


@dataclass(frozen=True, slots=True)
class Label:
    """The name and the symbol of the unit of a metric in an edition; None: as in the metric."""

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

    @property
    def listed_metrics(self) -> Iterator[str]:
        """Yield the metrics of sections, charts and dictionary, in this order."""
        return _list_metrics(self.sections, self.charts, self.dictionary)


@dataclass(frozen=True, slots=True)
class Break:
    """A point after which values of some metrics cannot be compared with earlier values.

    It affects publications from the day `since` (YYYY-MM-DD) on; in the first of them, the runs from the one with the
    label `run` on (empty: from its first run).
    """

    metrics: tuple[str, ...]
    since: str
    run: str
    doc: str


@dataclass(frozen=True, slots=True)
class Experiment:
    """Runs, by their labels, of conditions other than those of releases, which reports show apart, as `series`."""

    series: str
    runs: tuple[str, ...]
    doc: str


@dataclass(frozen=True, slots=True)
class Publications:
    """What a report over publications shows: those of the report `of`, and builds of it.

    Resolving collects `breaks` from the metrics of the report.
    """

    of: str
    experiments: tuple[Experiment, ...] = ()
    breaks: tuple[Break, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """A report: title, manifest, parts, dictionary, number style, default filters and summary.

    `editions` are the forms in which it was published, oldest first; `phases` are compared instead of whole runs.
    `observations` are rules that draft what is said of the tables.

    Its `parts` hold prose and blocks. Runs whose constant `cases` has a value are shown only in grids, unless all runs
    have one. `choices` are rows that blocks and prose refer to, `claims` those of documents about its pivots. A run
    needs one of the sources `alternatives`; what reads another is left out. Each run belongs to one of the `groups`, if
    there are any. `revision` is the constant with the revision of a run's version.

    `title` and `intro` may hold `{base}`, `{others}`, `{last}`, `{constant.NAME}`: a constant of the base run. A report
    `over` publications, not runs, has `{publications}`, `{first}`, `{last}`, `{workloads}`, `{editions}` instead.
    """

    name: str
    title: str
    intro: str
    manifest: tuple[ManifestRow, ...]
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
    observations: ObservationRules | None = None
    parts: tuple[Part, ...] = ()
    choices: tuple[Choice, ...] = ()
    cases: str = ""
    claims: tuple[Claim, ...] = ()
    alternatives: tuple[str, ...] = ()
    groups: tuple[RunGroup, ...] = ()
    revision: str = ""
    over: Publications | None = None

    @property
    def blocks(self) -> Iterator[Block]:
        """Yield the blocks of all parts."""
        return (block for part in self.parts for block in part.blocks)

    @property
    def listed_metrics(self) -> Iterator[str]:
        """Yield the metrics of sections, charts and dictionary, in this order."""
        sections = (section for _, section in self.metric_sections)
        return _list_metrics(sections, (chart for _, chart in self.metric_charts), self.dictionary)

    @property
    def shown_metrics(self) -> tuple[str, ...]:
        """Return the metrics that blocks show, each once."""
        return tuple(dict.fromkeys(name for block in self.blocks for name in block.read_metrics()))

    @property
    def metric_sections(self) -> tuple[tuple[str, Section], ...]:
        """Return all sections, each after its name: `PART/TITLE`, or the title that it has in common with its part."""
        blocks = ((block.locate(part.title)[0], block) for part in self.parts for block in part.blocks)
        return tuple((name, item) for name, item in blocks if isinstance(item, Section))

    def replace_sections(self, convert: Callable[[str, Section], Iterable[Section]]) -> Report:
        """Return the report with what a function returns for the name of each section, and it, in its place."""
        parts = _replace_blocks(self.parts, Section, lambda part, section: convert(section.locate(part)[0], section))
        return replace(self, parts=parts)

    @property
    def metric_charts(self) -> tuple[tuple[str, Chart], ...]:
        """Return all charts, each after the title of its part."""
        return tuple((part.title, chart) for part in self.parts for chart in part.select(Chart))

    def replace_charts(self, convert: Callable[[str, Chart], Iterable[Chart]]) -> Report:
        """Return the report with what a function returns for each chart, and the title of its part."""
        return replace(self, parts=_replace_blocks(self.parts, Chart, convert))

    @property
    def metric_tables(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Return the title of the part and the metrics of each block that compares averages."""
        return tuple(
            (part.title, tuple(block.read_metrics()))
            for part in self.parts
            for block in part.blocks
            if block.compares_averages
        )

    @property
    def compared_metrics(self) -> tuple[str, ...]:
        """Return the metrics whose averages are compared, each once."""
        return tuple(dict.fromkeys(name for _, names in self.metric_tables for name in names))

    def get_choice(self, name: str) -> Choice:
        """Return the choice with a name. Raises KeyError."""
        return {item.name: item for item in self.choices}[name]


def _list_metrics(
    sections: Iterable[Section], charts: Iterable[Chart], groups: Iterable[DictionaryGroup]
) -> Iterator[str]:
    for section in sections:
        yield from section.metrics
    for chart in charts:
        yield chart.metric
    for group in groups:
        yield from group.metrics


def is_section(part: Part) -> bool:
    """Return whether a part is a section of the report: it has one block, a section with its title."""
    return [block.title for block in part.select(Section)] == [part.title] and len(part.blocks) == 1


def _replace_blocks(
    parts: Iterable[Part], kind: type[B], convert: Callable[[str, B], Iterable[Block]]
) -> tuple[Part, ...]:
    """Return parts with what a function returns for the title of the part of each block of a kind, and the block."""

    def iter_blocks(part: Part) -> Iterator[Block]:
        for block in part.blocks:
            yield from convert(part.title, block) if isinstance(block, kind) else (block,)

    return tuple(replace(part, blocks=tuple(iter_blocks(part))) for part in parts)
