"""Test that builds never write into their inputs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.support.commands import run_assay
from tests.support.workspaces import edit_file

BUILD = ("build", "service/comparison", "--to", "md", "--run", "a=runs/1.0", "-o")
HISTORY = """
let S = ../schema/package.dhall
let comparison = (./reports.dhall).comparison
in  S.History::{
    , name = "history"
    , title = "Versions"
    , intro = "Each metric over all versions"
    , over = Some S.Publications::{ of = comparison.name }
    , parts = [ S.block.levelShifts ] # S.block.trends comparison.sections
    }
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create a workspace with `assay init` and a history, and a link to it named `link`."""
    folder = tmp_path_factory.mktemp("outputs") / "place"
    assert run_assay("init", folder).status == 0
    specs = folder / "specs" / "service"
    (specs / "history.dhall").write_text(HISTORY, encoding="utf-8")
    edit_file(specs / "package.dhall", "reports = [ ", "reports = [ ./history.dhall, ")
    (folder / "link").symlink_to(folder)
    return folder


def _list_files(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if "cache" not in path.parts}


@pytest.mark.parametrize("name", ["", " "])
@pytest.mark.parametrize(
    "words",
    [
        BUILD[:-1],
        ("watch", "service/comparison", "--run", "a=runs/1.0"),
        ("regenerate", "p.json"),
        ("catalogue",),
        ("fetch", "prometheus", "http://127.0.0.1:9", "--match", "up", "--start", "1", "--end", "2"),
    ],
)
def test_empty_folder_name_is_refused(place: Path, words: tuple[str, ...], name: str) -> None:
    before = _list_files(place)
    result = run_assay("--cache", place / "cache", *words, "-o", name, cwd=place)
    assert (result.status, result.out) == (2, "")
    assert result.err == "error[output]: the folder of -o is empty\n  hint: pass `-o .` for the current folder\n"
    assert _list_files(place) == before


@pytest.mark.parametrize(
    ("out", "place_text"),
    [
        ("runs/1.0", "the run a"),
        ("runs/1.0/out", "the run a"),
        ("link/runs/1.0/out", "the run a"),
        ("specs", "the workspace's specs/"),
        ("specs/service/out", "the workspace's specs/"),
        ("queries/out", "the workspace's queries/"),
        ("templates/out", "the workspace's templates/"),
    ],
)
def test_inputs_of_report_are_refused_as_output(place: Path, out: str, place_text: str) -> None:
    before = _list_files(place)
    message = f"error[output]: the output folder is within {place_text}: {out}\n  hint: choose another folder with -o\n"
    commands = [BUILD, ("watch", "service/comparison", "--run", "a=runs/1.0", "-o")]
    if "run" not in place_text:
        commands += [("catalogue", "-o"), ("regenerate", "p.json", "-o"),
                     ("build", "service/history", "--publication", "p.json", "-o")]  # fmt: skip
    for command in commands:
        result = run_assay("--cache", place / "cache", *command, out, cwd=place)
        assert (result.status, result.out, result.err) == (2, "", message), command
    assert _list_files(place) == before


@pytest.mark.parametrize("folder", ["charts", "report", "sql"])
def test_run_inside_replaced_folder_is_untouched(place: Path, tmp_path: Path, folder: str) -> None:
    run = tmp_path / "out" / folder / "runs" / "1.0"
    shutil.copytree(place / "runs" / "1.0", run)
    before = _list_files(tmp_path)
    for command in (BUILD[:-2], ("watch", "service/comparison", "--run")):
        result = run_assay(
            "--cache", place / "cache", *command[:-1], "--run", f"a={run}", "-o", tmp_path / "out", cwd=place
        )
        assert (result.status, result.out, result.err) == (
            2,
            "",
            f"error[output]: the run a is within a folder that the build replaces: {run}\n"
            "  hint: choose another folder with -o, or move the run\n",
        )
    assert _list_files(tmp_path) == before


def test_folder_next_to_inputs_is_accepted(place: Path) -> None:
    for out in ("runs/1.0.out", "specs.out"):
        result = run_assay("--cache", place / "cache", *BUILD, out, cwd=place)
        assert result.status == 0, result.err
        assert json.loads((place / out / "results.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("entry", ["mine.sql", "sql/mine.sql", ".git/HEAD"])
@pytest.mark.parametrize("command", [BUILD, ("catalogue", "-o"), ("regenerate", "p.json", "-o")])
def test_folder_with_other_files_is_refused(place: Path, tmp_path: Path, command: tuple[str, ...], entry: str) -> None:
    out = tmp_path / "theirs"
    (out / entry).parent.mkdir(parents=True)
    (out / entry).write_text("SELECT 1\n", encoding="utf-8")
    result = run_assay("--cache", place / "cache", *command, out, cwd=place)
    first = entry.partition("/")
    former_file = "index.html" if "catalogue" in command else "provenance.json"
    assert (result.status, result.out) == (2, "")
    assert result.err == (
        f"error[output]: the output folder has files that no build wrote: {out}\n"
        f"  expected: a new or empty folder, or one with the {former_file} of a former build\n"
        f"  found:    {first[0]}{first[1]}\n"
        "  hint: choose another folder with -o\n"
    )
    assert {path.name for path in out.rglob("*") if path.is_file()} == {first[2] or entry}


def test_folder_with_hidden_files_is_accepted(place: Path, tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("*\n", encoding="utf-8")
    result = run_assay("--cache", place / "cache", *BUILD, tmp_path, cwd=place)
    assert result.status == 0, result.err


def test_earlier_build_is_replaced_and_other_files_stay(place: Path) -> None:
    out = place / "again"
    for _ in range(2):
        assert run_assay("--cache", place / "cache", *BUILD, "again", cwd=place).status == 0
        (out / "mine.txt").write_text("mine", encoding="utf-8")
    assert (out / "mine.txt").read_text(encoding="utf-8") == "mine"


def test_inaccessible_place_error_names_its_purpose(place: Path, tmp_path: Path) -> None:
    long_path = tmp_path / ("d" * 300)
    result = run_assay(*BUILD, long_path, "--cache", place / "cache", cwd=place)
    message = f"error[output]: the output folder cannot be written: File name too long: {long_path}\n"
    assert (result.status, result.err) == (1, f"{message}  hint: choose a writable folder with -o\n")
    result = run_assay("list", "metrics", "--cache", long_path, cwd=place)
    message = f"error[cache]: the cache folder cannot be written: File name too long: {long_path}\n"
    assert (result.status, result.err) == (1, f"{message}  hint: pass --cache DIR\n")


def test_file_in_place_of_folder_error_names_its_kind(place: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "gone")
    broken_link_message = f"it is a link to a missing path, {tmp_path / 'gone'}"
    for name, message in (("link", broken_link_message), ("/dev/null", "it is not a folder")):
        result = run_assay(*BUILD, tmp_path / name, "--cache", place / "cache", cwd=place)
        assert (result.status, result.out) == (1, "")
        assert result.err.startswith(
            f"error[output]: the output folder cannot be written: {message}: {tmp_path / name}\n"
        )
