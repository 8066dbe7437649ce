"""Build a host's slot timeline (section 6)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tests.oracle.model import Event, Genesis, HostLog, Refused
from tests.oracle.resources import ResourceMeter
from tests.oracle.slots import epoch_of, implied_slot, safe_interval, slot_start

LARGEST_GAP = 999


@dataclass(slots=True)
class Slot:
    """One slot on one host; instants in ns, the last of each kind; `resources` is None before a reading."""

    slot: int
    epoch: int = 0
    epoch_slot: int = 0
    safe_interval: int = 0
    starts: int = 0
    leads: int = 0
    started: int | None = None
    block_context: int | None = None
    ledger_state: int | None = None
    ledger_view: int | None = None
    leading: int | None = None
    density: float = 0.0
    utxo_size: int = 0
    block_gap: int = 0
    resources: Mapping[str, int] | None = None


class Timeline:
    """A fold over one host's events; `slots` are consecutive from the opening slot on."""

    def __init__(self, genesis: Genesis, host: str, opening: int) -> None:
        self.genesis = genesis
        self.host = host
        self.slots = [Slot(opening)]
        self.meter = ResourceMeter()
        self.block_no = 0
        self.last_block_slot = 0

    def _refuse(self, event: Event, slot: int, why: str) -> Refused:
        return Refused(f"{self.host}: slot {slot} of {event.name} at {event.at} ns: {why}")

    def _new(self, slot: int) -> Slot:
        epoch, epoch_slot = epoch_of(self.genesis, slot)
        return Slot(
            slot=slot,
            epoch=epoch,
            epoch_slot=epoch_slot,
            safe_interval=safe_interval(self.genesis, epoch_slot),
            block_gap=slot - self.last_block_slot,
            resources=self.meter.carried(),
        )

    def _extend(self, event: Event, slot: int) -> None:
        """Extend to a slot; skipped slots keep density and UTxO size of the slot before the gap."""
        before = self.slots[-1]
        if slot - before.slot - 1 > LARGEST_GAP:
            raise self._refuse(event, slot, f"a gap of {slot - before.slot - 1} slots after {before.slot}")
        for reached in range(before.slot + 1, slot + 1):
            created = self._new(reached)
            if reached < slot:
                created.density, created.utxo_size = before.density, before.utxo_size
            self.slots.append(created)

    def _at(self, event: Event, slot: int) -> Slot:
        if not self.slots[0].slot <= slot <= self.slots[-1].slot:
            raise self._refuse(event, slot, f"outside {self.slots[0].slot} to {self.slots[-1].slot}")
        return self.slots[slot - self.slots[0].slot]

    def on_resources(self, event: Event) -> None:
        slot = implied_slot(self.genesis, event.at)
        self._extend(event, slot)
        self._at(event, slot).resources = self.meter.update(event)

    def on_check_started(self, event: Event) -> None:
        self._extend(event, event.data["slot"])
        slot = self._at(event, event.data["slot"])
        slot.starts += 1
        slot.started = event.at
        if event.data["utxo_size"] > 0:
            slot.utxo_size = event.data["utxo_size"]
        if event.data["chain_density"] > 0:
            slot.density = event.data["chain_density"]

    def on_block_context(self, event: Event) -> None:
        slot, latest = self._at(event, event.data["slot"]), self.slots[-1]
        slot.block_context = event.at
        if event.data["block_no"] == self.block_no:
            slot.block_gap = latest.block_gap
        else:
            slot.block_gap = 0
            self.block_no, self.last_block_slot = event.data["block_no"], latest.slot

    def on_ledger_state(self, event: Event) -> None:
        self._at(event, event.data["slot"]).ledger_state = event.at

    def on_ledger_view(self, event: Event) -> None:
        self._at(event, event.data["slot"]).ledger_view = event.at

    def on_decided(self, event: Event) -> None:
        slot = self._at(event, event.data["slot"])
        slot.leading = event.at
        slot.leads += event.data["leader"]

    def on_named(self, event: Event) -> None:
        """Handle events that only must name a slot of the timeline."""
        self._at(event, event.data["slot"])

    def on_ledger_metrics(self, event: Event) -> None:
        latest = self.slots[-1]
        latest.density, latest.utxo_size = event.data["chain_density"], event.data["utxo_size"]


_STEPS: Mapping[str, Callable[[Timeline, Event], None]] = {
    "resources": Timeline.on_resources,
    "leadership_check_started": Timeline.on_check_started,
    "block_context": Timeline.on_block_context,
    "ledger_state": Timeline.on_ledger_state,
    "ledger_view": Timeline.on_ledger_view,
    "leadership_decided": Timeline.on_decided,
    "ledger_ticked": Timeline.on_named,
    "mempool_snapshot": Timeline.on_named,
    "block_forged": Timeline.on_named,
    "ledger_metrics": Timeline.on_ledger_metrics,
}


def slot_timeline(genesis: Genesis, log: HostLog) -> list[Slot]:
    """Return a host's consecutive slots. Raise Refused for too large a gap or a slot outside."""
    opening = implied_slot(genesis, max(log.events[0].at, genesis.system_start))
    timeline = Timeline(genesis, log.host, opening)
    for event in log.events:
        step = _STEPS.get(event.name)
        if step is not None and event.at >= genesis.system_start:
            step(timeline, event)
    return timeline.slots


def started_after(genesis: Genesis, slot: Slot) -> int | None:
    """Return ns from the slot's start to its last leadership check."""
    return None if slot.started is None else slot.started - slot_start(genesis, slot.slot)
