"""Define `assay shifts`: level shifts and drifts of recorded metrics, and the notes of people on them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from assay.app.compare.metric_history import ACCEPTED, format_change_interval
from assay.app.compare.metric_overview import OPEN, list_states
from assay.app.compare.note_shift import NoteRequest, find_author, note_shift
from assay.app.compare.shift_details import ShiftDetails, find_details, get_begin, list_changes
from assay.cli import output
from assay.cli.groups import StrictGroup
from assay.cli.options import (
    Command,
    add_cache_option,
    add_results_option,
    add_system_option,
    add_table_option,
    complete_names,
    open_command_session,
    require_results_folder,
)
from assay.registry.history import HistoryChange, MetricHistory, Shift
from assay.registry.model import ShiftNote
from assay.registry.shift_notes import ACCEPT, ANNOTATE, DRIFT, LEVEL_SHIFT, REOPEN
from assay.registry.store import require_recorded

HEADER = ("metric", "change", "begins at", "day", "Δ%", "95 % interval", "verdict", "state", "by", "reason")


@click.group(cls=StrictGroup)
def shifts() -> None:
    """List level shifts and drifts of recorded metrics; accept, annotate or reopen one.

    Accepted ones stay in the list, and no longer count as worse on the pages and in the cautions of gates. Notes are
    files of the results folder.
    """


@shifts.command(name="list")
@click.option("--tag", default="", metavar="TAG", help="Only over the runs with this tag.")
@click.option("--open", "is_open_only", is_flag=True, help="List only what is not accepted.")
@add_system_option
@add_results_option
@add_cache_option
@add_table_option
@click.pass_context
def list_shifts(
    context: click.Context, tag: str, is_open_only: bool, system: str | None, results: Path | None, form: str
) -> None:
    """List the level shifts and drifts of all recorded metrics, the worst metrics first.

    In JSON, each has its two runs, their commits, those between them, the causes that a report names, and the notes.
    """
    registry = require_recorded(require_results_folder(results))
    with open_command_session() as session:
        states = list_states(session, registry, tag)
    changes = [
        (state.history, change)
        for state in states
        for change in list_changes(state.history)
        if system in (None, state.history.system) and not (is_open_only and change.acceptance)
    ]
    if form == "json":
        config = context.obj["config"]
        output.print_data(
            [_export(item, change, find_details(config, registry.runs, item, change)) for item, change in changes]
        )
        return
    output.print_rows(HEADER, [_format_row(*pair) for pair in changes], form)


def _format_row(history: MetricHistory, change: HistoryChange) -> tuple[str, ...]:
    begin, acceptance = get_begin(change), change.acceptance
    author, reason = (acceptance.content.author, acceptance.content.reason) if acceptance else ("", "")
    kind = LEVEL_SHIFT if isinstance(change, Shift) else DRIFT
    return (history.metric, kind, begin.run, begin.day, *format_change_interval(change), change.verdict.value,
            ACCEPTED if acceptance else OPEN, author, reason)  # fmt: skip


def _export(history: MetricHistory, change: HistoryChange, details: ShiftDetails) -> dict[str, Any]:
    base, point = change.ends
    return {
        "system": history.system,
        "metric": history.metric,
        "unit": history.meaning.unit,
        **export_change(change),
        "between": [base.run, point.run],
        "commits": [base.commit, point.commit],
        "compare": details.compare_address,
        "log": [{"commit": item.id, "subject": item.subject, "address": item.address} for item in details.commits],
        "log_note": details.commits_note,
        "causes": list(details.causes),
        "why": details.command,
    }


def export_change(change: HistoryChange) -> dict[str, Any]:
    """Return a level shift or drift with its notes as plain data; its numbers are unrounded."""
    return {
        "change": LEVEL_SHIFT if isinstance(change, Shift) else DRIFT,
        "run": get_begin(change).run,
        "before": change.before,
        "after": change.after,
        "low": change.interval[0],
        "high": change.interval[1],
        "percent": change.percent,
        "p": change.p,
        "verdict": change.verdict.value,
        "state": ACCEPTED if change.acceptance else OPEN,
        "notes": list(map(_export_note, change.notes)),
    }


def _export_note(note: ShiftNote) -> dict[str, str]:
    content = note.content
    return {"kind": content.kind, "author": content.author, "reason": content.reason, "time": content.time}


def _add_note_options(function: Callable[..., Any]) -> Command:
    for add_option in (click.pass_context, add_cache_option, add_results_option, add_system_option):
        function = add_option(function)
    function = click.option("--author", default="", metavar="NAME",
                            help="Who writes it  [default: of assay.toml, of git, or the user]")(function)  # fmt: skip
    function = click.option("--reason", required=True, metavar="TEXT", help="Why, in one line.")(function)
    function = click.argument("run", default="")(function)
    return click.argument("metric", shell_complete=complete_names("metrics"))(function)


@shifts.command()
@_add_note_options
def accept(context: click.Context, **words: Any) -> None:
    """Accept a level shift or drift of METRIC, by default the latest, and print the file of the note.

    RUN is the run at which it begins, as `assay shifts list` prints it. A change that becomes more than half as large
    again is open again.
    """
    _note(context, ACCEPT, **words)


@shifts.command()
@_add_note_options
def annotate(context: click.Context, **words: Any) -> None:
    """Write a remark on a level shift or drift of METRIC, by default the latest, and print its file."""
    _note(context, ANNOTATE, **words)


@shifts.command()
@_add_note_options
def reopen(context: click.Context, **words: Any) -> None:
    """Open an accepted level shift or drift of METRIC again, by default the latest, and print the file of the note."""
    _note(context, REOPEN, **words)


def _note(context: click.Context, kind: str, **words: Any) -> None:
    config = context.obj["config"]
    author = words["author"] or find_author(config.values.get("author", "") if config else "")
    request = NoteRequest(kind, words["metric"], words["run"], author, words["reason"], words["system"] or "")
    with open_command_session() as session:
        path = note_shift(session, require_results_folder(words["results"]), request)
    output.print_line(path)
