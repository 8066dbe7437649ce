"""Link cells of a document to the values that they print: which entry, run and row each value belongs to.

The code that builds a cell also builds its link; `assay trace` follows links to log lines.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from assay.number_styles.cell_text import CellValue

#: what a cell prints of the linked values: an average; the difference of two, absolute or in percent of the first; a
#: number of samples; the value on a row; its change between two rows; its share of another value; whether that share
#: is too small; whether a rule holds; the value of a formula; the mean of a series over time; the number of its lines;
#: the value of a column of a grain or relation; the mean of a metric over several rows
AVERAGE, DIFFERENCE, PERCENT, SIZE = "average", "difference", "percent", "size"
ROW, CHANGE, SHARE, SHORT, JUDGED = "row", "change", "share", "short", "judged"
FORMULA, MEAN, LINES, COLUMN, REPEATS = "formula", "mean", "lines", "column", "repeats"
#: a statistic of the samples, such as a percentile
STATISTIC = "statistic"
#: of the change of an average: its interval, and the verdict on it
INTERVAL, VERDICT = "interval", "verdict"
#: cells that are not computed from records: facts of runs, counts of filters, texts of specs or documents, results
#: that follow from other cells
FACT, FILTER, WORDS, OUTCOME = "fact", "filter", "words", "outcome"
#: the number of metrics with a verdict
COUNT = "count"

#: members that are left out of JSON text if they have these values
DEFAULT_MEMBERS: dict[str, object] = {
    "decided_by": (),
    "version": "",
    "where": (),
    "since": None,
    "until": None,
    "statistic": "",
    "prints": "",
    "sources": (),
    "is_by_itself": False,
    "number": None,
    "symbol": "",
    "causes": (),
}


@dataclass(frozen=True, slots=True)
class CellSource:
    """A value: its entry (a metric, a series, or a glossary entry), and the id of its run or phase.

    `where` has columns and texts that identify a row of the metric's grain (empty: all samples); `since` and `until`
    are the first and last instant of a series, in ns (None: all of it). `statistic` is the statistic of the samples:
    `p95`, `max`; empty for their average.
    """

    entry: str
    run: str
    where: tuple[tuple[str, str], ...] = ()
    since: int | None = None
    until: int | None = None
    statistic: str = ""


@dataclass(frozen=True, slots=True)
class CellLink:
    """The values that a cell of a table prints; `row` and `column` count from 0.

    `decided_by` are the titles of tables whose cells decide the value of this one.
    """

    row: int
    column: int
    prints: str
    of: tuple[CellSource, ...]
    decided_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CellVerdict:
    """The verdict that a cell of a table prints; `row` and `column` count from 0.

    One that `is_by_itself` may be due to chance among so many metrics.
    """

    row: int
    column: int
    word: str
    is_by_itself: bool = False


@dataclass(frozen=True, slots=True)
class QuotedValue:
    """A `CellSource` in a paragraph (its index), from character `begin` to before `end`; `of` has it in words.

    A quoted cell of a table has its row and column in `of`, what it `prints`, and the values that it shows, `sources`.
    `number` is that in the text, `symbol` that of its unit.
    """

    paragraph: int
    begin: int
    end: int
    entry: str
    of: str
    run: str = ""
    where: tuple[tuple[str, str], ...] = ()
    since: int | None = None
    until: int | None = None
    statistic: str = ""
    prints: str = ""
    sources: tuple[CellSource, ...] = ()
    number: CellValue = None
    symbol: str = ""


@dataclass(frozen=True, slots=True)
class PrintedColumn:
    """What a column prints of the metric of a row, and the ids of the runs or phases that it compares.

    `version` is the name of the version if the column prints means of several runs.
    """

    prints: str
    runs: tuple[str, ...]
    version: str = ""


def list_printed_columns(
    runs: Sequence[tuple[str, ...]], versions: Sequence[str] = (), is_judged: bool = False
) -> tuple[PrintedColumn, ...]:
    """Return the columns of a comparison after that of labels: the base, then those of each further version.

    `runs` has the runs of each version, `versions` their names, which are empty for a version of one run. A further
    version has its value, difference and percent; if it is judged, interval and verdict follow.
    """
    (base, base_name), *rest = zip(runs, versions or [""] * len(runs), strict=True)
    changes = (DIFFERENCE, PERCENT, *((INTERVAL, VERDICT) if is_judged else ()))
    return (
        PrintedColumn(AVERAGE, base, base_name),
        *(
            column
            for ids, name in rest
            for column in (
                PrintedColumn(AVERAGE, ids, name),
                *(PrintedColumn(item, (*base, *ids), name) for item in changes),
            )
        ),
    )


def create_row_source(metric: str, run: str, row: Mapping[str, object], key_columns: Sequence[str]) -> CellSource:
    """Return the value of a metric on a row, which its key columns identify."""
    return CellSource(metric, run, tuple((name, str(row[name])) for name in dict.fromkeys(key_columns)))


def link_facts(entries: Sequence[str], runs: Sequence[str], prints: str = FACT) -> Iterator[CellLink]:
    """Yield the links of a table of facts with a row for each entry and a column for each run."""
    for row, entry in enumerate(entries):
        for column, run in enumerate(runs, start=1):
            yield CellLink(row, column, prints, (CellSource(entry, run),))
