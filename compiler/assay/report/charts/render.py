"""Render the charts of a document as Vega-Lite specifications and SVG.

Drawing a chart takes some twenty milliseconds, so drawings are cached by the hash of everything they depend on.
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

from assay.report.charts.converter import PROCESSES, convert_spec, hash_fonts
from assay.report.charts.vega_spec import build_chart_spec, build_plot_spec
from assay.report.document import Chart, Plot
from assay.report.output_forms import VEGA_LITE
from assay.util import atomic
from assay.util.checksums import seal_text, unseal_text
from assay.util.diagnostics import AssayError, Span, fail, suggest_names
from assay.util.escape import escape_json
from assay.util.json_text import dump_indented


@dataclass(frozen=True)
class Drawer:
    """A drawer with the current fonts of a folder; `cache_folder` is a folder of cached drawings, or None."""

    fonts: Path
    cache_folder: Path | None = None

    @cached_property
    def _state(self) -> str:
        return hash_fonts(self.fonts)

    def draw(self, spec: str, name: str = "a chart") -> str:
        """Return the specification (JSON text) as SVG text; messages use `name`."""
        if self.cache_folder is None:
            return self._draw_uncached(spec, name)
        path = self.cache_folder / f"{self._build_key(spec)}.svg.sealed"
        if cached := read_cached_text(path):
            return cached
        svg = self._draw_uncached(spec, name)
        write_cached_text(path, svg)
        return svg

    def _build_key(self, spec: str) -> str:
        parts = (_get_converter_version(), VEGA_LITE, self._state, spec)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    def _draw_uncached(self, spec: str, name: str) -> str:
        """Draw a specification.  Raises `chart-refused`: the converter refuses it."""
        return renumber_clips(convert_spec(spec, self.fonts, self._state, name)) + "\n"


def renumber_clips(svg: str) -> str:
    """Number the clip paths of an SVG from 0: the converter counts over all charts of a process."""
    names = list(dict.fromkeys(re.findall(r'<clipPath id="([^"]+)"', svg)))
    for number, name in enumerate(names):
        svg = svg.replace(f'id="{name}"', f'id="\0{number}"').replace(f"url(#{name})", f"url(#\0{number})")
    return svg.replace("\0", "clip")


@cache
def _get_converter_version() -> str:
    """Return the version of the converter; cached, since reading it takes as long as reading a drawing."""
    return version("vl-convert-python")


def write_cached_text(path: Path, text: str) -> None:
    """Write a file of a cache atomically: a concurrent build sees the whole file or none."""
    atomic.write_file(path.parent.parent, path, seal_text(path.name, text))


def read_cached_text(path: Path) -> str | None:
    """Return the text of a file of a cache; None if it is missing or damaged."""
    try:
        return unseal_text(path.name, path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return None


Json = Any
#: path of members, outermost first -> the kind of its value
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
#: optional members
OPTIONAL: Needs = {"datasets": "a record", "layer": "a list of records", "facet": "a record", "encoding": "a record"}
TOGGLES: Needs = {"usermeta.assay.toggles.field": "a text", "usermeta.assay.toggles.names": "a list"}


def check_template(template: Mapping[str, Json], path: Path, is_plot: bool) -> None:
    """Check the members of a chart template that are read for charts or plots.

    Raises `template`, which names the file.
    """
    for name, kind in _list_needs(template, is_plot):
        value = _get_member(template, name)
        if not _is_of_kind(value, kind):
            raise fail(
                "template",
                f"the chart template has no valid `{name}`",
                span=Span(str(path)),
                expected=kind,
                found="nothing" if value is None else repr(value)[:60],
            )


def _list_needs(template: Mapping[str, Json], is_plot: bool) -> Iterator[tuple[str, str]]:
    yield from ((name, kind) for name, kind in OPTIONAL.items() if name in template)
    yield from (MARGINS if is_plot else CHART).items()
    if is_plot and "facet" in template:
        yield from PANELS.items()
        yield from (GRID if "column" in template["facet"] else ROWS).items()
    if _get_member(template, "usermeta.assay.toggles"):
        yield from TOGGLES.items()


def _get_member(template: Mapping[str, Json], name: str) -> Json:
    """Return the value at a path; None if there is none."""
    value: Json = template
    for member in name.split("."):
        value = value.get(member) if isinstance(value, Mapping) else None
    return value


def _is_of_kind(value: Json, kind: str) -> bool:
    if kind.startswith("a number"):
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
        return is_number and (value > 0 or not kind.endswith("above 0"))
    if kind == "a text":
        return isinstance(value, str)
    if kind == "a record":
        return isinstance(value, Mapping)
    if isinstance(value, str):  # a placeholder for a list
        return kind == "a list"
    return isinstance(value, list) and (kind == "a list" or all(isinstance(item, Mapping) for item in value))


#: a whole escape of JSON; the group is the number of a control character
_ESCAPE = re.compile(r"\\(?:u00([01][0-9a-f])|.)")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Drawing:
    """A finished chart: its Vega-Lite text and its SVG text."""

    id: str
    spec: str
    svg: str


def draw(
    charts: Iterable[Chart | Plot], templates: Path, runs: Sequence[str] = (), cache_folder: Path | None = None
) -> Iterator[Drawing]:
    """Draw charts in the given order; no drawing depends on the other charts.

    `templates` holds `charts/` and `fonts/`, `runs` are the labels of all runs of the report, and `cache_folder` is a
    folder that caches drawings between builds. Raises `unknown-chart-template`, `unknown-placeholder`, `template`, and
    `chart-refused`.
    """
    drawer = Drawer(templates / "fonts", cache_folder)
    template_by_name: dict[str, _ExactKey[dict[str, Any]]] = {}

    def draw_chart(chart: Chart | Plot) -> Drawing:
        spec = _build_spec_text(
            _ExactKey(chart),
            template_by_name[chart.template],
            get_template_path(templates, chart.template),
            tuple(runs),
        )
        return Drawing(chart.id, spec, drawer.draw(spec, f"chart {chart.id} (template {chart.template})"))

    all_charts = list(charts)
    for name in dict.fromkeys(chart.template for chart in all_charts):
        template_by_name[name] = _ExactKey(load_template(templates, name))
    with ThreadPoolExecutor(max_workers=PROCESSES + 1) as pool:  # the extra thread builds the next specification
        yield from pool.map(draw_chart, all_charts)


class _ExactKey(Generic[T]):
    """A key that compares values by `repr`, since equal numbers may be written differently."""

    def __init__(self, value: T) -> None:
        self.value, self._words = value, repr(value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ExactKey) and self._words == other._words

    def __hash__(self) -> int:
        return hash(self._words)


@functools.lru_cache(maxsize=256)  # `assay watch` draws most figures again unchanged
def _build_spec_text(
    figure: _ExactKey[Chart | Plot], template: _ExactKey[dict[str, Any]], path: Path, runs: tuple[str, ...]
) -> str:
    """Return the text of the specification that draws a figure."""
    return format_spec(build_figure_spec(figure.value, template.value, path, runs))


def build_figure_spec(
    figure: Chart | Plot, template: Mapping[str, Any], path: Path, runs: Sequence[str]
) -> dict[str, Any]:
    """Return the specification that draws a chart or a plot; errors name `path`, the template's file."""
    check_template(template, path, isinstance(figure, Plot))
    try:
        return (
            build_plot_spec(figure, template) if isinstance(figure, Plot) else build_chart_spec(figure, template, runs)
        )
    except AssayError as error:
        raise AssayError([replace(item, span=item.span or Span(str(path))) for item in error.diagnostics]) from None


def get_template_path(templates: Path, name: str) -> Path:
    """Return the file of the chart template `name`."""
    return templates / "charts" / f"{name}.vl.json"


def load_template(templates: Path, name: str) -> dict[str, Any]:
    """Load the chart template `name` of a templates folder.  Raises `unknown-chart-template`, `template`."""
    path = get_template_path(templates, name)
    if not path.is_file():
        names = [item.name.removesuffix(".vl.json") for item in path.parent.glob("*.vl.json")]
        raise fail(
            "unknown-chart-template",
            f"there is no chart template `{name}`",
            expected=f"the file {path}",
            hint=suggest_names(name, names),
        )
    try:
        loaded: Any = json.loads(path.read_text(encoding="utf-8"), parse_constant=_reject_number)
    except json.JSONDecodeError as error:
        span = Span(str(path), error.lineno, error.colno)
        raise fail("template", f"the chart template is not JSON: {error.msg}", span=span) from None
    except (ValueError, RecursionError) as error:
        raise fail("template", f"the chart template cannot be read: {error}", span=Span(str(path))) from None
    settings = loaded.get("usermeta") if isinstance(loaded, dict) else None
    if not isinstance(settings, dict) or not isinstance(settings.get("assay"), dict):
        raise fail("template", "the chart template has no `usermeta.assay`", span=Span(str(path)))
    return dict(loaded)


def _reject_number(word: str) -> float:
    raise ValueError(f"`{word}` is not a number in JSON")


def format_spec(spec: dict[str, Any]) -> str:
    """Return a specification as the text of its file.

    Control characters of a template are replaced by escapes, since they crash the converter.
    """
    text = dump_indented(spec, allow_nan=False) + "\n"
    return escape_json(_ESCAPE.sub(lambda match: f"\\\\x{match[1]}" if match[1] else match[0], text))
