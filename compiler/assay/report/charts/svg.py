"""A Vega-Lite specification -> SVG, the same bytes in every process; drawings can be kept and found again.

A chart takes the converter some twenty milliseconds, so a drawing made before is looked up by the hash of everything it
depends on.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.metadata import version
from pathlib import Path

from assay.report.charts.converter import convert
from assay.report.charts.fonts import fonts_hash
from assay.report.output_forms import VEGA_LITE
from assay.util import atomic
from assay.util.checksums import sealed, unsealed


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
    atomic.write_file(path.parent.parent, path, sealed(path.name, text))


def kept_text(path: Path) -> str | None:
    """What was kept at a place of a cache; None when it is not there, or damaged."""
    try:
        return unsealed(path.name, path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return None
