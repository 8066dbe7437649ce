"""Raw data from servers: what a run needs and no file holds yet."""

from __future__ import annotations

from assay.fetch.prometheus import Request, fetch

__all__ = ["Request", "fetch"]
