"""Kinds of sources: what raw data are, and so how their records are found in them."""

from __future__ import annotations

JSON_LINES, TEXT_LINES, RECORDS = "json-lines", "text-lines", "json-records"
TABLES, BLOCKS, SAMPLES = "csv", "blocks", "samples"
SOURCE_KINDS = (JSON_LINES, TEXT_LINES, RECORDS, TABLES, BLOCKS, SAMPLES)
