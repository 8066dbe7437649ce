"""Test which workspace a command uses, and errors about incomplete or unreadable ones."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.commands import build_environment, run_assay
from tests.support.laboratory import ROOT

#: root without the capability to read unreadable files
BOUNDED = ("setpriv", "--bounding-set=-dac_override,-dac_read_search")


def test_specs_without_a_system_are_not_replaced_by_shipped(tmp_path: Path, cache: Path) -> None:
    place = tmp_path / "specs" / "mine"
    place.mkdir(parents=True)
    (place / "Package.dhall").write_text("{=}", encoding="utf-8")
    result = run_assay("check", "--cache", cache, cwd=tmp_path)
    assert (result.status, result.out, result.err) == (1, "", (
        f"error[no-system]: no system in {tmp_path}/specs: no folder contains package.dhall\n"
        "  expected: specs/SYSTEM/package.dhall\n"
        "  found:    specs/mine/Package.dhall\n"
    ))  # fmt: skip


def test_specs_folder_of_other_program_is_ignored(tmp_path: Path, cache: Path) -> None:
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs" / "login_spec.rb").touch()
    result = run_assay("list", "reports", "--cache", cache, cwd=tmp_path)
    assert result.status == 0
    assert "cardano/comparison" in result.out


def test_check_of_shipped_specs_has_a_note(tmp_path: Path, cache: Path) -> None:
    result = run_assay("check", "--system", "cometbft", "--cache", cache, cwd=tmp_path)
    message = "neither this folder nor its parents have specs/: using the specs that come with Assay\n"
    assert (result.status, result.err.splitlines(keepends=True)[0]) == (0, message)


def test_unencodable_path_is_described_in_words(tmp_path: Path) -> None:
    """The working directory was removed, and the engine cannot open the name of the cache."""
    (tmp_path / "gone").mkdir()
    command = [sys.executable, "-m", "assay", "list", "reports"]
    env = {**os.environb, b"PYTHONPATH": os.fsencode(ROOT / "compiler")}
    removed = f"import os; os.rmdir(os.getcwd()); os.execv({command[0]!r}, {command!r})"
    result = subprocess.run([sys.executable, "-c", removed], cwd=tmp_path / "gone", env=env, capture_output=True)
    assert (result.returncode, result.stderr.decode()) == (
        2, "error[file]: the current folder no longer exists\n  hint: change to another folder\n"
    )  # fmt: skip
    env[b"XDG_CACHE_HOME"] = os.fsencode(tmp_path) + b"/\xff"
    result = subprocess.run(command, cwd=ROOT, env=env, capture_output=True)
    assert (result.returncode, result.stderr.decode()) == (
        2,
        f"error[not-utf8]: the folder of the cache is not UTF-8: `{tmp_path}/\\xff/assay`\n  hint: pass --cache DIR\n",
    )


def test_workspace_path_may_be_undecodable(tmp_path: Path, cache: Path) -> None:
    place = tmp_path / os.fsdecode(b"a\xff")
    place.mkdir()
    assert run_assay("init", "shop", cwd=place).status == 0
    result = run_assay("query", "wait", "--run", "runs/1.0", "--format", "csv", "--cache", cache, cwd=place / "shop")
    assert (result.status, result.out.splitlines()[1].split(",")[:4]) == (0, ["wait", "1.0", "ms", "120"])


def test_system_without_package_is_named(tmp_path: Path, cache: Path) -> None:
    for name, file in (("whole", "package.dhall"), ("part", "events.dhall")):
        (tmp_path / "specs" / name).mkdir(parents=True)
        (tmp_path / "specs" / name / file).touch()
    result = run_assay("check", "--system", "part", "--cache", cache, cwd=tmp_path)
    assert (result.status, result.err) == (2, (
        f"error[unknown-system]: no specs for `part` in {tmp_path}/specs\n"
        "  hint: specs/part has no package.dhall\n"
    ))  # fmt: skip


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="only root can give up its rights")
@pytest.mark.parametrize("forbidden_path", ["specs", "specs/mine"])
def test_unreadable_specs_are_not_ignored(tmp_path: Path, forbidden_path: str) -> None:
    (tmp_path / "specs" / "mine").mkdir(parents=True)
    (tmp_path / "specs" / "mine" / "package.dhall").touch()
    (tmp_path / forbidden_path).chmod(0)
    env = build_environment()
    command = [*BOUNDED, sys.executable, "-m", "assay", "--cache", str(tmp_path / "cache"), "check"]
    result = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    (tmp_path / forbidden_path).chmod(0o755)
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith("error[file]: a file cannot be read or written: Permission denied: ")
    assert str(tmp_path / forbidden_path) in result.stderr


def create_broken_link(path: Path) -> None:
    """Create a link to nothing."""
    path.symlink_to("nowhere")


@pytest.mark.parametrize(
    ("name", "create_entry", "expected"),
    [
        ("specs", Path.touch, "a file"),
        ("specs", Path.mkdir, "an empty folder"),
        ("specs", create_broken_link, "a broken link to nowhere"),
        ("specs/mine", create_broken_link, "a broken link to nowhere"),
    ],
    ids=["file", "empty", "broken link", "broken link to a system"],
)
def test_unreachable_specs_are_an_error(
    name: str, create_entry: Callable[[Path], None], expected: str, tmp_path: Path, cache: Path
) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    create_entry(tmp_path / name)
    for folder in (tmp_path, tmp_path / "below"):
        folder.mkdir(exist_ok=True)
        result = run_assay("check", "--cache", cache, cwd=folder)
        assert (result.status, result.out) == (1, "")
        assert result.err.startswith("error[no-system]: ")
        assert str(tmp_path / name) in result.err
        assert f"  found:    {expected}\n" in result.err


def test_templates_that_are_a_file_are_an_error(tmp_path: Path, cache: Path) -> None:
    place = tmp_path / "shop"
    assert run_assay("init", place).status == 0
    (place / "templates").touch()
    command = ("build", "service/comparison", "--run", "runs/1.0", "-o", "out", "--to", "md")
    result = run_assay(*command, "--cache", cache, cwd=place)
    assert (result.status, result.out) == (1, "")
    assert result.err.startswith(f"error[template]: {place / 'templates'} is not a folder\n")
