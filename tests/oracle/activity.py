"""Count what each host logs in each slot: transactions, mempool, blocks, snapshots, log objects.

A record belongs to the latest slot that the host's timeline has reached, whatever slot it names.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tests.oracle.model import Genesis, HostLog
from tests.oracle.slots import compute_slot


@dataclass(slots=True)
class Activity:
    """The records of a host in a slot; `mempool_txs` is the size of the mempool at its end (None: not known)."""

    objects: int = 0
    collected: int = 0
    accepted: int = 0
    rejected: int = 0
    refused: int = 0
    mempool_txs: int | None = None
    forged: int = 0
    snapshots: int = 0


def count_activity(genesis: Genesis, log: HostLog, slots: Iterable[int]) -> dict[int, Activity]:
    """Return the activity of a host in each of the consecutive slots of its timeline."""
    activity_by_slot = {slot: Activity() for slot in slots}
    latest, size_by_slot = min(activity_by_slot), dict[int, int]()
    for event in log.events:
        if event.instant < genesis.system_start:
            continue
        if event.name == "resources":
            latest = max(latest, compute_slot(genesis, event.instant))
        elif event.name == "leadership_check_started":
            latest = max(latest, event.data["slot"])
        activity = activity_by_slot[latest]
        activity.objects += 1
        activity.collected += event.data["count"] if event.name == "txs_collected" else 0
        activity.accepted += event.data["accepted"] if event.name == "txs_processed" else 0
        activity.rejected += event.data["rejected"] if event.name == "txs_processed" else 0
        activity.refused += event.name == "tx_rejected"
        activity.forged += event.name == "block_forged"
        activity.snapshots += event.name == "ledger_snapshot"
        if event.name == "mempool_size":
            size_by_slot[latest] = event.data["numTxs"]
    size = None
    for slot, activity in sorted(activity_by_slot.items()):
        size = activity.mempool_txs = size_by_slot.get(slot, size)
    return activity_by_slot
