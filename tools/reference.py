#!/usr/bin/env python3
"""Write docs/reference.md: every command with its arguments, options and examples, from the commands themselves.

python tools/reference.py          print it
python tools/reference.py write    write it
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import click

from assay.cli.groups import EXAMPLES, GROUPS
from assay.cli.main import cli

PLACE = Path(__file__).resolve().parent.parent / "docs" / "reference.md"
#: what stands before a paragraph of a help text whose lines are not to be joined
KEPT = "\b"
HEAD = """# Commands

`python tools/reference.py write` generates this page from the commands. Every command has `--help`. `--cache DIR`
selects the cache folder. `--errors json`, before the command, prints errors as data. Exit status: 0 success, 1 the
specs or the data are wrong, 2 the command line is wrong, 3 a difference was found, 70 a bug in Assay, 130 interrupted.
"""


def reference() -> str:
    """The text of the page."""
    return HEAD + "".join(_group(heading, names) for heading, names in GROUPS.items())


def _group(heading: str, names: tuple[str, ...]) -> str:
    return f"\n## {heading}\n" + "".join(_command(name) for name in names if name in cli.commands)


def _command(name: str) -> str:
    command = cli.commands[name]
    context = click.Context(command, info_name=name, parent=click.Context(cli, info_name="assay"))
    usage = " ".join(command.collect_usage_pieces(context))
    text = "\n\n".join(_paragraph(part) for part in (command.help or "").split("\n\n"))
    lines = [f"\n### assay {name}\n", f"`assay {name} {usage}`\n", f"{text}\n", *_options(command, context)]
    lines += ["```text", *EXAMPLES[name], "```"]
    return "\n".join(lines) + "\n" + "".join(_subcommands(command, context))


def _paragraph(part: str) -> str:
    """A paragraph of a help text; one whose lines are kept there is a listing of usages."""
    first, *lines = part.strip(" \n").split("\n")
    if first == KEPT:
        return "\n".join(["```text", *(line.strip() for line in lines), "```"])
    return " ".join(part.split())


def _subcommands(command: click.Command, context: click.Context) -> Iterator[str]:
    """The commands within a command."""
    for name, within in sorted(command.commands.items()) if isinstance(command, click.Group) else ():
        own = click.Context(within, info_name=name, parent=context)
        usage = f"assay {context.info_name} {name} " + " ".join(within.collect_usage_pieces(own))
        text = " ".join((within.help or "").split())
        yield "\n".join([f"\n#### assay {context.info_name} {name}\n", f"`{usage}`\n", f"{text}\n",
                         *_options(within, own)])  # fmt: skip


def _options(command: click.Command, context: click.Context) -> Iterator[str]:
    rows = []
    for parameter in command.params:
        record = parameter.get_help_record(context) if isinstance(parameter, click.Option) else None
        if record and "--help" not in record[0]:
            rows.append("| " + " | ".join(_cell(text) for text in (f"`{record[0]}`", record[1])) + " |")
    if rows:
        yield from ("| option | |", "|---|---|", *rows, "")


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def main() -> None:
    """Print the page, or write it."""
    if sys.argv[1:] == ["write"]:
        PLACE.write_text(reference(), encoding="utf-8")
    else:
        sys.stdout.write(reference())


if __name__ == "__main__":
    main()
