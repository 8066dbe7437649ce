"""Recognize types and units of fields by their values and names."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from assay.ingest.quantities import QUANTITIES
from assay.util.time_units import NANOSECONDS
from assay_propose.instants import find_time_form
from assay_propose.names import split_words

#: last word of a name -> unit of the schema
UNITS = {
    "ns": "nanosecond", "nanos": "nanosecond", "nanoseconds": "nanosecond", "nsec": "nanosecond",
    "us": "microsecond", "micros": "microsecond", "microseconds": "microsecond", "usec": "microsecond",
    "ms": "millisecond", "millis": "millisecond", "milliseconds": "millisecond", "msec": "millisecond",
    "s": "second", "sec": "second", "secs": "second", "seconds": "second",
    "minutes": "minute", "hours": "hour",
    "byte": "byte", "bytes": "byte", "kb": "kilobyte", "kib": "kibibyte", "mb": "megabyte", "mib": "mebibyte",
    "gb": "gigabyte", "gib": "gibibyte", "kbytes": "kilobyte", "mbytes": "megabyte", "gbytes": "gigabyte",
    "percent": "percent", "pct": "percent", "percentage": "percent",
}  # fmt: skip
TIMES = tuple(name for name, size in NANOSECONDS.items() if size <= NANOSECONDS["hour"])
_SECONDS = frozenset(("s", "sec", "second"))  # behind `per`
_RATE_WORDS = frozenset(("fps", "qps", "rps", "tps"))  # frames, queries, requests, transactions per second
_RATES = {"byte": "bytePerSecond", "kibibyte": "kibibytePerSecond", "mebibyte": "mebibytePerSecond"}  # of the schema
RATE = "perSecond"  # of no unit; followed by a blank and a unit, of that unit
#: units that a name may begin with, such as `bytes_sent`
_LEADING_UNITS = frozenset(("bytes", "milliseconds", "microseconds", "nanoseconds", "seconds", "percent", "ms"))
#: words of names whose numbers identify something, or are codes
NAMES_OF_IDS = frozenset((
    "id", "ids", "pid", "tid", "uid", "gid", "key", "port", "code", "status", "line", "version", "seq", "sequence",
    "index", "number", "no", "num", "idx", "height", "slot", "epoch", "round", "year", "month", "day", "hash",
    "timestamp", "ts", "date", "level", "thread",
))  # fmt: skip
#: names of levels of logs, of which there are few
LEVELS = frozenset(("level", "levelname", "levelno", "loglevel", "log_level", "lvl", "severity", "severity_number"))
_MOST_LEVELS = 10
_TIME_NAMES = frozenset(("duration", "latency", "t", "time"))
_TIME_PER_WORK = re.compile(r"\b(ns|us|ms|sec|seconds)/[A-Za-z]+$", re.IGNORECASE)  # such as `Avg. Disk sec/Read`
_PERCENT = re.compile(r"(?<![\d.])%")  # as in `CPU%`, unlike in `99%`, a percentile
_NUMBERS = frozenset(("count", "n", "samples"))  # words of names of numbers that do not have the unit of their object
_CLOCK_NAMES = frozenset(("duration", "elapsed", "runtime", "ss", "took", "wall", "walltime"))  # unlike `time`
_MEASURED = re.compile(r" *[+-]?(?:\d+\.?\d*|\.\d+) ?(?P<unit>[A-Za-zµ°/]{1,12}) *")  # a number with a unit
_MIN_MEASURED = 2  # distinct numbers with the same unit
_INTEGER = re.compile(r"[+-]?\d{1,18}")
_REAL = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
#: transforms of numbers with separators; without a point, `1,234` has one of thousands
_SEPARATED = {
    "grouped": re.compile(r"[+-]?(?:[1-9]\d{0,2}(?:,\d{3})+|\d{1,3})(?:\.\d+)?"),
    "decimalComma": re.compile(r"[+-]?(?:[1-9]\d{0,2}(?:\.\d{3})+|\d+)(?:,\d+)?"),
}


@dataclass(frozen=True, slots=True)
class ValueType:
    """The type of values, with the transform that reads them, their unit and the reason for it."""

    type: str
    transform: str = ""
    unit: str = "none"
    reason: str = ""
    is_quantity: bool = False


def describe_values(path: Sequence[str], values: Sequence[object]) -> ValueType:
    """Return the type, transform and unit of values of a field with this path."""
    if all(isinstance(value, bool) for value in values):
        return ValueType("boolean")
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        is_whole = all(isinstance(value, int) and abs(value) < 2**63 for value in values)
        return _describe_number(path, "integer" if is_whole else "real", {str(value) for value in values})
    if not all(isinstance(value, str) for value in values):
        return ValueType("text")
    texts = {str(value) for value in values}
    plain = {text.strip(" ") for text in texts}  # the engine reads numbers between blanks
    texts = plain if all(_REAL.fullmatch(text) for text in plain) else texts
    if texts <= {"true", "false"}:
        return ValueType("boolean")
    if all(_INTEGER.fullmatch(text) for text in texts) and not any(re.match(r"[+-]?0\d", text) for text in texts):
        return _describe_number(path, "integer", texts)
    if all(_REAL.fullmatch(text) for text in texts):
        return _describe_number(path, "real", texts)
    for kind, expression in _SEPARATED.items():
        if all(expression.fullmatch(text) for text in texts):
            return _describe_separated(path, kind, texts)
    if _CLOCK_NAMES & {*split_words(path[-1])} and all(QUANTITIES["clockDuration"].is_valid(text) for text in texts):
        reason = f"durations such as {min(texts, key=_rank_example)}"
        return ValueType("integer", "clockDuration", "nanosecond", reason, len(texts) > 1)
    for kind, unit in (("duration", "nanosecond"), ("size", "byte"), ("binarySize", "byte")):
        has_unit = any(not _REAL.fullmatch(text) for text in texts) and not (
            kind == "binarySize" and _is_count(path, texts)
        )
        if has_unit and all(QUANTITIES[kind].is_valid(text) for text in texts):
            word = "durations" if kind == "duration" else "sizes"
            return ValueType("integer", kind, unit, f"{word} such as {min(texts, key=_rank_example)}", len(texts) > 1)
    return ValueType("text")


def describe_with_one_unit(texts: Collection[str]) -> ValueType | None:
    """Return the type of numbers that all have the same unknown unit behind them, such as `250.1 W`; None for others.

    Letters that may be hexadecimal digits are none.
    """
    matches = [_MEASURED.fullmatch(text) for text in texts]
    units = {match["unit"] for match in matches if match}
    if len(texts) < _MIN_MEASURED or not all(matches) or len(units) > 1:
        return None
    (unit,) = units
    is_hexadecimal = not (any("." in text for text in texts) or all(" " in text.strip() for text in texts))
    if re.fullmatch("[a-fA-F]+", unit) and is_hexadecimal:
        return None
    reason = f"numbers with their unit such as {min(texts, key=_rank_example).strip()}"
    return ValueType("real", f'before "{unit}"', "none", reason, is_quantity=True)


def _is_count(path: Sequence[str], texts: set[str]) -> bool:
    """Return whether texts such as `7.50k` are no sizes, as in a rate of requests."""
    return is_rate(find_unit(split_words(path[-1]))[0]) and not any("B" in text for text in texts)


def _describe_separated(path: Sequence[str], kind: str, texts: set[str]) -> ValueType:
    """Return the type of numbers with separators of thousands, or with a decimal comma."""
    is_whole = not any(("." if kind == "grouped" else ",") in text for text in texts)
    example = max(texts, key=_rank_example)
    value = _describe_number(path, "integer" if is_whole else "real", texts)
    return replace(value, transform=kind, reason=value.reason or f"numbers such as {example}")


def _rank_example(text: str) -> tuple[bool, int, str]:
    return bool(_REAL.fullmatch(text)), len(text), text


def _describe_number(path: Sequence[str], number_type: str, texts: set[str]) -> ValueType:
    words = split_words(path[-1])
    unit, reason = find_unit_of_name(path[-1])
    is_named_id = bool(NAMES_OF_IDS & set(words)) and words[-1] not in _TIME_NAMES  # `thread_time` is a result
    is_id = (is_named_id and unit == "none") or find_time_form(path[-1:], sorted(texts)) is not None
    is_id |= path[-1].lower() in LEVELS and number_type == "integer" and len(texts) <= _MOST_LEVELS
    if unit == "none" and not is_id and not _NUMBERS & set(words):
        unit, reason = _find_unit_of_parent(path)
    return ValueType(number_type, "", unit, reason, not is_id and (len(texts) > 1 or unit != "none"))


def find_unit_of_name(name: str) -> tuple[str, str]:
    """Return the unit that a name suggests, and why; `none` without one, or if it is that of a ratio."""
    words = split_words(name)
    if "/" in name and not _TIME_NAMES & {*words[-2:-1]} and not is_rate(find_unit(words)[0]):
        match = _TIME_PER_WORK.search(name)
        return (UNITS[match[1].lower()], f"its name ends in `{match[0]}`") if match else ("none", "")
    unit, reason = find_unit(words)
    if unit == "none" and _PERCENT.search(name):
        return "percent", "its name has `%`"
    return unit, reason


def _find_unit_of_parent(path: Sequence[str]) -> tuple[str, str]:
    """Return the unit of the object that has the number, such as `stages_ms`; `none` without one."""
    if len(path) < 2:
        return "none", ""
    unit, reason = find_unit(split_words(path[-2]))
    return unit, f"`{path[-2]}` has it: {reason}" if reason else ""


def is_rate(unit: str) -> bool:
    """Return whether a unit is so much in a time."""
    return unit.startswith(RATE) or unit in _RATES.values() or " / " in unit


def write_rate(unit: str, time: str) -> str:
    """Return the unit that is so much of a unit, or of pieces of work, in a time."""
    if time == "second":
        return _RATES.get(unit, RATE if unit == "none" else f"{RATE} {unit}")
    return f"{'dimensionless' if unit == 'none' else unit} / {time}"


def is_rate_per_time(words: Sequence[str]) -> bool:
    """Return whether a name is that of so much per unit of time, such as `docs_per_ms`, that is no time itself."""
    is_per = words[-2:-1] == ["per"] and UNITS.get(words[-1], words[-1]) in TIMES
    return is_per and len(words) > 2 and UNITS.get(words[-3]) not in TIMES


def find_unit(words: Sequence[str]) -> tuple[str, str]:
    """Return the unit that the words of a name suggest, and why; `none` without one."""
    if words and words[-1] in _RATE_WORDS:
        return RATE, f"its name ends in `{words[-1]}`"
    if "per" in words[1:-1]:
        measured = words[: words.index("per", 1)]
        if words[-2] != "per" or words[-1] not in _SECONDS:
            return "none", ""
        return write_rate(UNITS.get(measured[-1], "none"), "second"), f"its name ends in `per_{words[-1]}`"
    if not words:
        return "none", ""
    if words[-1] not in UNITS and words[0] in _LEADING_UNITS:
        return UNITS[words[0]], f"its name begins with `{words[0]}`"
    unit = UNITS.get(words[-1], "")
    if not unit or (words[-1] in {"s", "us", "kb", "mb", "gb"} and len(words) == 1):
        return "none", ""
    return unit, f"its name ends in `{words[-1]}`"
