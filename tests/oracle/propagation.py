"""Compute block metrics: samples of the accepted blocks, and the ratios over hosts (section 5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tests.oracle.distribution import Exact, Population, compute_order_statistic, summarize_samples
from tests.oracle.instants import SECOND
from tests.oracle.model import BlockRow, Observation
from tests.oracle.views import HostViews

ADOPTION_CENTILES = (0.5, 0.8, 0.9, 0.92, 0.94, 0.96, 0.98, 1.0)

Samples = tuple[list[Exact], int]  # exact samples, sample units in one unit of the metric


class HostBlocks:
    """Numbers of a host's forged blocks: all, on the main chain, accepted."""

    def __init__(self, host: HostViews, chain: Sequence[BlockRow]) -> None:
        hashes = {view.block for view in host.list_forged_blocks()}
        self.forged_count = len(hashes)
        self.chained_count = sum(row.block in hashes for row in chain)
        self.accepted_count = sum(row.block in hashes for row in chain if row.is_accepted)


def _iter_observation_samples(observation: Observation) -> Iterator[tuple[str, int | None]]:
    yield "cdfPeerRequest", observation.requested
    yield "cdfPeerFetch", observation.fetched
    yield "cdfPeerAnnounce", observation.announced
    yield "cdfPeerSend", observation.sending
    yield "cdfPeerAdoption", observation.adopted


def _iter_peer_samples(row: BlockRow) -> Iterator[tuple[str, int | None]]:
    valid_observations = [observation for observation in row.observations if observation.valid]
    for observation in valid_observations:
        yield from _iter_observation_samples(observation)
    if valid_observations:
        yield "cdfPeerNoticeFirst", min(observation.noticed for observation in valid_observations)
        yield (
            "cdfPeerFetchFirst",
            min(
                observation.noticed + observation.requested + observation.fetched for observation in valid_observations
            ),
        )


def _iter_block_samples(row: BlockRow) -> Iterator[tuple[str, int | None]]:
    yield from row.durations.items()
    yield from _iter_peer_samples(row)
    for centile in ADOPTION_CENTILES:
        delay = compute_order_statistic(row.adoption_delays, centile)
        assert isinstance(delay, int)
        yield f"cdf{centile:.2f}", delay


DURATIONS = (
    "cdfForgerStart", "cdfForgerBlkCtx", "cdfForgerLgrState", "cdfForgerLgrView", "cdfForgerLead",
    "cdfForgerTicked", "cdfForgerMemSnap", "cdfForgerForge", "cdfForgerAnnounce", "cdfForgerSend",
    "cdfForgerAdoption", "cdfForgerAnnounceCum", "cdfPeerNoticeFirst", "cdfPeerFetchFirst",
    "cdfPeerRequest", "cdfPeerFetch", "cdfPeerAnnounce", "cdfPeerSend", "cdfPeerAdoption",
    *(f"cdf{c:.2f}" for c in ADOPTION_CENTILES),
)  # fmt: skip


def _compute_ratios(pairs: Sequence[tuple[int, int]]) -> Samples:
    """Return quotients as doubles, without those over 0."""
    return [numerator / denominator for numerator, denominator in pairs if denominator], 1


def compute_block_samples(chain: Sequence[BlockRow], hosts: Sequence[HostBlocks]) -> dict[str, Samples]:
    """Return metric id -> exact samples over the accepted blocks, or over the hosts."""
    accepted = [row for row in chain if row.is_accepted]
    samples_by_name: dict[str, list[Exact]] = {name: [] for name in DURATIONS}
    for row in accepted:
        for name, value in _iter_block_samples(row):
            if value is not None:
                samples_by_name[name].append(value)
    return {
        **{name: (samples, SECOND) for name, samples in samples_by_name.items()},
        "cdfBlockBattle": ([len(row.other_blocks) for row in accepted], 1),
        "cdfBlockSize": ([row.size for row in accepted], 1),
        "cdfBlocksPerHost": ([host.forged_count for host in hosts], 1),
        "cdfBlocksChainedRatio": _compute_ratios([(host.chained_count, host.forged_count) for host in hosts]),
        "cdfBlocksFilteredRatio": _compute_ratios([(host.accepted_count, host.chained_count) for host in hosts]),
    }


def summarize_block_samples(samples: Mapping[str, Samples]) -> dict[str, tuple[Population, int]]:
    """Return metric id -> summary and scale."""
    return {name: (summarize_samples(values), scale) for name, (values, scale) in samples.items()}
