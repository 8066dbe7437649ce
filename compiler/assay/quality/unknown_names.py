"""Count unknown record names, and suggest the events that they may be new names of."""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from assay.engine.mount import UnknownName
from assay.ingest.discovery import RunFiles
from assay.ingest.pipeline import find_records
from assay.ingest.readers.protocol import Place, RawRecord
from assay.lang.line_pattern import parse_pattern
from assay.lang.model.package import Event, Form, Package, Source
from assay.lang.model.source_kinds import SOURCE_KINDS
from assay.quality.finding import RENAMED, UNKNOWN, Finding, format_metric_list
from assay.runs.model import IngestedRun
from assay.util.json_text import build_object
from assay.util.numbers import format_count

ALIKE, SOMEWHAT_ALIKE = 0.8, 0.6  # shares of common characters at which two texts count as similar
WORDS = 0.6  # share of a pattern's words that a line must have
LEAST_FIELDS = 2  # fields that a record must share with an event that has no similar name
LEAST_WORDS = 2  # words that a pattern must have to be matched
FIRST_FIELDS = 3  # listed in a reason

Counts = Mapping[str, Mapping[str, int]]  # event -> host -> records


@dataclass(frozen=True, slots=True)
class UnknownRecord:
    """Records of a name that no event has: the name, the hosts with such records, the text of the first."""

    source: str
    name: str
    hosts: frozenset[str]
    text: str


@dataclass(frozen=True, slots=True)
class Rename:
    """An unknown name that may be a new name of an event, and the reason."""

    source: str
    name: str
    event: str
    reason: str


def suggest_renames(package: Package, counts: Counts, unknown_records: Sequence[UnknownRecord]) -> tuple[Rename, ...]:
    """Suggest events for unknown names, in order of the names, the likeliest event first.

    An event is a candidate if no host with the unknown name has records of the event. An event with records on these
    hosts is a candidate only if the names differ only in their last segment and the record has the event's fields.
    """
    sources = {source.name: source for source in package.sources}
    renames: list[Rename] = []
    for record in sorted(unknown_records, key=lambda item: (item.source, item.name)):
        source = sources[record.source]
        candidates = []
        for event in package.events:
            if event.source == record.source:
                is_silent = not any(counts.get(event.name, {}).get(host) for host in record.hosts)
                match = (
                    _match_text(event, record)
                    if SOURCE_KINDS[source.kind].has_patterns
                    else _match_json(event, record, source)
                )
                if match and (is_silent or match.is_sibling):
                    candidates.append((-match.weight, event.name, match.reason))
        best = min((weight for weight, *_ in candidates), default=0.0)
        # A similar name is stronger evidence than common fields: keep only the best kind of reason.
        renames += [Rename(record.source, record.name, event, reason) for weight, event, reason in sorted(candidates)
                  if int(weight) == int(best)]  # fmt: skip
    return tuple(renames)


@dataclass(frozen=True, slots=True)
class _Match:
    """The reason why a name may belong to an event. The integer part of the weight is the kind of reason."""

    weight: float
    reason: str
    is_sibling: bool = False


def _match_text(event: Event, record: UnknownRecord) -> _Match | None:
    """Match the words of a line with those of the event's patterns."""
    line = set(_split_words(record.text or record.name))
    best: _Match | None = None
    for form in event.forms:
        for name in form.names:
            words = set(
                _split_words(" ".join(piece.text for piece in parse_pattern(name.name).pieces if not piece.optional))
            )
            share = len(words & line) / len(words) if words else 0.0
            if len(words) >= LEAST_WORDS and share >= WORDS and (best is None or share > best.weight - 1):
                best = _Match(1 + share, f"has {len(words & line)} of the {len(words)} words of its pattern")
    return best


def _split_words(text: str) -> Iterator[str]:
    return (word.lower() for word in re.findall(r"[A-Za-z]{2,}", text))


def _match_json(event: Event, record: UnknownRecord, source: Source) -> _Match | None:
    """Match the name with the known names of the event, and the body with its fields."""
    body = _parse_body(record.text, source)
    lookup_paths = {lookup.path for lookup in source.lookups if lookup.in_body}
    matches: list[_Match] = []
    for form in event.forms:
        fields = _find_fields(form, body, lookup_paths)
        for name in form.names:
            matches += _match_name(record.name, name.name, fields)
    return max(matches, key=lambda item: (item.weight, item.reason), default=None)


def _match_name(name: str, known_name: str, fields: Sequence[str]) -> Iterator[_Match]:
    """Yield the reasons why a name may replace a known one; `fields` are those of the event that the record has."""
    segments, known_segments = name.split("."), known_name.split(".")
    last, known_last = segments[-1].lower(), known_segments[-1].lower()
    similarity = SequenceMatcher(None, last, known_last, autojunk=False).ratio()
    field_list = _list_fields(fields)
    if last and (last == known_last or similarity >= ALIKE):
        yield _Match(
            2 + similarity / 2, f"its name is like `{known_name}`" + (f", and it has {field_list}" if fields else "")
        )
    full_similarity = SequenceMatcher(None, name.lower(), known_name.lower(), autojunk=False).ratio()
    if len(fields) >= LEAST_FIELDS or (fields and full_similarity >= SOMEWHAT_ALIKE):
        is_sibling = len(segments) > 1 and segments[:-1] == known_segments[:-1]
        reason = f"it has {field_list}, as `{known_name}` has" if is_sibling else f"it has {field_list}"
        yield _Match(1 + full_similarity / 2, reason, is_sibling)


def _list_fields(fields: Sequence[str]) -> str:
    """List the first fields in words, and the number of the rest."""
    more = f" and {len(fields) - FIRST_FIELDS} more fields" if len(fields) > FIRST_FIELDS else ""
    return ", ".join(f"`{item}`" for item in fields[:FIRST_FIELDS]) + more


def _find_fields(form: Form, body: object, lookup_paths: set[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the required fields of a form if a body has all of them, else none."""
    fields = [field for field in form.fields if field.required and field.default is None and field.paths]
    if not all(any(_look_up(body, path) is not None for path in field.paths) for field in fields):
        return ()
    return tuple(field.name for field in fields if not set(field.paths) & lookup_paths)


def _parse_body(text: str, source: Source) -> object:
    """Parse the body of a record, unwrapped if it is wrapped; None if the text is not JSON."""
    try:
        document: object = json.loads(text, object_pairs_hook=build_object)
    except (ValueError, RecursionError):
        return None
    body = _look_up(document, source.body)
    for rule in source.unwrap:
        if isinstance(body, dict) and rule.absent not in body and all(key in body for key in rule.present):
            return body.get(rule.take)
    return body


def _look_up(value: object, path: Sequence[str]) -> object:
    for key in path:
        if isinstance(value, list) and key.isdigit() and int(key) < len(value):
            value = value[int(key)]
        else:
            value = value.get(key) if isinstance(value, dict) else None
    return value


EXAMINED = 50  # most frequent names whose first record is read
NAMED = 3  # most frequent names that a finding lists

ByName = Mapping[str | None, Sequence[UnknownName]]


def list_unknown_names(source: Source, names: Sequence[UnknownName]) -> ByName:
    """Return the unknown names of a source that are not ignored, most frequent first, with their hosts."""
    return group_by_name([item for item in names if item.name is None or not source.is_ignored(item.name)])


def group_by_name(names: Sequence[UnknownName]) -> ByName:
    """Group unknown names by name, most frequent first, with their hosts."""
    groups: defaultdict[str | None, list[UnknownName]] = defaultdict(list)
    for item in names:
        groups[item.name].append(item)
    return dict(sorted(groups.items(), key=lambda pair: (-sum(item.n for item in pair[1]), pair[0] or "")))


def read_first_records(source: Source, files: RunFiles, names: ByName) -> Mapping[str, RawRecord]:
    """Read the first record of each name, on the first host that has one. Raises AssayError."""
    places = {name: _choose_place(hosts) for name, hosts in names.items() if name is not None}
    records = find_records(source, files, places.values())
    return {name: records[place] for name, place in places.items()}


def create_unknown_record(
    source: Source, name: str, hosts: Sequence[UnknownName], first_record: RawRecord
) -> UnknownRecord:
    """Return a name with its hosts and first record, as input for `suggest_renames`."""
    return UnknownRecord(source.name, name, frozenset(item.host for item in hosts), first_record.text)


def _choose_place(hosts: Sequence[UnknownName]) -> Place:
    item = min(hosts, key=lambda item: item.host)
    return Place(item.host, item.first_seq)


def count_unknown_records(ingested_run: IngestedRun) -> int:
    """Return the number of records of a run that are not malformed, with names that are neither known nor ignored."""
    return sum(
        item.n
        for part in ingested_run.parts
        for hosts in list_unknown_names(part.source, part.facts.unknown).values()
        for item in hosts
        if not item.malformed
    )


def iter_unknown_findings(
    package: Package, ingested_run: IngestedRun, readers: Mapping[str, Sequence[str]]
) -> Iterator[Finding]:
    """Yield findings about records of unknown names, and about those that may be renamed events.

    `readers` maps events to the ids of the metrics that read them. Raises AssayError if a file cannot be read.
    """
    for part in ingested_run.parts:
        names = list_unknown_names(part.source, part.facts.unknown)
        if not names:
            continue
        examined_names: ByName = {name: hosts for name, hosts in list(names.items())[:EXAMINED] if name}
        first_records = read_first_records(part.source, part.files, examined_names)
        records = [
            create_unknown_record(part.source, name, examined_names[name], record)
            for name, record in first_records.items()
        ]
        counts = part.facts.by_host
        for rename in suggest_renames(package, counts, records):
            total = sum(item.n for item in names[rename.name])
            metrics = tuple(readers.get(rename.event, ()))
            silence_note = "" if sum(counts.get(rename.event, {}).values()) else ", which has no records"
            location = f"{format_count(total, 'record')}, first at {first_records[rename.name].location}"
            event = f"event `{rename.event}`{silence_note}: {rename.reason}{format_metric_list(metrics)}"
            message = f"`{rename.name}` ({location}) may be a new name of {event}."
            yield Finding(RENAMED, message, metrics, (), rename.event, total)
        unknown_records = [item for item in part.facts.unknown if not item.malformed]
        if unknown_names := list_unknown_names(part.source, unknown_records):
            yield _describe_unknown_names(unknown_names)


def _describe_unknown_names(names: ByName) -> Finding:
    """Return the finding about unknown names."""
    totals = Counter({name: sum(item.n for item in hosts) for name, hosts in names.items()})
    texts = (
        f"`{' '.join(name.split())}`" if name else "no name" for name in names
    )  # without blanks that align columns
    names_text = ", ".join(
        f"{text} ({totals[name]})" for text, name in itertools.islice(zip(texts, names, strict=True), NAMED)
    )
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    number = f"{format_count(totals.total(), 'record')} of {format_count(len(names), 'name')}"
    message = f"{number} that the specs do not know: {names_text}{more}; `assay inspect` lists them."
    return Finding(UNKNOWN, message, affected=totals.total())
