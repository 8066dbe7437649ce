"""What blocks of an article are rendered with, what comes of them, and the registry of what renders each kind."""

from __future__ import annotations

import functools
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from importlib import import_module
from typing import Any, Generic, TypeVar

from assay.lang.checked_package import CheckedPackage
from assay.lang.model.article import Article, Block, Part
from assay.lang.model.package import Column, Grain, Metric
from assay.report.blocks import rows as block_rows
from assay.report.blocks.choices import RowsByChoice
from assay.report.blocks.rows import Row
from assay.report.document import Entry, Plot, Table
from assay.report.run_results import RunFigures, add_unit_if_missing, format_typed_value
from assay.styles.registry import Style


@dataclass(frozen=True, slots=True)
class ShownRun:
    """A run as an article shows it: its results, its label, and that in titles (empty where there is one run only)."""

    run: RunFigures
    label: str
    title_label: str


@dataclass(frozen=True, slots=True)
class ComparisonColumns:
    """What comparisons have as columns, and the instants at which runs are cut: (name, ns), by run."""

    columns: Sequence[RunFigures]
    instants: Mapping[str, Sequence[tuple[str, int]]]


@dataclass(frozen=True, slots=True)
class RenderContext:
    """What all tables and figures of an article are rendered with.

    `runs` are those of most blocks, the first of which is the baseline; `cases` those of grids.  `comparison` has the
    columns of comparisons, and `headings` what these are called.  `article_choice` are the rows of choices,
    `figure_numbers` the numbers of figures that are not used yet, `place` is the number of the part.
    """

    checked: CheckedPackage
    article: Article
    number_style: Style
    rows_by_choice: RowsByChoice
    runs: Sequence[ShownRun]
    cases: Sequence[ShownRun]
    comparison: ComparisonColumns
    headings: Sequence[str]
    figure_numbers: Iterator[int]
    place: int = 0

    @property
    def all_runs(self) -> Sequence[ShownRun]:
        """The runs and the cases, each once."""
        return [*self.runs, *(case for case in self.cases if case.run not in [item.run for item in self.runs])]

    def number_plots(self, plots: Iterable[Plot | None]) -> tuple[Plot | None, ...]:
        """Return figures with their numbers; None is the place of one that a run lacks."""
        return tuple([replace(plot, figure=next(self.figure_numbers)) if plot else None for plot in plots])

    def find_row(self, choice: str, run: RunFigures) -> Row | None:
        """The row of a choice in a run."""
        return self.rows_by_choice.get((choice, run.id))

    def find_time_range(self, choice: str, run: RunFigures) -> tuple[int, int] | None:
        """The first and last instant (ns) of the time of a choice's row in a run, where there is one."""
        row, article_choice = self.find_row(choice, run), self.article.get_choice(choice)
        return (int(str(row[article_choice.begin])), int(str(row[article_choice.end]))) if row else None

    def format_metric(self, metric: Metric, row: Row | None) -> str:
        """What a metric measures on a row, as tables print it."""
        return block_rows.format_metric_value(self.checked, self.number_style, metric, row[metric.id] if row else None)

    def compute_metric(self, metric: Metric, row: Row | None) -> float | None:
        """What a metric measures on a row, in its unit."""
        return block_rows.compute_value(self.checked, metric, row[metric.id]) if row else None

    def compute_exact_metric(self, metric: Metric, row: Row | None) -> Fraction | None:
        """The same exactly; None, too, where it is not finite."""
        return block_rows.compute_exact_value(self.checked, metric, row[metric.id]) if row else None


@dataclass(frozen=True, slots=True)
class RenderedBlocks:
    """What blocks of one kind come to in a part: figures (`wide` ones as wide as the page) and tables.

    The part names the rows of `choices`; `notes` say how to read the blocks, `gaps` what they lack.
    """

    plots: tuple[Plot | None, ...] = ()
    wide: tuple[Plot, ...] = ()
    tables: tuple[Table, ...] = ()
    choices: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()


B = TypeVar("B", bound=Block)
Term = tuple[str, Entry]
"""An entry of the glossary, behind the title of its group."""


def explain_nothing(_checked: CheckedPackage, _block: Block) -> Iterable[Term]:
    """Return no entries: all that the block prints is explained already."""
    return ()


@dataclass(frozen=True, slots=True)
class Renderer(Generic[B]):
    """What renders the blocks of a kind in a part, and explains the numbers in them that are no metric's.

    `position` orders kinds on a page.
    """

    kind: type[B]
    position: int
    render: Callable[[RenderContext, Sequence[B]], RenderedBlocks]
    explain: Callable[[CheckedPackage, B], Iterable[Term]]


_RENDERERS: dict[type[Block], Renderer[Any]] = {}
Render = Callable[[RenderContext, Sequence[B]], RenderedBlocks]


def register_renderer(
    kind: type[B], *, position: int, explain: Callable[[CheckedPackage, B], Iterable[Term]] = explain_nothing
) -> Callable[[Render[B]], Render[B]]:
    """Register a function as what renders a kind of blocks."""

    def register(render: Render[B]) -> Render[B]:
        _RENDERERS[kind] = Renderer(kind, position, render, explain)
        return render

    return register


@functools.cache
def load_renderers() -> Mapping[type[Block], Renderer[Any]]:
    """Return what renders each kind, in the order of a page; the modules of this package define them."""
    package = __name__.rpartition(".")[0]
    for module in pkgutil.iter_modules(import_module(package).__path__, f"{package}."):
        import_module(module.name)
    return dict(sorted(_RENDERERS.items(), key=lambda item: item[1].position))


def render_blocks(context: RenderContext, part: Part) -> list[RenderedBlocks]:
    """Render the blocks of a part, those of a kind together, in the order of a page."""
    groups = ((renderer, part.select(kind)) for kind, renderer in load_renderers().items())
    return [renderer.render(context, blocks) for renderer, blocks in groups if blocks]


def explain_blocks(checked: CheckedPackage, article: Article) -> dict[str, Term]:
    """Return the glossary entries of an article's blocks, by their ids."""
    renderers = load_renderers()
    terms = (term for block in article.blocks for term in renderers[type(block)].explain(checked, block))
    return {entry.id: (group, entry) for group, entry in terms}


def add_label_to_title(title: str, label: str) -> str:
    """A title with the label of the run that it is about."""
    return f"{title}: {label}" if label else title


def find_column(grain: Grain, name: str) -> Column:
    """The column of a grain."""
    return next(column for column in grain.columns if column.name == name)


def format_column_heading(column: Column) -> str:
    """What stands over a column: its name and unit; instants are printed without one."""
    symbol = "" if column.type == "instant" else column.unit.symbol
    return add_unit_if_missing(column.name.replace("_", " ").capitalize(), symbol)


def format_cell(column: Column, value: object) -> str:
    """A value of a column as tables print it."""
    return format_typed_value(column.type, value)


def format_metric_heading(metric: Metric) -> str:
    """What stands over the values of a metric: its name and unit."""
    return add_unit_if_missing(metric.name, metric.unit.symbol)
