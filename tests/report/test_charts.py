"""Test charts: they draw the measured values, have equal bytes in every process, and are readable without colour."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import altair
import jsonschema  # type: ignore[import-untyped]
import pytest

from assay.report.charts.converter import WARMUP_CHART, Converter
from assay.report.charts.render import Drawer, Drawing, draw, format_spec, load_template, renumber_clips
from assay.report.charts.vega_spec import build_chart_spec
from assay.report.document import Chart, Plot, Series
from assay.report.render.html import build_web_specs
from assay.util.checksums import seal_text, unseal_text
from assay.util.diagnostics import AssayError
from tests.report_sample import TEMPLATES, build_published_chart, build_sample

WIDTH, HEIGHT = 256, 144
A = ((1.0, 0.0, None, None), (2.0, 0.5, None, None), (4.0, 1.0, None, None))
B = ((1.0, 0.0, 0.5, 2.0), (3.0, 0.5, 2.5, 3.5), (3.0, 1.0, 3.0, 3.75))


def create_chart(*series: Series, identifier: str = "m", x_label: str = "Length, s", template: str = "cdf") -> Chart:
    return Chart(identifier, 1, "Length", x_label, "s", template, series)


def draw_charts(*charts: Chart) -> list[Drawing]:
    return list(draw(charts, TEMPLATES))


def build_spec(item: Chart, runs: Sequence[str] = ()) -> dict[str, Any]:
    return build_chart_spec(item, load_template(TEMPLATES, item.template), runs)


def parse_paths(svg: str, attribute: str) -> list[list[tuple[float, float]]]:
    """Return the corners of every path with a coloured stroke or fill, as (value on an axis 0..4, centile)."""
    path_texts = re.findall(rf'd="M([^"Z]+)Z?" {attribute}="#', svg)
    corners = [[tuple(map(float, pair.split(","))) for pair in path.split("L")] for path in path_texts]
    return [[(x * 4 / WIDTH, 1 - y / HEIGHT) for x, y in path] for path in corners]


def test_every_chart_is_valid_vega_lite() -> None:
    validator = jsonschema.Draft7Validator(altair.load_schema())
    for item in build_sample("three").distributions:
        spec = build_spec(item)
        assert [error.message for error in validator.iter_errors(spec)] == []
        broken_spec = json.loads(json.dumps(spec).replace('"step-after"', '"sideways"'))
        assert list(validator.iter_errors(broken_spec))


def test_line_steps_through_all_listed_centiles() -> None:
    (drawing,) = draw_charts(create_chart(Series("one", A)))
    assert parse_paths(drawing.svg, "stroke") == [[(1, 0), (2, 0), (2, 0.5), (4, 0.5), (4, 1)]]


def test_band_steps_as_its_least_and_greatest_host() -> None:
    (drawing,) = draw_charts(create_chart(Series("one", A), Series("two", B)))
    lower_edge = [(0.5, 0), (2.5, 0), (2.5, 0.5), (3, 0.5), (3, 1)]
    greatest = [(2, 0), (3.5, 0), (3.5, 0.5), (3.75, 0.5), (3.75, 1)]
    assert parse_paths(drawing.svg, "fill") == [lower_edge[::-1] + greatest]


def test_no_band_is_drawn_where_all_hosts_agree() -> None:
    spec = build_spec(create_chart(Series("a", ((1.0, 0.0, 1.0, 1.0), (2.0, 1.0, 2.0, 2.0)))))
    assert sorted(spec["datasets"]) == ["legend", "points"]


def test_every_point_of_the_document_is_in_the_specification() -> None:
    for item in build_sample().distributions:
        points = [(row["run"], row["x"], row["centile"]) for row in build_spec(item)["datasets"]["points"]]
        assert points == [(run.run, x, centile) for run in item.series for x, centile, _, _ in run.points]


def test_cut_axis_is_marked_and_states_the_largest_value() -> None:
    spec = build_spec(build_published_chart("cdf0.50"))
    assert spec["encoding"]["x"]["axis"]["title"] == ["s", "axis cut: values up to 9.92"]
    assert spec["encoding"]["x"]["scale"]["domain"] == [0.0, 0.6]
    assert spec["datasets"]["tails"] == [
        {"run": "10.5-baseline", "x": 0.6, "centile": 0.99},
        {"run": "10.5.4", "x": 0.6, "centile": 0.99},
    ]
    assert spec["layer"][0]["mark"]["clip"] is True


def test_axis_that_shows_everything_is_not_marked() -> None:
    spec = build_spec(create_chart(Series("one", A)))
    assert spec["encoding"]["x"]["axis"]["title"] == ["Length, s"]
    assert "tails" not in spec["datasets"]
    assert spec["layer"][0]["mark"]["clip"] is False


@pytest.mark.parametrize(("label", "title"), [("s", "s"), ("Length, s", "Length, s"), ("Length", "Length, s")])
def test_the_axis_is_titled_with_its_unit_once(label: str, title: str) -> None:
    assert build_spec(create_chart(Series("one", A), x_label=label))["encoding"]["x"]["axis"]["title"] == [title]


def test_a_chart_is_described_in_words() -> None:
    description = build_spec(create_chart(Series("one", A), Series("two", B)))["description"]
    assert description == "Cumulative distribution of Length. Medians: one 2 s; two 3 s."


def test_run_keeps_its_colour_after_a_run_without_samples() -> None:
    spec = build_spec(create_chart(Series("two", A)), ("one", "two"))
    assert spec["encoding"]["color"]["scale"]["domain"] == ["one", "two"]
    assert [row["run"] for row in spec["datasets"]["legend"]] == ["two"]


def test_a_chart_without_samples_is_drawn_empty() -> None:
    (drawing,) = draw_charts(create_chart(Series("one", ())))
    assert parse_paths(drawing.svg, "stroke") == []
    assert ">one</text>" in drawing.svg


def test_runs_of_a_version_are_thin_lines_of_one_colour() -> None:
    repeats = [Series("1 (1)", A, "1"), Series("2", B), Series("1 (2)", A, "1")]
    (drawing,) = draw([create_chart(*repeats)], TEMPLATES, ("1", "2"))
    lines = re.findall(r'stroke="(#[^"]+)" stroke-width="([^"]+)"[^>]* opacity="0.75"', drawing.svg)
    assert lines == [("#1f3a5f", "0.75")] * 2
    assert [item in drawing.svg for item in (">1</text>", ">2</text>", ">1 (1)</text>")] == [True, True, False]
    assert drawing.svg.count('stroke-width="1.35"') == 1
    spec = json.loads(drawing.spec)
    assert [spec["encoding"]["color"]["scale"]["domain"], len(spec["datasets"]["legend"])] == [["1", "2"], 2]


def test_page_names_runs_of_a_version_by_themselves() -> None:
    chart = create_chart(Series("1 (1)", A, "1"), Series("1 (2)", A, "1"))
    spec = build_web_specs([chart], TEMPLATES, ("1", "2"))["m"]
    assert spec["usermeta"]["assay"]["toggles"]["present"] == ["1"]
    assert spec["usermeta"]["assay"]["others"]["line"] == "repeat"


def test_runs_differ_in_their_dashes_and_in_their_grey() -> None:
    template = load_template(TEMPLATES, "cdf")
    colours = template["encoding"]["color"]["scale"]["range"]
    dashes = template["layer"][1]["encoding"]["strokeDash"]["scale"]["range"]
    assert len({tuple(dash) for dash in dashes}) == len(dashes) == len(colours) == 8

    def compute_grey(colour: str) -> float:
        red, green, blue = (int(colour[position : position + 2], 16) for position in (1, 3, 5))
        return (0.299 * red + 0.587 * green + 0.114 * blue) / 255

    assert compute_grey(colours[1]) - compute_grey(colours[0]) > 0.2


@pytest.mark.parametrize("count", [1, 2, 4, 8])
def test_legend_is_above_the_plot_and_inside_the_drawing(count: int) -> None:
    labels = [f"{number}-release-candidate-of-a-branch"[: 6 * number] for number in range(1, count + 1)]
    spec = build_spec(create_chart(*(Series(label, A) for label in labels)))
    margins = spec["padding"]
    rows = spec["datasets"]["legend"]
    assert [row["run"] for row in rows] == labels
    for row in rows:
        assert -margins["top"] < row["top"] < -4
        assert row["left"] >= -margins["left"]
        assert row["right"] + 5 * len(row["label"]) < WIDTH + margins["right"]


def test_long_labels_are_shortened_and_stay_different() -> None:
    names = [f"{'x' * 89}{end}" for end in "123"] + [f"{begin}{'x' * 89}" for begin in "123"]
    rows = build_spec(create_chart(*(Series(name, A) for name in names)))["datasets"]["legend"]
    labels = [row["label"] for row in rows]
    assert len(set(labels)) == 6
    assert all(label.count("…") == 1 and len(label) > 40 and 5 * len(label) < WIDTH for label in labels)


@pytest.mark.parametrize("letter", ["W", "M", "N", "@", "x", "中"])
def test_labels_of_wide_letters_do_not_overlap(letter: str) -> None:
    """Widths in em: most capitals 0.65; W, M and @ 0.85; East Asian letters 1."""
    width = {"x": 4.9, "N": 6.5, "中": 10.0}.get(letter, 8.5)
    rows = build_spec(create_chart(*(Series(letter * count, A) for count in (8, 9, 10, 30, 100))))["datasets"]["legend"]
    for row, next_row in zip(rows, [*rows[1:], None], strict=True):
        end = row["right"] + 5 + width * len(row["label"])
        assert end <= (next_row["left"] if next_row and next_row["top"] == row["top"] else WIDTH + 14)


def test_drawing_does_not_depend_on_earlier_drawings() -> None:
    first, second = build_published_chart("cdf0.50"), build_published_chart("CentiCpu")
    cut_chart = build_published_chart("Alloc")
    assert "clipPath" in draw_charts(cut_chart)[0].svg
    drawings_in_order = {item.id: item.svg for item in draw_charts(first, second, cut_chart)}
    drawings_in_reverse = {item.id: item.svg for item in draw_charts(cut_chart, second, first)}
    assert drawings_in_order == drawings_in_reverse


def test_clip_paths_are_renumbered() -> None:
    def create_drawing(*numbers: int) -> str:
        return "".join(f'<clipPath id="clip{n}"/><g clip-path="url(#clip{n})"/>' for n in numbers)

    assert renumber_clips(create_drawing(12, 1, 0)) == create_drawing(0, 1, 2)


def test_drawing_does_not_depend_on_loaded_fonts(tmp_path: Path) -> None:
    (drawing,) = draw_charts(build_published_chart("cdf0.50"))
    assert renumber_clips(Converter(tmp_path).convert(drawing.spec, "it")) + "\n" == drawing.svg


def test_a_chart_that_the_converter_refuses_is_named() -> None:
    with pytest.raises(AssayError) as error_info:
        Drawer(TEMPLATES / "fonts").draw('{"mark": "no such mark", "data": {}}', "chart one (template odd)")
    (diagnostic,) = error_info.value.diagnostics
    assert (diagnostic.code, diagnostic.message) == (
        "chart-refused",
        "the chart converter refuses chart one (template odd)",
    )
    assert diagnostic.expected == "a chart of Vega-Lite 6.4"
    assert diagnostic.found == "TypeError: Cannot read properties of undefined (reading 'filled')"


def test_a_large_chart_may_be_the_first() -> None:
    """Both the chart and the converter's own output may exceed the buffer of a pipe."""
    (plain_drawing,) = draw_charts(build_published_chart("cdf0.50"))
    first = Converter(TEMPLATES / "fonts")
    spec = json.loads(plain_drawing.spec) | {"description": "x" * 500_000}
    assert "</svg>" in first.convert(json.dumps(spec), "it")
    first.close()


def test_killed_converter_is_an_error() -> None:
    converter = Converter(TEMPLATES / "fonts")
    os.kill(converter.pid, signal.SIGKILL)
    with pytest.raises(AssayError) as error_info:
        converter.convert("{}", "it")
    assert error_info.value.diagnostics[0].message == "the chart converter ended with status -9"


def test_converter_is_waited_for_only_if_its_output_was_read() -> None:
    """If a build fails while it reads, its converters are still loading."""
    used_converter, unused_converter = Converter(TEMPLATES / "fonts"), Converter(TEMPLATES / "fonts")
    used_converter.convert(WARMUP_CHART, "it")
    for converter in (used_converter, unused_converter):
        converter.close()
    assert [converter._process.returncode for converter in (used_converter, unused_converter)] == [0, -signal.SIGKILL]


def test_text_is_set_in_a_shipped_family() -> None:
    (first_drawing,) = draw_charts(create_chart(Series("one", A)))
    assert set(re.findall(r'font-family="([^"]+)"', first_drawing.svg)) == {"Source Sans 3"}


def test_cached_drawing_is_used(tmp_path: Path) -> None:
    item = create_chart(Series("one", A))
    (new_drawing,) = draw([item], TEMPLATES, cache_folder=tmp_path)
    (path,) = tmp_path.iterdir()
    assert new_drawing.svg == unseal_text(path.name, path.read_text(encoding="utf-8")) == draw_charts(item)[0].svg
    path.write_text(seal_text(path.name, "kept"), encoding="utf-8")
    assert [drawing.svg for drawing in draw([item], TEMPLATES, cache_folder=tmp_path)] == ["kept"]


def test_cached_drawing_of_other_points_is_not_used(tmp_path: Path) -> None:
    for item in (create_chart(Series("one", A)), create_chart(Series("one", B))):
        (output,) = draw([item], TEMPLATES, cache_folder=tmp_path)
        assert output.svg == draw_charts(item)[0].svg
    assert len(list(tmp_path.iterdir())) == 2


def test_an_unknown_chart_template_is_named_with_the_known_ones() -> None:
    with pytest.raises(AssayError) as error:
        draw_charts(create_chart(template="cfd"))
    (problem,) = error.value.diagnostics
    assert (problem.code, problem.hint) == ("unknown-chart-template", "did you mean `cdf`?")


def test_unknown_variable_of_a_template_is_refused() -> None:
    template = load_template(TEMPLATES, "cdf")
    with pytest.raises(AssayError) as error:
        build_chart_spec(create_chart(Series("one", A)), {**template, "description": "${descripton}"})
    (problem,) = error.value.diagnostics
    assert problem.message == "a chart template has an unknown placeholder `descripton`"
    assert problem.hint == "did you mean `description`?"


def test_control_characters_of_texts_are_escapes() -> None:
    spec_json = format_spec({"title": "a\x1b[31m\x00b\nc\\u001b\u202e"})
    assert json.loads(spec_json) == {"title": "a\\x1b[31m\\x00b\nc\\u001b\u202e"}
    assert "\u202e" not in spec_json


# Templates of a workspace: the converter reports invalid Vega-Lite; all other faults are errors of Assay


LINE = create_chart(Series("one", A))


@pytest.fixture
def templates(tmp_path: Path) -> Path:
    """Copy the templates, to change them."""
    return shutil.copytree(TEMPLATES, tmp_path / "templates")


def change_template(templates: Path, place: str, value: Any, name: str = "charts/cdf.vl.json") -> Path:
    """Replace the member at a place of a template; None removes it."""
    file = templates / name
    template = json.loads(file.read_text(encoding="utf-8"))
    *parents, last = place.split(".")
    record = template
    for member in parents:
        record = record[member]
    record.pop(last) if value is None else record.update({last: value})
    file.write_text(json.dumps(template), encoding="utf-8")
    return file


def add_layers(templates: Path, *added_layers: dict[str, Any]) -> None:
    for name in ("charts/cdf.vl.json", "html/charts/cdf.vl.json"):
        layer = json.loads((templates / name).read_text(encoding="utf-8"))["layer"]
        change_template(templates, "layer", [*layer, *added_layers], name)


def test_layers_added_to_a_template_stay_unchanged(templates: Path) -> None:
    """Layers without data and with their own data are drawn, in print and on pages."""
    own_layers = (
        {"mark": "rule", "encoding": {"x": {"datum": 1}}},
        {"data": {"values": [{"x": 1.5, "centile": 0.5}]}, "mark": {"type": "point", "shape": "cross"}},
    )
    (before,) = draw([LINE], templates)
    add_layers(templates, *own_layers)
    (drawing,) = draw([LINE], templates)
    assert json.loads(drawing.spec)["layer"][-2:] == list(own_layers)
    assert len(drawing.svg) > len(before.svg)
    assert build_web_specs([LINE], templates, ["one"])["m"]["layer"][-2:] == list(own_layers)


def test_empty_data_stays_if_an_added_layer_reads_it(templates: Path) -> None:
    """The sample has no bands: the layer that draws them is dropped, a layer that looks up values in them is not."""
    lookup = {"lookup": "run", "from": {"data": {"name": "bands"}, "key": "run", "fields": ["x2"]}}
    add_layers(templates, {"data": {"name": "points"}, "transform": [lookup], "mark": "tick"})
    (drawing,) = draw([LINE], templates)
    spec = json.loads(drawing.spec)
    assert spec["datasets"]["bands"] == []
    assert "tails" not in spec["datasets"]
    assert [layer["data"]["name"] for layer in spec["layer"]].count("bands") == 0


def test_data_at_an_address_is_refused_by_the_converter(templates: Path) -> None:
    add_layers(templates, {"data": {"url": "https://example.org/x.json"}, "mark": "point"})
    with pytest.raises(AssayError) as error:
        list(draw([LINE], templates))
    assert error.value.diagnostics[0].code == "chart-refused"


@pytest.mark.parametrize(
    ("place", "value", "expected", "actual"),
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
def test_template_without_a_required_member_is_an_error(
    templates: Path, place: str, value: Any, expected: str, actual: str
) -> None:
    file = change_template(templates, place, value)
    with pytest.raises(AssayError) as error:
        list(draw([LINE], templates))
    name = f"{place}.row" if place.endswith("legend") else place
    assert str(error.value) == (
        f"error[template]: the chart template has no valid `{name}`\n"
        f"  at {file}\n  expected: {expected}\n  found:    {actual}"
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
def test_plot_template_without_a_required_member_is_an_error(
    templates: Path, name: str, place: str, value: Any
) -> None:
    file = change_template(templates, place, value, f"charts/{name}.vl.json")
    plot = Plot("p", 1, "Title", "", "", name, ("x", "y", "panel"), ((1.0, 2.0, "a"),), ("a",))
    with pytest.raises(AssayError) as error:
        list(draw([plot], templates))
    assert str(error.value).startswith(f"error[template]: the chart template has no valid `{place}")
    assert f"\n  at {file}\n" in str(error.value)


def test_unknown_toggle_of_a_page_is_an_error(templates: Path) -> None:
    file = change_template(templates, "usermeta.assay.toggles.field", None, "html/charts/cdf.vl.json")
    with pytest.raises(AssayError) as error:
        build_web_specs([LINE], templates, ["one"])
    message = "error[template]: the chart template has no valid `usermeta.assay.toggles.field`"
    assert str(error.value).startswith(f"{message}\n  at {file}\n")


def test_unknown_placeholder_is_an_error_with_its_file(templates: Path) -> None:
    file = change_template(templates, "description", "${descripton}")
    with pytest.raises(AssayError) as error:
        list(draw([LINE], templates))
    message = "error[unknown-placeholder]: a chart template has an unknown placeholder `descripton`"
    assert str(error.value).startswith(f"{message}\n  at {file}\n")


def test_numbers_without_a_json_form_are_errors(templates: Path) -> None:
    file = templates / "charts" / "cdf.vl.json"
    file.write_text(file.read_text(encoding="utf-8").replace("256", "NaN", 1), encoding="utf-8")
    with pytest.raises(AssayError) as error:
        list(draw([LINE], templates))
    assert str(error.value) == (
        f"error[template]: the chart template cannot be read: `NaN` is not a number in JSON\n  at {file}"
    )
