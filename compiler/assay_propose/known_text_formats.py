"""Known formats of text lines, whose words do not say what they are."""

from __future__ import annotations

import re
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from assay.lang.line_pattern import parse_pattern

_MIN_SHARE = 0.9  # of the lines that match
_LARGE = 1000  # median of numbers that are too large for seconds
_MANY = 10  # lines that match among others
_MOST_BEFORE = 100  # lines before the first with the text of a placeholder
OFFSET = "OFFSET"  # placeholder of the offset from UTC that all lines have
PERCENT = "PERCENT"  # placeholder of the percentile that all lines have
_TEXTS = {OFFSET: re.compile(r" ([+-]\d{4})\]"), PERCENT: re.compile(r"[(,](\d{1,2})%\)")}  # of placeholders


@dataclass(frozen=True, slots=True)
class KnownTextFormat:
    """A format: the pattern of a whole line; places that are numbers; units of fields; names of lines of no interest.

    If lines have instants, they are at the place `at`, with so many `digits` unless these are 0. With `has_others`,
    lines of other formats stand around them. `whole_units` are units of places whose numbers are whole and large.
    """

    name: str
    event: str
    pattern: str
    time_form: str
    numbers: tuple[str, ...]
    units: Mapping[str, str] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()
    has_others: bool = False
    whole_units: Mapping[str, str] = field(default_factory=dict)
    digits: int = 0


@dataclass(frozen=True, slots=True)
class MatchedText:
    """Lines of a known format: the pattern with their offset, the zone, and the values of each line by its position.

    `others` are lines of other formats, if these are of no interest.
    """

    format: KnownTextFormat
    pattern: str
    zone: str
    rows: tuple[tuple[int, Mapping[str, str]], ...]
    others: tuple[str, ...] = ()

    @property
    def has_instants(self) -> bool:
        """Return whether lines have an instant."""
        return bool(self.format.time_form)


_MEMBER = re.compile(r'(?<![a-z_])(?P<key>[a-z][a-z_]*)=(?P<quote>"?)[^"\s=]*(?P=quote)(?=\s|$)')
_MEMBERS = re.compile(r'(?<=" )(?:[a-z][a-z_]*="?[^"\s=]*"?(?: |$))+$')  # behind the agent of a request
_TIMES_BEHIND = "{? {request_time}?}{? {upstream_time}?}"
_SYSBENCH_UNITS = {"threads": "none", "latency_pPERCENT": "millisecond", "response_time_pPERCENT": "millisecond"}
KNOWN_TEXT_FORMATS = (
    KnownTextFormat(
        "pgbench transactions", "transaction",
        "{client_id} {transaction_no} {latency} {script_no} {at} {time_us}{? {schedule_lag}?}",
        "s", ("client_id", "transaction_no", "latency", "script_no", "at", "time_us"),
        {"latency": "microsecond", "schedule_lag": "microsecond", "time_us": "none"},
    ),
    KnownTextFormat(
        "access log", "request",
        '{client} {ident} {user} [{at} OFFSET] "{method} {path} {protocol}" {status} {bytes}'
        '{? "{referer...}" "{agent...}"?}{? {request_time}?}{? {upstream_time}?}',
        "%d/%b/%Y:%H:%M:%S", ("status",), {"request_time": "second", "upstream_time": "second"},
        whole_units={"request_time": "microsecond"},  # `%D` of Apache
    ),
    KnownTextFormat(
        "h2load", "request", "{at} {status} {request_time}", "us", ("at", "status", "request_time"),
        {"request_time": "microsecond"}, digits=16,
    ),
    KnownTextFormat(
        "Gatling", "request", "REQUEST {name} {at} {ended} {outcome}{? {message...}?}", "ms", ("at", "ended"),
        ignored=("ASSERTION *", "GROUP *", "RUN *", "USER *"), has_others=True, digits=13,
    ),
    KnownTextFormat(
        "HAProxy", "request",
        "{...} [{at}] {frontend} {server} {request_ms}/{queue_ms}/{connect_ms}/{response_ms}/{total_ms} {status} "
        "{bytes} {...}",
        "%d/%b/%Y:%H:%M:%S.%g", ("status", "bytes"),
    ),
    KnownTextFormat(
        "HAProxy TCP", "session",
        "{...} [{at}] {frontend} {server} {queue_ms}/{connect_ms}/{total_ms} {bytes} {...}",
        "%d/%b/%Y:%H:%M:%S.%g", ("bytes",),
    ),
    KnownTextFormat(
        "sysbench 1", "interval",
        "[ {at}s ] thds: {threads} tps: {tps} qps: {qps} (r/w/o: {reads_per_s}/{writes_per_s}/{others_per_s}) "
        "lat (ms,PERCENT%): {latency_pPERCENT} err/s: {errors_per_s} reconn/s: {reconnects_per_s}",
        "s", ("threads",), _SYSBENCH_UNITS, has_others=True,
    ),
    KnownTextFormat(
        "sysbench 0.5", "interval",
        "[{? ?}{at}s] threads: {threads}, tps: {tps}, reads{?/s?}: {reads_per_s}, writes{?/s?}: {writes_per_s}, "
        "response time: {response_time_pPERCENT}ms (PERCENT%), errors: {errors_per_s}, "
        "reconnects: {reconnects_per_s}",
        "s", ("threads",), _SYSBENCH_UNITS, has_others=True,
    ),
)  # fmt: skip


def match_known_text(lines: Sequence[str]) -> MatchedText | None:
    """Return the format that nearly all lines have, or many lines among others; None if there is none."""
    filled = [line for line in lines if line.strip()]
    members = _find_members(filled)
    texts = {name: match[1] for name, expression in _TEXTS.items()
             if (match := next(filter(None, map(expression.search, filled[:_MOST_BEFORE])), None))}  # fmt: skip
    for general in KNOWN_TEXT_FORMATS:
        if any(name in general.pattern and name not in texts for name in _TEXTS):
            continue
        item = _fill_placeholders(_add_members(general, members), texts)
        parsed = parse_pattern(item.pattern)
        expression = re.compile(parsed.build_expression(parsed.places))
        rows, others = [], []
        for position, line in enumerate(lines):
            match = expression.match(line.rstrip())
            values = dict(zip(parsed.places, match.groups(), strict=True)) if match else {}
            if match and _has_numbers(item, values):
                rows.append((position, {name: value for name, value in values.items() if value is not None}))
            elif line.strip():
                others.append(line)
        if len(rows) >= (_MANY if item.has_others else _MIN_SHARE * len(filled)):
            offset = texts[OFFSET] if OFFSET in general.pattern else ""
            zone = f"{offset[:3]}:{offset[3:]}" if offset else "UTC" if "%" in item.time_form else ""
            item = replace(item, units=dict(item.units) | _list_whole_units(item, [values for _, values in rows]))
            return MatchedText(item, item.pattern, zone, tuple(rows), tuple(others) if item.has_others else ())
    return None


def _find_members(lines: Sequence[str]) -> tuple[re.Match[str], ...]:
    """Return the members with which the first line ends, such as `rt=0.012 urt="0.010"`, if all lines have them."""
    first = _MEMBERS.search(lines[0].rstrip()) if lines else None
    members = tuple(_MEMBER.finditer(first[0])) if first else ()
    if not members:
        return ()
    keys = [match["key"] for match in members]
    has_all = all([match["key"] for match in _MEMBER.finditer(line)][-len(keys) :] == keys for line in lines)
    return members if has_all and len({*keys}) == len(keys) else ()


def _add_members(item: KnownTextFormat, members: Sequence[re.Match[str]]) -> KnownTextFormat:
    """Return the format of access logs with members behind the agent in place of times without names."""
    base, times, _ = item.pattern.partition(_TIMES_BEHIND)
    if not (members and times):
        return item
    tail = " ".join(f"{match['key']}={match['quote']}{{{match['key']}}}{match['quote']}" for match in members)
    units = {match["key"]: "second" for match in members if match["key"].endswith(("time", "rt", "uct", "uht"))}
    return replace(item, pattern=f"{base} {tail}", units=units, whole_units={})


def _has_numbers(item: KnownTextFormat, values: Mapping[str, str]) -> bool:
    """Return whether a line has numbers where its format has them."""
    has_digits = not item.digits or len(values["at"]) == item.digits
    return has_digits and all(re.fullmatch(r"\d+", values[name]) for name in item.numbers)


def _list_whole_units(item: KnownTextFormat, rows: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Return the units of places whose numbers are whole and large."""
    columns = {name: [row[name] for row in rows if name in row] for name in item.whole_units}
    return {
        name: item.whole_units[name]
        for name, texts in columns.items()
        if texts and all(text.isdigit() for text in texts) and statistics.median(map(int, texts)) >= _LARGE
    }


def _fill_placeholders(item: KnownTextFormat, texts: Mapping[str, str]) -> KnownTextFormat:
    """Return a format with texts in place of its placeholders."""
    pattern, units = item.pattern, item.units
    for name, text in texts.items():
        pattern = pattern.replace(name, text)
        units = {field_name.replace(name, text): unit for field_name, unit in units.items()}
    return replace(item, pattern=pattern, units=units)
