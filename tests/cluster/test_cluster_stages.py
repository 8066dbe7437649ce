"""Test builds by workers in several stages: tables and cells that depend on all hosts."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.engine import portion_plan
from assay.engine.portion_plan import PortionPlan
from assay.engine.portions import Partition, Portion, join_portions
from assay.engine.result_cache import Store
from assay_cluster import coordinator
from tests.compare_reference import CARDANO
from tests.support.clusters import read_tree, start_assay, stop_after
from tests.support.commands import run_assay

ROOT = CARDANO.parent.parent
COMMAND = ("build", "cardano/comparison", "--run", str(CARDANO / "many-hosts" / "run"), "--to=md")


@pytest.fixture(scope="module")
def expected_report(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of the report of a run as one machine builds it."""
    folder = tmp_path_factory.mktemp("single")
    assert run_assay("--cache", folder / "cache", *COMMAND, "-o", folder / "out", cwd=ROOT).status == 0
    return read_tree(folder / "out")


@pytest.mark.parametrize("rows", [portion_plan.KEY_ROWS, 50])
def test_stages_build_the_bytes_of_one_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, expected_report: dict[str, bytes], rows: int
) -> None:
    """Few rows are one portion of the key, many rows are several."""
    monkeypatch.setattr(portion_plan, "KEY_ROWS", rows)
    portions: list[Partition] = []

    def record(plan: PortionPlan, computed: list[Portion], store: Store) -> None:
        portions.extend(item.partition for item in computed)
        join_portions(plan, computed, store)

    monkeypatch.setattr(coordinator, "join_portions", record)
    cache, queue = ("--cache", str(tmp_path / "cache")), tmp_path / "queue"
    with stop_after([start_assay(ROOT, *cache, "work", str(queue))]):
        options = ("-o", str(tmp_path / "out"), "--on", f"folder:{queue}")
        result = run_assay(*cache, *COMMAND, *options, cwd=ROOT)
    assert result.status == 0, result.err
    assert read_tree(tmp_path / "out") == expected_report
    by_key = [part for part in portions if part.key]
    assert {part.key for part in by_key} == (set() if rows > 50 else {"block"})
    assert [part.number for part in by_key] == list(range(len(by_key)))
    assert sum(part.is_whole for part in portions) > (5 if rows == 50 else 1)
    assert not list((tmp_path / "cache" / "portions").iterdir())
