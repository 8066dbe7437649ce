"""The forms of all events under numbers, by which the queries tell them apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assay.lang.model.package import Event, Field, Form, Source

#: what a line is that is no event, in the place of the number of a form
OTHER, TEXT, TORN, TIMELESS, LACKING = -1, -2, -3, -4, -5

Wanted = Mapping[str, frozenset[str]]


@dataclass(frozen=True, slots=True)
class NumberedForm:
    """A form of an event, its number, and its wanted fields; `needed` tells that its event is wanted."""

    number: int
    event: Event
    form: Form
    fields: tuple[Field, ...]
    needed: bool

    @property
    def paths(self) -> tuple[tuple[str, ...], ...]:
        """Every path that the form's wanted fields read, each once."""
        return tuple(dict.fromkeys(path for item in self.fields for path in item.paths))


def numbered(events: Sequence[Event], wanted: Wanted) -> tuple[NumberedForm, ...]:
    """The forms of all events, numbered so that a comparison tells what a form needs and which event it is of.

    First the forms of wanted events, by name; the forms of an event follow each other.  Only wanted ones have fields.
    """
    return in_order(sorted(events, key=lambda event: (event.name not in wanted, event.name)), wanted)


def in_order(events: Sequence[Event], wanted: Wanted) -> tuple[NumberedForm, ...]:
    """The forms of all events, numbered in the order of the events, whatever is wanted: where the first form that fits
    decides what a record is."""
    forms = [(event, form) for event in events for form in event.forms]
    return tuple(
        NumberedForm(
            number,
            event,
            form,
            tuple(item for item in form.fields if item.name in wanted.get(event.name, ())),
            event.name in wanted,
        )
        for number, (event, form) in enumerate(forms)
    )


def paths_of(forms: Sequence[NumberedForm]) -> tuple[tuple[str, ...], ...]:
    """Every path that the wanted fields of forms read, each once."""
    return tuple(dict.fromkeys(path for item in forms for path in item.paths))


def wanted_events(forms: Sequence[NumberedForm]) -> list[tuple[NumberedForm, ...]]:
    """The forms of each wanted event."""
    found: dict[str, list[NumberedForm]] = {}
    for item in forms:
        if item.needed:
            found.setdefault(item.event.name, []).append(item)
    return [tuple(items) for items in found.values()]


def ranges(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """Ascending numbers as ranges, first and last."""
    found: list[tuple[int, int]] = []
    for number in numbers:
        if found and found[-1][1] == number - 1:
            found[-1] = (found[-1][0], number)
        else:
            found.append((number, number))
    return found


def bodies(source: Source) -> dict[int, tuple[str, ...]]:
    """The path of the body by the rule by which it is wrapped (0: not at all)."""
    return {0: source.body} | {number: (*source.body, rule.take) for number, rule in enumerate(source.unwrap, start=1)}
