"""Command groups: strict arguments, and the order of commands in `assay --help`."""

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


#: heading -> commands, in the order in which they are shown
GROUPS = {
    "Author": ("init", "check", "test", "watch", "schema", "lsp"),
    "Build": ("build", "regenerate", "ingest", "fetch", "query"),
    "Trust": ("explain", "lineage", "trace", "verify", "diff"),
    "Look": ("list", "inspect", "sql", "catalogue", "cache", "completion"),
}

#: command -> how it is used, with the names of the workspace that `init` writes
EXAMPLES = {
    "init": ("assay init my-metrics",),
    "check": ("assay check", "assay check --accept"),
    "test": ("assay test --system service --junit examples.xml",),
    "watch": ("assay watch service/comparison --run runs/1.0 --run runs/1.1 -o build/live",),
    "schema": ("assay schema meta.json --system service",),
    "lsp": ("assay lsp",),
    "build": ("assay build service/comparison --run base=runs/1.0 --run new=runs/1.1 -o build/comparison",),
    "regenerate": ("assay regenerate publication.json -o build/again",),
    "ingest": ("assay ingest runs/1.0 runs/1.1",),
    "fetch": (
        "assay fetch prometheus http://127.0.0.1:9090 --match '{job=\"web\"}' --start 2026-11-21T00:00:00Z "
        "--end 2026-11-21T01:00:00Z -o runs/1.2",
    ),
    "query": ("assay query wait work --run runs/1.0 --format csv",),
    "explain": ("assay explain wait --run runs/1.0",),
    "lineage": ("assay lineage wait --format dot",),
    "trace": ("assay trace build/comparison 'Times/Waiting time/1.1'",),
    "verify": ("assay verify build/comparison",),
    "diff": ("assay diff HEAD~1 .", "assay diff build/before build/after --format json"),
    "list": ("assay list metrics --system service",),
    "inspect": ("assay inspect runs/1.0", "assay inspect runs/1.0 --system service --format json"),
    "sql": ("assay sql wait --run runs/1.0",),
    "catalogue": ("assay catalogue -o build/site", "assay catalogue --system service -o build/service"),
    "cache": ("assay cache", "assay cache prune --older-than 30d", "assay cache prune --to-size 5GB"),
    "completion": ("assay completion bash > ~/.assay-completion",),
}


LONGEST = 1000  # characters of a command's summary


class Grouped(Clear):
    """A group of commands whose help has a section for each heading; the help of each ends with examples."""

    def add_command(self, cmd: click.Command, name: str | None = None) -> None:
        """Add a command, with its examples at the end of its help."""
        examples = EXAMPLES.get(name or cmd.name or "", ())
        cmd.epilog = "\b\n" + "\n".join(("Examples:", *(f"  {item}" for item in examples))) if examples else None
        super().add_command(cmd, name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the sections; a command of no heading would stand in a last one."""
        left = dict(self.commands)
        for heading, names in GROUPS.items():
            found = [(name, left.pop(name)) for name in names if name in left]
            _section(formatter, heading, found)
        _section(formatter, "Other", list(left.items()))


def _section(formatter: click.HelpFormatter, heading: str, commands: list[tuple[str, click.Command]]) -> None:
    if commands:
        with formatter.section(heading):  # which breaks long summaries, and cuts none
            formatter.write_dl([(name, command.get_short_help_str(limit=LONGEST)) for name, command in commands])
