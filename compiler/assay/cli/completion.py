"""Completion in shells: the script, and the names that arguments complete to."""

from __future__ import annotations

from collections.abc import Callable

import click
from click.shell_completion import CompletionItem, get_completion_class

from assay.cli import echo
from assay.spec.visible import visible

SHELLS = ("bash", "zsh", "fish")
VARIABLE = "_ASSAY_COMPLETE"

#: completes what is typed so far of an argument
Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print a script for a shell to complete commands and names.

    Then, in the shell's start-up file: source ~/.assay-completion
    """
    found = get_completion_class(shell)
    assert found
    program = context.find_root().command
    echo.text(found(program, {}, "assay", VARIABLE).source())


def names(kind: str) -> Completer:
    """Completes to the names of a list: metrics, filters, reports; specs that do not load complete to nothing."""

    def complete(context: click.Context, _parameter: click.Parameter, typed: str) -> list[CompletionItem]:
        """The names that begin with what is typed, and what each is."""
        from assay.build import inspect
        from assay.cli.options import open_session_of
        from assay.spec.diagnostics import AssayError

        context.ensure_object(dict)
        root = context.find_root()
        root.obj = root.obj or {"cache": None}
        context.obj = root.obj
        try:
            session = open_session_of(context)
            _, rows = inspect.catalogue(session, kind, inspect.all_systems(session, None))
        except AssayError:
            return []
        found = [(row[0].partition("=")[0] + ("=" if "=" in row[0] else ""), row[-1]) for row in rows]
        fits = [item for item in found if item[0].startswith(typed) and visible(item[0]) == item[0]]
        return [CompletionItem(name, help=visible(doc)) for name, doc in fits]

    return complete
