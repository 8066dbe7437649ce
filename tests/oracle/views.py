"""Fold each host's view of every block: forger, observer, or an ignored error (section 5)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tests.oracle.model import Event

# the forger's loop instants: the latest of each kind on the host
_LOOP = {
    "leadership_check_started": "started",
    "block_context": "block_context",
    "ledger_state": "ledger_state",
    "ledger_view": "ledger_view",
    "leadership_decided": "leading",
    "ledger_ticked": "ticked",
    "mempool_snapshot": "snapshot",
}


@dataclass(slots=True)
class ForgerView:
    """A block on the host that forged it; instants in ns, first of each kind."""

    block: str
    previous: str
    block_no: int
    slot: int
    forged: int
    loop: dict[str, int]
    announced: int | None = None
    sending: int | None = None
    adopted: int | None = None
    chain_delta: int = 0
    size: int | None = None


@dataclass(slots=True)
class ObserverView:
    """A block on a host that first heard of it by its header; instants in ns, first of each kind."""

    block: str
    block_no: int
    slot: int
    noticed: int
    requested: int | None = None
    fetched: int | None = None
    announced: int | None = None
    sending: int | None = None
    adopted: int | None = None
    chain_delta: int = 0


View = ForgerView | ObserverView | None  # None: the role is an error


@dataclass(slots=True)
class HostViews:
    """All blocks as one host saw them."""

    host: str
    blocks: dict[str, View] = field(default_factory=dict)

    def forged(self) -> list[ForgerView]:
        """Return the blocks that the host forged."""
        return [view for view in self.blocks.values() if isinstance(view, ForgerView)]


def _on_header(view: View, known: bool, event: Event) -> View:
    if known:
        return view
    data = event.data
    return ObserverView(data["block"], data["block_no"], data["slot"], event.at)


def _on_forged(known: bool, event: Event, loop: dict[str, int]) -> View:
    if known:
        return None
    data = event.data
    return ForgerView(data["block"], data["previous"], data["block_no"], data["slot"], event.at, dict(loop))


def _on_requested(view: View, event: Event) -> View:
    if not isinstance(view, ObserverView):
        return None
    if view.requested is None:
        view.requested = event.at
        view.chain_delta = max(view.chain_delta, event.data["length"])
    return view


def _on_completed(view: View, event: Event) -> View:
    if isinstance(view, ObserverView) and view.fetched is None:
        view.fetched = event.at
    return view


def _on_announced(view: View, event: Event) -> View:
    if view is not None and view.announced is None:
        view.announced = event.at
    return view


def _on_sent(view: View, event: Event) -> View:
    if view is not None and view.sending is None:
        view.sending = event.at
    return view


def _on_adopted(view: View, event: Event) -> View:
    if view is None:
        return None
    if view.adopted is None:
        delta = event.data["chain_delta"]
        view.adopted = event.at
        view.chain_delta = delta if isinstance(view, ForgerView) else max(view.chain_delta, delta)
    if isinstance(view, ForgerView) and view.size is None:
        view.size = event.data["size"]
    return view


_STEPS = {
    "fetch_requested": _on_requested,
    "fetch_completed": _on_completed,
    "header_announced": _on_announced,
    "block_sent": _on_sent,
    "block_adopted": _on_adopted,
}


def host_views(host: str, events: Iterable[Event]) -> HostViews:
    """Fold a host's events, in log order, into its view of every block."""
    views = HostViews(host)
    blocks, loop = views.blocks, dict[str, int]()
    for event in events:
        name = event.name
        if name in _LOOP:
            if event.data.get("leader", True):
                loop[_LOOP[name]] = event.at
            continue
        block = event.data.get("block")
        if block is None:
            continue
        view, known = blocks.get(block), block in blocks
        if name == "header_seen":
            blocks[block] = _on_header(view, known, event)
        elif name == "block_forged":
            blocks[block] = _on_forged(known, event, loop)
        else:
            blocks[block] = _STEPS[name](view, event)
    return views
