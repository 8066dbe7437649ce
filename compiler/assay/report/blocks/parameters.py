"""Place the table of run parameters in a part."""

from __future__ import annotations

from collections.abc import Sequence

from assay.lang.blocks.parameters import Parameters
from assay.report.blocks.context import RenderContext, RenderedBlocks, register_renderer
from assay.report.document import PARAMETERS


@register_renderer(Parameters)
def render(_context: RenderContext, _items: Sequence[Parameters]) -> RenderedBlocks:
    """Say that the document prints it here."""
    return RenderedBlocks(content=PARAMETERS)
