"""Compute durations of a main chain block: in its forger, in observers, and end to end (section 5)."""

from __future__ import annotations

from collections.abc import Sequence

from tests.oracle.instants import SECOND
from tests.oracle.model import Genesis, Observation
from tests.oracle.slots import compute_slot_start
from tests.oracle.views import ForgerView, HostViews, ObserverView

MISSING_DURATION = SECOND // 100  # counts for a forger's announced, sending or adopted that is not in the log


def _compute_duration(start: int | None, end: int | None) -> int | None:
    return None if start is None or end is None else end - start


def _get_first(*values: int | None) -> int | None:
    return next((value for value in values if value is not None), None)


def compute_forger_durations(genesis: Genesis, view: ForgerView) -> dict[str, int | None]:
    """Return metric id -> ns; None if an end is missing."""
    start = compute_slot_start(genesis, view.slot)
    loop = view.loop
    started, leading, snapshot = loop.get("started"), loop.get("leading"), loop.get("snapshot")
    context, state, ledger = loop.get("block_context"), loop.get("ledger_state"), loop.get("ledger_view")
    return {
        "cdfForgerStart": _compute_duration(start, started),
        "cdfForgerBlkCtx": _compute_duration(started, context),
        "cdfForgerLgrState": _compute_duration(context, state),
        "cdfForgerLgrView": _compute_duration(state, ledger),
        "cdfForgerLead": _compute_duration(_get_first(ledger, started), leading),
        "cdfForgerTicked": _compute_duration(leading, loop.get("ticked")),
        "cdfForgerMemSnap": _compute_duration(loop.get("ticked"), snapshot),
        "cdfForgerForge": _compute_duration(_get_first(snapshot, leading), view.forged),
        "cdfForgerAnnounce": _get_first(_compute_duration(view.forged, view.announced), MISSING_DURATION),
        "cdfForgerSend": _get_first(_compute_duration(view.forged, view.sending), MISSING_DURATION),
        "cdfForgerAdoption": _get_first(_compute_duration(view.forged, view.adopted), MISSING_DURATION),
        "cdfForgerAnnounceCum": _get_first(_compute_duration(start, view.announced), MISSING_DURATION),
    }


def _build_observation(genesis: Genesis, host: str, view: ObserverView) -> Observation | None:
    if view.requested is None or view.fetched is None:
        return None
    noticed = view.noticed - compute_slot_start(genesis, view.slot)
    requested, fetched = view.requested - view.noticed, view.fetched - view.requested
    adopted = _compute_duration(view.fetched, view.adopted)
    is_ordered = adopted is not None and min(noticed, requested, fetched, adopted) >= 0
    return Observation(
        host=host,
        noticed=noticed,
        requested=requested,
        fetched=fetched,
        announced=_compute_duration(view.fetched, view.announced),
        sending=_compute_duration(view.fetched, view.sending),
        adopted=adopted,
        chain_delta=view.chain_delta,
        valid=is_ordered and view.chain_delta == 1,
    )


def build_observations(genesis: Genesis, hosts: Sequence[HostViews], block: str) -> tuple[Observation, ...]:
    """Return the observations of a block by host: those with noticed, requested and fetched."""
    views = [(host.host, host.blocks.get(block)) for host in hosts]
    observations = [_build_observation(genesis, host, view) for host, view in views if isinstance(view, ObserverView)]
    return tuple(observation for observation in observations if observation is not None)


def compute_adoption_delays(genesis: Genesis, hosts: Sequence[HostViews], forger: ForgerView) -> tuple[int, ...]:
    """Return ascending delays from the forger's slot start to each host's adoption."""
    start = compute_slot_start(genesis, forger.slot)
    views = [host.blocks.get(forger.block) for host in hosts]
    return tuple(sorted(view.adopted - start for view in views if view is not None and view.adopted is not None))
