"""Divide changes over values and times: sums are exact, and only what stands out is a focus."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from random import Random

import pytest

from assay.judgement.batches import Cell, RunCells, Weighting, count_places, measure_run
from assay.judgement.focus import Column, FocusTable, Rules, find_foci
from assay.judgement.interval import Version
from assay.judgement.split_change import REMAINDER, SplitRun, divide_change, split_by_cluster, split_by_values
from assay.judgement.time_focus import find_time_focus
from assay.judgement.verdict import Direction, Margin

Row = tuple[int, str, str, int]
"""Place, host, kind and value."""
RULES = Rules(Margin(percent=2), Direction.LOWER, 0.95)


def draw_rows(random: Random, count: int, kinds: Sequence[str], change: Callable[[int, str, str], float]) -> list[Row]:
    """Draw rows of six hosts, each with a time of its own; `change` has the factor of a place, host and kind."""
    rows = []
    for number in range(count):
        place, host, kind = number * count_places(count) // count, f"h{random.randrange(6)}", random.choice(kinds)
        factor = change(number * 100 // count, host, kind) * (3 if kind == "write" else 1)
        rows.append((place, host, kind, round(1000 * factor * random.gammavariate(9, 1 / 9))))
    return rows


def build_cells(rows: Sequence[Row]) -> tuple[Cell, ...]:
    sums: dict[tuple[int, str], list[int]] = {}
    for place, host, _, value in rows:
        item = sums.setdefault((place, host), [0, 0])
        item[0] += value
        item[1] += 1
    return tuple(Cell(*key, *item) for key, item in sums.items())


def build_runs(rows: Sequence[Row], weighting: Weighting = Weighting.POOLED) -> tuple[SplitRun, SplitRun]:
    """Return the rows by host and by kind."""
    whole = RunCells(build_cells(rows), len(rows), 10, weighting)
    kinds = {kind: build_cells([row for row in rows if row[2] == kind]) for kind in sorted({row[2] for row in rows})}
    return split_by_cluster(whole), split_by_values(whole, dict(kinds))


def locate(base: Sequence[Row], other: Sequence[Row]) -> FocusTable:
    pair = build_runs(base), build_runs(other)
    columns = [
        Column(name, (pair[0][index],), (pair[1][index],), is_cluster=not index)
        for index, name in enumerate(("host", "kind"))
    ]
    versions = [Version.from_runs([measure_run(item[0].whole)]) for item in pair]
    return find_foci("new", (versions[0].mean, versions[1].mean), RULES.judge(*versions), columns, RULES)


@pytest.mark.parametrize("weighting", Weighting)
@pytest.mark.parametrize("seed", range(5))
def test_parts_of_random_runs_add_up(seed: int, weighting: Weighting) -> None:
    random = Random(seed)
    versions = [
        [build_runs(draw_rows(random, random.randrange(40, 300), kinds, lambda *_: 1.0), weighting) for _ in range(2)]
        for kinds in (("read", "scan"), ("read", "write", "scan", "write"))
    ]
    for index in (0, 1):
        base, other = ([run[index] for run in runs] for runs in versions)
        means = [sum(measure_run(run.whole).mean for run in runs) / 2 for runs in (base, other)]
        parts = divide_change(base, other)
        assert sum(part.within + part.mix for part in parts) == means[1] - means[0]
        for side in (0, 1):
            assert sum(part.weights[side] for part in parts) == 1
            assert sum(part.weights[side] * (part.averages[side] or 0) for part in parts) == means[side]


def test_value_that_one_version_lacks_is_mix() -> None:
    random = Random(1)
    base, other = (
        build_runs(draw_rows(random, 100, kinds, lambda *_: 1.0))[1] for kinds in (["read"], ["read", "write"])
    )
    parts = {part.value: part for part in divide_change([base], [other])}
    assert parts["write"].averages[0] is None
    assert parts["write"].within == 0
    assert parts["write"].mix > 0


def test_rows_without_part_are_the_remainder() -> None:
    rows = draw_rows(Random(1), 60, ["read", "write"], lambda *_: 1.0)
    whole = RunCells(build_cells(rows), len(rows))
    split = split_by_values(whole, {"read": build_cells([row for row in rows if row[2] == "read"])})
    writes = [row[3] for row in rows if row[2] == "write"]
    assert sum(cell.sum for cell in split.parts[REMAINDER]) == sum(writes)
    assert sum(cell.count for cell in split.parts[REMAINDER]) == len(writes)


@pytest.mark.parametrize(
    ("kinds", "change", "expected"),
    [
        (("read", "read", "write"), lambda *_: 1.0, set()),
        (("read", "read", "write"), lambda *_: 1.2, set()),
        (("read", "read", "write"), lambda _, host, __: 2.5 if host == "h3" else 1.0, {"h3"}),
        (("read", "read", "write"), lambda _, __, kind: 1.5 if kind == "write" else 1.0, {"write"}),
        (("read", "read", "write"), lambda _, __, kind: 1.6 if kind == "read" else 1.0, {"read"}),
        (("read", "write", "write"), lambda *_: 1.0, {"mix"}),
        (("read", "read", "write"), lambda place, *_: 2.0 if place >= 66 else 1.0, {"time"}),
        (("read", "read", "write"), lambda place, *_: 2.0 if 30 <= place < 55 else 1.0, {"time"}),
        (("read", "read", "write"), lambda _, host, __: 1.0 + int(host[1]) / 5, set()),  # each host by another factor
    ],
)
def test_only_what_changed_is_a_focus(
    kinds: tuple[str, ...], change: Callable[[int, str, str], float], expected: set[str]
) -> None:
    random = Random(2)
    base = draw_rows(random, 3000, ("read", "read", "write"), lambda *_: 1.0)
    table = locate(base, draw_rows(random, 3000, kinds, change))
    names = {str(item.value) for item in table.values}
    names |= ({"mix"} if table.mix else set()) | ({"time"} if table.time else set())
    assert names == expected


@pytest.mark.parametrize("hosts", [4, 5])
def test_one_of_few_hosts_is_a_focus(hosts: int) -> None:
    """Few others show how much hosts differ: a host that is twice as slow stands out all the same."""
    random, kinds = Random(4), ("read", "read", "write")
    base, other = (
        [(row[0], f"h{int(row[1][1]) % hosts}", *row[2:]) for row in draw_rows(random, 2500, kinds, lambda *_: 1.0)]
        for _ in range(2)
    )
    slow = [(place, host, kind, 2 * value if host == "h3" else value) for place, host, kind, value in other]
    assert {str(item.value) for item in locate(base, slow).values} == {"h3"}


def test_time_focus_has_the_edges_of_the_change() -> None:
    random = Random(3)
    base = draw_rows(random, 3000, ["read"], lambda *_: 1.0)
    other = draw_rows(random, 3000, ["read"], lambda place, *_: 2.0 if 30 <= place < 55 else 1.0)
    runs = [[build_runs(rows)[0].whole] for rows in (base, other)]
    focus = find_time_focus(runs[0], runs[1], 0.0, 0.025)
    assert focus
    assert abs(focus.first / focus.batches - 0.3) <= 2 / focus.batches
    assert abs((focus.last + 1) / focus.batches - 0.55) <= 2 / focus.batches
    assert focus.share == pytest.approx(1, abs=0.2)
    assert find_time_focus(runs[0], runs[1], 10_000.0, 0.025) is None  # less than the margin


def test_change_of_a_value_below_the_margin_is_no_focus() -> None:
    random = Random(4)
    base = draw_rows(random, 3000, ("read", "write"), lambda *_: 1.0)
    other = draw_rows(random, 3000, ("read", "write"), lambda _, __, kind: 1.6 if kind == "write" else 1.0)
    pair = build_runs(base)[1], build_runs(other)[1]
    rules = Rules(Margin(percent=90), Direction.LOWER, 0.95)
    column = Column("kind", (pair[0],), (pair[1],))
    versions = [Version.from_runs([measure_run(item.whole)]) for item in pair]
    certain = RULES.judge(*versions)
    averages: tuple[Fraction, Fraction] = (versions[0].mean, versions[1].mean)
    assert find_foci("new", averages, certain, [column], RULES).values
    assert not find_foci("new", averages, certain, [column], rules).values
