"""Create a workspace for logs of one's own (`assay init NAME --from LOG...`)."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.app.author.init import fill_workspace, quote_path
from assay.app.session.config import NAME
from assay.util.paths import resolve_path
from assay_propose.model import Proposal, SampleFile
from assay_propose.propose import propose_system
from assay_propose.prove import prove
from assay_propose.runs import list_other_readings
from assay_propose.samples import RESERVED, read_samples
from assay_propose.summary import KEEP_APART, describe_proposal
from assay_propose.write_specs import write_all_specs

SETTINGS = """\
# Settings of this workspace: `assay config` prints them, options of commands override them.
report = "{system}/comparison"
output = "build"
runs-directory = "runs"
"""


MAX_WIDTH = 60  # columns of the names of logs in a suggested command, unless they are few
FEW_LOGS = 4


@dataclass(frozen=True, slots=True)
class LogWorkspace:
    """A workspace for logs: the proposal, notes of its proof, commands for other readings, commands to try next."""

    proposal: Proposal
    proved: tuple[str, ...]
    other_readings: tuple[str, ...]
    commands: tuple[str, ...]

    @property
    def has_percentiles(self) -> bool:
        """Return whether the 99th percentile of a metric may differ from its greatest sample."""
        return self.proposal.has_percentiles

    def describe(self) -> Iterator[str]:
        """Yield lines that say what the logs contain and what the specs measure."""
        yield from describe_proposal(self.proposal, self.other_readings)
        yield from self.proved

    def to_json(self) -> dict[str, Any]:
        """Return the proposal as data."""
        return self.proposal.to_json()


def create_workspace_from_logs(place: Path, logs: Sequence[Path], each: str = "") -> LogWorkspace:
    """Write a workspace whose specs read the logs, which become its first runs.

    `each` is what each log is (`runs.READINGS`). Raises AssayError: `not-empty`, `no-file` (usage), `options` (usage),
    `unknown-format`, `broken-file`, `output`.
    """
    proposal, samples = propose_system(resolve_path(place).name, *read_samples(logs), each)
    with fill_workspace(place) as folder:
        _copy_samples(samples, folder / "runs", {run.name: run.version for run in proposal.runs})
        (folder / NAME).write_text(_write_settings(proposal), encoding="utf-8")
        proof = prove(proposal, folder, lambda item: _write_specs(item, folder))
        proposal = proof.proposal
    others = list_other_readings(samples) if len(proposal.sources) == 1 else ()
    return LogWorkspace(
        proposal,
        proof.notes,
        tuple(_describe_reading(other, place, logs) for other in others),
        _list_commands(place, proposal),
    )


def _write_specs(proposal: Proposal, folder: Path) -> None:
    """Write the specs of a proposal in place of those of another one."""
    for name in ("specs", "queries"):
        shutil.rmtree(folder / name / proposal.system, ignore_errors=True)
    for name, text in write_all_specs(proposal).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _describe_reading(each: str, place: Path, logs: Sequence[Path]) -> str:
    """Return the command that reads each log as a run or a host, into a new folder beside the workspace."""
    name = resolve_path(place).name
    folder = (place if place.name else Path("..", name)).with_name(f"{name}-{each}s")
    words = " ".join(map(quote_path, logs))
    words = words if len(logs) <= FEW_LOGS or len(words) <= MAX_WIDTH else "…"
    return f"if each log is a {each}: assay init {quote_path(folder)} --from {words} --each {each}"


def _copy_samples(samples: Sequence[SampleFile], folder: Path, versions: Mapping[str, str]) -> None:
    for sample in samples:
        run = folder / sample.run
        copy = run / sample.host / sample.copy_name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(sample.path, copy)
        (run / RESERVED).write_text(json.dumps({"version": versions[sample.run]}) + "\n", encoding="utf-8")


def _write_settings(proposal: Proposal) -> str:
    baseline = f'baseline = "{proposal.runs[0].version}"\n' if len(proposal.runs) > 1 else ""
    return SETTINGS.format(system=proposal.system) + baseline + "".join(_write_repeats(proposal))


def _write_repeats(proposal: Proposal) -> Iterator[str]:
    """Yield the lines of the table with the runs of each version; none without repeats."""
    if proposal.repeats:
        yield f"\n# Several runs of a version are repeats. {KEEP_APART[:1].upper()}{KEEP_APART[1:]}.\n[runs]\n"
    for version, runs in proposal.repeats.items():
        yield f"{json.dumps(version)} = {json.dumps([f'runs/{run}' for run in runs])}\n"


def _list_commands(place: Path, proposal: Proposal) -> tuple[str, ...]:
    pairs = [(grain, metric) for grain in proposal.grains for metric in grain.metrics]
    grain, first = next((pair for pair in pairs if pair[1].better != "neither"), pairs[0])
    metric, split = first.id, grain.split
    date = "" if proposal.has_instants else " --date $(date +%F)"
    names = {run: f"{version}=" for version, repeated in proposal.repeats.items() for run in repeated}
    runs = " ".join(f"--run {names.get(run.name, '')}runs/{run.name}" for run in proposal.runs)
    return (
        f"cd {quote_path(place)}",
        "assay check",
        f"assay query {metric} {runs}",
        *([f"assay query {metric} --by {','.join(item.field for item in split)} {runs}"] if split else []),
        f"assay explain {metric} --run runs/{proposal.runs[0].name}",
        f"assay build {proposal.system}/comparison {runs} -o build/comparison{date}",
    )
