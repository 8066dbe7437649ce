"""Analyse a run directory under a filter: everything that the document defines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.oracle.chain import build_chain, judge
from tests.oracle.charts import UNPLOTTED, block_points, machine_points
from tests.oracle.distribution import Population, cluster, single
from tests.oracle.machines import analysed_slots, host_populations, host_samples
from tests.oracle.manifest import run_manifest
from tests.oracle.model import Analysis, BlockRow, Condition, Distribution, HostLog, HostRow, Run
from tests.oracle.propagation import HostBlocks, block_populations, block_samples
from tests.oracle.reading import read_run
from tests.oracle.timeline import Slot, slot_timeline
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
    return Reconstruction(run, views, chain, [slot_timeline(run.genesis, log) for log in run.logs])


def _host_row(log: HostLog, blocks: HostBlocks, slots: Sequence[Slot]) -> HostRow:
    return HostRow(
        host=log.host,
        lines=log.lines,
        objects=log.objects,
        recognised=len(log.events),
        quarantined=log.quarantined,
        first=log.first,
        last=log.last,
        blocks_forged=blocks.total,
        blocks_chained=blocks.chained,
        blocks_accepted=blocks.accepted,
        slots=len(slots),
        first_slot=slots[0].slot,
        last_slot=slots[-1].slot,
    )


def _metrics(blocks: Mapping[str, Scaled], machines: Sequence[Mapping[str, Scaled]]) -> dict[str, Distribution]:
    pooled = {name: single(population, scale) for name, (population, scale) in blocks.items()}
    for name, (_, scale) in machines[0].items():
        pooled[name] = cluster([host[name][0] for host in machines], scale)
    return pooled


def _points(blocks: Mapping[str, Scaled], machines: Sequence[Mapping[str, Scaled]]) -> dict[str, list[list[str]]]:
    points = {name: block_points(name, population, scale) for name, (population, scale) in blocks.items()}
    for name, (_, scale) in machines[0].items():
        if name not in UNPLOTTED:
            points[name] = machine_points(name, [host[name][0] for host in machines], scale)
    return points


def analyse_reconstruction(reconstruction: Reconstruction, filters: Sequence[Condition]) -> Analysis:
    """Compute everything from a reconstructed run under a filter. Raise Refused."""
    run = reconstruction.run
    chain = judge(run.genesis, reconstruction.chain, filters)
    logs = list(zip(run.logs, reconstruction.timelines, strict=True))
    slots = [analysed_slots(run.genesis, log.host, all_slots, filters) for log, all_slots in logs]
    stats = [HostBlocks(host, chain) for host in reconstruction.views]
    blocks = block_populations(block_samples(chain, stats))
    machines = [host_populations(host_samples(run.genesis, left)) for left in slots]
    return Analysis(
        metrics=_metrics(blocks, machines),
        chain=tuple(chain),
        manifest=run_manifest(run, filters, slots, chain),
        chart_points=_points(blocks, machines),
        hosts=tuple(map(_host_row, run.logs, stats, slots)),
        host_metrics={
            log.host: {name: single(*scaled) for name, scaled in machine.items()}
            for log, machine in zip(run.logs, machines, strict=True)
        },
        rejections=Counter(c for row in chain for c, verdict in row.acceptance if not verdict),
    )


def analyse(run_dir: Path, filters: Sequence[Condition]) -> Analysis:
    """Compute everything for a run directory under a filter. Raise Refused with the reason."""
    return analyse_reconstruction(reconstruct(run_dir), filters)
