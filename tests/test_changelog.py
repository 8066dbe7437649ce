"""Fragments in changes/ have valid names and one short line; towncrier accepts them."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.laboratory import ROOT

NAME = re.compile(r"\+[a-z0-9]+(-[a-z0-9]+)*\.(added|changed|fixed|removed)\.md")
LONGEST = 120


def find_problems(folder: Path) -> list[str]:
    """List the fragments of a folder whose name or text breaks a rule of changes/README.md."""
    problems = []
    for path in sorted(folder.iterdir()):
        text = path.read_text(encoding="utf-8")
        if path.name != "README.md" and not NAME.fullmatch(path.name):
            problems.append(f"{path.name}: name")
        elif path.name != "README.md" and not re.fullmatch(rf"\S.{{0,{LONGEST - 1}}}\n", text):
            problems.append(f"{path.name}: text")
    return problems


def draft(root: Path) -> subprocess.CompletedProcess[str]:
    """Run towncrier on the fragments of a checkout."""
    command = [sys.executable, "-m", "towncrier", "build", "--draft", "--version", "1.0.0", "--date", "2026-01-01"]
    return subprocess.run([*command, "--dir", str(root)], capture_output=True, text=True)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Copy the files that towncrier reads, without fragments."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.copy(ROOT / "CHANGELOG.md", tmp_path)
    (tmp_path / "changes").mkdir()
    shutil.copy(ROOT / "changes" / "README.md", tmp_path / "changes")
    return tmp_path


def test_committed_fragments_are_valid() -> None:
    assert find_problems(ROOT / "changes") == []
    result = draft(ROOT)
    assert result.returncode == 0, result.stderr


def test_draft_groups_fragments_by_category(checkout: Path) -> None:
    (checkout / "changes" / "+b.fixed.md").write_text("A bug is fixed.\n", encoding="utf-8")
    (checkout / "changes" / "+a.added.md").write_text("A feature is added.\n", encoding="utf-8")
    assert find_problems(checkout / "changes") == []
    text = draft(checkout).stdout
    expected = "## 1.0.0 (2026-01-01)\n\n### Added\n\n- A feature is added.\n\n### Fixed\n\n- A bug is fixed.\n"
    assert expected in text


def test_release_is_inserted_above_former_releases(checkout: Path) -> None:
    (checkout / "changes" / "+a.added.md").write_text("A feature is added.\n", encoding="utf-8")
    command = [sys.executable, "-m", "towncrier", "build", "--keep", "--version", "1.0.0", "--dir", str(checkout)]
    subprocess.run(command, check=True, capture_output=True, env={"PATH": ""})
    text = (checkout / "CHANGELOG.md").read_text(encoding="utf-8")
    assert text.index("# Changelog") < text.index("## 1.0.0") < text.index("## 0.2.0")


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("+a.feature.md", "Text.\n", "name"),
        ("a.added.md", "Text.\n", "name"),
        ("+A b.added.md", "Text.\n", "name"),
        ("+a.added.txt", "Text.\n", "name"),
        ("+a.added.md", "One.\nTwo.\n", "text"),
        ("+a.added.md", "", "text"),
        ("+a.added.md", "x" * (LONGEST + 1) + "\n", "text"),
    ],
)
def test_invalid_fragment_is_reported(tmp_path: Path, name: str, text: str, problem: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert find_problems(tmp_path) == [f"{name}: {problem}"]


def test_unknown_category_fails_in_towncrier(checkout: Path) -> None:
    (checkout / "changes" / "+a.feature.md").write_text("Text.\n", encoding="utf-8")
    result = draft(checkout)
    assert (result.returncode != 0, "+a.feature.md" in result.stdout + result.stderr) == (True, True)
