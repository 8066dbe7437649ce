"""Which log objects are events, under three generations of names, and which fields each event has.

Lookup order: `ns` among the new names, `ns` among the middle names, `kind` (without a leading
`Cardano.Node.`) among the middle names, `kind` among the legacy names. The first hit decides, also when its
reader says "not this one".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tests.oracle.fields import hash_of_point, real, text, whole
from tests.oracle.model import Event

Data = Mapping[str, Any]
Reader = Callable[[Data], dict[str, Any] | None]

COUNTERS = (
    "CentiCpu", "CentiGC", "CentiMut", "CentiBlkIO", "GcsMajor", "GcsMinor", "Alloc",
    "NetRd", "NetWr", "FsRd", "FsWr",
)  # fmt: skip
GAUGES = ("RSS", "Heap", "Live", "Threads")
_OPTIONAL_RESOURCES = frozenset({"Heap", "NetRd", "NetWr", "FsRd", "FsWr"})


def _resources(data: Data) -> dict[str, Any]:
    return {name: whole(data, name, 0 if name in _OPTIONAL_RESOURCES else None) for name in COUNTERS + GAUGES}


def _check_started(data: Data) -> dict[str, Any]:
    return {
        "slot": whole(data, "slot"),
        "utxo_size": whole(data, "utxoSize", 0),
        "chain_density": real(data, "chainDensity", 0.0),
    }


def _block_context(data: Data) -> dict[str, Any]:
    return {"slot": whole(data, "current slot"), "block_no": whole(data, "tipBlockNo") - 1}


def _slot_only(data: Data) -> dict[str, Any]:
    return {"slot": whole(data, "slot")}


def _decided(leader: bool) -> Reader:
    return lambda data: {"slot": whole(data, "slot"), "leader": leader}


def _block_no(data: Data) -> int:
    nested = data.get("blockNo")
    return whole(nested, "unBlockNo") if isinstance(nested, dict) else whole(data, "blockNo")


def _forged(data: Data) -> dict[str, Any]:
    return {
        "slot": whole(data, "slot"),
        "block_no": _block_no(data),
        "block": text(data, "block"),
        "previous": text(data, "blockPrev"),
    }


def _header_seen(data: Data) -> dict[str, Any]:
    return {"slot": whole(data, "slot"), "block_no": _block_no(data), "block": text(data, "block")}


def _requested(data: Data) -> dict[str, Any]:
    return {"block": text(data, "head"), "length": whole(data, "length")}


def _block_only(data: Data) -> dict[str, Any]:
    return {"block": text(data, "block")}


def _announced(data: Data) -> dict[str, Any] | None:
    """Recognise a header sent on a rising edge to a blocked reader; ignore others of that name."""
    falling = data.get("risingEdge") is False or data.get("blockingRead") is False
    if falling or data.get("rollBackTo") is not None:
        return None
    return {"block": hash_of_point(data, "addBlock" if data.get("addBlock") is not None else "block")}


def _adopted_from_peer(data: Data) -> dict[str, Any]:
    return {
        "block": hash_of_point(data, "newtip"),
        "chain_delta": whole(data, "chainLengthDelta", 1),
        "size": None,
    }


def _adopted_own(data: Data) -> dict[str, Any]:
    return {"block": text(data, "blockHash"), "chain_delta": 1, "size": whole(data, "blockSize")}


def _nothing(_: Data) -> dict[str, Any]:
    return {}


def _ledger_metrics(data: Data) -> dict[str, Any]:
    return {
        "slot": whole(data, "slot"),
        "utxo_size": whole(data, "utxoSize"),
        "chain_density": real(data, "chainDensity"),
    }


def _has(*names: str) -> Reader:
    """Require fields of an event that no metric uses."""

    def read(data: Data) -> dict[str, Any]:
        for name in names:
            inner: Any = data
            for part in name.split("/"):
                inner = inner[part]
            if inner is None:
                raise ValueError(f"no {name}")
        return {}

    return read


_SUMMARY = _has("summary/ssTxSent", "summary/ssElapsed", "summary/ssThreadwiseTps", "summary/ssFailures")

# event, reader, new `ns`, middle `ns`, legacy `kind`
_ADD = "ChainSyncServerEvent.TraceChainSyncServerReadBlocked.AddBlock"
_TABLE: tuple[tuple[str, Reader, str, str, str], ...] = (
    ("resources", _resources, "Resources", "Resources", "Resources"),
    ("leadership_check_started", _check_started, "Forge.Loop.StartLeadershipCheck",
     "Forge.Loop.StartLeadershipCheckPlus", "TraceStartLeadershipCheck"),
    ("block_context", _block_context, "Forge.Loop.BlockContext", "Forge.BlockContext", "TraceBlockContext"),
    ("ledger_state", _slot_only, "Forge.Loop.LedgerState", "Forge.LedgerState", "TraceLedgerState"),
    ("ledger_view", _slot_only, "Forge.Loop.LedgerView", "Forge.LedgerView", "TraceLedgerView"),
    ("leadership_decided", _decided(True), "Forge.Loop.NodeIsLeader", "Forge.NodeIsLeader",
     "TraceNodeIsLeader"),
    ("leadership_decided", _decided(False), "Forge.Loop.NodeNotLeader", "Forge.NodeNotLeader",
     "TraceNodeNotLeader"),
    ("ledger_ticked", _slot_only, "Forge.Loop.TickedLedgerState", "Forge.TickedLedgerState",
     "TraceForgeTickedLedgerState"),
    ("mempool_snapshot", _slot_only, "Forge.Loop.MempoolSnapshot", "Forge.MempoolSnapshot",
     "TraceForgingMempoolSnapshot"),
    ("block_forged", _forged, "Forge.Loop.ForgedBlock", "Forge.ForgedBlock", "TraceForgedBlock"),
    ("header_seen", _header_seen, "ChainSync.Client.DownloadedHeader",
     "ChainSyncClient.ChainSyncClientEvent.DownloadedHeader", "ChainSyncClientEvent.TraceDownloadedHeader"),
    ("fetch_requested", _requested, "BlockFetch.Client.SendFetchRequest", "BlockFetchClient.SendFetchRequest",
     "SendFetchRequest"),
    ("fetch_completed", _block_only, "BlockFetch.Client.CompletedBlockFetch",
     "BlockFetchClient.CompletedBlockFetch", "CompletedBlockFetch"),
    ("header_announced", _announced, "ChainSync.ServerHeader.Update",
     "ChainSyncServerEvent.TraceChainSyncServerUpdate", _ADD),
    ("block_sent", _block_only, "BlockFetch.Server.SendBlock", "BlockFetchServer.SendBlock",
     "TraceBlockFetchServerSendBlock"),
    ("block_adopted", _adopted_from_peer, "ChainDB.AddBlockEvent.AddedToCurrentChain",
     "ChainDB.AddBlockEvent.AddedToCurrentChain", "TraceAddBlockEvent.AddedToCurrentChain"),
    ("block_adopted", _adopted_own, "Forge.Loop.AdoptedBlock", "Forge.AdoptedBlock", "TraceAdoptedBlock"),
    ("ledger_snapshot", _nothing, "ChainDB.LedgerEvent.TookSnapshot", "TraceLedgerEvent.TookSnapshot",
     "TraceSnapshotEvent.TookSnapshot"),
    ("ledger_metrics", _ledger_metrics, "LedgerMetrics", "LedgerMetrics", "LedgerMetrics"),
    ("txs_acked", _has("txIds"), "TraceBenchTxSubServAck", "TraceBenchTxSubServAck",
     "TraceBenchTxSubServAck"),
    ("txs_collected", _has("count"), "TxSubmission.TxInbound.Collected", "TraceTxSubmissionCollected",
     "TraceTxSubmissionCollected"),
    ("txs_processed", _has("accepted", "rejected"), "TxSubmission.TxInbound.Processed",
     "TraceTxSubmissionProcessed", "TraceTxSubmissionProcessed"),
    ("mempool_size", _has("mempoolSize/numTxs"), "Mempool.AddedTx", "Mempool.AddedTx", "TraceMempoolAddedTx"),
    ("mempool_size", _has("mempoolSize/numTxs"), "Mempool.RemoveTxs", "Mempool.RemoveTxs",
     "TraceMempoolRemoveTxs"),
    ("tx_rejected", _nothing, "Mempool.RejectedTx", "Mempool.RejectedTx", "TraceMempoolRejectedTx"),
    ("generator_summary", _SUMMARY, "Benchmark.BenchTxSubSummary", "TraceBenchTxSubSummary",
     "TraceBenchTxSubSummary"),
)  # fmt: skip

_NEW = {row[2]: row[:2] for row in _TABLE}
_MIDDLE = {row[3]: row[:2] for row in _TABLE}
_LEGACY = {row[4]: row[:2] for row in _TABLE}
_LEGACY["ChainSyncServerEvent.TraceChainSyncServerRead.AddBlock"] = ("header_announced", _block_only)


def _namespace(raw: Any) -> str:
    if isinstance(raw, list):
        return ".".join(part for part in raw if isinstance(part, str))
    return raw if isinstance(raw, str) else ""


def _unwrapped(data: Any) -> Data:
    if not isinstance(data, dict):
        return {}
    if data.get("kind") is None and "credentials" in data and isinstance(data.get("val"), dict):
        inner: Data = data["val"]
        return inner
    return data


def recognise(log_object: Mapping[str, Any], at: int) -> Event | None:
    """The event that a log object is, None for an unrecognised one.

    Raises KeyError, TypeError or ValueError when a recognised one lacks a field that has no default.
    """
    data = _unwrapped(log_object.get("data"))
    namespace = _namespace(log_object.get("ns"))
    entry = _NEW.get(namespace) or _MIDDLE.get(namespace)
    if entry is None:
        kind = data.get("kind")
        if not isinstance(kind, str):
            return None
        entry = _MIDDLE.get(kind.removeprefix("Cardano.Node.")) or _LEGACY.get(kind)
    if entry is None:
        return None
    name, reader = entry
    fields = reader(data)
    return None if fields is None else Event(name, at, fields)
