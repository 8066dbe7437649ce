"""Test that listings of blocks have the blocks of the incumbent analyser, with its values and verdicts.

The blocks, and the counts of missing and negative steps, are compared with the incumbent's chain; steps of the forger,
and values over peers and hosts, with those of the oracle, whose chain equals the incumbent's.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.compare_reference import load_json
from tests.oracle import BlockRow, analyse_reconstruction, reconstruct
from tests.support.cases import CASES, FILTERS, Case, format_options
from tests.support.commands import build

SECOND = 1_000_000_000
#: durations of observers, each from the "from" of the metric
PEER_METRICS = {
    "cdfPeerRequest": "requested",
    "cdfPeerFetch": "fetched",
    "cdfPeerAnnounce": "announced",
    "cdfPeerSend": "sending",
    "cdfPeerAdoption": "adopted",
}
SHARES = {"cdf0.50": 0.5, "cdf0.80": 0.8, "cdf0.96": 0.96, "cdf1.00": 1.0}


@dataclass(frozen=True, slots=True)
class ListedCase:
    """A case with the rows of its listings by block, the incumbent's blocks, and those of the oracle."""

    analysed: Mapping[str, Mapping[str, Any]]
    rejected: Mapping[str, Mapping[str, Any]]
    incumbent: Sequence[Mapping[str, Any]]
    oracle: Mapping[str, BlockRow]
    folder: Path


def read_rows(file: Path) -> dict[str, dict[str, Any]]:
    """Read the rows of a Parquet file by block."""
    with duckdb.connect() as connection:
        rows = connection.execute(f"SELECT * FROM read_parquet('{file}')")
        names = [item[0] for item in rows.description]
        return {row["block"]: row for row in (dict(zip(names, values, strict=True)) for values in rows.fetchall())}


@pytest.fixture(
    scope="module",
    params=[case for case in CASES if case.filters and case.name in ("edges", "defects", "forks", "baseline")],
    ids=str,
)
def listed_case(request: pytest.FixtureRequest, cache: Path, tmp_path_factory: pytest.TempPathFactory) -> ListedCase:
    case: Case = request.param
    folder = tmp_path_factory.mktemp("listings")
    options = [f"--filter={text}" for text in format_options(case.conditions)]
    result = build([f"run={case.run}"], folder / "out", cache, *options, "--to", "md")
    assert result.status == 0, result.err
    rows = folder / "out" / "rows" / "run"
    chain = analyse_reconstruction(reconstruct(case.run), case.conditions).chain
    return ListedCase(
        read_rows(rows / "analysed-blocks.parquet"),
        read_rows(rows / "rejected-blocks.parquet"),
        load_json(case.results / "chain.json.gz"),
        {row.block: row for row in chain},
        rows,
    )


def test_each_block_is_analysed_or_rejected(listed_case: ListedCase) -> None:
    accepted = {
        block["beBlock"]: all(verdict for _, verdict in block["beAcceptance"]) for block in listed_case.incumbent
    }
    assert listed_case.analysed.keys() == {block for block, verdict in accepted.items() if verdict}
    assert listed_case.rejected.keys() == {block for block, verdict in accepted.items() if not verdict}
    numbers = [row["block_no"] for row in listed_case.analysed.values()]
    assert numbers == sorted(numbers)


def test_rejected_blocks_name_their_filters(listed_case: ListedCase) -> None:
    for name, row in listed_case.rejected.items():
        failed = [condition for condition, verdict in listed_case.oracle[name].acceptance if not verdict]
        texts = [FILTERS[c.name] if c.argument is None else f"{FILTERS[c.name]}={c.argument}" for c in failed]
        assert row["rejected_by"] == ", ".join(texts)


def test_steps_are_counted_as_by_the_incumbent(listed_case: ListedCase) -> None:
    rows = {**listed_case.analysed, **listed_case.rejected}
    for block in listed_case.incumbent:
        tags = Counter(error["eDesc"]["tag"] for error in block["beErrors"])
        row = rows[block["beBlock"]]
        assert (row["blockMissingSteps"], row["blockNegativeSteps"]) == (
            tags["BPEMissingPhase"],
            tags["BPENegativePhase"],
        )
        assert (row["cdfBlockBattle"], row["cdfBlockSize"]) == (
            len(block["beOtherBlocks"]),
            block["beForge"]["bfBlockSize"],
        )
        assert (row["block_no"], row["slot"], row["forger"]) == (
            block["beBlockNo"], block["beSlotNo"], block["beForge"]["bfForger"],
        )  # fmt: skip


def test_steps_of_the_forger_equal_the_oracle(listed_case: ListedCase) -> None:
    for name, row in listed_case.analysed.items():
        durations = listed_case.oracle[name].durations
        listed = {metric: row[metric] for metric in durations if metric in row}
        assert len(listed) == 11
        assert listed == {metric: durations[metric] for metric in listed}


def test_peers_are_averaged_by_block(listed_case: ListedCase) -> None:
    for name, row in listed_case.analysed.items():
        valid = [item for item in listed_case.oracle[name].observations if item.valid]
        for metric, attribute in PEER_METRICS.items():
            values = [value for item in valid if (value := getattr(item, attribute)) is not None]
            assert row[metric] == (sum(values) / len(values) if values else None)
        assert row["cdfPeerNoticeFirst"] == min((item.noticed for item in valid), default=None)


def test_adoption_is_that_of_all_hosts(listed_case: ListedCase) -> None:
    for name, row in {**listed_case.analysed, **listed_case.rejected}.items():
        delays = listed_case.oracle[name].adoption_delays
        for metric, share in SHARES.items():
            assert row[metric] == delays[min(int(len(delays) * share), len(delays) - 1)]


def test_csv_has_the_rows_in_units(listed_case: ListedCase) -> None:
    for name, rows in (("analysed", listed_case.analysed), ("rejected", listed_case.rejected)):
        with (listed_case.folder / f"{name}-blocks.csv").open(encoding="utf-8", newline="") as file:
            records = list(csv.DictReader(file))
        assert [record["block"] for record in records] == list(rows)
        for record in records:
            row = rows[record["block"]]
            assert float(record["cdf1.00"]) == row["cdf1.00"] / SECOND
            assert int(record["cdfBlockSize"]) == row["cdfBlockSize"]
            assert record.get("rejected_by") == row.get("rejected_by")
