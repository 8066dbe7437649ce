"""Tables, JSON and CSV on stdout."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from assay.audit.visible import visible

if TYPE_CHECKING:
    from assay.build.inspect import Answer
    from assay.build.verify import Verified

SHOWN = ("size", "average", "median", "stddev", "min", "max")


def print_rows(header: Sequence[str], rows: Sequence[Sequence[str]], form: str) -> None:
    """Rows of texts; tables fit the terminal, the last column is the one that gives way."""
    if form == "json":
        click.echo(json.dumps([dict(zip(header, row, strict=True)) for row in rows], ensure_ascii=False, indent=1))
    elif form == "csv":
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerows([header, *rows])
    else:
        _table(header, rows)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    wide = Console() if sys.stdout.isatty() else Console(width=160)
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for index, name in enumerate(header):
        table.add_column(name, no_wrap=index == 0, overflow="fold")
    for row in rows:
        table.add_row(*(_escaped(cell) for cell in row))
    wide.print(table)


def _escaped(cell: str) -> str:
    from rich.markup import escape

    return escape(cell)


def print_answer(answer: Answer, form: str) -> None:
    """Distributions of metrics; of formulas the average alone."""
    from assay.compare.results import Distribution, FormulaResult
    from assay.report.results_json import distribution, of_formula

    def figures(found: Distribution | FormulaResult) -> dict[str, object]:
        if isinstance(found, FormulaResult):
            return of_formula(found, answer.summary)
        return distribution(found, answer.summary)

    if form == "json":
        data = [
            {"metric": metric.id, "name": metric.name, "unit": metric.unit.symbol, "run": run,
             "filters": list(answer.filters), "summary": answer.summary, **figures(found)}
            for metric, run, found in answer.rows
        ]  # fmt: skip
        click.echo(json.dumps(data, ensure_ascii=False, indent=1))
        return
    rows = []
    for metric, run, found in answer.rows:
        said = figures(found)
        rows.append((metric.id, run, metric.unit.symbol, *(_number(said.get(name), form) for name in SHOWN)))
    print_rows(("metric", "run", "unit", *SHOWN), rows, form)
    if form == "table":
        applied = ", ".join(answer.filters) or "none"
        click.echo(f"filters: {applied}; average: {answer.summary}", err=True)


def print_verified(found: Verified) -> int:
    """What differs, a line each, and the number of files; the exit status that belongs to it."""
    from assay.spec.diagnostics import DIFFERENCE

    for line in found.differences:
        click.echo(visible(line))
    if found.files:
        what = f"{found.differing} with other bytes" if found.differing else "all the same bytes"
        click.echo(f"{found.files} files: {what}")
    return DIFFERENCE if found.differences else 0


def _number(value: object, form: str) -> str:
    if value is None:
        return "—" if form == "table" else ""
    if form == "table" and isinstance(value, float):
        return f"{value:.6g}"
    return repr(value) if isinstance(value, float) else str(value)
