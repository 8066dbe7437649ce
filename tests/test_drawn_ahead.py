"""Charts drawn while metrics are worked out: those that the report has, and no other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from assay.build.drawn_ahead import DrawnAhead
from assay.engine.results import Distribution
from assay.report import svg
from assay.report.assemble import chart
from assay.report.charts import Drawing, draw
from assay.report.figures import RunFigures, labels
from assay.spec.report_model import Chart
from tests.compare_reference import CARDANO
from tests.report_sample import TEMPLATES
from tests.support.laboratory import Examined, Laboratory


@pytest.fixture(scope="module")
def runs(lab: Laboratory) -> tuple[Examined, Examined]:
    """Two runs of one label."""
    one, other = (lab.examine(CARDANO / "tiny" / name / "run") for name in ("plain", "tie-hosts"))
    named = {of.prepared.run.id: of for of in (one, other)}
    assert len(named) == 1
    return one, replace(other, prepared=replace(other.prepared, run=replace(other.prepared.run, id="other")))


@pytest.fixture
def ahead(lab: Laboratory, runs: tuple[Examined, Examined], tmp_path: Path) -> Iterator[DrawnAhead]:
    with DrawnAhead(lab.package, runs[0].report, TEMPLATES, tmp_path / "drawings") as found:
        yield found


def ended(ahead: DrawnAhead, folder: Path) -> list[str]:
    """The names of the drawings, when all that was begun with is drawn."""
    ahead._pool.shutdown()
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def of(item: Chart, runs: tuple[Examined, Examined]) -> list[Distribution]:
    return [run.results.metrics[item.metric] for run in runs]


def test_the_report_finds_what_was_drawn(
    lab: Laboratory, runs: tuple[Examined, Examined], ahead: DrawnAhead, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    report = runs[0].report
    told = ahead.watch([run.prepared for run in runs])
    for item in report.charts[:3]:
        for index, found in reversed(list(enumerate(of(item, runs)))):
            told(index, item.metric, found, True)
    assert len(ended(ahead, tmp_path / "drawings")) == 3
    named = labels(report, [RunFigures(run.prepared.run.id, run.prepared.constants, run.results, 1) for run in runs])
    assert len(set(named)) == 2
    charts = [chart(lab.package, report, item, of(item, runs), named) for item in report.charts[:3]]
    drawn: list[Drawing] = list(draw(charts, TEMPLATES, named))
    with monkeypatch.context() as patch:
        patch.setattr(svg, "convert", lambda *_: pytest.fail("it is drawn"))
        assert list(draw(charts, TEMPLATES, named, tmp_path / "drawings")) == drawn


def test_what_is_not_known_of_all_runs_or_was_known_before_is_not_drawn(
    runs: tuple[Examined, Examined], ahead: DrawnAhead, tmp_path: Path
) -> None:
    one, two, three, *_ = runs[0].report.charts
    told = ahead.watch([run.prepared for run in runs])
    told(0, one.metric, of(one, runs)[0], True)
    for index, found in enumerate(of(two, runs)):
        told(index, two.metric, found, False)
        told(index, "cdfUnknown", found, True)
    for index, found in enumerate(of(three, runs)):
        told(index, three.metric, found, index == 0)
    assert len(ended(ahead, tmp_path / "drawings")) == 1


def test_what_cannot_be_drawn_is_left_to_the_report(
    lab: Laboratory, runs: tuple[Examined, Examined], tmp_path: Path
) -> None:
    item = runs[0].report.charts[0]
    with DrawnAhead(lab.package, runs[0].report, tmp_path / "no-templates", tmp_path / "drawings") as ahead:
        told = ahead.watch([run.prepared for run in runs])
        for index, found in enumerate(of(item, runs)):
            told(index, item.metric, found, True)
        assert ended(ahead, tmp_path / "drawings") == []
    nothing = [replace(found, size=0) for found in of(item, runs)]
    with DrawnAhead(lab.package, runs[0].report, TEMPLATES, tmp_path / "drawings") as ahead:
        told = ahead.watch([run.prepared for run in runs])
        for index, found in enumerate(nothing):
            told(index, item.metric, found, True)
        assert ended(ahead, tmp_path / "drawings") == []
