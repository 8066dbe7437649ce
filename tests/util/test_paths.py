"""Resolved paths: links are followed at one place, and loops of them are errors."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from assay.util.paths import resolve_path
from tests.support.modules import COMPILER, CORE, list_all_modules, list_modules


def test_resolved_path_follows_links_and_names_loops(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder")
    assert resolve_path(tmp_path / "link" / "none") == tmp_path / "folder" / "none"
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match=re.escape(f"a loop of symbolic links: '{tmp_path / 'a'}'")):
        resolve_path(tmp_path / "a")


def test_code_follows_links_at_one_place() -> None:
    root = CORE
    # The Dhall evaluator does not import Assay; its `realpath` stops at a loop of links, which is then no file.
    allowed_files = (root / "util" / "paths.py", *list_modules(COMPILER / "assay_dhall"))
    files = [path for path in list_all_modules() if path not in allowed_files]
    resolving_call = re.compile(r"\.resolve\((strict=\w+)?\)|\brealpath\(|Path\.resolve\b")
    assert [path for path in files if resolving_call.search(path.read_text(encoding="utf-8"))] == []
    assert resolving_call.search((root / "util" / "paths.py").read_text(encoding="utf-8"))
