"""Test that specs are scanned again after a change, and only then."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.lang import workspace
from assay.lang.workspace import Workspace
from tests.support.laboratory import ROOT


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Create a small workspace."""
    shutil.copytree(ROOT / "starter" / "specs" / "service", tmp_path / "ws" / "specs" / "service")
    return tmp_path / "ws"


def edit_docs(place: Path) -> None:
    file = place / "specs" / "service" / "metrics.dhall"
    file.write_text(file.read_text(encoding="utf-8").replace('doc = "', 'doc = "Changed: '), encoding="utf-8")


def is_changed(place: Path, cache: Path) -> bool:
    """Return whether the package contains the last edit."""
    return any(
        item.doc.startswith("Changed: ")
        for item in workspace.load_package(Workspace(place), "service", cache).package.metrics
    )


@pytest.mark.parametrize("is_deferred", [False, True])
def test_edited_file_is_read_again(place: Path, tmp_path: Path, is_deferred: bool) -> None:
    deferred_calls: list[Callable[[], None]] = []
    workspace.load_package(Workspace(place), "service", tmp_path / "cache", deferred_calls if is_deferred else None)
    assert len(deferred_calls) == is_deferred
    for item in deferred_calls:
        item()
    assert not is_changed(place, tmp_path / "cache")
    edit_docs(place)
    assert is_changed(place, tmp_path / "cache")


def test_file_edited_before_caching_is_read_again(place: Path, tmp_path: Path) -> None:
    """`assay watch` writes its cache when it is idle, and a file may have changed by then."""
    deferred_calls: list[Callable[[], None]] = []
    workspace.load_package(Workspace(place), "service", tmp_path / "cache", deferred_calls)
    edit_docs(place)
    for item in deferred_calls:
        item()
    assert is_changed(place, tmp_path / "cache")
