"""Define `assay gate`: fail if a metric got worse by more than its margin."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli import output
from assay.cli.options import complete_folders, open_command_session
from assay.util.escape import escape_text
from assay.util.numbers import format_count

if TYPE_CHECKING:
    from assay.app.gate import ComparedRun, GatedChange, GateResult

LEAST_P = 0.001
WIDE = 4.0  # percent: wider intervals are printed without decimals


@click.command()
@click.argument("folder", metavar="BUILD_FOLDER", shell_complete=complete_folders)
@click.option("--once", "is_once", is_flag=True, help="Decide even if there are too few repeats.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", help="Output format.")
@click.pass_context
def gate(context: click.Context, folder: str, is_once: bool, form: str) -> int:
    """Tell whether metrics got worse by more than their margins.

    Reads results.json of a comparison whose report has a judgement. Exits with status 3 if one of the gated metrics is
    worse by more than its margin, and with 1 if there are too few repeats to decide.
    """
    from assay.app.gate import read_gate
    from assay.provenance.read import get_build_folder
    from assay.util.diagnostics import DIFFERENCE

    with open_command_session(context):
        result = read_gate(get_build_folder(Path(folder)), is_once)
    if form == "json":
        output.print_data({**dataclasses.asdict(result), "is_open": result.is_open})
    else:
        for line in format_gate(result):
            output.print_line(line)
    return 0 if result.is_open else DIFFERENCE


def format_gate(result: GateResult) -> Iterator[str]:
    """Yield the lines of a gate: for each run a headline, the metrics that are worse, and what is not known."""
    for run in result.runs:
        yield f"{escape_text(run.label)} against {escape_text(result.base)}: {_summarize(run)}"
        yield from _format_changes([change for change in run.changes if change.is_worse])
        for change in run.changes:
            if change.reason:
                yield f"  {escape_text(change.name)}: {change.verdict}: {change.reason}"
    yield result.noise


def _summarize(run: ComparedRun) -> str:
    worse, count = sum(change.is_worse for change in run.changes), len(run.changes)
    if not worse:
        return f"none of {format_count(count, 'gated metric')} is worse by more than its margin"
    verb = "is worse by more than its margin" if worse == 1 else "are worse by more than their margin"
    return f"{worse} of {format_count(count, 'gated metric')} {verb}"


def _format_changes(changes: list[GatedChange]) -> Iterator[str]:
    """Yield a line for each change, in columns."""
    rows = [(escape_text(item.name), *_format_numbers(item), f"margin {item.margin}", _format_p(item.p))
            for item in changes]  # fmt: skip
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))] if rows else []
    for row in rows:
        yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _format_numbers(change: GatedChange) -> tuple[str, str]:
    """Return the change in percent and its interval."""
    if change.percent is None or change.low is None or change.high is None:
        return "", ""
    decimals = 0 if change.high - change.low >= WIDE else 1
    percent, low, high = (f"{number:+.{decimals}f}" for number in (change.percent, change.low, change.high))
    return f"{percent} %", f"({low} … {high})"


def _format_p(p: float) -> str:
    return "Holm p < 0.001" if p < LEAST_P else f"Holm p {p:.3f}"
