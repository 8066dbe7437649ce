"""Note what the records of a log may mean otherwise than they are read: no rule can decide it, but a reader can."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal

from assay.util.time_units import EPOCH_FORMS
from assay_propose.model import EventProposal, FieldProposal, KeyPath
from assay_propose.names import split_words
from assay_propose.run_order import parse_instant
from assay_propose.sources import Group
from assay_propose.units import TIMES

_INSTANTS = frozenset(("at", "date", "time", "timestamp", "ts"))
_LEAST_SECONDS, _MOST_SECONDS = 9e8, 4e9  # since 1970: from 1998 to 2096
_MIN_RECORDS = 5
_SET_BACK = 600  # seconds by which instants go back from a record to the next: more than a request takes


def note_doubts(group: Group) -> Group:
    """Return a source whose notes say what may be otherwise."""
    doubts = (*_list_lost_instants(group), *_list_two_units(group), *_list_steps_back(group))
    return replace(group, source=replace(group.source, notes=(*group.source.notes, *doubts)))


def _list_lost_instants(group: Group) -> Iterator[str]:
    """Yield why each field that is named like an instant has none that can be read, in a source without instants."""
    for event in () if group.source.time else group.source.events:
        for field in map(group.source.find_field, event.fields):
            if not _INSTANTS & {*split_words(field.path[-1])}:
                continue
            values = [record.values.get(field.path) for record in group.records[event.name]]
            texts = [str(value) for value in values if value is not None]
            if reason := _explain_no_instants(texts):
                yield f"{field.name}: no instants, since {reason}"


def _explain_no_instants(texts: Sequence[str]) -> str:
    """Return why texts are not read as instants; empty if they may be something else, such as durations."""
    forms = Counter(map(_find_form, texts))
    if "" in forms or not forms:
        return ""
    rounded = next((text for text in texts if "e" in text.lower()), None)
    if rounded is not None:
        (form, *_), number = forms, Decimal(rounded).normalize()
        step = 10 ** max(int(number.as_tuple().exponent), 0)
        return f"{rounded} is rounded to {step:,} {form}, as by a spreadsheet: write all digits"
    counts = ", ".join(f"{count} in {form}" for form, count in forms.items())
    return f"its units differ: {counts} since 1970" if len(forms) > 1 else ""


def _find_form(text: str) -> str:
    """Return the unit in which a number is an instant of our time; empty for others."""
    instants = {form: parse_instant(text, form) for form in EPOCH_FORMS}
    return next((form for form, at in instants.items() if at and _LEAST_SECONDS <= at <= _MOST_SECONDS), "")


def _list_two_units(group: Group) -> Iterator[str]:
    """Yield a sentence on each two times of one name but for its unit of which no record has both."""
    for event in group.source.events:
        times = [field for field in map(group.source.find_field, event.fields) if field.unit in TIMES]
        for one, other in itertools.combinations(times, 2):
            if _name_without_unit(one) == _name_without_unit(other) and _exclude_each_other(group, event, one, other):
                yield f"{one.name}, {other.name}: no record of {event.name} has both; are they one time in two units?"


def _name_without_unit(field: FieldProposal) -> KeyPath:
    return (*field.path[:-1], *split_words(field.path[-1])[:-1])


def _exclude_each_other(group: Group, event: EventProposal, one: FieldProposal, other: FieldProposal) -> bool:
    counts = Counter((one.path in item.values, other.path in item.values) for item in group.records[event.name])
    return min(counts[True, False], counts[False, True]) >= _MIN_RECORDS and not counts[True, True]


def _list_steps_back(group: Group) -> Iterator[str]:
    """Yield a sentence if the instants of a host go back: its clock was set back, or local times have no zone."""
    path, form = group.source.time, group.source.time_form
    if not path or group.source.kind == "samples":
        return
    records = sorted(itertools.chain(*group.records.values()), key=lambda item: (item.host, item.position))
    instants = [(item, parse_instant(str(item.values[path]), form)) for item in records if path in item.values]
    steps = [(before - after, item.run) for (item, before), (following, after) in itertools.pairwise(instants)
             if item.host == following.host and before and after and before - after >= _SET_BACK]  # fmt: skip
    if steps:
        seconds, run = max(steps)
        yield f"instants of {run} go back by {seconds:.0f} s: a clock was set back, or local times lack their zone"
