"""Merge patterns of messages that differ in an optional part, or in a word before a duration."""

from __future__ import annotations

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from assay.ingest.quantities import QUANTITIES
from assay_propose.names import NO_NAMES, NameSpace, make_identifier, split_words
from assay_propose.text_templates import Template
from assay_propose.units import TIMES, UNITS

STEP = "step"  # name of a word that varies before a duration
_CAPTURE = re.compile(r"\{(\w+)(?:\.\.\.)?\}")
_CAPTURE_NAME = re.compile(r"\{\w+")
_WORD = re.compile(r"(?P<start>\W*)(?P<word>[^\W\d_].*?)(?P<end>\W*)")
_MIN_STEPS, _MIN_FAR_STEPS = 2, 3  # texts of a word before a duration, and of one with other values between
_MAX_STEP_WORDS = 4
_MANY_SPANS = 40
_MAX_OPTIONAL = 3  # optional parts of a pattern
_MEMBER = re.compile(r"[A-Za-z_][\w.-]*=\"?\{\w+(?:\.\.\.)?\}\"?[,;]?")
_BRACKETS = {"(": ")", "[": "]"}

Pattern = tuple[str, ...]  # the words of a pattern


def merge_templates(templates: Sequence[Template], used_names: Collection[str]) -> tuple[Template, ...]:
    """Return templates of which those that differ in such a word, or in optional parts, have one pattern."""
    merged = _merge_steps(list(_merge_names(templates)), used_names)
    return tuple(_merge_optional(merged))


def _merge_names(templates: Sequence[Template]) -> Iterator[Template]:
    """Yield templates with the most frequent names of values, which may follow from the values of a line."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for template in templates:
        counts[_CAPTURE_NAME.sub("{", template.pattern)][template.pattern] += 1
    for template in templates:
        patterns = counts[_CAPTURE_NAME.sub("{", template.pattern)]
        pattern = min(patterns, key=lambda text: (-patterns[text], text))
        values = (value for _, value in template.values)
        yield replace(template, pattern=pattern, values=tuple(zip(_CAPTURE.findall(pattern), values, strict=True)))


def _merge_steps(templates: Sequence[Template], used_names: Collection[str]) -> list[Template]:
    """Give patterns like `load took {duration}` and `parse took {duration}` one pattern, with the word as a value."""
    counts: Counter[Pattern] = Counter(tuple(item.pattern.split(" ")) for item in templates)
    examples = {tuple(item.pattern.split(" ")): dict(item.values) for item in reversed(templates)}
    places = {words: place for words in counts if (place := _find_duration(words, examples[words]))}
    changes: dict[Pattern, Callable[[Template], Template]] = {}
    for list_keys in (_list_single_keys, _list_phrase_keys):
        groups: dict[tuple[int, Pattern], list[Pattern]] = defaultdict(list)
        for words, place in places.items():
            for key in list_keys(words, place):
                groups[key].append(words)
        for (start, rest), members in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0])):
            free = [words for words in members if words not in changes]
            is_near = list_keys is _list_single_keys and not any(
                "{" in word for word in _get_between(free, start, places)
            )
            if len(free) >= (_MIN_STEPS if is_near else _MIN_FAR_STEPS):
                free.sort(key=lambda words: (-counts[words], words))
                changes |= _describe_changes(free, start, len(rest), used_names)
    return [changes.get(tuple(item.pattern.split(" ")), _keep)(item) for item in templates]


def _keep(template: Template) -> Template:
    return template


def _find_duration(words: Pattern, values: Mapping[str, str]) -> int:
    """Return the place of the first duration of a pattern; 0 without one."""
    for place, word in enumerate(words):
        match = _CAPTURE.search(word)
        if not match or "..." in match[0]:
            continue
        value = values.get(match[1], "")
        is_duration = not re.fullmatch(r"[\d.]*", value) and QUANTITIES["duration"].is_valid(value)
        if is_duration or UNITS.get(split_words(match[1])[-1]) in TIMES:
            return place
    return 0


def _normalize(words: Sequence[str]) -> Pattern:
    return tuple(_CAPTURE.sub("{}", word) for word in words)


def _list_single_keys(words: Pattern, place: int) -> Iterator[tuple[int, Pattern]]:
    """Yield the place of each word before a duration, with the pattern without the word.

    Before a colon, words such as `Planning Time:` are the name of a number, not a step among others.
    """
    if words[place - 1].endswith(":") and not any("{" in word for word in words[:place]):
        return
    for start, word in enumerate(words[:place]):
        rest = (*words[:start], *words[start + 1 :])
        match = _WORD.fullmatch(word)
        if "{" not in word and match and not _is_general(match["word"]) and _has_letters(rest):
            yield start, _normalize((*words[:start], match["start"] + match["end"], *words[start + 1 :]))


def _list_phrase_keys(words: Pattern, place: int) -> Iterator[tuple[int, Pattern]]:
    """Yield what follows the words with which a pattern begins, if they precede a word such as `took`."""
    start = place - 1
    is_literal = not any("{" in word for word in words[:place])
    if is_literal and 0 < start <= _MAX_STEP_WORDS and _is_general(words[start]):
        yield 0, _normalize(("", *words[start:]))


def _is_general(word: str) -> bool:
    return word.lower() in NO_NAMES or word.lower() in UNITS


def _has_letters(words: Sequence[str]) -> bool:
    return any(re.search(r"[^\W\d_]{2}", _CAPTURE.sub("", word)) and word.lower() not in UNITS for word in words)


def _get_between(members: Sequence[Pattern], start: int, places: Mapping[Pattern, int]) -> Pattern:
    return members[0][start + 1 : places[members[0]]] if members else ()


def _describe_changes(
    members: Sequence[Pattern], start: int, size: int, used_names: Collection[str]
) -> dict[Pattern, Callable[[Template], Template]]:
    """Return how templates of each pattern change, so that all have the names of the first."""
    lengths = [len(words) - size + 1 for words in members]
    texts = [" ".join(words[start : start + length]) for words, length in zip(members, lengths, strict=True)]
    first, length = members[0], lengths[0]
    match = _WORD.fullmatch(texts[0])
    is_single = set(lengths) == {1} and match is not None
    before, after = (match["start"], match["end"]) if is_single and match else ("", "")
    names = [name for word in first for name in _CAPTURE.findall(word)]
    own_words = {word for text in texts for word in split_words(text)}
    unique = NameSpace({*used_names, *names})
    step = unique.add(STEP)
    renamed = {name: unique.add(_rename(name)) for name in names if own_words & set(split_words(name))}
    dots = "" if is_single else "..."
    pattern = " ".join((*first[:start], f"{before}{{{step}{dots}}}{after}", *first[start + length :]))
    pattern = re.sub(r"\{(\w+)", lambda item: "{" + renamed.get(item[1], item[1]), pattern)
    order = _CAPTURE.findall(pattern)

    def build(text: str) -> Callable[[Template], Template]:
        value = text.removeprefix(before).removesuffix(after) if after else text.removeprefix(before)
        place = order.index(step)

        def change(template: Template) -> Template:
            values = [item for _, item in template.values]
            values.insert(place, value)
            return replace(template, pattern=pattern, values=tuple(zip(order, values, strict=True)))

        return change

    return {words: build(text) for words, text in zip(members, texts, strict=True)}


def _rename(name: str) -> str:
    """Return the name of a duration that was called after the word that varies."""
    unit = split_words(name)[-1]
    return f"duration_{unit}" if unit in UNITS else "duration"


@dataclass(frozen=True, slots=True)
class _Group:
    """A part of a pattern that may be missing: behind which word of the rest it stands, and its words."""

    place: int
    words: Pattern

    @property
    def is_literal(self) -> bool:
        return not any("{" in word for word in self.words)


def _merge_optional(templates: Sequence[Template]) -> Iterator[Template]:
    """Yield templates with one pattern for those that differ in parts in brackets or in members; these are optional."""
    counts = Counter(item.pattern for item in templates)
    split: dict[str, tuple[str, tuple[_Group, ...]]] = {}
    for pattern in counts:
        split[pattern] = _find_base(pattern, counts)
    groups: dict[str, Counter[_Group]] = defaultdict(Counter)
    for pattern, (base, parts) in split.items():
        groups[base].update(dict.fromkeys(parts, counts[pattern]))
    patterns = {base: _write_optional(base, parts) for base, parts in groups.items() if parts}
    for template in templates:
        base, parts = split[template.pattern]
        if base not in patterns:
            yield template
            continue
        pattern, names = patterns[base]
        added = [(names[part], " ".join(part.words)[1:-1]) for part in parts if part.is_literal]
        yield replace(template, pattern=pattern, values=(*template.values, *added))


def _find_base(pattern: str, counts: Mapping[str, int]) -> tuple[str, tuple[_Group, ...]]:
    """Return the shortest pattern of other lines that remains without some parts, and these parts."""
    words = tuple(pattern.split(" "))
    spans = list(_find_spans(words))
    most = 0 if len(spans) > _MANY_SPANS else _MAX_OPTIONAL  # long lines would have too many combinations
    for size in range(min(len(spans), most), 0, -1):
        for chosen in itertools.combinations(spans, size):
            dropped = {index for start, end in chosen for index in range(start, end)}
            base = " ".join(word for index, word in enumerate(words) if index not in dropped)
            if base in counts:
                return base, tuple(
                    _Group(start - sum(index < start for index in dropped), words[start:end]) for start, end in chosen
                )
    return pattern, ()


def _find_spans(words: Pattern) -> Iterator[tuple[int, int]]:
    """Yield start and end of the parts in brackets and of the members of a pattern, except at its start."""
    start = 1
    while start < len(words):
        end = start + 1
        if closing := _BRACKETS.get(words[start][0]):
            while end < len(words) and not words[end - 1].endswith(closing):
                end += 1
            if words[end - 1].endswith(closing):
                yield start, end
                start = end
                continue
        elif _MEMBER.fullmatch(words[start]):
            yield start, end
        start += 1


def _write_optional(base: str, groups: Mapping[_Group, int]) -> tuple[str, dict[_Group, str]]:
    """Return the pattern with its optional parts, and the names of the values of those without a capture."""
    words = base.split(" ")
    names = NameSpace(
        {*_CAPTURE.findall(base), *(name for part in groups for name in _CAPTURE.findall(" ".join(part.words)))}
    )
    flags: dict[tuple[int, str], list[_Group]] = defaultdict(list)
    for part in groups:
        if part.is_literal:
            flags[part.place, part.words[0][0]].append(part)
    named: dict[_Group, str] = {}
    texts: dict[int, list[str]] = defaultdict(list)
    for (place, bracket), parts in sorted(flags.items()):
        phrase = " ".join(parts[0].words)[1:-1]
        name = names.add(make_identifier(phrase if len(parts) == 1 else "note", "note"))
        dots = "..." if any(len(part.words) > 1 for part in parts) else ""
        texts[place].append(f"{bracket}{{{name}{dots}}}{_BRACKETS[bracket]}")
        named |= dict.fromkeys(parts, name)
    for part in sorted(groups, key=lambda item: (-groups[item], item.words)):
        if not part.is_literal:
            texts[part.place].append(" ".join(part.words))
    for place, parts_there in texts.items():
        words[place - 1] += "".join(f"{{? {text}?}}" for text in dict.fromkeys(parts_there))
    return " ".join(words), named
