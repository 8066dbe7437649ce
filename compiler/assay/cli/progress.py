"""Display progress on a terminal: the current step, files, bytes, rate, remaining time."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from assay.util.escape import escape_text

if TYPE_CHECKING:
    from assay.app.session.session import Session


@contextmanager
def display_progress(session: Session) -> Iterator[Session]:
    """Yield the session, with its progress displayed on stderr if that is a terminal."""
    if not sys.stderr.isatty():
        yield session
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

    display = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[amount]}"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    tasks: dict[str, TaskID] = {}

    def update(label: str, done: int, total: int) -> None:
        if label not in tasks:
            tasks[label] = display.add_task(escape_text(label), total=total, amount="")
        task = display.tasks[tasks[label]]
        display.update(tasks[label], completed=done, total=total, amount=_format_amount(label, done, total, task.speed))

    session.progress = update
    session.notice = lambda message: display.console.print(escape_text(message), markup=False, highlight=False)
    with display:
        yield session


def _format_amount(label: str, done: int, total: int, speed: float | None) -> str:
    """Return bytes with their rate for reading steps, and counts for other steps."""
    if not label.startswith(("reading", "computing on", "verifying on", "fetching", "unpacking")):
        return f"{done}/{total}"
    rate = f", {speed / 1e6:.0f} MB/s" if speed else ""
    return f"{done / 1e6:.0f}/{total / 1e6:.0f} MB{rate}"
