"""Literals: texts of both forms, numbers, dates and times, and what an import names."""

from __future__ import annotations

import ipaddress
import math
import re
from typing import TYPE_CHECKING, Any

from assay.dhall.syntax import DateValue, IntegerValue, Lit, Node, Target, TextLit, TimeValue, ZoneValue

if TYPE_CHECKING:
    from assay.dhall.parser import Parser

MAX_DIGITS = 4_000
_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_PLAIN = re.compile(r'[^"\\$\x00-\x1f]+')
_ESCAPES = {'"': '"', "$": "$", "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_UNICODE = re.compile(r"\\u(?:([0-9A-Fa-f]{4})|\{([0-9A-Fa-f]+)\})")
_LINES = re.compile(
    r"(?:[^$'\r\x00-\x08\x0b\x0c\x0e-\x1f]+|\$(?!\{)|'(?!'))+|''\$\{|'''|''|\$\{|\r\n",
)
_LINE_ESCAPES = {"''${": "${", "'''": "''", "\r\n": "\n"}
_INDENT = re.compile(r"[ \t]*")
_MOMENT = re.compile(
    r"(?:(\d{4})-(\d\d)-(\d\d))?[Tt]?(?:(\d\d):(\d\d):(\d\d)(?:\.(\d+))?)?(?:([Zz])|([+-])(\d\d):(\d\d))?", re.A
)
_URL = re.compile(r"(https?)://([^/?]*)([^?]*)(?:\?(.*))?\Z")
_COMPONENT = re.compile(r'/(?:"([^"]*)"|([^/]*))')


def parse_quoted_text(parser: Parser, start: int) -> Node:
    """Parse a text in double quotes."""
    text, position = parser.text, parser.next
    parts: list[Any] = []
    pieces: list[str] = []
    while True:
        match = _PLAIN.match(text, position)
        if match:
            pieces.append(match.group())
            position = match.end()
        character = text[position : position + 1]
        if character == '"':
            break
        if character == "$" and text.startswith("${", position):
            parts.append("".join(pieces))
            pieces = []
            expression, position = parser.parse_interpolation(position + 2)
            parts.append(expression)
        elif character == "$":
            pieces.append("$")
            position += 1
        elif character == "\\":
            piece, position = _parse_escape(parser, position)
            pieces.append(piece)
        elif character == "\t":
            raise parser.fail("a tab in a text is written `\\t`", position, position + 1)
        else:
            raise parser.refuse_endless_text(start)
    parser.next = position + 1
    parser.advance()
    if not parts:
        return Lit(parser.file, start, parser.before, "".join(pieces))
    return TextLit(parser.file, start, parser.before, [*parts, "".join(pieces)])


def _parse_escape(parser: Parser, position: int) -> tuple[str, int]:
    letter = parser.text[position + 1 : position + 2]
    if letter in _ESCAPES:
        return _ESCAPES[letter], position + 2
    match = _UNICODE.match(parser.text, position)
    if match is None:
        expected = r"\" \$ \\ \/ \b \f \n \r \t \u1234 \u{1234}"
        raise parser.fail(
            f"`\\{letter}` is no escape", position, position + 2, expected, "a backslash itself is `\\\\`"
        )
    digits = (match[1] or match[2]).lstrip("0") or "0"
    code = int(digits, 16) if len(digits) <= 6 else 0x110000
    if code > 0x10FFFF or 0xD800 <= code < 0xE000 or code & 0xFFFE == 0xFFFE:
        raise parser.fail("the escape names no character", position, match.end(), "at most `\\u{10FFFF}`")
    return chr(code), match.end()


def parse_lines_text(parser: Parser, start: int) -> Node:
    """Parse a text of several lines; the indentation that all lines share is no part of it."""
    text, position = parser.text, parser.next
    parts: list[Any] = []
    pieces: list[str] = []
    while True:
        match = _LINES.match(text, position)
        if match is None:
            raise parser.refuse_endless_text(start)
        piece, position = match.group(), match.end()
        if piece == "''":
            break
        if piece == "${":
            parts.append("".join(pieces))
            pieces = []
            expression, position = parser.parse_interpolation(position)
            parts.append(expression)
        else:
            pieces.append(_LINE_ESCAPES.get(piece, piece))
    parts.append("".join(pieces))
    parser.next = position
    parser.advance()
    _remove_indentation(parts)
    if len(parts) == 1:
        return Lit(parser.file, start, parser.before, parts[0])
    return TextLit(parser.file, start, parser.before, parts)


def _remove_indentation(parts: list[Any]) -> None:
    """Take the common indentation off the lines of the string parts, in place."""
    lines = "".join(part if isinstance(part, str) else "\0" for part in parts).split("\n")
    indents = [_INDENT.match(line) for line in [line for line in lines[:-1] if line] + [lines[-1]]]
    width = len(_find_common_prefix([match.group() for match in indents if match]))
    if not width:
        return
    for index, part in enumerate(parts):
        if isinstance(part, str):
            first, *rest = part.split("\n")
            parts[index] = "\n".join([first[width:] if index == 0 else first, *(line[width:] for line in rest)])


def _find_common_prefix(indents: list[str]) -> str:
    least, greatest = min(indents), max(indents)
    width = next(
        (index for index, pair in enumerate(zip(least, greatest, strict=False)) if pair[0] != pair[1]), len(least)
    )
    return least[:width]


def parse_number(kind: str, token: str) -> Any:
    """Give the value of a number or of bytes; `ValueError` where there is none."""
    if kind == "bytes":
        return bytes.fromhex(token[3:-1])
    if kind == "Infinity" or kind == "NaN":
        return math.inf if kind == "Infinity" else math.nan
    if kind == "double":
        number = -math.inf if token == "-Infinity" else float(token)
        if math.isinf(number) and token != "-Infinity":
            raise ValueError(f"the number `{token[:40]}` is too large for a Double")
        return number
    if len(token) > MAX_DIGITS:
        raise ValueError(f"a number has more than {MAX_DIGITS} digits")
    if kind == "nat":
        return _parse_natural(token)
    return IntegerValue(-_parse_natural(token[1:]) if token[0] == "-" else _parse_natural(token[1:]))


def _parse_natural(token: str) -> int:
    return int(token, 0) if token[:2] in ("0x", "0b") else int(token)


def parse_temporal(token: str) -> Any:
    """Give the value of a date, a time or a zone, or a dictionary of those that are written together."""
    match = _MOMENT.fullmatch(token)
    if match is None:
        raise ValueError(f"`{token}` is no date or time")
    year, month, day, hour, minute, second, digits, utc, sign, zone_hour, zone_minute = match.groups()
    fields: dict[str, Any] = {}
    if year:
        fields["date"] = _make_date(int(year), int(month), int(day))
    if hour:
        if int(hour) > 23 or int(minute) > 59 or int(second) > 59:
            raise ValueError(f"`{hour}:{minute}:{second}` is no time of day")
        fields["time"] = TimeValue(int(hour), int(minute), int(second), digits or "")
    if utc:
        fields["timeZone"] = ZoneValue(False, 0)
    if sign:
        if int(zone_hour) > 23 or int(zone_minute) > 59:
            raise ValueError(f"`{sign}{zone_hour}:{zone_minute}` is no time zone")
        fields["timeZone"] = ZoneValue(sign == "-", int(zone_hour) * 60 + int(zone_minute))
    return fields if len(fields) > 1 else next(iter(fields.values()))


def _make_date(year: int, month: int, day: int) -> DateValue:
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    if not 1 <= month <= 12 or not 1 <= day <= (29 if month == 2 and leap else _DAYS[month - 1]):
        raise ValueError(f"`{year:04}-{month:02}-{day:02}` is no date")
    return DateValue(year, month, day)


def parse_import_target(kind: str, token: str) -> Target:
    """Take the token of an import apart; `ValueError` for a URL whose host is no address."""
    if kind == "missing":
        return Target("missing")
    if kind == "env":
        name = token[4:]
        return Target("env", _unescape_variable(name[1:-1]) if name.startswith('"') else name)
    if kind == "path":
        prefix = token[: token.index("/")]
        parts = tuple(quoted or plain for quoted, plain in _COMPONENT.findall(token[len(prefix) :]))
        return Target("path", prefix, parts)
    return _parse_url(token)


def _unescape_variable(name: str) -> str:
    codes = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
    return re.sub(r"\\(.)", lambda match: codes.get(match[1], match[1]), name)


def _parse_url(token: str) -> Target:
    match = _URL.match(token)
    assert match
    scheme, authority, path, query = match.groups()
    address = re.search(r"\[(.*)\]", authority)
    if address and address[1][0] not in "vV":
        ipaddress.IPv6Address(address[1])
    parts = tuple(path.split("/")[1:])
    return Target("url", f"{scheme}://{authority}", parts or ("",), query)
