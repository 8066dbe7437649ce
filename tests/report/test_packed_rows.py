"""Test the packing of rows of large figures, and the script that restores them."""

from __future__ import annotations

import dataclasses
import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from playwright.sync_api import Browser

from assay.report.document import Part, Plot
from assay.report.render.html import build_chart_bundle, build_page
from assay.report.render.packed_rows import MANY, pack_datasets, pack_rows
from tests.report_sample import TEMPLATES, build_sample
from tests.support.browser import open_page

values = st.sampled_from([None, "a", "b", 0.0, -0.0, 1, 1.0, 2.5, 1e300])
records = st.lists(st.fixed_dictionaries({"line": values, "x": values, "y": values}), max_size=40)
LINES, POINTS = 60, 100
DRAWN_ROWS = "place => place.view.data('rows').map(({line, x, y}) => [line ?? null, x, y ?? null])"


def unpack_column(column: dict[str, Any]) -> list[Any]:
    """Return the values of a packed column, as the page's script does."""
    match column:
        case {"runs": runs}:
            return [value for value, count in runs for _ in range(count)]
        case {"values": values, "places": places}:
            return [values[place] for place in places]
        case {"plain": values}:
            return list(values)
    raise AssertionError(column)


def unpack_rows(packed: dict[str, Any]) -> list[dict[str, Any]]:
    columns = {name: unpack_column(column) for name, column in packed["columns"].items()}
    assert {len(column) for column in columns.values()} <= {packed["length"]}
    return [
        {name: column[row] for name, column in columns.items() if column[row] is not None}
        for row in range(packed["length"])
    ]


@given(records)
@example([{"line": "a", "x": 1, "y": 0.0}] * 4 + [{"line": "a", "x": 1.0, "y": -0.0}] * 4)
@example([{"line": "a", "x": index % 2, "y": None} for index in range(8)])
def test_packed_rows_are_restored(rows: list[dict[str, Any]]) -> None:
    rows = [{name: value for name, value in row.items() if value is not None} for row in rows]
    packed = json.loads(json.dumps(pack_rows(rows)))
    assert [sorted(map(repr, row.items())) for row in unpack_rows(packed)] == [
        sorted(map(repr, row.items())) for row in rows
    ]


@pytest.mark.parametrize(
    ("rows", "kind"),
    [
        ([{"v": "a"}] * 8, "runs"),
        ([{"v": index % 2} for index in range(8)], "values"),
        ([{"v": index} for index in range(8)], "plain"),
    ],
)
def test_column_is_packed_by_what_its_rows_share(rows: list[dict[str, Any]], kind: str) -> None:
    assert next(iter(pack_rows(rows)["columns"]["v"])) == kind


def test_only_datasets_of_many_rows_are_packed() -> None:
    few, many = [{"x": 1}] * (MANY - 1), [{"x": 1}] * MANY
    packed = pack_datasets({"mark": "line", "datasets": {"few": few, "many": many}})
    assert packed == {"mark": "line", "datasets": {"few": few, "many": pack_rows(many)}}
    assert pack_datasets({"mark": "line"}) == {"mark": "line"}


def test_page_draws_packed_rows_in_their_colours(chromium: Browser, tmp_path: Path, cache: Path) -> None:
    generator = random.Random(7)
    names = tuple(f"node{number:02}" for number in range(LINES))
    rows = tuple(
        (name, float(x), None if x == 50 and name == "node07" else generator.randint(0, 9) / 3)
        for name in names
        for x in range(POINTS)
    )
    rows = (*rows, (None, 0.0, 0.0), (None, 99.0, 4.0))
    plot = Plot("m", 1, "Lines", "tx", "Lines.", "timeline", ("line", "x", "y"), rows, names, x_label="seconds")
    sample = build_sample()
    document = dataclasses.replace(sample, parts=(Part("part-1", "Part", (), (plot,), ()),))
    file = tmp_path / "page.html"
    file.write_text(build_page(document, TEMPLATES, build_chart_bundle(cache / "drawings")), encoding="utf-8")
    with open_page(chromium, file) as opened:
        (place,) = opened.page.locator(".drawing").all()
        drawn_rows = place.evaluate(DRAWN_ROWS)
        colours = place.evaluate("place => place.view.scale('color').range()")
        assert place.locator("canvas").count() == 1
        assert opened.messages == []
    assert [tuple(row) for row in drawn_rows] == list(rows)
    assert len(set(colours)) > 1
    assert all(colour.startswith("rgb(") for colour in colours)
