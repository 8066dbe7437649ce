"""Define `assay watch-runs`."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from assay.app.build.new_runs import WatchedPlace
from assay.app.build.watch_runs import FAILED, PASSES, UNDECIDED, WORSE, Outcome, WatchRules, watch_once
from assay.cli import output
from assay.cli.options import (
    Command,
    add_cache_option,
    add_forms_option,
    add_results_option,
    complete_names,
    open_command_session,
    require_results_folder,
)
from assay.cli.serve import exit_on_termination
from assay.registry.baseline import parse_median
from assay.remote.webhook import create_webhook
from assay.report.output_forms import order_forms
from assay.util.diagnostics import CLOSED_GATE, USAGE, AssayError, fail, render

PROBLEMS = 1
NOTIFIED = {"worse": (WORSE,), "problem": (WORSE, UNDECIDED, FAILED), "all": (WORSE, UNDECIDED, FAILED, PASSES)}


def _add_options(function: Callable[..., Any]) -> Command:
    """Add the options of what appears, what is built, and whom to notify."""
    for add_option in (add_cache_option, add_results_option, add_forms_option):
        function = add_option(function)
    for option in (
        click.option("--once", "is_once", is_flag=True, help="Look once, and end: for jobs that a timer starts."),
        click.option("--every", type=click.FloatRange(min=0.1), default=30, show_default=True, metavar="SECONDS",
                     help="Time between two looks."),
        click.option("--notify", type=click.Choice(list(NOTIFIED)), default="worse", show_default=True,
                     help="Which runs to notify of: `problem` are also those that are undecided or failed."),
        click.option("--header", "headers", metavar="NAME=VARIABLE", multiple=True,
                     help="Header of --post with the value of an environment variable (repeatable)."),
        click.option("--post", "url", metavar="URL", default="",
                     help="Post the outcome as JSON to a URL, or to that in a variable: env:VARIABLE."),
        click.option("--command", default="", metavar="COMMAND",
                     help="Call a command by the shell, with the outcome as JSON on its stdin."),
        click.option("--marker", default="", metavar="FILE", help="A run is complete once it has this file."),
        click.option("--settle", type=click.FloatRange(min=0), default=60, show_default=True, metavar="SECONDS",
                     help="Without --marker, a run is complete if nothing in it has changed for so long."),
        click.option("--tag", "tags", metavar="TAG", multiple=True, help="Tag of the runs (repeatable)."),
        click.option("--baseline", default="median:5", show_default=True, metavar="median:N[:TAG]",
                     help="Recorded runs to compare each run with."),
        click.option("-o", "--out", metavar="DIR", help="Folder for a build and an outcome of each run  "
                     "[default: `runs` in the output folder of assay.toml]"),
        click.argument("report", shell_complete=complete_names("reports")),
        click.argument("folder", metavar="FOLDER"),
    ):  # fmt: skip
        function = option(function)
    return function


@click.command()
@_add_options
@click.pass_context
def watch_runs(context: click.Context, /, is_once: bool, every: float, **words: Any) -> int | None:
    """Build, register, record and gate each run that appears in a folder, once.

    FOLDER has a folder or an archive for each run; it may be an s3:// address. A run is complete once nothing in it
    changes for a while, or once it has a marker. Each run is compared with recorded ones; if it is worse, a command is
    called, or its outcome is posted. Press Ctrl-C to stop: the next start goes on where this one ended.

    With --once, exits with status 4 if a run is worse, and with 1 if one cannot be built or notified of.
    """
    rules = _create_rules(context, **words)
    if is_once:
        return _look(rules)
    with exit_on_termination():
        output.print_line(f"watching {rules.place.place} (Ctrl-C stops it)")
        printed: str | None = None
        while True:
            try:
                _look(rules)
                printed = ""
            except AssayError as error:  # such as a full disk, or a server that does not answer: it may be gone soon
                if error.status == USAGE and printed is None:  # with the first look
                    raise
                if str(error) != printed:
                    output.print_text(f"{error}\n", err=True)
                printed = str(error)
            sys.stdout.flush()
            time.sleep(every)


def _create_rules(context: click.Context, **words: Any) -> WatchRules:
    """Return the rules of the options. Raises AssayError (usage)."""
    config = context.obj["config"]
    of_settings = config.get_path("output") if config else None
    out = words["out"] or (str(Path(of_settings) / "runs") if of_settings else "")
    if not out:
        raise click.UsageError("Missing option '-o': assay.toml has no output folder.", context)
    if words["headers"] and not words["url"]:
        raise click.UsageError("--header needs --post.", context)
    return WatchRules(
        WatchedPlace(words["folder"], words["settle"], _check_marker(words["marker"])),
        words["report"], Path(out), require_results_folder(words["results"]), parse_median(words["baseline"]),
        words["tags"], order_forms(words["forms"]), words["command"],
        create_webhook(words["url"], words["headers"]) if words["url"] else None, NOTIFIED[words["notify"]],
    )  # fmt: skip


def _check_marker(name: str) -> str:
    if name in (".", "..") or "/" in name:
        raise fail("marker", "--marker takes the name of a file in the folder of a run", expected="such as DONE",
                   found=name, status=USAGE)  # fmt: skip
    return name


def _look(rules: WatchRules) -> int:
    """Do the new runs, and print a line for each; return the status of `--once`."""
    status = 0
    with open_command_session() as session:
        for outcome in watch_once(session, rules, lambda text: output.print_line(text, err=True)):
            _print_outcome(outcome)
            if outcome.state == WORSE:
                status = CLOSED_GATE
            elif outcome.problems:
                status = status or PROBLEMS
    return status


def _print_outcome(outcome: Outcome) -> None:
    message = str(outcome.document["message"])
    text = message if message.startswith(outcome.state) else f"{outcome.state}: {message}"
    output.print_line(f"{outcome.document['run']}: {text}")
    for problem in outcome.problems:
        for item in problem.diagnostics:
            output.print_problems(render(replace(item, severity="warning")))
