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
    coarse: bool


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
        coarse=rng.random() < 0.4,
    )


class Simulation:
    """Runs the slots of a shape and collects every host's lines, unsorted."""

    def __init__(self, rng: Random, shape: Shape) -> None:
        self.rng = rng
        self.shape = shape
        self.hosts = [HostState() for _ in shape.hosts]
        self.leaves: list[Block] = []  # rivals that the next block can be forged on
        self.blocks: list[Block] = []

    def start_of(self, slot: int) -> int:
        return self.shape.system_start + slot * self.shape.slot_length

    def delay(self, least: float, greatest: float) -> int:
        """Return a duration within the given shares of a slot, on a coarse grid where ties are needed."""
        x = int(self.rng.uniform(least, greatest) * self.shape.slot_length)
        return x // MILLISECOND * MILLISECOND if self.shape.coarse else x

    def log(self, host: int, at: int, event: str, data: dict[str, Any], *, fixed: bool = False) -> None:
        slot = data.get("slot", data.get("current slot"))
        named = event not in ("header", "ledger_metrics", "adopted_own")
        self.hosts[host].lines.append(Line(at, event, data, fixed, slot if named else None))

    def forgers(self, slot: int) -> list[int]:
        """Return the hosts that forge in a slot; the last slots ensure three blocks."""
        shape = self.shape
        wanted = 3 - len(self.blocks) >= shape.first_slot + shape.slots - slot
        if not wanted and self.rng.random() >= shape.forging:
            return []
        rivals = 2 if self.rng.random() < shape.battle else 1
        return self.rng.sample(range(len(shape.hosts)), min(rivals, len(shape.hosts)))

    def forge(self, slot: int, host: int, parent: Block | None, at: int) -> Block:
        size = self.rng.choice([2_990, 3_000, 3_010, self.rng.randrange(500, self.shape.max_block_body_size)])
        number = parent.block_no + 1 if parent else 0
        previous = parent.block if parent else "GenesisHash"
        return Block(f"{self.rng.getrandbits(256):064x}", number, previous, slot, host, size, at)

    def run(self) -> None:
        first = self.shape.first_slot
        for slot in range(first, first + self.shape.slots):
            forgers = self.forgers(slot)
            parents = {host: self.rng.choice(self.leaves) if self.leaves else None for host in forgers}
            forged: list[Block] = []
            for host in range(len(self.hosts)):
                block = self.leadership_loop(slot, host, host in forgers, parents.get(host))
                if block is not None:
                    forged.append(block)
            for block in forged:
                self.propagate(block)
            for host in range(len(self.hosts)):
                self.background(slot, host)
            self._remember(forged)

    def _remember(self, forged: Sequence[Block]) -> None:
        self.blocks += forged
        if forged:
            best = max(block.block_no for block in [*self.leaves, *forged])
            self.leaves = [block for block in [*self.leaves, *forged] if block.block_no >= best - 1][-3:]

    def leadership_loop(self, slot: int, host: int, leader: bool, parent: Block | None) -> Block | None:
        """Run one host's loop in one slot; a leader's started, leading and forged lines are fixed."""
        at = self.start_of(slot) + self.delay(0.0, 0.05)
        density = round(self.rng.random(), 4)
        plus: dict[str, Any] = {"utxoSize": self.rng.choice([0, 4_000_000]), "chainDensity": density}
        started = {"slot": slot, **(plus if self.rng.random() < 0.2 else {})}
        self.log(host, at, "check_started", started, fixed=leader)
        tip = self.hosts[host].tip + 1
        slot_shown = tip if self.rng.random() < 0.95 else self.rng.randrange(0, tip + 2)
        at += self.delay(0.0, 0.01)
        self.log(host, at, "block_context", {"current slot": slot, "tipBlockNo": slot_shown})
        for event in ("ledger_state", "ledger_view"):
            at += self.delay(0.0, 0.01)
            self.log(host, at, event, {"slot": slot})
        at += self.delay(0.0, 0.01)
        self.log(host, at, "leader" if leader else "not_leader", {"slot": slot}, fixed=leader)
        return self.forging_steps(slot, host, parent, at) if leader else None

    def forging_steps(self, slot: int, host: int, parent: Block | None, at: int) -> Block:
        for event in ("ticked", "snapshot"):
            at += self.delay(0.0, 0.02)
            self.log(host, at, event, {"slot": slot})
        at += self.delay(0.0, 0.02)
        block = self.forge(slot, host, parent, at)
        number: Any = {"unBlockNo": block.block_no} if self.rng.random() < 0.1 else block.block_no
        self.log(
            host,
            at,
            "forged",
            {"slot": slot, "blockNo": number, "block": block.block, "blockPrev": block.previous},
            fixed=True,
        )
        return block

    def propagate(self, block: Block) -> None:
        """Log a block on its forger and peers."""
        self.forger_sequel(block)
        for host in range(len(self.hosts)):
            if host != block.forger:
                self.observe(host, block)

    def forger_sequel(self, block: Block) -> None:
        host, rng = block.forger, self.rng
        adopted = block.forged + self.delay(0.0, 0.05)
        self.log(host, adopted, "adopted_own", {"blockHash": block.block, "blockSize": block.size}, fixed=True)
        if rng.random() < 0.3:
            delta = rng.choice([1, 1, 1, 2])
            self.adopt(host, block, block.forged + self.delay(0.0, 0.05), delta)
        self.announce(host, block, block.forged + self.delay(0.0, 0.05))
        if rng.random() < 0.8:
            self.log(host, block.forged + self.delay(0.0, 0.1), "sent", {"block": block.block})
        if rng.random() < 0.2:  # its own header comes back to it
            self.header(host, block, block.forged + self.delay(0.05, 0.3), fixed=True)
        self.hosts[host].tip = max(self.hosts[host].tip, block.block_no)

    def header(self, host: int, block: Block, at: int, *, fixed: bool = False) -> None:
        data = {"slot": block.slot, "blockNo": block.block_no, "block": block.block}
        self.log(host, at, "header", data, fixed=fixed)

    def announce(self, host: int, block: Block, at: int) -> None:
        key, edge = (
            self.rng.choice(["addBlock", "addBlock", "block"]),
            self.rng.choice([True, True, None, False]),
        )
        data: dict[str, Any] = {key: f"{block.block}@{block.slot}", "blockingRead": True}
        if edge is not None:
            data["risingEdge"] = edge
        self.log(host, at, "announced", data)

    def adopt(self, host: int, block: Block, at: int, delta: int) -> None:
        data: dict[str, Any] = {"newtip": f"{block.block}@{block.slot}"}
        if delta != 1 or self.rng.random() < 0.5:
            data["chainLengthDelta"] = delta
        self.log(host, at, "adopted", data)

    def observe(self, host: int, block: Block) -> None:
        """Log a peer's events of a block; some are late, duplicated, or of several blocks."""
        rng = self.rng
        at = block.forged + self.delay(-0.02 if rng.random() < 0.03 else 0.02, 0.3)
        self.header(host, block, at)
        for _ in range(rng.choice([0, 0, 1, 2])):
            self.header(host, block, at + self.delay(0.0, 0.1))
        if rng.random() < 0.05:
            return
        at += self.delay(0.0, 0.05)
        self.log(host, at, "requested", {"head": block.block, "length": rng.choice([1, 1, 1, 1, 1, 1, 2])})
        at += self.delay(0.0, 0.1)
        self.log(host, at, "fetched", {"block": block.block})
        self.announce(host, block, at + self.delay(0.0, 0.05))
        if rng.random() < 0.5:
            self.log(host, at + self.delay(0.0, 0.1), "sent", {"block": block.block})
        if rng.random() < 0.95:
            self.adopt(host, block, at + self.delay(0.0, 0.1), rng.choice([1, 1, 1, 1, 1, 1, 2, 0]))
            self.hosts[host].tip = max(self.hosts[host].tip, block.block_no)

    def background(self, slot: int, host: int) -> None:
        """Log resources, ledger metrics and traffic of one host in one slot."""
        rng = self.rng
        start = self.start_of(slot)
        if rng.random() >= self.shape.no_resources:
            self.resources(host, start + self.delay(0.4, 0.6))
        if rng.random() < 0.7:
            data = {"slot": slot, "utxoSize": 4_000_000 + slot, "chainDensity": round(rng.random() / 10, 5)}
            self.log(host, start + self.delay(0.0, 0.9), "ledger_metrics", data)
        if rng.random() < 0.3:
            self.log(host, start + self.delay(0.0, 0.9), "added_tx", {"mempoolSize": {"numTxs": 3, "bytes": 9}})
        if rng.random() < 0.1:
            self.log(host, start + self.delay(0.0, 0.9), rng.choice(["noise", "rejected_tx"]), {})

    def resources(self, host: int, at: int) -> None:
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
            most = steps.get(name, 1 << 28)
            least = most * 3 // 4 if busy and name in ("CentiCpu", "CentiMut") else 0
            counters[name] = counters.get(name, 0) + rng.randint(least, most)
        gauges = {name: rng.randrange(1 << 34) for name in GAUGES} | {"Threads": rng.randint(5, 12)}
        data: dict[str, Any] = {**counters, **gauges}
        if rng.random() < 0.1:
            for name in ("Heap", "NetRd", "NetWr", "FsRd", "FsWr"):
                del data[name]
        self.log(host, at, "resources", data)
