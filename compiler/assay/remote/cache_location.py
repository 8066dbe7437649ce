"""Locate the folder of a cache, which may be the copy of one on object storage."""

from __future__ import annotations

import hashlib
from pathlib import Path

from assay.engine.result_cache import get_default_folder
from assay.remote.address import check_address, is_address


def locate_cache(cache: str | Path) -> tuple[Path, str]:
    """Return the folder of a cache, and its address, empty for a folder.

    The copy of a cache on object storage is next to the user's cache. Raises AssayError (usage) for an invalid address.
    """
    if not is_address(str(cache)):
        return Path(cache), ""
    address = check_address(str(cache), "cache", "pass a folder")
    name = f"assay-{hashlib.sha256(address.encode()).hexdigest()[:16]}"
    return get_default_folder().with_name(name), address
