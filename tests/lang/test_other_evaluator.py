"""Shipped packages have the same values in another implementation, the PyPI package `dhall`, if it is installed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from assay.app.author.init import create_workspace
from assay.lang.libraries import LIBRARIES
from assay_dhall import FolderPolicy, evaluate_file, to_data
from tests.support.laboratory import ROOT

pytest.importorskip("dhall")

PACKAGES = sorted(ROOT.glob("specs/*/package.dhall")) + sorted(ROOT.glob("starter/specs/*/package.dhall"))
UNITS = [path for path in PACKAGES if path.parent.name not in LIBRARIES]


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.parent.name)
def test_shipped_package_equals_other_evaluator(path: Path, tmp_path: Path) -> None:
    workspace = path.parents[2]
    evaluated = evaluate_file(path, FolderPolicy([workspace, ROOT]))
    for file in evaluated.files:  # the other implementation reads one folder
        copy = tmp_path / file.name
        copy.parent.mkdir(parents=True, exist_ok=True)
        places = (root / file.name for root in (workspace, ROOT))
        copy.write_bytes(next(place for place in places if place.exists()).read_bytes())
    expected = evaluate_by_other(tmp_path, path.relative_to(workspace).as_posix())
    assert json.dumps(to_data(evaluated.value), sort_keys=True) == expected


def evaluate_by_other(folder: Path, name: str) -> str:
    """Return the value of a file as JSON text; imports are of that folder alone."""
    program = f"import dhall, json; print(json.dumps(dhall.loads('./{name}'), sort_keys=True))"
    command = [sys.executable, "-c", program]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout.strip()


def test_new_workspace_has_all_that_other_tools_import(tmp_path: Path) -> None:
    create_workspace(tmp_path / "new")
    text = evaluate_by_other(tmp_path / "new", "specs/service/package.dhall")
    assert json.loads(text)["system"] == "service"
