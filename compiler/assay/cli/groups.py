"""The commands in groups, as `assay --help` shows them."""

from __future__ import annotations

import click

from assay.cli.strict_group import Clear

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
