"""Definitions that look wrong and are right: the checks accept them."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assay.app.compute.sql_files import write_texts
from assay.lang.check.check import check_package
from assay.lang.model.expression import Expression
from assay.lang.model.package import Check, Column, Derived, Package
from assay.lang.model.vocabulary import Unit
from assay.lang.reserved_names import is_reserved_table
from assay.lang.workspace import get_shipped_workspace, load_package
from assay.util.diagnostics import AssayError, render
from tests.support.laboratory import ROOT
from tests.support.workspaces import NO_POSITIONS

PART = re.compile(r"^(?:WITH |\), )(\w+) AS \($", re.MULTILINE)


@pytest.fixture(scope="module")
def cardano(cache: Path) -> Package:
    return load_package(get_shipped_workspace(), "cardano", cache).package


@pytest.fixture(scope="module")
def cometbft(cache: Path) -> Package:
    return load_package(get_shipped_workspace(), "cometbft", cache).package


def replace_named(package: Package, part: str, name: str, **changes: Any) -> Package:
    """Return a package with other members in one of its relations, grains, ...."""
    items = getattr(package, part)
    assert name in [item.name for item in items]
    changed_parts: dict[str, Any] = {
        part: tuple(replace(item, **changes) if item.name == name else item for item in items)
    }
    return replace(package, **changed_parts)


def create_checks(*codes: str) -> tuple[Check, ...]:
    return tuple(Check(code, "SELECT 1", (), "wrong", "", "error") for code in codes)


def test_checks_of_different_tables_may_share_a_code(cardano: Package) -> None:
    package = replace_named(cardano, "grains", "adoption", checks=create_checks("late", "duplicate-key"))
    assert (
        check_package(replace_named(package, "relations", "adoptions", checks=create_checks("late")), NO_POSITIONS)
        == ()
    )


def test_sources_may_share_a_constant(cardano: Package) -> None:
    (source,) = cardano.sources
    package = replace(cardano, sources=(source, replace(source, name="more", constants=source.constants[:1])))
    assert "duplicate-constant" not in [item.code for item in check_package(package, NO_POSITIONS)]


def test_unit_written_in_another_way_is_the_same(cardano: Package) -> None:
    elapsed = Expression("minus", (Expression("instant", name="forged"), Expression("instant", name="started")))
    column = Column("took", "integer", Unit("nanosecond * second / second", "ns"), "")
    grain = next(item for item in cardano.grains if item.name == "block")
    derived = (*grain.derived, Derived(column, elapsed))
    assert check_package(replace_named(cardano, "grains", "block", derived=derived), NO_POSITIONS) == ()


def test_instant_is_no_cycle_where_it_is_not_picked_by_another(cardano: Package) -> None:
    grain = next(item for item in cardano.grains if item.name == "block")
    instant_choices = {"started": ("latest before", "forged"), "forged": ("first", "started")}
    instants = tuple(
        replace(item, pick=instant_choices[item.name][0], before=instant_choices[item.name][1])
        if item.name in instant_choices
        else item
        for item in grain.instants
    )
    assert check_package(replace_named(cardano, "grains", "block", instants=instants), NO_POSITIONS) == ()


@pytest.mark.parametrize(("default", "is_required"), [("", False), (None, True)])
def test_label_of_a_series_may_be_required_or_have_a_default(
    cometbft: Package, default: str | None, is_required: bool
) -> None:
    series = next(item for item in cometbft.series if item.by and item.samples)
    event = next(item for item in cometbft.events if item.name == series.samples[0].event)
    forms = tuple(
        replace(
            form,
            fields=tuple(
                replace(field, default=default, required=is_required) if field.name == series.by[0] else field
                for field in form.fields
            ),
        )
        for form in event.forms
    )
    assert check_package(replace_named(cometbft, "events", event.name, forms=forms), NO_POSITIONS) == ()


def test_rate_may_be_covered_and_gauge_may_not_cease(cometbft: Package) -> None:
    assert check_package(replace_named(cometbft, "series", "block_rate", covered=True), NO_POSITIONS) == ()
    assert check_package(replace_named(cometbft, "series", "peer_count", ceases=False), NO_POSITIONS) == ()


def _list_query_parts(*kinds: str) -> set[str]:
    """Return the names of the parts of golden queries of these kinds."""
    files = [path for kind in kinds for path in (ROOT / "golden" / "sql").glob(f"*/{kind}.sql")]
    return {name for path in files for name in PART.findall(path.read_text(encoding="utf-8"))}


def test_queries_of_the_compiler_have_names_that_no_table_has() -> None:
    parts = _list_query_parts("metrics/*", "rows/*", "tables/*_rows*", "tables/*_series*")
    assert {"samples", "domain", "bound", "computed_1", "steps", "samples_1_grid", "terms"} <= parts
    assert [name for name in sorted(parts) if not is_reserved_table(name)] == []


def test_queries_over_grains_have_names_that_no_grain_has() -> None:
    parts = _list_query_parts("metrics/*", "rows/*", "tables/*_rows*")
    assert {"samples", "domain", "bound", "computed_1"} <= parts
    assert [name for name in sorted(parts) if not is_reserved_table(name, is_grain=True)] == []
    assert not is_reserved_table("steps", is_grain=True)


def test_file_of_sql_outside_of_its_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AssayError) as error:
        write_texts(tmp_path / "out" / "sql", {"checks/x/../../../../pwned.sql": "SELECT 1;\n"})
    assert render(error.value.diagnostics[0]) == (
        "error[sql-file]: invalid name of an SQL file: `checks/x/../../../../pwned.sql`\n"
        "  expected: a path below its folder"
    )
    assert not list(tmp_path.rglob("*.sql"))
