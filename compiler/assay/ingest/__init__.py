"""Raw records to events: finding a run's files, reading its constants, extracting its events to Parquet."""

from __future__ import annotations

from assay.ingest.constants import constants_told_twice, read_constants
from assay.ingest.files import HostFiles, RunFiles, empty_run, find_run, host_paths
from assay.ingest.hashes import FileHash, content_key, file_hashes
from assay.ingest.held import covers, definitions_hash, file_names, named_as, notes, recognition_hash
from assay.ingest.kinds import ingest
from assay.ingest.refused import TooManyBrokenError, place_of
from assay.ingest.summary import RECORD_NOUNS

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
