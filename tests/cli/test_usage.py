"""Use of the command line that is right, or must leave a file untouched."""

from __future__ import annotations

from pathlib import Path

from assay.lang.workspace import shipped
from tests.support.commands import assay


def test_provenance_file_names_a_build(two: Path, cache: Path) -> None:
    by_folder, by_file = (assay("trace", place, "--list", "--cache", cache) for place in (two, two / "provenance.json"))
    assert (by_file.status, by_file.out) == (0, by_folder.out)


def test_check_accepts_nothing_outside_of_a_workspace(tmp_path: Path, cache: Path) -> None:
    """What comes with Assay is nobody's workspace: it stays as it is."""
    place = shipped().normal_form("cardano")
    before = place.stat().st_mtime_ns, place.read_bytes()
    done = assay("check", "--accept", "--system", "cardano", "--cache", cache, within=tmp_path)
    assert (done.status, done.out, done.err) == (
        2,
        "",
        "error[no-workspace]: there is no workspace to write normal forms into\n"
        "  note: no folder here or above has specs/, so these are the specs that come with Assay\n"
        "  hint: `assay init DIR` makes one\n",
    )
    assert (place.stat().st_mtime_ns, place.read_bytes()) == before


def test_option_twice_with_one_value_counts_once(cache: Path) -> None:
    once = assay("list", "filters", "--system", "cardano", "--cache", cache)
    twice = assay("list", "filters", "--system", "cardano", "--system", "cardano", "--cache", cache)
    assert (twice.status, twice.out) == (0, once.out)
