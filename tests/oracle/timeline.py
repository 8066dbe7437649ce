"""Build a host's slot timeline (section 6)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tests.oracle.model import Event, Genesis, HostLog, RefusalError
from tests.oracle.resources import ResourceMeter
from tests.oracle.slots import compute_epoch, compute_safe_interval, compute_slot, compute_slot_start

LARGEST_GAP = 999


@dataclass(slots=True)
class Slot:
    """One slot on one host; instants in ns, the last of each kind; `resources` is None before a reading."""

    slot: int
    epoch: int = 0
    epoch_slot: int = 0
    safe_interval: int = 0
    starts: int = 0
    leaderships: int = 0
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

    def _build_refusal(self, event: Event, slot: int, reason: str) -> RefusalError:
        return RefusalError(f"{self.host}: slot {slot} of {event.name} at {event.instant} ns: {reason}")

    def _create_slot(self, slot: int) -> Slot:
        epoch, epoch_slot = compute_epoch(self.genesis, slot)
        return Slot(
            slot=slot,
            epoch=epoch,
            epoch_slot=epoch_slot,
            safe_interval=compute_safe_interval(self.genesis, epoch_slot),
            block_gap=slot - self.last_block_slot,
            resources=self.meter.get_carried_values(),
        )

    def _extend(self, event: Event, slot: int) -> None:
        """Extend to a slot; skipped slots keep density and UTxO size of the slot before the gap."""
        previous = self.slots[-1]
        if slot - previous.slot - 1 > LARGEST_GAP:
            raise self._build_refusal(event, slot, f"a gap of {slot - previous.slot - 1} slots after {previous.slot}")
        for number in range(previous.slot + 1, slot + 1):
            new_slot = self._create_slot(number)
            if number < slot:
                new_slot.density, new_slot.utxo_size = previous.density, previous.utxo_size
            self.slots.append(new_slot)

    def _find_slot(self, event: Event, slot: int) -> Slot:
        if not self.slots[0].slot <= slot <= self.slots[-1].slot:
            raise self._build_refusal(event, slot, f"outside {self.slots[0].slot} to {self.slots[-1].slot}")
        return self.slots[slot - self.slots[0].slot]

    def handle_resources(self, event: Event) -> None:
        slot = compute_slot(self.genesis, event.instant)
        self._extend(event, slot)
        self._find_slot(event, slot).resources = self.meter.update(event)

    def handle_check_started(self, event: Event) -> None:
        self._extend(event, event.data["slot"])
        slot = self._find_slot(event, event.data["slot"])
        slot.starts += 1
        slot.started = event.instant
        if event.data["utxo_size"] > 0:
            slot.utxo_size = event.data["utxo_size"]
        if event.data["chain_density"] > 0:
            slot.density = event.data["chain_density"]

    def handle_block_context(self, event: Event) -> None:
        slot, latest = self._find_slot(event, event.data["slot"]), self.slots[-1]
        slot.block_context = event.instant
        if event.data["block_no"] == self.block_no:
            slot.block_gap = latest.block_gap
        else:
            slot.block_gap = 0
            self.block_no, self.last_block_slot = event.data["block_no"], latest.slot

    def handle_ledger_state(self, event: Event) -> None:
        self._find_slot(event, event.data["slot"]).ledger_state = event.instant

    def handle_ledger_view(self, event: Event) -> None:
        self._find_slot(event, event.data["slot"]).ledger_view = event.instant

    def handle_decision(self, event: Event) -> None:
        slot = self._find_slot(event, event.data["slot"])
        slot.leading = event.instant
        slot.leaderships += event.data["leader"]

    def handle_slot_mention(self, event: Event) -> None:
        """Handle events that only must name a slot of the timeline."""
        self._find_slot(event, event.data["slot"])

    def handle_ledger_metrics(self, event: Event) -> None:
        latest = self.slots[-1]
        latest.density, latest.utxo_size = event.data["chain_density"], event.data["utxo_size"]


_STEPS: Mapping[str, Callable[[Timeline, Event], None]] = {
    "resources": Timeline.handle_resources,
    "leadership_check_started": Timeline.handle_check_started,
    "block_context": Timeline.handle_block_context,
    "ledger_state": Timeline.handle_ledger_state,
    "ledger_view": Timeline.handle_ledger_view,
    "leadership_decided": Timeline.handle_decision,
    "ledger_ticked": Timeline.handle_slot_mention,
    "mempool_snapshot": Timeline.handle_slot_mention,
    "block_forged": Timeline.handle_slot_mention,
    "ledger_metrics": Timeline.handle_ledger_metrics,
}


def build_timeline(genesis: Genesis, log: HostLog) -> list[Slot]:
    """Return a host's consecutive slots. Raise Refused for too large a gap or a slot outside."""
    opening = compute_slot(genesis, max(log.events[0].instant, genesis.system_start))
    timeline = Timeline(genesis, log.host, opening)
    for event in log.events:
        step = _STEPS.get(event.name)
        if step is not None and event.instant >= genesis.system_start:
            step(timeline, event)
    return timeline.slots


def compute_start_delay(genesis: Genesis, slot: Slot) -> int | None:
    """Return ns from the slot's start to its last leadership check."""
    return None if slot.started is None else slot.started - compute_slot_start(genesis, slot.slot)
