"""Test which tables phases cut: those with an instant, and those computed from cut tables."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from assay.lang.model.expression import Expression
from assay.lang.model.package import Event, Grain, Package, Relation, Runs, Subject, Unit
from assay.lang.model.series import Series
from assay.lang.workspace import get_shipped_workspace, load_package
from assay.plan.planner import can_split_by_phase

HOLDS = Expression("integer")


def create_relation(name: str, *used_relations: str) -> Relation:
    return Relation(name, "", used_relations, (), (), (), "")


def create_grain(name: str, relation_name: str, *, instant: str = "", subject: str = "", runs_of: str = "") -> Grain:
    runs = Runs(runs_of, HOLDS, (), "slot", ()) if runs_of else None
    return Grain(
        name, relation_name, runs, (), (), (), (), (), Subject(subject, ()) if subject else None, (), "", instant
    )


GRAINS = (
    create_grain("timed", "plain", instant="when"),
    create_grain("untimed", "plain"),
    create_grain("of_cut_rows", "narrow"),
    create_grain("part_of_timed", "plain", subject="timed"),
    create_grain("part_of_untimed", "plain", subject="untimed"),
    create_grain("runs_of_timed", "", runs_of="timed"),
    create_grain("runs_of_untimed", "", runs_of="untimed"),
)
RELATIONS = (
    create_relation("plain", "happened"),
    create_relation("narrow", "timed", "line"),
    create_relation("narrow_by_host", "timed", "logs"),
    create_relation("mixed", "timed", "happened"),
    create_relation("hosts", "logs"),
    create_relation("constant"),
)


@pytest.fixture(scope="module")
def package(cache: Path) -> Package:
    """Create a package with an event, a series, and these grains and relations."""
    checked = load_package(get_shipped_workspace(), "cardano", cache).package
    event: Event = replace(checked.events[0], name="happened")
    line = Series("line", (), (), "windows", 1, "latest", 1, None, Unit("dimensionless", ""), "")
    return replace(checked, events=(event,), relations=RELATIONS, grains=GRAINS, series=(line,))


@pytest.mark.parametrize(
    "table", ["line", "timed", "narrow", "narrow_by_host", "of_cut_rows", "part_of_timed", "runs_of_timed"]
)
def test_table_is_cut_by_its_rows_or_by_all_its_inputs(table: str, package: Package) -> None:
    assert can_split_by_phase(package, table)


@pytest.mark.parametrize(
    "table",
    ["happened", "plain", "mixed", "hosts", "constant", "untimed", "part_of_untimed", "runs_of_untimed", "nothing"],
)
def test_table_with_an_uncut_input_is_whole(table: str, package: Package) -> None:
    """So is a table without inputs."""
    assert not can_split_by_phase(package, table)
