"""Print the results of `assay query` and `assay verify` on stdout; align cells in columns."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from assay.app.audit.verify import Verification
from assay.app.compute.query import Answer, export_answer
from assay.cli import output
from assay.number_styles.exact_decimal import format_six_digits
from assay.util.diagnostics import DIFFERENCE
from assay.util.escape import escape_text, measure_width
from assay.util.numbers import format_count

SHOWN = ("size", "average", "median", "stddev", "min", "max")


def print_answer(answer: Answer, form: str) -> None:
    """Print the distributions of metrics, and the averages of formulas; those by a column if it is chosen."""

    data = export_answer(answer)
    if form == "json":
        output.print_data(data)
        return
    groups = (answer.by,) if answer.by else ()
    statistics = (*SHOWN, "outlier") if answer.by else SHOWN
    rows = []
    for item in data:
        labels = (str(item[name]) for name in ("metric", "run", *groups, "unit"))
        is_empty = not item.get("size", 1)
        values = (None if is_empty and name != "size" else item.get(name) for name in statistics)
        rows.append((*labels, *(_format_number(value, form) for value in values)))
    output.print_rows(("metric", "run", *groups, "unit", *statistics), rows, form)
    if form == "table":
        average = "" if answer.by else f"; average: {answer.summary}"
        # Only an even number of samples has two in the middle, between which other tools take the mean.
        has_two_middles = any(item.get("size") and item["size"] % 2 == 0 for item in data)
        median = "; median: the greater of two in the middle" if has_two_middles else ""
        output.print_line(f"filters: {', '.join(answer.filters) or 'none'}{average}{median}", err=True)


def print_verification(verification: Verification) -> int:
    """Print each difference and the number of files; return the exit status."""

    for line in verification.differences:
        output.print_line(line)
    if verification.files:
        summary = (
            f"{verification.differing_count} with other bytes" if verification.differing_count else "all the same bytes"
        )
        output.print_line(f"{format_count(verification.files, 'file')}: {summary}")
    return DIFFERENCE if verification.differences else 0


def _format_number(value: object, form: str) -> str:
    if value is None:
        return "—" if form == "table" else ""
    if form == "table" and isinstance(value, float):
        return format_six_digits(value)
    return repr(value) if isinstance(value, float) else str(value)


def format_columns(rows: Sequence[Sequence[str]], right: Collection[int] = ()) -> Iterator[str]:
    """Yield a line for each row, its cells in columns; those of the numbers in `right` are right-aligned."""
    escaped = [[escape_text(cell) for cell in row] for row in rows]
    widths = [max(map(measure_width, column)) for column in zip(*escaped, strict=True)]
    for row in escaped:
        cells = []
        for number, (cell, width) in enumerate(zip(row, widths, strict=True)):
            blanks = " " * (width - measure_width(cell))
            cells.append(blanks + cell if number in right else cell + blanks)
        yield "  ".join(cells).rstrip()
