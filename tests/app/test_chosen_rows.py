"""The steps of a statistic are those of the rows that it chooses: against plain Python over the tables of a run."""

from __future__ import annotations

import math
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

import assay
from tests.compare_reference import CARDANO
from tests.support.laboratory import ROOT, ExaminedRun, Laboratory

Row = dict[str, Any]
RUN = CARDANO / "baseline" / "run"


@pytest.fixture(scope="module")
def examined(lab: Laboratory) -> ExaminedRun:
    return lab.examine(RUN)


def choose_rows(examined: ExaminedRun, share: float) -> list[Row]:
    """Return for each block the adoption at a share of all of them, in the order of their delays, then hosts."""
    by_block: dict[str, list[Row]] = defaultdict(list)
    for row in examined.query_rows("SELECT block, host, slot_start, adopted FROM adoption WHERE accepted"):
        by_block[row["block"]].append(row)
    chosen = []
    for rows in by_block.values():
        rows.sort(key=lambda row: (row["adopted"] - row["slot_start"], row["block"], row["host"]))
        chosen.append(rows[min(math.floor(len(rows) * share), len(rows) - 1)])
    return chosen


@pytest.mark.parametrize(("metric", "share"), [("cdf0.50", 0.5), ("cdf0.80", 0.8), ("cdf1.00", 1.0)])
def test_steps_are_those_of_chosen_rows(metric: str, share: float, examined: ExaminedRun, cache: Path) -> None:
    with assay.open(ROOT, cache) as workspace:
        (table,) = workspace.explain_change(metric, [f"a={RUN}", f"b={RUN}"], no_filters=True).tables
    blocks = {row["block"]: row for row in examined.query_rows("SELECT * FROM block")}
    observations = {(row["block"], row["host"]): row for row in examined.query_rows("SELECT * FROM observation")}
    chosen = choose_rows(examined, share)
    names = ("slot_start", "started", "block_context_known", "ledger_state_known", "ledger_view_known", "leading",
             "ticked", "snapshot", "forged")  # fmt: skip
    of_host = ("noticed", "requested", "fetched", "adopted")
    instants = []
    for row in chosen:
        block, observation = blocks[row["block"]], observations.get((row["block"], row["host"]), {})
        path = [*(block[name] for name in names), *(observation.get(name) for name in of_host)]
        if None not in path and path[-1] == row["adopted"]:
            instants.append(path)
    assert table.rows[0] == (len(chosen), len(instants))
    assert sum(table.total.sums[0]) == sum(row["adopted"] - row["slot_start"] for row in chosen)
    expected = [sum(path[number + 1] - path[number] for path in instants) for number in range(len(instants[0]) - 1)]
    assert [sum(step.sums[0]) for step in table.steps] == expected
    assert sum(step.averages[0] for step in table.steps) + table.rest[0] == table.total.averages[0]
