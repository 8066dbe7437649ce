"""A Vega-Lite specification -> SVG, the same bytes in every process; drawings can be kept and found again.

A chart takes the converter some twenty milliseconds, so a drawing made before is looked up by the hash of everything it
depends on.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path

from assay.report.converter import convert
from assay.report.forms import VEGA_LITE
from assay.storage import atomic


@dataclass(frozen=True, slots=True)
class Drawer:
    """Draws with the fonts of one folder; `kept` is a folder of earlier drawings, or None."""

    fonts: Path
    kept: Path | None = None

    def draw(self, spec: str, name: str = "a chart") -> str:
        """The specification (JSON text) as SVG text; `name` is what messages call it."""
        if self.kept is None:
            return _convert(spec, self.fonts, name)
        path = self.kept / f"{self._key(spec)}.svg"
        if path.is_file():
            return path.read_text(encoding="utf-8")
        svg = _convert(spec, self.fonts, name)
        keep(path, svg)
        return svg

    def _key(self, spec: str) -> str:
        parts = (_converter(), VEGA_LITE, _fonts_hash(self.fonts), spec)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _convert(spec: str, fonts: Path, name: str) -> str:
    """Draw; raises `chart-refused` when the converter does."""
    return renumber_clips(convert(spec, fonts, name)) + "\n"


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


@cache
def _fonts_hash(fonts: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(fonts.iterdir()):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def keep(path: Path, text: str) -> None:
    """Write into a folder of a cache: a build that runs at the same time sees all of the file or none."""
    atomic.put(path.parent.parent, path, text)
