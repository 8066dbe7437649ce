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
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

from assay.report.cell_links import (
    QuotedValue,
)
from assay.report.document_texts import normalize_texts
from assay.report.first_page.answer import Answer
from assay.report.formatted_text import TextBlock, list_leaves
from assay.report.tables import Appendix, MetricTable, Table, build_error, check_unique

Point = tuple[float, float, float | None, float | None]
"""One listed centile of one run: value, centile (0..1), least and greatest value among the hosts or None."""


def _check_file_name(identifier: str) -> None:
    if not re.fullmatch(r"\w[\w.+-]*", identifier):
        raise build_error("the id of a chart must serve as a file name", actual=identifier)


@dataclass(frozen=True, slots=True)
class Series:
    """The distribution of one run: points in ascending order of centile, values never descending.
    `version` is the label of its version if that has several runs."""

    run: str
    points: tuple[Point, ...]
    version: str = ""

    def __post_init__(self) -> None:
        if not all(math.isfinite(x) for point in self.points for x in point if x is not None):
            raise build_error(f"a plotted point of the run `{self.run}` is not a finite number")
        if any(b[1] <= a[1] or b[0] < a[0] for a, b in pairwise(self.points)):
            raise build_error(f"the plotted points of the run `{self.run}` do not ascend")


@dataclass(frozen=True, slots=True)
class Chart:
    """A figure: `id` is the metric's, `template` names a file of `templates/charts`, `scale` is that of the values:
    `linear`, `log`, or `auto`, which leaves the choice to the template. `of` is the metric's id if another chart has
    the same title, `shows` holds it if `id` is another, `remark` is what replaces a drawing without anything; else
    empty.
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
        check_unique(f"run of the chart {self.id}", (item.run for item in self.series))

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
        check_unique(f"column of the plot {self.id}", self.columns)
        check_unique(f"panel of the plot {self.id}", self.panels)
        check_unique(f"case of the plot {self.id}", self.cases)
        for row in self.rows:
            if len(row) != len(self.columns):
                raise build_error(
                    f"a row of the plot {self.id} does not fit its columns",
                    expected=f"{len(self.columns)} values",
                    actual=f"{len(row)}: {row!r}",
                )
            if any(isinstance(value, float) and not math.isfinite(value) for value in row):
                raise build_error(f"a number of the plot {self.id} is not finite")

    @property
    def has_samples(self) -> bool:
        """Whether the plot has anything to draw."""
        return bool(self.rows)

    @property
    def caption(self) -> str:
        """The caption of the figure."""
        return self.title


FIRST_PAGE, PARAMETERS, DICTIONARY, DATA_QUALITY = "first page", "parameters", "dictionary", "data quality"
"""What a part may be the place of; by default each has a place of its own."""


@dataclass(frozen=True, slots=True)
class Part:
    """A titled part of a report: paragraphs, figures as small multiples, then tables with their titles.
    Figures of `wide` have the width of the page; below them, in each row, `abreast` of `plots` are side by side (a
    missing one leaves its place empty). `quoted` are values in the paragraphs, in order; `formatted` are the first
    paragraphs that have forms.
    One that `continues` the part before it has no heading. One with a `content` is the place of the parameters, the
    dictionary or the data quality, which are members of the document.
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
    content: str = ""

    def __post_init__(self) -> None:
        if any(text != leaf.text for text, leaf in zip(self.text, list_leaves(self.formatted), strict=False)):
            raise build_error(f"the formatted text of the part `{self.title}` is not its text")
        previous_end = (0, 0)
        for item in self.quoted:
            text_length = len(self.text[item.paragraph]) if item.paragraph < len(self.text) else -1
            if not (previous_end <= (item.paragraph, item.begin) and item.begin < item.end <= text_length):
                raise build_error(f"a quoted value of the part `{self.title}` is not in its text", actual=repr(item))
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
        check_unique("part", (item.id for item in self.parts))
        check_unique("table", (item.id for item in self.metric_tables))
        check_unique("chart", (item.id for item in self.figures))
        check_unique("figure", (item.figure for item in self.figures))
        check_unique("dictionary entry", (entry.id for entry in self.entries))

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All explanations: those of the dictionary, then those of other numbers."""
        return tuple(entry for group in (*self.dictionary, *self.terms) for entry in group.entries)

    @property
    def dictionary_entries(self) -> dict[str, Entry]:
        """The entries of the dictionary by id."""
        return {entry.id: entry for group in self.dictionary for entry in group.entries}

    @property
    def placed(self) -> frozenset[str]:
        """What parts are the places of."""
        return frozenset(part.content for part in self.parts if part.content)

    @property
    def leading_answers(self) -> tuple[Answer, ...]:
        """The answers with which the report begins; none if a part is their place."""
        return () if FIRST_PAGE in self.placed else self.answers

    @property
    def figures(self) -> tuple[Chart | Plot, ...]:
        """All figures, in the order of the page."""
        return tuple(plot for part in self.parts for plot in (*part.wide, *part.plots) if plot)

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
        raise build_error("the date of the document cannot be read", expected="YYYY-MM-DD", actual=text) from None
