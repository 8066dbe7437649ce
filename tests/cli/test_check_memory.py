"""`assay check` remembers what it proved, and notices each change of what it depends on."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from assay.app.author import full_check
from assay.engine.dry_run import DryRun
from tests.support.commands import run_assay


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create a workspace whose cache has a check."""
    folder = tmp_path_factory.mktemp("check") / "place"
    assert run_assay("init", folder).status == 0
    assert run_assay("check", "--cache", folder / "cache", cwd=folder).status == 0
    return folder


def test_unchanged_specs_are_not_checked_again(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fresh = run_assay("check", "--cache", workspace / "fresh", cwd=workspace)
    monkeypatch.delattr(full_check, "check_package")
    assert run_assay("check", "--cache", workspace / "cache", cwd=workspace) == fresh


@pytest.mark.parametrize(
    ("file", "old", "new", "statements"),
    [
        ("metrics.dhall", "Time from receiving", "The time from receiving", set()),
        ("metrics.dhall", "e.received e.started", "e.received e.sent", {"wait"}),
        ("metrics.dhall", 'unit = S.unit.byte', 'unit = S.unit.minute', None),
        ("events.dhall", '"request.received"', '"request.accepted"', {"wait", "work", "response_size"}),
    ],
    ids=["text", "measure", "unit", "record"],
)  # fmt: skip
def test_changes_are_noticed(
    file: str, old: str, new: str, statements: set[str] | None, workspace: Path, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Check that only the statements that a change concerns run, with the outcome of an empty cache."""
    place = tmp_path / "place"
    shutil.copytree(workspace, place)
    changed_file = place / "specs" / "service" / file
    text = changed_file.read_text(encoding="utf-8")
    assert old in text
    changed_file.write_text(text.replace(old, new), encoding="utf-8")
    run_statements: set[str] = set()
    run_node = DryRun._run_node

    def run_counted(self: DryRun, graph: object, node: object, *rest: object) -> bool:
        run_statements.add(node.name)  # type: ignore[attr-defined]
        return run_node(self, graph, node, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(DryRun, "_run_node", run_counted)
    result = run_assay("check", "--cache", place / "cache", cwd=place)
    if statements is not None:
        assert run_statements == statements
    assert run_assay("check", "--cache", tmp_path / "fresh", cwd=place) == result
    assert result.status == (1 if statements is None else 0)


def test_missing_templates_are_noticed(workspace: Path, tmp_path: Path) -> None:
    place = tmp_path / "place"
    shutil.copytree(workspace, place)
    (place / "templates").mkdir()
    result = run_assay("check", "--cache", place / "cache", cwd=place)
    assert (result.status, "unknown-chart-template" in result.err) == (1, True)
