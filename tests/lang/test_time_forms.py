"""Zones and forms of instants, as sources name them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from assay.lang.time_format import describe_format, find_format_error, parse_offset
from tests.support.ingesting import SOURCE

MINUTE = 60 * 10**9


@pytest.mark.parametrize(
    ("zone", "minutes"),
    [
        ("UTC", 0), ("Z", 0), ("+02:00", 120), ("-0330", -210), ("+15:59", 959), ("-15:59", -959), ("+00:59", 59),
        ("+16:00", None), ("+02:60", None), ("02:00", None), ("+2:00", None), ("+02:00 ", None), ("", None),
    ],
)  # fmt: skip
def test_zone_has_its_offset(zone: str, minutes: int | None) -> None:
    """Less than 16 hours, of 60 minutes each."""
    assert parse_offset(zone) == (None if minutes is None else minutes * MINUTE)


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ("", ""),
        ("ms", ""),
        ("%Y-%m-%d", ""),
        ("%y %b %d", ""),
        ("%d %B %Y", ""),
        ("%Y %j", ""),
        ("minutes", "`minutes` is not a form of instants"),
        ("%Y-%m-%d %z", "unknown place `%z`"),
        ("%Y-%m-%d %", "unknown place `%`"),
        ("%H:%M:%S", "`%H:%M:%S` has no date; `%Y-%m-%d=2026-02-09 ` at its beginning gives one"),
        ("%Y-%m", "`%Y-%m` has no date"),
        ("%Y %d", "`%Y %d` has no date"),
        ("%m-%d", "`%m-%d` has no year; `%Y=2026 ` at its beginning gives one"),
        ("%j", "`%j` has no year; `%Y=2026 ` at its beginning gives one"),
        ("%Y=2026 %b %d", ""),
        ("%Y=26 %b %d", "`%Y=26 %b %d` does not begin with a year such as `%Y=2026 `"),
        ("%b %d %Y=2026 ", "`%b %d %Y=2026 ` does not begin with a year such as `%Y=2026 `"),
        ("%Y=2026 %H:%M", "`%Y=2026 %H:%M` has no date"),
        ("%Y-%m-%d=2026-02-09 %H:%M", ""),
        (
            "%Y-%m-%d=2026-02-30 %H:%M",
            "`%Y-%m-%d=2026-02-30 %H:%M` does not begin with a date such as `%Y-%m-%d=2026-02-09 `",
        ),
        ("%Y-%m-%d=26 %H:%M", "`%Y-%m-%d=26 %H:%M` does not begin with a date such as `%Y-%m-%d=2026-02-09 `"),
        ("%m %Y", "`%m %Y` has no date"),
    ],
)
def test_time_form_must_have_a_day(form: str, message: str) -> None:
    """It has a year, and either month and day or the day of the year."""
    assert find_format_error(form) == message


@pytest.mark.parametrize(
    ("kind", "form", "zone", "message"),
    [
        ("json-lines", "", "", "ISO 8601 with its zone, such as 2026-02-05T18:52:16.5Z"),
        ("json-lines", "", "UTC", "ISO 8601, such as 2026-02-05T18:52:16.5, in zone UTC where none is named"),
        ("csv", "", "", "a whole number of ns since 1970, or ISO 8601 with its zone, such as 2026-02-05T18:52:16.5Z"),
        ("text-lines", "%Y-%m-%d %H:%M", "+02:00", "%Y-%m-%d %H:%M, in zone +02:00"),
        ("text-lines", "%Y=2026 %b %d", "UTC", "%b %d, of the year 2026, in zone UTC"),
        ("text-lines", "%Y-%m-%d=2026-02-09 %H:%M", "UTC", "%H:%M, of 2026-02-09, in zone UTC"),
        ("json-records", "ms", "", "a number of ms since 1970"),
        ("samples", "", "", ""),
    ],
)
def test_time_form_is_explained(kind: str, form: str, zone: str, message: str) -> None:
    assert describe_format(replace(SOURCE, kind=kind, time_form=form, zone=zone)) == message
