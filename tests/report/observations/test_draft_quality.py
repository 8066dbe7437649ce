"""Test how many facts of hand-written reports are drafted, and how many drafted facts are theirs."""

from __future__ import annotations

import pytest

from tools import observations


def test_drafts_state_what_authors_state(capsys: pytest.CaptureFixture[str]) -> None:
    status = observations.main([])
    name, *numbers = capsys.readouterr().out.splitlines()[-1].split()
    assert (status, name, numbers) == (0, "all", ["258", "261", "224", "0", "0.87", "0.86"])


def test_opposite_directions_are_counted() -> None:
    stated = {("p", "a", "b", "cpu"): {1}, ("p", "a", "b", "heap"): {1}}
    drafted = {("p", "a", "b", "cpu"): {-1}, ("p", "a", "b", "alloc"): {1}}
    counts = observations.Comparison(stated, drafted).counts
    assert counts == {"stated": 2, "drafted": 2, "both": 1, "opposite": 1}
    assert observations.compute_shares(counts) == (0.5, 0.5)
