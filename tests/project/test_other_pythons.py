"""Test the evaluator and the bytes of a report on other Pythons."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support.deep import is_deep
from tests.support.laboratory import ROOT
from tools.pythons import VERSIONS, find_other_pythons


@pytest.mark.parametrize("version", VERSIONS)
def test_other_python_passes_tests_and_builds_same_bytes(version: str) -> None:
    other_pythons = find_other_pythons()
    if version not in other_pythons:
        pytest.skip("it runs these tests, or is not here")
    if version != list(other_pythons)[-1] and not is_deep():
        pytest.skip("--deep runs it")
    command = [sys.executable, "-m", "tools.pythons", version]
    result = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert result.returncode == 0, result.stdout
