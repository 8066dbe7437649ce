"""The charts of a document, each as a Vega-Lite specification and as SVG."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

from assay.report.charts.converter import PROCESSES
from assay.report.charts.plot_spec import plot_spec
from assay.report.charts.svg import Drawer
from assay.report.charts.template_shape import check_template
from assay.report.charts.vega_spec import chart_spec
from assay.report.document import Chart, Plot
from assay.util.diagnostics import AssayError, Span, did_you_mean, fail
from assay.util.escape import escaped_json
from assay.util.json_text import indented

#: an escape of JSON as a whole; that of a control character with its number
_ESCAPE = re.compile(r"\\(?:u00([01][0-9a-f])|.)")
T = TypeVar("T")


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
    `unknown-placeholder`, `template`, and `chart-refused`.
    """
    drawer = Drawer(templates / "fonts", kept)
    loaded: dict[str, _ExactKey[dict[str, Any]]] = {}

    def one(chart: Chart | Plot) -> Drawing:
        spec = _specified(
            _ExactKey(chart), loaded[chart.template], template_file(templates, chart.template), tuple(runs)
        )
        return Drawing(chart.id, spec, drawer.draw(spec, f"chart {chart.id} (template {chart.template})"))

    wanted = list(charts)
    for name in dict.fromkeys(chart.template for chart in wanted):
        loaded[name] = _ExactKey(load_template(templates, name))
    with ThreadPoolExecutor(max_workers=PROCESSES + 1) as pool:  # one specifies what the others draw next
        yield from pool.map(one, wanted)


class _ExactKey(Generic[T]):
    """Something that equals what is told in the same words: numbers that are equal may be written differently."""

    def __init__(self, it: T) -> None:
        self.it, self._words = it, repr(it)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ExactKey) and self._words == other._words

    def __hash__(self) -> int:
        return hash(self._words)


@functools.lru_cache(maxsize=256)  # those who watch files draw most figures again unchanged
def _specified(
    figure: _ExactKey[Chart | Plot], template: _ExactKey[dict[str, Any]], place: Path, runs: tuple[str, ...]
) -> str:
    """The text of the specification that draws a figure."""
    return spec_text(figure_spec(figure.it, template.it, place, runs))


def figure_spec(figure: Chart | Plot, template: Mapping[str, Any], place: Path, runs: Sequence[str]) -> dict[str, Any]:
    """The specification that draws a chart or a plot; `place` is the template's file, which its errors name."""
    check_template(template, place, isinstance(figure, Plot))
    try:
        return plot_spec(figure, template) if isinstance(figure, Plot) else chart_spec(figure, template, runs)
    except AssayError as error:
        raise AssayError([replace(item, span=item.span or Span(str(place))) for item in error.diagnostics]) from None


def template_file(templates: Path, name: str) -> Path:
    """The file of the chart template `name`."""
    return templates / "charts" / f"{name}.vl.json"


def load_template(templates: Path, name: str) -> dict[str, Any]:
    """The chart template `name` of a templates folder; raises `unknown-chart-template` when there is none."""
    path = template_file(templates, name)
    if not path.is_file():
        known = [item.name.removesuffix(".vl.json") for item in path.parent.glob("*.vl.json")]
        raise fail(
            "unknown-chart-template",
            f"there is no chart template `{name}`",
            expected=f"the file {path}",
            hint=did_you_mean(name, known),
        )
    try:
        loaded: Any = json.loads(path.read_text(encoding="utf-8"), parse_constant=_no_number)
    except json.JSONDecodeError as error:
        span = Span(str(path), error.lineno, error.colno)
        raise fail("template", f"the chart template is no JSON: {error.msg}", span=span) from None
    except (ValueError, RecursionError) as error:
        raise fail("template", f"the chart template cannot be read: {error}", span=Span(str(path))) from None
    settings = loaded.get("usermeta") if isinstance(loaded, dict) else None
    if not isinstance(settings, dict) or not isinstance(settings.get("assay"), dict):
        raise fail("template", "the chart template has no `usermeta.assay`", span=Span(str(path)))
    return dict(loaded)


def _no_number(word: str) -> float:
    raise ValueError(f"`{word}` is no number of JSON")


def spec_text(spec: dict[str, Any]) -> str:
    """A specification as the text of its file; an escape stands in the place of each control character that a template
    has: the converter dies of those."""
    text = indented(spec, allow_nan=False) + "\n"
    return escaped_json(_ESCAPE.sub(lambda found: f"\\\\x{found[1]}" if found[1] else found[0], text))
