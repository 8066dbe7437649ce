"""Render the charts of a document as Vega-Lite specifications and SVG.

A chart takes the converter some twenty milliseconds, so a drawing made before is looked up by the hash of everything it
depends on.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, Generic, TypeVar

from assay.report.charts.converter import PROCESSES, convert, fonts_hash
from assay.report.charts.vega_spec import chart_spec, plot_spec
from assay.report.document import Chart, Plot
from assay.report.output_forms import VEGA_LITE
from assay.util import atomic
from assay.util.checksums import seal_text, unseal_text
from assay.util.diagnostics import AssayError, Span, did_you_mean, fail
from assay.util.escape import escape_json
from assay.util.json_text import dump_indented


@dataclass(frozen=True)
class Drawer:
    """Draws with the fonts that one folder now has; `kept` is a folder of earlier drawings, or None."""

    fonts: Path
    kept: Path | None = None

    @cached_property
    def _state(self) -> str:
        return fonts_hash(self.fonts)

    def draw(self, spec: str, name: str = "a chart") -> str:
        """The specification (JSON text) as SVG text; `name` is what messages call it."""
        if self.kept is None:
            return self._drawn(spec, name)
        path = self.kept / f"{self._key(spec)}.svg.sealed"
        if known := kept_text(path):
            return known
        svg = self._drawn(spec, name)
        keep(path, svg)
        return svg

    def _key(self, spec: str) -> str:
        parts = (_converter(), VEGA_LITE, self._state, spec)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    def _drawn(self, spec: str, name: str) -> str:
        """Draw; raises `chart-refused` when the converter does."""
        return renumber_clips(convert(spec, self.fonts, self._state, name)) + "\n"


def renumber_clips(svg: str) -> str:
    """The SVG with its clip paths numbered from 0: the converter counts on over all charts of a process."""
    names = list(dict.fromkeys(re.findall(r'<clipPath id="([^"]+)"', svg)))
    for number, name in enumerate(names):
        svg = svg.replace(f'id="{name}"', f'id="\0{number}"').replace(f"url(#{name})", f"url(#\0{number})")
    return svg.replace("\0", "clip")


@cache
def _converter() -> str:
    """The version of the converter: to read it takes as long as to read a drawing."""
    return version("vl-convert-python")


def keep(path: Path, text: str) -> None:
    """Write into a folder of a cache: a build that runs at the same time sees all of the file or none."""
    atomic.write_file(path.parent.parent, path, seal_text(path.name, text))


def kept_text(path: Path) -> str | None:
    """What was kept at a place of a cache; None when it is not there, or damaged."""
    try:
        return unseal_text(path.name, path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return None


Json = Any
#: places (members from the outermost inwards) and what stands there
Needs = Mapping[str, str]

MARGINS = {f"usermeta.assay.margins.{side}": "a number" for side in ("left", "right", "top", "bottom")}
CHART: Needs = {
    "width": "a number",
    "usermeta.assay.scale": "a text",
    **MARGINS,
    **{f"usermeta.assay.legend.{name}": "a number above 0" for name in ("row", "gap", "stroke", "character")},
}
PANELS: Needs = {"spec.width": "a number", "spec.height": "a number"}
ROWS: Needs = {"spacing": "a number"}
GRID: Needs = {"spacing.row": "a number", "spacing.column": "a number"}
#: what may be left out
OPTIONAL: Needs = {"datasets": "a record", "layer": "a list of records", "facet": "a record", "encoding": "a record"}
TOGGLES: Needs = {"usermeta.assay.toggles.field": "a text", "usermeta.assay.toggles.names": "a list"}


def check_template(template: Mapping[str, Json], place: Path, plot: bool) -> None:
    """Raise `template`, which names the file, where what is read of a template for charts, or plots, is not there."""
    for name, kind in _needs(template, plot):
        found = _at(template, name)
        if not _is(found, kind):
            raise fail(
                "template",
                f"the chart template has no `{name}` that can be used",
                span=Span(str(place)),
                expected=kind,
                found="nothing" if found is None else repr(found)[:60],
            )


def _needs(template: Mapping[str, Json], plot: bool) -> Iterator[tuple[str, str]]:
    yield from ((name, kind) for name, kind in OPTIONAL.items() if name in template)
    yield from (MARGINS if plot else CHART).items()
    if plot and "facet" in template:
        yield from PANELS.items()
        yield from (GRID if "column" in template["facet"] else ROWS).items()
    if _at(template, "usermeta.assay.toggles"):
        yield from TOGGLES.items()


def _at(template: Mapping[str, Json], name: str) -> Json:
    """What stands at a place; None where there is none."""
    found: Json = template
    for member in name.split("."):
        found = found.get(member) if isinstance(found, Mapping) else None
    return found


def _is(found: Json, kind: str) -> bool:
    if kind.startswith("a number"):
        is_number = isinstance(found, (int, float)) and not isinstance(found, bool) and math.isfinite(found)
        return is_number and (found > 0 or not kind.endswith("above 0"))
    if kind == "a text":
        return isinstance(found, str)
    if kind == "a record":
        return isinstance(found, Mapping)
    if isinstance(found, str):  # a placeholder stands for a list
        return kind == "a list"
    return isinstance(found, list) and (kind == "a list" or all(isinstance(item, Mapping) for item in found))


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
    text = dump_indented(spec, allow_nan=False) + "\n"
    return escape_json(_ESCAPE.sub(lambda found: f"\\\\x{found[1]}" if found[1] else found[0], text))
