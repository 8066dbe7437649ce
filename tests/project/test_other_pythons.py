"""Test the evaluator and the bytes of a report on other Pythons."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support.deep import is_deep
from tests.support.laboratory import ROOT
from tools.pythons import VERSIONS, find_others


@pytest.mark.parametrize("version", VERSIONS)
def test_other_python_passes_tests_and_builds_same_bytes(version: str) -> None:
    others = find_others()
    if version not in others:
        pytest.skip("it runs these tests, or is not here")
    if version != list(others)[-1] and not is_deep():
        pytest.skip("--deep runs it")
    command = [sys.executable, "-m", "tools.pythons", version]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout
