"""Metrics of records whose numbers are totals or averages since a start."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.commands import run_assay
from tests.support.laboratory import ROOT

LOGS = ROOT / "tests" / "propose" / "cases" / "json-votes" / "logs"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    """Return a proposed workspace with a metric of the field `votes` of each record."""
    place = tmp_path_factory.mktemp("kinds") / "place"
    assert run_assay("--cache", cache, "init", place, "--from", LOGS).status == 0
    return place


@pytest.mark.parametrize(
    ("word", "reduction", "message"),
    [
        ("E.gauge", "", ""),
        ("E.counter", "reduction = S.metric.greatest ([] : List S.Column), ", ""),
        ("E.counter", "", "error[counter]: metric `votes` averages `votes`, which is a total since a start"),
        ("E.counter", "reduction = S.metric.sum ([] : List S.Column), ", "error[counter]: metric `votes` averages"),
        ("E.count", "", ""),
        ("E.id", "reduction = S.metric.number ([] : List S.Column), ", ""),
        ("E.id", "", "error[id]: metric `votes` measures `votes`, which is an id"),
        (
            "E.threshold",
            "reduction = S.metric.greatest ([] : List S.Column), ",
            "error[threshold]: metric `votes` measures",
        ),
        ("E.averageSoFar", "", "error[average]: metric `votes` averages `votes`, which is an average since a start"),
    ],
)
def test_kinds_of_numbers_refuse_metrics(place: Path, cache: Path, word: str, reduction: str, message: str) -> None:
    texts = {}
    for name, old, new in (
        ("events", 'E.count (E.integer "votes")', f'{word} (E.integer "votes")'),
        ("metrics", 'id = "votes"', f'{reduction}id = "votes"'),
    ):
        path = place / "specs" / "place" / f"{name}.dhall"
        texts[path] = path.read_text(encoding="utf-8")
        assert texts[path].count(old) == 1
        path.write_text(texts[path].replace(old, new), encoding="utf-8")
    try:
        result = run_assay("--cache", cache, "check", cwd=place)
    finally:
        for path, text in texts.items():
            path.write_text(text, encoding="utf-8")
    assert (result.status, message in result.err) == (1 if message else 0, True), result.err
