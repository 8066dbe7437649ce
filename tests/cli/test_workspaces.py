"""Test which workspace a command uses, and errors about incomplete or unreadable ones."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.commands import assay, source_environment
from tests.support.laboratory import ROOT

#: root without the capability to read unreadable files
BOUNDED = ("setpriv", "--bounding-set=-dac_override,-dac_read_search")


def test_specs_without_a_system_are_not_replaced_by_shipped(tmp_path: Path, cache: Path) -> None:
    place = tmp_path / "specs" / "mine"
    place.mkdir(parents=True)
    (place / "Package.dhall").write_text("{=}", encoding="utf-8")
    done = assay("check", "--cache", cache, within=tmp_path)
    assert (done.status, done.out, done.err) == (1, "", (
        f"error[no-system]: no system in {tmp_path}/specs: no folder contains package.dhall\n"
        "  expected: specs/SYSTEM/package.dhall\n"
        "  found:    specs/mine/Package.dhall\n"
    ))  # fmt: skip


def test_specs_folder_of_other_program_is_ignored(tmp_path: Path, cache: Path) -> None:
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs" / "login_spec.rb").touch()
    done = assay("list", "reports", "--cache", cache, within=tmp_path)
    assert done.status == 0
    assert "cardano/comparison" in done.out


def test_check_of_shipped_specs_says_so(tmp_path: Path, cache: Path) -> None:
    done = assay("check", "--system", "cometbft", "--cache", cache, within=tmp_path)
    message = "no folder here or above has specs/, so these are the specs that come with Assay\n"
    assert (done.status, done.err) == (0, message)


def test_unencodable_path_is_described_in_words(tmp_path: Path) -> None:
    """The working directory was removed, and the engine cannot open the name of the cache."""
    (tmp_path / "gone").mkdir()
    words = [sys.executable, "-m", "assay", "list", "reports"]
    env = {**os.environb, b"PYTHONPATH": os.fsencode(ROOT / "compiler")}
    removed = f"import os; os.rmdir(os.getcwd()); os.execv({words[0]!r}, {words!r})"
    done = subprocess.run([sys.executable, "-c", removed], cwd=tmp_path / "gone", env=env, capture_output=True)
    assert (done.returncode, done.stderr.decode()) == (
        2, "error[file]: the current folder is not there any more\n  hint: change into one that is\n"
    )  # fmt: skip
    env[b"XDG_CACHE_HOME"] = os.fsencode(tmp_path) + b"/\xff"
    done = subprocess.run(words, cwd=ROOT, env=env, capture_output=True)
    assert (done.returncode, done.stderr.decode()) == (
        2,
        f"error[not-utf8]: the folder of the cache is not UTF-8: `{tmp_path}/\\xff/assay`\n"
        "  hint: name another with --cache\n",
    )


def test_workspace_path_may_be_undecodable(tmp_path: Path, cache: Path) -> None:
    place = tmp_path / os.fsdecode(b"a\xff")
    place.mkdir()
    assert assay("init", "shop", within=place).status == 0
    done = assay("query", "wait", "--run", "runs/1.0", "--format", "csv", "--cache", cache, within=place / "shop")
    assert (done.status, done.out.splitlines()[1].split(",")[:4]) == (0, ["wait", "1.0", "ms", "120"])


def test_system_without_package_is_named(tmp_path: Path, cache: Path) -> None:
    for name, file in (("whole", "package.dhall"), ("part", "events.dhall")):
        (tmp_path / "specs" / name).mkdir(parents=True)
        (tmp_path / "specs" / name / file).touch()
    done = assay("check", "--system", "part", "--cache", cache, within=tmp_path)
    assert (done.status, done.err) == (2, (
        f"error[unknown-system]: no specs for `part` in {tmp_path}/specs\n"
        "  hint: specs/part has no package.dhall\n"
    ))  # fmt: skip


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="only root can give up its rights")
@pytest.mark.parametrize("forbidden", ["specs", "specs/mine"])
def test_unreadable_specs_are_not_ignored(tmp_path: Path, forbidden: str) -> None:
    (tmp_path / "specs" / "mine").mkdir(parents=True)
    (tmp_path / "specs" / "mine" / "package.dhall").touch()
    (tmp_path / forbidden).chmod(0)
    env = source_environment()
    words = [*BOUNDED, sys.executable, "-m", "assay", "--cache", str(tmp_path / "cache"), "check"]
    done = subprocess.run(words, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    (tmp_path / forbidden).chmod(0o755)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error[file]: a file cannot be read or written: Permission denied: ")
    assert str(tmp_path / forbidden) in done.stderr


def break_link(path: Path) -> None:
    """Create a link to nothing."""
    path.symlink_to("nowhere")


@pytest.mark.parametrize(
    ("name", "put", "expected"),
    [
        ("specs", Path.touch, "a file"),
        ("specs", Path.mkdir, "an empty folder"),
        ("specs", break_link, "a broken link to nowhere"),
        ("specs/mine", break_link, "a broken link to nowhere"),
    ],
    ids=["file", "empty", "broken link", "broken link to a system"],
)
def test_unreachable_specs_are_an_error(
    name: str, put: Callable[[Path], None], expected: str, tmp_path: Path, cache: Path
) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    put(tmp_path / name)
    for within in (tmp_path, tmp_path / "below"):
        within.mkdir(exist_ok=True)
        done = assay("check", "--cache", cache, within=within)
        assert (done.status, done.out) == (1, "")
        assert done.err.startswith("error[no-system]: ")
        assert str(tmp_path / name) in done.err
        assert f"  found:    {expected}\n" in done.err


def test_templates_that_are_a_file_are_an_error(tmp_path: Path, cache: Path) -> None:
    place = tmp_path / "shop"
    assert assay("init", place).status == 0
    (place / "templates").touch()
    words = ("build", "service/comparison", "--run", "runs/1.0", "-o", "out", "--to", "md")
    done = assay(*words, "--cache", cache, within=place)
    assert (done.status, done.out) == (1, "")
    assert done.err.startswith(f"error[template]: {place / 'templates'} is not a folder\n")
