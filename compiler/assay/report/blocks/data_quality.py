"""Place the findings on the data of the runs in a part."""

from __future__ import annotations

from collections.abc import Sequence

from assay.lang.blocks.data_quality import DataQuality
from assay.report.blocks.context import RenderContext, RenderedBlocks, register_renderer
from assay.report.document import DATA_QUALITY


@register_renderer(DataQuality)
def render(_context: RenderContext, _items: Sequence[DataQuality]) -> RenderedBlocks:
    """Say that the document prints it here."""
    return RenderedBlocks(content=DATA_QUALITY)
