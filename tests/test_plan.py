"""Plans: what metrics read is made, whatever else is asked of the same grain."""

from __future__ import annotations

import dataclasses

import pytest

from assay.build.compute import compiled
from assay.engine.dry import dry_run
from assay.engine.graph import nodes
from assay.plan.steps import Applied, plan
from tests.support.laboratory import Laboratory


@pytest.mark.parametrize("metric", ["cdfPeerFetch", "cdfBlockSize", "CentiCpu", "cdf0.50"])
def test_a_metric_of_all_rows_of_a_judged_grain_compiles(lab: Laboratory, metric: str) -> None:
    """A metric may count rows that filters reject, of a grain that has a subject, or filters of its own."""
    checked = lab.session.package("cardano")
    package = checked.package
    of_all = dataclasses.replace(checked.metric(metric), accepted=False)
    every = [Applied(item, "1" if item.parameter else None) for item in package.filters]
    constants = [item for source in package.sources for item in source.constants]
    for applied in ([], every):
        statements = compiled(checked, plan(package, [of_all], applied))
        assert dry_run(nodes(statements), constants) == ()
