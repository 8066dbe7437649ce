"""Where samples stand in a saved answer."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Collection, Iterator
from itertools import chain
from pathlib import Path

from assay.ingest.decompress import decompressed
from assay.ingest.readers.json_record_positions import list_of, members, value_of
from assay.ingest.readers.prometheus_response_chunks import PIECE, texts

RESULT = ("data", "result")


def places(path: Path, numbers: Collection[int]) -> dict[int, int]:
    """Number of a sample (from 1, in the order of the document) -> the place of its first byte, from 0, in the
    uncompressed content.  Of a document that Python reads in another way than the engine, none."""
    found: dict[int, int] = {}
    count = 0
    chunks = decompressed(path)
    first = next(chunks, b"")
    bare = first.removeprefix(BOM_UTF8)
    try:
        for before, text in texts(chain([bare], chunks), PIECE):
            before += len(first) - len(bare)
            for place in _samples(text):
                count += 1
                if count in numbers:
                    found[count] = before + place
            if len(found) == len(numbers):
                break
    except (ValueError, IndexError, RecursionError):
        found.clear()
    return found


def _samples(answer: bytes) -> Iterator[int]:
    """Where the samples of an answer begin."""
    text = answer.decode("latin-1")  # a character a byte: what names and labels say is not asked
    for series, _ in members(text, list_of(text, RESULT)):
        yield from (place for place, _ in members(text, value_of(text, series, "values")))
