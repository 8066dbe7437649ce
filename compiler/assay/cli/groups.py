"""Define command groups: strict arguments, and the order of commands in `assay --help`."""

from __future__ import annotations

from collections.abc import Sequence

import click

from assay.cli import output

ERROR_FORMS = ("text", "json")

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
        if args and args[0] in FORMER_NAMES and args[0] not in self.commands:
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


#: Heading -> commands, in the order of `assay --help`.
GROUPS = {
    "Author": ("init", "config", "check", "test", "slice", "watch", "schema", "lsp"),
    "Build": ("build", "work", "regenerate", "ingest", "fetch", "query", "samples", "compare"),
    "Keep": ("runs", "results", "history"),
    "Observe": ("draft", "check-prose"),
    "Trust": ("explain", "lineage", "trace", "verify", "spec-diff", "gate", "plan"),
    "Look": ("serve", "list", "inspect", "sql", "catalogue", "cache", "completion"),
}

#: Command -> examples of use, with names of the workspace that `assay init` writes.
EXAMPLES = {
    "init": ("assay init my-metrics", "assay init shop --from web-1/log.jsonl web-2/log.jsonl"),
    "config": ("assay config", "assay config --schema > assay.schema.json"),
    "check": ("assay check", "assay check --accept"),
    "test": ("assay test --system service --junit examples.xml",),
    "slice": ("assay slice wait --run runs/1.0 --around request=2-034",),
    "watch": (
        "assay watch service/comparison --run runs/1.0 --run runs/1.1 -o build/live",
        "assay watch service/comparison --run runs/1.0 --run runs/1.1 -o build/live --serve",
    ),
    "schema": ("assay schema meta.json --system service",),
    "lsp": ("assay lsp",),
    "build": ("assay build service/comparison --run base=runs/1.0 --run new=runs/1.1 -o build/comparison",),
    "work": ("assay work /shared/queue --idle-exit 300",),
    "regenerate": ("assay regenerate publication.json -o build/again",),
    "ingest": ("assay ingest runs/1.0 runs/1.1",),
    "fetch": (
        "assay fetch prometheus http://127.0.0.1:9090 --match '{job=\"web\"}' --start 2026-11-21T00:00:00Z "
        "--end 2026-11-21T01:00:00Z -o runs/1.2",
    ),
    "query": ("assay query wait work --run runs/1.0 --format csv",),
    "compare": (
        "assay compare runs/1.0 runs/1.1",
        "assay compare base=runs/1.0 new=runs/1.1 --metric wait --format csv",
    ),
    "samples": ("assay samples wait --run runs/1.0 --format parquet -o wait.parquet",),
    "runs": (
        "assay runs add runs/1.1 --name 1.1 --tag release",
        "assay runs list --tag release",
        "assay runs remove 1.1",
    ),
    "results": ("assay results add build/comparison", "assay results export --to csv -o results.csv"),
    "history": ("assay history wait work", "assay history wait --tag release --last 20 --format csv"),
    "explain": ("assay explain wait --run runs/1.0",),
    "lineage": ("assay lineage wait --format dot",),
    "trace": ("assay trace build/comparison 'Times/Waiting time/1.1'",),
    "verify": ("assay verify build/comparison",),
    "spec-diff": ("assay spec-diff HEAD~1 .", "assay spec-diff build/before build/after --format json"),
    "gate": ("assay gate build/comparison", "assay gate build/comparison --once --format json"),
    "plan": ("assay plan build/comparison --detect 5%", "assay plan service/comparison --results results"),
    "draft": (
        "assay draft build/comparison > observations.md",
        "assay draft small=build/small large=build/large > observations.md",
    ),
    "check-prose": ("assay check-prose observations.md build/comparison",),
    "serve": ("assay serve", "assay serve --results results --port 0"),
    "list": ("assay list metrics --system service",),
    "inspect": ("assay inspect runs/1.0", "assay inspect runs/1.0 --system service --format json"),
    "sql": ("assay sql wait --run runs/1.0",),
    "catalogue": ("assay catalogue -o build/site", "assay catalogue --system service -o build/service"),
    "cache": ("assay cache", "assay cache prune --older-than 30d", "assay cache prune --to-size 5GB"),
    "completion": ("assay completion bash > ~/.assay-completion",),
}


LONGEST = 1000  # characters of a command's summary


class SectionedGroup(StrictGroup):
    """A group of commands whose help has a section per heading, and examples for each command."""

    def add_command(self, cmd: click.Command, name: str | None = None) -> None:
        """Add a command, with its examples at the end of its help."""
        examples = EXAMPLES.get(name or cmd.name or "", ())
        cmd.epilog = "\b\n" + "\n".join(("Examples:", *(f"  {item}" for item in examples))) if examples else None
        super().add_command(cmd, name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the sections; commands without a heading come last."""
        remaining_commands = dict(self.commands)
        for heading, names in GROUPS.items():
            section_commands = [(name, remaining_commands.pop(name)) for name in names if name in remaining_commands]
            _write_section(formatter, heading, section_commands)
        _write_section(formatter, "Other", list(remaining_commands.items()))


def _write_section(formatter: click.HelpFormatter, heading: str, commands: list[tuple[str, click.Command]]) -> None:
    if commands:
        with formatter.section(heading):  # wraps long summaries, and truncates none
            formatter.write_dl([(name, command.get_short_help_str(limit=LONGEST)) for name, command in commands])
