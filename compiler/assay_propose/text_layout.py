"""Find what all lines of a text log begin with: an instant, a level, groups in brackets, the number of a process."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from assay_propose.instants import (
    CLOCKS,
    ELAPSED,
    NO_YEAR,
    STAMPS,
    build_ambiguous_day_error,
    find_other_day,
    find_time_form,
)
from assay_propose.units import UNITS

LEVEL, MESSAGE, TAGS = "level", "message", "tags"
#: names of the places of an instant, by the number of its words
TIMES = {1: ("at",), 2: ("date", "clock"), 3: ("date", "clock", "offset"), 4: ("day", "month", "year", "clock"),
         5: ("weekday", "month", "day", "clock", "year")}  # fmt: skip
TIMES_OF_12_HOURS = {3: ("date", "clock", "half"), 5: ("month", "day", "year", "clock", "half")}
TIMES_WITHOUT_YEAR = {1: ("at",), 2: ("date", "clock"), 3: ("month", "day", "clock")}
LEVELS = (
    r"(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|SEVERE|CRITICAL|CRIT|PANIC"
    r"|LOG|DETAIL|HINT|CONTEXT|STATEMENT)"  # PostgreSQL
)
_IS_LEVEL = re.compile(LEVELS, re.IGNORECASE)
#: what may follow a stamp, and a level with its brackets
_AFTER = r"(?P<after>(?: (?:[+-]\d\d:?\d\d|UTC|GMT))?(?:s(?: (?=\]))?)?[\])>]?[:,;]?(?: ?\|)?)"
_LEVEL_WORD = re.compile(rf"\s+(?P<open>(?:- )?[\[(<]?)(?P<level>{LEVELS})(?P<close>[\])>]?:?)(?=\s)", re.IGNORECASE)
_GROUP = re.compile(r"\s*\[((?!\")[^\]]+)\]")
_CELL = re.compile(r"([^|]+)\|")  # in lines whose stamp ends with a bar
_BAR = "|"
_MAX_GROUPS = 3
_MAX_BEFORE = 80  # characters before a stamp
_MIN_SHARE = 0.5  # of the lines that have the stamp, unless many that are alike but for their numbers have it
_MANY = 10
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
#: a level before a stamp, without a blank between them, as glog writes it
_LETTER = "[IWEFDV](?=\\d{4}(?:\\d\\d)? )"
#: a level before a stamp in brackets, of which short ones have a blank behind them: `I[`, `INFO [`, `DEBUG[`
_LEVEL_BEFORE = re.compile(rf"(?P<level>[IWEFDV]|{LEVELS})(?P<blank> ?)(?P<open>[\[(<])")
_PROCESS = re.compile(r"\[?(?:pid )?\d+\]? ")  # may precede a time of day, as `strace` writes it
_PADDING = re.compile(r"(?<=[\[(<]) $")  # of a short stamp
_LEVEL_SHARE = 0.9  # of the lines that have a level, or a number, at the same place
#: the number of a process or an address; a number with a fraction or a unit is rather a value
_LEADING_NUMBER = re.compile(
    rf"\s+[(<#]?\d+(?:(?:[.:]\w+){{2,}})?[)>]?[:,]?(?=\s+\S)(?!\s+(?:{'|'.join(UNITS)})\b)", re.IGNORECASE
)
_MAX_LEADING = 3
_FIRST_EPOCH, _MOST_BACK = 10**9, 0.2  # seconds since 1970 are more; share of lines whose instants go back
_LEAST_DISTINCT = 0.1  # share of the numbers of lines that are no names of processes
_COUNTER = re.compile(r"\s+([0-9a-f]{4,16})(?=\s+\S)")  # a hexadecimal number with which each line begins


@dataclass(frozen=True, slots=True)
class TextLine:
    """A line with its parts: its position, its instant, its level, its message."""

    position: int
    at: str
    level: str
    message: str


@dataclass(frozen=True, slots=True)
class TextLayout:
    """What lines begin with: the pattern of a source, with its places of the instant; empty without instants."""

    line: str
    time: tuple[str, ...]
    time_form: str
    zone: str
    stamp: str  # an example
    lines: tuple[TextLine, ...]

    @property
    def captures(self) -> tuple[str, ...]:
        """Return the names of the captures of the line."""
        return tuple(re.findall(r"\{(\w+)", self.line))


@dataclass(frozen=True, slots=True)
class _Head:
    """The head of a line: its tokens before the stamp, the stamp, what follows, the rest."""

    position: int
    before: str
    at: str
    after: str
    rest: str


def find_text_layout(lines: Sequence[str]) -> TextLayout | None:
    """Return the layout of lines; None if too few of them have an instant."""
    stamps = [(*stamp, False) for stamp in STAMPS] + [(*stamp, True) for stamp in (*CLOCKS, *ELAPSED)]
    by_stamp = [item for stamp in stamps if not _are_durations(*(item := _find_heads(lines, *stamp)))]
    heads, form = max(by_stamp, key=lambda item: len(item[0]))
    if not heads:
        return None
    other = find_other_day(form)
    if other and any(form_there == other[1] and len(others) == len(heads) for others, form_there in by_stamp):
        likelier = find_time_form(("at",), [head.at for head in heads])
        if not likelier:
            raise build_ambiguous_day_error("the log", (form, other[1]), heads[0].at)
        form = likelier.form
    shape = Counter(map(_find_shape, heads)).most_common(1)[0][0]
    heads = [head for head in heads if _find_shape(head) == shape]
    if not any(head.rest.strip() for head in heads):  # at the end of lines, or on lines of their own
        return _build_trailing_layout(lines, heads, form)
    has_most = len(heads) >= _MIN_SHARE * sum(bool(line.strip()) for line in lines)
    texts = Counter(_NUMBER.sub("", head.rest) for head in heads)
    return _build_layout(heads, form) if has_most or max(texts.values()) >= _MANY else None


def _are_durations(heads: Sequence[_Head], form: str) -> bool:
    """Return whether seconds since a start go back too often to be instants."""
    if form != "s" or not heads:
        return False
    seconds = [float(head.at) for head in heads]
    back = sum(second < first for first, second in itertools.pairwise(seconds))
    return max(seconds) < _FIRST_EPOCH and back > _MOST_BACK * len(seconds)


def _find_shape(head: _Head) -> tuple[int, str, int, str]:
    """Return what lines of one layout agree in: words before the stamp, what touches it, its words, what follows."""
    words = re.sub("^[IWEFDV]$", "I", _PADDING.sub("", head.before)).split(" ")
    if match := _LEVEL_BEFORE.fullmatch(head.before):
        words = [match["open"]]
    return len(words), words[-1], len(head.at.split()), head.after


def _find_heads(lines: Sequence[str], expression: str, form: str, is_first: bool) -> tuple[list[_Head], str]:
    pattern = re.compile(
        rf"^(?P<before>(?:{_LETTER}|[\[(<]|\S.{{0,{_MAX_BEFORE}}}?[ \[(<])??)"
        rf"(?P<at>{expression}){_AFTER}(?:(?=[\s\[]|$)|(?<=\|))"
    )
    heads = []
    for position, line in enumerate(lines):
        match = pattern.match(line)
        before = re.sub(r"[ \t]+", " ", match["before"]) if match else ""
        if match and not (is_first and len(before.rstrip()) > 1 and not _PROCESS.fullmatch(before)):
            heads.append(_Head(position, before, match["at"], match["after"], line[match.end() :]))
    return heads, form


def _build_layout(heads: Sequence[_Head], form: str) -> TextLayout:
    first = heads[0]
    before, has_level = _describe_before([head.before for head in heads])
    offset = re.match(r" ([+-]\d\d):?(\d\d)", first.after)
    zone = "" if _has_zone(heads, form) else f"{offset[1]}:{offset[2]}" if offset else "UTC"
    has_bars = first.after.endswith(_BAR)
    group = _CELL if has_bars else _GROUP
    group_lists = [_split_head(head.rest, group) for head in heads]
    group_count = min(*map(len, group_lists), _MAX_GROUPS)
    rests = [(groups[:group_count], _cut_groups(head.rest, group_count, group))
             for head, groups in zip(heads, group_lists, strict=True)]  # fmt: skip
    names = _name_groups([groups for groups, _ in rests], has_level)
    messages = [rest for _, rest in rests]
    colon = ":" * (group_count > 0 and all(text.startswith(": ") for text in messages))  # `[main/WARN]: text`
    messages = [text.removeprefix(colon) for text in messages]
    has_level = has_level or LEVEL in names
    is_leveled = has_level or any(_LEVEL_WORD.search(text) for text in messages)
    before_level, texts = _cut_leading_numbers(messages, is_leveled)
    wrap = None if has_level else _find_level_wrap(texts)
    levels, texts = zip(*(_cut_level(text, wrap) for text in texts), strict=True)
    behind_level, texts = _cut_leading_numbers(texts, is_leveled)
    text_lines = [
        TextLine(
            head.position, head.at, level or dict(zip(names, groups, strict=True)).get(LEVEL, "").strip(), text.strip()
        )
        for head, (groups, _), level, text in zip(heads, rests, levels, texts, strict=True)
    ]
    text_lines = [line for line in text_lines if line.message]
    times = (TIMES_WITHOUT_YEAR if form.startswith(NO_YEAR) else TIMES_OF_12_HOURS if "%p" in form else TIMES)[
        len(first.at.split())
    ]
    place = " ".join(f"{{{name}}}" for name in times)
    if has_bars:
        groups_text = "".join(f"{{{name}...}}|" for name in names)
    else:
        gaps = _find_gaps([head.rest for head in heads], group_count)
        groups_text = "".join(f"{gap}[{{{name}...}}]" for gap, name in zip(gaps, names, strict=True))
    head_text = f"{before}{place}{first.after}{groups_text}{colon}"
    level_text = f" {wrap[0]}{{{LEVEL}}}{wrap[1]}" if wrap else ""
    start = f"{head_text}{' {}' * before_level}{level_text}{' {}' * behind_level}"
    line = f"{start}{'{? ?}' if start.endswith(_BAR) else ' '}{{{MESSAGE}...}}"
    return TextLayout(line, times, form, zone, first.at, tuple(text_lines))


def _build_trailing_layout(lines: Sequence[str], heads: Sequence[_Head], form: str) -> TextLayout | None:
    """Return the layout of lines that end with their instant, as InfluxDB writes them; None for other lines."""
    if form not in ("s", "ms", "us", "ns") or len(heads) < _MIN_SHARE * len(lines):
        return None
    text_lines = [TextLine(head.position, head.at, "", head.before.strip()) for head in heads]
    return TextLayout(f"{{{MESSAGE}...}} {{at}}", ("at",), form, "", heads[0].at, tuple(text_lines))


def _has_zone(heads: Sequence[_Head], form: str) -> bool:
    if form:
        return "%" not in form
    return all(re.search(r"(Z|[+-]\d\d:?\d\d)$", head.at[10:]) for head in heads)


def _describe_before(texts: Sequence[str]) -> tuple[str, bool]:
    """Return the pattern of what precedes the stamp, and whether it has the level.

    Letters are optional texts, since no place may follow another one without a text between them.
    """
    if all(re.fullmatch("[IWEFDV]", text) for text in texts):
        return "".join(f"{{?{letter}?}}" for letter in dict.fromkeys(texts)), False
    levels = [match for text in texts if (match := _LEVEL_BEFORE.fullmatch(text))]
    blanks = {match["blank"] for match in levels}
    if len(levels) == len(texts) and (len(blanks) > 1 or len({match["level"] for match in levels}) > 1):
        return f"{{{LEVEL}}}{'{? ?}' if len(blanks) > 1 else blanks.pop()}{levels[0]['open']}", True
    is_padded = len({bool(_PADDING.search(text)) for text in texts}) > 1
    parts = [(_PADDING.sub("", text) if is_padded else text).split(" ") for text in texts]
    described, has_level = [], False
    for words in zip(*parts, strict=True):
        if len(set(words)) == 1 and not re.search(r"[{}?\d]", words[0]) and not _IS_LEVEL.fullmatch(words[0]):
            described.append(words[0])
        elif not has_level and all(_IS_LEVEL.fullmatch(word) for word in words):
            described.append(f"{{{LEVEL}}}")
            has_level = True
        else:
            described.append("{}")
    return " ".join(described) + "{? ?}" * is_padded, has_level


def _split_head(rest: str, group: re.Pattern[str]) -> list[str]:
    groups, end = [], 0
    while match := group.match(rest, end):
        groups.append(match[1])
        end = match.end()
    return groups


def _find_gaps(rests: Sequence[str], count: int) -> list[str]:
    """Return what stands before each of the first groups: a blank, nothing, or a blank in some lines."""
    gaps: list[set[bool]] = [set() for _ in range(count)]
    for rest in rests:
        for has_blank, match in zip(gaps, _GROUP.finditer(rest), strict=False):
            has_blank.add(match[0][0].isspace())
    return ["{? ?}" if len(has_blank) > 1 else " " * max(has_blank) for has_blank in gaps]


def _cut_groups(rest: str, count: int, group: re.Pattern[str]) -> str:
    end = 0
    for _ in range(count):
        match = group.match(rest, end)
        assert match
        end = match.end()
    return rest[end:]


def _name_groups(rows: Sequence[Sequence[str]], has_level: bool) -> tuple[str, ...]:
    names: list[str] = []
    for column in zip(*rows, strict=True):
        is_level = not has_level and LEVEL not in names and all(_IS_LEVEL.fullmatch(text.strip()) for text in column)
        names.append(LEVEL if is_level else f"{TAGS}{len(names) + 1}")
    return tuple(names)


def _find_level_wrap(rests: Sequence[str]) -> tuple[str, str] | None:
    """Return the texts around the level that follows; None if less than nine tenths of the lines have one."""
    matches = [match for rest in rests if (match := _LEVEL_WORD.match(rest))]
    if len(matches) < _LEVEL_SHARE * len(rests):
        return None
    (wrap, count), *_ = Counter((match["open"], match["close"]) for match in matches).most_common(1)
    return wrap if count >= _LEVEL_SHARE * len(rests) else None


def _cut_level(rest: str, wrap: tuple[str, str] | None) -> tuple[str, str]:
    """Return the level that a text begins with, and what follows; no text if it has no level between these texts."""
    if wrap is None:
        return "", rest
    match = _LEVEL_WORD.match(rest)
    if not match or (match["open"], match["close"]) != wrap:
        return "", ""
    return match["level"], rest[match.end() :]


def _cut_leading_numbers(rests: Sequence[str], has_level: bool) -> tuple[int, Sequence[str]]:
    """Return how many numbers nearly all texts begin with, and the texts behind them; no text where there are fewer.

    Patterns of events begin with a text, so these numbers belong to the pattern of the line, unless lines have no
    level and the numbers are measured, as in access logs of Squid.
    """
    present = sum(bool(rest) for rest in rests)
    for count in range(_MAX_LEADING):
        matches = _match_counters(rests) or [_LEADING_NUMBER.match(rest) for rest in rests]
        if sum(map(bool, matches)) < _LEVEL_SHARE * present or (not has_level and _are_measured(matches)):
            return count, rests
        rests = [rest[match.end() :] if match else "" for rest, match in zip(rests, matches, strict=True)]
    return _MAX_LEADING, rests


def _are_measured(matches: Sequence[re.Match[str] | None]) -> bool:
    """Return whether numbers go up and down from line to line, as durations do, rather than name a few processes."""
    texts = [match[0].strip() for match in matches if match]
    numbers = [int(text) for text in texts if text.isdigit()]
    has_many = len({*numbers}) > max(_MANY, _LEAST_DISTINCT * len(texts))
    return len(numbers) == len(texts) and has_many and numbers != sorted(numbers)


def _match_counters(rests: Sequence[str]) -> list[re.Match[str] | None]:
    """Return the hexadecimal numbers of one length with which nearly all texts begin; nothing without any.

    Some of them have digits, and some have letters.
    """
    matches = [_COUNTER.match(rest) for rest in rests]
    words = [match[1] for match in matches if match]
    has_letters = any(not word.isdigit() for word in words)
    is_number = has_letters and len({*map(len, words)}) == 1 and sum(not word.isalpha() for word in words) > 1
    return matches if is_number and len(words) >= _LEVEL_SHARE * sum(map(bool, rests)) else []
