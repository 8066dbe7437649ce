"""Describe the fields of records: names, types, units."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from assay.propose.model import FieldProposal, KeyPath, Record
from assay.propose.names import NameSpace, make_identifier
from assay.propose.record_units import Conversion, attach_units
from assay.propose.units import describe_values

MAX_FIELDS = 60  # of a source; the most frequent


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
    counts: Counter[KeyPath] = Counter(path for record in records for path in record.values if path not in excluded)
    frequent = {path for path, _ in counts.most_common(MAX_FIELDS)}
    values: dict[KeyPath, dict[tuple[type, object], None]] = {path: {} for path in counts if path in frequent}
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
        text = place[-1] if ends[place[-1]] == 1 else " ".join(place)
        text += f" {conversions[path].kind}" if path != place else ""
        field = _describe_field(names.add(make_identifier(text, "value")), path, [value for _, value in distinct])
        fields.append(_apply_known_unit(field, units.get(path[-1], "")))
    return attach_units(fields, conversions)


def _describe_field(name: str, path: KeyPath, values: Sequence[object]) -> FieldProposal:
    kind = describe_values(path, values)
    return FieldProposal(name, path, kind.type, kind.unit, kind.transform, kind.reason, kind.is_quantity)


def _apply_known_unit(field: FieldProposal, unit: str) -> FieldProposal:
    if not unit or field.type not in ("integer", "real"):
        return field
    return replace(field, unit=unit, reason="known of this format", is_quantity=unit != "none")
