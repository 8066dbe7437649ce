"""Log of one host, second by second: blocks, transactions and resources."""

import time
from collections import defaultdict
from collections.abc import Iterator
from operator import itemgetter
from random import Random

from simulation.chain import Block, Fetch
from simulation.lines import create_formats
from simulation.resources import Resources
from simulation.shape import SECOND, SYSTEM_START, Shape

FIRST_LINE = (
    "Node configuration: NodeConfiguration {ncSocketConfig = SocketConfig {ncNodePortNumber = 3001},"
    " ncProtocolFiles = []}\n"
)
TX_BYTES = 250
# Nanoseconds within the second, and text of the line after the instant.
Event = tuple[int, str]


def format_host(host: int) -> str:
    """Format the name of a host in its log and of its folder."""
    return f"node-{host}"


def format_address(host: int) -> str:
    """Format the address on which a host listens."""
    return f"10.0.{host // 250}.{host % 250 + 1}:3001"


class HostLog:
    """Log of one host; all random choices derive from the seed and the number of the host."""

    def __init__(self, shape: Shape, blocks: list[Block], host: int) -> None:
        self.host, self.shape = host, shape
        self.random = Random(f"{shape.seed}/{host}")
        self.formats = create_formats(format_host(host), self.random)
        self.neighbours = shape.list_neighbours(host)
        self.resources = Resources(self.random)
        self.txs = 0
        sender = {"peer": self.format_connection(self.neighbours[0])}
        self.request_added, self.collected, self.processed = (
            self.formats[kind] % sender for kind in ("request_added", "collected", "processed")
        )
        self.led_slots = {block.slot for block in blocks if block.forger == host}
        self.adoptions = sorted(
            ((instant, block) for block in blocks if (instant := block.find_adoption(host)) is not None),
            key=itemgetter(0),
        )
        self.block_events: defaultdict[int, list[Event]] = defaultdict(list)
        for block in blocks:
            self.log_block(block)

    def format_seconds(self) -> Iterator[str]:
        """Yield the text of the log, one second at a time."""
        yield FIRST_LINE
        tip, adoptions = None, iter([*self.adoptions, (self.shape.slots * SECOND * 2, None)])
        next_instant, next_tip = next(adoptions)
        for slot in range(self.shape.slots):
            while next_instant < slot * SECOND:
                tip = next_tip
                next_instant, next_tip = next(adoptions)
            adopted_ns = next_instant - slot * SECOND  # from the start of this second
            events = self.block_events.pop(slot, [])
            self.log_loop(events, slot, tip)
            self.log_transactions(events, adopted_ns)
            self.log_resources(events, slot)
            events.sort(key=itemgetter(0))
            head = time.strftime('{"at":"%Y-%m-%dT%H:%M:%S.', time.gmtime(SYSTEM_START + slot))
            yield "".join([head + (b"%09d" % ns).decode().rstrip("0") + text for ns, text in events])

    def format_connection(self, peer: int) -> str:
        """Format the connection to a peer as both addresses."""
        return f"{format_address(self.host)} {format_address(peer)}"

    def log_loop(self, events: list[Event], slot: int, tip: Block | None) -> None:
        """Log the leadership check of a slot; one in 400 is missed, as on a busy machine."""
        random, formats = self.random.random, self.formats
        is_leader = slot in self.led_slots
        if random() < 0.0025 and not is_leader:
            return
        number = tip.number + 1 if tip else 0
        fields = {"slot": slot, "number": number, "hash": tip.hash if tip else "GenesisHash"}
        fields["tip_slot"] = tip.slot if tip else 0
        fields["density"] = round(max(1, number) / max(1, slot), 5)
        fields["utxo"] = 4_000_000 + slot
        ns = 450_000 + int(random() * 500_000)
        events.append((ns, formats["started"] % fields))
        ns += 30_000 + int(random() * 70_000)
        events.append((ns, formats["context"] % fields))
        ns += 60_000 + int(random() * 40_000)
        events.append((ns, formats["state"] % fields))
        ns += 25_000 + int(random() * 35_000)
        events.append((ns, formats["view"] % fields))
        ns += 300_000 + int(random() * 500_000)
        if not is_leader:
            events.append((ns, formats["no_leader"] % fields))
        events.append((ns + 5_000, formats["metrics"] % fields))

    def log_transactions(self, events: list[Event], adopted_ns: int) -> None:
        """Log two transactions, some of them rejected; the next adopted block empties the mempool."""
        random = self.random.random
        for ns in sorted(int(random() * 0.9997 * SECOND) + 1 for _ in range(2)):
            if ns > adopted_ns:
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
        if adopted_ns < SECOND:
            self.txs = 0

    def log_resources(self, events: list[Event], slot: int) -> None:
        """Log resources of a second, fetch requests, and sometimes a ledger snapshot."""
        random = self.random.random
        for _ in range(2):
            events.append((1 + int(random() * 0.9999 * SECOND), self.request_added))
        if slot % 400 == 399:
            events.append((720_000_000 + int(random() * 140_000_000), self.formats["ledger_snapshot"] % {}))
        if random() >= 0.007:
            fields = self.resources.advance(slot)
            events.append((430_000_000 + int(random() * 16_000_000), self.formats["resources"] % fields))

    def log_block(self, block: Block) -> None:
        """Log all events of a block on this host."""
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
                sending = sent.requested + (sent.fetched - sent.requested) * 3 // 5
                self.put(sending, "sent", fields, receiver)

    def log_forging(self, block: Block, fields: dict[str, object]) -> None:
        """Log the forging loop of a block of this host."""
        forging = block.forging
        self.put(forging.leading, "leader", fields)
        self.put(forging.ticked, "ticked", fields)
        self.put(forging.snapshot, "snapshot", fields)
        self.put(forging.forged, "forged", fields)
        self.put(forging.adopted, "adopted_by_forger", fields)
        self.put(forging.adopted + 9_000, "removed", fields)

    def log_fetch(self, block: Block, fetch: Fetch, fields: dict[str, object]) -> None:
        """Log the fetch of a block and, with the same request, of its missing ancestors, the oldest first."""
        self.put(fetch.requested, "requested", fields | {"length": fetch.length}, fetch.peer)
        ancestor: Block | None = block
        for distance in range(fetch.length):
            if ancestor:
                self.put(fetch.fetched - distance * 1_000, "fetched", fields | {"hash": ancestor.hash}, fetch.peer)
                ancestor = ancestor.parent
        self.put(fetch.adopted, "adopted", fields)
        self.put(fetch.adopted + 9_000, "removed", fields)

    def log_announcement(self, instant: int, fields: dict[str, object]) -> None:
        """Log the announcement to each neighbour; to the first also a falling edge and a non-blocking read."""
        first, *others = self.neighbours
        for delay, blocking, rising in ((0, "false", "true"), (900, "true", "true"), (1800, "true", "false")):
            self.put(instant + delay, "announced", fields | {"blocking": blocking, "rising": rising}, first)
        for index, peer in enumerate(others, start=1):
            flags = {"blocking": "true", "rising": "true"}
            self.put(instant + index * 40_000, "announced", fields | flags, peer)

    def put(self, instant: int, kind: str, fields: dict[str, object], peer: int | None = None) -> None:
        """Add a line to the events of its second."""
        slot, ns = divmod(instant, SECOND)
        if peer is not None:
            fields = fields | {"peer": self.format_connection(peer)}
        self.block_events[slot].append((max(ns, 1), self.formats[kind] % fields))
