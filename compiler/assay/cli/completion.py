"""Completion in shells: the script, and the names that arguments complete to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem, get_completion_class

from assay.cli import output
from assay.util.escape import visible

if TYPE_CHECKING:
    from assay.app.session import Session

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
        from assay.cli.options import open_session_of
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
        fits = [item for item in dict(found).items() if item[0].startswith(typed) and visible(item[0]) == item[0]]
        return [CompletionItem(name, help=visible(doc)) for name, doc in fits]

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
