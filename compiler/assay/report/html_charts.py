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

from assay.report.chart_spec import chart_spec
from assay.report.charts import load_template
from assay.report.document import Chart, Plot
from assay.report.plot_spec import plot_spec

Json = Any
#: the format of ticks that stays right when an axis is zoomed
LARGE = "~s"


def web_specs(figures: Sequence[Chart | Plot], templates: Path, runs: Sequence[str]) -> dict[str, dict[str, Json]]:
    """Id -> specification of every figure that has something to show; `runs` are the labels of the report's."""
    loaded = {figure.template: _template(templates, figure.template) for figure in figures if figure.has_samples}
    return {figure.id: _spec(figure, *loaded[figure.template], runs) for figure in figures if figure.has_samples}


def theme(templates: Path) -> dict[str, Json]:
    """The configuration that all charts of a page share."""
    loaded: dict[str, Json] = json.loads((templates / "html" / "charts" / "theme.json").read_text(encoding="utf-8"))
    return loaded


def _template(templates: Path, name: str) -> tuple[dict[str, Json], bool]:
    """The template of a figure, and whether it is made for the page."""
    made_for_it = (templates / "html" / "charts" / f"{name}.vl.json").is_file()
    return load_template(templates / "html" if made_for_it else templates, name), made_for_it


def _spec(figure: Chart | Plot, template: Mapping[str, Json], for_page: bool, runs: Sequence[str]) -> dict[str, Json]:
    made = plot_spec(figure, template) if isinstance(figure, Plot) else chart_spec(figure, template, runs)
    shown = made["usermeta"]["assay"]
    if not for_page:
        return {**made, "usermeta": {"assay": {"paper": True}}}
    if isinstance(figure, Chart):
        x = made["encoding"]["x"]
        x["axis"] = {key: x["axis"][key] for key in x["axis"] if key != "format" or x["axis"][key] == LARGE}
        x["scale"] = {key: x["scale"][key] for key in x["scale"] if key != "zero" or x["scale"]["type"] != "log"}
    toggles = shown.get("toggles")
    if toggles:
        present = _present(figure, toggles["field"])
        toggles = {**toggles, "present": [name for name in toggles["names"] if name in present]}
    return {**made, "usermeta": {"assay": {"toggles": toggles} if toggles else {}}}


def _present(figure: Chart | Plot, field: str) -> set[object]:
    """The lines that a figure has."""
    if isinstance(figure, Chart):
        return {series.run for series in figure.series}
    return {row[figure.columns.index(field)] for row in figure.rows}
