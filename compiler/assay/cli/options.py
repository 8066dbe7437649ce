"""Define the options that commands share, their session, and shell completion."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from assay.app.session.selection import Selection
from assay.cli import output
from assay.cli.log import FORMS
from assay.util.escape import escape_text

if TYPE_CHECKING:
    from assay.api import Workspace
    from assay.app.session.config import Config
    from assay.app.session.session import Session
    from assay.ingest.hashing import BackgroundHasher
    from assay.lang.workspace import Workspace as SpecsFolder


CONFIG = "assay.toml"
LAST = "last:"  # begins a name of the latest registered run with a tag

#: Returns the completions of the typed beginning of an argument.
Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def complete_names(*kinds: str) -> Completer:
    """Return a completer to names of definitions: kinds of `assay list`, `systems`, `summaries`, `styles`.

    Completes to names of the system in the command line, or else of all systems. Specs that do not load yield no
    completions.
    """

    def complete(context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return the names that begin with the typed text, each with its documentation."""
        from assay.lang.workspace import find_workspace
        from assay.util.diagnostics import AssayError

        context.ensure_object(dict)
        root = context.find_root()
        root.obj = root.obj or {"cache": None}
        context.obj = root.obj
        try:
            workspace = find_workspace(Path.cwd())
            systems = workspace.list_systems()
            system = None if "systems" in kinds else _find_system(context, systems)
            pairs = _list_completed_names(context, workspace, kinds, (system,) if system else systems)
        except AssayError:
            return []
        matches = [
            item for item in dict(pairs).items() if item[0].startswith(incomplete) and escape_text(item[0]) == item[0]
        ]
        return [CompletionItem(name, help=escape_text(doc)) for name, doc in matches]

    return complete


def _list_completed_names(
    context: click.Context, workspace: SpecsFolder, kinds: Sequence[str], systems: Sequence[str]
) -> list[tuple[str, str]]:
    """Return the names of kinds of definitions, from the cache if the specs have not changed."""
    from assay.app.session.completion_names import read_names, write_names
    from assay.engine.result_cache import get_default_folder

    cache = Path(context.obj["cache"] or get_default_folder())
    names = read_names(cache, workspace, kinds, systems)
    if names is None:
        session = open_context_session(context)
        names = [pair for kind in kinds for pair in _list_names(session, kind, systems)]
        write_names(cache, workspace, kinds, systems, names)
    return names


def complete_folders(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Let the shell complete folders."""
    return [CompletionItem(incomplete, type="dir")]


def _find_system(context: click.Context, systems: Sequence[str]) -> str | None:
    """Return the system that the typed part of the command line names, directly or by a report; else None."""
    if system := context.params.get("system"):
        return str(system)
    # If the value of an option is missing, click leaves the remaining words in `args`.
    words = [str(context.params.get("report") or ""), *context.args]
    return next((word.partition("/")[0] for word in words if "/" in word and word.partition("/")[0] in systems), None)


def _list_names(session: Session, kind: str, systems: Sequence[str]) -> list[tuple[str, str]]:
    """Return the names of a kind of definition, each with its documentation."""
    if kind == "systems":
        return [(name, "") for name in systems]
    if kind == "styles":
        from assay.number_styles.registry import list_style_names

        return [(name, "") for name in list_style_names()]
    if kind == "summaries":
        return [(item.name, item.doc) for name in systems for item in session.load_package(name).package.summaries]
    from assay.app.session.list_definitions import list_definitions

    _, rows = list_definitions(session, kind, systems)
    return [(row[0].partition("=")[0] + ("=" if "=" in row[0] else ""), row[-1]) for row in rows]


Command = Callable[..., Any]
_FILTER_FILES = "assay.filter_files"
RUN_HELP = "Directory, archive or s3:// address of a run (repeatable); the first is the baseline."


def add_cache_option(command: Command) -> Command:
    """Add `--cache`, which may follow the command's name as well as precede it."""

    def remember(context: click.Context, _parameter: click.Parameter, value: str | None) -> None:
        if value:
            context.obj["cache"] = value

    option = click.option(
        "--cache",
        metavar="DIR",
        callback=remember,
        expose_value=False,
        help="Cache folder; for builds on workers also an s3:// address.",
    )
    return option(add_log_options(command))


def add_log_options(command: Command) -> Command:
    """Add `--verbose` and `--log-format`, which may follow the command's name as well as precede it."""

    def remember(context: click.Context, parameter: click.Parameter, value: object) -> None:
        if value:
            context.obj[parameter.name] = value

    verbose = click.option("-v", "--verbose", is_flag=True, callback=remember, expose_value=False,
                         help="Print each stage with its time and memory on stderr.")  # fmt: skip
    log_format = click.option("--log-format", type=click.Choice(FORMS), callback=remember, expose_value=False,
                        help="Format of the --verbose output; implies --verbose.")  # fmt: skip
    return verbose(log_format(command))


def add_filter_options(command: Command) -> Command:
    """Add `--filter`, `--filter-file` and `--no-filters`; files are among the filters, as `@FILE`."""

    def remember(context: click.Context, _parameter: click.Parameter, value: tuple[str, ...]) -> None:
        context.meta[_FILTER_FILES] = tuple(f"@{file}" for file in value)

    def add_files(context: click.Context, _parameter: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
        return (*context.meta.get(_FILTER_FILES, ()), *value)

    command = click.option("--no-filters", is_flag=True, help="Apply no filters.")(command)
    help_text = "Apply the filters of a file of another tool, or of the profile in a run's directory (repeatable)."
    command = click.option("--filter-file", metavar="FILE|DIR", multiple=True, callback=remember, is_eager=True,
                           expose_value=False, help=help_text)(command)  # fmt: skip
    return click.option(
        "--filter",
        "filters",
        metavar="NAME[=ARG]",
        multiple=True,
        callback=add_files,
        shell_complete=complete_names("filters"),
        help="Apply this filter instead of those of the report (repeatable).",
    )(command)


def pass_selection(command: Command) -> Command:
    """Pass the options that select what to compute to a command as one value, `selection`."""
    names = [item.name for item in fields(Selection)]

    @functools.wraps(command)
    def select(**params: Any) -> Any:
        selection = Selection(**{name: params.pop(name) for name in names if params.get(name) is not None})
        params = {name: value for name, value in params.items() if name not in names}
        return command(selection=selection, **params)

    return select


def add_forms_option(command: Command) -> Command:
    """Add `--to`."""
    return click.option("--to", "forms", multiple=True, type=click.Choice(["pdf", "md", "md-single", "html"]),
                        help="Output form (repeatable)  [default: pdf]")(command)  # fmt: skip


def add_by_option(help_text: str) -> Callable[[Command], Command]:
    """Return a decorator that adds `--by`; `--by kind --by region` is the same as `--by kind,region`."""

    def join_names(_context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]) -> str:
        return ",".join(filter(None, values))

    return click.option("--by", multiple=True, metavar="COLUMN", callback=join_names, help=f"{help_text} (repeatable).")


def add_out_option(help_text: str) -> Callable[[Command], Command]:
    """Return a decorator that adds `-o`, a folder.

    An empty name is refused, since it would be the current folder.
    """

    return click.option("-o", "--out", metavar="DIR", required=True, callback=check_folder_name, help=help_text)


def check_folder_name(_context: click.Context, _parameter: click.Parameter, value: str) -> str:
    """Return the folder of -o. Raises AssayError (usage) if it is empty."""
    from assay.util.diagnostics import USAGE, fail

    if not value.strip():
        raise fail("output", "the folder of -o is empty", hint="pass `-o .` for the current folder", status=USAGE)
    return value


def add_default_out_option(command: Command) -> Command:
    """Add `-o` for the folder of a report, by default that of its name in the `output` of the settings."""

    def choose_folder(context: click.Context, parameter: click.Parameter, value: str | None) -> str:
        from assay.app.session.config import find_build_folder

        if value is not None:
            return check_folder_name(context, parameter, value)
        folder = find_build_folder(context.obj.get("config"), str(context.params.get("report", "")))
        if folder is None:
            raise click.MissingParameter(ctx=context, param=parameter)
        return folder

    help_text = "Folder for the report  [default: its name in the `output` of assay.toml]"
    return click.option("-o", "--out", metavar="DIR", callback=choose_folder, help=help_text)(command)


def apply_config(context: click.Context) -> None:
    """Let the settings of `assay.toml`, if there is one, be the defaults of options.

    Raises AssayError (usage) with the problems of the file.
    """
    places = (folder / CONFIG for folder in (Path.cwd(), *Path.cwd().parents))
    path = next((place for place in places if place.is_file()), None)
    if path is None:
        return
    from assay.app.session.config import build_defaults, read_config

    config = read_config(path)
    context.obj["config"] = config
    context.obj["cache"] = context.obj["cache"] or config.get_path("cache")
    context.default_map = build_defaults(config)


def replace_run_names(context: click.Context, _parameter: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    """Return the runs of a command line, those named in the settings or registered as `NAME=DIR`."""
    config = (context.obj or {}).get("config")
    if config is None or context.resilient_parsing:
        return value
    from assay.app.session.config import expand_run_names

    print_last_run(config, value)
    return expand_run_names(config, value)


def print_last_run(config: Config, names: Sequence[str]) -> None:
    """Print on stderr the name and directory of the run of each `last:TAG` and `NAME=last:TAG`."""
    from assay.app.session.config import split_run_name

    for text in names:
        if LAST in text and (words := split_run_name(config, text)) and (name := words[1]).startswith(LAST):
            for run in config.find_runs(name):
                output.print_line(f"{name} is the run {run.partition('=')[0]}: {run.partition('=')[2]}", err=True)


def add_results_option(command: Command) -> Command:
    """Add `--results`, by default the folder of the settings; None without either."""

    def choose_folder(context: click.Context, _parameter: click.Parameter, value: str | None) -> Path | None:
        config = (context.obj or {}).get("config")
        folder = value or (config.get_path("results") if config else None)
        return Path(folder) if folder is not None else None

    help_text = "Folder of registered runs and recorded results  [default: that of assay.toml]"
    return click.option("--results", metavar="DIR", callback=choose_folder, help=help_text)(command)


def require_results_folder(folder: Path | None, *others: str) -> Path:
    """Return the results folder. Raises AssayError (usage) if there is none; `others` are what else to pass."""
    from assay.app.session import config

    return config.require_results_folder(folder, "pass --results DIR", *others)


def is_default(context: click.Context, name: str) -> bool:
    """Return whether a parameter has its value from the settings."""
    return context.get_parameter_source(name) is click.core.ParameterSource.DEFAULT_MAP


def uses_cluster(context: click.Context, on: str) -> bool:
    """Return whether `--on`, or else the settings, choose a cluster."""
    from assay.app.session.cluster_settings import read_cluster_settings

    return bool(read_cluster_settings(context.obj.get("config"), on).on)


def add_phase_options(command: Command) -> Command:
    """Add `--phase` and `--at`."""
    command = click.option("--at", metavar="NAME=TIME", multiple=True,
                           help="Set an instant, in one run with RUN:NAME=TIME (repeatable).")(command)  # fmt: skip
    help_text = "Compare this phase of the report, or the time between two instants (repeatable)."
    return click.option("--phase", "phases", metavar="NAME[=FROM..TO]", multiple=True, help=help_text)(command)


def add_repeats_options(command: Command) -> Command:
    """Add the options for runs of one version: `--calibrate`, `--margin` and `--repeats`."""
    command = click.option("--repeats", "measures_noise", is_flag=True,
                           help="Report how much the runs differ, which are of one version.")(command)  # fmt: skip
    command = click.option("--margin", default="", metavar="N%",
                           help="Judge by this margin instead of that of the report.")(command)  # fmt: skip
    help_text = "Run of any version that only shows how much runs of one version differ (repeatable)."
    return click.option("--calibrate", "calibration", metavar="[NAME=]DIR", multiple=True, help=help_text)(command)


def add_run_option(command: Command) -> Command:
    """Add `--run`, which is required and repeatable."""
    return click.option("--run", "runs", metavar="[NAME=]DIR", multiple=True, required=True,
                        callback=replace_run_names, help=RUN_HELP)(command)  # fmt: skip


def add_one_run_option(metavar: str, help_text: str) -> Callable[[Command], Command]:
    """Return a decorator that adds `--run`, at most once."""

    def take_single(context: click.Context, _parameter: click.Parameter, value: tuple[str, ...]) -> str | None:
        if len(value) > 1:
            raise click.UsageError(f"Option '--run' takes one run, but got {len(value)}.", context)
        if value and not value[0].strip():
            raise click.UsageError("Option '--run' is empty: is a shell variable unset?", context)
        runs = replace_run_names(context, _parameter, value)
        if len(runs) > 1:
            raise click.UsageError(f"Option '--run' takes one run, but `{value[0]}` has {len(runs)}.", context)
        return runs[0] if runs else None

    return click.option("--run", "run", metavar=metavar, multiple=True, callback=take_single, help=help_text)


add_table_option = click.option("--format", "form", type=click.Choice(["table", "json", "csv"]), default="table",
                            help="Output format.")  # fmt: skip
add_system_option = click.option("--system", metavar="NAME", shell_complete=complete_names("systems"),
                             help="Use only the specs of this system.")  # fmt: skip
add_summary_option = click.option("--summary", default="", metavar="NAME", shell_complete=complete_names("summaries"),
                              help="Summary that combines the averages of hosts.")  # fmt: skip


@contextmanager
def open_command_session(runs: Sequence[str] = ()) -> Iterator[Session]:
    """Yield a session for a command that will read `runs` (`NAME=DIR`), with a progress display on a terminal."""
    context = click.get_current_context()
    background_hasher = _start_hashing(context, runs)
    from assay.app.session.stages import log_stage
    from assay.cli.log import set_up_logging, stop_logging
    from assay.cli.progress import display_progress
    from assay.engine.result_cache import ELSEWHERE
    from assay.util.diagnostics import AssayError
    from assay.util.os_errors import build_write_error, get_error_path, is_within
    from assay.util.scratch import clean_up

    options = context.obj
    if options.get("verbose") or options.get("log_format"):
        set_up_logging(options.get("log_format") or "text")
    with closing(open_context_session(context, background_hasher)) as session:
        try:
            with display_progress(session), log_stage("command", command=context.info_name):
                yield session
        except AssayError as error:
            raise session.localize_error(error) from None
        except OSError as error:
            place = get_error_path(error)
            if place is None or not is_within(error, session.store.folder):
                raise
            raise build_write_error("cache", "cache folder", session.store.folder, error, ELSEWHERE) from None
        finally:
            clean_up(session.store.folder)
            stop_logging()


@contextmanager
def open_command_workspace(runs: Sequence[str] = (), results: Path | None = None) -> Iterator[Workspace]:
    """Yield the workspace of the current folder for a command, in a session as `open_command_session` opens it."""
    with open_command_session(runs) as session:
        from assay.api import Workspace  # imported while files are hashed

        yield Workspace(session, click.get_current_context().obj.get("config"), results)


def _start_hashing(context: click.Context, runs: Sequence[str]) -> BackgroundHasher | None:
    """Begin to hash the files of runs, so that this continues while modules are loaded; None without local runs."""
    from assay.engine.result_cache import get_default_folder
    from assay.ingest.hashing import MEMO, BackgroundHasher
    from assay.remote.cache_location import locate_cache
    from assay.util.diagnostics import AssayError

    places = (Path(part) for text in runs for part in (text, text.partition("=")[2]) if part)
    folders = [place for place in places if place.is_dir()]
    if not folders:
        return None
    try:
        cache, _ = locate_cache(context.obj["cache"] or get_default_folder())
    except AssayError:  # reported when the session is opened
        return None
    background_hasher = BackgroundHasher(folders, cache / MEMO)
    background_hasher.start()
    return background_hasher


def open_context_session(context: click.Context, background_hasher: BackgroundHasher | None = None) -> Session:
    """Open the session of the current folder; `background_hasher` may already be hashing files."""
    from assay.app.session.session import open_session
    from assay.engine.result_cache import ELSEWHERE, get_default_folder
    from assay.util.diagnostics import USAGE
    from assay.util.os_errors import require_utf8

    cache = context.obj["cache"] or get_default_folder()
    current_folder = Path.cwd()
    require_utf8(
        str(current_folder / cache), "the folder of the cache", USAGE, ELSEWHERE
    )  # the engine must be able to open it
    return open_session(current_folder, cache, lambda message: output.print_line(message, err=True), background_hasher)
