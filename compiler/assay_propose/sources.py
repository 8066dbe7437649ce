"""Propose a source with its events and fields, from files of one layout."""

from __future__ import annotations

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

from assay.ingest.readers.text_lines_sql import LONGEST
from assay.lang.line_pattern import parse_pattern
from assay.lang.model.source_kinds import SOURCE_KINDS
from assay.util.diagnostics import fail
from assay_propose.alternation import list_paired
from assay_propose.benchmark_lines import match_benchmark_lines
from assay_propose.column_headers import Header, find_headers, find_rows_below
from assay_propose.describe import describe_fields, describe_limit
from assay_propose.detect import Detected, locate_record, shift_positions
from assay_propose.file_names import find_common_stem
from assay_propose.ignored_names import list_ignored, name_unknown_line
from assay_propose.instants import describe_reading
from assay_propose.known_formats import KnownFormat, drop_other_lists, find_known_format
from assay_propose.known_text_formats import MatchedText
from assay_propose.merge_templates import STEP, merge_templates
from assay_propose.model import (
    OTHER_LINES,
    EventProposal,
    FieldProposal,
    KeyPath,
    LeftOut,
    MalformedInstants,
    Record,
    SourceProposal,
)
from assay_propose.names import NO_NAMES, NameSpace, make_identifier
from assay_propose.no_numbers import drop_no_numbers, restore_places
from assay_propose.no_values import NoValues, attach_no_values, describe_no_values, drop_no_values
from assay_propose.recognize import (
    Lookup,
    Times,
    describe_nearest_times,
    find_lookup,
    find_name,
    find_times,
    refuse_ambiguous_dates,
)
from assay_propose.record_units import Conversion, convert_units
from assay_propose.table_rows import EVENT, find_table_rows
from assay_propose.text_layout import LEVELS, MESSAGE, TextLayout
from assay_propose.text_templates import find_common_start, find_templates
from assay_propose.titled_rows import Titles, find_titled_rows, name_by_titles
from assay_propose.totals import exclude_records
from assay_propose.units import UNITS
from assay_propose.varying_messages import read_varying_messages

OTHER = "other"
MAX_NAME_WORDS = 4
_MIN_ALIKE = 0.9  # share of the lines that are an event though they have no word in common
_MEASURED = re.compile(r"(?<![\w.])\d+(?:\.\d+)? ?(?:%|[mµun]?s|[KMGkmg]i?B)(?![\w/])")
BY_HAND = "; write an event for its numbers"  # end of the reason why lines with numbers are not proposed
OPTIONAL = re.compile(r"\{\?.*?\?\}")  # parts of a pattern that lines may lack
MAX_EVENTS = 40  # of a source: the most frequent
MAX_SEARCHED = 1000  # events among which starts and ends are looked for
MAX_PAIRED = 10  # starts and ends that are events, too
#: a name before its value at the start of a text or of a member: `Time: {time}, Size: {size}`
_LABEL = re.compile(r"(?:^|(?<=[,;|-] ))[A-Za-z_][\w-]*:(?= ?\{)")
_OF_ALL_SAMPLES = (("value",), ("labels", "le"))  # each sample has a value, each bucket of a histogram a bound
_SEPARATOR = re.compile(r"(?<=\w) -+ .*")  # what follows is about what stands before it
#: levels, groups in brackets and names of classes before a message
_CONTEXT = re.compile(
    rf"^(?:-+ |[\w${{}}.-]+ -+ (?={LEVELS}\b)|{LEVELS}[ :]+|\[(?!\")[^\]]*\](?:[:,]| -)* "
    r"|[\w$-]+(?:\.[\w${}:-]+)+(?:\[[^\]]*\])?(?:: | - | (?=\[)))+"
)
_OBJECT = re.compile(r"\s*\{\{.*\}\}$")  # with which a message ends
_REQUEST = re.compile(r"\{method\} \{path\b")
#: names of the event of all records, by kind
_NAMELESS = {"csv": "measured", "json-records": "listed", "json-lines": "record", "logfmt": "record"}


@dataclass(frozen=True, slots=True)
class Group:
    """A proposed source with the records of each of its events.

    `results` are those of benchmarks in the texts of records, with their fields and units. `spans` are pairs of fields
    of an event, the instants between which something took place.
    """

    source: SourceProposal
    records: Mapping[str, Sequence[Record]]
    known_format: KnownFormat | None
    facts: Mapping[str, Mapping[KeyPath, object]]  # what records that are no event declare of events, by name
    results: tuple[Record, ...] = ()
    result_fields: tuple[FieldProposal, ...] = ()
    result_units: tuple[str, ...] = ()
    spans: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    running: Mapping[tuple[str, str], str] = field(default_factory=dict)  # events and fields, why they are no results


@dataclass(frozen=True, slots=True)
class _Named:
    """Records by the names that mark their event: the patterns or texts, and what the event is called."""

    records: dict[str, list[Record]]
    names: dict[str, tuple[str, ...]]
    left_out: dict[tuple[str, str], int]  # records by their name and the reason why no event has them
    tables: Set[str] = frozenset()  # patterns of rows of tables
    ignored: Counter[str] = field(default_factory=Counter)  # names by which builds would report lines without an event

    def leave_out(self, name: str, count: int, reason: str) -> None:
        """Count records that no event has."""
        self.left_out[name, reason] = self.left_out.get((name, reason), 0) + count

    def list_left_out(self) -> tuple[LeftOut, ...]:
        """Return the records that no event has: first those with numbers, then by their frequency."""
        items = (LeftOut(name, count, reason) for (name, reason), count in self.left_out.items())
        return tuple(sorted(items, key=lambda item: (BY_HAND not in item.reason, -item.count, item.name, item.reason)))


def propose_source(name: str, items: Sequence[Detected], names: NameSpace, system: str) -> Group:
    """Return the source of files of one layout, in a workspace of this system. Event names are new in `names`.

    Raises AssayError `unknown-format` if lines of a log have no instants or names.
    """
    items = read_varying_messages(items)
    kind, known_text = items[0].kind, _join_known_text(items)
    records = shift_positions(items)
    known_format = find_known_format(kind, {path for record in records[:1000] for path in record.values})
    records = drop_other_lists(records, known_format)
    facts = _list_facts(known_format, records)
    if known_format and known_format.ruled_out:
        records = [record for record in records if known_format.ruled_out not in record.values]
    layout = items[0].text_layout
    times = None if kind in ("text-lines", "samples") else find_times(records, SOURCE_KINDS[kind].has_alternative_times)
    if times is None and kind not in ("text-lines", "samples"):
        refuse_ambiguous_dates(records, items[0].sample.path)
    records, malformed = _set_apart_malformed(items, records, times)
    lookup = _find_lookup(items[0], records, known_format, times)
    conversions: dict[KeyPath, Conversion] = {}
    no_values: NoValues = {}
    if kind not in ("text-lines", "samples"):
        records, no_values = drop_no_values(records)
        records, conversions = convert_units(records, known_format.units_at if known_format else {})
    headers = {header for item in items for header in find_headers(item.sample.lines, item.text_layout)}
    titled = {message: titles for item in items if layout
              for message, titles in find_titled_rows(item.sample.lines).items()}  # fmt: skip
    named = _name_templates(layout, records, headers, titled) if layout else _name_records(kind, records, lookup, times)
    if known_text:
        named.names[known_text.format.event] = (known_text.pattern,)
        _leave_out_others(named, known_text)
    units = known_format.units if known_format else known_text.format.units if known_text else {}
    excluded = {("at",), *(times.paths if times else ()), *((lookup.path,) if lookup else ())}
    excluded |= ({layout.time} if layout else set()) | (known_format.unread if known_format else set())
    described = [record for rows in named.records.values() for record in rows]
    fields = attach_no_values(describe_fields(described, excluded, units, conversions), no_values)
    events, by_event = _propose_events(named, fields, known_format, kind, names)
    is_of_benchmarks = known_format is not None and known_format.is_of_benchmarks
    events, by_event = exclude_records(events, by_event, fields, times.paths[0] if times else (), is_of_benchmarks)
    if kind != "text-lines" and any(item.sample.is_cut for item in items):
        # Records that were not read may lack any field; the places of a pattern always have a text.
        always = {field.name for field in fields if kind == "samples" and field.path in _OF_ALL_SAMPLES}
        events = tuple(
            replace(event, optional=tuple(name for name in event.fields if name not in always)) for event in events
        )
    source = _build_source(name, items, (times, lookup), events, fields, named, known_format)
    present = {record.values.get(known_format.lookup) for record in records} if known_format else set()
    declared = tuple(sorted(name for name in facts if name and name not in present))
    ignored = declared or (*(known_text.format.ignored if known_text else ()), *list_ignored(named.ignored))
    stem = find_common_stem(source.files)
    subject = stem if len(stem) > 1 else system  # one letter says nothing
    notes = (*source.notes, *describe_limit(described, excluded), *describe_no_values(fields, no_values))
    source = replace(source, malformed=malformed, ignored=ignored, subject=subject, notes=notes)
    return Group(source, by_event, known_format, facts)


def _join_known_text(items: Sequence[Detected]) -> MatchedText | None:
    """Return the known format of files of one layout, with the pattern that the lines of all of them match."""
    first = items[0].known_text
    if not first or first.has_instants or len(items) == 1:
        return first
    return match_benchmark_lines([line for item in items for line in item.sample.lines])


def _leave_out_others(named: _Named, known_text: MatchedText) -> None:
    """Count the lines of no interest around those of a known format; those that begin like these are an event."""
    start = parse_pattern(known_text.pattern).literal_prefix
    ignored = [name.removesuffix("*") for name in known_text.format.ignored]
    for line in known_text.others:
        if line.startswith(start):
            named.records.setdefault(OTHER, []).append(Record("", 0, line, {}))
            named.names[OTHER] = (f"{start}{{...}}",)
            continue
        name = name_unknown_line(line)
        named.leave_out(name, 1, "they are no results")
        if not name.startswith(tuple(ignored)):
            named.ignored.update([name])


def _list_facts(known_format: KnownFormat | None, records: Sequence[Record]) -> dict[str, Mapping[KeyPath, object]]:
    """Return what the records that are no event declare, by the name of the event."""
    if not known_format or not known_format.ruled_out:
        return {}
    declarations = (record.values for record in records if known_format.ruled_out in record.values)
    return {str(values.get(known_format.lookup, "")): values for values in declarations}


def _set_apart_malformed(
    items: Sequence[Detected], records: list[Record], times: Times | None
) -> tuple[list[Record], MalformedInstants | None]:
    """Return the records without those whose instant is malformed, which a build quarantines, and these counted."""
    malformed = [record for record in records if times and times.has_instant(record) is False]
    if not malformed or not times:
        return records, None
    path = times.find_path(malformed[0])
    size = sum(path in record.values for record in records)
    first = locate_record(items, malformed[0])
    rest = [record for record in records if times.has_instant(record) is not False]
    return rest, MalformedInstants(path, sum(path in record.values for record in malformed), size, first)


def _find_lookup(
    item: Detected, records: Sequence[Record], known_format: KnownFormat | None, times: Times | None
) -> Lookup | None:
    if not SOURCE_KINDS[item.kind].has_lookups:
        return None
    if times is None:
        nearest = describe_nearest_times(records)
        message = (f"too few records of {item.sample.path} have an instant" if nearest else
                   f"no key of the records of {item.sample.path} has an instant in a known form")  # fmt: skip
        raise fail("unknown-format", message, found=nearest or item.reason,
                   expected="ISO 8601, or a number since 1970 under a key such as `time`",
                   notes=[f"record: {item.sample.lines[item.records[0].position][:100]}"],
                   hint="write the source by hand: docs/sources.md describes forms of instants")  # fmt: skip
    if known_format and known_format.lookup:
        return Lookup(known_format.lookup, f"known of the format {known_format.name}")
    return find_lookup(records, times.paths)


def _name_records(kind: str, records: Sequence[Record], lookup: Lookup | None, times: Times | None) -> _Named:
    groups: dict[str, list[Record]] = defaultdict(list)
    names: dict[str, dict[str, None]] = defaultdict(dict)
    named = _Named({}, {}, {})
    for record in records:
        has_instant = times is not None and any(path in record.values for path in times.paths)
        if lookup is None and (has_instant or not SOURCE_KINDS[kind].has_lookups):
            groups[record.name or _NAMELESS[kind]].append(record)
            continue
        name = find_name(record, lookup.path, kind == "logfmt") if lookup else ""
        if not name or not has_instant:
            named.leave_out(name, 1, "they have no instant" if not has_instant else "they have no name")
            continue
        groups[name].append(record)
        names[name][name] = None
    for event in list(groups):  # an event has no records without an instant
        if any(name == item for name in names.get(event, ()) for item, _ in named.left_out):
            named.leave_out(event, len(groups.pop(event)), "some of them have no instant")
    is_named = lookup or kind == "samples"
    named.records.update(groups)
    named.names.update({key: tuple(names.get(key, (key,))) if is_named else () for key in groups})
    return named


def _name_templates(
    layout: TextLayout, records: Sequence[Record], headers: Collection[Header], titled: Mapping[str, Titles]
) -> _Named:
    """Name the lines of a text by the patterns of their messages.

    Lines that begin like a pattern and match none are malformed, and all lines begin like a pattern that begins with a
    capture. For those, there is an event of its own, the last.
    """
    groups: dict[str, list[Record]] = defaultdict(list)
    messages = [record.name for record in records]
    rows = find_rows_below(messages, headers, layout.captures) or find_table_rows(messages, layout.captures)
    others = [record.name for index, record in enumerate(records) if index not in rows]
    templates_of_others = find_templates(others, layout.captures)
    merged = drop_no_numbers(merge_templates(templates_of_others, layout.captures))
    remaining = iter(name_by_titles(merged, others, titled))
    templates = [rows[index] if index in rows else next(remaining) for index in range(len(records))]
    for record, template in zip(records, templates, strict=True):
        values: dict[KeyPath, object] = {(key,): value for key, value in template.values}
        groups[template.pattern].append(replace(record, values=record.values | values))
    tables = {template.pattern for template in rows.values() if template.values}
    titles = {template.pattern for template in rows.values()} - tables
    worded = {
        key: len(rows)
        for key, rows in groups.items()
        if key in tables or not _begins_with_capture(key) or _has_word(key)
    }
    if not worded and groups:  # lines of values only, all of one kind
        key, rows_of_key = max(groups.items(), key=lambda item: len(item[1]))
        worded = {key: len(rows_of_key)} if len(rows_of_key) >= _MIN_ALIKE * len(records) else {}
    least = 2 if any(count > 1 for count in worded.values()) else 1
    selected = sorted(
        (key for key, count in worded.items() if count >= least or key in titles), key=lambda key: (-worded[key], key)
    )
    selected = _select_events(selected, {key: worded[key] for key in selected}, MAX_EVENTS - 1, _name_template)
    left_out = [key for key in groups if key not in selected]
    named = _Named({key: groups[key] for key in selected}, {key: (key,) for key in selected}, {}, tables=tables)
    marks = sorted({key.partition("{")[0].rstrip() for key in selected})
    if "" in marks:
        marks = [""]
    alike = {key: mark for key in left_out for mark in marks if key.startswith(mark)}
    if alike or "" in marks:
        used = sorted(set(alike.values()) or marks)
        named.records[OTHER] = [replace(row, values={}) for key in alike for row in groups[key]]
        named.names[OTHER] = tuple(f"{mark}{{...}}" for mark in used)
    for key in left_out:
        if key not in alike:
            reason = _explain_omission(key, len(groups[key]), least)
            if any(map(_has_measured, groups[key])):
                reason += BY_HAND
            named.leave_out(key, len(groups[key]), reason)
            named.ignored.update(name_unknown_line(row.name) for row in groups[key])
    return named


def _select_events(
    ordered: Sequence[str], counts: Mapping[str, int], most: int, name_event: Callable[[str], str]
) -> list[str]:
    """Return the most frequent events, and rarer ones that are the starts and ends of something."""
    paired = (
        list_paired(counts, {key: name_event(key) for key in ordered[:MAX_SEARCHED]}) if len(ordered) > most else ()
    )
    added = [key for key in dict.fromkeys(paired) if key not in ordered[:most]][:MAX_PAIRED]
    return [*ordered[:most], *added]


def _has_measured(record: Record) -> bool:
    """Return whether a line has a number with a unit."""
    return bool(_MEASURED.search(record.name))


def _begins_with_capture(pattern: str) -> bool:
    return pattern.startswith("{")


def _has_word(pattern: str) -> bool:
    """Return whether a pattern has a word of its own that tells its lines from others."""
    return any(
        word.replace("-", "").isalpha() and len(word) > 1 and word.lower() not in UNITS
        for word in (text.strip("()[]<>,;:=") for text in _drop_captures(pattern).split())
    )


def _explain_omission(pattern: str, count: int, least: int) -> str:
    if _begins_with_capture(pattern) and not _has_word(pattern):
        return "they have no word that tells them from other lines"
    return "only one line is like it" if count < least else f"they are not among the {MAX_EVENTS} most frequent"


def _propose_events(
    named: _Named, fields: Sequence[FieldProposal], known_format: KnownFormat | None, kind: str, names: NameSpace
) -> tuple[tuple[EventProposal, ...], dict[str, Sequence[Record]]]:
    ordered = sorted(named.records, key=lambda key: (-len(named.records[key]), key))
    selected = ordered
    if kind == "text-lines":  # the first pattern that matches decides
        selected.sort(key=_rank_pattern)
    else:
        selected = _select_events(ordered, {key: len(rows) for key, rows in named.records.items()}, MAX_EVENTS, str)
        for key in ordered:
            if key not in selected:
                named.leave_out(key, len(named.records[key]), f"they are not among the {MAX_EVENTS} most frequent")
    start = find_common_start([key for key in selected if key != OTHER]) if kind == "text-lines" else ""
    events: list[EventProposal] = []
    by_event: dict[str, Sequence[Record]] = {}
    for key in selected:
        rows = named.records[key]
        text = _name_template(key.removeprefix(start)) if kind == "text-lines" else key
        text = EVENT if key in named.tables else text
        name = names.add(make_identifier(text, "record"))
        counts = Counter(path for row in rows for path in row.values)
        event_fields = [field for field in fields if counts[field.path]]
        optional = tuple(field.name for field in event_fields if counts[field.path] < len(rows))
        doc = (
            "All other lines, which would be malformed without this event"
            if named.names[key] == ("{...}",)
            else _describe_other_lines(rows)
            if key == OTHER
            else f"Lines such as: {key}"
            if kind == "text-lines"
            else f"Records of `{key}`"
            if named.names[key]
            else "A row"
            if kind == "csv"
            else "A record"
        )
        ruled_out = known_format.ruled_out if known_format else ()
        field_names = tuple(field.name for field in event_fields)
        events.append(EventProposal(name, named.names[key], len(rows), field_names, optional, ruled_out, doc=doc))
        by_event[name] = rows
    return tuple(events), by_event


def _describe_other_lines(rows: Sequence[Record]) -> str:
    """Return what the lines are that begin like an event; those with measured values need an event by hand."""
    measured = [" ".join(row.name.split()) for row in rows if _has_measured(row)]
    if not measured:
        return OTHER_LINES
    verb = "have numbers with units" if len(measured) > 1 else "has numbers with units"
    example = measured[0][:LONGEST]
    return f"{OTHER_LINES}; {len(measured)} of {len(rows)} {verb}, such as `{example}`: write an event for them"


def _rank_pattern(pattern: str) -> tuple[bool, bool, int, str]:
    """Return where a pattern is tried: before those that match more lines."""
    letters = sum(char.isalpha() for char in _drop_captures(pattern))
    return pattern == OTHER, _begins_with_capture(pattern), -letters, pattern


def _name_template(pattern: str) -> str:
    """Return the first words of a pattern that say what its lines are about, behind what names their logger."""
    pattern = restore_places(pattern)
    pattern = _OBJECT.sub("", pattern) or pattern
    message = _CONTEXT.sub("", pattern)
    pattern = message if re.search(r"[A-Za-z]{2}", _drop_captures(message)) else pattern
    if _REQUEST.search(pattern):
        return "request"
    topics = (_LABEL.sub("", _SEPARATOR.sub("", pattern)), _LABEL.sub("", pattern), pattern)
    topic = next((text for text in topics if re.search(r"[A-Za-z]{2}", _drop_captures(text))), pattern)
    words = [word for word in _drop_captures(topic).split() if word.rstrip(":").lower() not in NO_NAMES]
    words = [word for word in words if not word.endswith(("=", "("))] or words
    words = [word for text in words if (word := text.strip('()[]<>,;:."')) and any(map(str.isalnum, word))]
    words = [word for word in words if not UNITS.keys() & {*word.lower().split("/")}] or words[:1]
    words = [word for word, _ in itertools.groupby(words)][:MAX_NAME_WORDS]
    if f"{{{STEP}" in pattern:
        words = [*(word for word in words[: MAX_NAME_WORDS - 1] if word.lower() not in UNITS), STEP]
    return " ".join(words)


def _drop_captures(pattern: str) -> str:
    """Return the text of a pattern that all its lines have."""
    pattern = OPTIONAL.sub("", pattern)
    return "".join(part if index % 2 == 0 else " " for index, part in enumerate(pattern.replace("}", "{").split("{")))


def _build_source(
    name: str,
    items: Sequence[Detected],
    places: tuple[Times | None, Lookup | None],
    events: tuple[EventProposal, ...],
    fields: tuple[FieldProposal, ...],
    named: _Named,
    known_format: KnownFormat | None,
) -> SourceProposal:
    (times, lookup), first = places, items[0]
    samples = [item.sample for item in items]
    paths, form, zone = _describe_times(first, times)
    reasons = [("kind", "\n".join(map(_describe_file, items)))]
    if times:
        reasons.append(("time", times.reason))
    if first.text_layout and paths:
        reading = f", {describe_reading(form)}" if zone == "UTC" else ""
        reasons.append(("time", f"instants such as {first.text_layout.stamp}{reading}"))
    if lookup:
        reasons.append(("lookups", lookup.reason))
    elif SOURCE_KINDS[first.kind].has_lookups:
        reasons.append(("lookups", "none, since no key tells records of different events apart: each is of one event"))
    return SourceProposal(
        name=name,
        kind=first.kind,
        files=tuple(dict.fromkeys(sample.place for sample in samples)),
        hosts="*" if samples[0].host else "",
        logs=tuple(dict.fromkeys(sample.glob for sample in samples)),
        format=known_format.name if known_format else first.known_text.format.name if first.known_text else "",
        time=paths[0] if paths else (),
        or_time=paths[1:],
        time_form=form,
        zone=zone,
        line=first.text_layout.line if first.text_layout else "",
        begins=first.begins,
        body=(MESSAGE,) if first.text_layout and first.text_layout.line else first.body,
        lookup=lookup.path if lookup else (),
        records=sum(len(item.records) for item in items),
        fields=fields,
        events=events,
        left_out=named.list_left_out(),
        is_cut=any(sample.is_cut for sample in samples),
        reasons=tuple(reasons),
        notes=tuple(f"{item.sample.place}: {note}" for item in items for note in item.notes if not known_format),
    )


def _describe_file(item: Detected) -> str:
    part = f", of the first {len(item.sample.lines)}" if item.sample.is_cut else ""
    return f"{item.sample.place}: {item.reason}{part}"


def _describe_times(item: Detected, times: Times | None) -> tuple[tuple[KeyPath, ...], str, str]:
    """Return the paths of instants, their form and their zone."""
    if item.text_layout:
        return tuple(filter(None, [item.text_layout.time])), item.text_layout.time_form, item.text_layout.zone
    if item.known_text:
        paths = (("at",),) if item.known_text.has_instants else ()
        return paths, item.known_text.format.time_form, item.known_text.zone
    return (times.paths, times.form.form, times.form.zone) if times else ((), "", "")
