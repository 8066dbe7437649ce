"""Compute durations of a main chain block: in its forger, in observers, and end to end (section 5)."""

from __future__ import annotations

from collections.abc import Sequence

from tests.oracle.instants import SECOND
from tests.oracle.model import Genesis, Observation
from tests.oracle.slots import slot_start
from tests.oracle.views import ForgerView, HostViews, ObserverView

ABSENT = SECOND // 100  # what a forger's announced, sending and adopted count as when they are not in the log


def _between(start: int | None, end: int | None) -> int | None:
    return None if start is None or end is None else end - start


def _first(*values: int | None) -> int | None:
    return next((value for value in values if value is not None), None)


def forger_durations(genesis: Genesis, view: ForgerView) -> dict[str, int | None]:
    """Return metric id -> ns; None if an end is missing."""
    start = slot_start(genesis, view.slot)
    loop = view.loop
    started, leading, snapshot = loop.get("started"), loop.get("leading"), loop.get("snapshot")
    context, state, ledger = loop.get("block_context"), loop.get("ledger_state"), loop.get("ledger_view")
    return {
        "cdfForgerStart": _between(start, started),
        "cdfForgerBlkCtx": _between(started, context),
        "cdfForgerLgrState": _between(context, state),
        "cdfForgerLgrView": _between(state, ledger),
        "cdfForgerLead": _between(_first(ledger, started), leading),
        "cdfForgerTicked": _between(leading, loop.get("ticked")),
        "cdfForgerMemSnap": _between(loop.get("ticked"), snapshot),
        "cdfForgerForge": _between(_first(snapshot, leading), view.forged),
        "cdfForgerAnnounce": _first(_between(view.forged, view.announced), ABSENT),
        "cdfForgerSend": _first(_between(view.forged, view.sending), ABSENT),
        "cdfForgerAdoption": _first(_between(view.forged, view.adopted), ABSENT),
        "cdfForgerAnnounceCum": _first(_between(start, view.announced), ABSENT),
    }


def _observation(genesis: Genesis, host: str, view: ObserverView) -> Observation | None:
    if view.requested is None or view.fetched is None:
        return None
    noticed = view.noticed - slot_start(genesis, view.slot)
    requested, fetched = view.requested - view.noticed, view.fetched - view.requested
    adopted = _between(view.fetched, view.adopted)
    orderly = adopted is not None and min(noticed, requested, fetched, adopted) >= 0
    return Observation(
        host=host,
        noticed=noticed,
        requested=requested,
        fetched=fetched,
        announced=_between(view.fetched, view.announced),
        sending=_between(view.fetched, view.sending),
        adopted=adopted,
        chain_delta=view.chain_delta,
        valid=orderly and view.chain_delta == 1,
    )


def observations(genesis: Genesis, hosts: Sequence[HostViews], block: str) -> tuple[Observation, ...]:
    """Return the observations of a block by host: those with noticed, requested and fetched."""
    seen = [(host.host, host.blocks.get(block)) for host in hosts]
    observed = [_observation(genesis, host, view) for host, view in seen if isinstance(view, ObserverView)]
    return tuple(observation for observation in observed if observation is not None)


def adoption_delays(genesis: Genesis, hosts: Sequence[HostViews], forger: ForgerView) -> tuple[int, ...]:
    """Return ascending delays from the forger's slot start to each host's adoption."""
    start = slot_start(genesis, forger.slot)
    views = [host.blocks.get(forger.block) for host in hosts]
    return tuple(sorted(view.adopted - start for view in views if view is not None and view.adopted is not None))
