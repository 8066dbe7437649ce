"""Detect the kind of a sample file by its content, and read its records."""

from __future__ import annotations

import itertools
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from assay.ingest import logfmt
from assay.ingest.quantities import QUANTITIES
from assay.ingest.readers.json_record_positions import MEMBERS
from assay.util.diagnostics import AssayError, fail
from assay.util.numbers import format_count
from assay_propose import sample_records
from assay_propose.benchmark_lines import match_benchmark_lines
from assay_propose.instants import has_stamp
from assay_propose.known_formats import LISTS, find_known_format
from assay_propose.known_text_formats import MatchedText, match_known_text
from assay_propose.model import KeyPath, Record, SampleFile
from assay_propose.nested_lists import list_nested
from assay_propose.recognize import Times, describe_nearest_times, find_times, join_instants
from assay_propose.sample_records import is_number
from assay_propose.tables import QUANTITY, read_table, suggest_header
from assay_propose.text_layout import MESSAGE, TextLayout, TextLine, find_text_layout
from assay_propose.text_templates import find_templates
from assay_propose.unit_words import has_unit

_MIN_SHARE = 0.5  # of the lines that are records
_MAX_DEPTH = 4  # of the keys of a record
_FEW_ALIKE, _MANY = 3, 10  # lines without instants that are alike but for their numbers
_QUOTED_LINES, _QUOTED_LENGTH = 3, 100
_IS_DURATION = QUANTITIES["duration"].is_valid  # `0m1.250s`
_LONGEST_LINE = 10_000  # characters of a line of text without instants
_MIN_PAIRS = 2  # members of most lines of logfmt
_FULL = 0.9  # share of the rows of a table that have all its cells


@dataclass(frozen=True, slots=True)
class Detected:
    """The content of a sample file: its kind, its records, what distinguishes its layout from that of other files.

    `body` is the path of the list in a document; `reason` says why the file is of the kind; `notes` say what of it is
    not read. `times` is the best path of instants, if it is known. `begins` is the first column of a header below other
    lines.
    """

    sample: SampleFile
    kind: str
    records: tuple[Record, ...]
    reason: str
    layout: tuple[Any, ...] = ()
    body: KeyPath = ()
    text_layout: TextLayout | None = None
    known_text: MatchedText | None = None
    notes: tuple[str, ...] = ()
    times: Times | None = None
    begins: str = ""

    def find_times(self) -> Times | None:
        """Return the best path of instants."""
        return self.times or find_times(self.records, several=False)


def detect(sample: SampleFile) -> Detected:
    """Return the content of a file. Raises AssayError `unknown-format`, which says what was tried."""
    lines = [line for line in sample.lines if line.strip()]
    if not lines:
        raise fail("unknown-format", f"the log is empty: {sample.path}", expected="lines of a log")
    if isinstance(result := _detect_samples(sample, sample_records.read_documents(lines)), Detected):
        return result
    reasons = []
    for kind, read in _KINDS.items():
        result = read(sample, lines)
        if isinstance(result, Detected):
            return result
        reasons.append(f"not {kind}: {result}")
    raise _build_error(sample, lines, reasons)


def _build_error(sample: SampleFile, lines: Sequence[str], reasons: Sequence[str]) -> AssayError:
    quotes = [f"line: {line[:_QUOTED_LENGTH]}{'...' * (len(line) > _QUOTED_LENGTH)}" for line in lines[:_QUOTED_LINES]]
    return fail(
        "unknown-format",
        f"the kind of the log is not recognized: {sample.path}",
        expected="JSON, logfmt, a table with a header, samples, or text lines with instants",
        notes=[*reasons, *quotes],
        hint=suggest_header(lines)
        or "write the source by hand: docs/sources.md describes patterns of lines and forms of instants",
    )


def flatten(value: object, path: KeyPath = ()) -> Iterator[tuple[KeyPath, object]]:
    """Yield paths and values of the texts, numbers and booleans of an object.

    Lists are passed over, except those that a known format reads, which are JSON.
    """
    if isinstance(value, dict):
        for key, member in value.items():
            if len(path) < _MAX_DEPTH:
                yield from flatten(member, (*path, key))
    elif isinstance(value, list):
        if path in LISTS and all(item is None or type(item) in (int, float) for item in value):
            yield path, json.dumps(value)
    elif path and value is not None:
        yield path, value


def _make_record(position: int, value: dict[str, Any]) -> Record:
    return Record("", position, "", dict(flatten(value)))


def _read_json_records(sample: SampleFile, lines: Sequence[str]) -> Detected | str:
    if lines[0].lstrip()[:1] not in ("{", "["):
        return "it does not begin with a brace or bracket"
    try:
        document = json.loads("\n".join(sample.lines), object_pairs_hook=_keep_first)
    except ValueError as error:
        return _read_nested_documents(sample, lines) or f"no JSON document ({error})"
    lists = sorted(_find_lists(document), key=lambda item: -len(item[1]))
    if nested := _read_nested(sample, document, is_only=not lists):
        return nested
    if not lists and isinstance(document, dict):
        return _read_members(sample, document) or _read_single_object(sample, document)
    if not lists:
        return "the document has no list of objects"
    body, values = lists[0]
    if isinstance(document, dict) and body == ("data", "result"):
        return "it is a response of Prometheus"
    records = tuple(_make_record(index, value) for index, value in enumerate(values))
    place = f"in the list `{'.'.join(body)}`" if body else "in the document"
    notes = tuple(_list_unread_lists(values))
    return Detected(sample, "json-records", records, f"{len(values)} objects {place}", (body,), body, notes=notes)


def _read_nested_documents(sample: SampleFile, lines: Sequence[str]) -> Detected | None:
    """Return the items of lists in lists of the objects of a text, one a line."""
    try:
        documents = [json.loads(line, object_pairs_hook=_keep_first) for line in lines]
    except ValueError:
        return None
    has_lists = all(isinstance(item, dict) and any(isinstance(value, list) for value in item.values())
                    for item in documents)  # fmt: skip
    return _read_nested(sample, documents, is_only=True) if has_lists else None


def _read_nested(sample: SampleFile, document: object, is_only: bool) -> Detected | None:
    """Return the items of lists in lists, most of them: if there are no others, or if they have a known format."""
    for body, values in list_nested(document):
        records = tuple(_make_record(index, value) for index, value in enumerate(values))
        is_known = find_known_format("json-records", {path for record in records for path in record.values})
        if is_known or (is_only and find_times(records, several=False)):
            reason = f"{len(values)} objects in the lists `{'.'.join(body)}`"
            return Detected(sample, "json-records", records, reason, (body,), body)
    return None


def _list_unread_lists(values: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield which lists of numbers in records are not read."""
    sizes: Counter[str] = Counter()
    for value in values:
        for path, items in _find_number_lists(value):
            sizes[".".join(path)] += len(items)
    for name, size in sizes.items():
        yield f"`{name}`, a list with {format_count(size, 'number')}, is not read: SQL of a relation can unnest it"


def _find_number_lists(value: object, path: KeyPath = ()) -> Iterator[tuple[KeyPath, list[object]]]:
    if isinstance(value, dict) and len(path) < _MAX_DEPTH:
        for key, member in value.items():
            yield from _find_number_lists(member, (*path, key))
    elif isinstance(value, list) and value and all(type(item) in (int, float) for item in value):
        yield path, value


def _read_members(sample: SampleFile, document: dict[str, Any]) -> Detected | None:
    """Return the members of an object as records, with their keys, if they are alike or of a known format."""
    if find_known_format("json-records", dict(flatten(document))):
        return None
    for path, members in _find_objects(document):
        records = tuple(
            replace(record, values={(MEMBERS,): key, **record.values})
            for key, record in ((key, _make_record(index, value)) for index, (key, value) in enumerate(members.items()))
        )
        if _are_alike(records) or find_known_format("json-records", {key for item in records for key in item.values}):
            place = f"of `{'.'.join(path)}`" if path else "of the document"
            reason = f"{len(records)} objects, the members {place}"
            return Detected(sample, "json-records", records, reason, ((*path, MEMBERS),), (*path, MEMBERS))
    return None


def _find_objects(value: dict[str, Any], path: KeyPath = ()) -> Iterator[tuple[KeyPath, dict[str, dict[str, Any]]]]:
    """Yield the objects of which all members are objects, the outer ones first."""
    if value and all(isinstance(member, dict) and MEMBERS not in member for member in value.values()):
        yield path, value
    for key, member in value.items():
        if isinstance(member, dict) and len(path) < _MAX_DEPTH:
            yield from _find_objects(member, (*path, key))


def _are_alike(records: Sequence[Record]) -> bool:
    """Return whether nearly all of several records have the same keys; if they are few, with several numbers each."""
    (keys, count), *_ = Counter(frozenset(record.values) for record in records).most_common(1)
    first = next(record for record in records if frozenset(record.values) == keys)
    numbers = sum(type(value) in (int, float) for value in first.values.values())
    least = _FEW_ALIKE if numbers > 1 else _MANY
    return numbers > 0 and len(records) >= least and count >= _FULL * len(records)


def _read_single_object(sample: SampleFile, document: dict[str, Any]) -> Detected | str:
    record = _make_record(0, document)
    if find_times([record], several=False) or not _are_results(sample, [record]):
        return "the document has no list of objects"
    return Detected(sample, "json-records", (record,), "the document is one object", ((),))


def _are_results(sample: SampleFile, records: Sequence[Record]) -> bool:
    """Return whether records have numbers. A single one in a file of a folder may also be settings."""
    has_numbers = any(type(value) in (int, float) for record in records for value in record.values.values())
    is_known = find_known_format("json-records", {path for record in records for path in record.values}) is not None
    return has_numbers and (sample.is_listed or len(records) > 1 or is_known)


def _keep_first(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for key, value in pairs:
        members.setdefault(key, value)
    return members


def _find_lists(value: object, path: KeyPath = ()) -> Iterator[tuple[KeyPath, list[dict[str, Any]]]]:
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        yield path, value
    elif isinstance(value, dict) and len(path) < _MAX_DEPTH:
        for key, member in value.items():
            yield from _find_lists(member, (*path, key))


def _read_json_lines(sample: SampleFile, lines: Sequence[str]) -> Detected | str:
    def parse(line: str) -> dict[str, Any]:
        value = json.loads(line, object_pairs_hook=_keep_first)
        if not isinstance(value, dict):
            raise ValueError("no object")
        return value

    result = _read_lines(sample, lines, "json-lines", "objects of JSON", parse)
    if isinstance(result, str):
        return result
    if times := find_times(result.records, several=False):
        return replace(result, times=times)
    if describe_nearest_times(result.records):
        return result
    if len(result.records) < len(lines) or not _are_results(sample, result.records):
        return result if sample.is_listed else f"{result.reason}, without instants"
    reason = f"{len(lines)} objects one after another, without instants"
    return replace(result, kind="json-records", reason=reason, layout=((),))


def _read_logfmt(sample: SampleFile, lines: Sequence[str]) -> Detected | str:
    def parse(line: str) -> dict[str, Any]:
        members = logfmt.parse_line(line)
        if len(members) < _MIN_PAIRS or True in members.values():
            raise ValueError("too few members")
        return members

    result = _read_lines(sample, lines, "logfmt", "members `key=value`", parse)
    if isinstance(result, str) or (times := find_times(result.records, several=False)):
        return result if isinstance(result, str) else replace(result, times=times)
    return result if describe_nearest_times(result.records) else f"{result.reason}, without instants"


def _read_lines(
    sample: SampleFile, lines: Sequence[str], kind: str, word: str, parse: Callable[[str], dict[str, Any]]
) -> Detected | str:
    records = []
    for position, line in enumerate(sample.lines):
        try:
            records.append(_make_record(position, parse(line)))
        except (ValueError, RecursionError):
            continue
    reason = f"{len(records)} of {len(lines)} lines are {word}"
    if len(records) < max(1, _MIN_SHARE * len(lines)):
        return reason
    return Detected(sample, kind, tuple(records), reason)


def _read_samples(sample: SampleFile, lines: Sequence[str]) -> Detected | str:
    return _detect_samples(sample, sample_records.read_lines(lines))


def _detect_samples(sample: SampleFile, result: sample_records.SampleRecords | str) -> Detected | str:
    if isinstance(result, str):
        return result
    return Detected(sample, "samples", result.records, result.reason, notes=result.notes)


def _read_table(sample: SampleFile, lines: Sequence[str]) -> Detected | str:
    table = read_table(lines)
    if isinstance(table, str):
        return table
    records = join_instants(table.records)
    return Detected(sample, "csv", records, table.reason, table.header, notes=table.notes, begins=table.begins)


def _read_text(sample: SampleFile, lines: Sequence[str]) -> Detected | str:
    if match := match_benchmark_lines(sample.lines) or match_known_text(sample.lines):
        records = tuple(
            Record("", position, match.format.event, {(name,): value for name, value in values.items()})
            for position, values in match.rows
        )
        reason = f"{len(records)} of {len(lines)} lines have the format of: {match.format.name}"
        mark = match.pattern if match.has_instants else match.format.name  # patterns of results are joined
        return Detected(sample, "text-lines", records, reason, (mark,), known_text=match)
    layout = find_text_layout(sample.lines)
    if layout is None:
        return _read_timeless_text(sample, lines)
    records = tuple(Record("", line.position, line.message, {layout.time: line.at}) for line in layout.lines)
    reason = f"{len(records)} of {len(lines)} lines have an instant such as {layout.stamp}"
    rest = len(lines) - len(layout.lines)
    notes = (f"{rest} of {len(lines)} lines are not read, as they have no such instant",) if rest > len(records) else ()
    return Detected(sample, "text-lines", records, reason, (layout.line, layout.time_form), (), layout, notes=notes)


def _read_timeless_text(sample: SampleFile, lines: Sequence[str]) -> Detected | str:
    """Return lines without instants, if most of them, or many, are alike but for their numbers."""
    if max(map(len, lines)) > _LONGEST_LINE:
        return f"a line has more than {_LONGEST_LINE} characters, and none has an instant"
    if all(QUANTITY.fullmatch(line.strip()) for line in lines):
        return "its lines are numbers without words"
    templates = find_templates(lines, ())
    counts: Counter[str] = Counter()
    texts: dict[str, set[str]] = defaultdict(set)
    for line, template in zip(lines, templates, strict=True):
        if any(is_number(value) or has_unit(value) or _IS_DURATION(value) for _, value in template.values):
            counts[template.pattern] += 1
            texts[template.pattern].add(line)
    counts = Counter({pattern: size for pattern, size in counts.items() if len(texts[pattern]) >= _FEW_ALIKE})
    count, stamped = counts.total(), sum(map(has_stamp, lines))
    repeated = sum(size for size in Counter(item.pattern for item in templates).values() if size >= _FEW_ALIKE)
    has_many = max(counts.values(), default=0) >= _MANY
    is_alike = count > _MIN_SHARE * len(lines) or has_many
    has_blocks = bool(counts) and repeated >= (_MIN_SHARE if has_many else _FULL) * len(lines)  # of several lines
    if not (is_alike or has_blocks) or stamped > _MIN_SHARE * len(lines) or (stamped and not has_blocks):
        return "less than half of the lines have an instant in a known form"
    text_lines = tuple(TextLine(index, "", "", line.strip()) for index, line in enumerate(sample.lines) if line.strip())
    records = tuple(Record("", line.position, line.message, {}) for line in text_lines)
    reason = f"{count} of {len(lines)} lines are alike but for their numbers, without instants"
    note = f"{stamped} of {len(lines)} lines have an instant, which is not that of the lines below"
    is_indented = any(line[:1].isspace() for line in lines)
    layout = TextLayout(f"{{? ?}}{{{MESSAGE}...}}" if is_indented else "", (), "", "", "", text_lines)
    return Detected(sample, "text-lines", records, reason, (layout.line, layout.time_form), (), layout,
                    notes=(note,) * (stamped > 0))  # fmt: skip


_KINDS: dict[str, Callable[[SampleFile, Sequence[str]], Detected | str]] = {
    "json-records": _read_json_records,
    "json-lines": _read_json_lines,
    "logfmt": _read_logfmt,
    "samples": _read_samples,
    "csv": _read_table,
    "text-lines": _read_text,
}


def locate_record(items: Sequence[Detected], record: Record) -> str:
    """Return the file and line of a record of files of one layout; its number in a table or document."""
    position = record.position
    samples = [item.sample for item in items if _get_scope(item.sample) == record.host]
    sample = samples[0]
    for item, following in itertools.pairwise(samples):
        if position < len(item.lines):
            break
        position, sample = position - len(item.lines), following
    word = "line" if items[0].kind in ("json-lines", "logfmt", "text-lines") else "record"
    return f"{word} {position + 1} of {sample.place}"


def _get_scope(sample: SampleFile) -> str:
    return f"{sample.run}/{sample.host}"


def shift_positions(items: Sequence[Detected]) -> list[Record]:
    """Return the records of files of one layout; positions count on from file to file of a host of a run."""
    offsets: Counter[str] = Counter()
    records: list[Record] = []
    for item in items:
        scope = _get_scope(item.sample)
        offset = offsets[scope]
        records.extend(replace(record, host=scope, position=record.position + offset) for record in item.records)
        offsets[scope] += len(item.sample.lines)
    return records
