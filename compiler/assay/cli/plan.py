"""Define `assay plan`: how many runs of each version a report needs."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import click

from assay.app.compare.plan_runs import PlannedMetric, RunPlan, parse_change, plan_from_build, plan_from_records
from assay.cli import output
from assay.cli.options import add_results_option, complete_folders, open_command_session, require_results_folder
from assay.util.escape import escape_text
from assay.util.numbers import format_count

_UNITS = (("days", 86400.0), ("h", 3600.0), ("min", 60.0), ("s", 1.0))


@click.command()
@click.argument("subject", metavar="BUILD_FOLDER|SYSTEM/REPORT", shell_complete=complete_folders)
@click.option("--detect", default="5%", metavar="N%", show_default=True, help="The change that is to be seen.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", help="Output format.")
@add_results_option
def plan(subject: str, detect: str, form: str, results: Path | None) -> None:
    """Print how many runs of each version show a change of the gated metrics in 80 of 100 cases.

    From the folder of a comparison, by the noise of its runs; or from a report, by its recorded runs. One run of each
    version shows the noise within runs only: then the numbers are the least.
    """

    change = parse_change(detect)
    folder = Path(subject)
    with open_command_session() as session:
        run_plan = (
            plan_from_build(folder, change)
            if folder.exists()
            else plan_from_records(session, require_results_folder(results), subject, change)
        )
    if form == "json":
        output.print_data({**dataclasses.asdict(run_plan), "runs": run_plan.runs})
        return
    for line in format_plan(run_plan):
        output.print_line(line)


def format_plan(run_plan: RunPlan) -> Iterator[str]:
    """Yield the lines of a plan: a row for each metric, the number for those of known noise, and its origin."""

    header = ("", "one run varies by", "these runs see", f"runs to see {run_plan.change:g} %")
    yield from output.format_columns([header, *map(_list_cells, run_plan.metrics)], right=(1, 2, 3))
    yield ""
    measured_count = sum(not item.reason for item in run_plan.metrics)
    metric_count = len(run_plan.metrics)
    subject = (
        "All metrics"
        if measured_count == metric_count
        else f"{measured_count} of {format_count(metric_count, 'metric')}"
    )
    prefix = "at least " if any(item.is_least for item in run_plan.metrics) else ""
    if run_plan.runs:
        number = format_count(run_plan.runs, "run")
        time = _describe_time(run_plan.runs, run_plan.run_seconds)
        yield f"{subject}: {prefix}{number} of each version to see {run_plan.change:g} % in 80 of 100 cases{time}."
    elif measured_count:
        yield f"{subject}: more than 1000 runs of each version to see {run_plan.change:g} % in 80 of 100 cases."
    yield escape_text(run_plan.origin)


def _describe_time(runs: int, run_seconds: float | None) -> str:
    """Return how long so many runs of two versions take: `: 40 runs of 20 min take 13 h`; empty if it is not known."""
    if run_seconds is None:
        return ""
    return f": {2 * runs} runs of {_format_duration(run_seconds)} take {_format_duration(2 * runs * run_seconds)}"


def _format_duration(seconds: float) -> str:
    """Return a duration with two digits: `45 s`, `20 min`, `13 h`, `2.5 days`."""
    name, length = next((item for item in _UNITS if seconds >= item[1]), _UNITS[-1])
    return f"{seconds / length:.2g} {name}" if seconds / length < 100 else f"{seconds / length:.0f} {name}"


def _list_cells(item: PlannedMetric) -> tuple[str, ...]:
    name = escape_text(item.name)
    if item.reason:
        return name, "–", "–", item.reason
    bound = "≥ " if item.is_least else ""
    runs = "> 1000" if item.runs is None else f"{bound}{item.runs}"
    return name, f"{bound}{item.deviation:.2g} %", f"{item.visible:.2g} %", runs
