"""Test that proposals measure no totals and averages since a start, also if rounding hides that they grow."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from tests.support.commands import run_assay

#: phase of a block -> its mean time in ms, as Bitcoin Core logs them
PHASES = {
    "Sanity checks": 0.01,
    "Fork checks": 0.04,
    "Connect block": 42.0,
    "Write undo data": 1.9,
    "Flush": 3.5,
    "Writing chainstate": 0.06,
}


def _write_log(blocks: int, before: int, seed: int) -> str:
    """Return the lines of some blocks, with the total and the average of each phase since `before` blocks earlier."""
    rng = random.Random(seed)
    totals = {phase: mean * before for phase, mean in PHASES.items()}
    lines = []
    for block in range(blocks):
        for phase, mean in PHASES.items():
            time = mean * rng.lognormvariate(0, 0.4)
            totals[phase] += time
            average = totals[phase] / (before + block + 1)
            at = f"2026-03-02T09:{block // 60:02}:{block % 60:02}Z"
            lines.append(f"{at} [bench] - {phase}: {time:.2f}ms [{totals[phase] / 1000:.2f}s ({average:.2f}ms/blk)]")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(("blocks", "before"), [(40, 0), (120, 3000)])
def test_times_are_measured_and_neither_totals_nor_averages(blocks: int, before: int, tmp_path: Path) -> None:
    for version, seed in (("base", 1), ("new", 2)):
        log = tmp_path / version / "debug.log"
        log.parent.mkdir()
        log.write_text(_write_log(blocks, before + seed, seed), encoding="utf-8")
    created = run_assay("init", tmp_path / "service", "--from", tmp_path / "base", tmp_path / "new", "--format", "json")
    assert (created.status, created.err) == (0, "")
    proposal = json.loads(created.out)
    (source,) = proposal["sources"]
    names = {event["name"]: event["names"][0] for event in source["events"]}
    for grain in proposal["grains"]:
        for metric in grain["metrics"]:
            before_value = names[metric["event"]].partition(f"{{{metric['field']}}}")[0]
            assert "[" not in before_value.removeprefix("[bench]"), (metric["id"], names[metric["event"]])
    measured = {metric["field"] for grain in proposal["grains"] for metric in grain["metrics"]}
    unmeasured = {name for name, _ in proposal["omitted"]} | {name for _, name in proposal["growing"]}
    assert measured
    assert unmeasured
    assert not measured & unmeasured
