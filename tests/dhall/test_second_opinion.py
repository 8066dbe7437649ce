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

from assay.dhall import FolderPolicy, evaluate_file, evaluate_text, to_data
from tests.dhall.typed_terms import typed_terms

binding = pytest.importorskip("dhall")

REPOSITORY = Path(__file__).resolve().parents[2]
PACKAGES = sorted(REPOSITORY.glob("specs/*/package.dhall")) + sorted(REPOSITORY.glob("starter/specs/*/package.dhall"))
UNITS = [path for path in PACKAGES if path.parent.name not in ("schema", "prelude")]


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.parent.name)
def test_shipped_package_equals_other_evaluator(path: Path, tmp_path: Path) -> None:
    workspace = path.parents[2]
    evaluated = evaluate_file(path, FolderPolicy([workspace, REPOSITORY]))
    for file in evaluated.files:  # the other implementation reads one folder
        copy = tmp_path / file.name
        copy.parent.mkdir(parents=True, exist_ok=True)
        places = (root / file.name for root in (workspace, REPOSITORY))
        copy.write_bytes(next(place for place in places if place.exists()).read_bytes())
    name = path.relative_to(workspace)
    program = f"import dhall, json; print(json.dumps(dhall.loads('./{name.as_posix()}'), sort_keys=True))"
    expected = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert json.dumps(to_data(evaluated.value), sort_keys=True) == expected.stdout.strip()


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(typed_terms())
def test_random_term_equals_other_evaluator(term) -> None:
    text, type_text = term
    evaluated = evaluate_text(f"{text} : {type_text}")
    assert json.dumps(to_data(evaluated.value), sort_keys=True) == json.dumps(binding.loads(text), sort_keys=True)
