"""What one host logs, second by second, of the chain and of itself."""

import time
from collections import defaultdict
from collections.abc import Iterator
from operator import itemgetter
from random import Random

from simulation.chain import Block, Fetch
from simulation.lines import formats
from simulation.resources import Resources
from simulation.shape import SECOND, SYSTEM_START, Shape

FIRST_LINE = (
    "Node configuration: NodeConfiguration {ncSocketConfig = SocketConfig {ncNodePortNumber = 3001},"
    " ncProtocolFiles = []}\n"
)
TX_BYTES = 250
# A log event: nanoseconds within its second, and its line's text after the instant.
Event = tuple[int, str]


def host_name(host: int) -> str:
    """The name of the host's folder, and of the host in its log."""
    return f"node-{host}"


def address(host: int) -> str:
    """Where the host listens."""
    return f"10.0.{host // 250}.{host % 250 + 1}:3001"


class HostLog:
    """The log of one host. Every random choice comes from the seed and the host's number."""

    def __init__(self, shape: Shape, blocks: list[Block], host: int) -> None:
        self.host, self.shape = host, shape
        self.random = Random(f"{shape.seed}/{host}")
        self.formats = formats(host_name(host), self.random)
        self.neighbours = shape.neighbours(host)
        self.resources = Resources(self.random)
        self.txs = 0
        feeder = {"peer": self.connection(self.neighbours[0])}
        self.asked, self.collected, self.processed = (
            self.formats[kind] % feeder for kind in ("asked", "collected", "processed")
        )
        self.led = {block.slot for block in blocks if block.forger == host}
        self.adoptions = sorted(
            ((at, block) for block in blocks if (at := block.adopted_by(host)) is not None), key=itemgetter(0)
        )
        self.of_blocks: defaultdict[int, list[Event]] = defaultdict(list)
        for block in blocks:
            self.log_block(block)

    def seconds(self) -> Iterator[str]:
        """The log's text, a second at a time, in order of time."""
        yield FIRST_LINE
        tip, coming = None, iter([*self.adoptions, (self.shape.slots * SECOND * 2, None)])
        next_at, next_tip = next(coming)
        for slot in range(self.shape.slots):
            while next_at < slot * SECOND:
                tip = next_tip
                next_at, next_tip = next(coming)
            emptied = next_at - slot * SECOND
            events = self.of_blocks.pop(slot, [])
            self.log_loop(events, slot, tip)
            self.log_transactions(events, emptied)
            self.log_machine(events, slot)
            events.sort(key=itemgetter(0))
            head = time.strftime('{"at":"%Y-%m-%dT%H:%M:%S.', time.gmtime(SYSTEM_START + slot))
            yield "".join([head + (b"%09d" % ns).decode().rstrip("0") + text for ns, text in events])

    def connection(self, peer: int) -> str:
        return f"{address(self.host)} {address(peer)}"

    def log_loop(self, events: list[Event], slot: int, tip: Block | None) -> None:
        """The leadership check of a slot; one in 400 is missed, as on a busy machine."""
        random, form = self.random.random, self.formats
        leads = slot in self.led
        if random() < 0.0025 and not leads:
            return
        number = tip.number + 1 if tip else 0
        fields = {"slot": slot, "number": number, "hash": tip.hash if tip else "GenesisHash"}
        fields["tip_slot"] = tip.slot if tip else 0
        fields["density"] = round(max(1, number) / max(1, slot), 5)
        fields["utxo"] = 4_000_000 + slot
        ns = 450_000 + int(random() * 500_000)
        events.append((ns, form["started"] % fields))
        ns += 30_000 + int(random() * 70_000)
        events.append((ns, form["context"] % fields))
        ns += 60_000 + int(random() * 40_000)
        events.append((ns, form["state"] % fields))
        ns += 25_000 + int(random() * 35_000)
        events.append((ns, form["view"] % fields))
        ns += 300_000 + int(random() * 500_000)
        if not leads:
            events.append((ns, form["no_leader"] % fields))
        events.append((ns + 5_000, form["metrics"] % fields))

    def log_transactions(self, events: list[Event], emptied: int) -> None:
        """Two transactions a second on average, some of them refused; a block that is adopted takes all."""
        random = self.random.random
        for ns in sorted(int(random() * 0.9997 * SECOND) + 1 for _ in range(2)):
            if ns > emptied:
                self.txs = 0
            if random() < 0.0135:
                pool = {"bytes": self.txs * TX_BYTES, "txs": self.txs}
                events.append((ns, self.formats["refused"] % pool))
            self.txs += 1
            txid = f"{self.random.getrandbits(128):032x}"
            accepted = {"bytes": self.txs * TX_BYTES, "txs": self.txs, "txid": txid}
            events.append((ns, self.collected))
            events.append((ns + 200_000, self.processed))
            events.append((ns + 250_000, self.formats["pooled"] % accepted))
        if emptied < SECOND:
            self.txs = 0

    def log_machine(self, events: list[Event], slot: int) -> None:
        """What has to do with no block: resources each second, fetch logic, sometimes a ledger snapshot."""
        random = self.random.random
        for _ in range(2):
            events.append((1 + int(random() * 0.9999 * SECOND), self.asked))
        if slot % 400 == 399:
            events.append((720_000_000 + int(random() * 140_000_000), self.formats["ledger_snapshot"] % {}))
        if random() >= 0.007:
            fields = self.resources.after_a_second(slot)
            events.append((430_000_000 + int(random() * 16_000_000), self.formats["resources"] % fields))

    def log_block(self, block: Block) -> None:
        """All that the host logs of one block."""
        fields = {
            "hash": block.hash,
            "slot": block.slot,
            "number": block.number,
            "size": block.size,
            "parent": block.parent.hash if block.parent else "GenesisHash",
            "parent_number": block.number - 1,
        }
        if block.forger == self.host:
            self.log_forging(block, fields)
        for instant, peer in block.headers.get(self.host, []):
            self.put(instant, "header", fields, peer)
        fetch = block.fetches.get(self.host)
        if fetch:
            self.log_fetch(block, fetch, fields)
        if self.host in block.announced:
            self.log_announcement(block.announced[self.host], fields)
        for receiver, sent in block.fetches.items():
            if sent.peer == self.host:
                halfway = sent.requested + (sent.fetched - sent.requested) * 3 // 5
                self.put(halfway, "sent", fields, receiver)

    def log_forging(self, block: Block, fields: dict[str, object]) -> None:
        forging = block.forging
        self.put(forging.leading, "leader", fields)
        self.put(forging.ticked, "ticked", fields)
        self.put(forging.snapshot, "snapshot", fields)
        self.put(forging.forged, "forged", fields)
        self.put(forging.adopted, "adopted_own", fields)
        self.put(forging.adopted + 9_000, "removed", fields)

    def log_fetch(self, block: Block, fetch: Fetch, fields: dict[str, object]) -> None:
        """A host that is behind gets the blocks that it lacks with one request, the oldest first."""
        self.put(fetch.requested, "requested", fields | {"length": fetch.length}, fetch.peer)
        wanted: Block | None = block
        for back in range(fetch.length):
            if wanted:
                self.put(fetch.fetched - back * 1_000, "fetched", fields | {"hash": wanted.hash}, fetch.peer)
                wanted = wanted.parent
        self.put(fetch.adopted, "adopted", fields)
        self.put(fetch.adopted + 9_000, "removed", fields)

    def log_announcement(self, instant: int, fields: dict[str, object]) -> None:
        """To each neighbour; for the first one also the falling edge and the read that did not block."""
        first, *others = self.neighbours
        for later, blocking, rising in ((0, "false", "true"), (900, "true", "true"), (1800, "true", "false")):
            self.put(instant + later, "announced", fields | {"blocking": blocking, "rising": rising}, first)
        for place, peer in enumerate(others, start=1):
            both = {"blocking": "true", "rising": "true"}
            self.put(instant + place * 40_000, "announced", fields | both, peer)

    def put(self, instant: int, kind: str, fields: dict[str, object], peer: int | None = None) -> None:
        """Notes a line for the second that it falls into."""
        slot, ns = divmod(instant, SECOND)
        if peer is not None:
            fields = fields | {"peer": self.connection(peer)}
        self.of_blocks[slot].append((max(ns, 1), self.formats[kind] % fields))
