"""Build the main chain: its blocks, with forger, observations and verdicts of each (section 5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tests.oracle.durations import build_observations, compute_adoption_delays, compute_forger_durations
from tests.oracle.filters import BlockFacts, SlotFacts, is_block_accepted
from tests.oracle.model import BlockRow, Condition, Event, Genesis, RefusalError, Run
from tests.oracle.slots import compute_epoch, compute_safe_interval
from tests.oracle.views import ForgerView, HostViews, build_host_views

GENESIS_HASH = "GenesisHash"


def _merge_forges(logs: Sequence[tuple[str, Sequence[Event]]]) -> list[tuple[str, Event]]:
    """Return all block_forged events by instant, then host, then position in the log."""
    forges = [(host, event) for host, events in logs for event in events if event.name == "block_forged"]
    return sorted(forges, key=lambda pair: pair[1].instant)


def check_hashes(run: Run) -> None:
    """Raise Refused if a child precedes its parent, or a header has an unknown hash."""
    logs = [(log.host, log.events) for log in run.logs]
    forged = {GENESIS_HASH}
    for host, event in _merge_forges(logs):
        if event.data["previous"] not in forged:
            raise RefusalError(f"{host} forged {event.data['block']} on the unknown parent {event.data['previous']}")
        forged.add(event.data["block"])
    for host, events in logs:
        for event in events:
            if event.name == "header_seen" and event.data["block"] not in forged:
                raise RefusalError(f"{host} saw a header of {event.data['block']}, which nobody forged")


class _Cluster:
    """All hosts' views together, with lookups for the chain."""

    def __init__(self, views: Sequence[HostViews]) -> None:
        self.views = views
        self.hashes_by_number: dict[int, set[str]] = {}
        for host in views:
            for view in host.blocks.values():
                if view is not None:
                    self.hashes_by_number.setdefault(view.block_no, set()).add(view.block)
        self.block_count = sum(len(hashes) for hashes in self.hashes_by_number.values())

    def find_forger(self, block: str, block_no: int) -> tuple[str, ForgerView]:
        """Return the first host that forged the block."""
        for host in self.views:
            view = host.blocks.get(block)
            if isinstance(view, ForgerView):
                return host.host, view
        hosts = ", ".join(host.host for host in self.views if block in host.blocks)
        raise RefusalError(f"block {block_no} {block} has no forger; seen by: {hosts or 'nobody'}")

    def find_last_block(self) -> tuple[int, str]:
        """Return number and hash of the block with the greatest number."""
        candidates = [
            (-view.block_no, not isinstance(view, ForgerView), index, view.block)
            for index, host in enumerate(self.views)
            for view in host.blocks.values()
            if view is not None
        ]
        if not candidates:
            raise RefusalError("no block in any log")
        number, _, _, block = min(candidates)
        return -number, block

    def collect_chain(self) -> list[tuple[str, ForgerView]]:
        """Return host and forger view of each main chain block, without the last block."""
        number, tip = self.find_last_block()
        block = self.find_forger(tip, number)[1].previous
        views: list[tuple[str, ForgerView]] = []
        while True:
            host, view = self.find_forger(block, number - 1)
            views.append((host, view))
            if view.block_no == 0:
                return views[::-1]
            if len(views) > self.block_count:
                raise RefusalError(f"the chain below block {number} never reaches block 0")
            block, number = view.previous, view.block_no

    def list_other_blocks(self, view: ForgerView) -> tuple[str, ...]:
        """Return the other hashes at a block's number; each must have a forger."""
        hashes = sorted(self.hashes_by_number[view.block_no] - {view.block})
        for block in hashes:
            self.find_forger(block, view.block_no)
        return tuple(hashes)


def _build_block_row(genesis: Genesis, cluster: _Cluster, host: str, view: ForgerView) -> BlockRow:
    missing = [name for name in ("started", "leading") if name not in view.loop]
    if view.size is None:
        missing.append("size")
    if missing:
        raise RefusalError(f"block {view.block_no} {view.block} of {host} lacks {', '.join(missing)}")
    assert view.size is not None
    epoch, epoch_slot = compute_epoch(genesis, view.slot)
    return BlockRow(
        block_no=view.block_no,
        block=view.block,
        previous=view.previous,
        slot=view.slot,
        epoch=epoch,
        safe_interval=compute_safe_interval(genesis, epoch_slot),
        forger=host,
        size=view.size,
        chain_delta=view.chain_delta,
        durations=compute_forger_durations(genesis, view),
        other_blocks=cluster.list_other_blocks(view),
        observations=build_observations(genesis, cluster.views, view.block),
        adoption_delays=compute_adoption_delays(genesis, cluster.views, view),
    )


def _judge_block(genesis: Genesis, row: BlockRow, filters: Sequence[Condition]) -> BlockRow:
    slot = SlotFacts(row.slot, row.epoch, row.safe_interval, compute_epoch(genesis, row.slot)[1], True)
    adoptions = sum(observation.adopted is not None for observation in row.observations)
    block = BlockFacts(row.size, row.chain_delta, adoptions)
    return replace(
        row, acceptance=tuple((condition, is_block_accepted(condition, genesis, slot, block)) for condition in filters)
    )


def build_chain(run: Run) -> tuple[list[HostViews], list[BlockRow]]:
    """Return every host's views and the main chain from block 0 on, unfiltered. Raise Refused."""
    check_hashes(run)
    views = [build_host_views(log.host, log.events) for log in run.logs]
    cluster = _Cluster(views)
    return views, [_build_block_row(run.genesis, cluster, host, view) for host, view in cluster.collect_chain()]


def judge_chain(genesis: Genesis, chain: Sequence[BlockRow], filters: Sequence[Condition]) -> list[BlockRow]:
    """Return the chain with every condition's verdict. Raise Refused if no block passes all."""
    rows = [_judge_block(genesis, row, filters) for row in chain]
    if not any(row.is_accepted for row in rows):
        raise RefusalError("the filters accept no block")
    return rows
