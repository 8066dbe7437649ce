"""Read lines of JSON and of logfmt by the patterns of their messages, if these vary like lines of text."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from assay.ingest.logfmt import PAIR
from assay_propose.detect import Detected
from assay_propose.json_members import QUOTE, Member, Row, split_json
from assay_propose.model import KeyPath, Record
from assay_propose.names import NameSpace
from assay_propose.recognize import Lookup, Times, find_lookup, find_times
from assay_propose.text_layout import MESSAGE, TIMES, TextLayout, TextLine
from assay_propose.text_templates import find_templates

_MESSAGE_KEYS = ("msg", "message", "event", "text", "log")
#: keys whose few texts name events better than the patterns of messages do
_EVENT_KEYS = frozenset(("action", "event", "kind", "metric", "ns", "op", "operation", "phase", "stage", "type"))
_MIN_TEXTS, _MIN_WORDS = 3, 2  # texts of a pattern that varies, and its words
_MIN_SHARE = 0.9  # of the records that have a message, and of the lines whose members have one order


@dataclass(frozen=True, slots=True)
class _Layout:
    """The pattern of lines, with the captures of those members that are read, by their paths."""

    text: TextLayout
    names: Mapping[KeyPath, str]
    before: Mapping[KeyPath, str]  # the text before the value of each member, in order
    tail: str

    def matches(self, row: Row) -> bool:
        """Return whether a line has members in this order, with these texts around them, and the required ones."""
        order = list(self.before)
        places = [order.index(member.path) for member in row[0] if self.before.get(member.path) == member.before]
        return row[1] == self.tail and len(places) == len(row[0]) and places == sorted(set(places))


def read_varying_messages(items: Sequence[Detected]) -> Sequence[Detected]:
    """Return files of one layout as lines of text, if their messages vary; else as they are."""
    if items[0].kind not in ("json-lines", "logfmt"):
        return items
    records = [record for item in items for record in item.records]
    times = find_times(records, several=True)
    path = _find_message(records, find_lookup(records, times.paths)) if times and len(times.paths) == 1 else ()
    if not times or not path:
        return items
    split = split_json if items[0].kind == "json-lines" else _split_logfmt
    rows = {(index, record.position): split(item.sample.lines[record.position])
            for index, item in enumerate(items) for record in item.records}  # fmt: skip
    layout = _find_layout(list(rows.values()), path, times)
    if layout is None:
        return items
    return [
        _convert(item, {place: row for (file, place), row in rows.items() if file == index}, path, layout)
        for index, item in enumerate(items)
    ]


def _find_message(records: Sequence[Record], lookup: Lookup | None) -> KeyPath:
    """Return the path of messages that vary; empty without any, and if another key names events."""
    paths = {path for record in records for path in record.values if path[-1].lower() in _MESSAGE_KEYS}
    for path in sorted(paths, key=lambda item: (len(item), _MESSAGE_KEYS.index(item[-1].lower()))):
        if lookup and lookup.path != path and lookup.path[-1].lower() in _EVENT_KEYS:
            continue
        texts = [text for record in records if isinstance(text := record.values.get(path), str)]
        if len(texts) >= _MIN_SHARE * len(records) and _has_varying(texts):
            return path
    return ()


def _has_varying(texts: Sequence[str]) -> bool:
    """Return whether there is a pattern of several words with several texts."""
    by_pattern: dict[str, set[str]] = defaultdict(set)
    for text, template in zip(texts, find_templates(texts, ()), strict=True):
        if template.values and len(template.words) >= _MIN_WORDS:
            by_pattern[template.pattern].add(text)
    return any(len(group) >= _MIN_TEXTS for group in by_pattern.values())


def _split_logfmt(line: str) -> Row:
    members: list[Member] = []
    end = 0
    for match in re.finditer(PAIR, line, re.ASCII):
        has_quotes = match[3].startswith(QUOTE)
        value = match[3][1:-1] if has_quotes else match[3]
        members.append(Member((match[1],), line[end : match.start()] + match[1] + match[2], value, has_quotes))
        end = match.end()
    return members, line[end:].rstrip()


def _find_layout(rows: Sequence[Row], message: KeyPath, times: Times) -> _Layout | None:
    """Return the layout of lines; None if too few of them have their members in one order."""
    before = {path: Counter(member.before for members, _ in rows for member in members if member.path == path)
              .most_common(1)[0][0] for path in _order_paths(rows)}  # fmt: skip
    tail = Counter(tail for _, tail in rows).most_common(1)[0][0]
    names = NameSpace(("at", MESSAGE))
    reserved = {message: MESSAGE, times.paths[0]: "at"}
    captures = {path: reserved.get(path) or names.add(_make_capture(path)) for path in before}
    layout = _Layout(TextLayout("", TIMES[1], times.form.form, times.form.zone, "", ()), captures, before, tail)
    matching = [row for row in rows if layout.matches(row)]
    counts = Counter(member.path for members, _ in matching for member in members)
    first = next(iter(before), ())
    is_whole = all(counts[path] == len(matching) for path in (first, *reserved))
    if len(matching) < _MIN_SHARE * len(rows) or not is_whole or any("?" in text for text in (*before.values(), tail)):
        return None
    values: dict[KeyPath, list[Member]] = defaultdict(list)
    for members, _ in matching:
        for member in members:
            values[member.path].append(member)
    parts = [_write_member(text, captures[path], values[path], len(values[path]) < len(matching))
             for path, text in before.items() if path in values]  # fmt: skip
    line = "".join(parts) + _escape(tail)
    return replace(layout, text=replace(layout.text, line=line, stamp=values[times.paths[0]][0].value))


def _order_paths(rows: Sequence[Row]) -> list[KeyPath]:
    """Return the paths of all members: those of a line in its order, others behind what precedes them."""
    order: list[KeyPath] = []
    for members, _ in sorted(rows, key=lambda row: -len(row[0])):
        place = 0
        for member in members:
            if member.path not in order:
                order.insert(place, member.path)
            place = order.index(member.path) + 1
    return order


def _make_capture(path: KeyPath) -> str:
    """Return the keys of a member as the name of a capture."""
    name = re.sub(r"\W", "_", "_".join(path), flags=re.ASCII)
    return name if not name[:1].isdigit() else f"_{name}"


def _write_member(before: str, name: str, members: Sequence[Member], is_optional: bool) -> str:
    """Return the pattern of a member. Quotes that only some values have, and values that may be empty, are optional."""
    quotes = {member.has_quotes for member in members}
    quote = f"{{?{QUOTE}?}}" if len(quotes) > 1 else QUOTE if True in quotes else ""
    dots = "..." if name == MESSAGE or any(re.search(r"\s", member.value) for member in members) else ""
    capture = f"{{{name}{dots}}}"
    if not all(member.value for member in members):
        capture = f"{{?{capture}?}}"
    nested = is_optional and "{?" in quote + capture
    if nested:  # an optional part has no other
        quote, capture = "", "{...}"
    text = f"{_escape(before)}{quote}{capture}{quote}"
    return f"{{?{text}?}}" if is_optional else text


def _escape(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _convert(item: Detected, rows: Mapping[int, Row], message: KeyPath, layout: _Layout) -> Detected:
    """Return a file with a record for each line that the layout matches: its message, and its other members."""
    captures = set(layout.text.captures)
    names = {path: name for path, name in layout.names.items() if name in captures}
    records, lines = [], []
    for record in item.records:
        row = rows[record.position]
        if not layout.matches(row):
            continue
        text = next(member.value for member in row[0] if member.path == message).strip()
        values: dict[KeyPath, object] = {
            (names[path],): value for path, value in record.values.items() if path in names and names[path] != MESSAGE
        }
        records.append(Record("", record.position, text, values))
        lines.append(TextLine(record.position, str(values[layout.text.time]), "", text))
    reason = f"{item.reason}, read as text, since `{'.'.join(message)}` varies"
    text_layout = replace(layout.text, lines=tuple(lines))
    return replace(item, kind="text-lines", records=tuple(records), reason=reason, text_layout=text_layout)
