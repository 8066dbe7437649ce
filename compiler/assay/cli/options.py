"""Options that commands share, their session, and shell completion."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem, get_completion_class

from assay.cli import output
from assay.cli.log import FORMS
from assay.util.escape import escape_text

if TYPE_CHECKING:
    from assay.app.session import Session
    from assay.ingest.hashing import BackgroundHasher


SHELLS = ("bash", "zsh", "fish")
VARIABLE = "_ASSAY_COMPLETE"

#: completes what is typed so far of an argument
Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print a shell script that completes commands and names.

    Save the script to a file, and add to the shell's start-up file: source ~/.assay-completion
    """
    found = get_completion_class(shell)
    assert found
    program = context.find_root().command
    output.text(found(program, {}, "assay", VARIABLE).source())


def names(*kinds: str) -> Completer:
    """Completes to the names of lists: metrics, filters, reports and so on (`assay list`), systems, summaries, styles;
    of the system that the line names, else of all.  Specs that do not load complete to nothing."""

    def complete(context: click.Context, _parameter: click.Parameter, typed: str) -> list[CompletionItem]:
        """The names that begin with what is typed, and what each is."""
        # MERGED
        from assay.util.diagnostics import AssayError

        context.ensure_object(dict)
        root = context.find_root()
        root.obj = root.obj or {"cache": None}
        context.obj = root.obj
        try:
            session = open_session_of(context)
            systems = session.systems(None if "systems" in kinds else _system(context, session.systems(None)))
            found = [pair for kind in kinds for pair in _listed(session, kind, systems)]
        except AssayError:
            return []
        fits = [item for item in dict(found).items() if item[0].startswith(typed) and escape_text(item[0]) == item[0]]
        return [CompletionItem(name, help=escape_text(doc)) for name, doc in fits]

    return complete


def folders(_context: click.Context, _parameter: click.Parameter, typed: str) -> list[CompletionItem]:
    """Lets the shell complete to folders."""
    return [CompletionItem(typed, type="dir")]


def _system(context: click.Context, known: Sequence[str]) -> str | None:
    """The system that the line names so far, itself or by a report; None where it names none."""
    if system := context.params.get("system"):
        return str(system)
    words = [str(context.params.get("report") or ""), *context.args]  # an option without its value leaves the rest here
    return next((word.partition("/")[0] for word in words if "/" in word and word.partition("/")[0] in known), None)


def _listed(session: Session, kind: str, systems: Sequence[str]) -> list[tuple[str, str]]:
    """The names of a list, each with what it is."""
    from assay.app import check_and_query
    from assay.styles.registry import style_names

    if kind == "systems":
        return [(name, "") for name in systems]
    if kind == "styles":
        return [(name, "") for name in style_names()]
    if kind == "summaries":
        return [(item.name, item.doc) for name in systems for item in session.package(name).package.summaries]
    _, rows = check_and_query.catalogue(session, kind, systems)
    return [(row[0].partition("=")[0] + ("=" if "=" in row[0] else ""), row[-1]) for row in rows]


Command = Callable[..., Any]
RUN_HELP = "Directory, archive or s3:// address of a run (repeatable); the first is the baseline."


def cache_option(command: Command) -> Command:
    """`--cache` after the command's name, as before it."""

    def remember(context: click.Context, _parameter: click.Parameter, value: str | None) -> None:
        if value:
            context.obj["cache"] = value

    option = click.option(
        "--cache",
        metavar="DIR",
        callback=remember,
        expose_value=False,
        help="Cache folder.",
    )
    return option(log_options(command))


def log_options(command: Command) -> Command:
    """`--verbose` and `--log-format`, after the command's name as before it."""

    def remember(context: click.Context, parameter: click.Parameter, value: object) -> None:
        if value:
            context.obj[parameter.name] = value

    shown = click.option("-v", "--verbose", is_flag=True, callback=remember, expose_value=False,
                         help="Print each stage on stderr, with its time and memory.")  # fmt: skip
    form = click.option("--log-format", type=click.Choice(FORMS), callback=remember, expose_value=False,
                        help="Format of these lines; implies --verbose.")  # fmt: skip
    return shown(form(command))


def filter_options(command: Command) -> Command:
    """`--filter` and `--no-filters`."""
    command = click.option("--no-filters", is_flag=True, help="Apply no filter.")(command)
    return click.option("--filter", "filters", metavar="NAME[=ARG]", multiple=True, shell_complete=names("filters"),
                        help="Apply this filter instead of the report's own (repeatable).")(command)  # fmt: skip


def forms_option(command: Command) -> Command:
    """`--to`."""
    return click.option("--to", "forms", multiple=True, type=click.Choice(["pdf", "md", "html"]),
                        help="Form of the report (repeatable)  [default: pdf]")(command)  # fmt: skip


def out_option(said: str) -> Callable[[Command], Command]:
    """`-o`, a folder; none of no name, which would be the current one."""

    def named(_context: click.Context, _parameter: click.Parameter, value: str) -> str:
        from assay.util.diagnostics import USAGE, fail

        if not value.strip():
            raise fail("output", "-o names no folder", hint="`-o .` is the current one", status=USAGE)
        return value

    return click.option("-o", "--out", metavar="DIR", required=True, callback=named, help=said)


def phase_options(command: Command) -> Command:
    """`--phase` and `--at`."""
    command = click.option("--at", metavar="NAME=TIME", multiple=True,
                           help="Time of an instant; RUN:NAME=TIME: of one run (repeatable).")(command)  # fmt: skip
    said = "Compare this phase: one of the report's, or the time between two instants (repeatable)."
    return click.option("--phase", "phases", metavar="NAME[=FROM..TO]", multiple=True, help=said)(command)


def run_option(command: Command) -> Command:
    """`--run`, at least once."""
    return click.option("--run", "runs", metavar="[NAME=]DIR", multiple=True, required=True,
                        help=RUN_HELP)(command)  # fmt: skip


def one_run_option(metavar: str, said: str) -> Callable[[Command], Command]:
    """`--run`, once at most."""

    def one(context: click.Context, _parameter: click.Parameter, value: tuple[str, ...]) -> str | None:
        if len(value) > 1:
            raise click.UsageError(f"Option '--run' is given {len(value)} times: this command takes one run.", context)
        if value and not value[0].strip():
            raise click.UsageError("Option '--run' is given an empty text: is a variable not set?", context)
        return value[0] if value else None

    return click.option("--run", "run", metavar=metavar, multiple=True, callback=one, help=said)


table_option = click.option("--format", "form", type=click.Choice(["table", "json", "csv"]), default="table",
                            help="Output format.")  # fmt: skip
system_option = click.option("--system", metavar="NAME", shell_complete=names("systems"),
                             help="Only this system's specs.")  # fmt: skip
summary_option = click.option("--summary", default="", metavar="NAME", shell_complete=names("summaries"),
                              help="How averages are taken over hosts.")  # fmt: skip


@contextmanager
def working(context: click.Context, runs: Sequence[str] = ()) -> Iterator[Session]:
    """A session for a command that will read runs (`NAME=DIR`), with a progress display on a terminal."""
    ahead = _begun(context, runs)
    from assay.app.stages import stage
    from assay.cli.log import set_up, tear_down
    from assay.cli.progress import watched
    from assay.engine.result_cache import ELSEWHERE
    from assay.util.diagnostics import AssayError
    from assay.util.os_errors import is_within, make_write_error, place_of
    from assay.util.scratch import clean_up

    given = context.obj
    if given.get("verbose") or given.get("log_format"):
        set_up(given.get("log_format") or "text")
    with closing(open_session_of(context, ahead)) as session:
        try:
            with watched(session), stage("command", command=context.info_name):
                yield session
        except AssayError as error:
            raise session.as_named(error) from None
        except OSError as error:
            place = place_of(error)
            if place is None or not is_within(error, session.store.folder):
                raise
            raise make_write_error("cache", "cache folder", session.store.folder, error, ELSEWHERE) from None
        finally:
            clean_up(session.store.folder)
            tear_down()


def _begun(context: click.Context, runs: Sequence[str]) -> BackgroundHasher | None:
    """Runs that are being hashed while everything else is loaded."""
    from assay.engine.result_cache import default_folder
    from assay.ingest.hashing import MEMO, BackgroundHasher
    from assay.util.diagnostics import AssayError

    places = (Path(part) for text in runs for part in (text, text.partition("=")[2]) if part)
    folders = [place for place in places if place.is_dir()]
    if not folders:
        return None
    try:
        cache = Path(context.obj["cache"] or default_folder())
    except AssayError:  # which is told when there is a session
        return None
    ahead = BackgroundHasher(folders, cache / MEMO)
    ahead.start()
    return ahead


def open_session_of(context: click.Context, ahead: BackgroundHasher | None = None) -> Session:
    """The session of the folder that the command is run in; `ahead` hashes files already."""
    from assay.app.session import open_session
    from assay.engine.result_cache import ELSEWHERE, default_folder
    from assay.util.diagnostics import USAGE
    from assay.util.os_errors import require_utf8

    cache = context.obj["cache"]
    here = Path.cwd()
    folder = Path(cache) if cache else default_folder()
    require_utf8(str(here / folder), "the folder of the cache", USAGE, ELSEWHERE)  # which the engine has to open
    return open_session(here, folder, lambda said: output.line(said, err=True), ahead)
