"""Progress on a terminal: what is being done, files, bytes, rate, time left.  Nothing anywhere else."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from assay.util.escape import escape_text

if TYPE_CHECKING:
    from assay.app.session import Session


@contextmanager
def watched(session: Session) -> Iterator[Session]:
    """The session, with its progress shown on stderr when that is a terminal."""
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

    def tell(what: str, done: int, total: int) -> None:
        if what not in tasks:
            tasks[what] = display.add_task(escape_text(what), total=total, amount="")
        task = display.tasks[tasks[what]]
        display.update(tasks[what], completed=done, total=total, amount=_amount(what, done, total, task.speed))

    session.progress = tell
    session.notice = lambda said: display.console.print(escape_text(said), markup=False, highlight=False)
    with display:
        yield session


def _amount(what: str, done: int, total: int, speed: float | None) -> str:
    """Bytes with their rate for what is read, steps for the rest."""
    if not what.startswith(("reading", "fetching", "unpacking")):
        return f"{done}/{total}"
    rate = f", {speed / 1e6:.0f} MB/s" if speed else ""
    return f"{done / 1e6:.0f}/{total / 1e6:.0f} MB{rate}"
