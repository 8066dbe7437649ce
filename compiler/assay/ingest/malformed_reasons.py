"""Explain why a line of a JSON log is malformed.

The JSON parser of the engine accepts more than that of Python: NaN, a comma before a closing brace, any nesting. If
Python rejects a line, the engine extracts the values, path by path.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from assay.ingest import logfmt, sql_trees
from assay.ingest.event_forms import TIMELESS, TORN, NumberedForm, map_body_paths
from assay.ingest.plain_copies import Line
from assay.ingest.quarantine import (
    Explainer,
    MalformedLine,
    NumberText,
    explain_missing_field,
    get_value,
    truncate_value,
)
from assay.ingest.recognition import Recognition
from assay.lang.model.package import Source
from assay.lang.model.source_kinds import SOURCE_KINDS
from assay.sql import dialect
from assay.util.json_text import build_object

if TYPE_CHECKING:
    import duckdb

DIGITS = 4000  # fewer than the limit of Python's int()

Path_ = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReasonFinder:
    """A function that explains why a line is malformed."""

    connection: duckdb.DuckDBPyConnection
    recognition: Recognition

    @property
    def has_pairs(self) -> bool:
        """Return whether lines are logfmt instead of JSON."""
        return SOURCE_KINDS[self.recognition.source.kind].has_pairs

    @property
    def torn(self) -> str:
        """Return the reason for a line that is no record."""
        return "not logfmt" if self.has_pairs else "not JSON"

    def __call__(self, item: MalformedLine, line: Line) -> str:
        """Return the reason for a line."""
        if item.form == TORN:
            return (line.fault or self.torn) if self.has_pairs else self.torn
        record = self.parse_record(item, line.text)
        if item.form == TIMELESS:
            text = _find_time(self.recognition, record)
            return "no time" if text is None else f"bad time: {truncate_value(text)}"
        body = _find_body(self.recognition.source, record)
        for form in _sort_likely_forms(self.recognition, item.event, record, body):
            for field in form.fields:
                if reason := explain_missing_field(form, field, body):
                    return reason
        return "a field is missing"

    def parse_record(self, item: MalformedLine, text: str) -> Any:
        """Return the record of a line, with at least the values that the reason depends on."""
        if self.has_pairs:
            return logfmt.parse_line(text)
        try:
            return parse_engine_json(text)
        except (ValueError, RecursionError):
            return self.extract(_list_paths(self.recognition, item.event), text)

    def extract(self, paths: Sequence[Path_], text: str) -> dict[str, Any]:
        """Return an object with the values that the engine extracts at some paths, outer paths first."""
        pointers = exp.Array(expressions=[sql_trees.build_pointer(path) for path in paths])
        query = exp.select(sql_trees.call("json_extract", exp.Placeholder(this="line"), pointers))
        row = self.connection.execute(query.sql(dialect=dialect.DIALECT), {"line": text}).fetchone()
        assert row is not None
        record: dict[str, Any] = {}
        for path, value in zip(paths, row[0], strict=True):
            if value is not None:
                _put_value(record, path, _parse_value(value))
        return record


def create_reason_finder(connection: duckdb.DuckDBPyConnection, recognition: Recognition) -> Explainer:
    """Return the explainer of malformed lines of JSON or logfmt."""
    find_reason = ReasonFinder(connection, recognition)
    return Explainer(find_reason, find_reason.torn)


def parse_engine_json(text: str) -> Any:
    """Parse JSON text like the engine, which uses the first value of a duplicate key.

    Raises ValueError or RecursionError.
    """
    return json.loads(text, parse_float=_parse_real, parse_int=_parse_integer, object_pairs_hook=build_object)


def _parse_real(text: str) -> Decimal | NumberText:
    """Return a number as a decimal, as text if its exponent is out of range."""
    try:
        return Decimal(text)
    except ArithmeticError:
        return NumberText(text)


def _parse_integer(digits: str) -> int | Decimal:
    return int(digits) if len(digits) < DIGITS else Decimal(digits)


def _parse_value(text: str) -> Any:
    """Parse a JSON text; return the text itself if Python cannot parse it."""
    try:
        return parse_engine_json(text)
    except (ValueError, RecursionError):
        return text


def _put_value(record: dict[str, Any], path: Path_, value: Any) -> None:
    """Set the value at a path, unless an outer path or the path itself already has a value."""
    for key in path[:-1]:
        inner = record.setdefault(key, {})
        if not isinstance(inner, dict):
            return
        record = inner
    record.setdefault(path[-1], value)


def _list_paths(recognition: Recognition, event: str) -> list[Path_]:
    """Return all paths that the reason for a line of an event depends on, shortest first."""
    source = recognition.source
    required = {*recognition.time_paths, *(recognition.get_outer_path(lookup) for lookup in source.lookups)}
    required |= {(*source.body, key) for rule in source.unwrap for key in (rule.absent, *rule.present)}
    field_paths = {path for form in recognition.forms if form.event.name == event for path in form.paths}
    lookup_paths = {lookup.path for lookup in source.lookups if lookup.in_body}
    required |= {(*body, *path) for body in map_body_paths(source).values() for path in field_paths | lookup_paths}
    return sorted(required, key=lambda path: (len(path), path))


def _sort_likely_forms(recognition: Recognition, event: str, record: Any, body: Any) -> list[NumberedForm]:
    """Return the forms of an event, those with a name that occurs in the record first."""
    forms = [form for form in recognition.forms if form.event.name == event]
    names = _list_names(recognition, record, body)
    return sorted(forms, key=lambda form: not any(name.name in names for name in form.form.names))


def _list_names(recognition: Recognition, record: Any, body: Any) -> set[str]:
    """Return the texts at the paths of the lookups, without the prefixes that they drop."""
    return {
        _join_value(get_value(body if lookup.in_body else record, lookup.path)).removeprefix(lookup.drop)
        for lookup in recognition.source.lookups
    }


def _join_value(value: object) -> str:
    return ".".join(map(str, value)) if isinstance(value, list) else str(value)


def _find_time(recognition: Recognition, record: Any) -> Any:
    """Return the value at the first path of the record's instant that has one, or None."""
    names = _list_names(recognition, record, _find_body(recognition.source, record))
    forms = [
        item.form
        for item in recognition.forms
        if recognition.source.nameless or any(name.name in names for name in item.form.names)
    ]
    paths = (forms and forms[0].time) or recognition.source.time_paths
    return next((value for path in paths if (value := get_value(record, path)) is not None), None)


def _find_body(source: Source, record: Any) -> Any:
    body = get_value(record, source.body)
    for rule in source.unwrap:
        if isinstance(body, Mapping) and rule.absent not in body and all(key in body for key in rule.present):
            return body.get(rule.take)
    return body
