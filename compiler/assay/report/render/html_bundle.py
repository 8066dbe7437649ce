"""The script that draws the charts of a page: Vega, Vega-Lite and Vega-Embed, as the chart converter carries them."""

from __future__ import annotations

import hashlib
from importlib.metadata import version
from pathlib import Path

from assay.report.charts.svg import keep, kept_text
from assay.report.output_forms import VEGA_LITE
from assay.report.render.html import bundle_text

SNIPPET = "window.vegaEmbed = vegaEmbed;"


def bundle(kept: Path | None = None) -> str:
    """The script; it takes seconds to make, so it is looked up in the folder `kept`, if one is given."""
    key = hashlib.sha256("\0".join((version("vl-convert-python"), VEGA_LITE, SNIPPET)).encode()).hexdigest()
    path = kept / f"{key}.js.sealed" if kept else None
    if path and (known := kept_text(path)):
        return bundle_text(known)
    import vl_convert  # slow to load

    made: str = vl_convert.javascript_bundle(SNIPPET, vl_version=VEGA_LITE)
    if path:
        keep(path, made)
    return bundle_text(made)
