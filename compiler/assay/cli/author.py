"""`assay init`, `schema`, `watch`, `lsp`: commands for authors of specs."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NoReturn

import click

from assay.app.build import build_shown
from assay.app.options import Options
from assay.app.watch import Watched
from assay.cli import output
from assay.cli.options import RUN_HELP, cache_option, names, open_session_of, out_option, system_option, working
from assay.lang import workspace as workspaces
from assay.util.diagnostics import USAGE, AssayError
from assay.util.file_changes import ChangeWaiter
from assay.util.os_errors import convert_os_error
from assay.util.scratch import clean_up


@click.command()
def lsp() -> int:
    """Start a language server for specs, over stdin and stdout.

    It offers diagnostics while you type, types and comments, definitions, completion after a dot, and renaming. Your
    editor starts it: docs/how-to.md has the settings.
    """
    try:
        import pygls  # noqa: F401
    except ImportError:
        from assay.util.diagnostics import USAGE, fail

        raise fail("no-package", "the language server takes the package pygls", hint="pip install 'assay[lsp]'",
                   status=USAGE) from None  # fmt: skip
    from assay.lsp.server import serve

    return serve()


INTERRUPT = {signal.SIGINT}
PAUSE = 0.1  # seconds between two looks at the files, where the system tells of no change
#: errors whose cause may go without a change of what is watched, and seconds until it is tried again
OUTSIDE, AGAIN = ("cache", "disk-full", "file", "output"), 5.0

Work = Sequence[Callable[[], None]]


def watch_report(context: click.Context, report: str, runs: Sequence[str], out: Path) -> NoReturn:
    """Build a report whenever what it is made of has changed, until somebody interrupts.

    AssayError (usage) when what the user says is wrong from the beginning.
    """
    gc.disable()  # a tenth of a second in the midst of a build: what is idle has the time
    builds, idle = _Builds(context, report, runs, out), _Idle(len(runs), out)
    system = report.partition("/")[0]
    watched, waiting, is_ready = Watched(system, runs), ChangeWaiter(PAUSE), True
    try:
        while True:
            session = open_session_of(context)
            workspace, cache = session.workspace, session.store.folder
            if watched.changed(workspace) or builds.due():
                later = builds.build()
                idle.start([*later, partial(watched.look_elsewhere, workspace)])
                is_ready = False
            else:
                clean_up(cache)  # who wants the cache alone need not wait for what only watches
                if not is_ready:
                    idle.start([partial(workspaces.get_ready, workspace, system, cache)])
                    is_ready = True
            waiting.wait(watched.places(workspace))
    finally:
        idle.end()


class _Builds:
    """The builds of one report, and how the last one went."""

    def __init__(self, context: click.Context, report: str, runs: Sequence[str], out: Path) -> None:
        self._context = context
        self._report = report
        self._runs = runs
        self._out = out
        self._first = True
        self._error: AssayError | None = None
        self._ended = 0.0

    def due(self) -> bool:
        """Whether to build although nothing has changed: what stood in the way may be gone, or the report is."""
        if self._error is None:
            return not self._out.exists()
        outside = any(item.code in OUTSIDE for item in self._error.diagnostics)
        return outside and time.monotonic() - self._ended > AGAIN

    def build(self) -> Work:
        """Build, and say how long it took, or what is wrong, unless that was said last.  Returns what was put off.

        What is wrong use at first, and raised, may come back later, such as a run that is being replaced.
        """
        later: list[Callable[[], None]] = []
        before, self._error = self._error, None
        try:
            self._build(later)
        except OSError as error:
            self._error = convert_os_error(error)
        except AssayError as error:
            if error.status == USAGE and self._first:
                raise
            self._error = error
        if self._error and str(self._error) != str(before):
            output.text(f"{self._error}\n", err=True)
        self._first, self._ended = False, time.monotonic()
        return later

    def _build(self, later: list[Callable[[], None]]) -> None:
        began = time.monotonic()
        with working(self._context) as session:
            session.later = later
            built = build_shown(session, self._report, self._runs, (), self._out, Options())
        output.warnings(built.warnings)
        output.line(f"{', '.join(map(str, built.reports))} ({time.monotonic() - began:.1f} s)")


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """An interrupt that comes within the block comes after it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, INTERRUPT)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _Idle:
    """What is done while nothing changes, in a thread of its own."""

    def __init__(self, runs: int, out: Path) -> None:
        self._engines = min(runs, os.cpu_count() or 1)
        self._out = out
        self._ending = threading.Event()
        self._threads: list[threading.Thread] = []

    def start(self, later: Work) -> None:
        """Do what a build has put off; load and start what the next one asks for."""
        thread = threading.Thread(target=self._work, args=[later], daemon=True)
        with _uninterrupted():  # a thread that has not quite begun cannot be waited for
            self._threads = [item for item in self._threads if item.is_alive()] + [thread]
            thread.start()

    def end(self) -> None:
        """Begin nothing more, and wait for what has begun: the engine must not be left in the midst of it."""
        self._ending.set()
        for thread in self._threads:
            thread.join()

    def _work(self, later: Work) -> None:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, INTERRUPT)  # which processes that are started here would inherit
        steps: Work = (*later, workspaces.warm_up, self._read_record, self._start_engines)
        for step in steps:
            if self._ending.is_set():
                return
            with contextlib.suppress(AssayError, OSError):  # of what cannot be written the next build tells
                step()
        gc.collect()

    def _read_record(self) -> None:
        from assay.provenance.read import recorded

        recorded(self._out)  # there may be no report yet; the library that reads one loads slowly

    def _start_engines(self) -> None:
        from assay.engine import executor

        executor.get_ready(self._engines)


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--update-schema", is_flag=True, help="Update schema and Prelude of the workspace DIR to this version.")
@click.pass_context
def init(context: click.Context, folder: Path, update_schema: bool) -> None:
    """Create a small workspace that builds at once.

    It contains trace events, three metrics with an example, two sample runs, a report, and the schema and the Prelude
    that its specs import.
    """
    from assay.app import init as starter
    from assay.cli.options import working

    with working(context):
        lines = starter.update_schema(folder) if update_schema else starter.init(folder)
    if not update_schema:
        output.line("Try it:")
    for line in lines:
        output.line(f"  {line}" if not update_schema else line)


@click.command()
@click.argument("file", required=False)
@system_option
@click.pass_context
def schema(context: click.Context, file: str | None, system: str | None) -> None:
    """Print the JSON Schema of the documents of a run.

    Without FILE, print the schemas of all documents, by system and file.
    """
    from assay.app.check_and_query import all_systems
    from assay.app.run_schema import run_schemas
    from assay.cli.options import working
    from assay.util.diagnostics import USAGE, fail, suggest_nearest

    with working(context) as session:
        found = {item: run_schemas(session.package(item).package) for item in all_systems(session, system)}
    if file is None:
        output.data(found)
        return
    having = [(item, schemas[file]) for item, schemas in found.items() if file in schemas]
    if not having:
        known = sorted({name for schemas in found.values() for name in schemas})
        raise fail("unknown-file", f"no constant is read from a file `{file}`", expected=", ".join(known),
                   hint=suggest_nearest(file, known), status=USAGE)  # fmt: skip
    if len(having) > 1:
        names = ", ".join(item for item, _ in having)
        raise fail("systems", f"several systems read a file `{file}`: {names}", hint="name one with --system",
                   status=USAGE)  # fmt: skip
    output.data(having[0][1])


@click.command()
@click.argument("report", shell_complete=names("reports"))
@click.option("--run", "runs", metavar="[NAME=]DIR", multiple=True, required=True,
              help=RUN_HELP)  # fmt: skip
@out_option("Folder for the report.")
@cache_option
@click.pass_context
def watch(context: click.Context, report: str, runs: tuple[str, ...], out: str) -> None:
    """Rebuild a report whenever specs, queries, templates or runs change.

    After an error, the last good report stays in place. Ctrl-C ends the command.
    """
    # MERGED

    watch_report(context, report, runs, Path(out))
