"""Results of benchmarks in the texts of JSON lines, as `go test -json -bench` writes them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from assay.util.regex import escape_literal
from assay_propose.benchmark_lines import FORMAT, NAME, RESULT, START, name_place, order_units, split_pairs
from assay_propose.describe import describe_fields
from assay_propose.known_formats import KNOWN_FORMATS
from assay_propose.model import EventProposal, FieldProposal, KeyPath, Record
from assay_propose.sources import Group

_ACTION, _TEXT, _PACKAGE = ("Action",), ("Output",), ("Package",)
_OUTPUT = "output"  # the action of records with a text
GO_BENCHMARKS = next(item for item in KNOWN_FORMATS if item.name == FORMAT)


def add_results(group: Group) -> Group:
    """Return a source of JSON lines with the results in its texts, and the fields that they have."""
    event = find_output(group)
    if event is None:
        return group
    texts = list(_iter_texts(group, event))
    matches = [(record, match) for record, text in texts if (match := RESULT.fullmatch(text))]
    if not matches:
        return group
    units = order_units([unit for _, unit in split_pairs(match[3])] for _, match in matches)
    results = []
    for record, match in matches:
        values: dict[KeyPath, object] = {(NAME,): match[1]}
        values |= {(name_place(unit),): number for number, unit in split_pairs(match[3])}
        if package := record.values.get(_PACKAGE):
            values[_get_name(group, _PACKAGE),] = package
        results.append(replace(record, values=values))
    fields = [
        replace(field, type="real") if field.type == "integer" else field
        for field in describe_fields(results, (), GO_BENCHMARKS.units)
    ]
    names = {field.name for field in group.source.fields}
    added = [field for field in fields if field.name not in names]
    source = replace(group.source, format=FORMAT, fields=(*group.source.fields, *added))
    return replace(group, source=source, results=tuple(results), result_fields=tuple(fields), result_units=tuple(units))


def find_output(group: Group) -> EventProposal | None:
    """Return the event whose records have texts of tests and benchmarks; None if a source has none."""
    if group.source.lookup != _ACTION or not all(map(_find_fields(group).get, (_TEXT, _PACKAGE))):
        return None
    return next((event for event in group.source.events if event.names == (_OUTPUT,)), None)


def _find_fields(group: Group) -> dict[KeyPath, FieldProposal]:
    return {field.path: field for field in group.source.fields}


def _get_name(group: Group, path: KeyPath) -> str:
    return _find_fields(group)[path].name


def _iter_texts(group: Group, event: EventProposal) -> Iterator[tuple[Record, str]]:
    """Yield records with their texts; a text that goes on behind another of its package is joined to it."""
    before: dict[object, str] = {}
    for record in group.records[event.name]:
        key = record.host, record.values.get(_PACKAGE)
        text = str(record.values.get(_TEXT, ""))
        has_start = text.startswith(START) or before.get(key, "\n").endswith("\n")
        yield record, text if has_start else before[key] + text
        before[key] = text


def write_results_query(group: Group, event: EventProposal, columns: Sequence[str]) -> str:
    """Return the SQL of the results with these columns."""
    text, package = _get_name(group, _TEXT), _get_name(group, _PACKAGE)
    expressions = {package: package, NAME: f"regexp_extract(text, '^{START}(\\S*)', 1) AS {NAME}"}
    for unit in group.result_units:
        number = f"regexp_extract(text, '\\s(\\S+) {_escape(unit)}(\\s|$)', 1)"
        expressions[name_place(unit)] = f"TRY_CAST({number} AS DOUBLE) AS {name_place(unit)}"
    selects = "".join(f",\n    {expressions[name]}" for name in columns)
    return f"""-- One row for each result of a benchmark. Its name and its numbers may be in two records of a package.
WITH pieces AS (
    SELECT host, seq, {package}, {text}, lag({text}) OVER (PARTITION BY host, {package} ORDER BY seq) AS preceding
    FROM {event.name}
), texts AS (
    SELECT
        host,
        seq,
        {package},
        CASE WHEN starts_with({text}, '{START}') OR ends_with(preceding, chr(10)) THEN {text}
            ELSE preceding || {text} END AS text
    FROM pieces
)
SELECT
    host,
    seq{selects}
FROM texts
WHERE regexp_full_match(text, '{RESULT.pattern}')
"""


def _escape(unit: str) -> str:
    return escape_literal(unit).replace("'", "''")
