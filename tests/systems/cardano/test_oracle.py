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
    RefusalError,
    analyse,
    analyse_reconstruction,
    load_filters,
    reconstruct,
    reference,
)
from tests.oracle.distribution import compute_published_average
from tests.oracle.generate import DEFECTS, draw_filters, format_filters, write_random_run
from tests.oracle.instants import SECOND, parse_instant
from tests.oracle.model import Event, Genesis, HostLog
from tests.oracle.resources import RESOURCES, compute_core_percentage
from tests.oracle.simulate import draw_shape
from tests.oracle.timeline import Slot, build_timeline
from tests.support.cases import CASES, Case, load_named_filters
from tests.support.differences import assert_no_differences


@functools.lru_cache(maxsize=1)
def load_reconstruction(case: str) -> Reconstruction:
    return reconstruct(CARDANO / case / "run")


@functools.cache
def load_analysis(case: str, filter_name: str) -> Analysis:
    return analyse_reconstruction(load_reconstruction(case), load_named_filters(filter_name))


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize(
    "differences",
    [
        reference.compare_propagation,
        reference.compare_machines,
        reference.compare_charts,
        reference.compare_chain,
        reference.compare_manifest,
        reference.compare_tables,
    ],
)
def test_oracle_agrees_with_the_incumbent(case: Case, differences: Callable[[Analysis, Path], list[str]]) -> None:
    assert_no_differences(differences(load_analysis(case.name, case.filters), case.results))


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
    with pytest.raises(RefusalError, match=reason):
        analyse(CARDANO / "tiny" / f"refused-{case}" / "run", [])


def test_event_without_slot_is_quarantined() -> None:
    result = load_analysis("tiny/refused-miss", "")
    assert sum(host.quarantined for host in result.hosts) == 1
    assert result.manifest["Total log objects analysed"] == 271


def test_segmented_namespaces_equal_dotted_ones() -> None:
    assert load_analysis("tiny/ns-segments", "").metrics == load_analysis("tiny/plain", "").metrics
    assert load_analysis("tiny/ns-segments", "").chain == load_analysis("tiny/plain", "").chain


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
    assert compute_core_percentage(increase, elapsed) == percent


def test_published_average_takes_the_29_lowest_hosts() -> None:
    means = [float(x) for x in range(52, 0, -1)]
    assert compute_published_average(means) == 15.0
    assert compute_published_average([3.0, 1.0]) == 2.0


def build_event(instant: int, slot: int | None = None) -> Event:
    if slot is not None:
        data: dict[str, Any] = {"slot": slot, "utxo_size": 0, "chain_density": 0.0}
        return Event("leadership_check_started", instant, data)
    return Event("resources", instant, dict.fromkeys(RESOURCES, instant // SECOND))


def compute_slots(*events: Event) -> list[Slot]:
    genesis = Genesis(0, SECOND, 10, 1, 1.0, 90_112)
    return build_timeline(genesis, HostLog("node-0", events, 0, 0, 0, 0, 0))


def test_late_reading_and_check_belong_to_their_slot() -> None:
    slots = compute_slots(build_event(0), build_event(4 * SECOND), build_event(2 * SECOND), build_event(5 * SECOND, 1))
    assert [slot.starts for slot in slots] == [0, 1, 0, 0, 0]
    assert [slot.resources and slot.resources["Threads"] for slot in slots] == [0, 0, 2, 0, 4]


@pytest.mark.parametrize(("slot", "refused"), [(1000, False), (1001, True)])
def test_gap_of_1000_slots_is_too_long(slot: int, refused: bool) -> None:
    with pytest.raises(RefusalError, match="a gap of 1000 slots") if refused else nullcontext():
        assert len(compute_slots(build_event(0), build_event(slot * SECOND))) == 1001


def test_same_seed_writes_same_bytes(tmp_path: Path) -> None:
    def write_and_read_run(directory: Path) -> dict[str, bytes]:
        write_random_run(directory, 7)
        files = [path for path in directory.rglob("*") if path.is_file()]
        return {str(path.relative_to(directory)): path.read_bytes() for path in files}

    assert write_and_read_run(tmp_path / "one") == write_and_read_run(tmp_path / "two")


@pytest.mark.parametrize("seed", range(12))
def test_random_run_can_be_analysed(tmp_path: Path, seed: int) -> None:
    shape = write_random_run(tmp_path, seed)
    analysis = analyse(tmp_path, [])
    assert [host.host for host in analysis.hosts] == sorted(shape.hosts)
    assert analysis.manifest["Blocks analysed"] == len(analysis.chain) >= 1


@pytest.mark.parametrize("defect", DEFECTS)
def test_random_run_with_a_defect_is_refused(tmp_path: Path, defect: str) -> None:
    write_random_run(tmp_path, 3, defect=defect)
    with pytest.raises(RefusalError):
        analyse(tmp_path, [])


@pytest.mark.parametrize("seed", range(20))
def test_random_filters_survive_their_file(tmp_path: Path, seed: int) -> None:
    filters = draw_filters(seed, draw_shape(Random(seed), (2, 5), (20, 80)))
    path = tmp_path / "filters.json"
    path.write_text(format_filters(filters), encoding="utf-8")
    assert load_filters(path) == filters
