"""Rates of records: planted changes, more work, longer runs, and simulated runs without a change."""

from __future__ import annotations

import random
from collections import Counter, defaultdict

import pytest

from assay.judgement.record_rates import PLACES, Presence, RunRecords, compare_records

HOSTS = tuple(f"web-{index}" for index in range(6))


def simulate(
    seed: int, rates: dict[str, float], rows: int = 600, seconds: int = 60, *, is_placed: bool = True
) -> RunRecords:
    """Return the records of a run: so many of each name per row, in bursts of up to three."""
    source = random.Random(seed)
    by_place: defaultdict[str, Counter[tuple[int, str]]] = defaultdict(Counter)
    for name, rate in rates.items():
        for _ in range(rows):
            if source.random() < rate / 2:
                by_place[name][source.randrange(PLACES), source.choice(HOSTS)] += source.randint(1, 3)
    by_host: dict[str, Counter[str]] = {name: Counter() for name in by_place}
    for name, counts in by_place.items():
        for (_, host), number in counts.items():
            by_host[name][host] += number
    return RunRecords(rows, seconds, HOSTS, by_host, by_place if is_placed else {})


RATES = {"request": 1.0, "retry": 0.5, "cache.miss": 0.8, "flush": 0.3}


@pytest.mark.parametrize("is_placed", [True, False])
def test_another_rate_a_new_and_a_lost_name_are_named(is_placed: bool) -> None:
    base = simulate(1, {**RATES, "old": 0.2}, is_placed=is_placed)
    other = simulate(2, {**RATES, "retry": 1.5, "fresh": 0.2, "rare": 0.002}, is_placed=is_placed)
    changes = {item.name: item for item in compare_records([base], [other])}
    assert {name: item.presence for name, item in changes.items()} == {
        "fresh": Presence.NEW, "old": Presence.GONE, "retry": Presence.CHANGED,
    }  # fmt: skip
    counts = base.totals["retry"], other.totals["retry"]
    assert (changes["retry"].counts, changes["retry"].ratio) == (counts, pytest.approx(counts[1] / counts[0]))


@pytest.mark.parametrize(("rows", "seconds"), [(1200, 60), (1200, 120), (600, 120)])
def test_more_work_or_a_longer_run_changes_no_rate(rows: int, seconds: int) -> None:
    for seed in range(10):
        base, other = simulate(seed, RATES), simulate(100 + seed, RATES, rows, seconds)
        assert not compare_records([base], [other])


def test_runs_without_a_change_name_nothing() -> None:
    named = sum(bool(compare_records([simulate(seed, RATES)], [simulate(1000 + seed, RATES)])) for seed in range(100))
    assert named <= 5


def test_few_hosts_without_times_have_only_large_changes() -> None:
    def create(number: int) -> RunRecords:
        return RunRecords(100, 10, ("a", "b"), {"retry": {"a": number, "b": number}})

    assert not compare_records([create(20)], [create(38)])
    (change,) = compare_records([create(20)], [create(42)])
    assert (change.ratio, change.judgement) == (pytest.approx(2.1), None)
