"""Kinds of blocks: each is declared and rendered by modules of one name, and is an alternative of the schema."""

from __future__ import annotations

import inspect
from pathlib import Path

from assay.lang.blocks import list_kinds
from assay.publication.blocks import RENDERERS
from assay.report.blocks.context import load_renderers
from assay_dhall import FolderPolicy, evaluate_file
from assay_dhall.values import VUnionType
from tests.support.laboratory import ROOT


def test_each_kind_is_rendered_by_a_module_of_its_name() -> None:
    renderers = load_renderers()
    assert set(renderers) == {kind for kind in list_kinds() if not kind.is_of_publications}
    assert set(RENDERERS) == {kind for kind in list_kinds() if kind.is_of_publications}
    for kind, renderer in renderers.items():
        declaring_module, rendered = kind.__module__, inspect.getmodule(renderer.render)
        assert rendered is not None
        assert declaring_module.rpartition(".")[2] == rendered.__name__.rpartition(".")[2]


def test_each_kind_is_an_alternative_of_the_schema(tmp_path: Path) -> None:
    probe = tmp_path / "probe.dhall"
    probe.write_text("(./schema/block.dhall).Block", encoding="utf-8")
    union = evaluate_file(probe, FolderPolicy([tmp_path, ROOT / "specs"])).value
    assert isinstance(union, VUnionType)
    assert set(union.fields) == {kind.__name__ for kind in list_kinds()}
