"""Split messages into parts: words that lines may share, and what varies in them."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from assay.ingest.quantities import QUANTITIES
from assay.lang.record_units import DATA_RATE, SIZE, find_kind, has_prefix
from assay_propose.json_members import QUOTE, is_object, split_json
from assay_propose.names import NO_NAMES
from assay_propose.units import TIMES, UNITS
from assay_propose.varying_lists import LIST

#: a member with a quoted value of several words; one word that may be a member, a number, or text with digits
_TOKEN = re.compile(r"[(\[]?[\w.-]+=\"[^\"]*\"[)\],;.]*(?!\S)|\S+")
_TOKEN_OR_LIST = re.compile(rf"(?P<list>{LIST})(?P<end>[,;.]*)(?!\S)|{_TOKEN.pattern}")
_MEMBER = re.compile(
    r"(?P<start>[(\[]?)(?P<key>[A-Za-z_][\w.-]*(?:/(?:s|sec|second|min|ms|us|ns)(?==))?|\d+(?:\.\d+)?(?==))(?P<sign>[=:])"
    r"(?P<value>[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?[A-Za-z]*|[^\s=,;]+?)(?P<end>[)\],;.]*)"
)
_QUOTED_MEMBER = re.compile(r"(?P<start>[(\[]?)(?P<key>[\w.-]+)=\"(?P<value>[^\"]*)\"(?P<end>[)\],;.]*)")
_NUMBERED = re.compile(r"(?P<word>[A-Za-z][A-Za-z_./-]*)(?P<sign>[(#\[@])(?P<value>\d[\w.]*)(?P<end>[)\]]?[:,;.]?)")
_PUNCTUATED = re.compile(r"(?P<start>[(\[<'\"~≈±]*)(?P<value>.*?)(?P<end>[)\]>'\",;:.%]*)", re.DOTALL)
#: a number with its unit for each of something, such as `1.2s/it`
_RATED = re.compile(
    r"(?P<start>[(\[<]?)(?P<value>[+-]?\d+(?:\.\d+)?)(?P<unit>[A-Za-zµ]+)/(?P<thing>[A-Za-z]+)(?P<end>[)\]>,;.:]*)"
)
_LONG_SECONDS = {"s": "seconds", "sec": "seconds"}  # behind names such as `iter`, `s` would be `per second`
_VARYING = re.compile(r"\d|[{}]|^['\"(]?/\w")  # a text with digits, with braces, or a path
_METHOD = re.compile(r"(?P<start>[\"'(]*)(?P<value>GET|HEAD|POST|PUT|DELETE|PATCH|OPTIONS)")
_PATH = re.compile(r"(?P<value>(?:/|https?://)\S*?)(?P<end>[)\"',;]*)")
_PROTOCOL = re.compile(r"(?P<start>HTTP/)(?P<value>[\d.]+)(?P<end>[)\"',;]*)")
_ADDRESSES = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?(?:,\d{1,3}(?:\.\d{1,3}){3})*")
#: a number with `i`, as InfluxDB marks integers, or with a unit that has no hexadecimal form: `12i`, `7.1Gwei`, `3MB/s`
_SUFFIXED = re.compile(
    r"(?P<number>[+-]?\d[\d,.]*)(?P<unit>i|(?=[A-Za-z]*[g-zG-Z])[A-Za-z]{3,}|[A-Za-zµ]+/(?:s|sec|second|ms|us|ns|min))"
)
_BRACKETED = re.compile(r"(?P<number>[+-]?\d[\d.]*)(?P<rest>\((?P<unit>[A-Za-zµ]+(?:/[A-Za-z]+)?))")  # `812(msg/sec)`
_PIPED = re.compile(r"(?P<number>[+-]?\d[\d.]*)(?P<rest>\|(?P<unit>[A-Za-z]+)\S*)")  # as StatsD writes it
#: pairs between commas, perhaps behind a name: `request,host=web-1,path=/ duration=2.5,size=12i`
_PAIRS = re.compile(r"(?:[\w.-]+,)?[A-Za-z_][\w.-]*=[^,=\s]+(?:,[A-Za-z_][\w.-]*=[^,=\s]+)*")
#: perhaps before empty ones, as Monolog writes them
_MIN_CELLS = 3  # commas in the first word of a message that is a row without a header
_JSON_TAIL = re.compile(r'(?:^|\s)(?P<json>\{\s*".*\})(?P<rest>(?: \[\]| \{\})*)$')
_LONGEST_TAIL = 4000
#: what a program writes in place of a number
NO_NUMBER = re.compile(r"[+-]?(?:nan|inf|infinity)|null|none|n/a", re.IGNORECASE)
_SLASHED = r"[+-]?\d+(?:\.\d+)?(?:(?:[A-Za-z]{0,2}/|\+|->)\d+(?:\.\d+)?)+"
_SEPARATOR = re.compile(r"([A-Za-z]{0,2}/|(?<=\d)\+|->)")
#: numbers between slashes, plus signs or arrows, perhaps behind as many names: `min/avg/max=1.2/3.4/5.6`
_SLASHED_NUMBERS = re.compile(
    rf"(?P<start>[(\[]?)(?P<names>[A-Za-z][\w.%-]*(?:/[A-Za-z][\w.%-]*)+[=:])?(?P<values>{_SLASHED})(?P<unit>[A-Za-z]*)(?P<end>[)\],;.:]*)"
)
_SLASHED_NAMES = re.compile(r"[A-Za-z][\w.%-]*(?:/[A-Za-z][\w.%-]*)+")
#: a name with digits, as a device has it, before its number: `GR3D_FREQ 33%`
_DIGITS_IN_NAME = re.compile(r"[A-Za-z]+\d{1,2}[A-Za-z]*(?:_[A-Za-z]+)+")
_DATE = re.compile(r"\d{4}/\d\d?/\d\d?|\d\d?/\d\d?/\d{4}")
_MAX_BETWEEN = 2  # words between such names and their numbers: `min/max = 1/2`
NUMBER = re.compile(r"[+-]?(?:\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?")
MOST_WORDS = 200  # of a line, of which each is compared with all others; the rest is any text
VALUE = "\0"  # marks what varies in the shape of a line


@dataclass(frozen=True, slots=True)
class Part:
    """A token: the literal text, a suggested name, the varying text (empty if nothing varies), the text behind it.

    A phrase may have several words, though its value here may have one.
    """

    prefix: str
    name: str = ""
    value: str = ""
    suffix: str = ""
    is_phrase: bool = False
    is_glued: bool = False  # the next part follows without a blank

    @property
    def shape(self) -> str:
        """Return what all tokens of this kind have in common."""
        return f"{self.prefix}{VALUE}{self.suffix}" if self.value else self.prefix


def cut_parts(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """Return the first parts of a message, and a place for any text behind them."""
    return parts if len(parts) <= MOST_WORDS else (*parts[:MOST_WORDS], Part("{...}"))


def mask_message(message: str, context: re.Match[str] | None, has_lists: bool = False) -> tuple[Part, ...]:
    """Return the parts of a message: its words, those of a request by their place, a context or a list as one."""
    if context:
        group = Part("[", "context", context[1][1:-1], "]", is_phrase=True)
        words = mask_message(message[context.end() :], None, has_lists)
        return (_mask(message[: context.start(1)].strip()), group, *words)
    if len(message) <= _LONGEST_TAIL and (tail := _JSON_TAIL.search(message)) and is_object(tail["json"]):
        head = mask_message(message[: tail.start("json")], None) if message[: tail.start("json")].strip() else ()
        return (*head, *_mask_object(tail["json"] + tail["rest"]))
    if message.startswith(QUOTE) and len(message) <= _LONGEST_TAIL and is_object(f"{{{message}"):  # behind an instant
        first, *rest = _mask_object(f"{{{message}")
        return (replace(first, prefix=first.prefix.removeprefix(_escape("{"))), *rest)
    matches = list((_TOKEN_OR_LIST if has_lists else _TOKEN).finditer(message))
    tokens = [match[0] for match in matches]
    parts = [_mask(token) for token in tokens]
    for index, item in enumerate(matches if has_lists else ()):
        if item["list"]:
            parts[index] = Part("", "", item["list"], item["end"], is_phrase=True)
    for index, token in enumerate(tokens[:-1]):
        method, path = _METHOD.fullmatch(token), _PATH.fullmatch(tokens[index + 1])
        if method and path:
            parts[index] = Part(method["start"], "method", method["value"])
            parts[index + 1] = Part("", "path", path["value"], path["end"])
            protocol = _PROTOCOL.fullmatch(tokens[index + 2]) if index + 2 < len(tokens) else None
            if protocol:
                parts[index + 2] = Part(protocol["start"], "protocol", protocol["value"], protocol["end"])
    split: list[list[Part]] = [[part] for part in parts]
    for index, token in enumerate(tokens):
        if index + 1 < len(tokens) and tokens[index + 1][0].isdigit() and _DIGITS_IN_NAME.fullmatch(token):
            split[index] = [Part(token)]
        if ("," in token and _PAIRS.fullmatch(token)) or (index == 0 and token.count(",") >= _MIN_CELLS):
            *pairs, last = token.split(",")
            split[index] = [*(_glue(_mask(pair)) for pair in pairs), _mask(last)]
    for index, token in enumerate(tokens):
        match = _SLASHED_NUMBERS.fullmatch(token)
        if match and not _DATE.fullmatch(match["values"]):
            place = _find_slashed_names(tokens, index)
            split[place] = [Part(tokens[place])]  # names may have digits
            split[index] = _split_slashed(tokens, index, place, match)
    return tuple(itertools.chain.from_iterable(split))


def _glue(part: Part) -> Part:
    """Return a part that a comma joins with the next one."""
    if part.value:
        return replace(part, suffix=f"{part.suffix},", is_glued=True)
    return replace(part, prefix=f"{part.prefix},", is_glued=True)


def _mask_object(text: str) -> list[Part]:
    """Return a part for each member of an object of JSON with which a message ends."""
    members, tail = split_json(text)
    parts = []
    for member in members:
        quote = QUOTE * member.has_quotes
        start = f"{_escape(member.before)}{quote}"
        parts.append(Part(start, member.path[-1], member.value, quote, is_phrase=member.has_quotes, is_glued=True)
                     if member.value else Part(f"{start}{quote}", is_glued=True))  # fmt: skip
    return [*parts, Part(_escape(tail))]


def _escape(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _find_slashed_names(tokens: Sequence[str], index: int) -> int:
    """Return the place of the names of the numbers of a token; its own without any."""
    for place in range(index - 1, max(index - 2 - _MAX_BETWEEN, -1), -1):
        if _SLASHED_NAMES.fullmatch(tokens[place].strip("()[]=:,")):
            return place
    return index


def _split_slashed(tokens: Sequence[str], index: int, place: int, match: re.Match[str]) -> list[Part]:
    """Return a part for each of the numbers between slashes of a token; `place` is that of their names."""
    values, signs = (
        _SEPARATOR.split(match["values"])[::2],
        [*_SEPARATOR.split(match["values"])[1::2], match["unit"] + match["end"]],
    )
    names = (match["names"] or tokens[place]).strip("()[]=:,").split("/")
    if len(names) != len(values) or not (match["names"] or place < index):
        is_measured = match["unit"].lower() in UNITS and index > 0 and tokens[index - 1].isalpha()
        numbers = ["", *(str(number) for number in range(2, len(values) + 1))]
        names = [f"{tokens[index - 1]} {number} {match['unit']}" if is_measured else "" for number in numbers]
    elif place > 0 and (noun := tokens[place - 1].strip("()[]:,")).isalpha() and noun.lower() not in NO_NAMES:
        names = [f"{noun} {name}" for name in names]
    first = match["start"] + (match["names"] or "")
    return [
        Part(first if number == 0 else "", name, value, sign, is_glued=number < len(values) - 1)
        for number, (name, value, sign) in enumerate(zip(names, values, signs, strict=True))
    ]  # fmt: skip


def _may_vary(unit: str) -> bool:
    """Return whether a unit is a rate whose prefix may vary from line to line: `kB/s`, `MB/s`, `Ggas/s`."""
    return find_kind(unit)[0] == DATA_RATE or has_prefix(unit)


def _name_rated(unit: str, thing: str) -> str:
    """Return the name of a number with a unit for each of something: `1.2s/it` is a duration, `12.5it/s` a rate."""
    return f"{thing} duration {_LONG_SECONDS.get(unit, unit)}" if UNITS.get(unit) in TIMES else f"{unit} per {thing}"


def _mask(token: str) -> Part:
    """Return the parts of a token."""
    if match := _QUOTED_MEMBER.fullmatch(token):
        start = f'{match["start"]}{match["key"]}="'
        return Part(start, match["key"], match["value"], f'"{match["end"]}') if match["value"] else Part(token)
    match = _MEMBER.fullmatch(token)
    if match and not match["value"].startswith("/") and (match["sign"] == "=" or _VARYING.search(match["value"])):
        return _split_suffix(
            Part(match["start"] + match["key"] + match["sign"], match["key"], match["value"], match["end"])
        )
    if match := _NUMBERED.fullmatch(token):
        is_process = match["sign"] == "[" and match["end"] == "]:"  # as syslog writes it
        name = f"{match['word']} pid" if is_process else match["word"]
        return Part(match["word"] + match["sign"], name, match["value"], match["end"])
    match = _RATED.fullmatch(token)
    if match and not _may_vary(f"{match['unit']}/{match['thing']}"):
        return Part(match["start"], _name_rated(match["unit"], match["thing"]), match["value"],
                     f"{match['unit']}/{match['thing']}{match['end']}")  # fmt: skip
    match = _PUNCTUATED.fullmatch(token)
    if match and match["value"] and _VARYING.search(token):
        name = "address" if _ADDRESSES.fullmatch(match["value"]) else ""
        value, end = match["value"], match["end"]
        if end.startswith("%") and NUMBER.fullmatch(value):
            value, end = f"{value}%", end[1:]
        return _split_suffix(Part(match["start"], name, value, end))
    return Part(token)


def _split_suffix(part: Part) -> Part:
    """Return a number without the mark or unit behind it, which has a rate in its name."""
    if match := _PIPED.fullmatch(part.value) or _BRACKETED.fullmatch(part.value):
        name = f"{part.name} {match['unit']}" if match["unit"] in UNITS or "/" in match["unit"] else part.name
        return replace(part, name=name, value=match["number"], suffix=match["rest"] + part.suffix)
    match = _SUFFIXED.fullmatch(part.value)
    if (
        not match
        or _may_vary(match["unit"])
        or find_kind(match["unit"])[0] == SIZE
        or any(QUANTITIES[kind].is_valid(part.value) for kind in ("duration", "size", "binarySize"))
    ):
        return part
    name = f"{part.name} {match['unit']}" if "/" in match["unit"] else part.name
    return replace(part, name=name.strip(), value=match["number"], suffix=match["unit"] + part.suffix)


def mask_no_numbers(rows: Sequence[tuple[Part, ...]]) -> list[tuple[Part, ...]]:
    """Return the parts of messages with words such as `nan` as values where lines that are alike have values."""
    shapes = {tuple(part.shape for part in row) for row in rows}
    masked = [tuple(map(_mask_no_number, row)) for row in rows]
    return [new if tuple(part.shape for part in new) in shapes else row for row, new in zip(rows, masked, strict=True)]


def _mask_no_number(part: Part) -> Part:
    if part.value:
        return part
    match = _MEMBER.fullmatch(part.prefix)
    if match and NO_NUMBER.fullmatch(match["value"]):
        return Part(match["start"] + match["key"] + match["sign"], match["key"], match["value"], match["end"])
    split = split_varying(part)
    return split if NO_NUMBER.fullmatch(split.value) else part


def split_varying(part: Part, name: str = "") -> Part:
    """Return a word as a value between its punctuation."""
    match = _PUNCTUATED.fullmatch(part.prefix)
    return Part(match["start"], name, match["value"], match["end"]) if match and match["value"] else part
