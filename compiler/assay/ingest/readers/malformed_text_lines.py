"""Why a line of a text log is broken that looks like an event: where it leaves its pattern, or which field is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from assay.ingest import builder
from assay.ingest.event_forms import LACKING, TIMELESS
from assay.ingest.plain_copies import Line
from assay.ingest.quarantine import Lost, missing_field_reason, truncate_value
from assay.ingest.readers.text_line_forms import TextForms, Variant
from assay.lang.line_pattern import Pattern
from assay.sql import dialect

if TYPE_CHECKING:
    import duckdb

LONGEST = 10_000  # characters of a line that are looked at
FOUND = 24  # characters that are shown where something else was expected


def reasons(connection: duckdb.DuckDBPyConnection, how: TextForms) -> Callable[[Lost, Line], str]:
    """What tells why a line is broken."""
    matcher = _Matcher(connection)
    return lambda item, line: _reason(matcher, how, item, line)


class _Matcher:
    """The engine's expressions, so that a line is told apart just as it was when it was read."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self.connection = connection

    def match_group(self, text: str, expression: str, group: int = 0) -> str:
        """What an expression, or a group of it, finds in a text; empty when nothing."""
        return str(self._extracted(text, expression, dialect.integer(group)) or "")

    def places(self, text: str, pattern: Pattern) -> dict[str, str | None]:
        """What stands at the places of a pattern that a text matches."""
        if not pattern.places:
            return {}
        # By names, as groups by their numbers end at 9; by these, as the engine's names are the same in any case.
        names = [f"p{index}" for index, _ in enumerate(pattern.places)]
        listed = exp.Array(expressions=[builder.text(name) for name in names])
        found = self._extracted(text, pattern.expression(pattern.places), listed)
        return {place: found[name] or None for place, name in zip(pattern.places, names, strict=True)}

    def _extracted(self, text: str, expression: str, *groups: exp.Expr) -> Any:
        value = builder.call("regexp_extract", exp.Placeholder(this="text"), builder.text(expression), *groups)
        row = self.connection.execute(dialect.text(exp.select(value)), {"text": text}).fetchone()
        assert row is not None
        return row[0]


def _reason(matcher: _Matcher, how: TextForms, item: Lost, line: Line) -> str:
    if line.fault:
        return line.fault
    text = line.text[:LONGEST].rstrip(" \t")
    head = matcher.places(text, how.layout) if how.layout else {}
    body = head.get(how.source.body[0]) if how.layout else text
    if body is None:
        assert how.layout is not None
        return f"no line of the log: {_fault(matcher, text, how.layout)[1]}"
    if item.form == TIMELESS:
        said = head.get(how.time) or _time(matcher, how, body)
        return f"bad time: {truncate_value(said)}" if said else "no time"
    if item.form == LACKING:
        return find_missing_field(matcher, how, item.event, head, body)
    likely = [variant for variant in how.variants if body.startswith(variant.pattern.mark.split(" ")[0])]
    faults = [(*_fault(matcher, body, variant.pattern), variant) for variant in likely or how.variants]
    _, said, variant = max(faults, key=lambda fault: fault[0])
    return f"not the pattern of {variant.item.event.name}: {said}"


def _time(matcher: _Matcher, how: TextForms, body: str) -> str:
    found = (matcher.places(body, variant.pattern).get(how.time) for variant in how.variants)
    return next((text for text in found if text), "")


def _fault(matcher: _Matcher, text: str, pattern: Pattern) -> tuple[int, str]:
    """How far a text goes along with a pattern, and what was expected there and found."""
    length, expected = 0, pattern.pieces[0].pattern_text
    for index, item in enumerate(pattern.beginnings()):
        before = matcher.match_group(text, item.expression) if item.expression != "^" else ""
        if not before and index:  # ahead of the first there may be optional parts alone, which match no character
            break
        shortest = matcher.match_group(text, item.shortest, 1) if item.shortest else ""
        length, expected = len(shortest or before), item.piece.pattern_text
    else:
        if whole := matcher.match_group(text, pattern.expression(())[:-1]):
            return len(text), f"expected the end of the line, found {truncate_text(text[len(whole) :])}"
    return length, f"expected {json.dumps(expected, ensure_ascii=False)}, found {truncate_text(text[length:])}"


def truncate_text(text: str) -> str:
    if not text:
        return "the end of the line"
    return json.dumps(text[:FOUND] + ("..." if len(text) > FOUND else ""), ensure_ascii=False)


def find_missing_field(matcher: _Matcher, how: TextForms, event: str, head: dict[str, str | None], body: str) -> str:
    """The first field of the event that cannot be had, by the pattern that the line matches."""
    matching = [item for item in how.own(event) if matcher.match_group(body, item.pattern.expression(()))]
    for variant in matching:
        if said := _of_variant(matcher, variant, event, head, body):
            return said
    return "a field is missing"


def _of_variant(matcher: _Matcher, variant: Variant, event: str, head: dict[str, str | None], body: str) -> str:
    places = {**head, **matcher.places(body, variant.pattern)}
    return next((said for field in variant.item.fields if (said := missing_field_reason(event, field, places))), "")
