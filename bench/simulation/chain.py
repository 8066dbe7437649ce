"""Simulate which host forges which block, and when each host notices, fetches, announces and adopts it.

Instants are integer nanoseconds since the start of slot 0. If a slot has several leaders, one block wins and reaches
all hosts; the other blocks stay with their forgers, while their headers reach the neighbours of the forgers.
"""

import hashlib
import heapq
from dataclasses import dataclass, field
from random import Random

from simulation.shape import ACTIVE_SLOTS, SLOT_LENGTH, Shape

MS = 1_000_000
# Blocks forged in the last slots would not reach all hosts before the logs end.
QUIET_SLOTS = 10


@dataclass(frozen=True, slots=True)
class Forging:
    """Instants of the forging loop, from the leadership check on."""

    leading: int
    ticked: int
    snapshot: int
    forged: int
    adopted: int


@dataclass(frozen=True, slots=True)
class Fetch:
    """Instants at which a host fetches a block; `length` is the number of blocks in the request."""

    peer: int
    requested: int
    fetched: int
    adopted: int
    length: int


@dataclass(slots=True)
class Block:
    """A block and its propagation; the three mappings have hosts as keys."""

    slot: int
    number: int
    hash: str
    parent: "Block | None"
    size: int
    forger: int
    forging: Forging
    announced: dict[int, int] = field(default_factory=dict)
    headers: dict[int, list[tuple[int, int]]] = field(default_factory=dict)  # (instant, peer)
    fetches: dict[int, Fetch] = field(default_factory=dict)

    def find_adoption(self, host: int) -> int | None:
        """Return the instant at which a host adopts the block, or None."""
        if host == self.forger:
            return self.forging.adopted
        fetch = self.fetches.get(host)
        return fetch.adopted if fetch else None


class Chain:
    """Chain that grows slot by slot; `blocks` has those of the main chain and lost ones, in order of forging."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.random = Random(f"{shape.seed}/chain")
        self.blocks: list[Block] = []
        self.tip: Block | None = None
        # Main chain blocks that a host lacks because its own block of that height lost.
        self.missing = [0] * shape.hosts

    def simulate_slots(self) -> list[Block]:
        """Simulate all slots; return the blocks."""
        probability = 1 - (1 - ACTIVE_SLOTS) ** (1 / self.shape.hosts)
        for slot in range(1, self.shape.slots - QUIET_SLOTS):
            leaders = [host for host in range(self.shape.hosts) if self.random.random() < probability]
            leaders = [host for host in leaders if self.has_tip(host, slot * SLOT_LENGTH)]
            if leaders:
                self.simulate_contest(slot, leaders)
        return self.blocks

    def has_tip(self, host: int, instant: int) -> bool:
        """Return whether a host has adopted the tip; only such hosts forge, so that forks stay short."""
        adopted = self.tip.find_adoption(host) if self.tip else 0
        return adopted is not None and adopted <= instant

    def simulate_contest(self, slot: int, leaders: list[int]) -> None:
        """Let all leaders of a slot forge on the tip, and choose the winner."""
        winner = leaders[int(self.random.random() * len(leaders))]
        blocks = {host: self.forge(slot, host) for host in leaders}
        losers = set(leaders) - {winner}
        self.propagate(blocks[winner], losers)
        for host in sorted(losers):
            self.announce_header(blocks[host], host)
        self.tip = blocks[winner]
        for host in range(self.shape.hosts):
            is_missing = self.tip.find_adoption(host) is None
            self.missing[host] = self.missing[host] + 1 if is_missing else 0

    def forge(self, slot: int, host: int) -> Block:
        """Create a block on the tip that no other host knows yet."""
        name = f"{self.shape.seed}/{slot}/{host}".encode()
        forging = self.schedule_forging(slot)
        block = Block(
            slot=slot,
            number=self.tip.number + 1 if self.tip else 0,
            hash=hashlib.sha256(name).hexdigest(),
            parent=self.tip,
            size=2950 + int(self.random.random() * 80),
            forger=host,
            forging=forging,
            announced={host: forging.forged + self.sample_span(0.4, 0.9)},
        )
        self.blocks.append(block)
        return block

    def schedule_forging(self, slot: int) -> Forging:
        """Choose the instants of a forging loop."""
        leading = slot * SLOT_LENGTH + self.sample_span(1.3, 2.4)
        ticked = leading + self.sample_span(14, 32)
        snapshot = ticked + self.sample_span(0.9, 1.8)
        forged = snapshot + self.sample_span(0.7, 1.5)
        return Forging(leading, ticked, snapshot, forged, forged + self.sample_span(20, 52))

    def sample_span(self, least: float, greatest: float) -> int:
        """Sample a duration in nanoseconds between two bounds in milliseconds; short ones are more likely."""
        u = self.random.random()
        return int((least + (greatest - least) * u * (0.6 + 0.4 * u)) * MS)

    def propagate(self, block: Block, losers: set[int]) -> None:
        """Propagate a block to every host by the fastest path; losers receive only headers."""
        queue = [(block.announced[block.forger], block.forger)]
        visited: set[int] = set()
        while queue:
            instant, sender = heapq.heappop(queue)
            if sender in visited or instant != block.announced[sender]:
                continue
            visited.add(sender)
            for host in self.shape.list_neighbours(sender):
                noticed = self.send_header(block, sender, host)
                if host not in visited and host not in losers:
                    self.fetch(block, sender, host, noticed)
                    heapq.heappush(queue, (block.announced[host], host))

    def send_header(self, block: Block, sender: int, host: int) -> int:
        """Send the header to a neighbour; return the instant of arrival."""
        noticed = block.announced[sender] + self.sample_span(9, 65)
        block.headers.setdefault(host, []).append((noticed, sender))
        return noticed

    def fetch(self, block: Block, sender: int, host: int, noticed: int) -> None:
        """Fetch the block from the peer whose header arrived first."""
        if noticed > min(block.headers[host])[0]:
            return
        requested = noticed + self.sample_span(0.7, 1.6)
        fetched = requested + self.sample_span(18, 60)
        adopted = fetched + self.sample_span(26, 85)
        block.fetches[host] = Fetch(sender, requested, fetched, adopted, self.missing[host] + 1)
        block.announced[host] = fetched + self.sample_span(0.4, 0.9)

    def announce_header(self, block: Block, forger: int) -> None:
        """Send the header of a lost block to the neighbours of its forger."""
        for host in self.shape.list_neighbours(forger):
            self.send_header(block, forger, host)
