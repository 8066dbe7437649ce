"""Known formats of text lines, whose words do not say what they are."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from assay.lang.line_pattern import parse_pattern

_MIN_SHARE = 0.9  # of the lines that match
OFFSET = "OFFSET"  # placeholder of the offset from UTC that all lines have
_OFFSETS = re.compile(r" ([+-]\d\d)(\d\d)\]")


@dataclass(frozen=True, slots=True)
class KnownTextFormat:
    """A format: the pattern of a whole line; places that are numbers; units of fields; names of lines of no interest.

    If lines have instants, they are at the place `at`.
    """

    name: str
    event: str
    pattern: str
    time_form: str
    numbers: tuple[str, ...]
    units: Mapping[str, str] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()


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
        '{? "{referer...}" "{agent...}"?}{? {request_time}?}',
        "%d/%b/%Y:%H:%M:%S", ("status",), {"request_time": "second"},
    ),
)  # fmt: skip


def match_known_text(lines: Sequence[str]) -> MatchedText | None:
    """Return the format that nearly all lines have; None if there is none."""
    count = sum(bool(line.strip()) for line in lines)
    offset = next((match for line in lines[:10] if (match := _OFFSETS.search(line))), None)
    for item in KNOWN_TEXT_FORMATS:
        if OFFSET in item.pattern and not offset:
            continue
        pattern = item.pattern.replace(OFFSET, f"{offset[1]}{offset[2]}" if offset else "")
        parsed = parse_pattern(pattern)
        expression = re.compile(parsed.build_expression(parsed.places))
        rows = []
        for position, line in enumerate(lines):
            match = expression.match(line.rstrip())
            values = dict(zip(parsed.places, match.groups(), strict=True)) if match else {}
            if match and all(re.fullmatch(r"\d+", values[name]) for name in item.numbers):
                rows.append((position, {name: value for name, value in values.items() if value is not None}))
        if len(rows) >= _MIN_SHARE * count:
            zone = f"{offset[1]}:{offset[2]}" if offset and OFFSET in item.pattern else ""
            return MatchedText(item, pattern, zone, tuple(rows))
    return None
