"""Define `assay completion`."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from assay.cli import output

SHELLS = ("bash", "zsh", "fish")
VARIABLE = "_ASSAY_COMPLETE"


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print a shell script that completes commands and names.

    Save the script to a file and source it in the start-up file of the shell: source ~/.assay-completion
    """
    completion_class = get_completion_class(shell)
    assert completion_class
    program = context.find_root().command
    output.print_text(completion_class(program, {}, "assay", VARIABLE).source())
