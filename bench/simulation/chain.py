"""Who forges which block, and when each host notices, fetches, announces and adopts it.

Instants are integer nanoseconds since the start of slot 0. A block is either on the main chain, and travels
to every host, or lost a battle: of several leaders of one slot one wins; the blocks of the others stay with
their forgers, while their headers reach the forgers' neighbours.
"""

import hashlib
import heapq
from dataclasses import dataclass, field
from random import Random

from simulation.shape import ACTIVE_SLOTS, SLOT_LENGTH, Shape

MS = 1_000_000
# Blocks forged in the last slots would still be travelling when the logs end.
QUIET_END = 10


@dataclass(frozen=True, slots=True)
class Forging:
    """The forger's loop, from the leadership check on."""

    leading: int
    ticked: int
    snapshot: int
    forged: int
    adopted: int


@dataclass(frozen=True, slots=True)
class Fetch:
    """How a host that did not forge a block got it; `length` is how many blocks it asked for at once."""

    peer: int
    requested: int
    fetched: int
    adopted: int
    length: int


@dataclass(slots=True)
class Block:
    """A block and its travels; the three mappings go by host."""

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

    def adopted_by(self, host: int) -> int | None:
        """When a host adopted the block; None when it never did."""
        if host == self.forger:
            return self.forging.adopted
        fetch = self.fetches.get(host)
        return fetch.adopted if fetch else None


class Chain:
    """Grows slot by slot; `blocks` holds main chain and lost blocks, in order of forging."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.random = Random(f"{shape.seed}/chain")
        self.blocks: list[Block] = []
        self.tip: Block | None = None
        # How many main chain blocks a host lacks, because it holds a lost one of that height.
        self.behind = [0] * shape.hosts

    def grow(self) -> list[Block]:
        """Plays all slots and returns the blocks."""
        chance = 1 - (1 - ACTIVE_SLOTS) ** (1 / self.shape.hosts)
        for slot in range(1, self.shape.slots - QUIET_END):
            leaders = [host for host in range(self.shape.hosts) if self.random.random() < chance]
            leaders = [host for host in leaders if self.has_tip(host, slot * SLOT_LENGTH)]
            if leaders:
                self.contest(slot, leaders)
        return self.blocks

    def has_tip(self, host: int, instant: int) -> bool:
        """Whether a host has adopted the tip by an instant. Only then does it forge, so forks stay short."""
        adopted = self.tip.adopted_by(host) if self.tip else 0
        return adopted is not None and adopted <= instant

    def contest(self, slot: int, leaders: list[int]) -> None:
        """All leaders of a slot forge on the tip; one of them wins."""
        winner = leaders[int(self.random.random() * len(leaders))]
        blocks = {host: self.forge(slot, host) for host in leaders}
        losers = set(leaders) - {winner}
        self.spread(blocks[winner], losers)
        for host in sorted(losers):
            self.show_header(blocks[host], host)
        self.tip = blocks[winner]
        for host in range(self.shape.hosts):
            lacks = self.tip.adopted_by(host) is None
            self.behind[host] = self.behind[host] + 1 if lacks else 0

    def forge(self, slot: int, host: int) -> Block:
        """A new block on top of the tip, not yet known to any other host."""
        name = f"{self.shape.seed}/{slot}/{host}".encode()
        forging = self.forging(slot)
        block = Block(
            slot=slot,
            number=self.tip.number + 1 if self.tip else 0,
            hash=hashlib.sha256(name).hexdigest(),
            parent=self.tip,
            size=2950 + int(self.random.random() * 80),
            forger=host,
            forging=forging,
            announced={host: forging.forged + self.span(0.4, 0.9)},
        )
        self.blocks.append(block)
        return block

    def forging(self, slot: int) -> Forging:
        """The instants of a forger's loop."""
        leading = slot * SLOT_LENGTH + self.span(1.3, 2.4)
        ticked = leading + self.span(14, 32)
        snapshot = ticked + self.span(0.9, 1.8)
        forged = snapshot + self.span(0.7, 1.5)
        return Forging(leading, ticked, snapshot, forged, forged + self.span(20, 52))

    def span(self, least: float, most: float) -> int:
        """A random duration between two numbers of milliseconds, in nanoseconds; short ones are likelier."""
        u = self.random.random()
        return int((least + (most - least) * u * (0.6 + 0.4 * u)) * MS)

    def spread(self, block: Block, losers: set[int]) -> None:
        """The block reaches every host by its fastest path; losers see its headers, but fetch nothing."""
        waiting = [(block.announced[block.forger], block.forger)]
        done: set[int] = set()
        while waiting:
            instant, sender = heapq.heappop(waiting)
            if sender in done or instant != block.announced[sender]:
                continue
            done.add(sender)
            for host in self.shape.neighbours(sender):
                noticed = self.notice(block, sender, host)
                if host not in done and host not in losers:
                    self.fetch(block, sender, host, noticed)
                    heapq.heappush(waiting, (block.announced[host], host))

    def notice(self, block: Block, sender: int, host: int) -> int:
        """When the header, announced by `sender`, arrives at its neighbour `host`."""
        noticed = block.announced[sender] + self.span(9, 65)
        block.headers.setdefault(host, []).append((noticed, sender))
        return noticed

    def fetch(self, block: Block, sender: int, host: int, noticed: int) -> None:
        """A host fetches a block from the peer that it has the header from first."""
        if noticed > min(block.headers[host])[0]:
            return
        requested = noticed + self.span(0.7, 1.6)
        fetched = requested + self.span(18, 60)
        adopted = fetched + self.span(26, 85)
        block.fetches[host] = Fetch(sender, requested, fetched, adopted, self.behind[host] + 1)
        block.announced[host] = fetched + self.span(0.4, 0.9)

    def show_header(self, block: Block, forger: int) -> None:
        """The neighbours of a loser see the header of its block."""
        for host in self.shape.neighbours(forger):
            self.notice(block, forger, host)
