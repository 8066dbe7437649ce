"""Name the lines of a log without an event as builds do, so that the source can ignore them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from assay.ingest.readers.text_lines_sql import LONGEST, VARYING

MAX_IGNORED = 40  # names of records without an event


def name_unknown_line(message: str) -> str:
    """Return the name that a build gives to a line without an event."""
    return re.sub(VARYING, "#", message, flags=re.ASCII)[:LONGEST]


def list_ignored(names: Mapping[str, int]) -> tuple[str, ...]:
    """Return names to ignore; if there are many, those that begin alike as one, with `*`, and the most frequent."""
    counts = Counter(names)
    if len(counts) > MAX_IGNORED:
        starts = Counter(name.partition(" ")[0] for name in counts)
        counts = Counter()
        for name, count in names.items():
            start, blank, _ = name.partition(" ")
            counts[f"{start} *" if starts[start] > 1 and blank and start else name] += count
    return tuple(sorted(name for name, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:MAX_IGNORED]))
