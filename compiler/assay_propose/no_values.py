"""Read what records have in place of a number, such as `Infinity` or `n/a`, as no value."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from assay_propose.message_parts import NO_NUMBER
from assay_propose.model import FieldProposal, KeyPath, Record
from assay_propose.unit_words import has_unit

_PLACEHOLDER = re.compile(rf"{NO_NUMBER.pattern}|:?-+:?|\?+", re.IGNORECASE)  # `---:` is below the header of a table
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?", re.IGNORECASE)

NoValues = Mapping[KeyPath, Mapping[str, int]]
"""The texts at paths that are no values, with the number of their records."""


def drop_no_values(records: Sequence[Record]) -> tuple[list[Record], NoValues]:
    """Return records without the texts that they have in place of numbers, and these, where most values are numbers."""
    numbers: Counter[KeyPath] = Counter()
    words: dict[KeyPath, Counter[str]] = defaultdict(Counter)
    for record in records:
        for path, value in record.values.items():
            text = _write_value(value)
            plain = text.strip(" ")
            if _NUMBER.fullmatch(plain) or has_unit(plain):
                numbers[path] += 1
            elif _PLACEHOLDER.fullmatch(plain):
                words[path][text] += 1
    no_values = {path: counts for path, counts in words.items() if numbers[path] >= counts.total()}
    if not no_values:
        return list(records), {}
    return [
        replace(record, values={path: value for path, value in record.values.items()
                                if _write_value(value) not in no_values.get(path, ())})
        for record in records
    ], no_values  # fmt: skip


def _write_value(value: object) -> str:
    """Return a value as text; infinities and NaN are spelled as in JSON files that Python writes."""
    if not isinstance(value, float) or math.isfinite(value):
        return str(value)
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def attach_no_values(fields: Sequence[FieldProposal], no_values: NoValues) -> tuple[FieldProposal, ...]:
    """Return fields of numbers with the texts that are no values of them."""
    return tuple(replace(field, no_values=tuple(no_values.get(field.place, ()))) for field in fields)


def describe_no_values(fields: Sequence[FieldProposal], no_values: NoValues) -> Iterator[str]:
    """Yield a line for each field that says how many of its records have a text in place of a number."""
    for field in fields:
        if field.no_values:
            counts = no_values[field.place]
            texts = ", ".join(f"`{text}`" for text in counts)
            yield f"{field.name}: {sum(counts.values())} of its records have {texts} in place of a number: no value"
