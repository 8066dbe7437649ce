"""Test the manifest cells of every reference case and report."""

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
from assay.number_styles.run_parameter_cells import (
    KINDS,
    format_manifest_cell,
    format_real_cell,
    format_spread_cell,
    format_text_cell,
)
from assay.util.diagnostics import AssayError
from tests.compare_reference import CARDANO, CASES, load_json

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

# No file of the run has the date of the analysis.
NOT_COMPARED = "Analysis date"


def create_text_cell(width: int, empty: str = "") -> Cell:
    return Cell("unsuffixed", width, empty)


def create_real_cell(width: int) -> Cell:
    return Cell("real", width, "")


def parse_nanoseconds(instant: str) -> int:
    """Parse an instant of the reference data, such as `2026-02-05T18:52:16.000389299Z`, to ns since 1970."""
    date_text, fraction = re.fullmatch(r"([^.Z]+)(?:\.(\d+))?Z", instant).groups(default="")  # type: ignore[union-attr]
    seconds = int(datetime.fromisoformat(date_text).replace(tzinfo=UTC).timestamp())
    return seconds * 10**9 + int(fraction.ljust(9, "0"))


def compute_difference(instants: list[str]) -> int:
    first, last = map(parse_nanoseconds, instants)
    return last - first


def compute_whole_seconds(instants: list[str]) -> int:
    return round(compute_difference(instants) / 10**9)


def compute_expected_cells(case: str) -> dict[str, str]:
    """Label -> cell, from the run's files and its unrounded summary."""
    run = CARDANO / Path(case).parts[0] / "run"
    meta = load_json(run / "meta.json")["meta"]
    start = parse_nanoseconds(load_json(run / "genesis-shelley.json")["systemStart"])
    summary = load_json(CARDANO / case / "summary.json.gz")
    times = {"Cluster system start date": (start, DATE), "Cluster system start time": (start, TIME)}
    cells = (
        times
        | _build_identity(meta)
        | _build_workload(meta["profile_content"])
        | _build_figures(summary)
        | _build_spans(summary)
    )
    return {label: format_manifest_cell(value, cell) for label, (value, cell) in cells.items()}


def _build_identity(meta: dict[str, Any]) -> dict[str, tuple[Any, Cell]]:
    manifest = meta["manifest"]
    return {
        "Identifier": (meta["ident"], create_text_cell(32)),
        "Run batch": (meta["batch"], create_text_cell(32)),
        "GHC version": (meta["node_ghc_version"], create_text_cell(32)),
        "Era": (meta["era"], create_text_cell(32)),
        **{f"{name} version": (manifest[name]["version"], create_text_cell(12)) for name in COMPONENTS},
        **{f"{name} git": (manifest[name]["commit"], create_text_cell(7)) for name in COMPONENTS},
    }


def _build_workload(profile: dict[str, Any]) -> dict[str, tuple[Any, Cell]]:
    genesis, generator = profile["genesis"], profile["generator"]
    return {
        "Delegation map size": (genesis["delegators"], INTEGER),
        "Stuffed UTxO size": (genesis["utxo"], INTEGER),
        "DRep count": (genesis["dreps"], INTEGER),
        "Extra tx payload": (generator["add_tx_size"], INTEGER),
        "Tx inputs": (generator["inputs_per_tx"], INTEGER),
        "Tx Outputs": (generator["outputs_per_tx"], INTEGER),
        "TPS": (generator["tps"], create_real_cell(7)),
        "Transaction count": (generator["tx_count"], INTEGER),
        "Plutus script": (generator.get("plutus", {}).get("script"), create_text_cell(32, "---")),
    }


def _build_figures(summary: dict[str, Any]) -> dict[str, tuple[Any, Cell]]:
    return {
        "Machines": (summary["sumHosts"], INTEGER),
        "Number of filters applied": (len(summary["sumFilters"][1]), INTEGER),
        "Log objects emitted per host": (summary["cdfLogObjectsEmitted"]["cdfAverage"], create_real_cell(12)),
        "Log objects analysed per host": (summary["cdfLogObjects"]["cdfAverage"], create_real_cell(12)),
        "Host run time, s": (summary["cdfRuntime"]["cdfAverage"], create_real_cell(7)),
        "Host log line rate, Hz": (summary["cdfLogLineRate"]["cdfAverage"], create_real_cell(6)),
        "Total log objects analysed": (summary["sumLogObjectsTotal"], INTEGER),
        "Slots analysed": (summary["sumDomainSlots"]["ddFilteredCount"]["cdfAverage"], INTEGER),
        "Blocks analysed": (summary["sumDomainBlocks"]["ddFilteredCount"], INTEGER),
        "Blocks rejected": (summary["sumBlocksRejected"], INTEGER),
    }


def _build_spans(summary: dict[str, Any]) -> dict[str, tuple[Any, Cell]]:
    run, analysed_duration = (compute_whole_seconds(summary["sumDomainTime"][key]) for key in ("ddRaw", "ddFiltered"))
    return {
        "Run time, s": (run, INTEGER),
        "Analysed run duration, s": (analysed_duration, INTEGER),
        "Run time efficiency": (analysed_duration / run, create_real_cell(4)),
        "Node start spread, s": (compute_difference(summary["sumStartSpread"]["ddRaw"]), SPREAD),
        "Node stop spread, s": (compute_difference(summary["sumStopSpread"]["ddRaw"]), SPREAD),
    }


@pytest.mark.parametrize("case", CASES)
def test_every_cell_of_the_runs_own_manifest_is_printed(case: str) -> None:
    printed_cells = {label: cell for label, cell, *_ in load_json(CARDANO / case / "tables-org.json")["summary"][1:]}
    del printed_cells[NOT_COMPARED]
    assert compute_expected_cells(case) == printed_cells


@pytest.mark.parametrize("report", RUNS)
def test_every_cell_of_the_reports_manifest_is_printed(report: str) -> None:
    rows = load_json(CARDANO / "reports" / f"{report}.json")["manifest"]["rows"]
    runs = [compute_expected_cells(f"{run}/expected") for run in RUNS[report]]
    printed_cells = {label: cells for label, *cells in rows if label != NOT_COMPARED}
    assert len(printed_cells) == 44
    assert {label: [run[label] for run in runs] for label in printed_cells} == printed_cells


def test_every_kind_of_cell_is_printed() -> None:
    assert all(format_manifest_cell(1, Cell(kind, 0, "")) for kind in KINDS)


def test_an_unknown_kind_of_cell_is_an_error() -> None:
    with pytest.raises(AssayError, match="no cell of the manifest has the kind `datum`"):
        format_manifest_cell(1, Cell("datum", 0, ""))


@given(st.text(min_size=1), st.integers(1, 40))
def test_a_text_cell_is_the_start_of_the_text(word: str, width: int) -> None:
    cell = format_text_cell(word, width)
    assert word.startswith(cell)
    assert len(cell) <= width


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(1, 12))
def test_a_real_cell_has_no_exponent(number: float, width: int) -> None:
    assert set(format_real_cell(number, width)) <= set("-.0123456789")


@given(st.integers(0, 10**17))
def test_a_spread_is_exact_when_it_fits(spread: int) -> None:
    spread_text = format_spread_cell(spread, 0)
    assert Decimal(spread_text) * 10**9 == spread
    assert format_spread_cell(spread, 9) == spread_text[:9]
