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

    def list_forged_blocks(self) -> list[ForgerView]:
        """Return the blocks that the host forged."""
        return [view for view in self.blocks.values() if isinstance(view, ForgerView)]


def _handle_header(view: View, has_view: bool, event: Event) -> View:
    if has_view:
        return view
    data = event.data
    return ObserverView(data["block"], data["block_no"], data["slot"], event.instant)


def _handle_forged(has_view: bool, event: Event, loop: dict[str, int]) -> View:
    if has_view:
        return None
    data = event.data
    return ForgerView(data["block"], data["previous"], data["block_no"], data["slot"], event.instant, dict(loop))


def _handle_request(view: View, event: Event) -> View:
    if not isinstance(view, ObserverView):
        return None
    if view.requested is None:
        view.requested = event.instant
        view.chain_delta = max(view.chain_delta, event.data["length"])
    return view


def _handle_completion(view: View, event: Event) -> View:
    if isinstance(view, ObserverView) and view.fetched is None:
        view.fetched = event.instant
    return view


def _handle_announcement(view: View, event: Event) -> View:
    if view is not None and view.announced is None:
        view.announced = event.instant
    return view


def _handle_sent(view: View, event: Event) -> View:
    if view is not None and view.sending is None:
        view.sending = event.instant
    return view


def _handle_adoption(view: View, event: Event) -> View:
    if view is None:
        return None
    if view.adopted is None:
        delta = event.data["chain_delta"]
        view.adopted = event.instant
        view.chain_delta = delta if isinstance(view, ForgerView) else max(view.chain_delta, delta)
    if isinstance(view, ForgerView) and view.size is None:
        view.size = event.data["size"]
    return view


_STEPS = {
    "fetch_requested": _handle_request,
    "fetch_completed": _handle_completion,
    "header_announced": _handle_announcement,
    "block_sent": _handle_sent,
    "block_adopted": _handle_adoption,
}


def build_host_views(host: str, events: Iterable[Event]) -> HostViews:
    """Fold a host's events, in log order, into its view of every block."""
    views = HostViews(host)
    blocks, loop = views.blocks, dict[str, int]()
    for event in events:
        name = event.name
        if name in _LOOP:
            if event.data.get("leader", True):
                loop[_LOOP[name]] = event.instant
            continue
        block = event.data.get("block")
        if block is None:
            continue
        view, has_view = blocks.get(block), block in blocks
        if name == "header_seen":
            blocks[block] = _handle_header(view, has_view, event)
        elif name == "block_forged":
            blocks[block] = _handle_forged(has_view, event, loop)
        else:
            blocks[block] = _STEPS[name](view, event)
    return views
