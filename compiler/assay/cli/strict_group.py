"""Arguments, and options that take one value: an empty one, or several that differ, is a slip of the user."""

from __future__ import annotations

from collections.abc import Sequence

import click

#: of those that tell of an empty value themselves
APART = ("out",)


class Clear(click.Group):
    """A group that, as its commands, is given each option that takes one value once, and nothing that is empty."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The words of the group itself; a usage error where these are unclear."""
        if not ctx.resilient_parsing:
            _refuse_unclear(self, ctx.parent, ctx.info_name, args)
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command of the words, and its own words; a usage error where these are unclear."""
        name, command, words = super().resolve_command(ctx, args)
        if command and not isinstance(command, click.Group) and not ctx.resilient_parsing:
            _refuse_unclear(command, ctx, name, words)
        return name, command, words


def _refuse_unclear(
    command: click.Command, parent: click.Context | None, name: str | None, words: Sequence[str]
) -> None:
    """Click's usage error when an argument, or an option that takes one value, is given an empty text (of a variable
    that is not set, say), which for a folder would be the current one; or an option twice with different values, of
    which the last would count."""
    context = click.Context(command, info_name=name, parent=parent)
    single = {
        item.name: item
        for item in command.params
        if isinstance(item, click.Option) and not (item.multiple or item.is_flag or item.count or item.nargs != 1)
    }
    parser = command.make_parser(context)
    for known in (*parser._long_opt.values(), *parser._short_opt.values()):
        if known.dest in single:
            known.action = "append"
    given, _, _ = parser.parse_args(list(words))
    for item in command.params:
        if isinstance(item, click.Argument) and _has_empty(given.get(str(item.name))):
            called = item.make_metavar(context).strip("[].")
            raise click.UsageError(f"Argument '{called}' is given an empty text: is a variable not set?", context)
    for key, option in single.items():
        values = [str(item) for item in given.get(str(key), ())]
        called = max(option.opts, key=len)
        if any(not value.strip() for value in values) and key not in APART:
            raise click.UsageError(f"Option '{called}' is given an empty text: is a variable not set?", context)
        if len(set(values)) > 1:
            told = ", then ".join(dict.fromkeys(values))
            raise click.UsageError(f"Option '{called}' takes one value, and is given several: {told}.", context)


def _has_empty(given: object) -> bool:
    """Whether what an argument is given is an empty text, or has one."""
    texts = given if isinstance(given, (tuple, list)) else [given]
    return any(isinstance(text, str) and not text.strip() for text in texts)
