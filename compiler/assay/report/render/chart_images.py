"""Put drawings of charts into a page as stills: short, with the fonts and colours of the page, and with their own ids.

A page shows stills until its script replaces them, on paper, and where no script runs. Drawings are made for print; a
page in dark mode needs other colours, so each colour of print becomes a variable of the page's style sheet. A drawing
with thousands of marks would make the page large, so it becomes a picture.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import re
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from assay.report.charts.converter import hash_fonts
from assay.report.charts.render import read_cached_text, write_cached_text
from assay.report.document import Chart, Plot

#: colours of printed charts -> variables of the style sheet
COLOURS = {
    "#16191d": "ink",
    "#222222": "ink",
    "#333333": "ink",
    "#555555": "muted",
    "#b9c2cf": "faint",
    "#dddddd": "hairline",
    "#e4e7eb": "hairline",
    "#ffffff": "paper",
    "#b3261e": "alert",
    "#d62728": "alert",
    "#b3400f": "worse",
    "#0b6e8a": "better",
    "#1f3a5f": "run-1",
    "#d1600f": "run-2",
    "#2a9187": "run-3",
    "#8b1e5b": "run-4",
    "#7d8ca3": "run-5",
    "#5b4a00": "run-6",
    "#b79be0": "run-7",
    "#3d7d1f": "run-8",
}
#: greatest number of characters of a still as SVG
LARGEST = 60_000
#: pixels of a picture per pixel of its drawing
SCALE = 1.5
_TAG = re.compile(r"<[^>]*>")
_UNSEEN = re.compile(r'<path class="(?:background|foreground)"(?![^>]*(?: fill| stroke)=)[^>]*/>')
_EMPTY_GROUP = re.compile(r"<g\b[^>]*/>|<g\b[^>]*(?<!/)></g>")
_UNUSED = re.compile(
    r' (?:class|role|aria-[a-z]+|pointer-events|font-family|xmlns(?::xlink)?|version)="[^"]*"'
    r'| (?:opacity|fill-opacity|stroke-opacity)="1"| font-weight="normal"| stroke-miterlimit="10"'
    r'| transform="translate\(0,0\)"'
)
_LONG_NUMBER = re.compile(r"-?\d+\.\d{2,}(?:e-?\d+)?")
_COLOUR = re.compile(r"#[0-9a-f]{6}\b")
_ID = re.compile(r' id="([^"]+)"|(url\(#|href="#)([^")]+)')
_SIZE = re.compile(r'<svg[^>]*? width="(?P<width>[\d.]+)" height="(?P<height>[\d.]+)"')


@dataclass(frozen=True, slots=True)
class Still:
    """A drawing in a page: SVG text, or a PNG in base64, and its width and height in pixels of print."""

    width: float
    height: float
    svg: str = ""
    png: str = ""


def build_stills(
    figures: Iterable[Chart | Plot], folder: Path, fonts: Path, cache_folder: Path | None = None
) -> dict[str, Still]:
    """Return the stills of figures by their ids.

    `folder` has the drawings, `<id>.svg` of each figure. `cache_folder` is a folder that caches pictures.
    """

    def build(figure: Chart | Plot) -> tuple[str, Still]:
        svg = (folder / f"{figure.id}.svg").read_text(encoding="utf-8")
        return figure.id, build_still(svg, figure.figure, fonts, cache_folder)

    with ThreadPoolExecutor(max_workers=2) as pool:
        return dict(pool.map(build, figures))


def build_still(svg: str, number: int, fonts: Path, cache_folder: Path | None = None) -> Still:
    """Return the still of figure `number`: SVG where that is short, else a picture."""
    size = _SIZE.search(svg)
    width, height = (float(size["width"]), float(size["height"])) if size else (0.0, 0.0)
    text = shorten_svg(svg, number)
    if len(text) > LARGEST:
        png = _draw_cached_png(svg, fonts, cache_folder)
        if len(png) < len(text):
            return Still(width, height, png=png)
    return Still(width, height, svg=text)


def shorten_svg(svg: str, number: int) -> str:
    """Return a drawing without what a page does not need, with variables for colours and ids of figure `number`."""
    text = _TAG.sub(lambda match: _shorten_tag(match[0], number), _UNSEEN.sub("", svg.strip()))
    while (shorter := _EMPTY_GROUP.sub("", text)) != text:
        text = shorter
    return text


def _shorten_tag(tag: str, number: int) -> str:
    tag = _LONG_NUMBER.sub(lambda match: f"{round(float(match[0]), 1):.10g}", _UNUSED.sub("", tag))
    tag = _COLOUR.sub(lambda match: f"var(--{COLOURS[match[0]]})" if match[0] in COLOURS else match[0], tag)
    return _ID.sub(lambda match: _number_id(match, number), tag)


def _number_id(match: re.Match[str], number: int) -> str:
    return f' id="still-{number}-{match[1]}"' if match[1] else f"{match[2]}still-{number}-{match[3]}"


def _draw_cached_png(svg: str, fonts: Path, cache_folder: Path | None) -> str:
    """Return a drawing as a PNG in base64."""
    if cache_folder is None:
        return _draw_png(svg, fonts)
    parts = (version("vl-convert-python"), hash_fonts(fonts), str(SCALE), svg)
    key = hashlib.sha256("\0".join(parts).encode()).hexdigest()
    path = cache_folder / f"{key}.png.sealed"
    if cached := read_cached_text(path):
        return cached
    png = _draw_png(svg, fonts)
    write_cached_text(path, png)
    return png


def _draw_png(svg: str, fonts: Path) -> str:
    import vl_convert  # slow to load, and only large drawings need it

    _register_fonts(fonts)
    return base64.b64encode(vl_convert.svg_to_png(svg, scale=SCALE)).decode()


@functools.cache
def _register_fonts(fonts: Path) -> None:
    import vl_convert

    vl_convert.register_font_directory(str(fonts))
