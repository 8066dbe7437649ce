"""Analyse a run directory under a filter: everything that the document defines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.oracle.chain import build_chain, judge_chain
from tests.oracle.charts import UNPLOTTED, compute_block_points, compute_machine_points
from tests.oracle.distribution import Population, build_cluster_distribution, build_distribution
from tests.oracle.machines import compute_host_samples, select_slots, summarize_host_samples
from tests.oracle.manifest import compute_manifest
from tests.oracle.model import Analysis, BlockRow, Condition, Distribution, HostLog, HostRow, Run
from tests.oracle.propagation import HostBlocks, compute_block_samples, summarize_block_samples
from tests.oracle.reading import read_run
from tests.oracle.timeline import Slot, build_timeline
from tests.oracle.views import HostViews

Scaled = tuple[Population, int]


@dataclass(frozen=True, slots=True)
class Reconstruction:
    """The parts of a run that no filter changes."""

    run: Run
    views: list[HostViews]
    chain: list[BlockRow]
    timelines: list[list[Slot]]


def reconstruct(run_dir: Path) -> Reconstruction:
    """Read a run and rebuild its chain and its slots. Raises Refused."""
    run = read_run(run_dir)
    views, chain = build_chain(run)
    return Reconstruction(run, views, chain, [build_timeline(run.genesis, log) for log in run.logs])


def _build_host_row(log: HostLog, blocks: HostBlocks, slots: Sequence[Slot]) -> HostRow:
    return HostRow(
        host=log.host,
        lines=log.lines,
        objects=log.objects,
        recognised=len(log.events),
        quarantined=log.quarantined,
        first=log.first_instant,
        last=log.last_instant,
        blocks_forged=blocks.forged_count,
        blocks_chained=blocks.chained_count,
        blocks_accepted=blocks.accepted_count,
        slots=len(slots),
        first_slot=slots[0].slot,
        last_slot=slots[-1].slot,
    )


def _compute_metrics(blocks: Mapping[str, Scaled], machines: Sequence[Mapping[str, Scaled]]) -> dict[str, Distribution]:
    distributions = {name: build_distribution(population, scale) for name, (population, scale) in blocks.items()}
    for name, (_, scale) in machines[0].items():
        distributions[name] = build_cluster_distribution([host[name][0] for host in machines], scale)
    return distributions


def _compute_chart_points(
    blocks: Mapping[str, Scaled], machines: Sequence[Mapping[str, Scaled]]
) -> dict[str, list[list[str]]]:
    points = {name: compute_block_points(name, population, scale) for name, (population, scale) in blocks.items()}
    for name, (_, scale) in machines[0].items():
        if name not in UNPLOTTED:
            points[name] = compute_machine_points(name, [host[name][0] for host in machines], scale)
    return points


def analyse_reconstruction(reconstruction: Reconstruction, filters: Sequence[Condition]) -> Analysis:
    """Compute everything from a reconstructed run under a filter. Raise Refused."""
    run = reconstruction.run
    chain = judge_chain(run.genesis, reconstruction.chain, filters)
    logs = list(zip(run.logs, reconstruction.timelines, strict=True))
    slots = [select_slots(run.genesis, log.host, all_slots, filters) for log, all_slots in logs]
    host_blocks = [HostBlocks(host, chain) for host in reconstruction.views]
    blocks = summarize_block_samples(compute_block_samples(chain, host_blocks))
    machines = [summarize_host_samples(compute_host_samples(run.genesis, host_slots)) for host_slots in slots]
    return Analysis(
        metrics=_compute_metrics(blocks, machines),
        chain=tuple(chain),
        manifest=compute_manifest(run, filters, slots, chain),
        chart_points=_compute_chart_points(blocks, machines),
        hosts=tuple(map(_build_host_row, run.logs, host_blocks, slots)),
        host_metrics={
            log.host: {name: build_distribution(*scaled) for name, scaled in machine.items()}
            for log, machine in zip(run.logs, machines, strict=True)
        },
        rejections=Counter(condition for row in chain for condition, verdict in row.acceptance if not verdict),
    )


def analyse(run_dir: Path, filters: Sequence[Condition]) -> Analysis:
    """Compute everything for a run directory under a filter. Raise Refused with the reason."""
    return analyse_reconstruction(reconstruct(run_dir), filters)
