"""Builds that are asked for again: given as they were kept, and made anew when anything has changed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.app import build_cache
from tests.support.commands import Done, build
from tests.support.laboratory import ROOT
from tests.support.runs import changed_log, copied
from tests.support.workspaces import edited, workspace

Place = tuple[Path, Path, Path]
OPTIONS = ("--filter", "slot-has-leaders", "--to", "md", "-v")
#: as the last line of a log may be: cut off
BROKEN = '{"at": "2026'


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A workspace, a run and a cache, after one build that was kept."""
    folder = tmp_path_factory.mktemp("kept")
    own = workspace(folder / "workspace")
    shutil.copytree(ROOT / "templates", own / "templates")
    run = copied("tiny/plain", folder / "run")
    changed_log(run / "node-2", lambda lines: [*lines, BROKEN])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build_cache, "SETTLED", 0)
        made = build([f"run={run}"], folder / "out", folder / "cache", *OPTIONS, within=own)
    assert (made.status, _is_kept(made)) == (0, False)
    return own, run, folder / "cache"


@pytest.fixture
def place(first: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """The same, moved into a folder of the test's own by name, so that it may be changed: marks are of paths."""
    monkeypatch.setattr(build_cache, "SETTLED", 0)
    copies = tmp_path / "workspace", tmp_path / "run", tmp_path / "cache"
    for old, new in zip(first, copies, strict=True):
        shutil.copytree(old, new)
    shutil.rmtree(tmp_path / "cache" / "builds")
    assert not _is_kept(again(copies, tmp_path / "made"))
    return copies


def again(place: Place, out: Path, *more: str) -> Done:
    """The same build."""
    own, run, cache = place
    done = build([f"run={run}"], out, cache, *OPTIONS, *more, within=own)
    assert done.status == 0, done.err
    return done


def _is_kept(done: Done) -> bool:
    return any(" kept report=cardano/comparison " in line for line in done.err.splitlines())


def files(folder: Path) -> dict[str, bytes]:
    """The content of every file, by its name."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_build_with_nothing_changed_is_given_again(place: Place, tmp_path: Path) -> None:
    made, given = tmp_path / "made", tmp_path / "given"
    done = again(place, given)
    assert _is_kept(done)
    assert files(given) == files(made)
    assert done.out == f"{given / 'report.md'}\n"
    stages = [line.split(" ")[1] for line in done.err.splitlines() if " seconds=" in line]
    assert stages == ["kept", "command"]


def test_warnings_are_told_again(place: Place, tmp_path: Path) -> None:
    own, run, cache = place
    other = copied("tiny/plain", tmp_path / "other")
    shutil.copytree(other / "node-3", other / "node-7")
    runs = [f"a={run}", f"b={other}"]
    made, given = (build(runs, tmp_path / name, cache, *OPTIONS, within=own) for name in ("x", "y"))
    said = [[line for line in done.err.splitlines() if line.startswith("warning: ")] for done in (made, given)]
    assert (_is_kept(made), _is_kept(given)) == (False, True)
    assert said[0] == said[1] != []


def test_what_another_build_left_in_the_folder_is_replaced(place: Place, tmp_path: Path) -> None:
    made, given = tmp_path / "made", tmp_path / "given"
    again(place, given, "--title", "Another", "--to", "html")
    assert (given / "report.html").is_file()
    assert _is_kept(again(place, given))
    assert files(given) == files(made)


def _touched(file: Path) -> None:
    file.write_bytes(file.read_bytes())


CHANGES: dict[str, Callable[[Path, Path], object]] = {
    "a line of a log": lambda _, run: changed_log(run / "node-2", lambda lines: lines[:-1]),
    "a log that is written anew, with nothing else in it": lambda _, run: _touched(next((run / "node-2").iterdir())),
    "a new file of a log": lambda _, run: (run / "node-3" / "stdout.1").write_text(f"{BROKEN}\n", encoding="utf-8"),
    "a new host": lambda _, run: shutil.copytree(run / "node-2", run / "node-7"),
    "a document of the run": lambda _, run: edited(run / "meta.json", "{", "{ "),
    "a spec": lambda own, _: edited(
        own / "specs/cardano/metrics/forging.dhall", "Started forge loop iteration", "The loop"
    ),
    "a query": lambda own, _: edited(own / "queries/cardano/blocks.sql", "SELECT", "SELECT "),
    "a template": lambda own, _: edited(own / "templates/charts/cdf.vl.json", "{", "{ "),
    "a new file among the templates": lambda own, _: (own / "templates/charts/x.vl.json").write_text("{}", "utf-8"),
}


def test_a_build_is_made_anew_when_anything_has_changed(place: Place, tmp_path: Path) -> None:
    own, run, cache = place
    for what, change in CHANGES.items():
        change(own, run)
        assert not _is_kept(again(place, tmp_path / "out")), what
    shutil.rmtree(cache / "builds")
    again(place, tmp_path / "fresh")
    assert files(tmp_path / "out") == files(tmp_path / "fresh")


@pytest.mark.parametrize("more", [("--title", "T"), ("--filter", "min-adoptions=1"), ("--to", "html")])
def test_another_word_of_the_user_is_another_build(place: Place, tmp_path: Path, more: tuple[str, ...]) -> None:
    assert not _is_kept(again(place, tmp_path / "out", *more))
    assert _is_kept(again(place, tmp_path / "out", *more))
    assert _is_kept(again(place, tmp_path / "out"))


def test_other_code_is_another_build(place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("", encoding="utf-8")
    monkeypatch.setattr(build_cache.assay, "__file__", str(package / "__init__.py"))
    assert not _is_kept(again(place, tmp_path / "out"))
    assert _is_kept(again(place, tmp_path / "out"))
    (package / "new.py").write_text("", encoding="utf-8")
    assert not _is_kept(again(place, tmp_path / "out"))


def test_another_version_of_a_tool_is_another_build(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build_cache, "versions", lambda: {"typst": "0.0"})
    assert not _is_kept(again(place, tmp_path / "out"))


def test_a_kept_build_that_is_damaged_is_made_anew(place: Place, tmp_path: Path) -> None:
    made, out = tmp_path / "made", tmp_path / "out"
    (held,) = (place[2] / "builds").iterdir()
    shutil.rmtree(held / "report")
    assert not _is_kept(again(place, out))
    assert files(out) == files(made)
    (held / "facts.json").write_text("{", encoding="utf-8")
    assert not _is_kept(again(place, out))
    assert _is_kept(again(place, out))


def test_one_build_is_kept_of_the_same_words(place: Place, tmp_path: Path) -> None:
    changed_log(place[1] / "node-2", lambda lines: lines[:-1])
    again(place, tmp_path / "out")
    assert len(list((place[2] / "builds").iterdir())) == 1
    assert _is_kept(again(place, tmp_path / "out"))


def test_a_build_is_not_kept_while_a_file_has_just_changed(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build_cache, "SETTLED", 10**18)
    shutil.rmtree(place[2] / "builds")
    assert not _is_kept(again(place, tmp_path / "out"))
    assert not (place[2] / "builds").exists()


@pytest.mark.parametrize("what", ["a link to a folder", "a pipe", "a link to nothing"])
def test_a_run_whose_files_cannot_be_told_by_marks_is_read(place: Place, tmp_path: Path, what: str) -> None:
    odd = place[1] / "odd"
    if what == "a pipe":
        os.mkfifo(odd)
    else:
        odd.symlink_to(place[1] if what == "a link to a folder" else tmp_path / "nothing")
    for _ in range(2):
        assert not _is_kept(again(place, tmp_path / "out"))


def test_a_failed_build_is_not_kept(place: Place, tmp_path: Path) -> None:
    own, run, cache = place
    (run / "genesis-shelley.json").unlink()
    for _ in range(2):
        done = build([f"run={run}"], tmp_path / "out", cache, *OPTIONS, within=own)
        assert done.status == 1
    assert not (tmp_path / "out").exists()
