"""Chart templates of a workspace's own: all that is legal Vega-Lite is left to the converter, the rest is told."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from assay.report.charts.render import draw
from assay.report.document import Chart, Plot, Series
from assay.report.render.html import web_specs
from assay.util.diagnostics import AssayError
from tests.report_sample import TEMPLATES

POINTS = ((1.0, 0.0, None, None), (2.0, 0.5, None, None), (4.0, 1.0, None, None))
LINE = Chart("m", 1, "Length", "Length, s", "s", "cdf", (Series("one", POINTS),))


@pytest.fixture
def templates(tmp_path: Path) -> Path:
    """A copy of the templates, to change."""
    return shutil.copytree(TEMPLATES, tmp_path / "templates")


def change(templates: Path, place: str, value: Any, name: str = "charts/cdf.vl.json") -> Path:
    """Let something else stand at a place of a template; None: nothing."""
    file = templates / name
    template = json.loads(file.read_text(encoding="utf-8"))
    *above, last = place.split(".")
    found = template
    for member in above:
        found = found[member]
    found.pop(last) if value is None else found.update({last: value})
    file.write_text(json.dumps(template), encoding="utf-8")
    return file


def layers(templates: Path, *more: dict[str, Any]) -> None:
    for name in ("charts/cdf.vl.json", "html/charts/cdf.vl.json"):
        own = json.loads((templates / name).read_text(encoding="utf-8"))["layer"]
        change(templates, "layer", [*own, *more], name)


def test_layers_of_ones_own_stay_as_they_are(templates: Path) -> None:
    """Without data, and with data of their own: both are drawn, in print and on pages."""
    mine = (
        {"mark": "rule", "encoding": {"x": {"datum": 1}}},
        {"data": {"values": [{"x": 1.5, "centile": 0.5}]}, "mark": {"type": "point", "shape": "cross"}},
    )
    (before,) = draw([LINE], templates)
    layers(templates, *mine)
    (drawn,) = draw([LINE], templates)
    assert json.loads(drawn.spec)["layer"][-2:] == list(mine)
    assert len(drawn.svg) > len(before.svg)
    assert web_specs([LINE], templates, ["one"])["m"]["layer"][-2:] == list(mine)


def test_data_that_is_empty_stays_where_a_layer_of_ones_own_reads_it(templates: Path) -> None:
    """The sample has no bands: the layer that shows them goes, one that looks something up in them does not."""
    looks = {"lookup": "run", "from": {"data": {"name": "bands"}, "key": "run", "fields": ["x2"]}}
    layers(templates, {"data": {"name": "points"}, "transform": [looks], "mark": "tick"})
    (drawn,) = draw([LINE], templates)
    spec = json.loads(drawn.spec)
    assert spec["datasets"]["bands"] == []
    assert "tails" not in spec["datasets"]
    assert [layer["data"]["name"] for layer in spec["layer"]].count("bands") == 0


def test_data_at_an_address_is_refused_by_the_converter(templates: Path) -> None:
    layers(templates, {"data": {"url": "https://example.org/x.json"}, "mark": "point"})
    with pytest.raises(AssayError) as found:
        list(draw([LINE], templates))
    assert found.value.diagnostics[0].code == "chart-refused"


@pytest.mark.parametrize(
    ("place", "value", "expected", "said"),
    [
        ("layer", [1], "a list of records", "[1]"),
        ("layer", {}, "a list of records", "{}"),
        ("datasets", [], "a record", "[]"),
        ("width", None, "a number", "nothing"),
        ("width", "container", "a number", "'container'"),
        ("usermeta.assay.margins.left", None, "a number", "nothing"),
        ("usermeta.assay.margins.top", True, "a number", "True"),
        ("usermeta.assay.legend", None, "a number above 0", "nothing"),
        ("usermeta.assay.legend.character", 0, "a number above 0", "0"),
        ("usermeta.assay.scale", 1, "a text", "1"),
        ("encoding", "x", "a record", "'x'"),
    ],
)
def test_what_assay_reads_of_a_template_must_be_there(
    templates: Path, place: str, value: Any, expected: str, said: str
) -> None:
    file = change(templates, place, value)
    with pytest.raises(AssayError) as found:
        list(draw([LINE], templates))
    name = f"{place}.row" if place.endswith("legend") else place
    assert str(found.value) == (
        f"error[template]: the chart template has no `{name}` that can be used\n"
        f"  at {file}\n  expected: {expected}\n  found:    {said}"
    )


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        ("history", "spec.width", None),
        ("history", "spacing", {}),
        ("history", "facet", "panel"),
        ("grid", "spacing", 3),
        ("timeline", "usermeta.assay.margins", None),
    ],
)
def test_what_assay_reads_of_a_template_of_plots_must_be_there(
    templates: Path, name: str, place: str, value: Any
) -> None:
    file = change(templates, place, value, f"charts/{name}.vl.json")
    plot = Plot("p", 1, "Title", "", "", name, ("x", "y", "panel"), ((1.0, 2.0, "a"),), ("a",))
    with pytest.raises(AssayError) as found:
        list(draw([plot], templates))
    assert str(found.value).startswith(f"error[template]: the chart template has no `{place}")
    assert f"\n  at {file}\n" in str(found.value)


def test_toggles_of_a_page_that_name_nothing_are_told(templates: Path) -> None:
    file = change(templates, "usermeta.assay.toggles.field", None, "html/charts/cdf.vl.json")
    with pytest.raises(AssayError) as found:
        web_specs([LINE], templates, ["one"])
    said = "error[template]: the chart template has no `usermeta.assay.toggles.field` that can be used"
    assert str(found.value).startswith(f"{said}\n  at {file}\n")


def test_a_placeholder_that_there_is_not_is_told_with_its_file(templates: Path) -> None:
    file = change(templates, "description", "${descripton}")
    with pytest.raises(AssayError) as found:
        list(draw([LINE], templates))
    said = "error[unknown-placeholder]: a chart template asks for `descripton`, which charts do not have"
    assert str(found.value).startswith(f"{said}\n  at {file}\n")


def test_numbers_that_json_does_not_have_are_told(templates: Path) -> None:
    file = templates / "charts" / "cdf.vl.json"
    file.write_text(file.read_text(encoding="utf-8").replace("256", "NaN", 1), encoding="utf-8")
    with pytest.raises(AssayError) as found:
        list(draw([LINE], templates))
    assert str(found.value) == (
        f"error[template]: the chart template cannot be read: `NaN` is no number of JSON\n  at {file}"
    )
