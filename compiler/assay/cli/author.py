"""`assay init`, `assay schema`, `assay watch`: what authors of specs use."""

from __future__ import annotations

import contextlib
import gc
import os
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli import echo
from assay.cli.options import RUN_HELP, cache_option, out_option

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from assay.build.session import Session

PAUSE = 0.1  # seconds between two looks at the files, where the system tells of no change


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.pass_context
def init(context: click.Context, folder: Path) -> None:
    """Write a small workspace that builds at once.

    It has its own trace events, three metrics with an example, two sample runs and a report.
    """
    from assay.build.starter import init as start
    from assay.cli.options import working

    with working(context) as session:
        commands = start(session, folder)
    echo.line("Try it:")
    for command in commands:
        echo.line(f"  {command}")


@click.command()
@click.argument("file", required=False)
@click.option("--system", metavar="NAME", help="Only this system's specs.")
@click.pass_context
def schema(context: click.Context, file: str | None, system: str | None) -> None:
    """Print the JSON Schema of the documents of a run.

    Without FILE, those of all documents, by system and file.
    """
    from assay.build.inspect import all_systems
    from assay.build.run_schema import run_schemas
    from assay.cli.options import working
    from assay.spec.diagnostics import USAGE, fail, meant

    with working(context) as session:
        found = {item: run_schemas(session.package(item).package) for item in all_systems(session, system)}
    if file is None:
        echo.data(found)
        return
    having = [(item, schemas[file]) for item, schemas in found.items() if file in schemas]
    if not having:
        known = sorted({name for schemas in found.values() for name in schemas})
        raise fail("unknown-file", f"no constant is read from a file `{file}`", expected=", ".join(known),
                   hint=meant(file, known), status=USAGE)  # fmt: skip
    if len(having) > 1:
        names = ", ".join(item for item, _ in having)
        raise fail("systems", f"several systems read a file `{file}`: {names}", hint="name one with --system",
                   status=USAGE)  # fmt: skip
    echo.data(having[0][1])


@click.command()
@click.argument("report")
@click.option("--run", "runs", metavar="[NAME=]DIR", multiple=True, required=True,
              help=RUN_HELP)  # fmt: skip
@out_option("Folder for the report.")
@cache_option
@click.pass_context
def watch(context: click.Context, report: str, runs: tuple[str, ...], out: str) -> None:
    """Build a report whenever specs, queries, templates or runs change.

    Errors are shown, and the last good report is left in place. Ctrl-C ends it.
    """
    from assay.cli.options import open_session_of
    from assay.spec.learning import Learner
    from assay.storage.changes import Waiting, marks
    from assay.storage.scratch import leave

    gc.disable()  # a tenth of a second in the midst of a build: what is idle has the time
    learner, waiting = Learner(), Waiting(PAUSE)
    seen = None
    while True:
        session = open_session_of(context)
        places = _places(session, runs)
        now = marks(places)
        if now != seen:
            learner.stop()
            later = _built(context, report, runs, out, first=seen is None)
            seen = now
            threading.Thread(target=_get_ready, args=[later, len(runs), Path(out)], daemon=True).start()
            learner.start(session.workspace.root, report.partition("/")[0], session.store.folder)
        elif not learner.runs:
            leave(session.store.folder)  # who wants the cache alone need not wait for what only watches
        waiting.wait(places)


def _get_ready(later: Sequence[Callable[[], None]], runs: int, out: Path) -> None:
    """Do what the last build has put off; load and start what the next one asks for."""
    from assay.audit.recorded import recorded
    from assay.engine import execute
    from assay.spec import workspace
    from assay.spec.diagnostics import AssayError

    with contextlib.suppress(AssayError):  # a cache that cannot be written the next build tells
        for item in later:
            item()
    workspace.warm_up()
    with contextlib.suppress(AssayError):  # there may be no report yet; the library that reads one loads slowly
        recorded(out)
    execute.get_ready(min(runs, os.cpu_count() or 1))
    gc.collect()


def _built(
    context: click.Context, report: str, runs: tuple[str, ...], out: str, *, first: bool
) -> Sequence[Callable[[], None]]:
    """Build once, and say how long it took, or what is wrong; what is wrong use at first may come back later, such as a
    run that is being replaced.  Returns what was put off."""
    from assay.build.history import build_shown
    from assay.build.options import Options
    from assay.cli.options import working
    from assay.spec.diagnostics import USAGE, AssayError

    began = time.monotonic()
    later: list[Callable[[], None]] = []
    try:
        with working(context) as session:
            session.later = later
            built = build_shown(session, report, runs, (), Path(out), Options())
    except AssayError as error:
        if error.status == USAGE and first:
            raise
        echo.text(f"{error}\n", err=True)
        return later
    echo.warnings(built.warnings)
    echo.line(f"{', '.join(map(str, built.reports))} ({time.monotonic() - began:.1f} s)")
    return later


def _places(session: Session, runs: tuple[str, ...]) -> list[Path]:
    """Where all files are that a build reads."""
    root = session.workspace.root
    named = [Path(item.partition("=")[2] or item) for item in runs]
    return [root / "specs", root / "queries", session.templates(), *named]
