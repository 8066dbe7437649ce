"""`assay check` of specs without a slip."""

from __future__ import annotations

from pathlib import Path

from tests.support.commands import run_assay


def test_check_of_good_specs_counts_definitions(cache: Path) -> None:
    result = run_assay("check", "--cache", cache)
    assert (result.status, result.out, result.err) == (
        0,
        "antelope: 4 sources, 20 events, 18 relations, 20 grains, 105 metrics, 0 filters, 1 summary, 3 reports, "
        "18 series, 10 examples: no problem\n"
        "cardano: 1 source, 25 events, 20 relations, 10 grains, 73 metrics, 16 filters, 2 summaries, 6 reports, "
        "3 series, 6 examples: no problem\n"
        "cometbft: 4 sources, 17 events, 10 relations, 10 grains, 38 metrics, 0 filters, 1 summary, 3 reports, "
        "10 series, 7 examples: no problem\n",
        "antelope: no report shows `test_passed`, so no build, comparison or gate does\n"
        "cardano: no report shows `ledgerSnapshotTime`, so no build, comparison or gate does\n"
        "cometbft: no report shows `node_txs`, so no build, comparison or gate does\n",
    )
