"""Classify each line of a log of JSON objects in plain Python, by the rules of docs/faults.md.

It shares nothing with ingest but the definitions: no engine, no SQL.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from assay.lang.model.package import Event, Field, Form, Source

TEXT, OTHER, TORN, TIMELESS, INCOMPLETE, USED = "text", "other", "torn", "timeless", "lacking", "used"
BROKEN = (TORN, TIMELESS, INCOMPLETE)

_COMMA = re.compile(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])')
_OBJECT = re.compile(rb'\{[ \t\r]*"')  # start of indented lines that are meant as objects
_TIME = re.compile(r"\s*(\d{4,6})([-/\\ ])(\d\d?)\2(\d\d?)[T ](\d\d?):(\d\d?):(\d\d?)(?:\.\d*)?Z", re.ASCII)
_WITH_OFFSET = re.compile(
    r"(\d{4})(-)(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,]\d+)? ?[+-](?:0\d|1[0-5]):?[0-5]\d", re.ASCII
)
_WHOLE_TEXT = re.compile(r"\s*[+-]?\d+\s*", re.ASCII)
_REAL_TEXT = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)


@dataclass(slots=True)
class LineCounts:
    """Counts of a log's lines by kind and event, and the broken ones."""

    kinds: Counter[str] = field(default_factory=Counter)
    events: Counter[str] = field(default_factory=Counter)
    broken: list[tuple[int, int]] = field(default_factory=list)


def classify_lines(source: Source, events: Sequence[Event], content: bytes) -> LineCounts:
    """Classify the lines of a log; broken ones have number and offset of the first byte."""
    counts = LineCounts()
    names = _build_names(source, events)
    for number, offset, line in _iter_lines(content):
        kind, event = _classify_line(source, names, line)
        counts.kinds[kind] += 1
        if kind == USED:
            counts.events[event] += 1
        if kind in BROKEN:
            counts.broken.append((number, offset))
    return counts


def _iter_lines(content: bytes) -> Iterator[tuple[int, int, bytes]]:
    offset = 0
    lines = content.split(b"\n")
    for number, line in enumerate(lines[:-1] if lines[-1] == b"" else lines, start=1):
        bare = line.lstrip(b"\0")
        yield number, offset + len(line) - len(bare), bare.removeprefix(b"\xef\xbb\xbf") if number == 1 else bare
        offset += len(line) + 1


Names = list[tuple[tuple[str, ...], bool, dict[str, tuple[Event, Form]]]]


def _build_names(source: Source, events: Sequence[Event]) -> Names:
    """Return for each lookup its path, whether it is in the body, and forms by text."""
    names: Names = []
    for lookup in source.lookups:
        forms_by_name: dict[str, tuple[Event, Form]] = {}
        for event in events:
            for form in event.forms:
                for name in form.names:
                    if name.generation == lookup.generation:
                        forms_by_name.setdefault(lookup.drop + name.name, (event, form))
                        forms_by_name.setdefault(name.name, (event, form))
        names.append((lookup.path, lookup.in_body, forms_by_name))
    return names


def _classify_line(source: Source, names: Names, line: bytes) -> tuple[str, str]:
    line = line.removesuffix(b"\r")
    bare = line.lstrip(b" \t\r")
    if not bare.startswith(b"{"):
        return TEXT, ""
    record = _parse_record(bare)
    if record is None:
        return (TORN if bare == line or _OBJECT.match(bare) else TEXT), ""
    body = _get_body(source, record)
    actual_event = next(
        (
            forms_by_name[name]
            for path, in_body, forms_by_name in names
            if (name := _read_name(body if in_body else record, path)) in forms_by_name
        ),
        None,
    )
    if actual_event is None:
        return OTHER, ""
    event, form = actual_event
    if any(_is_excluded(rule, body) for rule in form.unless):
        return OTHER, ""
    times = (_get_value(record, path) for path in form.time or source.time_paths)
    if not _is_time(next((value for value in times if value is not None), None)):
        return TIMELESS, ""
    if all(_is_readable(item, body) for item in form.fields):
        return USED, event.name
    return INCOMPLETE, event.name


def _parse_record(line: bytes) -> Any:
    """Parse an object; None if there is none. The first of two equal keys counts."""
    try:
        text = line.decode("utf-8")
        return _parse_json(text)
    except UnicodeDecodeError:
        return None
    except (ValueError, RecursionError):
        pass
    try:
        return _parse_json(_COMMA.sub(lambda match: match[1] or "", text))
    except (ValueError, RecursionError):
        return None


def _parse_json(text: str) -> Any:
    document = json.loads(text, parse_float=Decimal, object_pairs_hook=lambda pairs: dict(reversed(pairs)))
    if "\\u" in text:
        json.dumps(document, ensure_ascii=False, default=str).encode("utf-8")  # single surrogates are invalid
    return document


def _get_value(value: Any, path: Sequence[str]) -> Any:
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _is_time(value: Any) -> bool:
    """Return whether a text is a time of 64-bit nanoseconds, to the second or finer, in UTC or with an offset."""
    forms = (_TIME, _WITH_OFFSET) if isinstance(value, str) and len(value.encode()) >= 20 else ()
    actual_match = next((match for form in forms if (match := form.fullmatch(value))), None)
    if not actual_match:
        return False
    year, month, day, hour, minute, second = (int(actual_match[group]) for group in (1, 3, 4, 5, 6, 7))
    if (hour, minute, second) == (24, 0, 0):
        hour = 0
    try:
        moment = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        return False
    return datetime(1677, 9, 22, tzinfo=UTC) <= moment <= datetime(2262, 4, 11, tzinfo=UTC)


def _get_body(source: Source, record: Any) -> Any:
    body = _get_value(record, source.body)
    for rule in source.unwrap:
        if isinstance(body, Mapping) and rule.absent not in body and all(key in body for key in rule.present):
            return body[rule.take]
    return body


def _read_name(record: Any, path: Sequence[str]) -> str | None:
    value = _get_value(record, path)
    if isinstance(value, list):
        return ".".join(str(part) for part in value)
    return value if isinstance(value, str) else None


def _is_excluded(rule: Any, body: Any) -> bool:
    if rule.present:
        holder = _get_value(body, rule.path[:-1]) if rule.path[:-1] else body
        return isinstance(holder, Mapping) and rule.path[-1] in holder
    value = _get_value(body, rule.path)
    return value is not None and (value if isinstance(value, str) else json.dumps(value, default=str)) == rule.equals


def _is_readable(item: Field, body: Any) -> bool:
    if not item.paths:
        return True
    value = next((candidate for path in item.paths if (candidate := _get_value(body, path)) is not None), None)
    if value is None:
        return not item.required or item.default is not None
    return _is_of_type(item.type, value, sum(change.number for change in item.transforms if change.kind == "plus"))


def _is_of_type(kind: str, value: Any, shift: int) -> bool:
    """Return whether a value, or its text, is of a type, also after adding the constant."""
    if kind == "text":
        return True
    if kind == "boolean":
        return isinstance(value, bool) or value in ("true", "false")
    if isinstance(value, (bool, list, dict)):
        return False
    if isinstance(value, str) and not _REAL_TEXT.fullmatch(value):
        return False
    if kind == "real":
        try:
            return math.isfinite(float(value))
        except (ValueError, OverflowError):
            return False
    low, high = (0, 2**64 - 1) if kind == "unsigned" else (-(2**63), 2**63 - 1)
    if isinstance(value, int):
        return low <= value + shift <= high
    if isinstance(value, str) and _WHOLE_TEXT.fullmatch(value):
        return low <= int(value) + shift <= high
    number = Decimal(value) if isinstance(value, str) else float(value)
    if isinstance(number, Decimal):
        return number == number.to_integral_value() and abs(number) < 10**15 and number + shift >= low
    return number.is_integer() and abs(number) < 10**15 and number + shift >= low
