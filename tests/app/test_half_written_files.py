"""Test that `assay watch` waits for files that an editor empties first and writes then."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.app.build import build as builds
from assay.app.build.watch import MOST_READINGS, WatchedFiles
from assay.lang.workspace import Workspace
from assay.util.diagnostics import fail
from tests.support.commands import run_assay

FILE = Path("specs/service/metrics.dhall")
TEXTS = ("", "half", "the whole text")


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Path]:
    """Create a workspace; `assay watch` in this process stops the collection of garbage."""
    assert run_assay("init", tmp_path / "ws").status == 0
    yield tmp_path / "ws"
    gc.enable()


def test_wait_lasts_until_a_file_is_written(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = iter(TEXTS)
    monkeypatch.setattr(time, "sleep", lambda _: (workspace / FILE).write_text(next(texts, TEXTS[-1]), "utf-8"))
    watched_files = WatchedFiles("service", ())
    assert watched_files.has_changed(Workspace(workspace))
    watched_files.wait_until_quiet(Workspace(workspace))
    assert (workspace / FILE).read_text("utf-8") == TEXTS[-1]


def test_wait_for_an_ever_growing_file_ends(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = workspace / "runs/1.0/log.jsonl"
    log.write_text("", "utf-8")
    monkeypatch.setattr(time, "sleep", lambda _: log.write_text(log.read_text("utf-8") + "{}\n", "utf-8"))
    WatchedFiles("service", [str(workspace / "runs/1.0")]).wait_until_quiet(Workspace(workspace))
    assert log.read_text("utf-8") == "{}\n" * MOST_READINGS


@pytest.mark.parametrize(("builds_while_written", "errors"), [(1, 0), (4, 1)])
def test_error_of_a_half_written_file_is_not_printed(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, builds_while_written: int, errors: int
) -> None:
    """The file changes during each of the first builds, which fail; the error of a file that never ends is printed."""
    attempts = 0

    def build(*_: object) -> None:
        nonlocal attempts
        attempts += 1
        if attempts > builds_while_written:
            raise KeyboardInterrupt
        (workspace / FILE).write_text("x" * attempts, "utf-8")
        raise fail("dhall-parse", "unexpected end of the file")

    monkeypatch.setattr(builds, "build_any_report", build)
    result = run_assay(
        "--cache", "cache", "watch", "service/comparison", "--run", "runs/1.0", "-o", "out", cwd=workspace
    )
    assert (result.status, result.err.count("error[")) == (130, errors), result.err
