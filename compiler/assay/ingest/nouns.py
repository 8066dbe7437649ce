"""What raw data are called in messages, by the kind of their source."""

from __future__ import annotations

from assay.lang.model.source_kinds import BLOCKS, JSON_LINES, RECORDS, SAMPLES, TABLES, TEXT_LINES

#: what the records and the files of a kind of source are called
RECORD_NOUNS = {
    JSON_LINES: "log lines",
    TEXT_LINES: "log lines",
    RECORDS: "records",
    TABLES: "rows",
    BLOCKS: "blocks",
    SAMPLES: "samples",
}
FILE_NOUNS = {
    JSON_LINES: "logs",
    TEXT_LINES: "logs",
    RECORDS: "lists",
    TABLES: "tables",
    BLOCKS: "texts",
    SAMPLES: "samples",
}
