"""Define `assay watch`."""

from __future__ import annotations

import contextlib
import gc
import itertools
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from assay.cli import output
from assay.cli.options import (
    RUN_HELP,
    add_cache_option,
    add_default_out_option,
    add_forms_option,
    complete_names,
    open_command_session,
    open_context_session,
    replace_run_names,
)
from assay.cli.serve import WATCH_PORT, add_address_options, print_address
from assay.util.diagnostics import USAGE, AssayError
from assay.util.file_changes import ChangeWaiter
from assay.util.os_errors import convert_os_error
from assay.util.scratch import clean_up

if TYPE_CHECKING:
    from assay.app.build.watch import WatchedFiles
    from assay.lang.workspace import Workspace


INTERRUPT = {signal.SIGINT}


PAUSE = 0.1  # seconds between polls of the files if the system does not notify of changes


#: Codes of errors whose cause may disappear without a change of the watched files.
EXTERNAL_CODES = ("cache", "disk-full", "file", "output")


RETRY_DELAY = 5.0  # seconds until the next build after such an error


ERROR_DELAY = 0.2  # seconds after a failed build in which a change shows that it read half-written files


MOST_BUILDS = 3  # until an error is printed although files change all the time


Work = Sequence[Callable[[], None]]


@click.command()
@click.argument("report", shell_complete=complete_names("reports"))
@click.option("--run", "runs", metavar="[NAME=]DIR", multiple=True, required=True, callback=replace_run_names,
              help=RUN_HELP)  # fmt: skip
@add_default_out_option
@add_forms_option
@click.option("--serve", "is_served", is_flag=True, help="Show the web page of the report, and reload it by itself.")
@add_address_options(WATCH_PORT)
@add_cache_option
@click.pass_context
def watch(
    context: click.Context, report: str, runs: tuple[str, ...], out: str, forms: tuple[str, ...], is_served: bool,
    host: str, port: int,
) -> None:  # fmt: skip
    """Rebuild a report whenever specs, queries, templates or runs change.

    After an error, the last good report stays in place. With --serve, a browser shows the report or the errors of the
    last build. Press Ctrl-C to stop.
    """
    watched = WatchedReport(report, runs, Path(out), forms)
    if not is_served:
        watch_report(context, watched, lambda _: None)
    from assay.report.output_forms import HTML
    from assay.server.http_server import open_server
    from assay.server.live_site import LiveSite

    site = LiveSite(report, Path(out))
    with open_server(host, port, site.answer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        print_address(server)
        watch_report(context, replace(watched, forms={HTML, *forms}), site.publish)


@dataclass(frozen=True, slots=True)
class WatchedReport:
    """A report that is rebuilt: its name, its runs, its folder and the forms of output."""

    name: str
    runs: Sequence[str]
    out: Path
    forms: Iterable[str]


def watch_report(context: click.Context, watched: WatchedReport, publish: Callable[[str], None]) -> NoReturn:
    """Build a report whenever its inputs change, until an interrupt.

    `publish` is called with the errors of each build, or an empty text. Raises AssayError (usage) if the arguments are
    invalid from the start.
    """
    from assay.app.build.watch import WatchedFiles
    from assay.lang.workspace import prepare_evaluation

    gc.disable()  # a collection takes 0.1 s of a build; it runs when idle instead
    builder = _ReportBuilder(context, watched, publish)
    idle_worker = _IdleWorker(len(watched.runs), watched.out)
    system = watched.name.partition("/")[0]
    watched_files, change_waiter, is_ready = WatchedFiles(system, watched.runs), ChangeWaiter(PAUSE), True
    try:
        while True:
            session = open_context_session(context)
            workspace, cache = session.workspace, session.store.folder
            if watched_files.has_changed(workspace) or builder.is_due():
                deferred_work = builder.build(watched_files, workspace)
                idle_worker.start([*deferred_work, partial(watched_files.find_imported_files, workspace)])
                is_ready = False
            else:
                clean_up(cache)  # release the cache, so that `assay cache prune` need not wait for a watcher
                if not is_ready:
                    idle_worker.start([partial(prepare_evaluation, workspace, system, cache)])
                    is_ready = True
            change_waiter.wait(watched_files.list_places(workspace))
    finally:
        idle_worker.stop()


class _ReportBuilder:
    """The builds of one report, and the outcome of the last one."""

    def __init__(self, context: click.Context, watched: WatchedReport, publish: Callable[[str], None]) -> None:
        self._context = context
        self._watched = watched
        self._publish = publish
        self._is_first = True
        self._error: AssayError | None = None
        self._end_time = 0.0

    def is_due(self) -> bool:
        """Return whether to build without a change: an external error may be gone, or the report was removed."""
        if self._error is None:
            return not self._watched.out.exists()
        is_external = any(item.code in EXTERNAL_CODES for item in self._error.diagnostics)
        return is_external and time.monotonic() - self._end_time > RETRY_DELAY

    def build(self, watched_files: WatchedFiles, workspace: Workspace) -> Work:
        """Build once the files are written, print the time or a new error, and return deferred work.

        If a build fails and the files change at once, the error is not printed: the next build decides.
        """
        deferred_work: list[Callable[[], None]] = []
        last_error = self._error
        for attempt in itertools.count(1):
            watched_files.wait_until_quiet(workspace)
            self._error = self._find_error(deferred_work)
            if self._error is None or attempt == MOST_BUILDS:
                break
            time.sleep(ERROR_DELAY)
            if not watched_files.has_changed(workspace):
                break
        if self._error and str(self._error) != str(last_error):
            output.print_text(f"{self._error}\n", err=True)
        self._publish(str(self._error) if self._error else "")
        self._is_first, self._end_time = False, time.monotonic()
        return deferred_work

    def _find_error(self, deferred_work: list[Callable[[], None]]) -> AssayError | None:
        """Build, and return the error if it fails.

        A usage error is raised on the first build only: later it may be temporary, such as a run that is being
        replaced.
        """
        try:
            self._build(deferred_work)
        except OSError as error:
            return convert_os_error(error)
        except AssayError as error:
            if error.status == USAGE and self._is_first:
                raise
            return error
        return None

    def _build(self, deferred_work: list[Callable[[], None]]) -> None:
        from assay.app.build.build import ReportInputs, build_any_report
        from assay.app.session.options import Options
        from assay.cli.build_summary import summarize_build
        from assay.report.output_forms import order_forms

        start_time = time.monotonic()
        watched = self._watched
        with self._context.scope(cleanup=False), open_command_session() as session:
            session.deferred_work = deferred_work
            options = Options(forms=order_forms(watched.forms))
            build_result = build_any_report(session, watched.name, ReportInputs(watched.runs), watched.out, options)
        output.print_warnings(build_result.warnings)
        for report in build_result.reports:
            output.print_line(report)
        output.print_line(summarize_build(build_result.folder, time.monotonic() - start_time), err=True)


@contextlib.contextmanager
def _defer_interrupts() -> Iterator[None]:
    """Defer interrupts to the end of the block."""
    former_mask = signal.pthread_sigmask(signal.SIG_BLOCK, INTERRUPT)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, former_mask)


class _IdleWorker:
    """A worker that runs deferred work in separate threads while nothing changes."""

    def __init__(self, runs: int, out: Path) -> None:
        self._engines = min(runs, os.cpu_count() or 1)
        self._out = out
        self._stop_event = threading.Event()
        self._threads: list[threading.Thread] = []

    def start(self, deferred_work: Work) -> None:
        """Do the deferred work of a build; load and start what the next build needs."""
        thread = threading.Thread(target=self._run_steps, args=[deferred_work], daemon=True)
        with _defer_interrupts():  # a thread that has not started yet cannot be joined
            self._threads = [item for item in self._threads if item.is_alive()] + [thread]
            thread.start()

    def stop(self) -> None:
        """Start no more work, and wait for the current step: the engine must not be stopped within it."""
        self._stop_event.set()
        for thread in self._threads:
            thread.join()

    def _run_steps(self, deferred_work: Work) -> None:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, INTERRUPT)  # child processes would inherit the blocked signal
        from assay.lang.workspace import load_modules

        steps: Work = (*deferred_work, load_modules, self._read_record, self._start_engines)
        for step in steps:
            if self._stop_event.is_set():
                return
            with contextlib.suppress(AssayError, OSError):  # the next build reports it
                step()
        gc.collect()

    def _read_record(self) -> None:
        from assay.provenance.read import read_provenance

        read_provenance(self._out)  # loads the library that reads provenance, which is slow; there may be no report yet

    def _start_engines(self) -> None:
        from assay.engine import executor

        executor.start_engines(self._engines)
