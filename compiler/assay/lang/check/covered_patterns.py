"""Check that each pattern of a log's lines can match: that no event before its own takes all of its lines."""

from __future__ import annotations

from dataclasses import dataclass

from assay.lang.check.checker import Checker
from assay.lang.line_pattern import Pattern, PatternError, parse_pattern
from assay.lang.model.package import Event
from assay.lang.model.source_kinds import SOURCE_KINDS
from assay.lang.pattern_coverage import covers


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
