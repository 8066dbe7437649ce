"""The commands in groups, as `assay --help` shows them."""

from __future__ import annotations

import click

#: heading -> commands, in the order in which they are shown
GROUPS = {
    "Author": ("init", "check", "test", "watch", "schema"),
    "Build": ("build", "regenerate", "ingest", "fetch", "query"),
    "Trust": ("explain", "lineage", "trace", "verify", "diff"),
    "Look": ("list", "sql", "catalogue", "completion"),
}

#: command -> how it is used
EXAMPLES = {
    "init": ("assay init my-metrics",),
    "check": ("assay check", "assay check --accept"),
    "test": ("assay test --system cardano --junit examples.xml",),
    "watch": ("assay watch cardano/comparison --run runs/10.5 --run runs/10.6 -o build/live",),
    "schema": ("assay schema meta.json --system cardano",),
    "build": ("assay build cardano/comparison --run 10.5=runs/base --run 10.6=runs/candidate -o build/comparison",),
    "regenerate": ("assay regenerate release-10.5.4.plutus.json -o build/again",),
    "ingest": ("assay ingest runs/10.5 runs/10.6",),
    "fetch": (
        "assay fetch prometheus http://127.0.0.1:9090 --match '{job=~\"validator.*\"}' --start 2026-11-21T00:00:00Z "
        "--end 2026-11-21T01:00:00Z -o runs/qa1",
    ),
    "query": ("assay query cdfForgerTicked CentiCpu --run runs/10.5 --format csv",),
    "explain": ("assay explain cdfForgerTicked --run runs/10.5",),
    "lineage": ("assay lineage cdfForgerTicked --format dot",),
    "trace": ("assay trace build/comparison 'Resource Usage/Process CPU usage/10.6'",),
    "verify": ("assay verify build/comparison",),
    "diff": ("assay diff HEAD~1 .", "assay diff build/before build/after --format json"),
    "list": ("assay list metrics --system cardano",),
    "sql": ("assay sql cdfForgerTicked --run runs/10.5",),
    "catalogue": ("assay catalogue -o build/site", "assay catalogue --system cardano -o build/cardano"),
    "completion": ("assay completion bash > ~/.assay-completion",),
}


class Grouped(click.Group):
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
        limit = formatter.width - 6 - max(len(name) for name, _ in commands)
        with formatter.section(heading):
            formatter.write_dl([(name, command.get_short_help_str(limit)) for name, command in commands])
