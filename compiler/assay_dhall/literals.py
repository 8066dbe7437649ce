"""Parse literals: numbers, texts of one and of several lines, bytes, dates and times, and targets of imports."""

from __future__ import annotations

import datetime
import math
import re

from assay_dhall.lexer import Lexer
from assay_dhall.syntax import Literal, Node, RecordLiteral, Target, TextLiteral
from assay_dhall.values import VInteger, VTemporal

MAX_DIGITS = 2_400

_PLAIN = re.compile(r'[^"\\$\x00-\x1f]+')
_ESCAPES = {'"': '"', "$": "$", "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_UNICODE = re.compile(r"\\u(?:([0-9A-Fa-f]{4})|\{0*([0-9A-Fa-f]{1,6})\})")
_LINES = re.compile(r"(?:[^$'\r]|\$(?!\{)|'(?!'))+|''\$\{|'''|''|\$\{|\r\n|\r")
_LINES_ESCAPES = {"''${": "${", "'''": "''", "\r\n": "\n"}
_INDENT = re.compile(r"[ \t]*")
_TEMPORAL = re.compile(
    r"(?:(\d{4})-(\d\d)-(\d\d))?[Tt]?(?:(\d\d):(\d\d):(\d\d)(?:\.(\d+))?)?(?:([Zz])|([+-])(\d\d):(\d\d))?"
)
_PARTS = re.compile(r'"[^"]*"|[^/]+')
_URL = re.compile(r"(https?)://([^/?]*)([^?]*)(?:\?(.*))?", re.S)
_ENV_ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", '"': '"', "\\": "\\"}


class LiteralLexer(Lexer):
    """A lexer that also reads literals as a whole."""

    def read_expression(self) -> Node:
        """Read an expression, for interpolations; `Parser` implements it."""
        raise NotImplementedError

    def read_number(self) -> Node:
        """Read a Natural, Integer or Double."""
        start, kind, token = self.start, self.kind, self.token
        value: object
        if kind == "nat":
            value = self.to_natural(token)
        elif kind == "int":
            number = self.to_natural(token[1:])
            value = VInteger(-number if token[0] == "-" else number)
        else:
            value = self._to_double(token)
        self.advance()
        return Literal(self.source, start, self.previous_end, value)

    def to_natural(self, token: str) -> int:
        """Return the number of a token in base 10, 16 or 2."""
        if len(token) > MAX_DIGITS:
            self.fail(f"the number has more than {MAX_DIGITS:,} digits")
        return int(token, 0) if token[:2] in ("0x", "0b") else int(token)

    def _to_double(self, token: str) -> float:
        if token == "-Infinity":
            return -math.inf
        number = float(token)
        if math.isinf(number):
            self.fail("the number is too large for a Double", hint="the largest Double is about 1.8e308")
        return number

    def read_bytes(self) -> Node:
        """Read `0x"..."`."""
        start, token = self.start, self.token
        self.advance()
        return Literal(self.source, start, self.previous_end, bytes.fromhex(token[3:-1]))

    def read_temporal(self) -> Node:
        """Read a date, a time, a time zone, or a record of several of them."""
        start, match = self.start, _TEMPORAL.fullmatch(self.token)
        if match is None:
            self.refuse("a date or time")
        year, month, day, hour, minute, second, fraction, zulu, sign, zone_hour, zone_minute = match.groups()
        values: dict[str, VTemporal] = {}
        if year:
            values["date"] = self._create_date(int(year), int(month), int(day))
        if hour:
            values["time"] = self._create_time(int(hour), int(minute), second, fraction or "")
        if zulu or sign:
            values["timeZone"] = self._create_time_zone(sign or "+", int(zone_hour or 0), int(zone_minute or 0))
        end = self.position
        self.advance()
        nodes: dict[str, Node] = {name: Literal(self.source, start, end, value) for name, value in values.items()}
        return next(iter(nodes.values())) if len(nodes) == 1 else RecordLiteral(self.source, start, end, nodes)

    def _create_date(self, year: int, month: int, day: int) -> VTemporal:
        try:
            # The standard has a year 0, Python does not; it is a leap year, like 2000.
            datetime.date(year or 2000, month, day)
        except ValueError:
            self.fail(f"there is no day {year:04}-{month:02}-{day:02}")
        return VTemporal("Date", (year, month, day))

    def _create_time(self, hour: int, minute: int, second: str, fraction: str) -> VTemporal:
        if hour > 23 or minute > 59 or int(second) > 59:
            self.fail(f"there is no time of day {hour:02}:{minute:02}:{second}")
        if len(fraction) > MAX_DIGITS:
            self.fail(f"the number has more than {MAX_DIGITS:,} digits")
        return VTemporal("Time", (hour, minute, int(second + fraction), len(fraction)))

    def _create_time_zone(self, sign: str, hour: int, minute: int) -> VTemporal:
        if hour > 23 or minute > 59:
            self.fail(f"there is no time zone {sign}{hour:02}:{minute:02}")
        return VTemporal("TimeZone", (1 if sign == "+" else 0, hour, minute))

    def read_text(self) -> Node:
        """Read a text of one line."""
        text, position, start = self.text, self.position, self.start
        parts: list[str | Node] = []
        piece: list[str] = []
        while True:
            plain = _PLAIN.match(text, position)
            if plain is not None:
                piece.append(plain.group())
                position = plain.end()
            character = text[position : position + 1]
            if character == '"':
                break
            if character == "\\":
                value, position = self._read_escape(position)
                piece.append(value)
            elif text.startswith("${", position):
                parts.append("".join(piece))
                piece = []
                node, position = self._read_interpolation(position)
                parts.append(node)
            elif character == "$":
                piece.append("$")
                position += 1
            else:
                self._refuse_text(start, position)
        self.position = position + 1
        self.advance()
        if not parts:
            return Literal(self.source, start, self.previous_end, "".join(piece))
        parts.append("".join(piece))
        return TextLiteral(self.source, start, self.previous_end, parts)

    def _refuse_text(self, start: int, position: int) -> None:
        if self.text[position : position + 1] == "\t":
            self.fail("a tab in a text is written `\\t`", position)
        hint = "a text begins and ends with `\"` on one line; write a text of several lines between `''`"
        self.fail("the text that begins here does not end", start, start + 1, hint=hint)

    def _read_escape(self, position: int) -> tuple[str, int]:
        letter = self.text[position + 1 : position + 2]
        if letter and letter in _ESCAPES:
            return _ESCAPES[letter], position + 2
        match = _UNICODE.match(self.text, position)
        if match is None:
            self.fail(
                f"there is no escape `\\{letter}`",
                position,
                position + 2,
                expected=r"one of \" \$ \\ \/ \b \f \n \r \t \u1234 \u{1234}",
                hint="a backslash itself is written `\\\\`",
            )
        code = int(match[1] or match[2], 16)
        if code > 0x10FFFF or 0xD800 <= code < 0xE000 or code & 0xFFFE == 0xFFFE or 0xFDD0 <= code < 0xFDF0:
            self.fail("the escape names no character", position, match.end(), expected=r"at most `\u{10FFFD}`")
        return chr(code), match.end()

    def _read_interpolation(self, position: int) -> tuple[Node, int]:
        """Read the expression after `${`; return it and where its `}` ends."""
        self.open_bracket("${", position)
        self.position = position + 2
        self.advance()
        node = self.read_expression()
        if self.kind != "}":
            self.refuse("`}`")
        self.brackets.pop()
        return node, self.position

    def read_lines(self) -> Node:
        """Read a text of several lines, without the indentation that all lines share."""
        text, position, start = self.text, self.position, self.start
        parts: list[str | Node] = [""]
        while True:
            match = _LINES.match(text, position)
            if match is None:
                hint = "a text of several lines ends with `''`"
                self.fail("the text that begins here does not end", start, start + 2, hint=hint)
            piece, position = match.group(), match.end()
            if piece == "''":
                break
            if piece == "${":
                node, position = self._read_interpolation(position - 2)
                parts += [node, ""]
            else:
                parts[-1] = str(parts[-1]) + _LINES_ESCAPES.get(piece, piece)
        self.position = position
        self.advance()
        parts = _remove_indent(parts)
        if len(parts) == 1:
            return Literal(self.source, start, self.previous_end, parts[0])
        return TextLiteral(self.source, start, self.previous_end, parts)


def _remove_indent(parts: list[str | Node]) -> list[str | Node]:
    """Remove the indentation that all lines but blank ones share; the last line always counts."""
    lines = "".join(part if isinstance(part, str) else "\0" for part in parts).split("\n")
    indents = [_get_indent(line) for line in lines[:-1] if line] + [_get_indent(lines[-1])]
    width = _compute_common_length(indents)
    if width == 0:
        return parts
    cut: list[str | Node] = []
    for number, part in enumerate(parts):
        if not isinstance(part, str):
            cut.append(part)
            continue
        first, *rest = part.split("\n")
        cut.append("\n".join([first[width:] if number == 0 else first, *(line[width:] for line in rest)]))
    return cut


def _get_indent(line: str) -> str:
    match = _INDENT.match(line)
    return match.group() if match else ""


def _compute_common_length(indents: list[str]) -> int:
    low, high = min(indents), max(indents)
    for number, character in enumerate(low):
        if character != high[number]:
            return number
    return len(low)


def parse_target(kind: str, token: str) -> Target:
    """Return the target of an import token."""
    if kind == "missing":
        return Target("missing")
    if kind == "env":
        name = token[4:]
        if name.startswith('"'):
            name = re.sub(r"\\(.)", lambda match: _ENV_ESCAPES[match[1]], name[1:-1])
        return Target("env", (name,))
    if kind == "url":
        return _parse_url(token)
    parts = [part[1:-1] if part.startswith('"') else part for part in _PARTS.findall(token)]
    prefixes = {"/": "absolute", "~": "home"}
    if token.startswith(".."):
        return Target("parent", tuple(parts[1:]))
    if token[0] in prefixes:
        return Target(prefixes[token[0]], tuple(parts if token[0] == "/" else parts[1:]))
    return Target("here", tuple(parts[1:]))


def _parse_url(token: str) -> Target:
    match = _URL.fullmatch(token)
    assert match is not None
    scheme, authority, path, query = match.groups()
    segments = path[1:].split("/") if path else [""]
    return Target(scheme, (authority, *segments), query)
