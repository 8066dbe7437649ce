"""Unknown record names: their counts, and the events that they may be new names of."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from assay.app.prepare import IngestedRun
from assay.engine.mount import UnknownName
from assay.ingest.discovery import RunFiles
from assay.ingest.pipeline import find_records
from assay.ingest.readers.protocol import Place, RawRecord
from assay.lang.line_pattern import parse
from assay.lang.model.package import Event, Form, Package, Source
from assay.lang.model.source_kinds import SOURCE_KINDS
from assay.report.data_quality import RENAMED, UNKNOWN, Finding, of_metrics
from assay.util.json_text import build_object
from assay.util.numbers import format_count

ALIKE, SOMEWHAT_ALIKE = 0.8, 0.6  # of two texts: the share of characters that they have in common
WORDS = 0.6  # of a pattern: the share of its words that a line must have
LEAST_FIELDS = 2  # of a record whose name is unlike the event's
LEAST_WORDS = 2
FIRST_FIELDS = 3  # that a reason names

Counts = Mapping[str, Mapping[str, int]]  # event -> host -> records


@dataclass(frozen=True, slots=True)
class UnknownRecord:
    """Records of a name that no event has: the name, the hosts that have some, the text of the first."""

    source: str
    name: str
    hosts: frozenset[str]
    text: str


@dataclass(frozen=True, slots=True)
class Rename:
    """An unknown name that may be a new one of an event, and why."""

    source: str
    name: str
    event: str
    reason: str


def suggest_renames(package: Package, counts: Counts, unknown: Sequence[UnknownRecord]) -> tuple[Rename, ...]:
    """Suggest events for unknown names, in the order of the names, the likeliest event first.

    An event is considered whose known names none of the hosts has that have the unknown one.  An event that has
    records is considered only where names differ in their last segment alone, and the record has its fields.
    """
    sources = {source.name: source for source in package.sources}
    renames: list[Rename] = []
    for record in sorted(unknown, key=lambda item: (item.source, item.name)):
        source = sources[record.source]
        ranked = []
        for event in package.events:
            if event.source == record.source:
                silent = not any(counts.get(event.name, {}).get(host) for host in record.hosts)
                match = (
                    _match_text(event, record)
                    if SOURCE_KINDS[source.kind].has_patterns
                    else _match_json(event, record, source)
                )
                if match and (silent or match.is_sibling):
                    ranked.append((-match.weight, event.name, match.reason))
        best = min((weight for weight, *_ in ranked), default=0.0)
        # What only has the same fields is no news beside a name that is alike.
        renames += [Rename(record.source, record.name, event, reason) for weight, event, reason in sorted(ranked)
                  if int(weight) == int(best)]  # fmt: skip
    return tuple(renames)


@dataclass(frozen=True, slots=True)
class _Match:
    """Why a name may be an event's.  The whole part of the weight is the kind of reason."""

    weight: float
    reason: str
    is_sibling: bool = False


def _match_text(event: Event, record: UnknownRecord) -> _Match | None:
    """Match the words of a line with those of the event's patterns."""
    line = set(_split_words(record.text or record.name))
    best: _Match | None = None
    for form in event.forms:
        for name in form.names:
            words = set(_split_words(" ".join(piece.text for piece in parse(name.name).pieces if not piece.optional)))
            share = len(words & line) / len(words) if words else 0.0
            if len(words) >= LEAST_WORDS and share >= WORDS and (best is None or share > best.weight - 1):
                best = _Match(1 + share, f"has {len(words & line)} of the {len(words)} words of its pattern")
    return best


def _split_words(text: str) -> Iterator[str]:
    return (word.lower() for word in re.findall(r"[A-Za-z]{2,}", text))


def _match_json(event: Event, record: UnknownRecord, source: Source) -> _Match | None:
    """Match the name with the known names of the event, and the body with its fields."""
    body = _parse_body(record.text, source)
    trivial = {lookup.path for lookup in source.lookups if lookup.in_body}
    matches: list[_Match] = []
    for form in event.forms:
        fields = _find_fields(form, body, trivial)
        for name in form.names:
            matches += _match_name(record.name, name.name, fields)
    return max(matches, key=lambda item: (item.weight, item.reason), default=None)


def _match_name(name: str, known_name: str, fields: Sequence[str]) -> Iterator[_Match]:
    """Yield the reasons why a name may replace a known one; `fields`: those of the event that the record has."""
    segments, known_segments = name.split("."), known_name.split(".")
    last, known_last = segments[-1].lower(), known_segments[-1].lower()
    alike = SequenceMatcher(None, last, known_last, autojunk=False).ratio()
    listed = _list_fields(fields)
    if last and (last == known_last or alike >= ALIKE):
        yield _Match(2 + alike / 2, f"its name is like `{known_name}`" + (f", and it has {listed}" if fields else ""))
    whole = SequenceMatcher(None, name.lower(), known_name.lower(), autojunk=False).ratio()
    if len(fields) >= LEAST_FIELDS or (fields and whole >= SOMEWHAT_ALIKE):
        is_sibling = len(segments) > 1 and segments[:-1] == known_segments[:-1]
        reason = f"it has {listed}, as `{known_name}` has" if is_sibling else f"it has {listed}"
        yield _Match(1 + whole / 2, reason, is_sibling)


def _list_fields(fields: Sequence[str]) -> str:
    """Return the first fields in words, and how many more there are."""
    more = f" and {len(fields) - FIRST_FIELDS} more fields" if len(fields) > FIRST_FIELDS else ""
    return ", ".join(f"`{item}`" for item in fields[:FIRST_FIELDS]) + more


def _find_fields(form: Form, body: object, trivial: set[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the required fields of a form, if a body has all of them; else none."""
    fields = [field for field in form.fields if field.required and field.default is None and field.paths]
    if not all(any(_look_up(body, path) is not None for path in field.paths) for field in fields):
        return ()
    return tuple(field.name for field in fields if not set(field.paths) & trivial)


def _parse_body(text: str, source: Source) -> object:
    """Parse the body of a record, the inner one where it is wrapped; None where the text is no JSON."""
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


EXAMINED = 50  # of the most frequent names, whose first record is read
NAMED = 3  # of the most frequent names, which a finding names

ByName = Mapping[str | None, Sequence[UnknownName]]


def list_unknown_names(source: Source, unknown: Sequence[UnknownName]) -> ByName:
    """Return the unknown names of a source that are not ignored, the most frequent first, with their hosts."""
    return group_by_name([item for item in unknown if item.name is None or not source.ignores(item.name)])


def group_by_name(unknown: Sequence[UnknownName]) -> ByName:
    """Return unknown names with their hosts, the most frequent first."""
    groups: defaultdict[str | None, list[UnknownName]] = defaultdict(list)
    for item in unknown:
        groups[item.name].append(item)
    return dict(sorted(groups.items(), key=lambda pair: (-sum(item.n for item in pair[1]), pair[0] or "")))


def read_first_records(source: Source, files: RunFiles, names: ByName) -> Mapping[str, RawRecord]:
    """Return the first record of each name, on the first host that has one.  Raises AssayError."""
    places = {name: _choose_place(hosts) for name, hosts in names.items() if name is not None}
    records = find_records(source, files, places.values())
    return {name: records[place] for name, place in places.items()}


def make_unknown_record(source: Source, name: str, hosts: Sequence[UnknownName], first: RawRecord) -> UnknownRecord:
    """Return a name with its hosts and first record, for which events are suggested."""
    return UnknownRecord(source.name, name, frozenset(item.host for item in hosts), first.text)


def _choose_place(hosts: Sequence[UnknownName]) -> Place:
    item = min(hosts, key=lambda item: item.host)
    return Place(item.host, item.first_seq)


def count_unknown(prepared: IngestedRun) -> int:
    """Return how many records of a run have names that are neither known nor ignored."""
    return sum(
        item.n
        for part in prepared.parts
        for hosts in list_unknown_names(part.source, part.facts.unknown).values()
        for item in hosts
    )  # fmt: skip


def find_unknown(package: Package, prepared: IngestedRun, readers: Mapping[str, Sequence[str]]) -> Iterator[Finding]:
    """Find the records of unknown names, and those that may be events by another name.

    `readers`: event -> ids of the metrics that read it.  Raises AssayError when a file cannot be read.
    """
    for part in prepared.parts:
        names = list_unknown_names(part.source, part.facts.unknown)
        if not names:
            continue
        examined: ByName = {name: hosts for name, hosts in list(names.items())[:EXAMINED] if name}
        first = read_first_records(part.source, part.files, examined)
        records = [make_unknown_record(part.source, name, examined[name], record) for name, record in first.items()]
        counts = part.facts.by_host
        for rename in suggest_renames(package, counts, records):
            total = sum(item.n for item in names[rename.name])
            metrics = tuple(readers.get(rename.event, ()))
            silent = "" if sum(counts.get(rename.event, {}).values()) else ", which has no records"
            where = f"{format_count(total, 'record')}, first at {first[rename.name].where}"
            event = f"event `{rename.event}`{silent}: {rename.reason}{of_metrics(metrics)}"
            message = f"`{rename.name}` ({where}) may be a new name of {event}."
            yield Finding(RENAMED, message, metrics, (), rename.event, total)
        yield _make_finding(names)


def _make_finding(names: ByName) -> Finding:
    totals = Counter({name: sum(item.n for item in hosts) for name, hosts in names.items()})
    listed = ", ".join(f"{f'`{name}`' if name else 'no name'} ({totals[name]})" for name in [*names][:NAMED])
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    number = f"{format_count(totals.total(), 'record')} of {format_count(len(names), 'name')}"
    message = f"{number} that the specs do not know: {listed}{more}; `assay inspect` lists them."
    return Finding(UNKNOWN, message, affected=totals.total())
