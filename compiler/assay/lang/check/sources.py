"""Check sources: line patterns, time formats, time zones, and positions in logs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from assay.lang import time_format
from assay.lang.check.checker import Checker
from assay.lang.dependencies import find_events
from assay.lang.line_pattern import Pattern, PatternError, parse
from assay.lang.model.package import Event, Field, Form, Grain, Instant, Source
from assay.lang.model.source_kinds import JSON_LINES, SOURCE_KINDS, TEXT_LINES
from assay.lang.model.vocabulary import LATEST_BEFORE
from assay.lang.scopes import HOST, LOGS
from assay.util.diagnostics import Diagnostic, did_you_mean


def check_lines(checker: Checker) -> None:
    """Check how every source tells instants, and those of text lines with their events."""
    for source in checker.package.sources:
        kind = SOURCE_KINDS[source.kind]
        if not kind.has_series and (source.time or kind.has_patterns):
            _time(checker, source)
        else:
            _superfluous(checker, source, ("time_form", "zone"), "that its records have instants (`time`)")
        if source.or_time and not kind.has_alternative_times:
            message = f"source `{source.name}` has several paths of its instants"
            hint = "`orTime` is for JSON lines; other sources have one"
            checker.report(
                "no-place", message, source.name, expected=f"kind {JSON_LINES.name}", found=source.kind, hint=hint
            )
        if kind.needs_time and not source.time:
            checker.report(
                "no-time",
                f"source `{source.name}` does not say where its lines tell the time",
                source.name,
                expected='the path of a line\'s instant, such as `time = [ "at" ]`',
                hint="records of lists, tables and blocks may have none; the lines of a log have",
            )
        if not kind.has_patterns:
            _superfluous(checker, source, ("line",), f"kind {TEXT_LINES.name}")
        else:
            _text_lines(checker, source)


def _superfluous(checker: Checker, source: Source, members: Sequence[str], expected: str) -> None:
    """Members that a source of this kind does not read, the first of those that it has."""
    for name in [name for name in members if getattr(source, name)][:1]:
        word = {"time_form": "timeForm"}.get(name, name)
        checker.report(
            "source-member",
            f"source `{source.name}` has `{word}`, which it does not read",
            source.name,
            expected=expected,
            found=f"kind {source.kind}" if SOURCE_KINDS[source.kind].has_series or name == "line" else "no `time`",
        )


def _time(checker: Checker, source: Source) -> None:
    if fault := time_format.find_format_error(source.time_form):
        checker.report(
            "time-form",
            f"instants of source `{source.name}`: {fault}",
            source.time_form if checker.locate(source.time_form, 0)[0] else source.name,
            expected="nothing for ISO 8601; s, ms, us or ns since 1970; or places such as %Y-%m-%d %H:%M:%S",
        )
    if source.zone and time_format.offset_ns(source.zone) is None:
        checker.report(
            "zone",
            f"source `{source.name}` is in a zone that there is not: `{source.zone}`",
            source.zone if checker.locate(source.zone, 0)[0] else source.name,
            expected="UTC, or an offset such as +02:00",
            hint="the local time of a place with summer time does not tell an instant",
        )
    if "%" in source.time_form and not source.zone:
        message = f"source `{source.name}` does not tell the zone of its times"
        checker.report("zone", message, source.name, expected="`zone`: UTC, or an offset such as +02:00")


def _text_lines(checker: Checker, source: Source) -> None:
    what = f"the `line` of source `{source.name}`"
    layout = _parsed(checker, what, source.line, source.name) if source.line else None
    if source.line and not layout:
        return
    for name, path in (("time", source.time), ("body", source.body)):
        if name == "body" and not source.line and not path:
            continue
        _one_place(checker, source, name, path, layout)
    for event in checker.package.events:
        if event.source == source.name:
            _event(checker, source, event, layout)


def _one_place(checker: Checker, source: Source, name: str, path: Sequence[str], layout: Pattern | None) -> None:
    """The time and the body are each a place of the line; the time, where there is no `line`, one of each pattern."""
    if len(path) == 1 and (path[0] in layout.sure if layout else name == "time"):
        return
    known = layout.sure if layout else ()
    checker.report(
        "no-place",
        f"the {name} of source `{source.name}` is no place of its `line`",
        path[0] if path and checker.locate(path[0], 0)[0] else source.name,
        expected="one place, in no optional part"
        if layout
        else "a place of every pattern"
        if name == "time"
        else "none",
        found=", ".join(path) or "nothing",
        hint=did_you_mean(path[0], known) if path and known else "",
        within=(source.name,),
    )


def _parsed(checker: Checker, what: str, text: str, word: str) -> Pattern | None:
    """The pattern of a text, or None with the problem noted where it is in the sources."""
    try:
        return parse(text)
    except PatternError as error:
        span, excerpt = checker.locate(text, 0) if text else (None, "")
        if span and text in excerpt:  # it is written as it is, without escapes
            column = span.column + 1 + error.at
            first = excerpt.split("\n")[0]
            gutter = first.index("|") + 2
            span = replace(span, column=column, length=error.length)
            excerpt = f"{first}\n{' ' * (gutter - 2)}| {' ' * (column - 1)}{'^' * max(error.length, 1)}"
        elif not span:
            span, excerpt = checker.locate(word, 0)
        found = "" if span and span.length == error.length else text
        checker.note(Diagnostic("pattern", f"{what}: {error.message}", span, excerpt, found=found, hint=error.hint))
        return None


def _event(checker: Checker, source: Source, event: Event, layout: Pattern | None) -> None:
    for form in event.forms:
        if form.unless:
            message = f"event `{event.name}` has an `unless`, which forms of text lines do not have"
            checker.report("event-unless", message, event.name, hint="say it in the pattern")
        patterns = [
            _parsed(checker, f"a pattern of event `{event.name}`", item.name, event.name) for item in form.names
        ]
        for pattern, name in zip(patterns, form.names, strict=True):
            if pattern:
                _places(checker, source, event, form, pattern, name.name, layout)


def _places(
    checker: Checker, source: Source, event: Event, form: Form, pattern: Pattern, text: str, layout: Pattern | None
) -> None:
    """Fields are read from places; the time is told; no place is named in both patterns."""
    outer = layout.places if layout else ()
    for name in sorted(set(outer) & set(pattern.places)):
        checker.report(
            "place-twice",
            f"the place `{name}` is named in a pattern of event `{event.name}` and in the `line` of its source",
            text if checker.locate(text, 0)[0] else event.name,
            hint="rename one of them",
        )
    if layout is None and source.time and source.time[0] not in pattern.sure:
        checker.report(
            "no-place",
            f"a pattern of event `{event.name}` does not tell the time",
            text if checker.locate(text, 0)[0] else event.name,
            expected=f"the place {{{source.time[0]}}}, in no optional part",
            found=", ".join(pattern.places) or "no place",
        )
    for field in form.fields:
        _field(checker, event, form, field, (*outer, *pattern.places))


def _field(checker: Checker, event: Event, form: Form, field: Field, places: Sequence[str]) -> None:
    """A field that must be there has a place in each pattern of its form; any other in one of them."""
    if not field.paths or any(len(path) == 1 and path[0] in places for path in field.paths):
        return
    elsewhere = {place for item in form.names for place in _quiet(item.name)}
    if not (field.required and field.default is None) and any(path[0] in elsewhere for path in field.paths if path):
        return
    asked = ", ".join(".".join(path) for path in field.paths)
    checker.report(
        "no-place",
        f"field `{field.name}` of event `{event.name}` is read from a place that its pattern does not have: `{asked}`",
        field.paths[0][-1] if field.paths[0] and checker.locate(field.paths[0][-1], 0)[0] else field.name,
        hint=did_you_mean(field.paths[0][-1] if field.paths[0] else "", places),
    )


def _quiet(text: str) -> tuple[str, ...]:
    try:
        return parse(text).places
    except PatternError:
        return ()


def check_log_positions(checker: Checker) -> None:
    """Check what is picked by its place in a log, and of whose logs relations are."""
    source = {event.name: event.source for event in checker.package.events}
    of_hosts = {item.name for item in checker.package.sources if item.hosts}
    for grain in checker.package.grains:
        named = {item.name: item for item in grain.instants}
        for instant in grain.instants:
            anchor = named.get(instant.before)
            if instant.pick == LATEST_BEFORE and anchor and {instant.of, anchor.of} <= set(source):
                _latest(checker, grain, instant, anchor, (source[instant.of], source[anchor.of]), of_hosts)
    if len(checker.package.sources) > 1:
        _logs(checker)


def _latest(
    checker: Checker, grain: Grain, instant: Instant, anchor: Instant, sources: tuple[str, str], of_hosts: set[str]
) -> None:
    """The latest before another stands in the same log as that."""
    what = f"instant `{instant.name}` of grain `{grain.name}` is the latest before `{anchor.name}`"
    if sources[0] != sources[1]:
        checker.report(
            "pick",
            f"{what}, which is of another source: their records have no order",
            instant.name,
            expected=f"an event of source {sources[1]}",
            found=f"`{instant.of}` of {sources[0]}",
        )
        return
    loose = [item for item in (instant, anchor) if HOST not in {pair.field for pair in item.on}]
    if sources[0] in of_hosts and loose:
        checker.report(
            "pick",
            f"{what}, but `{loose[0].name}` is not bound by the host: logs of several hosts have no order",
            instant.name,
            expected=f"a pair of `{HOST}` among `on`",
            found=", ".join(pair.field for pair in loose[0].on),
        )


def _logs(checker: Checker) -> None:
    """Where there are several sources, a relation over the logs says by its events whose logs."""
    package = checker.package
    texts = [(f"relation `{item.name}`", item.name, item.uses) for item in package.relations]
    checked = [(item.name, item.checks) for item in package.relations]
    checked += [(item.name, item.checks) for item in package.grains]
    for name, checks in checked:
        texts += [(f"check `{item.code}` of `{name}`", item.code, (*item.uses, name)) for item in checks]
    for what, word, uses in texts:
        if LOGS in uses and not find_events(package, uses):
            checker.report(
                "logs",
                f"{what} reads `{LOGS}`, but no event, so that it does not say of which source",
                word,
                expected=f"an event of one of {', '.join(sorted(item.name for item in package.sources))} among `uses`",
            )
