"""The charts of a web page: Vega-Lite specifications that a reader can point at, zoom, and switch lines off in.

`templates/html/charts/` has a template for the page where a figure's looks another way there than in print; it has the
placeholders of the printed one.  Its `usermeta.assay.toggles` say which lines can be switched off: `field` names them
in the data, `names` lists all, in the order of their colours (`before` are classes of strokes that come before those of
runs), and a parameter `hidden` takes those that are off.  A
parameter `zoom`, bound to the scales, lets the axes be moved.  Colours are variables of the page's style sheet
(`theme.json` has those that all charts share), so that they follow the light.  A figure without such a template is
drawn as it is printed, on paper.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from assay.report.charts.render import figure_spec, load_template, template_file
from assay.report.document import Chart, Plot

Json = Any
#: the format of ticks that stays right when an axis is zoomed
LARGE = "~s"


def web_specs(figures: Sequence[Chart | Plot], templates: Path, runs: Sequence[str]) -> dict[str, dict[str, Json]]:
    """Id -> specification of every figure that has something to show; `runs` are the labels of the report's."""
    drawn = [figure for figure in figures if figure.has_samples]
    loaded = {figure.template: _template(templates, figure.template) for figure in drawn}
    return {figure.id: _spec(figure, *loaded[figure.template], runs) for figure in drawn}


def theme(templates: Path) -> dict[str, Json]:
    """The configuration that all charts of a page share."""
    loaded: dict[str, Json] = json.loads((templates / "html" / "charts" / "theme.json").read_text(encoding="utf-8"))
    return loaded


def _template(templates: Path, name: str) -> tuple[dict[str, Json], Path, bool]:
    """The template of a figure, its file, and whether it is made for the page."""
    made_for_it = template_file(templates / "html", name).is_file()
    folder = templates / "html" if made_for_it else templates
    return load_template(folder, name), template_file(folder, name), made_for_it


def _spec(
    figure: Chart | Plot, template: Mapping[str, Json], place: Path, for_page: bool, runs: Sequence[str]
) -> dict[str, Json]:
    made = figure_spec(figure, template, place, runs)
    shown = made["usermeta"]["assay"]
    if not for_page:
        return {**made, "usermeta": {"assay": {"paper": True}}}
    if isinstance(figure, Chart):
        _let_zoom(made)
    toggles = shown.get("toggles")
    if toggles:
        present = _present(figure, toggles["field"])
        toggles = {**toggles, "present": [name for name in toggles["names"] if name in present]}
    return {**made, "usermeta": {"assay": {"toggles": toggles} if toggles else {}}}


def _let_zoom(made: Mapping[str, Json]) -> None:
    """Let the axis along which a chart is zoomed, where its template has one, be right at any zoom."""
    x = made.get("encoding", {}).get("x", {})
    if isinstance(axis := x.get("axis"), dict):
        x["axis"] = {key: axis[key] for key in axis if key != "format" or axis[key] == LARGE}
    if isinstance(scale := x.get("scale"), dict):
        x["scale"] = {key: scale[key] for key in scale if key != "zero" or scale.get("type") != "log"}


def _present(figure: Chart | Plot, field: str) -> set[object]:
    """The lines that a figure has."""
    if isinstance(figure, Chart):
        return {series.run for series in figure.series}
    return {row[figure.columns.index(field)] for row in figure.rows}
