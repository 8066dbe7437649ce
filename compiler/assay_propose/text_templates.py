"""Find the patterns of messages: which words are the same in many lines, and which vary."""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from assay.ingest.quantities import QUANTITIES
from assay.lang.record_units import DATA_RATE, PERCENT, SIZE, TIME, find_kind, split_number
from assay_propose.alternation import ENDS, STARTS
from assay_propose.joined_units import join_units
from assay_propose.message_parts import (
    MOST_WORDS,
    NUMBER,
    VALUE,
    Part,
    cut_parts,
    mask_message,
    mask_no_numbers,
    split_varying,
)
from assay_propose.names import NO_NAMES, NameSpace, is_prefixed, make_identifier, split_words
from assay_propose.units import UNITS
from assay_propose.varying_lists import find_varying_lists

#: what a logger writes behind its name: a group in brackets that is the second word of nearly all messages
_CONTEXT = re.compile(r"\S+\s+(\[[^\[\]]+\])(?=\s)")
_CONTEXT_SHARE = 0.9
_MEASURED = re.compile(r"\s*\d+(?:\.\d+ *|(?:\.\d+)? ?(?:%|[mµun]?s))\s*")  # rather a value than a context
_NAMES_OF_KINDS = {TIME: "duration", SIZE: "size", DATA_RATE: "rate", PERCENT: "share"}
_ARROWS = {"⬇": "down", "↓": "down", "⬆": "up", "↑": "up"}  # before what a node received and sent
_EMOJI = "\N{VARIATION SELECTOR-16}"
_BETWEEN_ITEMS = frozenset("/|·•")  # of a line such as `160 tx / 15,500,000 (51.7%) gas`
_TIME_UNITS = ("second", "minute", "hour")  # whose words QUANTITIES do not have
_SECONDS = frozenset(("s", "sec", "second"))
_WHOLE = re.compile(r"\d+")
#: words that name the value before them: `5 bytes sent`
_NAMES_BEHIND = frozenset(("copied", "dropped", "free", "read", "received", "sent", "transferred", "used", "written"))
#: words behind a value that say of which values it is a statistic, before the word that names them
_STATISTICS = frozenset(("average", "avg", "max", "maximum", "mean", "median", "min", "minimum"))
#: words before a number of things behind it, apart from those that end like a verb
_VERBS = frozenset(("got", "read", "sent", "took", "wrote"))
#: a word that is another one in each line varies: with so many texts, and at most so many lines for each
_MIN_TEXTS, _MAX_LINES_PER_TEXT = 3, 2
_MANY_TEXTS, _MIN_WORDS = 8, 2  # so many texts vary however many lines have each, among so many other words
_MIN_SHARED = 0.5  # of the texts of a word that varies, to have the name of another
_IDENTIFIER = re.compile(r"[(\[<'\"]*[A-Za-z]\w*(?:_\w+|(?:[./:-]\w+)+)[)\]>'\",;:.]*")
_ENDS_CONTEXT = re.compile(r"\{|[-|:\]]$|\w[._]\w")
_HEADING = re.compile(r"[(\[]?[A-Za-z][\w-]*:")  # of a section of a line, such as `[READ:`


@dataclass(frozen=True, slots=True)
class Template:
    """The pattern of a message, with the values of its captures and the words that never vary."""

    pattern: str
    values: tuple[tuple[str, str], ...]
    words: tuple[str, ...]


def find_templates(messages: Sequence[str], used_names: Collection[str]) -> tuple[Template, ...]:
    """Return the template of each message; `used_names` are names of captures of the whole line."""
    contexts = [_CONTEXT.match(message) for message in messages]
    contexts = [None if context and _MEASURED.fullmatch(context[1][1:-1]) else context for context in contexts]
    has_contexts = sum(map(bool, contexts)) >= _CONTEXT_SHARE * len(messages)
    listed = find_varying_lists(messages)
    rows = [
        mask_message(message, context if has_contexts else None, index in listed)
        for index, (message, context) in enumerate(zip(messages, contexts, strict=True))
    ]
    rows = join_units(mask_no_numbers([cut_parts(row) for row in rows]))
    lines_by_shape: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for index, row in enumerate(rows):
        lines_by_shape[tuple(part.shape for part in row)].append(index)
    for place in _name_places([*_find_varying_words(lines_by_shape), *_find_identifiers(lines_by_shape)], rows):
        for index in place.lines:
            part = split_varying(rows[index][place.position], place.name)
            rows[index] = (*rows[index][: place.position], part, *rows[index][place.position + 1 :])
    return tuple(_build_template(row, used_names) for row in rows)


@dataclass(frozen=True, slots=True)
class _Place:
    """A word that varies in lines that are alike otherwise: its position in them, its name if it has one."""

    position: int
    lines: tuple[int, ...]
    name: str = ""


def _find_varying_words(lines_by_shape: Mapping[tuple[str, ...], Sequence[int]]) -> Iterator[_Place]:
    """Yield words in which lines differ that are alike otherwise; the first word never varies.

    Each text has few lines, or there are many texts.
    """
    groups: dict[tuple[tuple[str, ...], int], list[tuple[str, ...]]] = defaultdict(list)
    for shape in lines_by_shape:
        for position in range(1, len(shape) if len(shape) <= MOST_WORDS else 0):
            if VALUE not in shape[position]:
                groups[((*shape[:position], *shape[position + 1 :]), position)].append(shape)
    for (rest, position), shapes in groups.items():
        indices = [index for shape in shapes for index in lines_by_shape[shape]]
        is_any = len(shapes) >= _MIN_TEXTS and len(indices) <= _MAX_LINES_PER_TEXT * len(shapes)
        has_words = sum(VALUE not in word for word in rest) >= _MIN_WORDS
        if is_any or (
            len(shapes) >= _MANY_TEXTS and has_words and not any(_has_turn(shape, position) for shape in shapes)
        ):
            yield _Place(position, tuple(indices))


def _find_identifiers(lines_by_shape: Mapping[tuple[str, ...], Sequence[int]]) -> Iterator[_Place]:
    """Yield words that look like identifiers, such as `store.orders`, and vary in lines that are alike otherwise."""
    groups: dict[tuple[str, ...], list[tuple[str, ...]]] = defaultdict(list)
    for shape in lines_by_shape:
        key = (*shape[:1], *(VALUE if _IDENTIFIER.fullmatch(word) else word for word in shape[1:]))
        if any(word.isalpha() for word in key):
            groups[key].append(shape)
    for key, shapes in groups.items():
        indices = [index for shape in shapes for index in lines_by_shape[shape]]
        for position, word in enumerate(key):
            texts = {shape[position] for shape in shapes}
            if word == VALUE and len(texts) >= _MIN_TEXTS and not any(_has_turn(shape, position) for shape in shapes):
                yield _Place(position, tuple(indices))


def _has_turn(shape: Sequence[str], position: int) -> bool:
    """Return whether a word says that something starts or ends, so that it names an event."""
    return bool((STARTS | ENDS) & {*split_words(shape[position])})


def _name_places(places: Iterable[_Place], rows: Sequence[Sequence[Part]]) -> Iterator[_Place]:
    """Yield places once each. Those that share most of their texts have one name, that of the one with most lines."""
    covered: set[tuple[int, int]] = set()
    alike: list[tuple[set[str], list[_Place]]] = []
    for place in sorted(places, key=lambda item: (-len(item.lines), item.lines[0], item.position)):
        lines = tuple(index for index in place.lines if (index, place.position) not in covered)
        covered.update((index, place.position) for index in lines)
        texts = {split_varying(rows[index][place.position]).value for index in lines}
        cluster = next((item for item in alike if len(texts & item[0]) >= _MIN_SHARED * len(texts)), (texts, []))
        if not cluster[1]:
            alike.append(cluster)
        cluster[1].append(replace(place, lines=lines))
    for _, members in alike:
        first = members[0]
        words = [part.prefix for part in rows[first.lines[0]][: first.position] if not part.value]
        name = _suggest_name(words, "", "", is_behind_value=False) if len(members) > 1 else ""
        yield from (replace(place, name=name) for place in members if place.lines)


def _build_template(row: Sequence[Part], used_names: Collection[str]) -> Template:
    """Return the template of a message; values that would have one name are named by more of the words before them."""
    longer: dict[str, list[str]] = defaultdict(list)
    template = _fill_template(row, used_names, frozenset(), longer)
    clashes = {name for name, texts in longer.items()
               if len(texts) > 1 - (name in used_names) and all(texts) and len({*texts}) == len(texts)}  # fmt: skip
    return _fill_template(row, used_names, clashes, defaultdict(list)) if clashes else template


def _fill_template(
    row: Sequence[Part], used_names: Collection[str], ambiguous: Collection[str], longer: dict[str, list[str]]
) -> Template:
    """Return the template of a message; the longer names of values are added to `longer`, by the short ones."""
    names, parts, values, words = NameSpace(used_names), [], [], []
    is_behind_value = False
    for position, part in enumerate(row):
        next_part = row[position + 1] if position + 1 < len(row) else Part("")
        if not part.value:
            parts.append(part.prefix)
            words.append(part.prefix)
            is_behind_value = is_behind_value and part.prefix in ("-", "=")
            continue
        unit = _find_unit_behind(part, row[position + 1 :])
        behind = _find_name_behind(row[position + 2 :]) if unit else ""
        is_remark = part.prefix == "(" and next_part.prefix.endswith(")")
        if not unit and not part.suffix and (not words or is_remark or _counts_behind(words[-1], part, next_part)):
            behind = _find_noun_behind(next_part)
        behind = behind or _find_noun_of_item(row, position) or _find_counted(words, part, next_part)
        suggestion = part.name or behind or _suggest_name(words, part.value, unit, is_behind_value)
        name = make_identifier(f"{suggestion} {unit}", "value")
        if not (part.name or unit) and name in names and (noun := _find_last_noun_behind(part, row[position + 1 :])):
            name = make_identifier(noun, "value")
        if is_prefixed(name) and (noun := _find_noun_before(row[:position])):
            name = make_identifier(f"{noun} {suggestion} {unit}", "value")
        longer[name].append(_lengthen_name(words, part, suggestion))
        if name in ambiguous:
            name = make_identifier(f"{longer[name][-1]} {unit}", "value")
        if unit and name in names:  # the unit is the last word
            numbered = (make_identifier(f"{suggestion} {number} {unit}", "value") for number in itertools.count(2))
            name = next(text for text in numbered if text not in names)
        name = names.add(name)
        is_behind_value = True
        words.extend(re.findall(r"[A-Za-z_]{2,}", part.prefix))
        dots = "..." if part.is_phrase or re.search(r"\s", part.value) else ""
        parts.append(f"{part.prefix}{{{name}{dots}}}{part.suffix}")
        values.append((name, part.value))
    ends = ["" if part.is_glued else " " for part in row]
    pattern = "".join(itertools.chain.from_iterable(zip(parts, ends, strict=True)))
    return Template(pattern.rstrip(" "), tuple(values), tuple(words))


def _find_unit_behind(part: Part, following: Sequence[Part]) -> str:
    """Return the unit behind a number, or behind the last of numbers between slashes."""
    if not NUMBER.fullmatch(part.value):
        return ""
    last = part
    while len(following) > 1 and following[0].prefix == "/" and not following[0].value and following[1].value:
        following = following[2:]  # `1.5 / 0.0 ms`
    words = [item.prefix.strip("),;.:") for item in following[:3] if not item.value]
    if not (part.suffix or part.is_glued) and words[1:2] == ["per"] and words[2:] and words[2] in _SECONDS:
        return " ".join(words) if words[0].isalpha() else ""  # `812 requests per second`
    for item in following:
        if not last.is_glued:
            unit = re.sub("[µμ]", "u", item.prefix.strip("),;.:").lower()) if not last.suffix else ""
            return unit if unit in UNITS else _read_rate(item.prefix.strip("),;."))
        last = item
    return ""


def _read_rate(text: str) -> str:
    """Return a rate such as `chars/s` as words; empty if the text is none, or one of bits."""
    is_read = re.fullmatch(r"[A-Za-z]+/(?:s|sec|second)", text) and not re.match(r"[KMGT]b/", text)
    return " ".join(split_words(text)) if is_read else ""


def _find_name_behind(row: Sequence[Part]) -> str:
    """Return the word behind a value and its unit that names it; a remark in parentheses may stand between."""
    ends = [index for index, part in enumerate(row) if (part.suffix or part.prefix).endswith(")")]
    if row and row[0].prefix.startswith("(") and ends:
        row = row[ends[0] + 1 :]
    word = row[0].prefix.rstrip(",;.") if row and not row[0].value else ""
    if word in _STATISTICS and len(row) > 1 and not row[1].value:  # `12.5 ms avg latency`
        return f"{word} {row[1].prefix.rstrip(',;.')}"
    return word if word in _NAMES_BEHIND else ""


def _find_noun_behind(part: Part) -> str:
    """Return the word behind a value with which a message begins: `100 rows written` counts rows."""
    word = part.prefix.rstrip(",;.:)")
    return word if word.isalpha() and len(word) > 1 and word.lower() not in NO_NAMES else ""


def _find_noun_of_item(row: Sequence[Part], position: int) -> str:
    """Return the word behind a number that is an item between separators; a remark in parentheses may stand between."""
    following = row[position + 1 :]
    if following and following[0].prefix.startswith("("):
        end = next((index for index, part in enumerate(following) if (part.suffix or part.prefix).endswith(")")), -1)
        following = following[end + 1 :]
    is_item = position and not row[position - 1].value and row[position - 1].prefix in _BETWEEN_ITEMS
    is_end = len(following) == 1 or (len(following) > 1 and following[1].prefix in _BETWEEN_ITEMS)
    has_number = NUMBER.fullmatch(row[position].value) and not row[position].is_glued
    return _find_noun_behind(following[0]) if is_item and is_end and has_number and not following[0].value else ""


def _counts_behind(word: str, part: Part, next_part: Part) -> bool:
    """Return whether a number behind a verb or a preposition counts the plural behind it: `loaded 5 rows into`."""
    noun = next_part.prefix.rstrip(",;.:").lower()
    is_plural = noun.endswith("s") and not noun.endswith(("is", "ss", "us")) and noun not in NO_NAMES | STARTS | ENDS
    is_verb = word.lower() in _VERBS or word.lower().endswith(("ed", "ing")) or not _is_name(word)
    return bool(_WHOLE.fullmatch(part.value)) and is_plural and is_verb and word[-1].isalpha()


def _find_counted(words: Sequence[str], part: Part, next_part: Part) -> str:
    """Return the plural behind a number whose word before is the unit of another: `0.4 seconds, 81 transactions`."""
    is_behind_unit = bool(words) and words[-1].rstrip(",;").lower() in UNITS
    noun = _find_noun_behind(next_part) if is_behind_unit and not part.suffix and not next_part.value else ""
    return noun if noun.lower() not in UNITS and _counts_behind("of", part, next_part) else ""


def _find_last_noun_behind(part: Part, following: Sequence[Part]) -> str:
    """Return the word behind a number with which a phrase ends: `vertex 3 at checkpoint 1: 741 vertices`."""
    if not NUMBER.fullmatch(part.value) or part.suffix or not following:
        return ""
    noun = _find_noun_behind(following[0])
    is_end = len(following) == 1 or following[0].prefix[-1:] in tuple(",;.:)") or following[1].prefix.startswith("(")
    return noun if is_end else ""


def _find_noun_before(row: Sequence[Part]) -> str:
    """Return the last plain word before a value that names neither a value nor a unit; empty without one."""
    words = (
        part.prefix
        for part, following in reversed([*itertools.pairwise(row)])
        if not part.value and part.prefix.isalpha() and not following.value
    )
    return next((word for word in words if word.lower() not in NO_NAMES and word.lower() not in UNITS), "")


def _suggest_name(words: Sequence[str], value: str, unit: str, is_behind_value: bool) -> str:
    """Return a name for a value: that of its unit behind a word such as `in` or another value, else the last word."""
    if words and (direction := _ARROWS.get(words[-1].rstrip(_EMOJI))):
        return direction
    is_prepositional = is_behind_value or not words or not _is_name(words[-1]) or words[-1].lower() in UNITS
    text = value + unit
    if is_prepositional and value.startswith("/"):
        return "path"
    for name in ("duration", "size"):
        if is_prepositional and text[-1:].isalpha() and QUANTITIES[name].is_valid(text):
            return name
    parts = split_number(value) if is_prepositional else None
    if parts and (kind := find_kind(parts[1])[0]) in _NAMES_OF_KINDS:
        return _NAMES_OF_KINDS[kind]
    if is_prepositional and UNITS.get(unit) in _TIME_UNITS:
        return "duration"
    names = [word for word in reversed(words) if split_words(word) and _is_name(word)]
    if len(names) > 1 and (last := names[0].strip("():[]").lower()) in UNITS and not unit:
        return f"{names[1]} {last}"  # `User time (seconds): 1.25`
    return names[0] if names else "value"


def _lengthen_name(words: Sequence[str], part: Part, suggestion: str) -> str:
    """Return the name of a value with one more word before it; that of a member with the heading of its section."""
    if part.name:
        heading = next((word for word in reversed(words) if _HEADING.fullmatch(word)), "")
        before = "" if part.prefix.strip("([<") else next(filter(_is_name, reversed(words)), "")
        return f"{heading or before} {part.name}" if heading or before else ""
    names = (word for word in reversed(words) if split_words(word) and _is_name(word))
    last, before = next(names, ""), next(names, "")
    return f"{before} {last}" if before and last == suggestion else ""


def _is_name(word: str) -> bool:
    return word.rstrip(":").lower() not in NO_NAMES


def find_common_start(patterns: Sequence[str]) -> str:
    """Return the words with which all of several patterns begin, such as a host, a logger or a level.

    The last of them is a capture, the name of a logger or ends like a heading: others may say what lines are about.
    """
    if len(patterns) < 2:
        return ""
    columns = zip(*(pattern.split(" ")[:-1] for pattern in patterns), strict=False)
    words = [column[0] for column in itertools.takewhile(lambda column: len(set(column)) == 1, columns)]
    while words and not _ENDS_CONTEXT.search(words[-1]):
        words.pop()
    return "".join(f"{word} " for word in words)
