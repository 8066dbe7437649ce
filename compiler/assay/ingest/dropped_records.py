"""Why a line of a log of JSON objects is lost.

The engine's parser bears more than Python's: `NaN`, a comma before a closing brace, any depth.  What Python's refuses
is asked of the engine, path by path.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from assay.ingest.event_forms import TIMELESS, TORN, NumberedForm, bodies
from assay.ingest.plain_copies import Line
from assay.ingest.quarantine import Lost, NumberText, at, missing_field_reason, truncate_value
from assay.ingest.recognition import Recognition
from assay.lang.model.package import Source
from assay.util.json_text import build_object

if TYPE_CHECKING:
    import duckdb

DIGITS = 4000  # more than Python makes an integer of

Path_ = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reasons:
    """What tells why a line is lost."""

    connection: duckdb.DuckDBPyConnection
    how: Recognition

    def __call__(self, item: Lost, line: Line) -> str:
        """The reason of a line."""
        if item.form == TORN:
            return "not JSON"
        record = self.record(item, line.text)
        if item.form == TIMELESS:
            said = next((text for path in self.how.source.times if (text := at(record, path)) is not None), None)
            return "no time" if said is None else f"bad time: {truncate_value(said)}"
        body = _body(self.how.source, record)
        for form in _likely(self.how, item.event, record, body):
            for field in form.fields:
                if reason := missing_field_reason(item.event, field, body):
                    return reason
        return "a field is missing"

    def record(self, item: Lost, text: str) -> Any:
        """The object of a line, as far as it takes part in the reason."""
        try:
            return parsed(text)
        except (ValueError, RecursionError):
            return self.extract(_paths(self.how, item.event), text)

    def extract(self, paths: Sequence[Path_], text: str) -> dict[str, Any]:
        """An object of what the engine finds at some paths of a text, outer ones first."""
        from sqlglot import exp

        from assay.ingest import builder
        from assay.sql import dialect

        pointers = exp.Array(expressions=[builder.pointer(path) for path in paths])
        query = exp.select(builder.call("json_extract", exp.Placeholder(this="line"), pointers))
        row = self.connection.execute(query.sql(dialect=dialect.DIALECT), {"line": text}).fetchone()
        assert row is not None
        record: dict[str, Any] = {}
        for path, found in zip(paths, row[0], strict=True):
            if found is not None:
                _put(record, path, _value(found))
        return record


def parsed(text: str) -> Any:
    """A JSON text as the engine takes it: of a key that stands twice the first.  Raises ValueError, RecursionError."""
    return json.loads(text, parse_float=_real, parse_int=_integer, object_pairs_hook=build_object)


def _real(text: str) -> Decimal | NumberText:
    """A number; as it is written, where its power is beyond all that decimals have."""
    try:
        return Decimal(text)
    except ArithmeticError:
        return NumberText(text)


def _integer(digits: str) -> int | Decimal:
    return int(digits) if len(digits) < DIGITS else Decimal(digits)


def _value(text: str) -> Any:
    """A JSON text as a value; one that Python does not read as itself."""
    try:
        return parsed(text)
    except (ValueError, RecursionError):
        return text


def _put(record: dict[str, Any], path: Path_, value: Any) -> None:
    for key in path[:-1]:
        inner = record.setdefault(key, {})
        if not isinstance(inner, dict):
            return
        record = inner
    record.setdefault(path[-1], value)


def _paths(how: Recognition, event: str) -> list[Path_]:
    """All that the reason for losing a line of an event may depend on."""
    source = how.source
    known = {*source.times, *(how.outer(lookup) for lookup in source.lookups)}
    known |= {(*source.body, key) for rule in source.unwrap for key in (rule.absent, *rule.present)}
    read = {path for form in how.forms if form.event.name == event for path in form.paths}
    looked = {lookup.path for lookup in source.lookups if lookup.in_body}
    known |= {(*body, *path) for body in bodies(source).values() for path in read | looked}
    return sorted(known, key=lambda path: (len(path), path))


def _likely(how: Recognition, event: str, record: Any, body: Any) -> list[NumberedForm]:
    """The forms of an event, first those one of whose names stands where names are looked up."""
    forms = [form for form in how.forms if form.event.name == event]
    said = {
        _joined(at(body if lookup.in_body else record, lookup.path)).removeprefix(lookup.drop)
        for lookup in how.source.lookups
    }
    return sorted(forms, key=lambda form: not any(name.name in said for name in form.form.names))


def _joined(value: object) -> str:
    return ".".join(map(str, value)) if isinstance(value, list) else str(value)


def _body(source: Source, record: Any) -> Any:
    body = at(record, source.body)
    for rule in source.unwrap:
        if isinstance(body, Mapping) and rule.absent not in body and all(key in body for key in rule.present):
            return body.get(rule.take)
    return body
