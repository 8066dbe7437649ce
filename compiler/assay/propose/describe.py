"""Describe the fields of records: names, types, units."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from assay.propose.model import FieldProposal, KeyPath, Record
from assay.propose.names import NameSpace, make_identifier
from assay.propose.units import describe_values

MAX_FIELDS = 60  # of a source; the most frequent


def describe_fields(
    records: Sequence[Record], excluded: Collection[KeyPath], units: Mapping[str, str]
) -> tuple[FieldProposal, ...]:
    """Return the fields of records, the most frequent, in the order in which they occur.

    `units` are known units, by the last key of a path; `none` for numbers that are no quantities.
    """
    counts: Counter[KeyPath] = Counter(path for record in records for path in record.values if path not in excluded)
    frequent = {path for path, _ in counts.most_common(MAX_FIELDS)}
    values: dict[KeyPath, dict[tuple[type, object], None]] = {path: {} for path in counts if path in frequent}
    for record in records:
        for path, value in record.values.items():
            if path in values:
                values[path].setdefault((type(value), value), None)
    ends = Counter(path[-1] for path in values)
    names = NameSpace()
    fields = []
    for path, distinct in values.items():
        text = path[-1] if ends[path[-1]] == 1 else " ".join(path)
        field = _describe_field(names.add(make_identifier(text, "value")), path, [value for _, value in distinct])
        fields.append(_apply_known_unit(field, units.get(path[-1], "")))
    return tuple(fields)


def _describe_field(name: str, path: KeyPath, values: Sequence[object]) -> FieldProposal:
    kind = describe_values(path, values)
    return FieldProposal(name, path, kind.type, kind.unit, kind.transform, kind.reason, kind.is_quantity)


def _apply_known_unit(field: FieldProposal, unit: str) -> FieldProposal:
    if not unit or field.type not in ("integer", "real"):
        return field
    return replace(field, unit=unit, reason="known of this format", is_quantity=unit != "none")
