"""Test that the examples of the README work as they are printed."""

from __future__ import annotations

import doctest
from pathlib import Path

import assay_dhall

README = Path(assay_dhall.__file__).with_name("README.md")


def test_examples_of_readme_work(tmp_path: Path) -> None:
    results = doctest.testfile(str(README), module_relative=False, globs={"folder": tmp_path})
    assert results.failed == 0
    assert results.attempted > 10
