"""Warnings on stderr: runs that share one are named on one line."""

from __future__ import annotations

from assay.cli.output import group_warnings


def test_equal_warnings_of_runs_are_one_line() -> None:
    messages = ["base-1: host c has no log.", "base-2: host c has no log.", "plain", "base-2: other", "plain"]
    messages += ["a has 1 of 2 files, for certain: x", "b has 1 of 2 files, for certain: x"]
    assert group_warnings(messages) == ["base-1, base-2: host c has no log.", "plain", "base-2: other", *messages[-2:]]
