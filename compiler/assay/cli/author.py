"""`assay init`, `assay schema`, `assay watch`: what authors of specs use."""

from __future__ import annotations

import contextlib
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli import echo
from assay.cli.options import RUN_HELP, cache_option, out_option

if TYPE_CHECKING:
    from assay.build.session import Session

PAUSE = 0.1  # seconds between two looks at the files


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
    from assay.spec.workspace import warm_up
    from assay.storage.scratch import leave

    seen = None
    learning: Learning | None = None
    left = fresh = False  # whether there may be more to learn, and whether files have changed since something was
    while True:
        session = open_session_of(context)
        now = _marks(session, runs)
        if now != seen:
            _built(context, report, runs, out, first=seen is None)
            seen = now
            left = fresh = True
            threading.Thread(target=warm_up, daemon=True).start()
        elif not (learning and learning.is_alive()):
            leave(session.store.folder)  # who wants the cache alone need not wait for what only watches
            if left and (fresh or (learning and learning.learned)):
                learning = Learning(session, report)
                left, fresh = learning.begun(), False
        time.sleep(PAUSE)


class Learning(threading.Thread):
    """While nothing changes: the normal form of one more file is kept, so that the next change is evaluated faster.

    What cannot be learned is left: the next build evaluates it, and says what is wrong.  `learned` tells whether there
    was something, and is false while it is not done.
    """

    def __init__(self, session: Session, report: str) -> None:
        super().__init__(daemon=True)
        self.session, self.system = session, report.partition("/")[0]
        self.learned = False

    def begun(self) -> bool:
        """Begin, unless there is nothing left to learn."""
        from assay.spec import workspace
        from assay.spec.diagnostics import AssayError

        try:
            left = workspace.unlearned(self.session.workspace, self.system, self.session.store.folder)
        except (AssayError, OSError):
            return False
        if left:
            self.start()
        return left

    def run(self) -> None:
        """Learn of one file."""
        from assay.spec import workspace
        from assay.spec.diagnostics import AssayError

        with contextlib.suppress(AssayError, OSError):
            self.learned = workspace.learn(self.session.workspace, self.system, self.session.store.folder)


def _built(context: click.Context, report: str, runs: tuple[str, ...], out: str, *, first: bool) -> None:
    """Build once, and say how long it took, or what is wrong; what is wrong use at first may come back later, such as a
    run that is being replaced."""
    from assay.build.history import build_shown
    from assay.build.options import Options
    from assay.cli.options import working
    from assay.spec.diagnostics import USAGE, AssayError

    began = time.monotonic()
    try:
        with working(context) as session:
            built = build_shown(session, report, runs, (), Path(out), Options())
    except AssayError as error:
        if error.status == USAGE and first:
            raise
        echo.text(f"{error}\n", err=True)
        return
    echo.warnings(built.warnings)
    echo.line(f"{', '.join(map(str, built.reports))} ({time.monotonic() - began:.1f} s)")


def _marks(session: Session, runs: tuple[str, ...]) -> dict[str, Any]:
    """Sizes and times of change of all files that a build reads."""
    root = session.workspace.root
    places = [root / "specs", root / "queries", session.templates()]
    places += [Path(item.partition("=")[2] or item) for item in runs]
    found = {}
    for place in places:
        for path in place.rglob("*") if place.is_dir() else (place,):
            try:
                stat = path.stat()
            except OSError:
                continue
            if path.is_file():
                found[str(path)] = (stat.st_size, stat.st_mtime_ns)
    return found
