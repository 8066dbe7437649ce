"""Read the lists of records that belong together, such as the times and exit codes of runs, element by element."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from assay_propose.known_formats import KnownFormat, MetricRule
from assay_propose.model import EventProposal, FieldProposal, KeyPath, Record
from assay_propose.sources import Group

ELEMENT, FAILED = "element", "failed"
SUMMED = "its elements are measured one by one"


def add_elements(group: Group) -> Group:
    """Return a source of a known format with the fields that the elements of its lists have.

    What its records have of all elements together is no metric then.
    """
    known_format, paths = group.known_format, _list_paths(group)
    if known_format is None or not any(path in known_format.elements for path in paths):
        return group
    fields = [
        FieldProposal(known_format.elements[path].name, (known_format.elements[path].name,), "real",
                      known_format.elements[path].unit, reason="known of this format", is_quantity=True)
        for path in paths if path in known_format.elements
    ]  # fmt: skip
    if known_format.exit_codes in paths:
        fields.append(FieldProposal(FAILED, (FAILED,), "boolean"))
    fields.append(FieldProposal(ELEMENT, (ELEMENT,), "integer"))
    rules = (MetricRule(known_format.summaries, omission=SUMMED), *known_format.rules)
    source = replace(group.source, fields=(*group.source.fields, *fields))
    return replace(group, source=source, known_format=replace(known_format, rules=rules))


def list_elements(group: Group) -> Group | None:
    """Return a group whose records are the elements of the lists in its records; None if these have no lists."""
    known_format, source = group.known_format, group.source
    names = {field.name for field in source.fields}
    if known_format is None or ELEMENT not in names or not known_format.elements:
        return None
    (event,) = source.events
    lists = _list_paths(group)
    texts = [field for name in event.fields if (field := source.find_field(name)).type == "text"]
    texts = [field for field in texts if field.path not in lists]
    measured = [item.name for item in known_format.elements.values() if item.name in names]
    measured += [FAILED] if FAILED in names else []
    records = [
        replace(record, values=values | {field.path: record.values[field.path] for field in texts
                                         if field.path in record.values})
        for record in group.records[event.name] for values in _split_record(record, known_format)
    ]  # fmt: skip
    own_fields = tuple(source.find_field(name) for name in (*(field.name for field in texts), *measured))
    own_event = EventProposal(event.name, (), len(records), tuple(field.name for field in own_fields), ())
    own_source = replace(source, fields=own_fields, events=(own_event,), records=len(records))
    return Group(own_source, {event.name: records}, replace(known_format, outcome=FAILED), {})


def _list_paths(group: Group) -> list[KeyPath]:
    """Return the places of the lists of a known format that records have."""
    if group.known_format is None:
        return []
    present = {field.path for field in group.source.fields}
    return [path for path in group.known_format.list_paths if path in present]


def _split_record(record: Record, known_format: KnownFormat) -> list[dict[KeyPath, object]]:
    """Return the values that the elements of the lists of a record have."""
    lists = {path: json.loads(str(text)) for path in known_format.list_paths if (text := record.values.get(path))}
    rows: list[dict[KeyPath, object]] = []
    for index in range(max(map(len, lists.values()), default=0)):
        numbers = {path: items[index] if index < len(items) else None for path, items in lists.items()}
        values: dict[KeyPath, object] = {
            (known_format.elements[path].name,): float(number)
            for path, number in numbers.items()
            if path in known_format.elements and number is not None
        }
        if known_format.exit_codes in lists:
            values[FAILED,] = numbers[known_format.exit_codes] != 0
        rows.append(values)
    return rows


def write_elements_query(group: Group, event: str, columns: Sequence[str]) -> str:
    """Return the SQL of the elements of the lists of records, with these columns."""
    known_format, names = group.known_format, _name_lists(group)
    assert known_format
    by_column = {item.name: names[path] for path, item in known_format.elements.items() if path in names}
    expressions = {name: f"TRY_CAST({column}[place] AS DOUBLE) AS {name}" for name, column in by_column.items()}
    if codes := names.get(known_format.exit_codes):
        failed = f"coalesce(TRY_CAST({codes}[place] AS DOUBLE) <> 0, true)"
        expressions[FAILED] = f"{codes} IS NOT NULL AND {failed} AS {FAILED}"
    texts = [column for column in columns if column not in expressions]
    lists = "".join(f",\n        CAST({name} AS VARCHAR[]) AS {name}" for name in names.values())
    sizes = ", ".join(f"coalesce(len({name}), 0)" for name in names.values())
    count = f"greatest({sizes})" if len(names) > 1 else sizes
    selects = "".join(f",\n    {expressions.get(column, column)}" for column in columns)
    return f"""-- One row for each element of the lists of a record; elements at one place belong together.
WITH lists AS (
    SELECT
        host,
        seq{"".join(f",{chr(10)}        {name}" for name in texts)}{lists}
    FROM {event}
), sized AS (
    SELECT *, {count} AS size
    FROM lists
), numbered AS (
    SELECT
        *,
        unnest(range(1, size + 1)) AS place,
        CAST(sum(size) OVER (PARTITION BY host ORDER BY seq) AS BIGINT) - size AS earlier
    FROM sized
)
SELECT
    host,
    seq,
    earlier + place AS {ELEMENT}{selects}
FROM numbered
"""


def _name_lists(group: Group) -> Mapping[KeyPath, str]:
    fields = {field.path: field.name for field in group.source.fields}
    return {path: fields[path] for path in _list_paths(group)}
