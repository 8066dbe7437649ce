"""Simulate a small cluster: forging slots, parents, and every host's log lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from tests.oracle.instants import SECOND
from tests.oracle.lines import Line
from tests.oracle.recognise import COUNTERS, GAUGES

MILLISECOND = SECOND // 1000


@dataclass(frozen=True, slots=True)
class Shape:
    """Parameters of a random run; probabilities are per event, block or slot."""

    hosts: tuple[str, ...]
    system_start: int
    slot_length: int
    first_slot: int
    slots: int
    epoch_length: int
    max_block_body_size: int
    forging: float
    battle: float
    loss: float
    doubling: float
    disorder: float
    no_resources: float
    is_coarse: bool


@dataclass(slots=True)
class Block:
    """A forged block."""

    block: str
    block_no: int
    previous: str
    slot: int
    forger: int
    size: int
    forged: int


@dataclass(slots=True)
class HostState:
    """A simulated host: its lines, counters and current block number."""

    lines: list[Line] = field(default_factory=list)
    counters: dict[str, int] = field(default_factory=dict)
    tip: int = -1


def draw_shape(rng: Random, hosts: tuple[int, int], slots: tuple[int, int]) -> Shape:
    """Draw a random shape with bounded numbers of hosts and slots."""
    numbers = sorted(rng.sample(range(12), rng.randint(*hosts)))
    return Shape(
        hosts=tuple(f"node-{number}" for number in numbers),
        system_start=1_770_317_536 * SECOND + rng.choice([0, 0, 250 * MILLISECOND]),
        slot_length=rng.choice([SECOND, SECOND, SECOND, 2 * SECOND, SECOND // 5]),
        first_slot=rng.choice([0, 0, 1, rng.randrange(60)]),
        slots=rng.randint(*slots),
        epoch_length=rng.choice([5, 10, 20, 60, 600]),
        max_block_body_size=rng.choice([10_000, 90_112]),
        forging=rng.uniform(0.1, 0.4),
        battle=rng.choice([0.0, 0.1, 0.4]),
        loss=rng.choice([0.0, 0.02, 0.15]),
        doubling=rng.choice([0.0, 0.02, 0.1]),
        disorder=rng.choice([0.0, 0.02, 0.1]),
        no_resources=rng.choice([0.0, 0.1, 0.5]),
        is_coarse=rng.random() < 0.4,
    )


class Simulation:
    """Runs the slots of a shape and collects every host's lines, unsorted."""

    def __init__(self, rng: Random, shape: Shape) -> None:
        self.rng = rng
        self.shape = shape
        self.hosts = [HostState() for _ in shape.hosts]
        self.leaves: list[Block] = []  # rivals that the next block can be forged on
        self.blocks: list[Block] = []

    def get_slot_start(self, slot: int) -> int:
        return self.shape.system_start + slot * self.shape.slot_length

    def draw_delay(self, least: float, greatest: float) -> int:
        """Return a duration within the given shares of a slot, on a coarse grid where ties are needed."""
        x = int(self.rng.uniform(least, greatest) * self.shape.slot_length)
        return x // MILLISECOND * MILLISECOND if self.shape.is_coarse else x

    def log(self, host: int, instant: int, event: str, data: dict[str, Any], *, fixed: bool = False) -> None:
        slot = data.get("slot", data.get("current slot"))
        has_slot = event not in ("header", "ledger_metrics", "adopted_own")
        self.hosts[host].lines.append(Line(instant, event, data, fixed, slot if has_slot else None))

    def draw_forgers(self, slot: int) -> list[int]:
        """Return the hosts that forge in a slot; the last slots ensure three blocks."""
        shape = self.shape
        is_required = 3 - len(self.blocks) >= shape.first_slot + shape.slots - slot
        if not is_required and self.rng.random() >= shape.forging:
            return []
        rivals = 2 if self.rng.random() < shape.battle else 1
        return self.rng.sample(range(len(shape.hosts)), min(rivals, len(shape.hosts)))

    def forge_block(self, slot: int, host: int, parent: Block | None, instant: int) -> Block:
        size = self.rng.choice([2_990, 3_000, 3_010, self.rng.randrange(500, self.shape.max_block_body_size)])
        number = parent.block_no + 1 if parent else 0
        previous = parent.block if parent else "GenesisHash"
        return Block(f"{self.rng.getrandbits(256):064x}", number, previous, slot, host, size, instant)

    def run(self) -> None:
        first = self.shape.first_slot
        for slot in range(first, first + self.shape.slots):
            forgers = self.draw_forgers(slot)
            parents = {host: self.rng.choice(self.leaves) if self.leaves else None for host in forgers}
            forged: list[Block] = []
            for host in range(len(self.hosts)):
                block = self.run_leadership_loop(slot, host, host in forgers, parents.get(host))
                if block is not None:
                    forged.append(block)
            for block in forged:
                self.propagate(block)
            for host in range(len(self.hosts)):
                self.log_background(slot, host)
            self._add_blocks(forged)

    def _add_blocks(self, forged: Sequence[Block]) -> None:
        self.blocks += forged
        if forged:
            best = max(block.block_no for block in [*self.leaves, *forged])
            self.leaves = [block for block in [*self.leaves, *forged] if block.block_no >= best - 1][-3:]

    def run_leadership_loop(self, slot: int, host: int, is_leader: bool, parent: Block | None) -> Block | None:
        """Run one host's loop in one slot; a leader's started, leading and forged lines are fixed."""
        instant = self.get_slot_start(slot) + self.draw_delay(0.0, 0.05)
        density = round(self.rng.random(), 4)
        optional_fields: dict[str, Any] = {"utxoSize": self.rng.choice([0, 4_000_000]), "chainDensity": density}
        fields = {"slot": slot, **(optional_fields if self.rng.random() < 0.2 else {})}
        self.log(host, instant, "check_started", fields, fixed=is_leader)
        tip = self.hosts[host].tip + 1
        tip_number = tip if self.rng.random() < 0.95 else self.rng.randrange(0, tip + 2)
        instant += self.draw_delay(0.0, 0.01)
        self.log(host, instant, "block_context", {"current slot": slot, "tipBlockNo": tip_number})
        for event in ("ledger_state", "ledger_view"):
            instant += self.draw_delay(0.0, 0.01)
            self.log(host, instant, event, {"slot": slot})
        instant += self.draw_delay(0.0, 0.01)
        self.log(host, instant, "leader" if is_leader else "not_leader", {"slot": slot}, fixed=is_leader)
        return self.run_forging_steps(slot, host, parent, instant) if is_leader else None

    def run_forging_steps(self, slot: int, host: int, parent: Block | None, instant: int) -> Block:
        for event in ("ticked", "snapshot"):
            instant += self.draw_delay(0.0, 0.02)
            self.log(host, instant, event, {"slot": slot})
        instant += self.draw_delay(0.0, 0.02)
        block = self.forge_block(slot, host, parent, instant)
        number: Any = {"unBlockNo": block.block_no} if self.rng.random() < 0.1 else block.block_no
        self.log(
            host,
            instant,
            "forged",
            {"slot": slot, "blockNo": number, "block": block.block, "blockPrev": block.previous},
            fixed=True,
        )
        return block

    def propagate(self, block: Block) -> None:
        """Log a block on its forger and peers."""
        self.log_forger_events(block)
        for host in range(len(self.hosts)):
            if host != block.forger:
                self.observe(host, block)

    def log_forger_events(self, block: Block) -> None:
        host, rng = block.forger, self.rng
        adopted = block.forged + self.draw_delay(0.0, 0.05)
        self.log(host, adopted, "adopted_own", {"blockHash": block.block, "blockSize": block.size}, fixed=True)
        if rng.random() < 0.3:
            delta = rng.choice([1, 1, 1, 2])
            self.adopt(host, block, block.forged + self.draw_delay(0.0, 0.05), delta)
        self.announce(host, block, block.forged + self.draw_delay(0.0, 0.05))
        if rng.random() < 0.8:
            self.log(host, block.forged + self.draw_delay(0.0, 0.1), "sent", {"block": block.block})
        if rng.random() < 0.2:  # its own header comes back to it
            self.log_header(host, block, block.forged + self.draw_delay(0.05, 0.3), fixed=True)
        self.hosts[host].tip = max(self.hosts[host].tip, block.block_no)

    def log_header(self, host: int, block: Block, instant: int, *, fixed: bool = False) -> None:
        data = {"slot": block.slot, "blockNo": block.block_no, "block": block.block}
        self.log(host, instant, "header", data, fixed=fixed)

    def announce(self, host: int, block: Block, instant: int) -> None:
        key, edge = (
            self.rng.choice(["addBlock", "addBlock", "block"]),
            self.rng.choice([True, True, None, False]),
        )
        data: dict[str, Any] = {key: f"{block.block}@{block.slot}", "blockingRead": True}
        if edge is not None:
            data["risingEdge"] = edge
        self.log(host, instant, "announced", data)

    def adopt(self, host: int, block: Block, instant: int, delta: int) -> None:
        data: dict[str, Any] = {"newtip": f"{block.block}@{block.slot}"}
        if delta != 1 or self.rng.random() < 0.5:
            data["chainLengthDelta"] = delta
        self.log(host, instant, "adopted", data)

    def observe(self, host: int, block: Block) -> None:
        """Log a peer's events of a block; some are late, duplicated, or of several blocks."""
        rng = self.rng
        instant = block.forged + self.draw_delay(-0.02 if rng.random() < 0.03 else 0.02, 0.3)
        self.log_header(host, block, instant)
        for _ in range(rng.choice([0, 0, 1, 2])):
            self.log_header(host, block, instant + self.draw_delay(0.0, 0.1))
        if rng.random() < 0.05:
            return
        instant += self.draw_delay(0.0, 0.05)
        self.log(host, instant, "requested", {"head": block.block, "length": rng.choice([1, 1, 1, 1, 1, 1, 2])})
        instant += self.draw_delay(0.0, 0.1)
        self.log(host, instant, "fetched", {"block": block.block})
        self.announce(host, block, instant + self.draw_delay(0.0, 0.05))
        if rng.random() < 0.5:
            self.log(host, instant + self.draw_delay(0.0, 0.1), "sent", {"block": block.block})
        if rng.random() < 0.95:
            self.adopt(host, block, instant + self.draw_delay(0.0, 0.1), rng.choice([1, 1, 1, 1, 1, 1, 2, 0]))
            self.hosts[host].tip = max(self.hosts[host].tip, block.block_no)

    def log_background(self, slot: int, host: int) -> None:
        """Log resources, ledger metrics and traffic of one host in one slot."""
        rng = self.rng
        start = self.get_slot_start(slot)
        if rng.random() >= self.shape.no_resources:
            self.log_resources(host, start + self.draw_delay(0.4, 0.6))
        if rng.random() < 0.7:
            data = {"slot": slot, "utxoSize": 4_000_000 + slot, "chainDensity": round(rng.random() / 10, 5)}
            self.log(host, start + self.draw_delay(0.0, 0.9), "ledger_metrics", data)
        if rng.random() < 0.3:
            self.log(host, start + self.draw_delay(0.0, 0.9), "added_tx", {"mempoolSize": {"numTxs": 3, "bytes": 9}})
        if rng.random() < 0.1:
            self.log(host, start + self.draw_delay(0.0, 0.9), rng.choice(["noise", "rejected_tx"]), {})

    def log_resources(self, host: int, instant: int) -> None:
        """Return a reading; counters grow, and sometimes restart near 0."""
        rng, counters = self.rng, self.hosts[host].counters
        if rng.random() < 0.02:
            counters.clear()
        steps = {
            "CentiCpu": 120,
            "CentiGC": 20,
            "CentiMut": 100,
            "CentiBlkIO": 2,
            "GcsMajor": 2,
            "GcsMinor": 30,
        }
        busy = rng.random() < 0.4
        for name in COUNTERS:
            greatest = steps.get(name, 1 << 28)
            least = greatest * 3 // 4 if busy and name in ("CentiCpu", "CentiMut") else 0
            counters[name] = counters.get(name, 0) + rng.randint(least, greatest)
        gauges = {name: rng.randrange(1 << 34) for name in GAUGES} | {"Threads": rng.randint(5, 12)}
        data: dict[str, Any] = {**counters, **gauges}
        if rng.random() < 0.1:
            for name in ("Heap", "NetRd", "NetWr", "FsRd", "FsWr"):
                del data[name]
        self.log(host, instant, "resources", data)
