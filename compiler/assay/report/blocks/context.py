"""Define the context that blocks of a report are rendered in, their output, and the registry of renderers."""

from __future__ import annotations

import functools
import itertools
import pkgutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from importlib import import_module
from typing import Any, Generic, TypeVar

from assay.judgement.report_judgements import ReportJudgements
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.package import Column, Grain, Metric
from assay.lang.model.parts import Block, Part
from assay.lang.model.report import Report
from assay.number_styles.registry import Style, get_style
from assay.report.blocks import rows as block_rows
from assay.report.blocks.chosen_rows import RowsByChoice, list_repeats
from assay.report.blocks.rows import Row
from assay.report.cell_links import QuotedValue
from assay.report.document import Chart, Entry, Plot
from assay.report.formatted_text import TextBlock
from assay.report.observations.printed_changes import Changes
from assay.report.prose import Prose
from assay.report.run_results import Choices, RunFigures, format_typed_value
from assay.report.tables import MetricTable, Table
from assay.report.versions import Version

#: with more runs than this, pages are in landscape format
PORTRAIT_COLUMNS = 4


@dataclass(frozen=True, slots=True)
class ShownRun:
    """A run as a report shows it: its results, its label, and its label in titles (empty for a single run)."""

    run: RunFigures
    label: str
    title_label: str


@dataclass(frozen=True, slots=True)
class RenderContext:
    """The input of all tables and figures of a report.
    `runs` are those of most blocks, the first of which is the baseline; `cases` are those of grids. `versions` are the
    columns of averages: runs, versions of several runs, or phases; `instants` those at which phases of a run begin,
    with their names, in ns. `rows_by_choice` has the chosen rows, `figure_numbers` yields
    the next number of a figure, `place` is the number of the part. `groups` has the context of each group of runs; a
    group without runs has none. `judgements` are those of averages; None if the report judges nothing. `prose` has
    the texts of files by their names, `files` those with rows by the id of a run and the name of a statement.
    `changes` are what tables print, as far as prose quotes it; None before they are known. `mark_notes` yields the note
    on numbers of the author, once in a report.
    """

    checked: CheckedPackage
    report: Report
    choices: Choices
    rows_by_choice: RowsByChoice
    runs: Sequence[ShownRun]
    cases: Sequence[ShownRun]
    versions: Sequence[Version]
    instants: Mapping[str, Sequence[tuple[str, int]]]
    figure_numbers: Iterator[int]
    place: int = 0
    groups: Mapping[str, RenderContext] = field(default_factory=dict)
    judgements: ReportJudgements | None = None
    prose: Mapping[str, Prose] = field(default_factory=dict)
    files: Mapping[tuple[str, str], str] = field(default_factory=dict)
    changes: Changes | None = None
    mark_notes: Iterator[str] = field(default_factory=lambda: iter(()))

    @property
    def part(self) -> Part:
        """The part whose blocks are rendered."""
        return self.report.parts[self.place - 1]

    @property
    def number_style(self) -> Style:
        """The number style of cells."""
        return get_style(self.choices.style)

    @property
    def all_runs(self) -> Sequence[ShownRun]:
        """The runs and the cases, each once."""
        return [*self.runs, *(case for case in self.cases if case.run not in [item.run for item in self.runs])]

    @property
    def compared_runs(self) -> Sequence[ShownRun]:
        """The runs that are compared with the first: those that do not repeat it."""
        first, *others = self.runs
        return [item for item in others if not first.run.version or item.run.version != first.run.version]

    @property
    def is_landscape(self) -> bool:
        """Whether pages are in landscape format, because the report has many runs."""
        return sum(len(item.all_runs) for item in self.groups.values() or [self]) > PORTRAIT_COLUMNS

    def select_runs(self, names: Collection[str]) -> RenderContext:
        """Return the context with only the runs and cases whose ids are among `names`."""
        runs, cases = ([item for item in items if item.run.id in names] for items in (self.runs, self.cases))
        return replace(self, runs=runs, cases=cases)

    def find_group(self, name: str) -> RenderContext | None:
        """Return the context of a group of runs, or this one for an empty name; None for a group without runs."""
        return self.groups.get(name) if name else self

    def number_plots(self, plots: Iterable[Plot | None]) -> tuple[Plot | None, ...]:
        """Return figures with their numbers; None marks a figure that a run lacks."""
        return tuple([replace(plot, figure=next(self.figure_numbers)) if plot else None for plot in plots])

    def find_row(self, choice: str, run: RunFigures) -> Row | None:
        """Return the row of a choice in a run; None if there is none."""
        return self.rows_by_choice.get((choice, run.id))

    def find_repeats(self, choice: str, run: RunFigures) -> Sequence[Row]:
        """Return the row of a choice in a run and the rows that repeat it, in order; empty if there is none."""
        row = self.find_row(choice, run)
        return list_repeats(self.checked, self.report, self.report.get_choice(choice), run, row) if row else ()

    def find_time_range(self, choice: str, run: RunFigures) -> tuple[int, int] | None:
        """Return the first and last instant (ns) of a choice's row in a run; None if there is no row."""
        row, article_choice = self.find_row(choice, run), self.report.get_choice(choice)
        return (int(str(row[article_choice.begin])), int(str(row[article_choice.end]))) if row else None

    def format_metric(self, metric: Metric, row: Row | None) -> str:
        """Return the value of a metric on a row, as tables print it."""
        return block_rows.format_metric_value(self.checked, self.number_style, metric, row[metric.id] if row else None)

    def compute_metric(self, metric: Metric, row: Row | None) -> float | None:
        """Return the value of a metric on a row, in its unit."""
        return block_rows.compute_value(self.checked, metric, row[metric.id]) if row else None

    def compute_exact_metric(self, metric: Metric, row: Row | None) -> Fraction | None:
        """Return the exact value of a metric on a row; None also if it is not finite."""
        return block_rows.compute_exact_value(self.checked, metric, row[metric.id]) if row else None


@dataclass(frozen=True, slots=True)
class RenderedBlocks:
    """The output of neighbouring blocks of one kind: prose, figures (those of `wide` are as wide as the page), tables.

    The part names the rows of `choices`; `notes` explain how to read the blocks, `gaps` say which data they lack.
    `quoted` are the values in the paragraphs of `prose`. `content` is what the document prints here.
    """

    plots: tuple[Chart | Plot | None, ...] = ()
    wide: tuple[Plot, ...] = ()
    tables: tuple[MetricTable | Table, ...] = ()
    choices: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()
    prose: tuple[TextBlock, ...] = ()
    quoted: tuple[QuotedValue, ...] = ()
    content: str = ""

    @property
    def stages(self) -> tuple[int, ...]:
        """The places that the output takes in a part, which prints prose, then figures, wide ones, and tables."""
        return tuple(stage for stage, items in enumerate((self.prose, self.plots, self.wide, self.tables)) if items)


B = TypeVar("B", bound=Block)
Term = tuple[str, Entry]
"""The title of a group of the glossary, and an entry of it."""


def explain_nothing(_checked: CheckedPackage, _block: Block) -> Iterable[Term]:
    """Return no entries, for blocks whose numbers other entries explain."""
    return ()


@dataclass(frozen=True, slots=True)
class Renderer(Generic[B]):
    """A renderer of blocks of a kind, and of glossary entries for numbers that belong to no metric."""

    render: Callable[[RenderContext, Sequence[B]], RenderedBlocks]
    explain: Callable[[CheckedPackage, B], Iterable[Term]]


_RENDERERS: dict[type[Block], Renderer[Any]] = {}
Render = Callable[[RenderContext, Sequence[B]], RenderedBlocks]


def register_renderer(
    kind: type[B], *, explain: Callable[[CheckedPackage, B], Iterable[Term]] = explain_nothing
) -> Callable[[Render[B]], Render[B]]:
    """Register a function as the renderer of a kind of blocks."""

    def register(render: Render[B]) -> Render[B]:
        _RENDERERS[kind] = Renderer(render, explain)
        return render

    return register


@functools.cache
def load_renderers() -> Mapping[type[Block], Renderer[Any]]:
    """Return the renderer of each kind; the modules of this package define them."""
    package = __name__.rpartition(".")[0]
    for module in pkgutil.iter_modules(import_module(package).__path__, f"{package}."):
        import_module(module.name)
    return _RENDERERS


def render_blocks(context: RenderContext, part: Part) -> list[RenderedBlocks]:
    """Render the blocks of a part in order, neighbours of one kind together.

    Figures show the runs that have their rows; figures of other runs follow them.
    """
    renderers = load_renderers()
    rendered = []
    for kind, blocks in itertools.groupby(part.blocks, key=type):
        renderer = renderers[kind]
        blocks_by_runs: dict[tuple[str, ...], list[Block]] = {}
        for block in blocks:
            blocks_by_runs.setdefault(_list_runs_with_rows(context, block), []).append(block)
        rendered += [
            renderer.render(context.select_runs(runs), items) for runs, items in blocks_by_runs.items() if runs
        ]
    return rendered


def _list_runs_with_rows(context: RenderContext, block: Block) -> tuple[str, ...]:
    """Return the ids of the runs that have the rows of a figure; of another block, all runs."""
    runs = [item.run for item in context.all_runs]
    if block.appears_as == "figure":
        runs = [run for run in runs if block_rows.has_rows(context.checked, run, block)]
    return tuple(run.id for run in runs)


def explain_blocks(checked: CheckedPackage, report: Report) -> dict[str, Term]:
    """Return the glossary entries of a report's blocks, by their ids."""
    renderers = load_renderers()
    terms = (term for block in report.blocks for term in renderers[type(block)].explain(checked, block))
    return {entry.id: (group, entry) for group, entry in terms}


def add_label_to_title(title: str, label: str) -> str:
    """Return a title with the label of its run."""
    return f"{title}: {label}" if label else title


def find_column(grain: Grain, name: str) -> Column:
    """Return the column of a grain with a name."""
    return next(column for column in grain.columns if column.name == name)


def format_cell(column: Column, value: object) -> str:
    """Return a value of a column as tables print it."""
    return format_typed_value(column.type, value)
