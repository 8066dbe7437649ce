"""Test builds by workers in several stages: tables and cells that depend on all hosts."""

from __future__ import annotations

import json
from pathlib import Path

from tests.compare_reference import CARDANO
from tests.support.clusters import finish, read_tree, start_assay, stop_after

ROOT = CARDANO.parent.parent


def test_stages_build_the_bytes_of_one_machine(tmp_path: Path) -> None:
    command = ["build", "cardano/comparison", "--run", str(CARDANO / "many-hosts" / "run"), "--to=md"]
    single = start_assay(ROOT, "--cache", str(tmp_path / "single"), *command, "-o", str(tmp_path / "expected"))
    with stop_after([single]):
        finish(single)
    cache, queue = ("--cache", str(tmp_path / "cache")), tmp_path / "queue"
    worker = start_assay(ROOT, *cache, "work", str(queue))
    options = ("-o", str(tmp_path / "out"), "--on", f"folder:{queue}", "--log-format", "json")
    with stop_after([worker]):
        log = finish(start_assay(ROOT, *cache, *command, *options))
    assert read_tree(tmp_path / "out") == read_tree(tmp_path / "expected")
    lines = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
    portions = [line["hosts"] for line in lines if line["stage"] == "task" and "compute" in line["task"]]
    assert portions.count(0) >= 1  # the times of all hosts
    assert not list((tmp_path / "cache" / "portions").iterdir())
