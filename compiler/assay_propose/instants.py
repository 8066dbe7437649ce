"""Recognize how texts and numbers write instants."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from assay.ingest.timestamps import ISO
from assay.util.diagnostics import AssayError, fail
from assay_propose.names import split_words

_FRACTION = r"(?:[.,]\d+)?"
_MONTH, _DAY, _CLOCK = "(?:0[1-9]|1[0-2])", "(?:0[1-9]|[12]\\d|3[01])", "\\d\\d:\\d\\d:\\d\\d"
#: the year of instants that have none: one with 29 February
NO_YEAR = "%Y=2000 "
_DAY_AND_TIME = rf"\d{{4}}-\d\d-\d\d[T ]\d\d:\d\d:\d\d{_FRACTION}"
#: texts of two columns that may be an instant together
DATE, TIME_OF_DAY = (
    r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}",
    rf"\d{{1,2}}:\d\d:\d\d{_FRACTION}(?: [AaPp][Mm]|Z|[+-]\d\d:?\d\d)?",
)
#: dates with slashes or hyphens, whose month or day comes first, and the time of day behind them: expression, form
_SLASHED_DATES = ((r"(?:0?[1-9]|1[0-2])/(?:0?[1-9]|[12]\d|3[01])/\d{4}", "%m/%d/%Y"),
                  (r"(?:0?[1-9]|[12]\d|3[01])/(?:0?[1-9]|1[0-2])/\d{4}", "%d/%m/%Y"),
                  (rf"{_MONTH}-{_DAY}-\d{{4}}", "%m-%d-%Y"),
                  (rf"{_DAY}-{_MONTH}-\d{{4}}", "%d-%m-%Y"))  # fmt: skip
_CLOCKS_BEHIND = ((r",? (?:0?[1-9]|1[0-2]):\d\d:\d\d [AaPp][Mm]", " %I:%M:%S %p"),
                  (r",? (?:[01]?\d|2[0-3]):\d\d:\d\d\.\d{6}", " %H:%M:%S.%f"),
                  (r",? (?:[01]?\d|2[0-3]):\d\d:\d\d\.\d{3}", " %H:%M:%S.%g"),
                  (r",? (?:[01]?\d|2[0-3]):\d\d:\d\d", " %H:%M:%S"))  # fmt: skip
_SLASHED = tuple(
    (day_expression + expression.replace(",?", comma), f"{day}{comma}{clock}")
    for expression, clock in _CLOCKS_BEHIND
    for comma in ("", ",")
    for day_expression, day in _SLASHED_DATES
)
_SECONDS = r"\d+\.\d{3,}(?=s\b)"
#: stamps of text lines: expression, `timeForm`
STAMPS: tuple[tuple[str, str], ...] = (
    (rf"{_DAY_AND_TIME}(?: ?(?:Z|[+-]\d\d:?\d\d)\b)?", ""),
    (r"\d{4}/\d\d/\d\d \d\d:\d\d:\d\d\.\d{6}", "%Y/%m/%d %H:%M:%S.%f"),
    (r"\d{4}/\d\d/\d\d \d\d:\d\d:\d\d\.\d{3}", "%Y/%m/%d %H:%M:%S.%g"),
    (r"\d{4}/\d\d/\d\d \d\d:\d\d:\d\d", "%Y/%m/%d %H:%M:%S"),
    (r"\d{4}/\d\d/\d\d-\d\d:\d\d:\d\d\.\d{6}", "%Y/%m/%d-%H:%M:%S.%f"),
    (r"\d{4}/\d\d/\d\d-\d\d:\d\d:\d\d\.\d{3}", "%Y/%m/%d-%H:%M:%S.%g"),
    (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d:\d{3}", "%Y-%m-%d %H:%M:%S:%g"),
    (rf"\d{{4}}-{_MONTH}-{_DAY}\|{_CLOCK}\.\d{{3}}", "%Y-%m-%d|%H:%M:%S.%g"),
    (r"\d{8} \d\d:\d\d:\d\d\.\d{3}", "%Y%m%d %H:%M:%S.%g"),
    (r"\d\d/\d\d/\d\d \d\d:\d\d:\d\d", "%y/%m/%d %H:%M:%S"),
    (rf"\d\d{_MONTH}{_DAY} (?:[01]\d|2[0-3])[0-5]\d[0-5]\d", "%y%m%d %H%M%S"),
    (rf"\d\d{_MONTH}{_DAY} {_CLOCK}\.\d{{6}}", "%y%m%d %H:%M:%S.%f"),
    (rf"\d{{4}}\.{_MONTH}\.{_DAY} {_CLOCK}\.\d{{6}}", "%Y.%m.%d %H:%M:%S.%f"),
    (rf"\d{{4}}\.{_MONTH}\.{_DAY} {_CLOCK}\.\d{{3}}", "%Y.%m.%d %H:%M:%S.%g"),
    (rf"\d{{4}}\.{_MONTH}\.{_DAY} {_CLOCK}", "%Y.%m.%d %H:%M:%S"),
    (r"\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d\.\d{3}", "%d/%b/%Y:%H:%M:%S.%g"),
    (r"\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d", "%d/%b/%Y:%H:%M:%S"),
    (rf"[A-Z][a-z]{{2}} [A-Z][a-z]{{2}} [ \d]\d {_CLOCK} \d{{4}}", "%a %b %d %H:%M:%S %Y"),
    (rf"[A-Z][a-z]{{2}} [A-Z][a-z]{{2}} [ \d]\d {_CLOCK}\.\d{{6}} \d{{4}}", "%a %b %d %H:%M:%S.%f %Y"),
    (rf"{_DAY}\.{_MONTH}\.\d{{4}} {_CLOCK}\.\d{{3}}", "%d.%m.%Y %H:%M:%S.%g"),
    (rf"{_DAY}\.{_MONTH}\.\d{{4}} {_CLOCK}", "%d.%m.%Y %H:%M:%S"),
    (rf"{_DAY} [A-Z][a-z]{{2}} \d{{4}} {_CLOCK}\.\d{{3}}", "%d %b %Y %H:%M:%S.%g"),
    (rf"{_DAY} [A-Z][a-z]{{2}} \d{{4}} {_CLOCK}", "%d %b %Y %H:%M:%S"),
    (rf"{_DAY}-[A-Z][a-z]{{2}}-\d{{4}} {_CLOCK}\.\d{{3}}", "%d-%b-%Y %H:%M:%S.%g"),
    (rf"{_DAY}-[A-Z][a-z]{{2}}-\d{{4}} {_CLOCK}", "%d-%b-%Y %H:%M:%S"),
    (rf"[A-Z][a-z]{{2}} \d\d? \d{{4}} {_CLOCK}\.\d{{3}}", "%b %d %Y %H:%M:%S.%g"),
    (rf"[A-Z][a-z]{{2}} \d\d? \d{{4}} {_CLOCK}", "%b %d %Y %H:%M:%S"),
    (r"[A-Z][a-z]{2} \d\d?, \d{4} \d{1,2}:\d\d:\d\d [AP]M", "%b %d, %Y %I:%M:%S %p"),
    (rf"[A-Z][a-z]{{2}} [ \d]\d {_CLOCK}\.\d{{3}}", f"{NO_YEAR}%b %d %H:%M:%S.%g"),
    (rf"[A-Z][a-z]{{2}} [ \d]\d {_CLOCK}", f"{NO_YEAR}%b %d %H:%M:%S"),
    (rf"{_MONTH}-{_DAY} {_CLOCK}\.\d{{3}}", f"{NO_YEAR}%m-%d %H:%M:%S.%g"),
    (rf"{_MONTH}-{_DAY}\|{_CLOCK}\.\d{{3}}", f"{NO_YEAR}%m-%d|%H:%M:%S.%g"),
    (rf"{_MONTH}-{_DAY} {_CLOCK}", f"{NO_YEAR}%m-%d %H:%M:%S"),
    (rf"{_MONTH}{_DAY} {_CLOCK}\.\d{{6}}", f"{NO_YEAR}%m%d %H:%M:%S.%f"),
    (rf"{_DAY}\.{_MONTH} {_CLOCK}", f"{NO_YEAR}%d.%m %H:%M:%S"),
    (rf"{_MONTH}\.{_DAY} {_CLOCK}", f"{NO_YEAR}%m.%d %H:%M:%S"),
    (r"\d{8}-\d{1,2}:\d{1,2}:\d{1,2}:\d{1,3}", "%Y%m%d-%H:%M:%S:%-g"),
    *_SLASHED,
    (r"\d{10}(?:\.\d+)?", "s"),
    (r"\d{13}(?:\.\d+)?", "ms"),
    (r"\d{16}", "us"),
    (r"\d{19}", "ns"),
    (_SECONDS, "s"),
)
NO_DATE = "%Y-%m-%d=2000-01-01 "
#: stamps at the start of text lines that have no date; elsewhere, such texts may be durations
CLOCKS: tuple[tuple[str, str], ...] = (
    (rf"{_CLOCK}\.\d{{6}}", f"{NO_DATE}%H:%M:%S.%f"),
    (rf"{_CLOCK}\.\d{{3}}", f"{NO_DATE}%H:%M:%S.%g"),
    (rf"{_CLOCK},\d{{3}}", f"{NO_DATE}%H:%M:%S,%g"),
    (_CLOCK, f"{NO_DATE}%H:%M:%S"),
)
#: stamps behind a bracket with which a text line begins: seconds since the start, perhaps padded. Elsewhere, such texts
#: are durations
ELAPSED: tuple[tuple[str, str], ...] = ((r"\d+(?:\.\d+)?(?=s ?\])", "s"),)
_TIME_WORDS = ("time", "timestamp", "ts", "at", "date", "datetime", "when", "asctime", "start", "started", "epoch")
#: digits of the whole seconds, ms, us, ns since 1970 of the years 2001 to 2286
_EPOCH_DIGITS = {10: "s", 13: "ms", 16: "us", 19: "ns"}
_EPOCH = re.compile(r"(?<![\d.])(?=1[3-9])\d{10}(?:\d{3}){0,3}(?!\d)")  # from 2011 to 2033
_NUMBER = r"\d+(?:\.\d+)?"
#: of the values of a key, the least share that are instants if it has the instants of records. Of a log, few lines are
#: damaged; if more than one value in twenty is no instant, the key has something else, or several notations.
MIN_SHARE = 0.95
_ROUNDING = 1e-9
_FEW_DATES = 4  # of which the shorter span says whether the month or the day comes first


@dataclass(frozen=True, slots=True)
class TimeForm:
    """How values write instants: `timeForm` and `zone` of a source, a description, and an expression for the values."""

    form: str
    zone: str
    doc: str
    expression: str

    def is_instant(self, value: object) -> bool:
        """Return whether a value is an instant of this form."""
        return not isinstance(value, bool) and re.fullmatch(self.expression, str(value)) is not None


def find_time_form(path: Sequence[str], values: Sequence[object], least: float = MIN_SHARE) -> TimeForm | None:
    """Return how the values of a path write instants; None if less than the share `least` of them are instants.

    A number needs a path that suggests it.
    """
    texts = ["" if isinstance(value, bool) else str(value) for value in values]
    if not texts:
        return None
    if _match_most(ISO, texts, least):
        has_zone = all(match[4] for text in texts if (match := re.match(ISO, text)))
        doc = "ISO 8601" + ("" if has_zone else " without a zone, read as UTC")
        return TimeForm("", "" if has_zone else "UTC", doc, ISO)
    # All of these have a colon or a blank, unlike numbers and words.
    may_be_stamps = _match_most(r".*[: ].*", texts, least)
    for expression, form in STAMPS if may_be_stamps else ():
        if "%" in form and _match_most(expression, texts, least):
            if (other := find_other_day(form)) and not _is_likelier((expression, form), other, texts):
                continue  # it is the other, or no value tells
            return TimeForm(form, "UTC", f"{form}, without a zone, {describe_reading(form)}", expression)
    if rank_time_name(path) < len(_TIME_WORDS) and _match_most(_NUMBER, texts, least):
        digits = {len(text.partition(".")[0]) for text in texts if re.fullmatch(_NUMBER, text)}
        form = _EPOCH_DIGITS.get(digits.pop(), "") if len(digits) == 1 else ""
        return TimeForm(form, "", f"numbers of {form} since 1970", _NUMBER) if form else None
    return None


def _is_likelier(stamp: tuple[str, str], other: tuple[str, str], texts: Sequence[str]) -> bool:
    """Return whether dates are rather of a form than of the other: more of them are; or few span less time so.

    A single date may be of both: the month comes first, which changes no time between two instants.
    """
    count, count_of_other = _count(stamp, texts), _count(other, texts)
    if count != count_of_other:
        return count > count_of_other
    dates = {text.split()[0].rstrip(",") for text in texts}
    if len(dates) > _FEW_DATES or count < len(texts):
        return False
    span, span_of_other = (_measure_span(dates, form.split()[0].rstrip(",")) for _, form in (stamp, other))
    return (span, stamp[1].startswith("%d")) < (span_of_other, other[1].startswith("%d"))


def _measure_span(dates: Iterable[str], form: str) -> timedelta:
    days = [datetime.strptime(date, form) for date in dates]
    return max(days) - min(days)


def find_other_day(form: str) -> tuple[str, str] | None:
    """Return the expression and form of dates whose day comes where a form has the month; None for other forms."""
    other = form.translate(str.maketrans("md", "dm"))
    return next((item for item in _SLASHED if item[1] == other), None)


def find_ambiguous_day(texts: Sequence[str]) -> tuple[str, str] | None:
    """Return both forms of texts that all are dates, none of which tells the month from the day."""
    for expression, form in _SLASHED:
        other = find_other_day(form)
        if other and texts and _count((expression, form), texts) == _count(other, texts) == len(texts):
            return form, other[1]
    return None


def build_ambiguous_day_error(place: object, forms: tuple[str, str], example: str) -> AssayError:
    """Return the error about dates of which none tells the month from the day."""
    return fail(
        "unknown-format",
        f"the dates of {place} may begin with the month or the day, as none has a day after the 12th",
        expected=f"{forms[0]} or {forms[1]}",
        found=example,
        hint="take a log with a later day; or write the source by hand, with one as its `timeForm`: docs/sources.md",
    )


def _count(stamp: tuple[str, str], texts: Sequence[str]) -> int:
    return sum(re.fullmatch(stamp[0], text) is not None for text in texts)


def _match_most(expression: str, texts: Sequence[str], least: float) -> bool:
    """Return whether at least a share of texts match."""
    match = re.compile(expression).fullmatch
    others = (text for text in texts if not match(text))
    limit = math.floor((1 - least) * len(texts) + _ROUNDING)
    return next(itertools.islice(others, limit, None), None) is None


def describe_reading(form: str) -> str:
    """Return how instants without a zone are read."""
    if form.startswith(NO_DATE):
        return "read as UTC of 1 January 2000, since they have no date: a log must not go over midnight"
    return f"read as UTC{' of the year 2000, since they have none' * form.startswith(NO_YEAR)}"


def has_stamp(text: str) -> bool:
    """Return whether a text has an instant in it; seconds such as `1.234s` may be a duration, other numbers counts."""
    forms = (expression for expression, form in STAMPS if form not in _EPOCH_DIGITS.values())
    return _EPOCH.search(text) is not None or any(re.search(expression, text) for expression in forms)


def rank_time_name(path: Sequence[str]) -> int:
    """Return how well the last key of a path suggests the instant of a record: less is better."""
    words = split_words(path[-1])
    ranks = [_TIME_WORDS.index(word) + (len(words) > 1) for word in words if word in _TIME_WORDS]
    return min(ranks, default=len(_TIME_WORDS) + 1)
