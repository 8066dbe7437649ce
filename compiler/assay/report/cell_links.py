"""Where cells of a document lead: what each prints, and of which values of which runs.

What makes a cell says so where it makes it, beside the finished text; `assay trace` follows it to log lines.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

#: what a cell prints of the values that it leads to: the average of one, the difference of two (in percent of the
#: first), a number of samples, what is measured on a row, how much that changes from row to row, the share of one in
#: another, whether it falls short of it, whether rules hold, what comes of a formula, the mean of a series over time,
#: the number of its lines, what stands in a column of a grain or relation
AVERAGE, DIFFERENCE, PERCENT, SIZE = "average", "difference", "percent", "size"
ROW, CHANGE, SHARE, SHORT, JUDGED = "row", "change", "share", "short", "judged"
FORMULA, MEAN, LINES, COLUMN = "formula", "mean", "lines", "column"
#: what leads to no records: facts of runs, counts of filters, words of the specs or of documents,
#: what other cells come to
FACT, FILTER, WORDS, OUTCOME = "fact", "filter", "words", "outcome"


@dataclass(frozen=True, slots=True)
class CellSource:
    """A value: of which entry (a metric, a series, or one that is no metric's), and of which run or phase, by its id.

    A row of the metric's grain is told by columns and their texts (`where`; none: all samples), a time of a series by
    its first and last ns (None: all of it).
    """

    entry: str
    run: str
    where: tuple[tuple[str, str], ...] = ()
    since: int | None = None
    until: int | None = None


@dataclass(frozen=True, slots=True)
class CellLink:
    """What a cell of a table, by the places of its row and column, prints of which values; `decided_by` are the
    titles of tables whose cells decide on it."""

    row: int
    column: int
    prints: str
    of: tuple[CellSource, ...]
    decided_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PrintedColumn:
    """What a column prints of the metric of a row, and of which runs or phases, by their ids."""

    prints: str
    runs: tuple[str, ...]


def list_printed_columns(runs: Sequence[str]) -> tuple[PrintedColumn, ...]:
    """The columns of a comparison of runs behind that of labels: the base, then run, difference, percent for each."""
    base, *rest = runs
    printed_columns = [PrintedColumn(AVERAGE, (base,))]
    for run in rest:
        printed_columns += [
            PrintedColumn(AVERAGE, (run,)),
            PrintedColumn(DIFFERENCE, (base, run)),
            PrintedColumn(PERCENT, (base, run)),
        ]
    return tuple(printed_columns)


def link_comparison(row: int, metric: str, runs: Sequence[str]) -> Iterator[CellLink]:
    """The cells of a metric in such a comparison."""
    for column, printed_column in enumerate(list_printed_columns(runs), start=1):
        yield CellLink(
            row, column, printed_column.prints, tuple(CellSource(metric, run) for run in printed_column.runs)
        )


def create_row_source(metric: str, run: str, row: Mapping[str, object], key_columns: Sequence[str]) -> CellSource:
    """What a metric measures on a row, which these columns tell."""
    return CellSource(metric, run, tuple((name, str(row[name])) for name in dict.fromkeys(key_columns)))


def link_facts(entries: Sequence[str], runs: Sequence[str], prints: str = FACT) -> Iterator[CellLink]:
    """The cells of a table of facts: a row an entry, a column a run."""
    for row, entry in enumerate(entries):
        for column, run in enumerate(runs, start=1):
            yield CellLink(row, column, prints, (CellSource(entry, run),))
