"""Read logs of logfmt lines: like JSON lines, after `assay.ingest.logfmt` has converted each line to an object."""

from __future__ import annotations

from assay.ingest.readers.json_lines import JsonLines

READER = JsonLines()
