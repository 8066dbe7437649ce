"""Compute block metrics: samples of the accepted blocks, and the ratios over hosts (section 5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tests.oracle.distribution import Exact, Population, order_statistic, populate
from tests.oracle.instants import SECOND
from tests.oracle.model import BlockRow, Observation
from tests.oracle.views import HostViews

ADOPTION_CENTILES = (0.5, 0.8, 0.9, 0.92, 0.94, 0.96, 0.98, 1.0)

Samples = tuple[list[Exact], int]  # exact samples, sample units in one unit of the metric


class HostBlocks:
    """Numbers of a host's forged blocks: all, on the main chain, accepted."""

    def __init__(self, host: HostViews, chain: Sequence[BlockRow]) -> None:
        hashes = {view.block for view in host.forged()}
        self.total = len(hashes)
        self.chained = sum(row.block in hashes for row in chain)
        self.accepted = sum(row.block in hashes for row in chain if row.accepted)


def _observer_samples(observation: Observation) -> Iterator[tuple[str, int | None]]:
    yield "cdfPeerRequest", observation.requested
    yield "cdfPeerFetch", observation.fetched
    yield "cdfPeerAnnounce", observation.announced
    yield "cdfPeerSend", observation.sending
    yield "cdfPeerAdoption", observation.adopted


def _peer_samples(row: BlockRow) -> Iterator[tuple[str, int | None]]:
    valid = [seen for seen in row.observations if seen.valid]
    for seen in valid:
        yield from _observer_samples(seen)
    if valid:
        yield "cdfPeerNoticeFirst", min(seen.noticed for seen in valid)
        yield "cdfPeerFetchFirst", min(seen.noticed + seen.requested + seen.fetched for seen in valid)


def _block_samples(row: BlockRow) -> Iterator[tuple[str, int | None]]:
    yield from row.durations.items()
    yield from _peer_samples(row)
    for centile in ADOPTION_CENTILES:
        delay = order_statistic(row.adoption_delays, centile)
        assert isinstance(delay, int)
        yield f"cdf{centile:.2f}", delay


DURATIONS = (
    "cdfForgerStart", "cdfForgerBlkCtx", "cdfForgerLgrState", "cdfForgerLgrView", "cdfForgerLead",
    "cdfForgerTicked", "cdfForgerMemSnap", "cdfForgerForge", "cdfForgerAnnounce", "cdfForgerSend",
    "cdfForgerAdoption", "cdfForgerAnnounceCum", "cdfPeerNoticeFirst", "cdfPeerFetchFirst",
    "cdfPeerRequest", "cdfPeerFetch", "cdfPeerAnnounce", "cdfPeerSend", "cdfPeerAdoption",
    *(f"cdf{c:.2f}" for c in ADOPTION_CENTILES),
)  # fmt: skip


def _ratio(pairs: Sequence[tuple[int, int]]) -> Samples:
    """Return quotients as doubles, without those over 0."""
    return [above / below for above, below in pairs if below], 1


def block_samples(chain: Sequence[BlockRow], hosts: Sequence[HostBlocks]) -> dict[str, Samples]:
    """Return metric id -> exact samples over the accepted blocks, or over the hosts."""
    accepted = [row for row in chain if row.accepted]
    pooled: dict[str, list[Exact]] = {name: [] for name in DURATIONS}
    for row in accepted:
        for name, value in _block_samples(row):
            if value is not None:
                pooled[name].append(value)
    return {
        **{name: (samples, SECOND) for name, samples in pooled.items()},
        "cdfBlockBattle": ([len(row.other_blocks) for row in accepted], 1),
        "cdfBlockSize": ([row.size for row in accepted], 1),
        "cdfBlocksPerHost": ([host.total for host in hosts], 1),
        "cdfBlocksChainedRatio": _ratio([(host.chained, host.total) for host in hosts]),
        "cdfBlocksFilteredRatio": _ratio([(host.accepted, host.chained) for host in hosts]),
    }


def block_populations(samples: Mapping[str, Samples]) -> dict[str, tuple[Population, int]]:
    """Return metric id -> summary and scale."""
    return {name: (populate(values), scale) for name, (values, scale) in samples.items()}
