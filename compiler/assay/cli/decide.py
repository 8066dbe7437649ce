"""Define `assay decide`: run two commands in alternation until a metric is decided."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from assay.app.compare.command_runs import BASE, CommandRuns, MeasuringCommand
from assay.app.compare.decide import Budget, Decision, iter_decisions
from assay.app.compare.register_run import register_run
from assay.app.session.selection import Selection
from assay.cli import output
from assay.cli.options import (
    Command,
    add_cache_option,
    add_filter_options,
    add_results_option,
    add_summary_option,
    add_system_option,
    complete_names,
    open_command_session,
    pass_selection,
)
from assay.judgement.verdict import Verdict
from assay.number_styles.prefixed import (
    format_change_within,
    format_percent_change,
    format_percent_interval,
    format_value,
)
from assay.number_styles.row import NO_VALUE
from assay.number_styles.unit_prefix import choose_prefix
from assay.registry.model import Registration
from assay.util.diagnostics import CLOSED_GATE, fail
from assay.util.numbers import format_count

TAG = "decide"  # of the runs in the registry


def add_decision_options(command: Command) -> Command:
    """Add the metric, the folder of the runs, what may be spent, and the selection of what to compute."""
    for add_option in (
        pass_selection, add_cache_option, add_results_option, add_summary_option, add_system_option, add_filter_options
    ):  # fmt: skip
        command = add_option(command)
    command = click.option("--max-minutes", type=click.FloatRange(min=0, min_open=True), metavar="N",
                           help="Begin no run after so many minutes.")(command)  # fmt: skip
    command = click.option("--max-runs", type=click.IntRange(min=2), default=40, show_default=True, metavar="N",
                           help="Stop after so many runs of both together.")(command)  # fmt: skip
    command = click.option("-o", "--out", "folder", required=True, metavar="DIR", help="Folder of the runs.",
                           type=click.Path(file_okay=False, path_type=Path))(command)  # fmt: skip
    return click.option("--metric", required=True, metavar="METRIC", shell_complete=complete_names("metrics"),
                        help="The metric to decide on.")(command)  # fmt: skip


@click.command()
@click.option("--base", required=True, metavar="COMMAND", help="Command that measures the base.")
@click.option("--candidate", required=True, metavar="COMMAND", help="Command that measures the candidate.")
@add_decision_options
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", help="Output format.")
def decide(
    base: str, candidate: str, metric: str, folder: Path, max_runs: int, max_minutes: float | None, form: str,
    results: Path | None, selection: Selection,
) -> int:  # fmt: skip
    """Run two commands in alternation until a metric is decided.

    Each command is run by the shell, and writes the logs of one run to the folder that the variable ASSAY_RUN names.
    It stops as soon as the metric is better, worse or the same within its margin, by intervals that hold however
    often one looks. Called again, it goes on with the runs in DIR.

    Exits with status 4 if the metric is worse, and with 1 if the runs cannot tell.
    """
    runs = CommandRuns(folder, MeasuringCommand(base), MeasuringCommand(candidate), lambda run: register(run, results))
    budget = Budget(max_runs // 2, max_minutes and 60 * max_minutes)
    choice = Selection((metric,), **selection.to_options())
    decision: Decision | None = None
    with open_command_session() as session:
        for decision in iter_decisions(session, runs, choice, budget):
            if form == "text":
                output.print_text(format_pair(decision))
    if decision is None:
        raise fail("undecided", "the time ended before both commands had a run",
                   hint="pass a greater --max-minutes: runs that are finished count")  # fmt: skip
    if form == "json":
        output.print_data(export_decision(decision))
    if not decision.is_decided:
        raise fail("undecided", describe_decision(decision),
                   hint=f"pass a greater budget: the runs in {folder} count")  # fmt: skip
    if form == "text":
        output.print_line(describe_decision(decision))
    return CLOSED_GATE if decision.verdict is Verdict.WORSE else 0


def register(run: Path, results: Path | None, commit: str = "") -> None:
    """Register a run of a command, if there is a results folder; `commit` is that of a candidate."""
    if results:
        is_base = run.name.startswith(BASE)
        name = f"{run.parent.name}-{run.name}"
        register_run(results, Registration((str(run),), name, (TAG,), "" if is_base else commit))


def format_pair(decision: Decision) -> str:
    """Return the line of the latest pair, after a header above the first."""
    factor, unit = choose_prefix(decision.averages, decision.unit)
    base, value = (f"{format_value(float(item * factor))} {unit}".rstrip() for item in decision.averages)
    line = f"{decision.change.pairs:>4}  {base:>12}  {value:>12}  {format_change(decision)}"
    header = f"pair  {'base':>12}  {'candidate':>12}  change over all pairs ({100 * decision.level:g} % interval)\n"
    return header + line if decision.change.pairs == 1 else line


def format_change(decision: Decision) -> str:
    """Return the change with its interval: `-12 (-14 … -9.1) %`; a dash for an interval without ends."""
    interval, percent = decision.interval, decision.change.percent
    if interval is None:
        return f"{format_percent_change(percent)} ({NO_VALUE}) %"
    ends = (interval.low, interval.high, decision.margin)
    return f"{format_change_within(percent, *ends)} ({format_percent_interval(*ends)}) %"


def describe_decision(decision: Decision) -> str:
    """Return the sentence on all pairs: `wait: better after 5 pairs of runs: ...`."""
    pairs = format_count(decision.change.pairs, "pair")
    within = f" within {decision.margin:g} %" if decision.verdict is Verdict.SAME else ""
    return f"{decision.metric}: {decision.verdict.value}{within} after {pairs} of runs: {format_change(decision)}"


def export_decision(decision: Decision) -> dict[str, Any]:
    """Return a decision as plain data; percentages are unrounded."""
    interval = decision.interval
    return {
        "metric": decision.metric,
        "verdict": decision.verdict.value,
        "pairs": decision.change.pairs,
        "percent": decision.change.percent,
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
        "level": decision.level,
        "margin": decision.margin,
    }
