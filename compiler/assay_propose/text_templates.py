"""Find the patterns of messages: which words are the same in many lines, and which vary."""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from assay.ingest.quantities import QUANTITIES
from assay_propose.alternation import ENDS, STARTS
from assay_propose.json_members import QUOTE, is_object, split_json
from assay_propose.names import NO_NAMES, NameSpace, is_prefixed, make_identifier, split_words
from assay_propose.units import TIMES, UNITS

#: a member with a quoted value of several words; one word that may be a member, a number, or text with digits
_TOKEN = re.compile(r"[(\[]?[\w.-]+=\"[^\"]*\"[)\],;.]*(?!\S)|\S+")
_MEMBER = re.compile(
    r"(?P<start>[(\[]?)(?P<key>[A-Za-z_][\w.-]*|\d+(?:\.\d+)?(?==))(?P<sign>[=:])"
    r"(?P<value>[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?[A-Za-z]*|[^\s=,;]+?)(?P<end>[)\],;.]*)"
)
_QUOTED_MEMBER = re.compile(r"(?P<start>[(\[]?)(?P<key>[\w.-]+)=\"(?P<value>[^\"]*)\"(?P<end>[)\],;.]*)")
_NUMBERED = re.compile(r"(?P<word>[A-Za-z][A-Za-z_.-]*)(?P<sign>[(#\[])(?P<value>\d[\w.]*)(?P<end>[)\]]?[:,;.]?)")
_PUNCTUATED = re.compile(r"(?P<start>[(\[<'\"]*)(?P<value>.*?)(?P<end>[)\]>'\",;:.%]*)", re.DOTALL)
#: a number with its unit for each of something, such as `1.2s/it`
_RATED = re.compile(
    r"(?P<start>[(\[<]?)(?P<value>[+-]?\d+(?:\.\d+)?)(?P<unit>[A-Za-zµ]+)/(?P<thing>[A-Za-z]+)(?P<end>[)\]>,;.:]*)"
)
_LONG_SECONDS = {"s": "seconds", "sec": "seconds"}  # behind names such as `iter`, `s` would be `per second`
_VARYING = re.compile(r"\d|[{}]|^['\"(]?/\w")  # a text with digits, with braces, or a path
#: what a logger writes behind its name: a group in brackets that is the second word of nearly all messages
_CONTEXT = re.compile(r"\S+\s+(\[[^\[\]]+\])(?=\s)")
_CONTEXT_SHARE = 0.9
_TIME_UNITS = ("second", "minute", "hour")  # whose words QUANTITIES do not have
_METHOD = re.compile(r"(?P<start>[\"'(]*)(?P<value>GET|HEAD|POST|PUT|DELETE|PATCH|OPTIONS)")
_PATH = re.compile(r"(?P<value>(?:/|https?://)\S*?)(?P<end>[)\"',;]*)")
_PROTOCOL = re.compile(r"(?P<start>HTTP/)(?P<value>[\d.]+)(?P<end>[)\"',;]*)")
_ADDRESSES = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?(?:,\d{1,3}(?:\.\d{1,3}){3})*")
_NUMBER = re.compile(r"[+-]?(?:\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?")
#: a number with `i`, as InfluxDB marks integers, or with a unit that has no hexadecimal form: `12i`, `7.1Gwei`, `3MB/s`
_SUFFIXED = re.compile(
    r"(?P<number>[+-]?\d[\d,.]*)(?P<unit>i|(?=[A-Za-z]*[g-zG-Z])[A-Za-z]{3,}|[A-Za-zµ]+/(?:s|sec|second|ms|us|ns|min))"
)
_PIPED = re.compile(r"(?P<number>[+-]?\d[\d.]*)(?P<rest>\|(?P<unit>[A-Za-z]+)\S*)")  # as StatsD writes it
#: pairs between commas, perhaps behind a name: `request,host=web-1,path=/ duration=2.5,size=12i`
_PAIRS = re.compile(r"(?:[\w.-]+,)?[A-Za-z_][\w.-]*=[^,=\s]+(?:,[A-Za-z_][\w.-]*=[^,=\s]+)*")
_JSON_TAIL = re.compile(r'(?:^|\s)(?P<json>\{\s*".*\})$')
_LONGEST_TAIL = 4000
_WHOLE = re.compile(r"\d+")
#: what a program writes in place of a number
NO_NUMBER = re.compile(r"[+-]?(?:nan|inf|infinity)|null|none|n/a", re.IGNORECASE)
_SLASHED = r"[+-]?\d+(?:\.\d+)?(?:(?:/|\+|->)\d+(?:\.\d+)?)+"
_SEPARATOR = re.compile(r"(/|(?<=\d)\+|->)")
#: numbers between slashes, plus signs or arrows, perhaps behind as many names: `min/avg/max=1.2/3.4/5.6`
_SLASHED_NUMBERS = re.compile(
    rf"(?P<start>[(\[]?)(?P<names>[A-Za-z][\w.%-]*(?:/[A-Za-z][\w.%-]*)+[=:])?(?P<values>{_SLASHED})(?P<end>[)\],;.:]*)"
)
_SLASHED_NAMES = re.compile(r"[A-Za-z][\w.%-]*(?:/[A-Za-z][\w.%-]*)+")
_DATE = re.compile(r"\d{4}/\d\d?/\d\d?|\d\d?/\d\d?/\d{4}")
_MAX_BETWEEN = 2  # words between such names and their numbers: `min/max = 1/2`
#: words that name the value before them: `5 bytes sent`
_NAMES_BEHIND = frozenset(("copied", "dropped", "free", "read", "received", "sent", "transferred", "used", "written"))
#: words before a number of things behind it, apart from those that end like a verb
_VERBS = frozenset(("got", "read", "sent", "took", "wrote"))
#: a word that is another one in each line varies: with so many texts, and at most so many lines for each
_MIN_TEXTS, _MAX_LINES_PER_TEXT = 3, 2
_MANY_TEXTS, _MIN_WORDS = 8, 2  # so many texts vary however many lines have each, among so many other words
_MIN_SHARED = 0.5  # of the texts of a word that varies, to have the name of another
_IDENTIFIER = re.compile(r"[(\[<'\"]*[A-Za-z]\w*(?:_\w+|(?:[./:-]\w+)+)[)\]>'\",;:.]*")
_MOST_WORDS = 200  # of a line whose words may vary: each is compared with all others
_HEADING = re.compile(r"[(\[]?[A-Za-z][\w-]*:")  # of a section of a line, such as `[READ:`
_VALUE = "\0"  # marks what varies in the shape of a line


@dataclass(frozen=True, slots=True)
class Template:
    """The pattern of a message, with the values of its captures and the words that never vary."""

    pattern: str
    values: tuple[tuple[str, str], ...]
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Part:
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
        return f"{self.prefix}{_VALUE}{self.suffix}" if self.value else self.prefix


def find_templates(messages: Sequence[str], used_names: Collection[str]) -> tuple[Template, ...]:
    """Return the template of each message; `used_names` are names of captures of the whole line."""
    contexts = [_CONTEXT.match(message) for message in messages]
    has_contexts = sum(map(bool, contexts)) >= _CONTEXT_SHARE * len(messages)
    rows = [
        _mask_message(message, context if has_contexts else None)
        for message, context in zip(messages, contexts, strict=True)
    ]
    rows = _mask_no_numbers(rows)
    lines_by_shape: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for index, row in enumerate(rows):
        lines_by_shape[tuple(part.shape for part in row)].append(index)
    for place in _name_places([*_find_varying_words(lines_by_shape), *_find_identifiers(lines_by_shape)], rows):
        for index in place.lines:
            part = _split_varying(rows[index][place.position], place.name)
            rows[index] = (*rows[index][: place.position], part, *rows[index][place.position + 1 :])
    return tuple(_build_template(row, used_names) for row in rows)


def _mask_no_numbers(rows: Sequence[tuple[_Part, ...]]) -> list[tuple[_Part, ...]]:
    """Return the parts of messages with words such as `nan` as values where lines that are alike have values."""
    shapes = {tuple(part.shape for part in row) for row in rows}
    masked = [tuple(map(_mask_no_number, row)) for row in rows]
    return [new if tuple(part.shape for part in new) in shapes else row for row, new in zip(rows, masked, strict=True)]


def _mask_no_number(part: _Part) -> _Part:
    if part.value:
        return part
    match = _MEMBER.fullmatch(part.prefix)
    if match and NO_NUMBER.fullmatch(match["value"]):
        return _Part(match["start"] + match["key"] + match["sign"], match["key"], match["value"], match["end"])
    split = _split_varying(part)
    return split if NO_NUMBER.fullmatch(split.value) else part


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
        for position in range(1, len(shape) if len(shape) <= _MOST_WORDS else 0):
            if _VALUE not in shape[position]:
                groups[((*shape[:position], *shape[position + 1 :]), position)].append(shape)
    for (rest, position), shapes in groups.items():
        indices = [index for shape in shapes for index in lines_by_shape[shape]]
        is_any = len(shapes) >= _MIN_TEXTS and len(indices) <= _MAX_LINES_PER_TEXT * len(shapes)
        has_words = sum(_VALUE not in word for word in rest) >= _MIN_WORDS
        if is_any or (
            len(shapes) >= _MANY_TEXTS and has_words and not any(_has_turn(shape, position) for shape in shapes)
        ):
            yield _Place(position, tuple(indices))


def _find_identifiers(lines_by_shape: Mapping[tuple[str, ...], Sequence[int]]) -> Iterator[_Place]:
    """Yield words that look like identifiers, such as `store.orders`, and vary in lines that are alike otherwise."""
    groups: dict[tuple[str, ...], list[tuple[str, ...]]] = defaultdict(list)
    for shape in lines_by_shape:
        key = (*shape[:1], *(_VALUE if _IDENTIFIER.fullmatch(word) else word for word in shape[1:]))
        if any(word.isalpha() for word in key):
            groups[key].append(shape)
    for key, shapes in groups.items():
        indices = [index for shape in shapes for index in lines_by_shape[shape]]
        for position, word in enumerate(key):
            texts = {shape[position] for shape in shapes}
            if word == _VALUE and len(texts) >= _MIN_TEXTS and not any(_has_turn(shape, position) for shape in shapes):
                yield _Place(position, tuple(indices))


def _has_turn(shape: Sequence[str], position: int) -> bool:
    """Return whether a word says that something starts or ends, so that it names an event."""
    return bool((STARTS | ENDS) & {*split_words(shape[position])})


def _name_places(places: Iterable[_Place], rows: Sequence[Sequence[_Part]]) -> Iterator[_Place]:
    """Yield places once each. Those that share most of their texts have one name, that of the one with most lines."""
    covered: set[tuple[int, int]] = set()
    alike: list[tuple[set[str], list[_Place]]] = []
    for place in sorted(places, key=lambda item: (-len(item.lines), item.lines[0], item.position)):
        lines = tuple(index for index in place.lines if (index, place.position) not in covered)
        covered.update((index, place.position) for index in lines)
        texts = {_split_varying(rows[index][place.position]).value for index in lines}
        cluster = next((item for item in alike if len(texts & item[0]) >= _MIN_SHARED * len(texts)), (texts, []))
        if not cluster[1]:
            alike.append(cluster)
        cluster[1].append(replace(place, lines=lines))
    for _, members in alike:
        first = members[0]
        words = [part.prefix for part in rows[first.lines[0]][: first.position] if not part.value]
        name = _suggest_name(words, "", "", is_behind_value=False) if len(members) > 1 else ""
        yield from (replace(place, name=name) for place in members if place.lines)


def _split_varying(part: _Part, name: str = "") -> _Part:
    """Return a word as a value between its punctuation."""
    match = _PUNCTUATED.fullmatch(part.prefix)
    return _Part(match["start"], name, match["value"], match["end"]) if match and match["value"] else part


def _build_template(row: Sequence[_Part], used_names: Collection[str]) -> Template:
    """Return the template of a message; values that would have one name are named by more of the words before them."""
    longer: dict[str, list[str]] = defaultdict(list)
    template = _fill_template(row, used_names, frozenset(), longer)
    clashes = {name for name, texts in longer.items()
               if len(texts) > 1 - (name in used_names) and all(texts) and len({*texts}) == len(texts)}  # fmt: skip
    return _fill_template(row, used_names, clashes, defaultdict(list)) if clashes else template


def _fill_template(
    row: Sequence[_Part], used_names: Collection[str], ambiguous: Collection[str], longer: dict[str, list[str]]
) -> Template:
    """Return the template of a message; the longer names of values are added to `longer`, by the short ones."""
    names, parts, values, words = NameSpace(used_names), [], [], []
    is_behind_value = False
    for position, part in enumerate(row):
        next_part = row[position + 1] if position + 1 < len(row) else _Part("")
        if not part.value:
            parts.append(part.prefix)
            words.append(part.prefix)
            is_behind_value = False
            continue
        unit = _find_unit_behind(part, row[position + 1 :])
        behind = _find_name_behind(row[position + 2 :]) if unit else ""
        is_remark = part.prefix == "(" and next_part.prefix.endswith(")")
        if not unit and not part.suffix and (not words or is_remark or _counts_behind(words[-1], part, next_part)):
            behind = _find_noun_behind(next_part)
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


def _find_unit_behind(part: _Part, following: Sequence[_Part]) -> str:
    """Return the unit behind a number, or behind the last of numbers between slashes."""
    if not _NUMBER.fullmatch(part.value):
        return ""
    last = part
    while len(following) > 1 and following[0].prefix == "/" and not following[0].value and following[1].value:
        following = following[2:]  # `1.5 / 0.0 ms`
    for item in following:
        if not last.is_glued:
            unit = item.prefix.strip("),;.").lower() if not last.suffix else ""
            return unit if unit in UNITS else _read_rate(item.prefix.strip("),;."))
        last = item
    return ""


def _read_rate(text: str) -> str:
    """Return a rate such as `chars/s` as words; empty if the text is none, or one of bits."""
    is_read = re.fullmatch(r"[A-Za-z]+/(?:s|sec|second)", text) and not re.match(r"[KMGT]b/", text)
    return " ".join(split_words(text)) if is_read else ""


def _find_name_behind(row: Sequence[_Part]) -> str:
    """Return the word behind a value and its unit that names it; a remark in parentheses may stand between."""
    ends = [index for index, part in enumerate(row) if (part.suffix or part.prefix).endswith(")")]
    if row and row[0].prefix.startswith("(") and ends:
        row = row[ends[0] + 1 :]
    word = row[0].prefix.rstrip(",;.") if row and not row[0].value else ""
    return word if word in _NAMES_BEHIND else ""


def _find_noun_behind(part: _Part) -> str:
    """Return the word behind a value with which a message begins: `100 rows written` counts rows."""
    word = part.prefix.rstrip(",;.:)")
    return word if word.isalpha() and len(word) > 1 and word.lower() not in NO_NAMES else ""


def _counts_behind(word: str, part: _Part, next_part: _Part) -> bool:
    """Return whether a number behind a verb or a preposition counts the plural behind it: `loaded 5 rows into`."""
    noun = next_part.prefix.rstrip(",;.:").lower()
    is_plural = noun.endswith("s") and not noun.endswith(("is", "ss", "us")) and noun not in NO_NAMES | STARTS | ENDS
    is_verb = word.lower() in _VERBS or word.lower().endswith(("ed", "ing")) or not _is_name(word)
    return bool(_WHOLE.fullmatch(part.value)) and is_plural and is_verb and word[-1].isalpha()


def _find_last_noun_behind(part: _Part, following: Sequence[_Part]) -> str:
    """Return the word behind a number with which a phrase ends: `vertex 3 at checkpoint 1: 741 vertices`."""
    if not _NUMBER.fullmatch(part.value) or part.suffix or not following:
        return ""
    noun = _find_noun_behind(following[0])
    is_end = len(following) == 1 or following[0].prefix[-1:] in tuple(",;.:)") or following[1].prefix.startswith("(")
    return noun if is_end else ""


def _find_noun_before(row: Sequence[_Part]) -> str:
    """Return the last plain word before a value that names neither a value nor a unit; empty without one."""
    words = (
        part.prefix
        for part, following in reversed([*itertools.pairwise(row)])
        if not part.value and part.prefix.isalpha() and not following.value
    )
    return next((word for word in words if word.lower() not in NO_NAMES and word.lower() not in UNITS), "")


def _suggest_name(words: Sequence[str], value: str, unit: str, is_behind_value: bool) -> str:
    """Return a name for a value: that of its unit behind a word such as `in` or another value, else the last word."""
    is_prepositional = is_behind_value or not words or not _is_name(words[-1])
    text = value + unit
    if is_prepositional and value.startswith("/"):
        return "path"
    for name in ("duration", "size"):
        if is_prepositional and not text.isdigit() and QUANTITIES[name].is_valid(text):
            return name
    if is_prepositional and UNITS.get(unit) in _TIME_UNITS:
        return "duration"
    return next((word for word in reversed(words) if split_words(word) and _is_name(word)), "value")


def _lengthen_name(words: Sequence[str], part: _Part, suggestion: str) -> str:
    """Return the name of a value with one more word before it; that of a member with the heading of its section."""
    if part.name:
        heading = next((word for word in reversed(words) if _HEADING.fullmatch(word)), "")
        return f"{heading} {part.name}" if heading else ""
    names = (word for word in reversed(words) if split_words(word) and _is_name(word))
    last, before = next(names, ""), next(names, "")
    return f"{before} {last}" if before and last == suggestion else ""


def _is_name(word: str) -> bool:
    return word.rstrip(":").lower() not in NO_NAMES


def _mask_message(message: str, context: re.Match[str] | None) -> tuple[_Part, ...]:
    """Return the parts of a message: its words, those of a request by their place, a context as one."""
    if context:
        group = _Part("[", "context", context[1][1:-1], "]", is_phrase=True)
        words = _mask_message(message[context.end() :], None)
        return (_mask(message[: context.start(1)].strip()), group, *words)
    if len(message) <= _LONGEST_TAIL and (tail := _JSON_TAIL.search(message)) and is_object(tail["json"]):
        head = _mask_message(message[: tail.start("json")], None) if message[: tail.start("json")].strip() else ()
        return (*head, *_mask_object(tail["json"]))
    tokens = [match[0] for match in _TOKEN.finditer(message)]
    parts = [_mask(token) for token in tokens]
    for index, token in enumerate(tokens[:-1]):
        method, path = _METHOD.fullmatch(token), _PATH.fullmatch(tokens[index + 1])
        if method and path:
            parts[index] = _Part(method["start"], "method", method["value"])
            parts[index + 1] = _Part("", "path", path["value"], path["end"])
            protocol = _PROTOCOL.fullmatch(tokens[index + 2]) if index + 2 < len(tokens) else None
            if protocol:
                parts[index + 2] = _Part(protocol["start"], "protocol", protocol["value"], protocol["end"])
    split: list[list[_Part]] = [[part] for part in parts]
    for index, token in enumerate(tokens):
        if "," in token and _PAIRS.fullmatch(token):
            *pairs, last = token.split(",")
            split[index] = [*(_glue(_mask(pair)) for pair in pairs), _mask(last)]
    for index, token in enumerate(tokens):
        match = _SLASHED_NUMBERS.fullmatch(token)
        if match and not _DATE.fullmatch(match["values"]):
            place = _find_slashed_names(tokens, index)
            split[place] = [_Part(tokens[place])]  # names may have digits
            split[index] = _split_slashed(tokens, index, place, match)
    return tuple(itertools.chain.from_iterable(split))


def _glue(part: _Part) -> _Part:
    """Return a part that a comma joins with the next one."""
    if part.value:
        return replace(part, suffix=f"{part.suffix},", is_glued=True)
    return replace(part, prefix=f"{part.prefix},", is_glued=True)


def _mask_object(text: str) -> list[_Part]:
    """Return a part for each member of an object of JSON with which a message ends."""
    members, tail = split_json(text)
    parts = []
    for member in members:
        quote = QUOTE * member.has_quotes
        start = f"{_escape(member.before)}{quote}"
        parts.append(_Part(start, member.path[-1], member.value, quote, is_phrase=member.has_quotes, is_glued=True)
                     if member.value else _Part(f"{start}{quote}", is_glued=True))  # fmt: skip
    return [*parts, _Part(_escape(tail))]


def _escape(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _find_slashed_names(tokens: Sequence[str], index: int) -> int:
    """Return the place of the names of the numbers of a token; its own without any."""
    for place in range(index - 1, max(index - 2 - _MAX_BETWEEN, -1), -1):
        if _SLASHED_NAMES.fullmatch(tokens[place].strip("()[]=:,")):
            return place
    return index


def _split_slashed(tokens: Sequence[str], index: int, place: int, match: re.Match[str]) -> list[_Part]:
    """Return a part for each of the numbers between slashes of a token; `place` is that of their names."""
    values, signs = _SEPARATOR.split(match["values"])[::2], [*_SEPARATOR.split(match["values"])[1::2], match["end"]]
    names = (match["names"] or tokens[place]).strip("()[]=:,").split("/")
    if len(names) != len(values) or not (match["names"] or place < index):
        names = [""] * len(values)
    elif place > 0 and (noun := tokens[place - 1].strip("()[]:,")).isalpha() and noun.lower() not in NO_NAMES:
        names = [f"{noun} {name}" for name in names]
    first = match["start"] + (match["names"] or "")
    return [
        _Part(first if number == 0 else "", name, value, sign, is_glued=number < len(values) - 1)
        for number, (name, value, sign) in enumerate(zip(names, values, signs, strict=True))
    ]  # fmt: skip


def _name_rated(unit: str, thing: str) -> str:
    """Return the name of a number with a unit for each of something: `1.2s/it` is a duration, `12.5it/s` a rate."""
    return f"{thing} duration {_LONG_SECONDS.get(unit, unit)}" if UNITS.get(unit) in TIMES else f"{unit} per {thing}"


def _mask(token: str) -> _Part:
    """Return the parts of a token."""
    if match := _QUOTED_MEMBER.fullmatch(token):
        start = f'{match["start"]}{match["key"]}="'
        return _Part(start, match["key"], match["value"], f'"{match["end"]}') if match["value"] else _Part(token)
    match = _MEMBER.fullmatch(token)
    if match and not match["value"].startswith("/") and (match["sign"] == "=" or _VARYING.search(match["value"])):
        return _split_suffix(
            _Part(match["start"] + match["key"] + match["sign"], match["key"], match["value"], match["end"])
        )
    if match := _NUMBERED.fullmatch(token):
        is_process = match["sign"] == "[" and match["end"] == "]:"  # as syslog writes it
        name = f"{match['word']} pid" if is_process else match["word"]
        return _Part(match["word"] + match["sign"], name, match["value"], match["end"])
    if match := _RATED.fullmatch(token):
        return _Part(match["start"], _name_rated(match["unit"], match["thing"]), match["value"],
                     f"{match['unit']}/{match['thing']}{match['end']}")  # fmt: skip
    match = _PUNCTUATED.fullmatch(token)
    if match and match["value"] and _VARYING.search(token):
        name = "address" if _ADDRESSES.fullmatch(match["value"]) else ""
        return _split_suffix(_Part(match["start"], name, match["value"], match["end"]))
    return _Part(token)


def _split_suffix(part: _Part) -> _Part:
    """Return a number without the mark or unit behind it, which has a rate in its name."""
    if match := _PIPED.fullmatch(part.value):
        name = f"{part.name} {match['unit']}" if match["unit"] in UNITS else part.name
        return replace(part, name=name, value=match["number"], suffix=match["rest"] + part.suffix)
    match = _SUFFIXED.fullmatch(part.value)
    if not match or any(QUANTITIES[kind].is_valid(part.value) for kind in ("duration", "size", "binarySize")):
        return part
    name = f"{part.name} {match['unit']}" if "/" in match["unit"] else part.name
    return replace(part, name=name.strip(), value=match["number"], suffix=match["unit"] + part.suffix)
