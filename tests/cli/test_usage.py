"""Use of the command line that is right, or must leave a file untouched."""

from __future__ import annotations

from pathlib import Path

from assay.lang.workspace import get_shipped_workspace
from tests.support.commands import run_assay


def test_provenance_file_names_a_build(two: Path, cache: Path) -> None:
    from_folder, from_file = (
        run_assay("trace", place, "--list", "--cache", cache) for place in (two, two / "provenance.json")
    )
    assert (from_file.status, from_file.out) == (0, from_folder.out)


def test_check_accepts_nothing_outside_of_a_workspace(tmp_path: Path, cache: Path) -> None:
    """Shipped specs belong to no workspace, so their normal forms are never rewritten."""
    place = get_shipped_workspace().get_normal_form_path("cardano")
    before = place.stat().st_mtime_ns, place.read_bytes()
    result = run_assay("check", "--accept", "--system", "cardano", "--cache", cache, cwd=tmp_path)
    assert (result.status, result.out, result.err) == (
        2,
        "",
        "error[no-workspace]: there is no workspace to write normal forms into\n"
        "  note: neither this folder nor its parents have specs/: using the specs that come with Assay\n"
        "  hint: create a workspace with `assay init DIR`\n",
    )
    assert (place.stat().st_mtime_ns, place.read_bytes()) == before


def test_option_twice_with_one_value_counts_once(cache: Path) -> None:
    once = run_assay("list", "filters", "--system", "cardano", "--cache", cache)
    result = run_assay("list", "filters", "--system", "cardano", "--system", "cardano", "--cache", cache)
    assert (result.status, result.out) == (0, once.out)
