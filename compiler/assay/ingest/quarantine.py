"""Broken lines, described: file, line, reason, text.  Only files that have some are read again."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.ingest import extract
from assay.ingest.extract import Wanted
from assay.ingest.files import HostFiles, opened
from assay.spec.model import Event, Field, Source

SHOWN = 2000  # characters of a line that are kept
DESCRIBED = 1000  # broken lines of a file that are described


@dataclass(frozen=True, slots=True)
class Broken:
    """A broken line: where it stands, why it is broken, its text (cut)."""

    host: str
    file: str
    line: int
    reason: str
    text: str


def describe(
    source: Source,
    events: Sequence[Event],
    wanted: Wanted,
    hosts: Mapping[str, HostFiles],
    lost: Sequence[Sequence[Any]],
) -> tuple[Broken, ...]:
    """Descriptions of the lines at (host, place, state, event), in order."""
    from assay.ingest.reader import FILE_STEP

    found: list[Broken] = []
    by_name = {event.name: event for event in events}
    for (host, index), group in itertools.groupby(lost, key=lambda row: (row[0], row[1] // FILE_STEP)):
        rows = list(group)[:DESCRIBED]
        path = hosts[host].files[index]
        texts = _texts(path, {row[1] % FILE_STEP for row in rows})
        for _, place, state, event in rows:
            text = texts.get(place % FILE_STEP, "")
            reason = _reason(source, by_name.get(event), wanted, state, text)
            found.append(Broken(host, f"{host}/{path.name}", place % FILE_STEP, reason, text[:SHOWN]))
    return tuple(found)


def _texts(path: Path, numbers: set[int]) -> dict[int, str]:
    with opened(path) as stream:
        return {
            number: line.rstrip(b"\r\n").decode("utf-8", errors="replace")
            for number, line in enumerate(_up_to(stream, max(numbers)), start=1)
            if number in numbers
        }


def _up_to(lines: Iterator[bytes], last: int) -> Iterator[bytes]:
    return itertools.islice(lines, last)


def _reason(source: Source, event: Event | None, wanted: Wanted, state: int, text: str) -> str:
    if state == extract.BROKEN:
        return "not JSON"
    try:
        record = json.loads(text)
    except ValueError:
        return "not JSON"
    if state == extract.TIMELESS:
        at = _at(record, source.time)
        return "no time" if at is None else f"bad time: {at}"
    body = _at(record, source.body)
    for rule in source.unwrap:
        if isinstance(body, dict) and rule.absent not in body and all(key in body for key in rule.present):
            body = body[rule.take]
    reasons = {_lacking(event, item, body) for form in event.forms for item in form.fields} if event else set()
    fields = {item.name for item in event.fields} & set(wanted.get(event.name, ())) if event else set()
    said = sorted(reason for name, reason in reasons if name in fields and reason)
    return said[0] if said else "a field is missing"


def _lacking(event: Event, field: Field, body: object) -> tuple[str, str]:
    """The field's name and why it cannot be had of a body ("" when it can)."""
    if not field.required or field.default is not None:
        return field.name, ""
    found = next((value for value in (_at(body, path) for path in field.paths) if value is not None), None)
    if found is None:
        return field.name, f"field {field.name} of {event.name} is missing"
    if field.type in ("integer", "unsigned") and not _whole(found):
        shown = json.dumps(found, ensure_ascii=False)
        return field.name, f"field {field.name} of {event.name}: expected a whole number, found {shown[:80]}"
    if field.type == "real" and not isinstance(found, (int, float)):
        shown = json.dumps(found, ensure_ascii=False)
        return field.name, f"field {field.name} of {event.name}: expected a number, found {shown[:80]}"
    return field.name, ""


def _whole(value: object) -> bool:
    return isinstance(value, int) or (isinstance(value, str) and value.lstrip("-").isdigit())


def _at(record: object, path: Sequence[str]) -> object:
    for key in path:
        record = record.get(key) if isinstance(record, dict) else None
    return record
