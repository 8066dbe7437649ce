"""Raw records to events: finding a run's files, reading its constants, extracting its events to Parquet.

What is exported is loaded when it is asked for: whoever only finds files does without the engine.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.ingest.constants import constants_told_twice, read_constants
    from assay.ingest.files import HostFiles, RunFiles, empty_run, find_run, host_paths
    from assay.ingest.hashes import FileHash, content_key, file_hashes
    from assay.ingest.held import covers, definitions_hash, file_names, named_as, notes, recognition_hash
    from assay.ingest.kinds import ingest
    from assay.ingest.nouns import RECORD_NOUNS
    from assay.ingest.refused import TooManyBrokenError, place_of

__all__ = [
    "RECORD_NOUNS",
    "FileHash",
    "HostFiles",
    "RunFiles",
    "TooManyBrokenError",
    "constants_told_twice",
    "content_key",
    "covers",
    "definitions_hash",
    "empty_run",
    "file_hashes",
    "file_names",
    "find_run",
    "host_paths",
    "ingest",
    "named_as",
    "notes",
    "place_of",
    "read_constants",
    "recognition_hash",
]
#: the module that each is in
_MODULES = {
    name: module
    for module, names in {
        "constants": ("constants_told_twice", "read_constants"),
        "files": ("HostFiles", "RunFiles", "empty_run", "find_run", "host_paths"),
        "hashes": ("FileHash", "content_key", "file_hashes"),
        "held": ("covers", "definitions_hash", "file_names", "named_as", "notes", "recognition_hash"),
        "kinds": ("ingest",),
        "nouns": ("RECORD_NOUNS",),
        "refused": ("TooManyBrokenError", "place_of"),
    }.items()
    for name in names
}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Something that is exported."""
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
