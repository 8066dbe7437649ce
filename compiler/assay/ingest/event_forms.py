"""Number the forms of all events, so that queries can distinguish them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assay.lang.model.package import Event, Field, Form, Source
from assay.lang.record_units import RecordUnit, find_record_unit

#: numbers in place of a form: another name, text, not parsed, without an instant, a required field is missing
OTHER, TEXT, TORN, TIMELESS, INCOMPLETE = -1, -2, -3, -4, -5

RequiredFields = Mapping[str, frozenset[str]]


@dataclass(frozen=True, slots=True)
class NumberedForm:
    """A form of an event with its number and its required fields; `is_required` if its event is required."""

    number: int
    event: Event
    form: Form
    fields: tuple[Field, ...]
    is_required: bool

    @property
    def paths(self) -> tuple[tuple[str, ...], ...]:
        """Return every path that the required fields read, without duplicates."""
        return tuple(dict.fromkeys(path for item in self.fields for path in item.paths))

    def find_unit(self, field: Field) -> RecordUnit | None:
        """Return the unit of a field that records carry; None if they do not."""
        return find_record_unit(self.form, field)


def number_forms(events: Sequence[Event], required_fields: RequiredFields) -> tuple[NumberedForm, ...]:
    """Number the forms of all events, so that the forms of each event have consecutive numbers.

    The forms of required events come first, ordered by event name. Only these have fields.
    """
    return number_forms_in_order(
        sorted(events, key=lambda event: (event.name not in required_fields, event.name)), required_fields
    )


def number_forms_in_order(events: Sequence[Event], required_fields: RequiredFields) -> tuple[NumberedForm, ...]:
    """Number the forms of all events in the order of the events.

    This is for sources in which the first form that matches a record decides its event.
    """
    forms = [(event, form) for event in events for form in event.forms]
    return tuple(
        NumberedForm(
            number,
            event,
            form,
            tuple(item for item in form.fields if item.name in required_fields.get(event.name, ())),
            event.name in required_fields,
        )
        for number, (event, form) in enumerate(forms)
    )


def list_field_paths(forms: Sequence[NumberedForm]) -> tuple[tuple[str, ...], ...]:
    """Return every path that the required fields of forms read, without duplicates."""
    return tuple(dict.fromkeys(path for item in forms for path in item.paths))


def group_required_forms(forms: Sequence[NumberedForm]) -> list[tuple[NumberedForm, ...]]:
    """Return the forms of each required event."""
    by_event: dict[str, list[NumberedForm]] = {}
    for item in forms:
        if item.is_required:
            by_event.setdefault(item.event.name, []).append(item)
    return [tuple(items) for items in by_event.values()]


def compute_ranges(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """Return ascending numbers as ranges (first, last)."""
    pairs: list[tuple[int, int]] = []
    for number in numbers:
        if pairs and pairs[-1][1] == number - 1:
            pairs[-1] = (pairs[-1][0], number)
        else:
            pairs.append((number, number))
    return pairs


def map_body_paths(source: Source) -> dict[int, tuple[str, ...]]:
    """Return the path of the body by the number of its unwrap rule, 0 for none."""
    return {0: source.body} | {number: (*source.body, rule.take) for number, rule in enumerate(source.unwrap, start=1)}
