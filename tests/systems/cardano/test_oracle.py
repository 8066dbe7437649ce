"""Test the oracle against the incumbent analyser, number by number, on every reference case."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.compare_reference import CARDANO
from tests.oracle import (
    Analysis,
    Reconstruction,
    Refused,
    analyse,
    analyse_reconstruction,
    load_filters,
    reconstruct,
    reference,
)
from tests.oracle.distribution import published_average
from tests.oracle.generate import DEFECTS, filter_json, random_filters, random_run
from tests.oracle.instants import SECOND, parse_instant
from tests.oracle.model import Event, Genesis, HostLog
from tests.oracle.resources import RESOURCES, percent_of_core
from tests.oracle.simulate import draw_shape
from tests.oracle.timeline import Slot, slot_timeline
from tests.support.cases import CASES, Case, filters_named
from tests.support.differences import assert_no_differences


@functools.lru_cache(maxsize=1)
def reconstruction(case: str) -> Reconstruction:
    return reconstruct(CARDANO / case / "run")


@functools.cache
def analysis(case: str, filter_name: str) -> Analysis:
    return analyse_reconstruction(reconstruction(case), filters_named(filter_name))


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize(
    "differences",
    [
        reference.propagation_differences,
        reference.machine_differences,
        reference.chart_differences,
        reference.chain_differences,
        reference.manifest_differences,
        reference.table_differences,
    ],
)
def test_oracle_agrees_with_the_incumbent(case: Case, differences: Callable[[Analysis, Path], list[str]]) -> None:
    assert_no_differences(differences(analysis(case.name, case.filters), case.results))


@pytest.mark.parametrize(
    ("case", "reason"),
    [
        ("hdrforge", "has no forger"),
        ("dupforge", "has no forger"),
        ("nosize", "lacks size"),
        ("gap1001", "a gap of 1000 slots"),
    ],
)
def test_unanalysable_run_is_refused_with_its_reason(case: str, reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        analyse(CARDANO / "tiny" / f"refused-{case}" / "run", [])


def test_event_without_slot_is_quarantined() -> None:
    actual_analysis = analysis("tiny/refused-miss", "")
    assert sum(host.quarantined for host in actual_analysis.hosts) == 1
    assert actual_analysis.manifest["Total log objects analysed"] == 271


def test_segmented_namespaces_equal_dotted_ones() -> None:
    assert analysis("tiny/ns-segments", "").metrics == analysis("tiny/plain", "").metrics
    assert analysis("tiny/ns-segments", "").chain == analysis("tiny/plain", "").chain


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("1970-01-01T00:00:01Z", 1_000_000_000),
        ("1970-01-01T00:00:00.5Z", 500_000_000),
        ("1970-01-01T00:00:00.000000001999Z", 1),
        ("2024-10-19T10:16:27.459112022Z", 1_729_332_987_459_112_022),
    ],
)
def test_instant_is_cut_to_nanoseconds(text: str, nanoseconds: int) -> None:
    assert parse_instant(text) == nanoseconds


@pytest.mark.parametrize(
    ("increase", "elapsed", "percent"),
    [
        (50, 1_000_000_000, 50),
        (50, 999_000_000, 51),
        (0, 1_000_000_000, 0),
        (50, 0, 0),
        (50, -1_000_000_000, 2**64 - 50),
        (2**64 - 1, 1_000_000_000, 10_737_418 * 2**34),
    ],
)
def test_core_share_is_single_precision_and_modulo_word(increase: int, elapsed: int, percent: int) -> None:
    assert percent_of_core(increase, elapsed) == percent


def test_published_average_takes_the_29_lowest_hosts() -> None:
    means = [float(x) for x in range(52, 0, -1)]
    assert published_average(means) == 15.0
    assert published_average([3.0, 1.0]) == 2.0


def reading(at: int, slot: int | None = None) -> Event:
    if slot is not None:
        data: dict[str, Any] = {"slot": slot, "utxo_size": 0, "chain_density": 0.0}
        return Event("leadership_check_started", at, data)
    return Event("resources", at, dict.fromkeys(RESOURCES, at // SECOND))


def timeline_of(*events: Event) -> list[Slot]:
    genesis = Genesis(0, SECOND, 10, 1, 1.0, 90_112)
    return slot_timeline(genesis, HostLog("node-0", events, 0, 0, 0, 0, 0))


def test_late_reading_and_check_belong_to_their_slot() -> None:
    slots = timeline_of(reading(0), reading(4 * SECOND), reading(2 * SECOND), reading(5 * SECOND, 1))
    assert [slot.starts for slot in slots] == [0, 1, 0, 0, 0]
    assert [slot.resources and slot.resources["Threads"] for slot in slots] == [0, 0, 2, 0, 4]


@pytest.mark.parametrize(("slot", "refused"), [(1000, False), (1001, True)])
def test_gap_of_1000_slots_is_too_long(slot: int, refused: bool) -> None:
    with pytest.raises(Refused, match="a gap of 1000 slots") if refused else nullcontext():
        assert len(timeline_of(reading(0), reading(slot * SECOND))) == 1001


def test_same_seed_writes_same_bytes(tmp_path: Path) -> None:
    def contents(directory: Path) -> dict[str, bytes]:
        random_run(directory, 7)
        files = [path for path in directory.rglob("*") if path.is_file()]
        return {str(path.relative_to(directory)): path.read_bytes() for path in files}

    assert contents(tmp_path / "one") == contents(tmp_path / "two")


@pytest.mark.parametrize("seed", range(12))
def test_random_run_can_be_analysed(tmp_path: Path, seed: int) -> None:
    shape = random_run(tmp_path, seed)
    analysis = analyse(tmp_path, [])
    assert [host.host for host in analysis.hosts] == sorted(shape.hosts)
    assert analysis.manifest["Blocks analysed"] == len(analysis.chain) >= 1


@pytest.mark.parametrize("defect", DEFECTS)
def test_random_run_with_a_defect_is_refused(tmp_path: Path, defect: str) -> None:
    random_run(tmp_path, 3, defect=defect)
    with pytest.raises(Refused):
        analyse(tmp_path, [])


@pytest.mark.parametrize("seed", range(20))
def test_random_filters_survive_their_file(tmp_path: Path, seed: int) -> None:
    filters = random_filters(seed, draw_shape(Random(seed), (2, 5), (20, 80)))
    path = tmp_path / "filters.json"
    path.write_text(filter_json(filters), encoding="utf-8")
    assert load_filters(path) == filters
