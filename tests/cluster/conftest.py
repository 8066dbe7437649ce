"""Fixtures of builds by workers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.clusters import SmallSite, copy_small_workspace, read_tree
from tests.support.commands import run_assay


@pytest.fixture(scope="session")
def small_workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with two runs, which no test changes."""
    return copy_small_workspace(tmp_path_factory.mktemp("small"))


@pytest.fixture(scope="session")
def expected_files(small_workspace: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of the report as one machine builds it with an empty cache."""
    folder = tmp_path_factory.mktemp("single")
    runs = [f"--run=runs/{name}" for name in ("1.0", "1.1")]
    command = ("--cache", folder / "cache", "build", "service/comparison", *runs, "-o", folder / "out", "--to=md")
    assert run_assay(*command, cwd=small_workspace).status == 0
    return read_tree(folder / "out")


@pytest.fixture
def site(small_workspace: Path, tmp_path: Path) -> SmallSite:
    """The workspace with an empty cache and queue."""
    return SmallSite(small_workspace, tmp_path)
