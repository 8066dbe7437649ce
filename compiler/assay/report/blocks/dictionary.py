"""Place the data dictionary in a part."""

from __future__ import annotations

from collections.abc import Sequence

from assay.lang.blocks.dictionary import Dictionary
from assay.report.blocks.context import RenderContext, RenderedBlocks, register_renderer
from assay.report.document import DICTIONARY


@register_renderer(Dictionary)
def render(_context: RenderContext, _items: Sequence[Dictionary]) -> RenderedBlocks:
    """Say that the document prints it here."""
    return RenderedBlocks(content=DICTIONARY)
