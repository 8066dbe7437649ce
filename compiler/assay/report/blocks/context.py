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
from assay.report.blocks import rows as asked
from assay.report.blocks.choices import Chosen
from assay.report.blocks.rows import Row
from assay.report.document import Entry, Plot, Table
from assay.report.run_results import RunFigures, named_once, value_text
from assay.styles.registry import Style


@dataclass(frozen=True, slots=True)
class ShownRun:
    """A run as an article shows it: its results, its label, and that in titles (empty where there is one run only)."""

    run: RunFigures
    label: str
    titled: str


@dataclass(frozen=True, slots=True)
class Compared:
    """What comparisons have as columns, and the instants at which runs are cut: (name, ns), by run."""

    columns: Sequence[RunFigures]
    instants: Mapping[str, Sequence[tuple[str, int]]]


@dataclass(frozen=True, slots=True)
class RenderContext:
    """What all tables and figures of an article are rendered with.

    `runs` are those of most blocks, the first of which is the baseline; `cases` those of grids.  `compared` has the
    columns of comparisons, and `headings` what these are called.  `chosen` are the rows of choices, `numbers` the
    numbers of figures that are not used yet, `place` is the number of the part.
    """

    checked: CheckedPackage
    article: Article
    look: Style
    chosen: Chosen
    runs: Sequence[ShownRun]
    cases: Sequence[ShownRun]
    compared: Compared
    headings: Sequence[str]
    numbers: Iterator[int]
    place: int = 0

    @property
    def all_runs(self) -> Sequence[ShownRun]:
        """The runs and the cases, each once."""
        return [*self.runs, *(shown for shown in self.cases if shown.run not in [item.run for item in self.runs])]

    def number_plots(self, plots: Iterable[Plot | None]) -> tuple[Plot | None, ...]:
        """Return figures with their numbers; None is the place of one that a run lacks."""
        return tuple([replace(plot, figure=next(self.numbers)) if plot else None for plot in plots])

    def row(self, choice: str, run: RunFigures) -> Row | None:
        """The row of a choice in a run."""
        return self.chosen.get((choice, run.id))

    def times(self, choice: str, run: RunFigures) -> tuple[int, int] | None:
        """The first and last instant (ns) of the time of a choice's row in a run, where there is one."""
        row, chosen = self.row(choice, run), self.article.choice(choice)
        return (int(str(row[chosen.begin])), int(str(row[chosen.end]))) if row else None

    def text(self, metric: Metric, row: Row | None) -> str:
        """What a metric measures on a row, as tables print it."""
        return asked.text(self.checked, self.look, metric, row[metric.id] if row else None)

    def number(self, metric: Metric, row: Row | None) -> float | None:
        """What a metric measures on a row, in its unit."""
        return asked.number(self.checked, metric, row[metric.id]) if row else None

    def exact(self, metric: Metric, row: Row | None) -> Fraction | None:
        """The same exactly; None, too, where it is not finite."""
        return asked.exact(self.checked, metric, row[metric.id]) if row else None


@dataclass(frozen=True, slots=True)
class Rendered:
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
    render: Callable[[RenderContext, Sequence[B]], Rendered]
    explain: Callable[[CheckedPackage, B], Iterable[Term]]


_RENDERERS: dict[type[Block], Renderer[Any]] = {}
Render = Callable[[RenderContext, Sequence[B]], Rendered]


def renders(
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


def render_blocks(context: RenderContext, part: Part) -> list[Rendered]:
    """Render the blocks of a part, those of a kind together, in the order of a page."""
    groups = ((renderer, part.select(kind)) for kind, renderer in load_renderers().items())
    return [renderer.render(context, blocks) for renderer, blocks in groups if blocks]


def explain_blocks(checked: CheckedPackage, article: Article) -> dict[str, Term]:
    """Return the glossary entries of an article's blocks, by their ids."""
    renderers = load_renderers()
    terms = (term for block in article.blocks for term in renderers[type(block)].explain(checked, block))
    return {entry.id: (group, entry) for group, entry in terms}


def titled(title: str, run: str) -> str:
    """A title with the label of the run that it is about."""
    return f"{title}: {run}" if run else title


def column_named(grain: Grain, name: str) -> Column:
    """The column of a grain."""
    return next(column for column in grain.columns if column.name == name)


def heading(column: Column) -> str:
    """What stands over a column: its name and unit; instants are printed without one."""
    symbol = "" if column.type == "instant" else column.unit.symbol
    return named_once(column.name.replace("_", " ").capitalize(), symbol)


def cell(column: Column, value: object) -> str:
    """A value of a column as tables print it."""
    return value_text(column.type, value)


def metric_heading(metric: Metric) -> str:
    """What stands over the values of a metric: its name and unit."""
    return named_once(metric.name, metric.unit.symbol)
