"""Test lineage: changes of fields outside a metric's lineage change no number."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from assay.app.compute.subject import Subject, list_subjects
from assay.lineage.column_lineage import ROWS
from assay.plan.planner import AppliedFilter
from tests.support.laboratory import ROOT, Laboratory
from tests.support.perturbed import PerturbedRun

RUNS = {
    "cardano": "golden/cardano/tiny/peerfirst/run",
    "cometbft": "golden/cometbft/run",
    "antelope": "golden/antelope/harness",
    "antelope samples": "golden/antelope/upgrade/run",
}
SOURCES = {"antelope": {"nodes"}, "antelope samples": {"samples"}}
PARTS = 6
MAX_COLUMNS = 4  # columns of a part
PLACES = ("seq", "t_ns", ROWS)


def select_items(lab: Laboratory, case: str) -> tuple[list[Subject], tuple[AppliedFilter, ...]]:
    """Return metrics and series with records in a run, and the filters of their reports."""
    checked = lab.session.load_package(case.split()[0])
    selected_items = [item for item in list_subjects(checked) if not item.formula_text]
    applied_filters = max((item.select_filters((), False) for item in selected_items), key=len)
    return [item for item in selected_items if _has_records(lab, case, item, applied_filters)], applied_filters


def _has_records(lab: Laboratory, case: str, item: Subject, applied_filters: tuple[AppliedFilter, ...]) -> bool:
    """Return whether a run has the inputs of a metric or series."""
    package = lab.session.load_package(case.split()[0]).package
    source = {event.name: event.source for event in package.events}
    wanted = item.compile(applied_filters).plan.required_fields
    return case not in SOURCES or {source[name] for name in wanted} <= SOURCES[case]


@pytest.fixture(scope="module", params=RUNS)
def perturbed(request: pytest.FixtureRequest, lab: Laboratory) -> Iterator[PerturbedRun]:
    """Load the records of a run."""
    case = request.param
    wanted, applied_filters = select_items(lab, case)
    actual = PerturbedRun(
        lab.session, lab.session.load_package(case.split()[0]), ROOT / Path(RUNS[case]), wanted, applied_filters
    )
    yield actual
    actual.close()


def list_columns(perturbed: PerturbedRun) -> list[tuple[str, str, str]]:
    """Return every column of every event with its type, in a fixed arbitrary order."""
    all_columns = [(event, *column) for event in perturbed.events for column in perturbed.list_columns(event).items()]
    Random(0).shuffle(all_columns)
    return all_columns


@pytest.mark.parametrize("part", range(PARTS))
def test_fields_outside_lineage_change_no_number(perturbed: PerturbedRun, part: int) -> None:
    for event, column, kind in list_columns(perturbed)[part::PARTS][:MAX_COLUMNS]:
        changed_values = perturbed.find_changed_results(event, column, kind, part)
        assert changed_values <= perturbed.find_results_using(event, column), (event, column)


def test_fields_in_lineage_change_numbers(perturbed: PerturbedRun) -> None:
    value_columns = [
        item
        for item in list_columns(perturbed)
        if item[1] not in PLACES and perturbed.find_results_using(*item[:2], ["value"])
    ]
    tried_columns = value_columns[:MAX_COLUMNS]
    assert (
        sum(bool(perturbed.find_changed_results(*item, seed=0)) for item in tried_columns) >= len(tried_columns) / 2 > 0
    )
