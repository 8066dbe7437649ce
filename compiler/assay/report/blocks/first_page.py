"""Place the first page in a part."""

from __future__ import annotations

from collections.abc import Sequence

from assay.lang.blocks.first_page import FirstPage
from assay.report.blocks.context import RenderContext, RenderedBlocks, register_renderer
from assay.report.document import FIRST_PAGE


@register_renderer(FirstPage)
def render(_context: RenderContext, _items: Sequence[FirstPage]) -> RenderedBlocks:
    """Say that the document prints it here."""
    return RenderedBlocks(content=FIRST_PAGE)
