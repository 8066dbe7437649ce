"""Which log objects are events, under three generations of names, and which fields each event has.

Lookup order: `ns` among the new names, `ns` among the middle names, `kind` (without a leading
`Cardano.Node.`) among the middle names, `kind` among the legacy names. The first hit decides, also when its
reader says "not this one".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tests.oracle.fields import read_integer, read_point_hash, read_real, read_text
from tests.oracle.model import Event

Data = Mapping[str, Any]
Reader = Callable[[Data], dict[str, Any] | None]

COUNTERS = (
    "CentiCpu", "CentiGC", "CentiMut", "CentiBlkIO", "GcsMajor", "GcsMinor", "Alloc",
    "NetRd", "NetWr", "FsRd", "FsWr",
)  # fmt: skip
GAUGES = ("RSS", "Heap", "Live", "Threads")
_OPTIONAL_RESOURCES = frozenset({"Heap", "NetRd", "NetWr", "FsRd", "FsWr"})


def _read_resources(data: Data) -> dict[str, Any]:
    return {name: read_integer(data, name, 0 if name in _OPTIONAL_RESOURCES else None) for name in COUNTERS + GAUGES}


def _read_check_started(data: Data) -> dict[str, Any]:
    return {
        "slot": read_integer(data, "slot"),
        "utxo_size": read_integer(data, "utxoSize", 0),
        "chain_density": read_real(data, "chainDensity", 0.0),
    }


def _read_block_context(data: Data) -> dict[str, Any]:
    return {"slot": read_integer(data, "current slot"), "block_no": read_integer(data, "tipBlockNo") - 1}


def _read_slot(data: Data) -> dict[str, Any]:
    return {"slot": read_integer(data, "slot")}


def _build_decision_reader(is_leader: bool) -> Reader:
    return lambda data: {"slot": read_integer(data, "slot"), "leader": is_leader}


def _read_block_no(data: Data) -> int:
    nested = data.get("blockNo")
    return read_integer(nested, "unBlockNo") if isinstance(nested, dict) else read_integer(data, "blockNo")


def _read_forged_block(data: Data) -> dict[str, Any]:
    return {
        "slot": read_integer(data, "slot"),
        "block_no": _read_block_no(data),
        "block": read_text(data, "block"),
        "previous": read_text(data, "blockPrev"),
    }


def _read_header(data: Data) -> dict[str, Any]:
    return {"slot": read_integer(data, "slot"), "block_no": _read_block_no(data), "block": read_text(data, "block")}


def _read_request(data: Data) -> dict[str, Any]:
    return {"block": read_text(data, "head"), "length": read_integer(data, "length")}


def _read_block(data: Data) -> dict[str, Any]:
    return {"block": read_text(data, "block")}


def _read_announcement(data: Data) -> dict[str, Any] | None:
    """Recognise a header sent on a rising edge to a blocked reader; ignore others of that name."""
    is_ignored = data.get("risingEdge") is False or data.get("blockingRead") is False
    if is_ignored or data.get("rollBackTo") is not None:
        return None
    return {"block": read_point_hash(data, "addBlock" if data.get("addBlock") is not None else "block")}


def _read_peer_adoption(data: Data) -> dict[str, Any]:
    return {
        "block": read_point_hash(data, "newtip"),
        "chain_delta": read_integer(data, "chainLengthDelta", 1),
        "size": None,
    }


def _read_own_adoption(data: Data) -> dict[str, Any]:
    return {"block": read_text(data, "blockHash"), "chain_delta": 1, "size": read_integer(data, "blockSize")}


def _read_no_field(_: Data) -> dict[str, Any]:
    return {}


def _read_ledger_metrics(data: Data) -> dict[str, Any]:
    return {
        "slot": read_integer(data, "slot"),
        "utxo_size": read_integer(data, "utxoSize"),
        "chain_density": read_real(data, "chainDensity"),
    }


def _build_field_reader(*names: str) -> Reader:
    """Read required fields of any type under the last part of their names."""

    def read(data: Data) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for name in names:
            value: Any = data
            for part in name.split("/"):
                value = value[part]
            if value is None:
                raise ValueError(f"no {name}")
            values[name.rpartition("/")[2]] = value
        return values

    return read


_SUMMARY = _build_field_reader("summary/ssTxSent", "summary/ssElapsed", "summary/ssThreadwiseTps", "summary/ssFailures")

# event, reader, new `ns`, middle `ns`, legacy `kind`
_ADD = "ChainSyncServerEvent.TraceChainSyncServerReadBlocked.AddBlock"
_TABLE: tuple[tuple[str, Reader, str, str, str], ...] = (
    ("resources", _read_resources, "Resources", "Resources", "Resources"),
    (
        "leadership_check_started",
        _read_check_started,
        "Forge.Loop.StartLeadershipCheck",
        "Forge.Loop.StartLeadershipCheckPlus",
        "TraceStartLeadershipCheck",
    ),
    ("block_context", _read_block_context, "Forge.Loop.BlockContext", "Forge.BlockContext", "TraceBlockContext"),
    ("ledger_state", _read_slot, "Forge.Loop.LedgerState", "Forge.LedgerState", "TraceLedgerState"),
    ("ledger_view", _read_slot, "Forge.Loop.LedgerView", "Forge.LedgerView", "TraceLedgerView"),
    (
        "leadership_decided",
        _build_decision_reader(True),
        "Forge.Loop.NodeIsLeader",
        "Forge.NodeIsLeader",
        "TraceNodeIsLeader",
    ),
    (
        "leadership_decided",
        _build_decision_reader(False),
        "Forge.Loop.NodeNotLeader",
        "Forge.NodeNotLeader",
        "TraceNodeNotLeader",
    ),
    (
        "ledger_ticked",
        _read_slot,
        "Forge.Loop.TickedLedgerState",
        "Forge.TickedLedgerState",
        "TraceForgeTickedLedgerState",
    ),
    (
        "mempool_snapshot",
        _read_slot,
        "Forge.Loop.MempoolSnapshot",
        "Forge.MempoolSnapshot",
        "TraceForgingMempoolSnapshot",
    ),
    ("block_forged", _read_forged_block, "Forge.Loop.ForgedBlock", "Forge.ForgedBlock", "TraceForgedBlock"),
    (
        "header_seen",
        _read_header,
        "ChainSync.Client.DownloadedHeader",
        "ChainSyncClient.ChainSyncClientEvent.DownloadedHeader",
        "ChainSyncClientEvent.TraceDownloadedHeader",
    ),
    (
        "fetch_requested",
        _read_request,
        "BlockFetch.Client.SendFetchRequest",
        "BlockFetchClient.SendFetchRequest",
        "SendFetchRequest",
    ),
    (
        "fetch_completed",
        _read_block,
        "BlockFetch.Client.CompletedBlockFetch",
        "BlockFetchClient.CompletedBlockFetch",
        "CompletedBlockFetch",
    ),
    (
        "header_announced",
        _read_announcement,
        "ChainSync.ServerHeader.Update",
        "ChainSyncServerEvent.TraceChainSyncServerUpdate",
        _ADD,
    ),
    (
        "block_sent",
        _read_block,
        "BlockFetch.Server.SendBlock",
        "BlockFetchServer.SendBlock",
        "TraceBlockFetchServerSendBlock",
    ),
    (
        "block_adopted",
        _read_peer_adoption,
        "ChainDB.AddBlockEvent.AddedToCurrentChain",
        "ChainDB.AddBlockEvent.AddedToCurrentChain",
        "TraceAddBlockEvent.AddedToCurrentChain",
    ),
    ("block_adopted", _read_own_adoption, "Forge.Loop.AdoptedBlock", "Forge.AdoptedBlock", "TraceAdoptedBlock"),
    (
        "ledger_snapshot",
        _read_no_field,
        "ChainDB.LedgerEvent.TookSnapshot",
        "TraceLedgerEvent.TookSnapshot",
        "TraceSnapshotEvent.TookSnapshot",
    ),
    ("ledger_metrics", _read_ledger_metrics, "LedgerMetrics", "LedgerMetrics", "LedgerMetrics"),
    (
        "txs_acked",
        _build_field_reader("txIds"),
        "TraceBenchTxSubServAck",
        "TraceBenchTxSubServAck",
        "TraceBenchTxSubServAck",
    ),
    (
        "txs_collected",
        _build_field_reader("count"),
        "TxSubmission.TxInbound.Collected",
        "TraceTxSubmissionCollected",
        "TraceTxSubmissionCollected",
    ),
    (
        "txs_processed",
        _build_field_reader("accepted", "rejected"),
        "TxSubmission.TxInbound.Processed",
        "TraceTxSubmissionProcessed",
        "TraceTxSubmissionProcessed",
    ),
    (
        "mempool_size",
        _build_field_reader("mempoolSize/numTxs"),
        "Mempool.AddedTx",
        "Mempool.AddedTx",
        "TraceMempoolAddedTx",
    ),
    (
        "mempool_size",
        _build_field_reader("mempoolSize/numTxs"),
        "Mempool.RemoveTxs",
        "Mempool.RemoveTxs",
        "TraceMempoolRemoveTxs",
    ),
    ("tx_rejected", _read_no_field, "Mempool.RejectedTx", "Mempool.RejectedTx", "TraceMempoolRejectedTx"),
    ("generator_summary", _SUMMARY, "Benchmark.BenchTxSubSummary", "TraceBenchTxSubSummary", "TraceBenchTxSubSummary"),
)

_NEW = {row[2]: row[:2] for row in _TABLE}
_MIDDLE = {row[3]: row[:2] for row in _TABLE}
_LEGACY = {row[4]: row[:2] for row in _TABLE}
_LEGACY["ChainSyncServerEvent.TraceChainSyncServerRead.AddBlock"] = ("header_announced", _read_block)


def _read_namespace(raw: Any) -> str:
    if isinstance(raw, list):
        return ".".join(part for part in raw if isinstance(part, str))
    return raw if isinstance(raw, str) else ""


def _unwrap_data(data: Any) -> Data:
    if not isinstance(data, dict):
        return {}
    if data.get("kind") is None and "credentials" in data and isinstance(data.get("val"), dict):
        inner: Data = data["val"]
        return inner
    return data


def recognize_event(log_object: Mapping[str, Any], instant: int) -> Event | None:
    """Return the event of a log object; None for an unrecognised one.

    Raises KeyError, TypeError or ValueError when a recognised one lacks a field that has no default.
    """
    data = _unwrap_data(log_object.get("data"))
    namespace = _read_namespace(log_object.get("ns"))
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
    return None if fields is None else Event(name, instant, fields)
