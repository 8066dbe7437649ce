"""The evaluator agrees with another implementation, the PyPI package `dhall`, where that is installed.

It wraps Naturals at 64 bits, so the terms keep to small numbers.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from assay.app.init import create_workspace
from assay.dhall import FolderPolicy, evaluate_file, evaluate_text, to_data
from assay.lang.libraries import LIBRARIES
from tests.dhall.typed_terms import generate_typed_terms

binding = pytest.importorskip("dhall")

REPOSITORY = Path(__file__).resolve().parents[2]
PACKAGES = sorted(REPOSITORY.glob("specs/*/package.dhall")) + sorted(REPOSITORY.glob("starter/specs/*/package.dhall"))
UNITS = [path for path in PACKAGES if path.parent.name not in LIBRARIES]


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.parent.name)
def test_shipped_package_equals_other_evaluator(path: Path, tmp_path: Path) -> None:
    workspace = path.parents[2]
    evaluated = evaluate_file(path, FolderPolicy([workspace, REPOSITORY]))
    for file in evaluated.files:  # the other implementation reads one folder
        copy = tmp_path / file.name
        copy.parent.mkdir(parents=True, exist_ok=True)
        places = (root / file.name for root in (workspace, REPOSITORY))
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


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(generate_typed_terms())
def test_random_term_equals_other_evaluator(term) -> None:
    text, type_text = term
    evaluated = evaluate_text(f"{text} : {type_text}")
    assert json.dumps(to_data(evaluated.value), sort_keys=True) == json.dumps(binding.loads(text), sort_keys=True)
