"""Define `assay why`: the steps, hosts, values and times that a change of a metric comes from."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import click

from assay.app.audit.change_explanation import Explanation
from assay.app.audit.explain_view import format_sample
from assay.app.audit.why_data import export_explanation
from assay.app.compare.record_changes import RecordDifference
from assay.app.session.selection import Selection
from assay.cli import output
from assay.cli.options import (
    add_cache_option,
    add_filter_options,
    add_results_option,
    add_summary_option,
    add_system_option,
    complete_names,
    open_command_workspace,
    pass_selection,
    replace_run_names,
)
from assay.judgement.focus import FocusTable
from assay.judgement.steps import StepChange, StepTable
from assay.lang.segments import format_value
from assay.number_styles.exact_decimal import format_rounded_fraction
from assay.number_styles.prefixed import format_interval, format_percent_change, format_percent_interval
from assay.number_styles.prefixed import format_value as format_number
from assay.number_styles.unit_prefix import choose_prefix
from assay.report.judged_cells import BY_ITSELF, get_reason, get_word
from assay.report.step_sentences import format_share
from assay.util.escape import escape_text, shorten, shorten_middle

_DIGITS = 5  # of the greater total: its steps may be a thousandth of it
_MOST_ROWS = 10  # of a table of hosts or values: those that add most
_MOST_LETTERS = 100  # of a line of a log
_WIDTH = 118  # of a line on a row
_INCOMPLETE = "rows that lack an instant"


@click.command()
@click.argument("metric", shell_complete=complete_names("metrics"))
@click.argument("runs", nargs=-1, required=True, metavar="BASE CANDIDATE...", callback=replace_run_names)
@click.option("--report", default="", metavar="SYSTEM/NAME", shell_complete=complete_names("reports"),
              help="Use the filters and rules of this report.")  # fmt: skip
@add_filter_options
@add_system_option
@add_summary_option
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", help="Output format.")
@add_results_option
@add_cache_option
@pass_selection
def why(metric: str, runs: tuple[str, ...], selection: Selection, form: str, results: Path | None) -> None:
    """Tell which step, host, value or time a change comes from.

    A time between two instants has steps: other metrics of the same rows that measure parts of it. Without such a
    metric, pass the name of a grain: the time from its first to its last step. A run is DIR or NAME=DIR, as for
    `assay compare`; runs of the same name are repeats.
    """
    with open_command_workspace(runs, results) as workspace:
        explanation = workspace.explain_change(metric, runs, **selection.to_options())
    output.print_warnings(explanation.warnings)
    if form == "json":
        output.print_data(export_explanation(explanation))
        return
    for version in explanation.changes:
        for line in format_version(explanation, version):
            output.print_line(line)
    output.print_line(explanation.noise)
    filters_text = ", ".join(explanation.filters) or "none"
    source = f"report: {explanation.report}; " if explanation.report else ""
    output.print_line(f"{source}filters: {filters_text}; average: {explanation.summary}", err=True)


def format_version(explanation: Explanation, version: str) -> Iterator[str]:
    """Yield the lines of the tables of a version, and sentences below them."""
    tables = [table for table in explanation.tables if table.version == version]
    yield escape_text(f"{version} against {explanation.base}: {explanation.name}")
    yield ""
    for table in tables:
        yield from _format_steps(explanation, table)
    if focus := explanation.foci.get(version):
        yield from _format_columns(explanation, focus)
    yield from explanation.sentences[version]
    for table in tables:
        if table.has_rest:
            (base, base_complete), (other, complete) = table.rows
            yield f"Steps are of rows with all instants: {base_complete} of {base} and {complete} of {other}."
    if explanation.no_steps:
        yield f"It has no steps: {explanation.no_steps}."
    if mix := explanation.mixes.get(version):
        yield f"{mix} Tables are of all rows."
    yield from _format_records(explanation, version)
    yield from _format_rows(explanation, version)


def _format_steps(explanation: Explanation, table: StepTable) -> Iterator[str]:
    """Yield the lines of the table of steps."""
    values = [float(value) for value in table.total.averages]
    factor, symbol = choose_prefix(values, explanation.unit)
    whole = len(str(int(max(abs(value) * factor for value in values))))
    decimals = max(0, _DIGITS - whole)

    def list_cells(name: str, averages: tuple[Fraction, Fraction], share: str, verdict: tuple[str, str]) -> list[str]:
        base, value = (format_rounded_fraction(item * factor, decimals) for item in averages)
        difference = averages[1] - averages[0]
        delta = format_rounded_fraction(difference * factor, decimals)
        return [name, base, value, f"+{delta}" if difference > 0 else delta, share, *verdict]

    def list_step_cells(step: StepChange) -> list[str]:
        return list_cells(step.name, step.averages, format_share(table, step), _list_verdict(step, factor, explanation))

    header = ["", explanation.base, table.version, f"Δ {symbol}", "share",
              f"{100 * explanation.level:g} % interval", "verdict"]  # fmt: skip
    rows = [list_step_cells(step) for step in table.steps]
    if table.has_rest:
        share = table.compute_share(table.rest[1] - table.rest[0])
        text = "" if share is None else f"{float(100 * share):.0f} %"
        rows.append(list_cells(_INCOMPLETE, table.rest, text, ("", "")))
    rows.append(list_step_cells(table.total))
    yield from (f"  {line}" for line in output.format_columns([header, *rows], right=range(1, 5)))
    yield ""


def _format_columns(explanation: Explanation, table: FocusTable) -> Iterator[str]:
    """Yield the lines of a table for each column in which something stands out: what each value adds to the change."""
    named = {item.column for item in table.values} | ({table.mix.column} if table.mix else set())
    factor, symbol = choose_prefix(list(map(float, table.averages)), explanation.unit)
    for division in table.divisions:
        if division.column not in named:
            continue
        parts = sorted(division.parts, key=lambda part: -abs(part.within + part.mix))[:_MOST_ROWS]
        header = [division.column, f"{explanation.base} rows", f"{table.version} rows", explanation.base, table.version,
                  f"Δ {symbol} within", "mix"]  # fmt: skip
        rows = [
            [
                escape_text(shorten(format_value(part.value))),
                *(f"{float(100 * weight):.3g} %" for weight in part.weights),
                *("–" if item is None else format_number(float(item * factor)) for item in part.averages),
                *(format_signed_number(float(item * factor)) for item in (part.within, part.mix)),
            ]
            for part in parts
        ]
        sums = (format_signed_number(float(item * factor)) for item in (division.within, division.mix))
        rows.append(["all", "", "", *(format_number(float(item * factor)) for item in table.averages), *sums])
        yield from (f"  {line}" for line in output.format_columns([header, *rows], right=range(1, 7)))
        yield ""


def _format_records(explanation: Explanation, version: str) -> Iterator[str]:
    """Yield the lines of the table of records that are new, gone or written at another rate."""
    differences = explanation.records.get(version, ())
    if not differences:
        return
    yield ""
    yield "Records that are new, gone, or written at another rate, both per row and per second:"
    header = ["", explanation.base, version, "Δ%", f"{100 * explanation.level:g} % interval", "first"]
    rows = [_list_record_cells(item) for item in differences[:_MOST_ROWS]]
    yield from (f"  {line}" for line in output.format_columns([header, *rows], right=range(1, 4)))
    if len(differences) > _MOST_ROWS:
        yield f"  and {len(differences) - _MOST_ROWS} more names: --format json has all"


def _list_record_cells(difference: RecordDifference) -> list[str]:
    change, first = difference.change, difference.first
    counts = map(str, change.counts)
    interval = change.judgement.interval if change.judgement else None
    if change.ratio is None:
        delta, ends = change.presence.value, ""
    else:
        delta = format_percent_change(100 * (change.ratio - 1))
        ends = format_percent_interval(interval.low, interval.high, 0.0) if interval else "noise not known"
    line = f"{first.location}  {first.text}" if first else ""
    return [shorten(change.name), *counts, delta, ends, shorten_middle(escape_text(line), _MOST_LETTERS)]


def _format_rows(explanation: Explanation, version: str) -> Iterator[str]:
    """Yield the lines of a typical and the worst row of the cause, with their records."""
    rows = explanation.rows.get(version, ())
    if not rows:
        return
    yield ""
    yield f"Rows of {escape_text(rows[0].name)}:"
    for item in rows:
        for kind, sample in item.samples.items():
            prefix = f"{item.run} {kind}: "
            yield from (f"  {escape_text(line)}" for line in format_sample(prefix, sample, item.unit, _WIDTH))


def format_signed_number(number: float) -> str:
    """Return a number of three digits with its sign."""
    text = format_number(number)
    return f"+{text}" if number > 0 else text


def _list_verdict(step: StepChange, factor: Fraction, explanation: Explanation) -> tuple[str, str]:
    """Return the interval of a difference, in the unit of the table, and the verdict with its reason."""
    judgement = step.change.judgement
    word = f"{get_word(step.change)}{BY_ITSELF if step.change.is_by_itself else ''}"
    reason = get_reason(step.change)
    verdict = f"{word} ({reason})" if reason else word
    if judgement.comparison is None:
        return "–", verdict
    interval = judgement.comparison.difference.compute_interval(explanation.level)
    if interval.low == interval.high:
        return "exact", verdict
    margin = float(step.change.margin.convert_to_amount(float(step.averages[0])) * factor)
    return format_interval(float(interval.low * factor), float(interval.high * factor), margin), verdict
