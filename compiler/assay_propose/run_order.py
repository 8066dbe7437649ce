"""Decide which run is the baseline: by versions, by words such as `before`, by instants, else by the command line."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from assay.ingest.timestamps import ISO
from assay.util.time_units import EPOCH_FORMS, SECOND, SPELLED_NANOSECONDS
from assay_propose.detect import Detected
from assay_propose.instants import NO_DATE, NO_YEAR
from assay_propose.names import split_words

_EARLY = frozenset(("before", "old", "base", "baseline", "main", "master", "control"))
_LATE = frozenset(("after", "new", "candidate", "head", "pr", "treatment"))
BY_NAME, BY_INSTANT, BY_PLACE = "its name says so", "its records are the oldest", "the first on the command line"

Extent = tuple[float, float]


def order_versions(names: Sequence[str], extents: Mapping[str, Extent]) -> tuple[list[str], str]:
    """Return the names of versions with the baseline first, and why it is the baseline.

    `extents` are the first and last instants (s since 1970) of versions whose records have any. They decide if all
    versions have them and none overlap.
    """
    ranks = {name: rank_name(name) for name in names}
    ordered, reason = list(names), BY_PLACE
    by_time = sorted(names, key=lambda name: extents.get(name, (math.inf, math.inf)))
    pairs = itertools.pairwise(by_time)
    if all(name in extents for name in names) and all(extents[a][1] < extents[b][0] for a, b in pairs):
        ordered, reason = by_time, BY_INSTANT
    ordered.sort(key=ranks.__getitem__)
    if all(ranks[ordered[0]] < ranks[name] for name in ordered[1:]):
        reason = BY_NAME
    return ordered, reason


def rank_name(name: str) -> int:
    """Return -1 for a name with a word of a baseline, 1 for one of a candidate, 0 for others."""
    words = {*split_words(name)}
    return bool(words & _LATE) - bool(words & _EARLY)


def find_extents(items: Sequence[Detected]) -> dict[Path, Extent]:
    """Return the first and last instants of the records of each file; files without comparable ones are left out."""
    instants = {item.sample.path: _list_instants(item) for item in items}
    return {path: (min(values), max(values)) for path, values in instants.items() if values}


def _list_instants(item: Detected) -> list[float]:
    """Return the instants of the records of a file in s since 1970; none if they lack a year, or are no instants."""
    if item.kind == "text-lines":
        form = item.text_layout.time_form if item.text_layout else ""
        path = item.text_layout.time if item.text_layout else ("at",)
        texts = [str(record.values[path]) for record in item.records if path in record.values]
    elif times := item.find_times():
        form = times.form.form
        texts = [str(record.values[path]) for record in item.records if (path := times.find_path(record))]
    else:
        return []
    if form.startswith((NO_YEAR, NO_DATE)):
        return []
    return [instant for text in texts if (instant := parse_instant(text, form)) is not None]


def parse_instant(text: str, form: str) -> float | None:
    """Return an instant of a form in s since 1970; without a zone, in UTC. None for another text."""
    try:
        if form in EPOCH_FORMS:
            return float(text) * SPELLED_NANOSECONDS[form] / SECOND
        if form:
            # `%g` of the engine are milliseconds, which are a fraction like any other here.
            form = form.removeprefix(NO_YEAR).removeprefix(NO_DATE)
            instant = datetime.strptime(text, form.replace("%-g", "%f").replace("%g", "%f"))
        elif re.match(ISO, text):
            instant = datetime.fromisoformat(text.replace(",", ".").replace(" Z", "Z"))
        else:
            return None
        return (instant if instant.tzinfo else instant.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None
