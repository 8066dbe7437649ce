"""Test that renaming any binder of the schema leaves its files equal."""

from __future__ import annotations

import pytest

from assay_dhall import Node, encode
from assay_dhall.names import rename
from assay_dhall.session import parse_text
from assay_dhall.syntax import Lambda, Let, alpha_normalize, walk
from tests.support.laboratory import ROOT

SCHEMA = ROOT / "specs" / "schema"


def rename_at_position(text: str, line: int, column: int, new: str) -> str:
    """Return a text after a rename at a place."""
    for item in reversed(rename("main.dhall", text, line, column, new)):
        text = text[: item.span.start] + item.text + text[item.span.end :]
    return text


def list_binders(text: str) -> list[Node]:
    return [node for node in walk(parse_text("main.dhall", text).node) if isinstance(node, Let | Lambda)]


@pytest.mark.parametrize("file", ["grain.dhall", "units.dhall", "package.dhall"])
def test_rename_of_any_binder_leaves_the_expression_equal(file) -> None:
    text = (SCHEMA / file).read_text(encoding="utf-8")
    expected = encode(alpha_normalize(parse_text("main.dhall", text).node))
    names = sorted({node.name for node in list_binders(text)})
    assert len(names) > 5
    for number, node in enumerate(list_binders(text)):
        line, column = node.source.locate(node.name_start)
        new = names[number % len(names)]
        after = parse_text("main.dhall", rename_at_position(text, line, column, new)).node
        assert encode(alpha_normalize(after)) == expected, (node.name, new)
