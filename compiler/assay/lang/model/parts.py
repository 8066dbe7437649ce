"""Parts of reports, which hold blocks (prose, tables and figures), as frozen dataclasses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol, Self, TypeVar

from assay.lang.model.expression import Expression
from assay.lang.model.headings import Heading
from assay.lang.model.vocabulary import Unit

if TYPE_CHECKING:
    from assay.lang.check.checker import Checker
    from assay.lang.model.package import Package
    from assay.lang.model.report import Report
    from assay.lang.units import UnitLibrary


@dataclass(frozen=True, slots=True)
class Cell:
    """A published cell: the values of its row and of its column as texts, and the printed number."""

    down: str
    across: str
    value: str


@dataclass(frozen=True, slots=True)
class Claim:
    """The cells that a document states for a pivot (by its title) and the run with the name `run`.

    `statement` identifies the table of the document.
    """

    document: str
    statement: str
    run: str
    pivot: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Pin:
    """A column whose value is a constant of the run; a constant that is 0 or empty sets no value."""

    column: str
    constant: str


@dataclass(frozen=True, slots=True)
class Choice:
    """A row of a grain that is chosen in each run.

    If constants of the run set all `pins`, it is the row with these values.  Otherwise it is selected from the rows
    whose metric `done` does not fall short of the metric `due` by more than `tolerance` percent (with `short`: from the
    rows that fall short): the row with the greatest metric `most`; if several rows have it, one with the least values
    of the columns `least`, compared in order.  Without `most`, or if there are still several, it is the row with the
    least `first`.  A choice with pins and without `most` has no row in a run that sets no pins.

    With `keys`, the row is selected in the last run, and in every other run it is the row that agrees with it in these
    columns; without, it is selected in each run.  `label` are the columns that name the row, `begin` and `end` those
    with the first and last instant of its time; `absent` (`no ...`) is printed for a run without such a row.  Rows of
    the choices `without` are selected only by pins.  Rows of a run that agree with the selected one in the columns
    `repeats` (without: in `keys`) are its repeats.
    """

    name: str
    title: str
    grain: str
    keys: tuple[str, ...]
    pins: tuple[Pin, ...]
    most: str
    done: str
    due: str
    tolerance: int
    short: bool
    first: str
    label: tuple[str, ...]
    begin: str
    end: str
    absent: str
    without: tuple[str, ...] = ()
    repeats: tuple[str, ...] = ()
    least: tuple[str, ...] = ()

    @property
    def repeat_columns(self) -> tuple[str, ...]:
        """The columns in which a row agrees with its repeats; empty if the choice knows of none."""
        return self.repeats or self.keys


@dataclass(frozen=True, slots=True)
class RunGroup:
    """A group of runs, the first of which is its baseline; the names of its runs are `GROUP:LABEL`."""

    name: str
    title: str


def get_group_name(run: str) -> str:
    """Return the name of the group that the id of a run, `GROUP:LABEL`, begins with; empty without one."""
    group, colon, _ = run.partition(":")
    return group if colon else ""


@dataclass(frozen=True, slots=True)
class RowRequest:
    """Rows of a grain to show: their columns, and the metrics that are measured on each row.

    `are_points`: they are drawn as points, or in a file, so they may be very many. `listing` is the name of the file of
    a listing. With `rejected`, they are the rows that filters reject.
    """

    grain: str
    columns: tuple[str, ...]
    metrics: tuple[str, ...] = ()
    are_points: bool = False
    listing: str = ""
    rejected: bool = False


class FormulaResolver(Protocol):
    """Writes conversion factors into formulas."""

    @property
    def library(self) -> UnitLibrary:
        """Return the units."""

    def convert_formula(self, node: Expression, unit: Unit, amount: str = "") -> Expression:
        """Return a formula with its conversions."""


class Block:
    """A text, table or figure of a part.

    Each kind is a frozen dataclass in a module of `assay.lang.blocks`, which overrides these methods; the
    module of the same name in `assay.report.blocks` renders it.  In Dhall it is an alternative of `S.Block` with the
    name of the class.
    """

    __slots__ = ()

    #: kind of place by which `assay explain` and `assay spec-diff` list it: table, chart, figure or verdict
    appears_as: ClassVar[str] = "table"
    #: whether it compares averages of its metrics over runs or phases
    compares_averages: ClassVar[bool] = False
    #: whether its `metrics` may name all metrics of a grain, as `*GRAIN`
    may_name_grains: ClassVar[bool] = False
    #: whether it shows publications, not runs
    is_of_publications: ClassVar[bool] = False
    #: whether it shows records of a run
    needs_records: ClassVar[bool] = True
    #: whether the sources write a block as the value of its only field
    is_bare: ClassVar[bool] = False
    title: str

    def get_group(self, part: Part) -> str:
        """Return the group whose runs the block shows: its own, or that of its part."""
        own_group: str = getattr(self, "group", "")
        return own_group or part.group

    def check(self, checker: Checker, owner: str, report: Report, part: Part) -> None:
        """Report what is wrong with the block; messages call its part `owner`."""

    def resolve(self, _resolver: FormulaResolver) -> Self:
        """Return the block with conversion factors written into its formulas."""
        return self

    def read_metrics(self) -> Iterable[str]:
        """Return the ids of the metrics that the block shows."""
        return ()

    def read_averages(self) -> Iterable[str]:
        """Return the ids of the metrics whose averages over whole runs the block needs."""
        return ()

    def read_series(self) -> Iterable[str]:
        """Return the names of the series that the block shows."""
        return ()

    def read_prose(self) -> Iterable[str]:
        """Return the files of prose that the block shows."""
        return ()

    def read_rows(self, _package: Package) -> Iterable[RowRequest]:
        """Return the rows that the block shows; in a package with errors, those of known grains."""
        return ()

    def list_choices(self) -> Iterable[str]:
        """Return the names of the choices whose rows, or times, the block shows or leaves out."""
        choice: str = getattr(self, "choice", "")
        return [choice] if choice else []

    def list_headings(self, _package: Package) -> Iterable[Heading]:
        """Return the headings and labels of the block that specs name; those of unknown names are left out."""
        return ()

    def list_inner_blocks(self) -> tuple[Block, ...]:
        """Return the blocks that the block is made of, each of which it can do without."""
        return ()

    def keep_inner_blocks(self, _blocks: Sequence[Block]) -> Self:
        """Return the block with only these of its inner blocks."""
        return self

    def list_templates(self, _suffix: str) -> Iterable[str]:
        """Return the chart templates of the block; `_suffix` ends those of figures that mark phases."""
        return ()

    def has_verdict_on(self, _metric: str) -> bool:
        """Return whether the outcome of the block depends on which direction of a metric is better."""
        return False

    def find_metric(self, _path: Sequence[str]) -> str:
        """Return the metric that a path inside the block's plain data refers to; empty for the whole block."""
        return ""

    def locate(self, part: str) -> tuple[str, str]:
        """Return the section and the name of the block in a part; the name is empty if the section has it.

        The section of a block without a title, or with that of the part, is the part.
        """
        return f"{part}/{self.title}" if self.title not in ("", part) else part, ""

    def locate_series(self, part: str, series: str) -> Iterator[tuple[str, str]]:
        """Yield section and name of each place that shows a series."""
        if series in self.read_series():
            yield self.locate(part)


T = TypeVar("T")
FIGURES = ("chart", "figure")
"""The kinds of places of blocks that draw; each shows the runs that have its records."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a report: blocks in the order of the page.

    It shows the runs of a `group`; without one, all runs, or in a report with groups what names a group itself.
    """

    title: str
    blocks: tuple[Block, ...] = ()
    group: str = ""

    @property
    def prose_files(self) -> tuple[str, ...]:
        """The files of prose that the part shows."""
        return tuple(file for block in self.blocks for file in block.read_prose())

    def select(self, kind: type[T]) -> tuple[T, ...]:
        """Return the blocks of a kind, in order."""
        return tuple(block for block in self.blocks if isinstance(block, kind))
