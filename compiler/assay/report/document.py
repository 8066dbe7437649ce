"""Define the report as data: what is printed, cell by cell, without any layout.

A `Document` is the contract between the code that computes a report and the code that renders it. Every cell, date and
hash in it is a finished string; only sort keys, points of charts and rows of plots are numbers. Texts have no
characters that are invisible or have an effect on a page. A document that cannot be laid out (a row of the wrong
width, a chart named twice, a number that is not finite) cannot be built.
"""

from __future__ import annotations

import dataclasses
import datetime
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

from assay.report.cell_links import AVERAGE, VERDICT, CellLink, CellVerdict, PrintedColumn, QuotedValue
from assay.report.document_texts import normalize_texts
from assay.report.first_page.answer import Answer
from assay.report.formatted_text import TextBlock, list_leaves
from assay.util.diagnostics import fail

Point = tuple[float, float, float | None, float | None]
"""One listed centile of one run: value, centile (0..1), least and greatest value among the hosts or None."""


def _build_error(message: str, *, expected: str = "", actual: str = "") -> Exception:
    return fail("invalid-document", message, expected=expected, found=actual)


def _check_unique(kind: str, names: Iterable[object]) -> None:
    previous_names: set[object] = set()
    for name in names:
        if name in previous_names:
            raise _build_error(f"the {kind} `{name}` occurs twice in the document")
        previous_names.add(name)


def _check_width(title: str, header: tuple[str, ...], rows: tuple[tuple[str, ...], ...]) -> None:
    for row in rows:
        if len(row) != len(header):
            raise _build_error(
                f"a row of the table `{title}` does not fit its header",
                expected=f"{len(header)} cells",
                actual=f"{len(row)}: {row!r}",
            )


def _check_links(title: str, links: tuple[CellLink, ...], rows: int, columns: int) -> None:
    for link in links:
        if not (0 <= link.row < rows and 0 <= link.column < columns):
            raise _build_error(f"a cell link of the table `{title}` is outside of the table", actual=repr(link))
    _check_unique(f"cell link of the table {title}", ((link.row, link.column) for link in links))


def _check_file_name(identifier: str) -> None:
    if not re.fullmatch(r"\w[\w.+-]*", identifier):
        raise _build_error("the id of a chart must serve as a file name", actual=identifier)


@dataclass(frozen=True, slots=True)
class Mark:
    """A highlight of a cell; `row` and `column` count from 0.

    Its kind is `strong` (a chosen cell), `bad` (a failed check), or `shaded`, `shaded-2` or `shaded-3` (cells that
    belong together; neighbouring groups differ).
    """

    row: int
    column: int
    kind: str


@dataclass(frozen=True, slots=True)
class Table:
    """A table of finished cells: header and rows have the same length; the first column holds labels.
    If `beside` is set, the table is placed next to the one before it, not below. `of_rows` and `of_columns` are the ids
    of the entries whose values the cells of a row or column are (empty: none); `of_columns` takes precedence.
    `of_headings` is the entry whose values the headings are. `leads` are the links of cells to values. `shortlist` has
    the indexes of the rows that pages print (empty: all); a web page has the others folded.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    marks: tuple[Mark, ...] = ()
    beside: bool = False
    of_rows: tuple[str, ...] = ()
    of_columns: tuple[str, ...] = ()
    of_headings: str = ""
    leads: tuple[CellLink, ...] = ()
    shortlist: tuple[int, ...] = ()

    @property
    def printed_rows(self) -> tuple[tuple[str, ...], ...]:
        """The rows that pages print."""
        return tuple(self.rows[index] for index in self.shortlist) if self.shortlist else self.rows

    def __post_init__(self) -> None:
        _check_width(self.title, self.header, self.rows)
        _check_links(self.title, self.leads, len(self.rows), len(self.header))
        if not all(0 <= index < len(self.rows) for index in self.shortlist):
            raise _build_error(f"the shortlist of the table `{self.title}` names rows that it lacks")
        for kind, entry_ids, lines in (("row", self.of_rows, self.rows), ("column", self.of_columns, self.header)):
            if entry_ids and len(entry_ids) != len(lines):
                raise _build_error(f"the table `{self.title}` must name one entry a {kind}", actual=repr(entry_ids))
        for mark in self.marks:
            if not (0 <= mark.row < len(self.rows) and 0 <= mark.column < len(self.header)):
                raise _build_error(f"a mark of the table `{self.title}` is outside of the table", actual=repr(mark))


@dataclass(frozen=True, slots=True)
class MetricTable:
    """A table of metrics. If its part has the same title, it has no heading of its own.
    `header` is an empty text, the base's label, then label, Δ, Δ% of each further run; if differences are judged, its
    interval and verdict follow. `metrics` holds one metric id a row; None marks a row of sample counts, which are those
    of the metric `counted`. `printed` says what each column but the first prints. `notes` are printed below the table.
    `sort_keys` has a number for each cell but that of the label (None: the cell's own), unrounded and in one unit.
    `verdicts` are those that cells print, row by row.
    `percentiles` has further columns of the metrics, which are a table of their own.
    """

    id: str
    title: str
    doc: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    metrics: tuple[str | None, ...]
    counted: str = ""
    printed: tuple[PrintedColumn, ...] = ()
    notes: tuple[str, ...] = ()
    sort_keys: tuple[tuple[float | None, ...], ...] = ()
    verdicts: tuple[CellVerdict, ...] = ()
    percentiles: Table | None = None

    def __post_init__(self) -> None:
        _check_width(self.title, self.header, self.rows)
        for verdict in self.verdicts:
            is_cell = 0 <= verdict.row < len(self.rows) and 0 < verdict.column <= len(self.printed)
            if not is_cell or self.printed[verdict.column - 1].prints != VERDICT:
                raise _build_error(f"a verdict of the table `{self.id}` has no cell", actual=repr(verdict))
        if self.printed and len(self.printed) != len(self.header) - 1:
            raise _build_error(f"the table `{self.id}` must say what each column prints", actual=repr(self.printed))
        if len(self.metrics) != len(self.rows):
            raise _build_error(
                f"the table `{self.id}` must name one metric a row",
                expected=str(len(self.rows)),
                actual=str(len(self.metrics)),
            )

    @property
    def verdicts_by_cell(self) -> dict[tuple[int, int], CellVerdict]:
        """The verdicts by row and column."""
        return {(item.row, item.column): item for item in self.verdicts}

    @property
    def columns_per_run(self) -> int:
        """The number of columns of each run after the base."""
        further_runs = sum(column.prints == AVERAGE for column in self.printed) - 1
        return (len(self.header) - 2) // further_runs if further_runs > 0 else 3


@dataclass(frozen=True, slots=True)
class Series:
    """The distribution of one run: points in ascending order of centile, values never descending.
    `version` is the label of its version if that has several runs."""

    run: str
    points: tuple[Point, ...]
    version: str = ""

    def __post_init__(self) -> None:
        if not all(math.isfinite(x) for point in self.points for x in point if x is not None):
            raise _build_error(f"a plotted point of the run `{self.run}` is not a finite number")
        if any(b[1] <= a[1] or b[0] < a[0] for a, b in pairwise(self.points)):
            raise _build_error(f"the plotted points of the run `{self.run}` do not ascend")


@dataclass(frozen=True, slots=True)
class Chart:
    """A figure: `id` is the metric's, `template` names a file of `templates/charts`, `scale` is that of x: `linear`,
    `log`, or `auto`, which leaves the choice to the template. `of` is the metric's id if another chart has the same
    title, `shows` holds it if `id` is another, `remark` is what replaces a drawing without anything; else empty.
    """

    id: str
    figure: int
    title: str
    x_label: str
    unit: str
    template: str
    series: tuple[Series, ...]
    scale: str = "auto"
    of: str = ""
    remark: str = ""
    shows: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _check_file_name(self.id)
        _check_unique(f"run of the chart {self.id}", (item.run for item in self.series))

    @property
    def has_samples(self) -> bool:
        """Whether the chart has anything to draw; if not, a line of text replaces the drawing."""
        return bool(self.series) and not self.remark

    @property
    def caption(self) -> str:
        """The caption of the figure, unique in the report."""
        return f"{self.title} ({self.of})" if self.of else self.title


Value = str | float | None
"""The value of a column in a plot's row: a category or text, a number, nothing."""


@dataclass(frozen=True, slots=True)
class Plot:
    """A figure drawn from rows of named columns; template and code agree on the meaning of columns.
    `id` serves as a file name, `template` names a file of `templates/charts`. `panels` are those of a template, in
    order; in a grid they are columns, and `cases` rows. `x_label` and `y_label` are titles of axes with units, empty if
    panels have titles. `shows` are entries of drawn values (empty: that with the plot's id), `named` the lines with
    colours (empty: all). `reduced_from` is the number of points if only some are drawn, else 0.
    """

    id: str
    figure: int
    title: str
    unit: str
    description: str
    template: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    panels: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()
    x_label: str = ""
    y_label: str = ""
    shows: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    reduced_from: int = 0

    def __post_init__(self) -> None:
        _check_file_name(self.id)
        _check_unique(f"column of the plot {self.id}", self.columns)
        _check_unique(f"panel of the plot {self.id}", self.panels)
        _check_unique(f"case of the plot {self.id}", self.cases)
        for row in self.rows:
            if len(row) != len(self.columns):
                raise _build_error(
                    f"a row of the plot {self.id} does not fit its columns",
                    expected=f"{len(self.columns)} values",
                    actual=f"{len(row)}: {row!r}",
                )
            if any(isinstance(value, float) and not math.isfinite(value) for value in row):
                raise _build_error(f"a number of the plot {self.id} is not finite")

    @property
    def has_samples(self) -> bool:
        """Whether the plot has anything to draw."""
        return bool(self.rows)

    @property
    def caption(self) -> str:
        """The caption of the figure."""
        return self.title


@dataclass(frozen=True, slots=True)
class Part:
    """A titled part of a report: paragraphs, figures as small multiples, then tables with their titles.
    In each row, `abreast` figures are side by side (a missing one leaves its place empty), those of `wide` have the
    width of the page. `quoted` are values in the paragraphs, in order; `formatted` are the first paragraphs that have
    forms.
    One that `continues` the part before it has no heading.
    """

    id: str
    title: str
    text: tuple[str, ...]
    plots: tuple[Chart | Plot | None, ...]
    tables: tuple[MetricTable | Table, ...]
    abreast: int = 2
    wide: tuple[Plot, ...] = ()
    quoted: tuple[QuotedValue, ...] = ()
    formatted: tuple[TextBlock, ...] = ()
    continues: bool = False

    def __post_init__(self) -> None:
        if any(text != leaf.text for text, leaf in zip(self.text, list_leaves(self.formatted), strict=False)):
            raise _build_error(f"the formatted text of the part `{self.title}` is not its text")
        previous_end = (0, 0)
        for item in self.quoted:
            text_length = len(self.text[item.paragraph]) if item.paragraph < len(self.text) else -1
            if not (previous_end <= (item.paragraph, item.begin) and item.begin < item.end <= text_length):
                raise _build_error(f"a quoted value of the part `{self.title}` is not in its text", actual=repr(item))
            previous_end = item.paragraph, item.end


def name_table(part: Part, table: MetricTable | Table) -> str:
    """Return the name of a table: `PART/TITLE`, or that of its part if it has the same title or none."""
    return f"{part.title}/{table.title}" if table.title not in ("", part.title) else part.title


@dataclass(frozen=True, slots=True)
class Entry:
    """A metric in the data dictionary; `definition` is the hash of its definition."""

    id: str
    name: str
    unit: str
    description: str
    definition: str


@dataclass(frozen=True, slots=True)
class Group:
    """A titled part of the data dictionary."""

    title: str
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Appendix:
    """A titled part at the end of a report: paragraphs, a table (none if the header is empty), a list of `notes`.

    `of_columns` are the entries whose values the cells are, empty for none; `leads` are the links of cells to values.
    """

    title: str
    text: tuple[str, ...]
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    of_columns: tuple[str, ...] = ()
    leads: tuple[CellLink, ...] = ()
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _check_width(self.title, self.header, self.rows)
        _check_links(self.title, self.leads, len(self.rows), len(self.header))
        if self.of_columns and len(self.of_columns) != len(self.header):
            raise _build_error(f"the table `{self.title}` must name one entry a column", actual=repr(self.of_columns))


@dataclass(frozen=True, slots=True)
class Document:
    """A whole report. `date` is `YYYY-MM-DD`: the only date in the printed report and its metadata; empty if unknown.

    `claims` are parts of the provenance: statements of documents, compared with the tables of the report. `terms` are
    entries of printed numbers without a metric. `averages` says how averages over groups (hosts) are computed,
    `differences` which metrics have printed differences that are too coarse; `observations` are sentences on tables.
    """

    title: str
    subtitle: str
    author: str
    date: str
    intro: tuple[str, ...]
    style: str
    manifest: Table
    parts: tuple[Part, ...]
    dictionary: tuple[Group, ...]
    warnings: tuple[str, ...]
    filters: Table
    provenance: tuple[tuple[str, str], ...]
    appendices: tuple[Appendix, ...] = ()
    claims: tuple[Appendix, ...] = ()
    terms: tuple[Group, ...] = ()
    averages: str = ""
    differences: str = ""
    noise: str = ""
    answers: tuple[Answer, ...] = ()
    observations: Part | None = None

    __pydantic_config__: ClassVar[dict[str, Any]] = {"extra": "forbid"}

    def __post_init__(self) -> None:
        for member in dataclasses.fields(self):
            object.__setattr__(self, member.name, normalize_texts(getattr(self, member.name)))
        if self.date:
            parse_date(self.date)
        _check_unique("part", (item.id for item in self.parts))
        _check_unique("table", (item.id for item in self.metric_tables))
        _check_unique("chart", (item.id for item in self.figures))
        _check_unique("figure", (item.figure for item in self.figures))
        _check_unique("dictionary entry", (entry.id for entry in self.entries))

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All explanations: those of the dictionary, then those of other numbers."""
        return tuple(entry for group in (*self.dictionary, *self.terms) for entry in group.entries)

    @property
    def figures(self) -> tuple[Chart | Plot, ...]:
        """All figures, in the order of the page."""
        return tuple(plot for part in self.parts for plot in (*part.plots, *part.wide) if plot)

    @property
    def metric_tables(self) -> tuple[MetricTable, ...]:
        """All tables of metrics, in the order of the page."""
        return tuple(self.named_metric_tables.values())

    @property
    def named_metric_tables(self) -> dict[str, MetricTable]:
        """All tables of metrics by their names."""
        return {
            name_table(part, table): table
            for part in self.parts
            for table in part.tables
            if isinstance(table, MetricTable)
        }

    @property
    def distributions(self) -> tuple[Chart, ...]:
        """All charts of distributions, in the order of the page."""
        return tuple(figure for figure in self.figures if isinstance(figure, Chart))

    @property
    def drawn_figures(self) -> tuple[Chart | Plot, ...]:
        """The figures that have something to draw."""
        return tuple(figure for figure in self.figures if figure.has_samples)

    def name_answer(self, answer: Answer) -> str:
        """Return the title of an answer in the contents and in the names of its cells."""
        return "Verdicts" if len(self.answers) == 1 else f"{answer.run} against {answer.base}"


def parse_date(text: str) -> datetime.date:
    """Return the date of a document. Raises `invalid-document`: it is not `YYYY-MM-DD`."""
    try:
        return datetime.datetime.strptime(text, "%Y-%m-%d").date()
    except ValueError:
        raise _build_error("the date of the document cannot be read", expected="YYYY-MM-DD", actual=text) from None
