"""Reports without a label constant: runs are named by their folders, or as the user names them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.commands import run_assay
from tests.support.workspaces import edit_file

FORMER_LABEL = "        , label = constant.version.name\n"


@pytest.mark.parametrize(
    ("runs", "labels"),
    [(("runs/1.0", "runs/1.1"), ["1.0", "1.1"]), (("old=runs/1.0", "new=runs/1.1"), ["old", "new"])],
)
def test_runs_have_the_names_of_their_folders(
    tmp_path: Path, cache: Path, runs: tuple[str, ...], labels: list[str]
) -> None:
    folder = tmp_path / "service"
    assert run_assay("--cache", cache, "init", folder).status == 0
    for run in (folder / "runs").iterdir():
        (run / "meta.json").write_text('{"version": "same"}', encoding="utf-8")
    edit_file(folder / "specs" / "service" / "reports.dhall", FORMER_LABEL, "")
    options = [f"--run={run}" for run in runs]
    built = run_assay("--cache", cache, "build", "service/comparison", *options, "-o", "out", "--to", "md", cwd=folder)
    assert built.status == 0, built.err
    results = json.loads((folder / "out" / "results.json").read_text(encoding="utf-8"))
    assert [run["label"] for run in results["runs"]] == labels
    report = (folder / "out" / "report.md").read_text(encoding="utf-8")
    assert report.startswith(f"# {labels[1]} against {labels[0]}\n")
    assert "| Version | same | same |" in report
    assert "Name in the data" not in report
