"""Find where the records of a log have their names and instants."""

from __future__ import annotations

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from assay_propose.instants import (
    DATE,
    MIN_SHARE,
    TIME_OF_DAY,
    TimeForm,
    build_ambiguous_day_error,
    find_ambiguous_day,
    find_time_form,
    rank_time_name,
)
from assay_propose.model import KeyPath, Record
from assay_propose.names import split_words

#: keys that suggest the name of an event, best first; and those of texts that name none
_NAME_KEYS = ("event", "ns", "msg", "message", "kind", "type", "action", "op", "operation", "metric", "name", "caller",
              "reason", "stage", "phase", "logger")  # fmt: skip
_INNER_NAME_KEYS = ("type", "metric", "name", "reason")  # those that, in an object, rather describe the object
OTHER_KEYS = frozenset((
    "level", "severity", "sev", "lvl", "host", "hostname", "thread", "method", "status", "component", "module",
))  # fmt: skip
MAX_NAMES = 200
_FEW_RECORDS = 10  # with fewer, names may be distinct
_MIN_SHARE = 0.9  # of the records that have a name
_MAX_DISTINCT_SHARE = 0.5  # distinct texts per record; with more, they are no names
#: of the records whose keys differ from those of most, the share whose keys the text under another key decides
_MIN_GAIN = 0.5
_MIN_SHAPES = 0.5  # distinct sets of keys for each of these texts: names of things decide less
_NEAR_SHARE = 0.5  # of the values of a path that are instants, to name it in an error


@dataclass(frozen=True, slots=True)
class Lookup:
    """Where names of records are; `reason` says why."""

    path: KeyPath
    reason: str


@dataclass(frozen=True, slots=True)
class Times:
    """Where instants of records are, the best path first, and how they are written."""

    paths: tuple[KeyPath, ...]
    form: TimeForm
    reason: str

    def has_instant(self, record: Record) -> bool | None:
        """Return whether the first of the paths that a record has leads to an instant; None if it has none of them."""
        path = self.find_path(record)
        return self.form.is_instant(record.values[path]) if path else None

    def find_path(self, record: Record) -> KeyPath:
        """Return the first of the paths that a record has."""
        return next((path for path in self.paths if path in record.values), ())


def find_lookup(records: Sequence[Record], times: Collection[KeyPath]) -> Lookup | None:
    """Return the path whose few texts best name events; None if each record is of the same event.

    Either its keys suggest so, or records of different texts have different keys.
    """
    candidates = []
    for path, values in _collect_values(records).items():
        texts = {value for value in values if isinstance(value, str)}
        is_text = len(values) >= _MIN_SHARE * len(records) and all(value and isinstance(value, str) for value in values)
        rank = _rank_name(path)
        is_known = rank < len(_NAME_KEYS)
        limit = _MAX_DISTINCT_SHARE * len(records)
        if len(records) < _FEW_RECORDS:
            limit = MAX_NAMES if is_known else len(records) - 1
        if not is_text or path in times or len(texts) > min(MAX_NAMES, max(1, limit)):
            continue
        if is_known or (
            len(texts) > 1 and not OTHER_KEYS & set(split_words(path[-1])) and _decides_keys(records, path)
        ):
            candidates.append((not is_known, -round(_measure_purity(records, path), 1), rank, len(texts), path))
    if not candidates:
        return None
    *_, count, path = min(candidates)
    place = ".".join(path)
    word = "text" if count == 1 else "distinct texts"
    return Lookup(path, f"{len(records)} records have {count} {word} under `{place}`")


def _rank_name(path: KeyPath) -> int:
    """Return how well a path suggests names of events: less is better. `name` does, and `user.name` does not."""
    keys = [key.lower() for key in path]
    is_inner = keys[-1] in _INNER_NAME_KEYS and not set(keys[:-1]) <= set(_NAME_KEYS)
    return _NAME_KEYS.index(keys[-1]) if keys[-1] in _NAME_KEYS and not is_inner else len(_NAME_KEYS)


def _decides_keys(records: Sequence[Record], path: KeyPath) -> bool:
    """Return whether the text at a path decides which other keys a record has."""
    shapes = {text: counts.most_common(1)[0][0] for text, counts in _count_shapes(records, path).items()}
    if len(set(shapes.values())) < max(2, _MIN_SHAPES * len(shapes)):
        return False
    plain = _measure_purity(records, ())
    return _measure_purity(records, path) - plain >= max(_MIN_GAIN * (1 - plain), 1 / len(records))


def _collect_values(records: Sequence[Record]) -> dict[KeyPath, list[object]]:
    values: dict[KeyPath, list[object]] = defaultdict(list)
    for record in records:
        for path, value in record.values.items():
            values[path].append(value)
    return values


def _measure_purity(records: Sequence[Record], path: KeyPath) -> float:
    """Return the share of records that have the most frequent set of paths among those of the same text."""
    return sum(max(counts.values()) for counts in _count_shapes(records, path).values()) / len(records)


def _count_shapes(records: Sequence[Record], path: KeyPath) -> dict[object, Counter[frozenset[KeyPath]]]:
    """Return for each text at a path how often records with it have which set of paths."""
    shapes: dict[object, Counter[frozenset[KeyPath]]] = defaultdict(Counter)
    for record in records:
        shapes[record.values.get(path)][frozenset(record.values)] += 1
    return shapes


def find_times(records: Sequence[Record], several: bool) -> Times | None:
    """Return the paths of instants: the one that most records have, and with `several` those of the rest."""
    forms = {path: form for path, values in _collect_values(records).items() if (form := find_time_form(path, values))}
    counts = Counter(path for record in records for path in record.values if path in forms)
    if not counts:
        return None
    ordered = sorted(counts, key=lambda path: (-round(counts[path] / len(records), 1), rank_time_name(path), len(path)))
    paths = [ordered[0]]
    form = forms[ordered[0]]
    rest = [record for record in records if ordered[0] not in record.values]
    for path in ordered[1:] if several else ():
        covered = [record for record in rest if path in record.values]
        if covered and forms[path] == form:
            paths.append(path)
            rest = [record for record in rest if path not in record.values]
    times = Times(tuple(paths), form, "")
    count = sum(times.has_instant(record) is True for record in records)
    return replace(times, reason=f"{count} of {len(records)} records have an instant there: {form.doc}")


def join_instants(records: Sequence[Record]) -> tuple[Record, ...]:
    """Return the rows of a table with its column of dates and that of times of day as one value, at a path of both.

    They are as they were if a column has whole instants, or if no two columns are instants together.
    """
    columns = {path: [str(value) for value in values] for path, values in _collect_values(records).items()}
    dates, clocks = (
        [path for path, texts in columns.items() if all(re.fullmatch(expression, text) for text in texts)]
        for expression in (DATE, TIME_OF_DAY)
    )
    pairs = itertools.product(dates, clocks) if dates and clocks and not find_times(records, several=False) else ()
    for pair in pairs:
        joined = [_join_values(record, pair) for record in records]
        texts = [str(record.values[sum(pair, ())]) for record in joined if sum(pair, ()) in record.values]
        if find_time_form(sum(pair, ()), texts) or find_ambiguous_day(texts):
            return tuple(joined)
    return tuple(records)


def _join_values(record: Record, paths: Sequence[KeyPath]) -> Record:
    """Return a record with the values of columns as one, if it has all of them."""
    texts = [str(record.values[path]) for path in paths if path in record.values]
    rest = {path: value for path, value in record.values.items() if path not in paths}
    whole = {sum(paths, ()): " ".join(texts)} if len(texts) == len(paths) else {}
    return replace(record, values={**whole, **rest})


def refuse_ambiguous_dates(records: Sequence[Record], place: object) -> None:
    """Raise AssayError `unknown-format` if the only instants of records may begin with the month or the day."""
    for path, values in _collect_values(records).items():
        texts = list(map(str, values))
        if forms := find_ambiguous_day(texts):
            raise build_ambiguous_day_error(f"`{' '.join(path)}` in {place}", forms, texts[0])


def describe_nearest_times(records: Sequence[Record]) -> str:
    """Return which path most nearly has instants, if at least half of its values are some; else an empty text."""
    nearest = [
        (-sum(map(form.is_instant, values)), path, len(values))
        for path, values in _collect_values(records).items()
        if (form := find_time_form(path, values, _NEAR_SHARE))
    ]
    if not nearest:
        return ""
    count, path, size = min(nearest)
    return f"`{'.'.join(path)}`: {-count} of {size} values are instants, fewer than {MIN_SHARE:.0%}"


def find_name(record: Record, path: KeyPath, is_pair: bool) -> str:
    """Return the name of a record. Of logfmt, the line number at the end of a name becomes `*`."""
    text = record.values.get(path)
    if not isinstance(text, str):
        return ""
    return re.sub(r":\d+$", ":*", text) if is_pair else text
