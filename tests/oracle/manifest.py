"""Compute the manifest numbers of a run (section 7), uncut."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from tests.oracle.instants import SECOND, format_instant
from tests.oracle.model import BlockRow, Condition, HostLog, Run
from tests.oracle.slots import compute_slot_start
from tests.oracle.timeline import Slot

COMPONENTS = (
    "cardano-node", "ouroboros-consensus", "ouroboros-network", "cardano-ledger-core", "plutus-core",
    "cardano-crypto", "cardano-prelude",
)  # fmt: skip


def _compute_identity(run: Run) -> dict[str, Any]:
    meta, start = run.meta, run.genesis.system_start
    components: Mapping[str, Mapping[str, Any]] = meta.get("manifest") or {}

    def get_component_field(name: str, key: str) -> str:
        return (components.get(name) or {}).get(key) or "unknown"

    return {
        "Cluster system start date": format_instant(start, "%Y-%m-%d"),
        "Cluster system start time": format_instant(start, "%H:%M:%S"),
        "Identifier": meta["ident"],
        "Run batch": meta["batch"],
        "GHC version": meta["node_ghc_version"],
        **{f"{name} version": get_component_field(name, "version") for name in COMPONENTS},
        **{f"{name} git": get_component_field(name, "commit") for name in COMPONENTS},
        "Era": meta["era"],
    }


def _compute_workload(meta: Mapping[str, Any]) -> dict[str, Any]:
    genesis, generator = meta["profile_content"]["genesis"], meta["profile_content"]["generator"]
    plutus = generator.get("plutus") or {}
    script = plutus.get("script") if plutus.get("type") is not None else None
    return {
        "Delegation map size": genesis["delegators"],
        "Stuffed UTxO size": genesis["utxo"],
        "DRep count": genesis.get("dreps") or 0,
        "Extra tx payload": generator["add_tx_size"],
        "Tx inputs": generator["inputs_per_tx"],
        "Tx Outputs": generator["outputs_per_tx"],
        "TPS": float(generator["tps"]),
        "Transaction count": generator["tx_count"],
        "Plutus script": "---" if script is None else script,
    }


def _compute_mean(values: Sequence[int | Fraction]) -> float:
    return float(Fraction(sum(values)) / len(values))


def _compute_line_rate(log: HostLog) -> float:
    """Return lines per second: a double per host; a run time below one second gives infinity."""
    seconds = (log.last_instant - log.first_instant) // SECOND
    return log.lines / seconds if seconds else float("inf")


def _compute_mean_rate(logs: Sequence[HostLog]) -> float:
    rates = [_compute_line_rate(log) for log in logs]
    return float("inf") if float("inf") in rates else _compute_mean([Fraction(rate) for rate in rates])


def _compute_log_figures(logs: Sequence[HostLog]) -> dict[str, Any]:
    return {
        "Log objects emitted per host": _compute_mean([log.objects for log in logs]),
        "Log objects analysed per host": _compute_mean([len(log.events) for log in logs]),
        "Host run time, s": _compute_mean([Fraction(log.last_instant - log.first_instant, SECOND) for log in logs]),
        "Host log line rate, Hz": _compute_mean_rate(logs),
        "Total log objects analysed": sum(len(log.events) for log in logs),
    }


def _round_to_seconds(duration: int) -> int:
    """Round to whole seconds, half to even."""
    return round(Fraction(duration, SECOND))


def _compute_domain(run: Run, slots: Sequence[Sequence[Slot]]) -> dict[str, Any]:
    logs = run.logs
    run_time = _round_to_seconds(max(log.last_instant for log in logs) - min(log.first_instant for log in logs))
    first, last = min(host[0].slot for host in slots), max(host[-1].slot for host in slots)
    analysed_time = _round_to_seconds(compute_slot_start(run.genesis, last) - compute_slot_start(run.genesis, first))
    return {
        "Run time, s": run_time,
        "Analysed run duration, s": analysed_time,
        "Run time efficiency": analysed_time / run_time if run_time else float("nan"),
        "Node start spread, s": max(log.first_instant for log in logs) - min(log.first_instant for log in logs),
        "Node stop spread, s": max(log.last_instant for log in logs) - min(log.last_instant for log in logs),
        "Slots analysed": sum(host[-1].slot - host[0].slot for host in slots) // len(slots),
    }


def compute_manifest(
    run: Run, filters: Sequence[Condition], slots: Sequence[Sequence[Slot]], chain: Sequence[BlockRow]
) -> dict[str, Any]:
    """Return cell label -> uncut value, in the order of the table, without the analysis date; spreads in ns."""
    return {
        **_compute_identity(run),
        **_compute_workload(run.meta),
        "Machines": len(run.logs),
        "Number of filters applied": len(filters),
        **_compute_log_figures(run.logs),
        **_compute_domain(run, slots),
        "Blocks analysed": sum(row.is_accepted for row in chain),
        "Blocks rejected": sum(not row.is_accepted for row in chain),
    }
