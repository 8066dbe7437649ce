"""Read numbers together with the unit behind them where it varies from line to line: `1.5 s`, `900 ms` and `12us`."""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from assay.lang.record_units import find_kind, split_number
from assay_propose.message_parts import NUMBER, VALUE, Part

_UNIT = re.compile(r"(?P<unit>[A-Za-zµ%/]+)(?P<end>[)\],;.:]*)")

Row = tuple[Part, ...]


def join_units(rows: Sequence[Row]) -> list[Row]:
    """Return the parts of messages, in which a number and its unit are one where lines differ only in such units.

    Units without a blank are parts of their numbers already; where others have a blank, both kinds are phrases.
    """
    places = [_find_units(row) for row in rows]
    groups: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for index, (row, units) in enumerate(zip(rows, places, strict=True)):
        groups[tuple(_list_shapes(row, units))].append(index)
    joined = list(rows)
    for indices in groups.values():
        if not any(places[index] for index in indices):
            continue
        numbers = [_list_units(rows[index], places[index]) for index in indices]
        varying = {
            number
            for number, texts in enumerate(zip(*numbers, strict=True))
            if len({*texts}) > 1 and any(text.startswith(" ") for text in texts)
        }
        for index in indices if varying else ():
            joined[index] = _join(rows[index], places[index], varying)
    return joined


def _find_units(row: Row) -> dict[int, re.Match[str]]:
    """Return the places of known units behind a number."""
    return {
        place: match
        for place, (number, part) in enumerate(itertools.pairwise(row), start=1)
        if NUMBER.fullmatch(number.value) and not (number.suffix or number.is_glued or part.value)
        and (match := _UNIT.fullmatch(part.prefix)) and find_kind(match["unit"])[0]
    }  # fmt: skip


def _find_glued_unit(part: Part) -> str:
    """Return the known unit that follows a number without a blank; empty if none does."""
    parts = split_number(part.value) if part.value else None
    return parts[1] if parts and " " not in part.value and find_kind(parts[1])[0] else ""


def _list_shapes(row: Row, units: Mapping[int, re.Match[str]]) -> list[str]:
    """Return what all lines have in common that differ in units: a number with its unit is one, whatever is between."""
    shapes = list[str]()
    for place, part in enumerate(row):
        if match := units.get(place):
            shapes[-1] += f"{find_kind(match['unit'])[0]}{match['end']}"
        elif unit := _find_glued_unit(part):
            shapes.append(f"{part.prefix}{VALUE}{find_kind(unit)[0]}{part.suffix}")
        else:
            shapes.append(part.shape)
    return shapes


def _list_units(row: Row, units: Mapping[int, re.Match[str]]) -> list[str]:
    """Return the units of a line in their order, with a blank before those that have one."""
    texts = (f" {units[place]['unit']}" if place in units else _find_glued_unit(part) for place, part in enumerate(row))
    return [text for text in texts if text]


def _join(row: Row, units: Mapping[int, re.Match[str]], varying: set[int]) -> Row:
    """Return a line in which some numbers and their units are one, by the place of the unit among all units."""
    parts = list[Part]()
    number = -1
    for place, part in enumerate(row):
        is_glued = bool(_find_glued_unit(part))
        number += place in units or is_glued
        if place in units and number in varying:
            before = parts.pop()
            value = f"{before.value} {units[place]['unit']}"
            parts.append(Part(before.prefix, before.name, value, units[place]["end"], is_phrase=True))
        else:
            parts.append(replace(part, is_phrase=True) if is_glued and number in varying else part)
    return tuple(parts)
