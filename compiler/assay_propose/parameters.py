"""Tell numbers that whoever ran it chose, or that number repetitions, from those that measure."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Sequence

from assay_propose.known_formats import SAMPLES
from assay_propose.model import EventProposal, FieldProposal, Record
from assay_propose.names import split_words
from assay_propose.sources import Group
from assay_propose.units import TIMES

GREATEST_CHOICE = 1000  # of one of few values
MAX_VALUES_OF_PARAMETER = 100
_MOST_CHOICES = 6  # distinct values of a choice
_MIN_BALANCED = 4  # distinct values of a choice, each of which equally many records have
_MIN_REPEATS = 5  # records with each value of a choice
_MIN_VALUES_OF_PARAMETER, _MIN_TRIALS = 3, 3  # of a parameter, and records with each of its values
_MIN_UNIQUE, _MIN_COMMON_KEYS, _MIN_DIFFERING = 0.9, 5, 0.1  # keys per record; those of several hosts; share of these
_SEED = "seed"
#: last words of names of numbers of repetitions; words before them that make the number a measure; words behind them
_REPETITIONS = frozenset((
    "attempt", "batch", "cycle", "epoch", "fold", "index", "iter", "iteration", "rep", "repeat", "repetition",
    "replica", "round", "run", "seed", "seq", "step", "trial", "try",
))  # fmt: skip
_MEASURING = frozenset(("avg", "count", "max", "mean", "min", "num", "per", "since", "time", "total"))
_NUMBERING = frozenset(("idx", "index", "n", "no", "num", "number"))
#: those of repetitions of the same work, by which a report is not split
_SAME_WORK = frozenset((
    "fold", "iter", "iteration", "rep", "repeat", "repetition", "run", "seed", "trial", "try",
))  # fmt: skip


def is_choice(group: Group, event: EventProposal, field: FieldProposal) -> bool:
    """Return whether a number is one of few small whole numbers above 0, each of which many records have.

    Such a number, a size of batches for example, is chosen rather than measured. Numbers that are sometimes 0 count
    something, and those with a unit measure. So does one that differs between hosts for the same key, such as the votes
    for a block. If each of several numbers has as many records as each other, someone chose them, whatever they are.
    """
    if group.known_format or field.type != "integer" or field.transform or field.unit != "none":
        return False
    records = group.records[event.name]
    counts = Counter(map(int, list_values(records, field)))
    if _MIN_BALANCED <= len(counts) <= _MOST_CHOICES and {*counts.values()} == {max(counts.values())} - {1, 2}:
        return True
    return (
        1 < len(counts) <= _MOST_CHOICES
        and min(counts) > 0
        and max(counts) <= GREATEST_CHOICE
        and min(counts.values()) >= _MIN_REPEATS
        and not _differs_between_hosts(group, event, field)
    )


def _differs_between_hosts(group: Group, event: EventProposal, field: FieldProposal) -> bool:
    """Return whether hosts have other numbers than each other in their records of the same text, such as a hash."""
    for key in map(group.source.find_field, event.fields):
        if key.type != "text":
            continue
        numbers: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)  # by run and key, then host
        records = [record for record in group.records[event.name] if {key.path, field.path} <= record.values.keys()]
        for record in records:
            place = record.run, str(record.values[key.path])
            numbers[place].setdefault(record.host, str(record.values[field.path]))
        is_key = sum(map(len, numbers.values())) >= _MIN_UNIQUE * len(records)
        several = [rows for rows in numbers.values() if len(rows) > 1]
        differing = sum(len({*rows.values()}) > 1 for rows in several)
        if is_key and len(several) >= _MIN_COMMON_KEYS and differing >= _MIN_DIFFERING * len(several):
            return True
    return False


def is_parameter(group: Group, event: EventProposal, field: FieldProposal) -> bool:
    """Return whether whole numbers are those that a benchmark tries, such as sizes, each of them equally often.

    Each has as many records with each value of another field, such as the number of a trial. Records without instants
    need no such field. A number that depends on a field before it, such as a count of allocations, is a result; times
    are, too.
    """
    if group.known_format or field.type != "integer" or field.transform or field.unit in TIMES:
        return False
    if not field.is_quantity or is_repetition_number(group, event, field):
        return False
    records = group.records[event.name]
    counts = Counter(list_values(records, field))
    if not _MIN_VALUES_OF_PARAMETER <= len(counts) <= MAX_VALUES_OF_PARAMETER or len({*counts.values()}) > 1:
        return False
    if min(counts.values()) < _MIN_TRIALS or sum(counts.values()) < len(records):
        return False
    fields = [group.source.find_field(name) for name in event.fields if name != field.name]
    before = fields[: event.fields.index(field.name)]
    if any(map(_is_dependent, (_count_pairs(records, field, other) for other in before))):
        return False
    return not group.source.time or any(_is_factorial(_count_pairs(records, field, other)) for other in fields)


def _count_pairs(records: Sequence[Record], first: FieldProposal, second: FieldProposal) -> Counter[tuple[str, str]]:
    """Return how many records have each pair of values of two fields."""
    return Counter((str(record.values.get(first.path)), str(record.values.get(second.path))) for record in records)


def _is_dependent(pairs: Counter[tuple[str, str]]) -> bool:
    """Return whether either value tells the other, of which there are several with several records."""
    firsts, seconds = {first for first, _ in pairs}, {second for _, second in pairs}
    return 1 < len(seconds) <= pairs.total() // 2 and len(pairs) in (len(firsts), len(seconds))


def _is_factorial(pairs: Counter[tuple[str, str]]) -> bool:
    """Return whether each of several first values has equally many records with each of several second ones."""
    firsts, seconds = {first for first, _ in pairs}, {second for _, second in pairs}
    return len({*pairs.values()}) == 1 < len(seconds) and len(pairs) == len(firsts) * len(seconds)


def is_repetition_number(group: Group, event: EventProposal, field: FieldProposal) -> bool:
    """Return whether a number without a unit says which repetition a record is of, such as `iteration` or `batch_no`.

    Its values are whole numbers from 0 on at equal distances, such as 1, 2, 3 or 0, 100, 200; those of seeds at any.
    """
    words = split_words(field.path[-1])
    if words[-1:] and words[-1] in _NUMBERING and len(words) > 1:
        words.pop()
    if group.known_format or field.type != "integer" or field.transform or field.unit != "none":
        return False
    if not words or words[-1] not in _REPETITIONS or _MEASURING & {*words}:
        return False
    values = sorted({*map(int, list_values(group.records[event.name], field))})
    return values[0] >= 0 and (words[-1] == _SEED or len({b - a for a, b in itertools.pairwise(values)}) <= 1)


def numbers_same_work(group: Group, event: EventProposal, field: FieldProposal) -> bool:
    """Return whether a field only numbers repetitions of the same work, such as `trial`."""
    words = split_words(field.path[-1])
    rule = group.known_format.find_rule(field.path[-1], field.place, {}) if group.known_format else None
    is_known = rule is not None and rule.omission == SAMPLES and words[-1] in _NUMBERING
    return bool(_SAME_WORK & {*words}) and (is_known or is_repetition_number(group, event, field))


def list_values(records: Sequence[Record], field: FieldProposal) -> list[str]:
    """Return the values of a field as texts."""
    return [str(value) for record in records if (value := record.values.get(field.path)) is not None]
