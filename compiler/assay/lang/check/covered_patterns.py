"""Check that each pattern of a log's lines can match: that no event before its own takes all of its lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from assay.lang.check.checker import Checker
from assay.lang.line_pattern import REST, WORD, Pattern, PatternError, parse_pattern
from assay.lang.model.package import Event
from assay.lang.model.source_kinds import SOURCE_KINDS

#: the symbols of patterns besides literal characters: blanks, a word, any text, any text that begins with no blank
BLANKS, WORDS, TEXT, TEXT_AFTER_BLANK = " ", "word", "text", "text after a blank"


@dataclass(frozen=True, slots=True)
class _OwnPattern:
    """A pattern with its text and the name of its event."""

    event: str
    text: str
    pattern: Pattern


def check_covered_patterns(checker: Checker) -> None:
    """Report patterns all of whose lines match a pattern of an event that comes first in the package.

    Equal texts are reported as names that events share.
    """
    for source in checker.package.sources:
        kind = SOURCE_KINDS.get(source.kind)
        before: list[_OwnPattern] = []
        for event in checker.package.events if kind and kind.has_patterns else ():
            if event.source == source.name:
                own_patterns = _list_patterns(event)
                for item in own_patterns:
                    covering = (other for other in before if covers(other.pattern, item.pattern))
                    if (first := next(covering, None)) and first.text != item.text:
                        _report_covered(checker, item, first)
                before += own_patterns


def _list_patterns(event: Event) -> list[_OwnPattern]:
    """List the patterns of an event, except those that cannot be parsed, which are reported elsewhere."""
    patterns = []
    for text in dict.fromkeys(name.name for form in event.forms for name in form.names):
        try:
            patterns.append(_OwnPattern(event.name, text, parse_pattern(text)))
        except PatternError:
            continue
    return patterns


def _report_covered(checker: Checker, item: _OwnPattern, first: _OwnPattern) -> None:
    place = checker.locate(first.text, 0, (first.event,))[0]
    checker.report(
        "covered-pattern",
        f"a pattern of event `{item.event}` never matches: event `{first.event}`, listed first, takes all its lines",
        item.text if checker.locate(item.text, 0)[0] else item.event,
        found=f"`{first.text}` in `{first.event}`{f', at {place}' if place else ''}",
        hint="the patterns match the same lines: remove one of them"
        if covers(item.pattern, first.pattern)
        else f"list `{item.event}` before `{first.event}` in the events of the package",
        within=(item.event,),
    )


@dataclass(frozen=True, slots=True)
class _Symbols:
    """The symbols of a pattern; `skips` maps the beginning of an optional part to its end."""

    symbols: tuple[str, ...]
    skips: dict[int, int]

    @property
    def prefix(self) -> tuple[str, ...]:
        """Return the literal symbols that every line begins with."""
        end = min([at for at, symbol in enumerate(self.symbols) if len(symbol) > 1] + [*self.skips, len(self.symbols)])
        return self.symbols[:end]


def covers(wider: Pattern, narrower: Pattern) -> bool:
    """Return whether every line that `narrower` matches is known to be matched by `wider`."""
    wide, narrow = _split(wider), _split(narrower)
    if narrow.symbols[: len(wide.prefix)] != wide.prefix:
        return False
    end, wide_end = len(narrow.symbols), len(wide.symbols)
    # includes[i][j]: whether wide.symbols[j:] matches every text that narrow.symbols[i:] matches. `goes_on` is the same
    # after symbol j of `wide` has already matched some text.
    includes = [[False] * (wide_end + 1) for _ in range(end + 1)]
    goes_on = [[False] * (wide_end + 1) for _ in range(end + 1)]
    includes[end] = [wide_end in _iter_places(wide, place) for place in range(wide_end + 1)]

    def matches_rest(at: int, place: int) -> bool:
        return includes[at + 1][place + 1] or goes_on[at + 1][place]

    for at in reversed(range(end)):
        skip = narrow.skips.get(at)
        for place in range(wide_end + 1):
            includes[at][place] = (skip is None or includes[skip][place]) and any(
                _includes_first(wide.symbols[first], narrow.symbols[at]) and matches_rest(at, first)
                for first in _iter_places(wide, place)
                if first < wide_end
            )
        for place in range(wide_end):
            goes_on[at][place] = (
                (skip is None or includes[skip][place + 1] or goes_on[skip][place])
                and _includes_more(wide.symbols[place], narrow.symbols[at])
                and matches_rest(at, place)
            )
    return includes[0][0]


def _iter_places(pattern: _Symbols, place: int) -> Iterator[int]:
    """Yield a place and those after the optional parts that begin there."""
    yield place
    while place in pattern.skips:
        place = pattern.skips[place]
        yield place


def _includes_first(wide: str, narrow: str) -> bool:
    """Return whether every text of the symbol `narrow` can start a match of the symbol `wide`."""
    if wide == TEXT:
        return True
    if wide == TEXT_AFTER_BLANK:
        return narrow not in (BLANKS, TEXT)
    return wide == narrow if len(wide) == 1 else _includes_more(wide, narrow)


def _includes_more(wide: str, narrow: str) -> bool:
    """Return whether every text of the symbol `narrow` can extend a match of the symbol `wide`."""
    if wide in (TEXT, TEXT_AFTER_BLANK):
        return True
    if wide == WORDS:
        return narrow == WORDS or (len(narrow) == 1 and narrow != BLANKS)
    return wide == narrow == BLANKS


def _split(pattern: Pattern) -> _Symbols:
    """Return the symbols of a pattern. Text after a blank begins with none, as in its regular expression."""
    symbols: list[str] = []
    starts: dict[int, int] = {}
    ends: dict[int, int] = {}
    before = ""
    for piece in pattern.pieces:
        if piece.optional:
            starts.setdefault(piece.optional, len(symbols))
        if piece.matches == WORD:
            symbols.append(WORDS)
        elif piece.matches == REST:
            symbols.append(TEXT_AFTER_BLANK if before.endswith((" ", "\t")) else TEXT)
        else:
            symbols += re.sub(r"[ \t]+", BLANKS, piece.text)
        before = piece.text
        if piece.optional:
            ends[piece.optional] = len(symbols)
    return _Symbols(tuple(symbols), {start: ends[part] for part, start in starts.items()})
