"""Explain sample counts that a number style prints with three digits: `(291>)`."""

from __future__ import annotations

import re
from dataclasses import replace

from assay.report.document import Document, Part
from assay.report.glossary import SAMPLE_COUNT
from assay.report.tables import MetricTable

_SHORT = re.compile(r"\(\d{3}>\)")
NOTE = "{count}: a count of five digits or more, of which the number style prints the first three."


def explain_short_counts(document: Document) -> Document:
    """Return a document that explains its first count of three digits, below its table and in the glossary."""
    counts = (
        (part, table, text)
        for part in document.parts
        for table in part.tables
        if isinstance(table, MetricTable)
        for row, metric in zip(table.rows, table.metrics, strict=True)
        if metric is None
        for text in row
        if _SHORT.fullmatch(text)
    )
    first = next(counts, None)
    if first is None:
        return document
    part, table, text = first
    note = NOTE.format(count=text)
    terms = tuple(
        replace(
            group,
            entries=tuple(
                replace(entry, description=f"{entry.description}\n{note}") if entry.id == SAMPLE_COUNT else entry
                for entry in group.entries
            ),
        )
        for group in document.terms
    )
    changed = _add_note(part, table, note)
    return replace(document, terms=terms, parts=tuple(changed if item is part else item for item in document.parts))


def _add_note(part: Part, table: MetricTable, note: str) -> Part:
    """Return a part with a sentence below one of its tables."""
    tables = tuple(replace(item, notes=(*item.notes, note)) if item is table else item for item in part.tables)
    return replace(part, tables=tables)
