"""Read numbers together with the unit behind them where it varies from line to line: `1.5 s` and `900 ms`."""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Sequence

from assay.lang.record_units import find_kind
from assay_propose.message_parts import NUMBER, VALUE, Part

_UNIT = re.compile(r"(?P<unit>[A-Za-zµ%/]+)(?P<end>[)\],;.:]*)")

Row = tuple[Part, ...]


def join_units(rows: Sequence[Row]) -> list[Row]:
    """Return the parts of messages, in which a number and its unit are one where lines differ only in such units."""
    places = [_find_units(row) for row in rows]
    groups: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for index, (row, units) in enumerate(zip(rows, places, strict=True)):
        if units:
            kinds = {place: f"{VALUE}{find_kind(match['unit'])[0]}{match['end']}" for place, match in units.items()}
            groups[tuple(kinds.get(place, part.shape) for place, part in enumerate(row))].append(index)
    joined = list(rows)
    for indices in groups.values():
        texts = {place: {places[index][place]["unit"] for index in indices} for place in places[indices[0]]}
        varying = [place for place, units in texts.items() if len(units) > 1]
        for index in indices if varying else ():
            joined[index] = _join(rows[index], {place: places[index][place] for place in varying})
    return joined


def _find_units(row: Row) -> dict[int, re.Match[str]]:
    """Return the places of known units behind a number."""
    return {
        place: match
        for place, (number, part) in enumerate(itertools.pairwise(row), start=1)
        if NUMBER.fullmatch(number.value) and not (number.suffix or number.is_glued or part.value)
        and (match := _UNIT.fullmatch(part.prefix)) and find_kind(match["unit"])[0]
    }  # fmt: skip


def _join(row: Row, units: dict[int, re.Match[str]]) -> Row:
    parts = list[Part]()
    for place, part in enumerate(row):
        if match := units.get(place):
            number = parts.pop()
            value = f"{number.value} {match['unit']}"
            parts.append(Part(number.prefix, number.name, value, match["end"], is_phrase=True))
        else:
            parts.append(part)
    return tuple(parts)
