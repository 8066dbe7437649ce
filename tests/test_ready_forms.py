"""Normal forms of the shipped specs that are ready to be read: taken while files and code are the same, only."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from assay.spec import normal_form, ready_forms, workspace
from assay.spec.ready_forms import Ready, keep, ready
from tests.support.laboratory import ROOT

TEXT = '{"package": {"system": "ü"}}\n'
SYSTEM = "antelope"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace of two files whose package is ready; Python keeps what it compiles elsewhere."""
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path / "compiled"))
    files = []
    for name in ("specs/one/package.dhall", "specs/one/part.dhall"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"-- {name}\n")
        files.append((name, tmp_path / name, (tmp_path / name).read_bytes()))
    keep("one", "5" * 64, files, TEXT)
    found = ready(tmp_path, "one")
    assert found == Ready(TEXT, "5" * 64, tuple(files))
    return tmp_path


def test_what_is_ready_is_not_taken_for_another_system(place: Path) -> None:
    ready_forms._place("one").replace(ready_forms._place("two"))
    assert ready(place, "two") is None


@pytest.mark.parametrize("name", ["package.dhall", "part.dhall"])
def test_a_file_that_holds_something_else_or_is_gone_makes_it_stale(place: Path, name: str) -> None:
    file = place / "specs" / "one" / name
    before = file.read_bytes()
    file.write_bytes(before.upper())
    assert ready(place, "one") is None
    file.write_bytes(before)
    assert ready(place, "one") is not None
    file.unlink()
    assert ready(place, "one") is None


def test_other_code_makes_it_stale(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(normal_form, "code_version", lambda: "another")
    assert ready(place, "one") is None


def test_what_is_damaged_is_not_taken(place: Path) -> None:
    kept = ready_forms._place("one")
    whole = kept.read_bytes()
    for damaged in (whole[:-1], whole.replace(b"5555", b"5556"), b"", b"\xff" + whole, b"\0" * len(whole)):
        kept.write_bytes(damaged)
        assert ready(place, "one") is None


def test_a_package_that_is_ready_is_the_one_that_is_worked_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path / "compiled"))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    shipped = workspace.Workspace(ROOT)
    worked_out = workspace.load(shipped, SYSTEM, tmp_path / "one")
    assert ready(ROOT, SYSTEM) is None, "it is written only where Python writes what it compiles"
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    workspace.load(shipped, SYSTEM, None)
    assert ready(ROOT, SYSTEM) is not None
    monkeypatch.setattr(workspace, "scan", None)  # which would be an error to call
    assert workspace.load(shipped, SYSTEM, tmp_path / "two") == worked_out
    kept = [{file.name: file.read_bytes() for file in (tmp_path / name / "specs").iterdir()} for name in ("one", "two")]
    assert kept[0] == kept[1]


def test_a_workspace_of_the_users_own_is_read_as_it_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no(_root: Path, _system: str) -> Ready | None:
        raise AssertionError("what is ready is of the shipped workspace alone")

    monkeypatch.setattr(ready_forms, "ready", no)
    for name in ("specs", "queries", "golden"):
        (tmp_path / name).symlink_to(ROOT / name)
    with pytest.raises(AssertionError):
        workspace.load(workspace.Workspace(ROOT), SYSTEM, None)
    (tmp_path / "specs").unlink()
    (tmp_path / "specs" / SYSTEM).mkdir(parents=True)
    (tmp_path / "specs" / SYSTEM / "package.dhall").write_text("not Dhall")
    with pytest.raises(Exception, match="Dhall"):
        workspace.load(workspace.Workspace(tmp_path), SYSTEM, None)
