"""Results of a build have the splits of sections and of charts; only those of charts are no sections."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from assay.app.compute.splitting import restore_splits
from assay.lang.model.parts import Part
from assay.lang.model.report import Chart
from assay.lang.report_shorthand import DISTRIBUTIONS
from assay.lang.workspace import find_workspace, load_package
from tests.support.laboratory import ROOT

BY = ("connections",)
SPLIT = {"metrics": ["valid_txs"], "by": list(BY), "values": [[1], [2]], "pooled": 0, "other": ""}


@pytest.mark.parametrize("title", ["Figure: Load by connections", "Load by connections"])
def test_section_is_restored_whatever_its_title(title: str, cache: Path) -> None:
    checked = load_package(find_workspace(ROOT), "cometbft", cache)
    report = next(item for item in checked.package.reports if item.name == "qa")
    metric = checked.get_metric("valid_txs")
    chart = Chart(metric.id, "cdf", "auto", BY, 5)
    drawn = replace(report, parts=(Part(DISTRIBUTIONS, (chart,)), *report.parts))
    of_chart = f"Figure: {metric.name} ({metric.id}) by connections"
    _, restored = restore_splits(checked, drawn, {"splits": {title: SPLIT, of_chart: SPLIT}})
    assert [name for name, _ in restored.metric_sections] == [*(name for name, _ in report.metric_sections), title]
    assert len(restored.metric_sections[-1][1].metrics) > len(SPLIT["values"])
