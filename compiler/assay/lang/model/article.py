"""Articles: reports made of prose, tables, pivots, figures and claims, as frozen dataclasses."""

from __future__ import annotations

from dataclasses import dataclass

from assay.lang.model.expression import Expression
from assay.lang.model.vocabulary import Phase, Unit


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell as it is published: the values of its row and of its column as texts, the number as it is printed."""

    down: str
    across: str
    value: str


@dataclass(frozen=True, slots=True)
class Claim:
    """What a document says that a pivot (by its title) has of the run which is called `run`.

    `statement` tells which of the document's tables says so.
    """

    document: str
    statement: str
    run: str
    pivot: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Listing:
    """A table of the rows of a grain: columns `keys`, then what metrics measure on each row."""

    title: str
    grain: str
    keys: tuple[str, ...]
    metrics: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pin:
    """A column whose value a constant of the run tells; a constant that is 0 or empty tells none."""

    column: str
    constant: str


@dataclass(frozen=True, slots=True)
class Choice:
    """A row of a grain that is chosen in each run.

    Where constants of the run tell all `pins`, it is the row with these values.  Else, of the rows whose metric
    `done` does not fall short of the metric `due` by more than `tolerance` percent (with `short`: of those whose does),
    the one of which the metric `most` is greatest; without `most`, and of several, the least `first` counts.  A choice
    with pins and without `most` has no row in a run that tells no pins.

    With `keys` the last run chooses, and of every other run it is the row that agrees with that one in these columns;
    without, each run chooses for itself.  `label` are columns that tell which row it is, `begin` and `end` those with
    the first and last instant of its time; a run without such a row is said to have `absent` (`no ...`).  The rows of
    the choices `without` are chosen only where pins tell so.
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


@dataclass(frozen=True, slots=True)
class Pivot:
    """A table with a row for each value of a grain's column `down`, a column for each of `across`, cells of a metric.

    Where several rows of the grain meet in a cell, the one that comes first in `first` counts.  With a metric `due`, a
    cell that falls short of it by more than `tolerance` percent is marked.  With `diagonals`, cells of equal `down`
    times `across` are told apart, and listed.  The cell of the row of a `choice` is bold.
    """

    title: str
    grain: str
    down: str
    across: str
    metric: str
    first: str
    due: str
    tolerance: int
    diagonals: bool
    choice: str


@dataclass(frozen=True, slots=True)
class Timeline:
    """A figure of a series: a line for each value of the label `line`, over the seconds of a window; with `mean`, the
    mean of all lines too; with `alone`, only that; with `stacked`, lines as layers.  With a `choice` only the time of
    its row, from its beginning."""

    series: str
    title: str
    line: str
    mean: bool
    alone: bool
    stacked: bool
    choice: str
    template: str


@dataclass(frozen=True, slots=True)
class Scatter:
    """A figure for each value of a grain's column `per`: its rows as points, one metric over another, and the mean.

    `label` are columns of the grain `of` (with the column `per` as its key) that name a figure; figures of several runs
    that agree in the columns `keys` stand side by side.
    """

    title: str
    grain: str
    per: str
    of: str
    label: tuple[str, ...]
    keys: tuple[str, ...]
    x: str
    y: str
    template: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """A table that judges further runs by the first: what metrics measure on the rows of a grain that agree in `keys`.

    A change for the worse of more than `tolerance` percent fails; of a metric that is not better in any direction, any
    change.  `scenario` is what the table of results calls it; with a `choice` only its rows are judged.  Where several
    rows of a run agree, the one that comes first in `first` counts; the rows of the choices `without` are not judged.
    """

    title: str
    scenario: str
    grain: str
    keys: tuple[str, ...]
    metrics: tuple[str, ...]
    tolerance: int
    choice: str
    first: str
    without: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Grid:
    """Small multiples: a row for each run that is a case, a column for each scatter and timeline.

    With a `choice`, scatters show the points of its row, timelines its time.
    """

    title: str
    choice: str
    scatters: tuple[Scatter, ...]
    timelines: tuple[Timeline, ...]
    template: str


@dataclass(frozen=True, slots=True)
class Class:
    """A declared class: its name, and its amount (a decimal number) in a unit, which is `factor` base units (resolving
    works that out)."""

    name: str
    amount: str
    unit: Unit
    factor: str = "1"


@dataclass(frozen=True, slots=True)
class ClassTable:
    """A table of metrics against declared classes: a row for each class, in each column a formula over its amount and
    the values of metrics there, in a unit.

    Columns are the runs, over each of which metrics are averaged; or, `across` a column of the metrics' grain, the rows
    of that.  `heading` stands over the names of the classes, `width` is as of a metric.
    """

    title: str
    heading: str
    classes: tuple[Class, ...]
    value: Expression
    unit: Unit
    across: str
    width: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """A table of metrics: a column for each run, or each phase of it, with differences from the first."""

    title: str
    metrics: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rule:
    """What is expected of a metric's average from the first run or phase to another.

    `kind`: it `falls` or `rises` by at least `percent`, `stays` within that, or is `not worse` by more.
    """

    metric: str
    kind: str
    percent: int


@dataclass(frozen=True, slots=True)
class Conclusion:
    """A table of rules, and whether they hold."""

    title: str
    rules: tuple[Rule, ...]


@dataclass(frozen=True, slots=True)
class Averages:
    """A table of series in one unit: their label filters, and the mean over time of the mean of all lines; with a
    `choice` over the time of its row only."""

    title: str
    series: tuple[str, ...]
    choice: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of an article, in this order: prose (a file of the specs), figures, tables.

    `facts` are constants of the run, told in a table.
    """

    title: str
    prose: str
    scatters: tuple[Scatter, ...]
    timelines: tuple[Timeline, ...]
    listings: tuple[Listing, ...]
    pivots: tuple[Pivot, ...]
    verdicts: tuple[Verdict, ...]
    grids: tuple[Grid, ...]
    class_tables: tuple[ClassTable, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    conclusions: tuple[Conclusion, ...] = ()
    facts: tuple[str, ...] = ()
    averages: tuple[Averages, ...] = ()


@dataclass(frozen=True, slots=True)
class Article:
    """A report of parts over runs, its numbers in a style; `label` is the constant that names a run.

    `title` and `intro` may hold `{base}`, `{others}`, `{last}`, `{constant.NAME}`.  Runs whose constant `cases` says
    something are shown by grids only, unless all runs are such.
    `claims` are what documents say of its pivots.
    """

    name: str
    title: str
    intro: str
    parts: tuple[Part, ...]
    choices: tuple[Choice, ...]
    cases: str
    style: str
    label: str
    doc: str
    claims: tuple[Claim, ...] = ()
    phases: tuple[Phase, ...] = ()

    def choice(self, name: str) -> Choice:
        """The choice of a name (KeyError when there is none)."""
        return {item.name: item for item in self.choices}[name]
