"""Define `assay compare`: judge the differences between runs in the terminal."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from itertools import groupby, zip_longest
from pathlib import Path
from typing import Any

import click

from assay.app.compare.compared_metrics import ComparedVersion, RunComparison
from assay.app.compare.comparison_forms import export_comparison, format_markdown, list_cells, list_members, list_notes
from assay.app.session.selection import Selection
from assay.cli import output
from assay.cli.options import (
    add_by_option,
    add_cache_option,
    add_filter_options,
    add_results_option,
    add_summary_option,
    add_system_option,
    complete_names,
    open_command_workspace,
    pass_selection,
    replace_run_names,
    require_results_folder,
)
from assay.report.verdicts.figures import list_local_names
from assay.report.verdicts.sentences import count_verdicts
from assay.util.bidi import isolate_words
from assay.util.escape import encode_lossless, escape_text, measure_width

GAP = "  "
INDENT = "  "
MEDIAN = "median:"  # begins a baseline of recorded results
STYLES: dict[str, dict[str, Any]] = {
    "worse": {"fg": "red", "bold": True},
    "better": {"fg": "green", "bold": True},
    "changed": {"fg": "yellow", "bold": True},
}
"""How rows of a verdict are printed on a terminal with colours; others are dim."""
RIGHT = frozenset((1, 2, 3, 4, 5, 8))
"""The columns of numbers: values, spreads, change and number of samples."""
LEAST_NAME = 16  # columns of names, if these are wider
PRIORITY = (0, 7, 5, 1, 3, 6, 8, 2, 4)
"""Columns by importance: name, verdict, change, values, interval, number of samples, spreads."""


def _replace_names(context: click.Context, parameter: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    """Return runs with their directories; those that are compared with a median are names in the results folder."""
    return value if value and value[0].startswith(MEDIAN) else replace_run_names(context, parameter, value)


def _refuse_run_option(context: click.Context, _parameter: click.Parameter, value: tuple[str, ...]) -> None:
    """Raise UsageError if a run is passed as an option, as other commands take it."""
    if value and not context.resilient_parsing:
        raise click.UsageError("No such option '--run'. Runs are arguments: assay compare BASE CANDIDATE.", context)


@click.command()
@click.argument("runs", nargs=-1, required=True, metavar="RUN RUN...", callback=_replace_names)
@click.option("--run", multiple=True, hidden=True, expose_value=False, is_eager=True, callback=_refuse_run_option)
@click.option(
    "--metric",
    "metrics",
    metavar="ID",
    multiple=True,
    shell_complete=complete_names("metrics"),
    help="Compare this metric instead of those of the report (repeatable).",
)
@click.option(
    "--report",
    default="",
    metavar="SYSTEM/NAME",
    shell_complete=complete_names("reports"),
    help="Use the metrics, filters and rules of this report.",
)
@add_by_option(
    "Compare by the values of a dimension, or of two (kind,region), or of another column of text, such as host"
)
@add_filter_options
@add_system_option
@add_summary_option
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "csv", "markdown"]),
    default="text",
    help="Output format.",
)
@add_results_option
@add_cache_option
@pass_selection
def compare(runs: tuple[str, ...], selection: Selection, form: str, results: Path | None) -> None:
    """Compare runs with the first: averages, changes with intervals, verdicts.

    A run is DIR or NAME=DIR. The metrics, filters and rules are those of the report on runs of their system (of
    several, the one with all their metrics), of the report that shows the first --metric, or of --report. The spread of
    a value (±) is the half-width of its interval in percent. Writes no files.

    If the first is median:N or median:N:TAG, the others are runs with recorded results, and are compared with the
    median of the last N runs before them. This reads no logs.
    """
    is_of_results = runs[0].startswith(MEDIAN)
    if is_of_results:
        require_results_folder(results)
    with open_command_workspace(() if is_of_results else runs, results) as workspace:
        comparison = workspace.compare(runs, selection.metrics, **selection.to_options())
    output.print_warnings(comparison.warnings)
    if form == "json":
        output.print_data(export_comparison(comparison))
    elif form == "csv":
        rows = [list(map(_format_exact, row.values())) for row in export_comparison(comparison)["changes"]]
        output.print_rows(list_members(), rows, form)
    elif form == "markdown":
        output.print_text(format_markdown(comparison))
    else:
        _print_tables(comparison)
    filters_text = ", ".join(comparison.filters) or "none"
    source = f"report: {comparison.report}; " if comparison.report else ""
    if form == "text":
        output.print_line(f"{source}filters: {filters_text}; average: {comparison.summary}", err=True)


def _format_exact(value: object) -> str:
    return "" if value is None else repr(value) if isinstance(value, float) else str(value)


def _print_tables(comparison: RunComparison) -> None:
    """Print a table for each compared version, in colours on a terminal."""
    is_colored = output.has_colors(sys.stdout)
    encoding = output.get_encoding()
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 0
    for version in comparison.versions:
        for line, verdict in format_lines(comparison, version, width):
            text = encode_lossless(isolate_words(line), encoding)
            styles = STYLES.get(verdict, {"dim": True}) if verdict else {}
            output.write(click.style(text, **styles) if is_colored and styles else text, err=False)
        output.print_line("")
        for note in list_notes(version, comparison.base):
            _print_note(note, width)
    if any(metric.change.difference is not None for version in comparison.versions for metric in version.metrics):
        _print_note(comparison.noise, width)


def _print_note(note: str, width: int) -> None:
    for line in _wrap_line(note, width):
        output.print_line(line)


def _wrap_line(text: str, width: int) -> list[str]:
    """Return the lines of a text that fit a width; the text as it is without a width."""
    return output.wrap_text(text, width) if width and measure_width(text) > width else [text]


def format_lines(comparison: RunComparison, version: ComparedVersion, width: int = 0) -> Iterator[tuple[str, str]]:
    """Yield the lines of a table, each with the verdict of its row; other lines have none.

    With a `width`, cells are broken into lines where rows would not fit, and cells without room are below their row.
    """
    changes = [metric.change for metric in version.metrics]
    for line in _wrap_line(escape_text(f"{version.id} against {comparison.base}: {count_verdicts(changes)}"), width):
        yield line, ""
    yield "", ""
    names = list_local_names(changes)
    interval = f"{100 * comparison.level:g} % interval"
    header = [escape_text(text) for text in ("", comparison.base, "±", version.id, "±", "Δ%", interval, "verdict", "n")]
    rows = [tuple(map(escape_text, list_cells(metric, names[metric.change.metric], changes)))
            for metric in version.metrics]  # fmt: skip
    room = width - len(INDENT) if width else 0
    columns, widths = _fit_columns([header, *rows], room)
    for line in _join_cells([cell if cell != "±" else "" for cell in header], columns, widths):
        yield f"{INDENT}{line}".rstrip(), ""
    pairs = zip(version.metrics, rows, strict=True)
    for section, group in groupby(pairs, key=lambda pair: pair[0].change.section):
        for line in _wrap_line(escape_text(section), width):
            yield line, ""
        for metric, row in group:
            below = "; ".join(
                f"{header[index - (header[index] == '±')]} {row[index]}"
                for index in PRIORITY
                if index not in columns and row[index]
            )
            lines = [*_join_cells(row, columns, widths), *(_wrap_line(below, room) if below else [])]
            for line in lines:
                yield f"{INDENT}{line}".rstrip(), metric.change.verdict


def _fit_columns(rows: Sequence[output.Row], width: int) -> tuple[Sequence[int], list[int]]:
    """Return as many columns as fit a width, the most important ones, and their widths; all without a width.

    Only names are broken into lines.
    """
    widths = [max(map(measure_width, column)) for column in zip(*rows, strict=True)]
    if not width or sum(widths) + len(GAP) * (len(widths) - 1) <= width:
        return range(len(widths)), widths
    for count in (9, 7, 6, 5, 4, 3, 2):  # both spreads or none
        columns = sorted(PRIORITY[:count])
        room = width - sum(widths[index] + len(GAP) for index in columns[1:])
        fitting = output.compute_widths([""], [row[:1] for row in rows], room)
        if fitting and fitting[0] >= min(LEAST_NAME, widths[0]):
            return columns, [*fitting, *(widths[index] for index in columns[1:])]
    return [0], [width]


def _join_cells(row: Sequence[str], columns: Sequence[int], widths: Sequence[int]) -> Iterator[str]:
    """Yield the lines of some columns of a row."""
    name = [row[0]] if measure_width(row[0]) <= widths[0] else output.wrap_text(row[0], widths[0])
    for cells in zip_longest(name, *([row[index]] for index in columns[1:]), fillvalue=""):
        padded = []
        for index, cell, size in zip(columns, cells, widths, strict=True):
            blanks = " " * (size - measure_width(cell))
            padded.append(blanks + cell if index in RIGHT else cell + blanks)
        yield GAP.join(padded).rstrip()
