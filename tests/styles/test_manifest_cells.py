"""Manifest cells: those of every reference case and report."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.lang.model.report import Cell
from assay.styles.manifest_cells import KINDS, manifest_cell, real_cell, spread_cell, text_cell
from assay.util.diagnostics import AssayError
from tests.compare_reference import CARDANO, CASES, load

COMPONENTS = (
    "cardano-node",
    "ouroboros-consensus",
    "ouroboros-network",
    "cardano-ledger-core",
    "plutus-core",
    "cardano-crypto",
    "cardano-prelude",
)
RUNS = {"two": ("baseline", "candidate"), "three": ("baseline", "candidate", "candidate2")}
INTEGER = Cell("integer", 0, "")
DATE = Cell("date", 0, "")
TIME = Cell("time", 0, "")
SPREAD = Cell("spread", 9, "")

# The date of the analysis is in no file of the run.
NOT_COMPARED = "Analysis date"


def text(width: int, empty: str = "") -> Cell:
    return Cell("unsuffixed", width, empty)


def real(width: int) -> Cell:
    return Cell("real", width, "")


def nanoseconds(instant: str) -> int:
    """An instant of the reference data, such as `2026-02-05T18:52:16.000389299Z`, since 1970."""
    whole, fraction = re.fullmatch(r"([^.Z]+)(?:\.(\d+))?Z", instant).groups(default="")  # type: ignore[union-attr]
    seconds = int(datetime.fromisoformat(whole).replace(tzinfo=UTC).timestamp())
    return seconds * 10**9 + int(fraction.ljust(9, "0"))


def difference(instants: list[str]) -> int:
    first, last = map(nanoseconds, instants)
    return last - first


def whole_seconds(instants: list[str]) -> int:
    return round(difference(instants) / 10**9)


def expected_cells(case: str) -> dict[str, str]:
    """Label -> cell, from the run's files and its unrounded summary."""
    run = CARDANO / Path(case).parts[0] / "run"
    meta = load(run / "meta.json")["meta"]
    start = nanoseconds(load(run / "genesis-shelley.json")["systemStart"])
    summary = load(CARDANO / case / "summary.json.gz")
    times = {"Cluster system start date": (start, DATE), "Cluster system start time": (start, TIME)}
    cells = times | _identity(meta) | _workload(meta["profile_content"]) | _figures(summary) | _spans(summary)
    return {label: manifest_cell(value, cell) for label, (value, cell) in cells.items()}


def _identity(meta: dict[str, Any]) -> dict[str, tuple[Any, Cell]]:
    manifest = meta["manifest"]
    return {
        "Identifier": (meta["ident"], text(32)),
        "Run batch": (meta["batch"], text(32)),
        "GHC version": (meta["node_ghc_version"], text(32)),
        "Era": (meta["era"], text(32)),
        **{f"{name} version": (manifest[name]["version"], text(12)) for name in COMPONENTS},
        **{f"{name} git": (manifest[name]["commit"], text(7)) for name in COMPONENTS},
    }


def _workload(profile: dict[str, Any]) -> dict[str, tuple[Any, Cell]]:
    genesis, generator = profile["genesis"], profile["generator"]
    return {
        "Delegation map size": (genesis["delegators"], INTEGER),
        "Stuffed UTxO size": (genesis["utxo"], INTEGER),
        "DRep count": (genesis["dreps"], INTEGER),
        "Extra tx payload": (generator["add_tx_size"], INTEGER),
        "Tx inputs": (generator["inputs_per_tx"], INTEGER),
        "Tx Outputs": (generator["outputs_per_tx"], INTEGER),
        "TPS": (generator["tps"], real(7)),
        "Transaction count": (generator["tx_count"], INTEGER),
        "Plutus script": (generator.get("plutus", {}).get("script"), text(32, "---")),
    }


def _figures(summary: dict[str, Any]) -> dict[str, tuple[Any, Cell]]:
    return {
        "Machines": (summary["sumHosts"], INTEGER),
        "Number of filters applied": (len(summary["sumFilters"][1]), INTEGER),
        "Log objects emitted per host": (summary["cdfLogObjectsEmitted"]["cdfAverage"], real(12)),
        "Log objects analysed per host": (summary["cdfLogObjects"]["cdfAverage"], real(12)),
        "Host run time, s": (summary["cdfRuntime"]["cdfAverage"], real(7)),
        "Host log line rate, Hz": (summary["cdfLogLineRate"]["cdfAverage"], real(6)),
        "Total log objects analysed": (summary["sumLogObjectsTotal"], INTEGER),
        "Slots analysed": (summary["sumDomainSlots"]["ddFilteredCount"]["cdfAverage"], INTEGER),
        "Blocks analysed": (summary["sumDomainBlocks"]["ddFilteredCount"], INTEGER),
        "Blocks rejected": (summary["sumBlocksRejected"], INTEGER),
    }


def _spans(summary: dict[str, Any]) -> dict[str, tuple[Any, Cell]]:
    run, analysed = (whole_seconds(summary["sumDomainTime"][key]) for key in ("ddRaw", "ddFiltered"))
    return {
        "Run time, s": (run, INTEGER),
        "Analysed run duration, s": (analysed, INTEGER),
        "Run time efficiency": (analysed / run, real(4)),
        "Node start spread, s": (difference(summary["sumStartSpread"]["ddRaw"]), SPREAD),
        "Node stop spread, s": (difference(summary["sumStopSpread"]["ddRaw"]), SPREAD),
    }


@pytest.mark.parametrize("case", CASES)
def test_every_cell_of_the_runs_own_manifest_is_printed(case: str) -> None:
    printed = {label: cell for label, cell, *_ in load(CARDANO / case / "tables-org.json")["summary"][1:]}
    del printed[NOT_COMPARED]
    assert expected_cells(case) == printed


@pytest.mark.parametrize("report", RUNS)
def test_every_cell_of_the_reports_manifest_is_printed(report: str) -> None:
    rows = load(CARDANO / "reports" / f"{report}.json")["manifest"]["rows"]
    runs = [expected_cells(f"{run}/expected") for run in RUNS[report]]
    printed = {label: cells for label, *cells in rows if label != NOT_COMPARED}
    assert len(printed) == 44
    assert {label: [run[label] for run in runs] for label in printed} == printed


def test_every_kind_of_cell_is_printed() -> None:
    assert all(manifest_cell(1, Cell(kind, 0, "")) for kind in KINDS)


def test_an_unknown_kind_of_cell_is_an_error() -> None:
    with pytest.raises(AssayError, match="no cell of the manifest has the kind `datum`"):
        manifest_cell(1, Cell("datum", 0, ""))


@given(st.text(min_size=1), st.integers(1, 40))
def test_a_text_cell_is_the_start_of_the_text(word: str, width: int) -> None:
    cell = text_cell(word, width)
    assert word.startswith(cell)
    assert len(cell) <= width


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(1, 12))
def test_a_real_cell_has_no_exponent(number: float, width: int) -> None:
    assert set(real_cell(number, width)) <= set("-.0123456789")


@given(st.integers(0, 10**17))
def test_a_spread_is_exact_when_it_fits(spread: int) -> None:
    whole = spread_cell(spread, 0)
    assert Decimal(whole) * 10**9 == spread
    assert spread_cell(spread, 9) == whole[:9]
