"""Broken lines, described: file, line, reason, text.  Only files that have some are read again."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from assay.ingest import durations
from assay.ingest.fields import DURATION
from assay.ingest.files import RunFiles
from assay.ingest.forms import TIMELESS, TORN, Numbered
from assay.ingest.plain import text_lines
from assay.ingest.recognise import Recognition
from assay.ingest.shares import FILE_STEP
from assay.spec.model import Field, Source

SHOWN = 2000  # characters of a line that are kept
DESCRIBED = 1000  # broken lines of a file that are described

_EXPECTED = {
    "integer": "an integer",
    "unsigned": "an integer from 0",
    "real": "a number",
    "boolean": "true or false",
    "text": "a text",
}


@dataclass(frozen=True, slots=True, order=True)
class Lost:
    """A line that is lost: where it stands (`seq`), what it is in place of an event, the event if it lacks a field."""

    host: str
    seq: int
    form: int
    event: str


@dataclass(frozen=True, slots=True)
class Broken:
    """A broken line: where it stands, why it is broken, its text (cut)."""

    host: str
    file: str
    line: int
    reason: str
    text: str


def describe(files: RunFiles, lost: Sequence[Lost], why: Callable[[Lost, str], str]) -> tuple[Broken, ...]:
    """Descriptions of lost lines, in order; of a file at most so many.  `why` tells the reason by the line's text."""
    hosts = {host.host: host for host in files.hosts}
    found: list[Broken] = []
    for (host, index), group in itertools.groupby(lost, key=lambda item: (item.host, item.seq // FILE_STEP)):
        items = list(itertools.islice(group, DESCRIBED))
        path = hosts[host].files[index]
        texts = text_lines(path, {item.seq % FILE_STEP for item in items})
        for item in items:
            line = item.seq % FILE_STEP
            text = texts.get(line, "")
            found.append(
                Broken(host, path.relative_to(files.directory).as_posix(), line, why(item, text), text[:SHOWN])
            )
    return tuple(found)


def reason(how: Recognition, item: Lost, text: str) -> str:
    """Why a line of a log of JSON objects is lost."""
    if item.form == TORN:
        return "not JSON"
    record = json.loads(text, parse_float=Decimal)
    if item.form == TIMELESS:
        at = _at(record, how.source.time)
        return "no time" if at is None else f"bad time: {shown(at)}"
    body = _body(how.source, record)
    for form in _likely(how, item.event, record, body):
        for field in form.fields:
            if said := lacking(item.event, field, body):
                return said
    return "a field is missing"


def _likely(how: Recognition, event: str, record: Any, body: Any) -> list[Numbered]:
    """The forms of an event, first those one of whose names stands where names are looked up."""
    forms = [form for form in how.forms if form.event.name == event]
    said = {
        _joined(_at(body if lookup.in_body else record, lookup.path)).removeprefix(lookup.drop)
        for lookup in how.source.lookups
    }
    return sorted(forms, key=lambda form: not any(name.name in said for name in form.form.names))


def _joined(value: object) -> str:
    return ".".join(map(str, value)) if isinstance(value, list) else str(value)


def _body(source: Source, record: Any) -> Any:
    body = _at(record, source.body)
    for rule in source.unwrap:
        if isinstance(body, Mapping) and rule.absent not in body and all(key in body for key in rule.present):
            return body[rule.take]
    return body


def lacking(event: str, field: Field, body: object) -> str:
    """Why a field of an event cannot be had of a body; empty when it can."""
    if not field.paths:
        return ""
    found = next((value for value in (_at(body, path) for path in field.paths) if value is not None), None)
    if found is None:
        needed = field.required and field.default is None
        return f"field {field.name} of {event} is missing" if needed else ""
    if any(change.kind == DURATION for change in field.transforms):
        right, expected = durations.is_duration(str(found)), durations.EXPECTED
    else:
        right, expected = _is(field.type, found), _EXPECTED[field.type]
    if right:
        return ""
    return f"field {field.name} of {event}: expected {expected}, found {shown(found)}"


def _is(kind: str, value: object) -> bool:
    """Whether a value reads as a type."""
    if kind == "text":
        return True
    if kind == "boolean":
        return isinstance(value, bool) or value in ("true", "false")
    if isinstance(value, (bool, dict, list)):
        return False
    try:
        number = float(str(value))
    except ValueError:
        return False
    if kind == "real":
        return number - number == 0
    low, high = (0, 2**64 - 1) if kind == "unsigned" else (-(2**63), 2**63 - 1)
    return number.is_integer() and low <= number <= high


def shown(value: object) -> str:
    """A value as it stands in the record, cut."""
    text = str(value) if isinstance(value, Decimal) else json.dumps(value, ensure_ascii=False, default=str)
    return text[:80]


def _at(record: object, path: Sequence[str]) -> Any:
    for key in path:
        record = record.get(key) if isinstance(record, Mapping) else None
    return record
