"""Links in a workspace that lead out of it: to files that neither specs nor templates may read."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from assay.spec.diagnostics import AssayError
from assay.spec.workspace import Workspace
from tests.support.commands import assay
from tests.support.laboratory import ROOT


def _secret(folder: Path) -> Path:
    place = folder / "secret.md"
    place.write_text("What nobody is to read.\n", encoding="utf-8")
    return place


def test_prose_that_is_a_link_out_of_the_workspace_is_not_read(tmp_path: Path, cache: Path) -> None:
    workspace = tmp_path / "workspace"
    for name in ("specs", "queries"):
        shutil.copytree(ROOT / name, workspace / name)
    prose = workspace / "specs" / "cometbft" / "prose" / "issues.md"
    prose.unlink()
    prose.symlink_to(_secret(tmp_path))
    done = assay("check", "--system", "cometbft", "--cache", cache, within=workspace)
    said = "error[prose]: a link leads out of the workspace\n  at specs/cometbft/prose/issues.md"
    assert (done.status, done.out, done.err.strip()) == (1, "", said)


def test_prose_may_be_a_link_within_the_workspace(tmp_path: Path, cache: Path) -> None:
    workspace = tmp_path / "workspace"
    for name in ("specs", "queries"):
        shutil.copytree(ROOT / name, workspace / name)
    prose = workspace / "specs" / "cometbft" / "prose" / "issues.md"
    prose.rename(workspace / "specs" / "moved.md")
    prose.symlink_to(workspace / "specs" / "moved.md")
    assert assay("check", "--system", "cometbft", "--cache", cache, within=workspace).status == 0


@pytest.mark.parametrize("name", ["report/front.typ", "fonts"])
def test_templates_that_are_a_link_out_of_the_workspace_are_not_read(tmp_path: Path, name: str) -> None:
    workspace = Workspace(tmp_path / "workspace")
    own, elsewhere = workspace.root / "templates", tmp_path / "elsewhere"
    shutil.copytree(ROOT / "templates", own)
    assert workspace.templates == own
    (own / name).rename(elsewhere)
    (own / name).symlink_to(elsewhere)
    with pytest.raises(AssayError) as found:
        _ = workspace.templates
    said = f"error[template]: a link leads out of the workspace\n  at {own / name}"
    assert str(found.value) == said


def test_all_templates_may_be_elsewhere(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "workspace")
    workspace.root.mkdir()
    (workspace.root / "templates").symlink_to(ROOT / "templates")
    assert workspace.templates == workspace.root / "templates"
