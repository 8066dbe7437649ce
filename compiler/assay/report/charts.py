"""The charts of a document, each as a Vega-Lite specification and as SVG."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.report.chart_spec import chart_spec
from assay.report.converter import PROCESSES
from assay.report.document import Chart, Plot
from assay.report.plot_spec import plot_spec
from assay.report.svg import Drawer
from assay.spec.diagnostics import Span, did_you_mean, fail
from assay.spec.visible import escaped_json

#: an escape of JSON as a whole; that of a control character with its number
_ESCAPE = re.compile(r"\\(?:u00([01][0-9a-f])|.)")


@dataclass(frozen=True, slots=True)
class Drawing:
    """A finished chart: its Vega-Lite text and its SVG text."""

    id: str
    spec: str
    svg: str


def draw(
    charts: Iterable[Chart | Plot], templates: Path, runs: Sequence[str] = (), kept: Path | None = None
) -> Iterator[Drawing]:
    """Every chart drawn, in the given order; what one chart looks like does not depend on the others.

    `templates` holds `charts/` and `fonts/`; `runs` are the labels of all runs of the report; `kept`, when
    given, is a folder in which drawings are kept between builds.  Raises `unknown-chart-template`,
    `unknown-placeholder`, and `chart-refused`.
    """
    drawer = Drawer(templates / "fonts", kept)
    loaded: dict[str, dict[str, Any]] = {}

    def one(chart: Chart | Plot) -> Drawing:
        template = loaded[chart.template]
        made = plot_spec(chart, template) if isinstance(chart, Plot) else chart_spec(chart, template, runs)
        spec = spec_text(made)
        return Drawing(chart.id, spec, drawer.draw(spec, f"chart {chart.id} (template {chart.template})"))

    wanted = list(charts)
    for name in dict.fromkeys(chart.template for chart in wanted):
        loaded[name] = load_template(templates, name)
    with ThreadPoolExecutor(max_workers=PROCESSES) as pool:
        yield from pool.map(one, wanted)


def load_template(templates: Path, name: str) -> dict[str, Any]:
    """The chart template `name` of a templates folder; raises `unknown-chart-template` when there is none."""
    path = templates / "charts" / f"{name}.vl.json"
    if not path.is_file():
        known = [item.name.removesuffix(".vl.json") for item in path.parent.glob("*.vl.json")]
        raise fail(
            "unknown-chart-template",
            f"there is no chart template `{name}`",
            expected=f"the file {path}",
            hint=did_you_mean(name, known),
        )
    try:
        loaded: Any = json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        span = Span(str(path), error.lineno, error.colno)
        raise fail("template", f"the chart template is no JSON: {error.msg}", span=span) from None
    except (ValueError, RecursionError) as error:
        raise fail("template", f"the chart template cannot be read: {error}", span=Span(str(path))) from None
    settings = loaded.get("usermeta") if isinstance(loaded, dict) else None
    if not isinstance(settings, dict) or not isinstance(settings.get("assay"), dict):
        raise fail("template", "the chart template has no `usermeta.assay`", span=Span(str(path)))
    return dict(loaded)


def spec_text(spec: dict[str, Any]) -> str:
    """A specification as the text of its file; an escape stands in the place of each control character that a template
    has: the converter dies of those."""
    text = json.dumps(spec, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    return escaped_json(_ESCAPE.sub(lambda found: f"\\\\x{found[1]}" if found[1] else found[0], text))
