"""Kinds of blocks: each is declared and rendered by modules of one name, and has a list in the parts of the schema."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

from assay.lang.blocks import list_kinds
from assay.report.blocks.context import load_renderers
from assay_dhall import FolderPolicy, evaluate_file, to_data
from tests.support.laboratory import ROOT


def test_each_kind_is_rendered_by_a_module_of_its_name() -> None:
    renderers = load_renderers()
    assert set(renderers) == set(list_kinds())
    for kind, renderer in renderers.items():
        declaring_module, rendered = kind.__module__, inspect.getmodule(renderer.render)
        assert rendered is not None
        assert declaring_module.rpartition(".")[2] == rendered.__name__.rpartition(".")[2]


def test_positions_on_a_page_differ() -> None:
    positions = [renderer.position for renderer in load_renderers().values()]
    assert positions == sorted(set(positions))


def test_parts_of_the_schema_list_each_kind(tmp_path: Path) -> None:
    probe = tmp_path / "probe.dhall"
    probe.write_text("(./schema/block.dhall).Part.default", encoding="utf-8")
    part = to_data(evaluate_file(probe, FolderPolicy([tmp_path, ROOT / "specs"])).value)
    assert isinstance(part, dict)
    members = {re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", str(name)) for name in part}
    assert members == {"prose", "group", *(kind.member for kind in list_kinds())}
