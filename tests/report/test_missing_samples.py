"""Test parts of articles with few samples: tables without any are left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.cometbft import assemble_document
from tests.support.loads import Experiment, add_samples, create_load_run

AVERAGES = "Average resident memory with and without exporter processes"
SECONDS = (0, 5, 10, 15)


def build_part(run: Path, cache: Path, title: str) -> Any:
    galleries = assemble_document(cache, run)["parts"]
    return next(item for item in galleries if item["title"] == title)


@pytest.mark.parametrize("has_memory", [False, True])
def test_table_of_averages_without_samples_is_left_out(has_memory: bool, tmp_path: Path, cache: Path) -> None:
    nodes = {"validator0": [(second, "3") for second in SECONDS]}
    metrics = ["cometbft_p2p_peers", *(["process_resident_memory_bytes"] if has_memory else [])]
    run = add_samples(create_load_run(tmp_path / "run", Experiment("a")), dict.fromkeys(metrics, nodes))
    part = build_part(run, cache, "Metrics of the nodes")
    assert (AVERAGES in [table["title"] for table in part["tables"]]) == has_memory
    assert (f"There are no samples for: {AVERAGES}." in part["text"]) is not has_memory
