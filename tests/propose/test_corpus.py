"""Test that the share of the kinds of logs for which `init --from` proposes what is right does not fall."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.corpus import FOLDER, Score, describe_scores, judge_kind, read_kinds, read_results

KINDS = read_kinds()
LEAST = 231


@pytest.mark.parametrize("name", KINDS)
def test_kind_has_its_recorded_score(name: str, tmp_path: Path) -> None:
    """`python tools/corpus.py --accept` records scores; they may only rise."""
    score, problems = judge_kind(name, KINDS[name], tmp_path)
    assert score == Score(**read_results()[name]), "\n".join(problems)


def test_share_of_kinds_does_not_fall() -> None:
    scores = {name: Score(**values) for name, values in read_results().items()}
    assert scores.keys() == KINDS.keys()
    assert sum(score.is_full for score in scores.values()) >= LEAST
    assert describe_scores(scores) in (FOLDER / "README.md").read_text(encoding="utf-8").replace("\n", " ")


def test_corpus_is_small() -> None:
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 1_000_000
