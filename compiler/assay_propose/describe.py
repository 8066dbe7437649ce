"""Describe the fields of records: names, types, units."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from assay.ingest.readers.json_record_positions import MEMBERS
from assay_propose.model import FieldProposal, KeyPath, Record
from assay_propose.names import NameSpace, make_identifier
from assay_propose.record_units import Conversion, attach_units
from assay_propose.unit_words import describe_with_units
from assay_propose.units import describe_values, describe_with_one_unit

MAX_FIELDS = 60  # of a source; the most frequent
_NAMED = 3  # fields that are not read, in a message


def describe_fields(
    records: Sequence[Record],
    excluded: Collection[KeyPath],
    units: Mapping[str, str],
    conversions: Mapping[KeyPath, Conversion] = MappingProxyType({}),
) -> tuple[FieldProposal, ...]:
    """Return the fields of records, the most frequent, in the order in which they occur.

    `units` are known units, by the last key of a path; `none` for numbers that are no quantities. `conversions` are
    those of numbers whose unit records name, by their paths.
    """
    ranked = _rank_paths(records, excluded)
    frequent = {*ranked[:MAX_FIELDS]}
    values: dict[KeyPath, dict[tuple[type, object], None]] = {
        path: {} for record in records for path in record.values if path in frequent
    }
    for record in records:
        for path, value in record.values.items():
            if path in values:
                values[path].setdefault((type(value), value), None)
    places = {path: conversions[path].place if path in conversions else path for path in values}
    ends = Counter(place[-1] for place in {*places.values()})
    names = NameSpace()
    fields = []
    for path, distinct in values.items():
        place = places[path]
        text = _name_place(place, ends[place[-1]] == 1)
        text += f" {conversions[path].kind}" if path != place else ""
        field = _describe_field(names.add(make_identifier(text, "value")), path, [value for _, value in distinct])
        fields.append(_apply_known_unit(field, units.get(path[-1], "")))
    return attach_units(fields, conversions)


def describe_limit(records: Sequence[Record], excluded: Collection[KeyPath]) -> Iterator[str]:
    """Yield a line that says how many fields of records are not described, as there are more than the limit."""
    ranked = _rank_paths(records, excluded)
    unread = len(ranked) - MAX_FIELDS
    if unread > 0:
        first = ", ".join(f"`{'.'.join(path)}`" for path in ranked[MAX_FIELDS : MAX_FIELDS + _NAMED])
        more = f" and {unread - _NAMED} more" if unread > _NAMED else ""
        yield (f"{MAX_FIELDS} of {len(ranked)} fields are read, the limit of `init`; not read: {first}{more}, "
               "which need fields in events.dhall")  # fmt: skip


def _rank_paths(records: Sequence[Record], excluded: Collection[KeyPath]) -> list[KeyPath]:
    """Return the paths of records, the most frequent first."""
    counts = Counter(path for record in records for path in record.values if path not in excluded)
    return [path for path, _ in counts.most_common()]


def _name_place(place: KeyPath, is_only: bool) -> str:
    """Return what a place is called: its last key if no other ends in it, else all; for a `value`, the keys before."""
    if place == (MEMBERS,):
        return "name"
    return place[-1] if is_only else " ".join(place[:-1] if place[-1] == "value" and place[1:] else place)


def _describe_field(name: str, path: KeyPath, values: Sequence[object]) -> FieldProposal:
    kind = describe_values(path, values)
    if kind.type == "text" and all(isinstance(value, str) for value in values):
        texts = [str(value) for value in values]
        kind = describe_with_units(texts) or describe_with_one_unit(texts) or kind
    return FieldProposal(name, path, kind.type, kind.unit, kind.transform, kind.reason, kind.is_quantity)


def _apply_known_unit(field: FieldProposal, unit: str) -> FieldProposal:
    if not unit or field.type not in ("integer", "real") or (field.transform and field.unit != "none"):
        return field
    return replace(field, unit=unit, reason="known of this format", is_quantity=unit != "none")
