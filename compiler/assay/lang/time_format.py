"""Describe and check the formats of instants in sources; format instants."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta

from assay.lang.model.package import Source
from assay.lang.model.source_kinds import SOURCE_KINDS
from assay.util.regex import escape_literal
from assay.util.time_units import EPOCH_FORMS, SECOND, SPELLED_NANOSECONDS

#: unit of a number since 1970 -> number of its digits below a second
SINCE_1970 = {form: len(str(SECOND // SPELLED_NANOSECONDS[form])) - 1 for form in EPOCH_FORMS}
#: placeholder of a format, as in `strptime` -> its meaning
PLACES = {
    "Y": "year", "y": "year without century", "m": "month", "b": "month, short name", "B": "month, name",
    "d": "day", "j": "day of the year", "a": "weekday, short name", "A": "weekday", "H": "hour", "I": "hour of 12",
    "p": "AM or PM", "M": "minute", "S": "second", "g": "milliseconds", "f": "microseconds", "n": "nanoseconds",
    "-g": "milliseconds without leading zeros", "-f": "microseconds without leading zeros",
    "-n": "nanoseconds without leading zeros", "%": "a percent sign",
}  # fmt: skip
#: the beginning of a format that gives the year, or the date, of instants without one
_DATE = re.compile(r"(?P<form>%Y|%Y-%m-%d)=(?P<text>\d{4}(?:-\d\d-\d\d)?) (?=.*%)")
_DATE_PLACES = frozenset("YymbBdj")
#: digits of the parts of a second
WIDTHS = {"g": 3, "f": 6, "n": 9}
#: a part of a second without leading zeros
_UNPADDED = re.compile(r"((?:[^%]|%[^-])*)%-([gfn])(.*)")
_ZONE = re.compile(r"UTC|Z|([+-])(\d\d):?(\d\d)")


def find_format_error(form: str) -> str:
    """Return what is wrong with a format of instants; empty when it is valid."""
    if not form or form in SINCE_1970:
        return ""
    match = _DATE.match(form)
    if "%Y=" in form and not (match and match["form"] == "%Y" and len(match["text"]) == 4):
        return f"`{form}` does not begin with a year such as `%Y=2026 `"
    if "%d=" in form and not (match and _is_date(match["text"])):
        return f"`{form}` does not begin with a date such as `%Y-%m-%d=2026-02-09 `"
    places = re.findall(r"%(-?.?)", form)
    if not places:
        return f"`{form}` is not a form of instants"
    unknown = next((place for place in places if place not in PLACES), None)
    if unknown is not None:
        return f"unknown place `%{unknown}`"
    has_day = "j" in places or ("d" in places and {"m", "b", "B"} & set(places))
    if not has_day:
        hint = "" if _DATE_PLACES & {*places} else "; `%Y-%m-%d=2026-02-09 ` at its beginning gives one"
        return f"`{form}` has no date{hint}"
    return "" if {"Y", "y"} & set(places) else f"`{form}` has no year; `%Y=2026 ` at its beginning gives one"


def _is_date(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def split_date(form: str) -> tuple[str, str, str]:
    """Return the year or date that a format gives to instants without one, and the formats of it and of their texts.

    The first two are empty if it gives none.
    """
    match = _DATE.match(form)
    return (match["text"], match["form"], form[match.end() :]) if match else ("", "", form)


def split_unpadded(form: str) -> tuple[str, str, int]:
    """Return what is needed to pad the first part of a second without leading zeros: `%-g`, `%-f` or `%-n`.

    That is the format with all digits, the expression with the texts before, of and behind the part, and its digits.
    The expression is empty if the format has no such part.
    """
    match = _UNPADDED.fullmatch(form)
    if not match:
        return form, "", 0
    before, place, behind = match.groups()
    width = WIDTHS[place]
    expression = rf"^({_build_texts(before)})(\d{{1,{width}}})({_build_texts(behind)})$"
    return f"{before}%{place}{behind}", expression, width


def _build_texts(form: str) -> str:
    """Return the expression of the texts of a format, whatever is at its places."""
    parts = re.split(r"%(-?.)", form)
    texts = ["%" if place == "%" else ".+?" for place in parts[1::2]]
    return "".join(escape_literal(literal) + text for literal, text in zip(parts[::2], (*texts, ""), strict=True))


def build_digits_pattern(form: str) -> str:
    """Return the expression of texts whose milli-, micro- and nanoseconds have all of their digits; empty if none can.

    Those behind a point or a comma are a fraction, of any number of digits. Elsewhere, 23 ms without a leading zero
    would be read as the fraction .23.
    """
    parts = re.split(r"%(.)", form)
    literals, places = parts[::2], parts[1::2]
    is_fixed = [
        place in WIDTHS and not literal.endswith((".", ",")) for literal, place in zip(literals, places, strict=False)
    ]
    if not any(is_fixed):
        return ""
    texts = (
        "%" if place == "%" else rf"\d{{{WIDTHS[place]}}}" if fixed else ".+?"
        for place, fixed in zip(places, is_fixed, strict=True)
    )
    return "".join(escape_literal(literal) + text for literal, text in zip(literals, (*texts, ""), strict=True))


def describe_format(source: Source) -> str:
    """Return a description of how instants of a source are read; empty for samples, whose format is fixed."""
    form, zone = source.time_form, source.zone
    if SOURCE_KINDS[source.kind].has_series:
        return ""
    if form in SINCE_1970:
        return f"a number of {form} since {f'the constant {source.start}' if source.start else '1970'}"
    if form:
        text, text_format, form = split_date(form)
        owner = f"of {'the year ' if text_format == '%Y' else ''}{text}, " if text else ""
        return f"{form}, {owner}in zone {zone}"
    number = "a whole number of ns since 1970, or " if SOURCE_KINDS[source.kind].has_integer_times else ""
    return number + (
        f"ISO 8601, such as 2026-02-05T18:52:16.5, in zone {zone} where none is named"
        if zone
        else ("ISO 8601 with its zone, such as 2026-02-05T18:52:16.5Z")
    )


def parse_offset(zone: str) -> int | None:
    """Return how far a zone is ahead of UTC, in ns; None when the text is not a zone."""
    match = _ZONE.fullmatch(zone)
    if not match:
        return None
    if not match[1]:
        return 0
    hours, minutes = int(match[2]), int(match[3])
    if hours > 15 or minutes > 59:
        return None
    return (-1 if match[1] == "-" else 1) * (hours * 60 + minutes) * 60_000_000_000


def format_instant(nanoseconds: int) -> str:
    """Return an instant in ns as RFC 3339, without trailing zeros in its seconds."""
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=nanoseconds // SECOND)
    parts = f".{nanoseconds % SECOND:09d}".rstrip("0").rstrip(".")
    return f"{moment.isoformat(timespec='seconds').replace('+00:00', '')}{parts}Z"
