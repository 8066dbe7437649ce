"""What texts of the shipped specs read, ready to be known: taken while the code and the library are the same, only."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from assay.spec import closure, ready_reads, sql_reads, workspace
from assay.spec.model import Package
from assay.spec.ready_reads import keep, key

SYSTEMS = ("antelope", "cardano", "cometbft")
TOLD: dict[str, ready_reads.Told] = {"k": (["a"], ["b", "ü"]), "all": ([], None)}


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where Python keeps what it compiles, elsewhere; nothing of it is known yet."""
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path))
    found = ready_reads._place("one")
    found.parent.mkdir(parents=True)
    for known in (ready_reads.ready, ready_reads._name, sql_reads._reads):
        known.cache_clear()
    return found


@pytest.fixture(autouse=True)
def forgotten() -> object:
    """Nobody after this takes what these tests kept."""
    yield
    for known in (ready_reads.ready, ready_reads._name, sql_reads._reads):
        known.cache_clear()


def ready() -> dict[str, object]:
    """What is ready, looked up anew, as plain data."""
    ready_reads.ready.cache_clear()
    return {name: tuple(told) for name, told in ready_reads.ready().items()}


def test_what_is_kept_of_some_systems_is_ready() -> None:
    assert ready() == {}
    keep("one", TOLD)
    keep("two", {"other": (["c"], [])})
    assert ready() == {**TOLD, "other": (["c"], [])}
    keep("one", {})
    assert ready() == {"other": (["c"], [])}


def test_other_code_or_another_library_makes_it_stale(monkeypatch: pytest.MonkeyPatch) -> None:
    keep("one", TOLD)
    with monkeypatch.context() as patch:
        patch.setattr(ready_reads, "_name", lambda: "another")
        assert ready() == {}
    assert ready() == TOLD


def test_what_is_damaged_is_not_taken(place: Path) -> None:
    keep("one", TOLD)
    whole = place.read_bytes()
    for damaged in (whole[:-1], whole.replace(b'"a"', b'"z"'), b"", b"\xff" + whole, b"\0" * len(whole)):
        place.write_bytes(damaged)
        assert ready() == {}
    place.write_bytes(whole)
    assert ready() == TOLD


def test_where_nothing_can_be_kept_nothing_is_lost(place: Path) -> None:
    place.mkdir()
    keep("one", TOLD)
    assert ready() == {}
    assert [item.name for item in place.parent.iterdir()] == [place.name]


def needs(package: Package) -> object:
    """What all of a package needs."""
    found = closure.needs(package, package.metrics, package.filters, [item.name for item in package.tables])
    return found.events, found.relations, found.grains, found.series, found.filters, found.constants


@pytest.mark.parametrize("system", SYSTEMS)
def test_what_is_ready_is_what_the_texts_are_found_to_read(system: str, monkeypatch: pytest.MonkeyPatch) -> None:
    package = workspace.load(workspace.shipped(), system, None).package
    with monkeypatch.context() as patch:
        patch.setattr(sql_reads, "_told", {})
        patch.setattr(ready_reads, "ready", dict)  # nothing is: all is worked out
        sql_reads._reads.cache_clear()
        worked_out, told = needs(package), dict(sql_reads.told())
    keep(system, told)
    monkeypatch.setattr(sql_reads, "_worked_out", lambda *_: pytest.fail("it is ready"))
    sql_reads._reads.cache_clear()
    ready_reads.ready.cache_clear()
    assert needs(package) == worked_out


def test_the_key_tells_all_that_is_asked() -> None:
    asked = [("a", "b", "c"), ("a b", "", "c"), ("a", "bc", ""), ("a", "", "bc"), ("", "", "")]
    assert len({key(sql, tables, whole) for sql, tables, whole in asked}) == len(asked)
    assert key("a", ["x", "y"], []) == key("a", ["y", "x"], [])
