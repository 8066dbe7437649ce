"""Write random log lines: names of three generations, forms of `ns` and instants, files, packing."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import zstandard

from tests.oracle.instants import SECOND

# event -> names: new, middle, legacy
NAMES: Mapping[str, tuple[str, str, str]] = {
    "resources": ("Resources", "Resources", "Resources"),
    "check_started": (
        "Forge.Loop.StartLeadershipCheck",
        "Forge.Loop.StartLeadershipCheckPlus",
        "TraceStartLeadershipCheck",
    ),
    "block_context": ("Forge.Loop.BlockContext", "Forge.BlockContext", "TraceBlockContext"),
    "ledger_state": ("Forge.Loop.LedgerState", "Forge.LedgerState", "TraceLedgerState"),
    "ledger_view": ("Forge.Loop.LedgerView", "Forge.LedgerView", "TraceLedgerView"),
    "leader": ("Forge.Loop.NodeIsLeader", "Forge.NodeIsLeader", "TraceNodeIsLeader"),
    "not_leader": ("Forge.Loop.NodeNotLeader", "Forge.NodeNotLeader", "TraceNodeNotLeader"),
    "ticked": ("Forge.Loop.TickedLedgerState", "Forge.TickedLedgerState", "TraceForgeTickedLedgerState"),
    "snapshot": ("Forge.Loop.MempoolSnapshot", "Forge.MempoolSnapshot", "TraceForgingMempoolSnapshot"),
    "forged": ("Forge.Loop.ForgedBlock", "Forge.ForgedBlock", "TraceForgedBlock"),
    "header": (
        "ChainSync.Client.DownloadedHeader",
        "ChainSyncClient.ChainSyncClientEvent.DownloadedHeader",
        "ChainSyncClientEvent.TraceDownloadedHeader",
    ),
    "requested": (
        "BlockFetch.Client.SendFetchRequest",
        "BlockFetchClient.SendFetchRequest",
        "SendFetchRequest",
    ),
    "fetched": (
        "BlockFetch.Client.CompletedBlockFetch",
        "BlockFetchClient.CompletedBlockFetch",
        "CompletedBlockFetch",
    ),
    "announced": (
        "ChainSync.ServerHeader.Update",
        "ChainSyncServerEvent.TraceChainSyncServerUpdate",
        "ChainSyncServerEvent.TraceChainSyncServerReadBlocked.AddBlock",
    ),
    "sent": ("BlockFetch.Server.SendBlock", "BlockFetchServer.SendBlock", "TraceBlockFetchServerSendBlock"),
    "adopted": (
        "ChainDB.AddBlockEvent.AddedToCurrentChain",
        "ChainDB.AddBlockEvent.AddedToCurrentChain",
        "TraceAddBlockEvent.AddedToCurrentChain",
    ),
    "adopted_own": ("Forge.Loop.AdoptedBlock", "Forge.AdoptedBlock", "TraceAdoptedBlock"),
    "ledger_metrics": ("LedgerMetrics", "LedgerMetrics", "LedgerMetrics"),
    "added_tx": ("Mempool.AddedTx", "Mempool.AddedTx", "TraceMempoolAddedTx"),
    "rejected_tx": ("Mempool.RejectedTx", "Mempool.RejectedTx", "TraceMempoolRejectedTx"),
    "noise": ("Startup.Noise", "Net.Noise", "TraceNoise"),
}
GENERATIONS = ("new", "middle", "middle-kind", "legacy")
_FILES = {
    1: (("stdout",), ("stdout.gz",), ("stdout.zst",), ("node-20260205.json",), ("stdout-a.gz",)),
    2: (("stdout.1", "stdout"), ("stdout.1.gz", "stdout"), ("node-1.json.zst", "node-2.json.gz")),
    3: (("stdout.2.gz", "stdout.1.zst", "stdout"), ("node-1.json", "node-2.json", "node-3.json")),
}


@dataclass(slots=True)
class Line:
    """One log object to write. A `fixed` one is neither lost, doubled nor moved."""

    instant: int
    event: str
    data: dict[str, Any]
    fixed: bool = False
    slot: int | None = None


@dataclass(frozen=True, slots=True)
class Style:
    """How a host writes: its generation of names and how often single lines depart from it."""

    generation: str
    mixing: float


def draw_instant_text(rng: Random, instant: int) -> str:
    """Return an instant with 0, few, 9 or 12 fractional digits; readers cut after the ninth."""
    seconds, fraction = divmod(instant, SECOND)
    text = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    digits = f"{fraction:09d}"
    chance = rng.random()
    if chance < 0.1:
        digits += f"{rng.randrange(1000):03d}"
    elif chance < 0.8:
        digits = digits.rstrip("0")
    return f"{text}.{digits}Z" if digits else f"{text}Z"


def _draw_namespace(rng: Random, name: str) -> str | list[str]:
    chance = rng.random()
    if chance < 0.6:
        return name
    return [name] if chance < 0.8 else name.split(".")


def format_line(rng: Random, line: Line, style: Style) -> str:
    """Return the JSON text of a line in a generation of names."""
    is_mixed = rng.random() < style.mixing
    generation = rng.choice(GENERATIONS) if is_mixed else style.generation
    new, middle, legacy = NAMES[line.event]
    namespace = {"new": new, "middle": middle}.get(generation)
    kind = {"middle-kind": rng.choice(["", "Cardano.Node."]) + middle, "legacy": legacy}.get(generation, "K")
    data = {**line.data, "kind": kind}
    if rng.random() < 0.1:
        data = {"credentials": "Cardano", "val": data}
    fields = {
        "at": draw_instant_text(rng, line.instant),
        "ns": _draw_namespace(rng, namespace or "some.other.Name"),
        "data": data,
        "sev": "Info",
        "host": "elsewhere",
    }
    return json.dumps(fields, separators=(",", ":"))


def _write_compressed(path: Path, content: bytes) -> None:
    if path.suffix == ".gz":
        content = gzip.compress(content, 1, mtime=0)
    elif path.suffix == ".zst":
        content = zstandard.ZstdCompressor(level=1).compress(content)
    path.write_bytes(content)


def _draw_cuts(rng: Random, entries: Sequence[tuple[int | None, str]]) -> list[int]:
    """Return positions for new files: before log objects later than all earlier ones."""
    candidates: list[int] = []
    latest = -1
    for index, (instant, _) in enumerate(entries):
        if instant is not None:
            if instant > latest and latest >= 0:
                candidates.append(index)
            latest = max(latest, instant)
    return sorted(rng.sample(candidates, min(len(candidates), rng.choice([0, 0, 1, 2]))))


def write_log(rng: Random, directory: Path, entries: Sequence[tuple[int | None, str]]) -> None:
    """Write a host's lines, each with its instant if it is a log object, into one to three files."""
    directory.mkdir(parents=True)
    ends = [*_draw_cuts(rng, entries), len(entries)]
    names = rng.choice(_FILES[len(ends)])
    begin = 0
    for name, end in zip(names, ends, strict=True):
        text = "".join(f"{line}\n" for _, line in entries[begin:end])
        _write_compressed(directory / name, text.encode())
        begin = end
