"""Test lineage: changes of fields outside a metric's lineage change no number."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from assay.app.subject import Subject, list_subjects
from assay.lineage.column_lineage import ROWS
from assay.plan.planner import AppliedFilter
from tests.support.laboratory import ROOT, Laboratory
from tests.support.perturbed import Perturbed

RUNS = {
    "cardano": "golden/cardano/tiny/peerfirst/run",
    "cometbft": "golden/cometbft/run",
    "antelope": "golden/antelope/harness",
    "antelope samples": "golden/antelope/upgrade/run",
}
SOURCES = {"antelope": {"nodes"}, "antelope samples": {"samples"}}
PARTS = 6
TRIED = 4  # columns of a part
PLACES = ("seq", "t_ns", ROWS)


def select_items(lab: Laboratory, case: str) -> tuple[list[Subject], tuple[AppliedFilter, ...]]:
    """Return metrics and series with records in a run, and the filters of their reports."""
    checked = lab.session.package(case.split()[0])
    selected = [item for item in list_subjects(checked) if not item.formula_text]
    (applied,) = {item.select_filters((), False) for item in selected}
    return [item for item in selected if _has_records(lab, case, item, applied)], applied


def _has_records(lab: Laboratory, case: str, item: Subject, applied: tuple[AppliedFilter, ...]) -> bool:
    """Tell whether a run has the inputs of a metric or series."""
    package = lab.session.package(case.split()[0]).package
    source = {event.name: event.source for event in package.events}
    wanted = item.compile(applied).plan.required_fields
    return case not in SOURCES or {source[name] for name in wanted} <= SOURCES[case]


@pytest.fixture(scope="module", params=RUNS)
def perturbed(request: pytest.FixtureRequest, lab: Laboratory) -> Iterator[Perturbed]:
    """Load the records of a run."""
    case = request.param
    wanted, applied = select_items(lab, case)
    actual = Perturbed(lab.session, lab.session.package(case.split()[0]), ROOT / Path(RUNS[case]), wanted, applied)
    yield actual
    actual.close()


def columns(perturbed: Perturbed) -> list[tuple[str, str, str]]:
    """Return every column of every event with its type, in a fixed arbitrary order."""
    every = [(event, *column) for event in perturbed.events for column in perturbed.columns(event).items()]
    Random(0).shuffle(every)
    return every


@pytest.mark.parametrize("part", range(PARTS))
def test_fields_outside_lineage_change_no_number(perturbed: Perturbed, part: int) -> None:
    for event, column, kind in columns(perturbed)[part::PARTS][:TRIED]:
        changed = perturbed.changed(event, column, kind, part)
        assert changed <= perturbed.named(event, column), (event, column)


def test_fields_in_lineage_change_numbers(perturbed: Perturbed) -> None:
    of_values = [item for item in columns(perturbed) if item[1] not in PLACES and perturbed.named(*item[:2], ["value"])]
    tried = of_values[:TRIED]
    assert sum(bool(perturbed.changed(*item, seed=0)) for item in tried) >= len(tried) / 2 > 0
