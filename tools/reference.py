#!/usr/bin/env python3
"""Generate docs/reference.md from the command line interface: commands with arguments, options and examples.

python tools/reference.py          print the page
python tools/reference.py write    write the page
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import click

from assay.cli.groups import EXAMPLES, GROUPS
from assay.cli.main import cli

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference.md"
#: click's mark of a paragraph that is not rewrapped
NO_REWRAP = "\b"
HEAD = """# Commands

Generated from the command line interface by `python tools/reference.py write`. `--cache DIR` sets the cache folder,
`--errors json` before the command prints errors as data; each command has `--help`. Exit status: 0 success, 1 error in
specs or data, 2 usage error, 3 difference found, 4 closed gate, 70 bug in Assay, 130 interrupted.
"""


def format_reference() -> str:
    """Format the page as Markdown."""
    return HEAD + "".join(_format_group(heading, names) for heading, names in GROUPS.items())


def _format_group(heading: str, names: tuple[str, ...]) -> str:
    return f"\n## {heading}\n" + "".join(_format_command(name) for name in names if name in cli.commands)


def _format_command(name: str) -> str:
    command = cli.commands[name]
    context = click.Context(command, info_name=name, parent=click.Context(cli, info_name="assay"))
    usage = " ".join(command.collect_usage_pieces(context))
    text = "\n\n".join(_format_paragraph(part) for part in (command.help or "").split("\n\n"))
    lines = [f"\n### assay {name}\n", f"`assay {name} {usage}`\n", f"{text}\n", *_format_options(command, context)]
    lines += ["```text", *EXAMPLES[name], "```"]
    return "\n".join(lines) + "\n" + "".join(_format_subcommands(command, context))


def _format_paragraph(part: str) -> str:
    """Format a paragraph of a help text; one that is not rewrapped becomes a code block."""
    first, *lines = part.strip(" \n").split("\n")
    if first == NO_REWRAP:
        return "\n".join(["```text", *(line.strip() for line in lines), "```"])
    return " ".join(part.split())


def _format_subcommands(command: click.Command, context: click.Context) -> Iterator[str]:
    """Format each subcommand of a group."""
    for name, subcommand in sorted(command.commands.items()) if isinstance(command, click.Group) else ():
        inner = click.Context(subcommand, info_name=name, parent=context)
        usage = f"assay {context.info_name} {name} " + " ".join(subcommand.collect_usage_pieces(inner))
        text = " ".join((subcommand.help or "").split())
        yield "\n".join([f"\n#### assay {context.info_name} {name}\n", f"`{usage}`\n", f"{text}\n",
                         *_format_options(subcommand, inner)])  # fmt: skip


def _format_options(command: click.Command, context: click.Context) -> Iterator[str]:
    rows = []
    for parameter in command.params:
        record = parameter.get_help_record(context) if isinstance(parameter, click.Option) else None
        if record and "--help" not in record[0]:
            rows.append("| " + " | ".join(_format_cell(text) for text in (f"`{record[0]}`", record[1])) + " |")
    if rows:
        yield from ("| option | |", "|---|---|", *rows, "")


def _format_cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def main() -> None:
    """Print the page, or write it with the argument `write`."""
    if sys.argv[1:] == ["write"]:
        PAGE.write_text(format_reference(), encoding="utf-8")
    else:
        sys.stdout.write(format_reference())


if __name__ == "__main__":
    main()
