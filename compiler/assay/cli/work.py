"""Define `assay work`."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import click

from assay.app.session.entry_points import load_queue_runner
from assay.cli import output
from assay.cli.options import add_cache_option, complete_folders, open_command_session, open_context_session


@click.command()
@click.argument("queue", metavar="QUEUE", type=click.Path(path_type=Path), shell_complete=complete_folders)
@click.option("--once", is_flag=True, help="Run one task, then exit.")
@click.option("--idle-exit", "idle_seconds", type=click.FloatRange(min=0), metavar="SECONDS",
              help="Exit after so many seconds without a task  [default: wait for ever]")  # fmt: skip
@add_cache_option
@click.pass_context
def work(context: click.Context, queue: Path, once: bool, idle_seconds: float | None) -> None:
    """Run tasks of builds with `--on folder:QUEUE`.

    Start it on any number of machines, in the workspace of the build and with its cache folder. A worker runs one task
    at a time.
    """

    count, work_on_queue = 0, load_queue_runner()
    with open_command_session() as session, suppress(KeyboardInterrupt):
        count = work_on_queue(
            queue,
            lambda: open_context_session(context),
            once=once,
            idle_seconds=idle_seconds,
            notice=session.notice,
        )
    output.print_line(f"{count} task{'s' * (count != 1)} done", err=True)
