"""What judgements declare is in no definition hash, and its defaults are in no normal form."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from assay.lang.definition_hash import hash_definitions
from assay.lang.model.package import Package
from assay.lang.model.vocabulary import Judgement, Margin, Unit
from assay.lang.plain_data import to_plain_data
from assay.lang.workspace import get_shipped_workspace, load_package

MARGIN = Margin("2", "0.002", Unit("second", "s"))


@pytest.fixture(scope="module")
def package(cache: Path) -> Package:
    return load_package(get_shipped_workspace(), "cardano", cache).package


def change_grains(package: Package) -> Package:
    return replace(package, grains=tuple(replace(item, time="", cluster="") for item in package.grains))


def change_metrics(package: Package) -> Package:
    return replace(package, metrics=tuple(replace(item, margin=MARGIN) for item in package.metrics))


def change_reports(package: Package) -> Package:
    judgement = Judgement("0.9", MARGIN, ("CentiCpu",), 3)
    return replace(package, reports=tuple(replace(item, judgement=judgement) for item in package.reports))


@pytest.mark.parametrize("change", [change_grains, change_metrics, change_reports])
def test_judgements_change_no_definition(package: Package, change: object) -> None:
    assert callable(change)
    changed = change(package)
    assert to_plain_data(changed) != to_plain_data(package)
    assert hash_definitions(changed) == hash_definitions(package)


def test_normal_form_leaves_out_what_is_not_declared(package: Package) -> None:
    body = to_plain_data(package)
    assert not any("margin" in item for item in body["metrics"])
    assert [item.get("judgement") is None for item in body["reports"]] == [
        item.judgement is None for item in package.reports
    ]
    bare_reports = tuple(replace(item, judgement=None) for item in package.reports)
    assert not any("judgement" in item for item in to_plain_data(replace(package, reports=bare_reports))["reports"])
    assert [item["name"] for item in body["grains"] if "time" not in item] == [
        "block_on_host",
        "forging_host",
        "host",
    ]
