"""Check sources: line patterns, time formats, time zones, and positions in logs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from assay.lang import time_format
from assay.lang.check.checker import Checker
from assay.lang.dependencies import find_events
from assay.lang.line_pattern import VALUE, Pattern, PatternError, parse_pattern
from assay.lang.model.package import Event, Field, Form, Grain, Instant, Source
from assay.lang.model.source_kinds import JSON_LINES, LOGFMT, SOURCE_KINDS, TEXT_LINES, SourceKind
from assay.lang.model.vocabulary import LATEST_BEFORE
from assay.lang.scopes import HOST, LOGS, list_row_columns
from assay.util.diagnostics import Diagnostic, suggest_names

KINDS_WITH_LOOKUPS = f"kind {JSON_LINES.name} or {LOGFMT.name}"


def check_lines(checker: Checker) -> None:
    """Check the time format of every source, and the patterns of text lines with their events."""
    for source in checker.package.sources:
        kind = SOURCE_KINDS.get(source.kind)
        if kind is None:
            continue  # the unknown kind is reported already
        if not kind.has_series and source.time:
            _check_time(checker, source)
        else:
            _check_unused_fields(checker, source, ("time_form", "start", "zone"), "records with instants (`time`)")
        if source.or_time and not kind.has_alternative_times:
            message = f"source `{source.name}` has several paths for its instants"
            hint = "only logs with lookups support `orTime`"
            checker.report(
                "no-place",
                message,
                source.name,
                expected=KINDS_WITH_LOOKUPS,
                found=source.kind,
                hint=hint,
            )
        if not kind.has_alternative_times:
            _check_own_times(checker, source)
        if not kind.has_exclusions:
            _check_exclusions(checker, source, kind)
        if kind.needs_time and not source.time:
            checker.report(
                "no-time",
                f"source `{source.name}` has no path for the time of its lines",
                source.name,
                expected='the path of a line\'s instant, such as `time = [ "at" ]`',
                hint="the time is optional for lines of text and for records of lists, tables and blocks",
            )
        if not kind.has_patterns:
            _check_unused_fields(checker, source, ("line",), f"kind {TEXT_LINES.name}")
        else:
            _check_text_lines(checker, source)


def _check_own_times(checker: Checker, source: Source) -> None:
    """Report events of a source whose records all have their instants at one place."""
    for event in checker.package.events:
        if event.source == source.name and any(form.time for form in event.forms):
            checker.report(
                "no-place",
                f"event `{event.name}` has its own path for its instants",
                event.name,
                expected=KINDS_WITH_LOOKUPS,
                found=source.kind,
                hint="only logs with lookups support `E.time`",
            )


def _check_exclusions(checker: Checker, source: Source, kind: SourceKind) -> None:
    """Report events of a source whose records no `unless` can rule out."""
    for event in checker.package.events:
        if event.source == source.name and any(form.unless for form in event.forms):
            message = f"event `{event.name}` has an `unless`, which sources of the kind {kind.name} do not support"
            hint = "express it in the pattern" if kind.has_patterns else "select the rows in a grain"
            checker.report("event-unless", message, event.name, hint=hint)


def _check_unused_fields(checker: Checker, source: Source, fields: Sequence[str], expected: str) -> None:
    """Report the first of some fields that this kind of source does not read."""
    for name in [name for name in fields if getattr(source, name)][:1]:
        word = {"time_form": "timeForm"}.get(name, name)
        checker.report(
            "source-member",
            f"unused field `{word}` of source `{source.name}`",
            source.name,
            expected=expected,
            found=f"kind {source.kind}" if SOURCE_KINDS[source.kind].has_series or name == "line" else "no `time`",
        )


def _check_time(checker: Checker, source: Source) -> None:
    if fault := time_format.find_format_error(source.time_form):
        checker.report(
            "time-form",
            f"instants of source `{source.name}`: {fault}",
            source.time_form if checker.locate(source.time_form, 0)[0] else source.name,
            expected="nothing for ISO 8601; s, ms, us or ns since 1970; or places such as %Y-%m-%d %H:%M:%S",
        )
    if source.start:
        _check_start(checker, source)
    if source.zone and time_format.parse_offset(source.zone) is None:
        checker.report(
            "zone",
            f"unsupported zone `{source.zone}` of source `{source.name}`",
            source.zone if checker.locate(source.zone, 0)[0] else source.name,
            expected="UTC, or an offset such as +02:00",
            hint="with daylight saving time, a local time can be ambiguous",
        )
    if "%" in source.time_form and not source.zone:
        message = f"source `{source.name}` has no zone for its times"
        checker.report("zone", message, source.name, expected="`zone`: UTC, or an offset such as +02:00")


def _check_start(checker: Checker, source: Source) -> None:
    """Check that the start of a source is an instant, and that its times are numbers that count from it."""
    types = {item.name: item.type for owner in checker.package.sources for item in owner.constants}
    if types.get(source.start) != "instant":
        checker.report(
            "unknown-constant",
            f"constant `{source.start}`, the start of source `{source.name}`, is not an instant",
            source.start if checker.locate(source.start, 0)[0] else source.name,
            found=f"type {types[source.start]}" if source.start in types else "no constant of this name",
            hint=suggest_names(source.start, [name for name, kind in types.items() if kind == "instant"]),
            within=(source.name,),
        )
    if source.time_form not in time_format.SINCE_1970:
        checker.report(
            "time-form",
            f"times of source `{source.name}` do not count from its start, the constant `{source.start}`",
            source.start if checker.locate(source.start, 0)[0] else source.name,
            expected=f"`timeForm`: {', '.join(time_format.SINCE_1970)}",
            found=source.time_form or "ISO 8601 (no `timeForm`)",
            within=(source.name,),
        )


def check_constants(checker: Checker) -> None:
    """Check that each constant has a path in documents or the pattern of a line."""
    for constant in dict.fromkeys(item for source in checker.package.sources for item in source.constants):
        if bool(constant.line) == bool(constant.path or constant.or_at):
            checker.report(
                "no-place",
                f"constant `{constant.name}` has " + ("both `path` and `line`" if constant.line else "no place"),
                constant.name,
                expected="`path` in a JSON document, or the pattern `line` of a line of text",
            )
        elif constant.line:
            owner = f"the `line` of constant `{constant.name}`"
            pattern = _parse_pattern(checker, owner, constant.line, constant.name)
            if pattern and VALUE not in pattern.required_places:
                checker.report(
                    "no-place",
                    f"{owner} has no place for its value",
                    constant.line if checker.locate(constant.line, 0)[0] else constant.name,
                    expected=f"the place {{{VALUE}}} or {{{VALUE}...}} outside optional parts",
                    found=", ".join(pattern.places) or "no places",
                )


def _check_text_lines(checker: Checker, source: Source) -> None:
    owner = f"the `line` of source `{source.name}`"
    layout = _parse_pattern(checker, owner, source.line, source.name) if source.line else None
    if source.line and not layout:
        return
    for name, path in (("time", source.time), ("body", source.body)):
        if not path and (name == "time" or not source.line):
            continue
        _check_line_capture(checker, source, name, path, layout)
    for event in checker.package.events:
        if event.source == source.name:
            _check_event(checker, source, event, layout)


def _check_line_capture(
    checker: Checker, source: Source, name: str, path: Sequence[str], layout: Pattern | None
) -> None:
    """Check that the body is one capture of the `line` pattern, and the time one or several.

    Without a `line`, the time is one capture of each event pattern.
    """
    is_place = set(path) <= set(layout.required_places) if layout else name == "time"
    if is_place and (len(path) == 1 or (path and layout and name == "time")):
        return
    captures = layout.required_places if layout else ()
    checker.report(
        "no-place",
        f"the {name} of source `{source.name}` is not a place of its `line`",
        path[0] if path and checker.locate(path[0], 0)[0] else source.name,
        expected=f"{'places' if name == 'time' else 'one place'} outside optional parts"
        if layout
        else "a place of every pattern"
        if name == "time"
        else "none",
        found=", ".join(path) or "nothing",
        hint=suggest_names(next((item for item in path if item not in captures), path[0]), captures)
        if path and captures
        else "",
        within=(source.name,),
    )


def _parse_pattern(checker: Checker, owner: str, text: str, word: str) -> Pattern | None:
    """Return the parsed pattern; report its error at the place in the sources and return None."""
    try:
        return parse_pattern(text)
    except PatternError as error:
        span, excerpt = checker.locate(text, 0) if text else (None, "")
        if span and text in excerpt:  # the source has the text without escapes, so columns match
            column = span.column + 1 + error.position
            source_line = excerpt.split("\n")[0]
            gutter = source_line.index("|") + 2
            span = replace(span, column=column, length=error.length)
            excerpt = f"{source_line}\n{' ' * (gutter - 2)}| {' ' * (column - 1)}{'^' * max(error.length, 1)}"
        elif not span:
            span, excerpt = checker.locate(word, 0)
        source_text = "" if span and span.length == error.length else text
        checker.add(
            Diagnostic("pattern", f"{owner}: {error.message}", span, excerpt, found=source_text, hint=error.hint)
        )
        return None


def _check_event(checker: Checker, source: Source, event: Event, layout: Pattern | None) -> None:
    for form in event.forms:
        patterns = [
            _parse_pattern(checker, f"a pattern of event `{event.name}`", item.name, event.name) for item in form.names
        ]
        for pattern, name in zip(patterns, form.names, strict=True):
            if pattern:
                _check_captures(checker, source, event, form, pattern, name.name, layout)


def _check_captures(
    checker: Checker, source: Source, event: Event, form: Form, pattern: Pattern, text: str, layout: Pattern | None
) -> None:
    """Check the captures of a pattern: time and fields have one, and no name is in both patterns."""
    line_captures = layout.places if layout else ()
    for name in sorted(set(line_captures) & set(pattern.places)):
        checker.report(
            "place-twice",
            f"place `{name}` is both in a pattern of event `{event.name}` and in the `line` of its source",
            text if checker.locate(text, 0)[0] else event.name,
            hint="rename one of them",
        )
    if layout is None and source.time and source.time[0] not in pattern.required_places:
        checker.report(
            "no-place",
            f"a pattern of event `{event.name}` has no place for the time",
            text if checker.locate(text, 0)[0] else event.name,
            expected=f"the place {{{source.time[0]}}} outside optional parts",
            found=", ".join(pattern.places) or "no places",
        )
    for field in form.fields:
        _check_field(checker, event, form, field, (*line_captures, *pattern.places))


def _check_field(checker: Checker, event: Event, form: Form, field: Field, places: Sequence[str]) -> None:
    """Check that a field is captured.

    A required field needs a capture in each pattern of its form, an optional one in any pattern.
    """
    if not field.paths or any(len(path) == 1 and path[0] in places for path in field.paths):
        return
    form_captures = {place for item in form.names for place in _list_captures(item.name)}
    if not (field.required and field.default is None) and any(path[0] in form_captures for path in field.paths if path):
        return
    paths = ", ".join(".".join(path) for path in field.paths)
    checker.report(
        "no-place",
        f"unknown place `{paths}` of field `{field.name}` of event `{event.name}`",
        field.paths[0][-1] if field.paths[0] and checker.locate(field.paths[0][-1], 0)[0] else field.name,
        hint=suggest_names(field.paths[0][-1] if field.paths[0] else "", places),
    )


def _list_captures(text: str) -> tuple[str, ...]:
    """Return the captures of a pattern; none where it cannot be parsed, which is reported elsewhere."""
    try:
        return parse_pattern(text).places
    except PatternError:
        return ()


def check_log_positions(checker: Checker) -> None:
    """Check instants that are picked by position in a log, and that readers of logs name a source."""
    sources_with_hosts = {item.name for item in checker.package.sources if item.hosts}
    for grain in checker.package.grains:
        instants = {item.name: item for item in grain.instants}
        for instant in grain.instants:
            anchor = instants.get(instant.before)
            if instant.pick == LATEST_BEFORE and anchor:
                _check_latest_before(checker, grain, instant, anchor, sources_with_hosts)
    if len(checker.package.sources) > 1:
        _check_log_readers(checker)


def _check_latest_before(
    checker: Checker,
    grain: Grain,
    instant: Instant,
    anchor: Instant,
    sources_with_hosts: set[str],
) -> None:
    """Check that an instant picked as the latest before another is in the same log as that."""
    owner = f"instant `{instant.name}` of grain `{grain.name}` is the latest before `{anchor.name}`"
    sources, expected_sources = (_list_sources(checker, item.of) for item in (instant, anchor))
    if len({*sources, *expected_sources}) > 1:
        checker.report(
            "pick",
            f"{owner}, but records of different sources have no order",
            instant.name,
            expected=f"an event of source {expected_sources[0]}"
            if len(expected_sources) == 1
            else f"`{anchor.of}` with records of one source, instead of {', '.join(expected_sources)}",
            found=f"`{instant.of}` of {', '.join(sources)}",
        )
        return
    unbound = [
        item
        for item in (instant, anchor)
        if HOST in (list_row_columns(checker.package, item.of) or ()) and HOST not in {pair.field for pair in item.on}
    ]
    if sources and sources[0] in sources_with_hosts and unbound:
        checker.report(
            "pick",
            f"{owner}, but `{unbound[0].name}` is not bound by host, and logs of several hosts have no order",
            instant.name,
            expected=f"a pair of `{HOST}` in `on`",
            found=", ".join(pair.field for pair in unbound[0].on),
        )


def _list_sources(checker: Checker, table: str) -> list[str]:
    """Return the sources of the events that a table depends on, sorted."""
    events = find_events(checker.package, [table])
    return sorted({event.source for event in checker.package.events if event.name in events})


def _check_log_readers(checker: Checker) -> None:
    """Check that SQL which reads the logs names an event of the source it means.

    Only needed in a package with several sources.
    """
    package = checker.package
    readers = [(f"relation `{item.name}`", item.name, item.uses) for item in package.relations]
    tables = [(item.name, item.checks) for item in package.relations]
    tables += [(item.name, item.checks) for item in package.grains]
    for name, checks in tables:
        readers += [(f"check `{item.code}` of `{name}`", item.code, (*item.uses, name)) for item in checks]
    for owner, word, uses in readers:
        if LOGS in uses and not find_events(package, uses):
            checker.report(
                "logs",
                f"{owner} reads `{LOGS}` but no event, so its source is unknown",
                word,
                expected=f"an event of one of {', '.join(sorted(item.name for item in package.sources))} in `uses`",
            )
