"""Define `assay why`: the steps that a change of a metric consists of."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import click

from assay.app.compare.why import Explanation, export_explanation
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
from assay.judgement.steps import StepChange, StepTable
from assay.number_styles.exact_decimal import format_rounded_fraction
from assay.number_styles.prefixed import format_interval
from assay.number_styles.unit_prefix import choose_prefix
from assay.report.judged_cells import BY_ITSELF, get_reason, get_word
from assay.report.step_sentences import compose_cause, format_share
from assay.util.escape import escape_text

_DIGITS = 5  # of the greater total: its steps may be a thousandth of it
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
    """Tell which step of a metric its change comes from.

    The metric is the time between two instants. Its steps are other metrics of the same rows that measure parts of it.
    Without such a metric, pass the name of a grain: the time from its first to its last step. A run is DIR or NAME=DIR,
    as for `assay compare`; runs of the same name are repeats.
    """
    with open_command_workspace(runs, results) as workspace:
        explanation = workspace.explain_change(metric, runs, **selection.to_options())
    output.print_warnings(explanation.warnings)
    if form == "json":
        output.print_data(export_explanation(explanation))
        return
    for table in explanation.tables:
        for line in format_lines(explanation, table):
            output.print_line(line)
    output.print_line(explanation.noise)
    filters_text = ", ".join(explanation.filters) or "none"
    source = f"report: {explanation.report}; " if explanation.report else ""
    output.print_line(f"{source}filters: {filters_text}; average: {explanation.summary}", err=True)


def format_lines(explanation: Explanation, table: StepTable) -> Iterator[str]:
    """Yield the lines of the table of a version, and sentences below it."""
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
    yield escape_text(f"{table.version} against {explanation.base}: {explanation.name}")
    yield ""
    yield from (f"  {line}" for line in output.format_columns([header, *rows], right=range(1, 5)))
    yield ""
    yield compose_cause(table, explanation.unit)
    if table.has_rest:
        (base, base_complete), (other, complete) = table.rows
        yield f"Steps are of rows with all instants: {base_complete} of {base} and {complete} of {other}."
    if mix := explanation.mixes.get(table.version):
        yield f"{mix} Steps and total are of all rows in the table."


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
