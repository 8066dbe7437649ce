#!/usr/bin/env python3
"""Generate docs/reference.md from the command line interface: commands with arguments, options and examples.

python tools/reference.py          print the page
python tools/reference.py write    write the page
"""

from __future__ import annotations

import functools
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from assay.cli.commands import COMMANDS, SECTIONS
from assay.cli.main import cli

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference.md"
#: click's mark of a paragraph that is not rewrapped: examples
NO_REWRAP = "\b"
#: an option of so many commands, with one description, is described once
COMMON = 2
#: the description of an option that says no more than its values, which the sections name
FORMAT = "Output format."
#: common options that no section names
_IMPLIED = ("`--errors`", "`--verbose`", "`--log-format`")
HEAD = """# Options in full

Generated from the command line interface by `python tools/reference.py write`. Exit status: 0 success, 1 error in
specs or data, 2 usage error, 3 difference found, 4 closed gate, 70 bug in Assay, 130 interrupted.

## Common options

Every command has `--help` and `--errors`. The section of a command names those of the other options here that it has,
and its output formats (`--format`). If `--cache` is among them, so are `--verbose` and `--log-format`.

"""


def format_reference() -> str:
    """Format the page as Markdown."""
    options = _format_table(sorted(_find_common_options()))
    return HEAD + options + "".join(_format_group(heading, names) for heading, names in SECTIONS.items())


@functools.cache
def _find_common_options() -> frozenset[tuple[str, str]]:
    """Return the options that several commands have with the same values and the same description.

    Of an option with several descriptions it is the most frequent one.
    """
    cli.load_commands()
    counts = Counter(option for command in _walk_commands(cli) for option in _list_options(command))
    common = {
        _find_longest_name(option[0]): option
        for option, count in sorted(counts.items(), key=lambda item: item[1])
        if count >= COMMON and option[1] != FORMAT
    }
    return frozenset(common.values())


def _walk_commands(group: click.Group) -> Iterator[click.Command]:
    for command in group.commands.values():
        yield command
        yield from _walk_commands(command) if isinstance(command, click.Group) else ()


def _list_options(command: click.Command) -> list[tuple[str, str]]:
    """Return the options of a command, except for `--help`, with their descriptions."""
    context = click.Context(command)
    records = (item.get_help_record(context) for item in command.params if isinstance(item, click.Option))
    return [record for record in records if record and "--help" not in record[0]]


def _format_group(heading: str, names: tuple[str, ...]) -> str:
    return f"\n## {heading}\n" + "".join(_format_command(name) for name in names)


def _format_command(name: str) -> str:
    command = cli.load_commands()[name]
    context = click.Context(command, info_name=name, parent=click.Context(cli, info_name="assay"))
    usage = _format_usage(command, context)
    text = "\n\n".join(_format_paragraphs(command.help or ""))
    lines = [f"\n### assay {name}\n", f"`assay {name} {usage}`\n", f"{text}\n", *_format_options(command)]
    lines += ["```text", *COMMANDS[name].examples, "```"]
    return "\n".join(lines) + "\n" + "".join(_format_subcommands(command, context))


def _format_usage(command: click.Command, context: click.Context) -> str:
    """Return the arguments of a command; the options are in its table."""
    return " ".join(piece for piece in command.collect_usage_pieces(context) if piece != "[OPTIONS]")


def _format_paragraphs(text: str) -> Iterator[str]:
    """Yield the paragraphs of a help text, except for examples: the section of a command ends with its own."""
    for part in text.split("\n\n"):
        if not part.strip(" \n").startswith(NO_REWRAP):
            yield " ".join(part.split())


def _format_subcommands(command: click.Command, context: click.Context) -> Iterator[str]:
    """Format each subcommand of a group."""
    for name, subcommand in sorted(command.commands.items()) if isinstance(command, click.Group) else ():
        inner = click.Context(subcommand, info_name=name, parent=context)
        usage = f"assay {context.info_name} {name} {_format_usage(subcommand, inner)}"
        text = " ".join((subcommand.help or "").split())
        yield "\n".join([f"\n#### assay {context.info_name} {name}\n", f"`{usage}`\n", f"{text}\n",
                         *_format_options(subcommand)])  # fmt: skip


def _format_options(command: click.Command) -> Iterator[str]:
    """Format the options of a command: a table of its own, and the names of common ones."""
    options, common = _list_options(command), _find_common_options()
    if distinct_options := [option for option in options if option not in common and option[1] != FORMAT]:
        yield _format_table(distinct_options)
    names = [f"`{_find_longest_name(name)}`" for name, text in options if (name, text) in common and text != FORMAT]
    names += [f"`{name}`" for name, text in options if text == FORMAT]
    if names := [name for name in names if name not in _IMPLIED]:
        yield f"Common options: {', '.join(names)}\n"


def _find_longest_name(text: str) -> str:
    """Return the name of an option: `-o, --out DIR` is `--out`."""
    return next(word for word in text.replace(",", "").split() if word.startswith("--"))


def _format_table(options: Sequence[tuple[str, str]]) -> str:
    rows = [" | ".join(_format_cell(text) for text in (f"`{name}`", text)) for name, text in options]
    return "\n".join(("| option | |", "|---|---|", *(f"| {row} |" for row in rows))) + "\n"


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
