"""Define command groups: strict arguments, and the group of all commands, which imports the called one."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

import click
from click.shell_completion import CompletionItem

from assay.cli import output
from assay.cli.commands import COMMANDS, SECTIONS

ERROR_FORMS = ("text", "json")
PACKAGE = __name__.rpartition(".")[0]

#: Options that check for empty values themselves.
SELF_CHECKING = ("out",)


#: Former name of a command -> its name, and the version without the former name.
FORMER_NAMES = {"diff": ("spec-diff", "0.4")}


class StrictGroup(click.Group):
    """A group that refuses ambiguous options: repeated single values, and empty texts.

    Each of its commands has the option `--errors`.
    """

    def add_command(self, cmd: click.Command, name: str | None = None) -> None:
        """Add a command, with the option `--errors`."""
        # `assay.cli.errors` reads its value from the words, since it applies to problems of the words, too.
        cmd.params.append(
            click.Option(
                ["--errors"], type=click.Choice(ERROR_FORMS), expose_value=False, help="Format of error messages."
            )
        )
        super().add_command(cmd, name)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the words of the group itself. Raises UsageError for repeated or empty values."""
        if not ctx.resilient_parsing:
            _refuse_ambiguous(self, ctx.parent, ctx.info_name, args)
        if not args and self.no_args_is_help and not ctx.resilient_parsing:
            output.write(ctx.get_help(), err=False)  # as with --help: nothing is wrong
            ctx.exit()
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command and its words. Raises UsageError for repeated or empty values."""
        if args and args[0] in FORMER_NAMES and args[0] not in self.list_commands(ctx):
            args = [_replace_former_name(args[0], is_silent=ctx.resilient_parsing), *args[1:]]
        name, command, words = super().resolve_command(ctx, args)
        if command and not isinstance(command, click.Group) and not ctx.resilient_parsing:
            _refuse_ambiguous(command, ctx, name, words)
        return name, command, words


def _replace_former_name(former: str, is_silent: bool) -> str:
    """Return the name of a command, and print a notice on stderr that its former name will go."""
    name, version = FORMER_NAMES[former]
    if not is_silent:
        notice = f"`assay {former}` is now `assay {name}`; the old name goes with version {version}"
        output.print_line(notice, err=True)
    return name


def _refuse_ambiguous(
    command: click.Command, parent: click.Context | None, name: str | None, words: Sequence[str]
) -> None:
    """Raise UsageError if an argument or single-value option is empty, or an option has several values.

    An empty text usually comes from an unset variable; as a folder it would be the current one. Of several values,
    click would take only the last.
    """
    context = click.Context(command, info_name=name, parent=parent, **command.context_settings)
    single_options = {
        item.name: item
        for item in command.params
        if isinstance(item, click.Option) and not (item.multiple or item.is_flag or item.count or item.nargs != 1)
    }
    parser = command.make_parser(context)
    for option_parser in (*parser._long_opt.values(), *parser._short_opt.values()):
        if option_parser.dest in single_options:
            option_parser.action = "append"
    values_by_name, _, _ = parser.parse_args(list(words))
    for item in command.params:
        if isinstance(item, click.Argument) and _has_empty(values_by_name.get(str(item.name))):
            label = item.make_metavar(context).strip("[].")
            raise click.UsageError(f"Argument '{label}' is empty: is a shell variable unset?", context)
    for key, option in single_options.items():
        values = [str(item) for item in values_by_name.get(str(key), ())]
        label = max(option.opts, key=len)
        if any(not value.strip() for value in values) and key not in SELF_CHECKING:
            raise click.UsageError(f"Option '{label}' is empty: is a shell variable unset?", context)
        if len(set(values)) > 1:
            values_text = ", ".join(dict.fromkeys(values))
            raise click.UsageError(f"Option '{label}' takes one value, but got {values_text}.", context)


def _has_empty(value: object) -> bool:
    """Return whether an argument's value is an empty text, or contains one."""
    texts = value if isinstance(value, (tuple, list)) else [value]
    return any(isinstance(text, str) and not text.strip() for text in texts)


LONGEST = 1000  # characters of a command's summary


class SectionedGroup(StrictGroup):
    """The group of all commands, each of which is imported when it is called; its help has a section per heading."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names of the commands, in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, with its examples at the end of its help; None if there is none of this name."""
        if cmd_name not in self.commands and cmd_name in COMMANDS:
            entry = COMMANDS[cmd_name]
            module, _, function = (entry.place or f"{cmd_name}:{cmd_name}").partition(":")
            command: click.Command = getattr(import_module(f"{PACKAGE}.{module}"), function)
            command.epilog = "\b\n" + "\n".join(("Examples:", *(f"  {item}" for item in entry.examples)))
            self.add_command(command, cmd_name)
        return super().get_command(ctx, cmd_name)

    def load_commands(self) -> dict[str, click.Command]:
        """Return all commands by name."""
        context = click.Context(self)
        return {name: command for name in COMMANDS if (command := self.get_command(context, name))}

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the sections."""
        for heading, entries in SECTIONS.items():
            with formatter.section(heading):  # wraps long summaries, and truncates none
                formatter.write_dl([(name, entry.summary) for name, entry in entries.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the commands that begin with the typed text, without importing them; then options."""
        commands = [
            CompletionItem(name, help=entry.summary) for name, entry in COMMANDS.items() if name.startswith(incomplete)
        ]
        return [*commands, *click.Command.shell_complete(self, ctx, incomplete)]
