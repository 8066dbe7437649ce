"""Recognize how texts and numbers write instants."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from assay.ingest.timestamps import ISO
from assay.propose.names import split_words

_FRACTION = r"(?:[.,]\d+)?"
_MONTH, _DAY, _CLOCK = "(?:0[1-9]|1[0-2])", "(?:0[1-9]|[12]\\d|3[01])", "\\d\\d:\\d\\d:\\d\\d"
#: the year of instants that have none: one with 29 February
NO_YEAR = "%Y=2000 "
_DAY_AND_TIME = rf"\d{{4}}-\d\d-\d\d[T ]\d\d:\d\d:\d\d{_FRACTION}"
#: stamps of text lines: expression, `timeForm`
STAMPS: tuple[tuple[str, str], ...] = (
    (rf"{_DAY_AND_TIME}(?: ?(?:Z|[+-]\d\d:?\d\d)\b)?", ""),
    (r"\d{4}/\d\d/\d\d \d\d:\d\d:\d\d\.\d{6}", "%Y/%m/%d %H:%M:%S.%f"),
    (r"\d{4}/\d\d/\d\d \d\d:\d\d:\d\d\.\d{3}", "%Y/%m/%d %H:%M:%S.%g"),
    (r"\d{4}/\d\d/\d\d \d\d:\d\d:\d\d", "%Y/%m/%d %H:%M:%S"),
    (r"\d\d/\d\d/\d\d \d\d:\d\d:\d\d", "%y/%m/%d %H:%M:%S"),
    (rf"\d\d{_MONTH}{_DAY} (?:[01]\d|2[0-3])[0-5]\d[0-5]\d", "%y%m%d %H%M%S"),
    (r"\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d", "%d/%b/%Y:%H:%M:%S"),
    (rf"[A-Z][a-z]{{2}} [A-Z][a-z]{{2}} [ \d]\d {_CLOCK} \d{{4}}", "%a %b %d %H:%M:%S %Y"),
    (rf"[A-Z][a-z]{{2}} [A-Z][a-z]{{2}} [ \d]\d {_CLOCK}\.\d{{6}} \d{{4}}", "%a %b %d %H:%M:%S.%f %Y"),
    (rf"{_DAY} [A-Z][a-z]{{2}} \d{{4}} {_CLOCK}\.\d{{3}}", "%d %b %Y %H:%M:%S.%g"),
    (rf"{_DAY} [A-Z][a-z]{{2}} \d{{4}} {_CLOCK}", "%d %b %Y %H:%M:%S"),
    (rf"[A-Z][a-z]{{2}} [ \d]\d {_CLOCK}", f"{NO_YEAR}%b %d %H:%M:%S"),
    (rf"{_MONTH}-{_DAY} {_CLOCK}\.\d{{3}}", f"{NO_YEAR}%m-%d %H:%M:%S.%g"),
    (rf"{_DAY}\.{_MONTH} {_CLOCK}", f"{NO_YEAR}%d.%m %H:%M:%S"),
    (rf"{_MONTH}\.{_DAY} {_CLOCK}", f"{NO_YEAR}%m.%d %H:%M:%S"),
    (r"\d{8}-\d{1,2}:\d{1,2}:\d{1,2}:\d{1,3}", "%Y%m%d-%H:%M:%S:%-g"),
    (r"\d{10}(?:\.\d+)?", "s"),
    (r"\d{13}(?:\.\d+)?", "ms"),
    (r"\d+\.\d{3,}(?=s\b)", "s"),
)
_TIME_WORDS = ("time", "timestamp", "ts", "at", "date", "datetime", "when", "asctime", "start", "started", "epoch")
#: digits of the whole seconds, ms, us, ns since 1970 of the years 2001 to 2286
_EPOCH_DIGITS = {10: "s", 13: "ms", 16: "us", 19: "ns"}


@dataclass(frozen=True, slots=True)
class TimeForm:
    """How values write instants: `timeForm` and `zone` of a source, and a description."""

    form: str
    zone: str
    doc: str


def find_time_form(path: Sequence[str], values: Sequence[object]) -> TimeForm | None:
    """Return how all values of a path write instants; None if they do not. A number needs a path that suggests it."""
    texts = [str(value) for value in values if not isinstance(value, bool)]
    if not texts or len(texts) != len(values):
        return None
    matches = [re.match(ISO, text) for text in texts]
    if all(matches):
        has_zone = all(match and match[4] for match in matches)
        return TimeForm(
            "", "" if has_zone else "UTC", "ISO 8601" + ("" if has_zone else " without a zone, read as UTC")
        )
    for expression, form in STAMPS:
        if "%" in form and all(re.fullmatch(expression, text) for text in texts):
            return TimeForm(form, "UTC", f"{form}, without a zone, {describe_reading(form)}")
    digits = {len(text.partition(".")[0]) for text in texts if re.fullmatch(r"\d+(\.\d+)?", text)}
    if rank_time_name(path) < len(_TIME_WORDS) and len(digits) == 1 and all(re.fullmatch(r"[\d.]+", t) for t in texts):
        form = _EPOCH_DIGITS.get(digits.pop(), "")
        return TimeForm(form, "", f"numbers of {form} since 1970") if form else None
    return None


def describe_reading(form: str) -> str:
    """Return how instants without a zone are read."""
    return f"read as UTC{' of the year 2000, since they have none' * form.startswith(NO_YEAR)}"


def has_stamp(text: str) -> bool:
    """Return whether a text has an instant in it."""
    return any(re.search(expression, text) for expression, _ in STAMPS)


def rank_time_name(path: Sequence[str]) -> int:
    """Return how well the last key of a path suggests the instant of a record: less is better."""
    words = split_words(path[-1])
    ranks = [_TIME_WORDS.index(word) + (len(words) > 1) for word in words if word in _TIME_WORDS]
    return min(ranks, default=len(_TIME_WORDS) + 1)
