"""Check fields whose numbers are in units that records carry."""

from __future__ import annotations

from assay.lang.check.checker import Checker
from assay.lang.model.package import Event, Field, Form
from assay.lang.record_units import find_unit_field, has_unit_behind, list_factors
from assay.util.diagnostics import suggest_names

_TEXT, _REAL = "text", "real"


def check_record_units(checker: Checker) -> None:
    """Check that converted numbers are real and have a unit, and that `unitOf` names a text of the same form."""
    for event in checker.package.events:
        for form in event.forms:
            for field in form.fields:
                if name := find_unit_field(field):
                    is_named = _check_name(checker, event, form, field)
                    word = f'E.unitOf "{name}" ...'
                    if is_named:
                        _check_number(checker, event, field, f"the unit in `{name}`", word)
                elif has_unit_behind(field):
                    _check_number(checker, event, field, "the unit behind it", "E.changed [ E.withUnit ] ...")


def _check_name(checker: Checker, event: Event, form: Form, field: Field) -> bool:
    """Check that a field names a text of its form as its unit, and return whether it does."""
    owner, name = f"field `{field.name}` of event `{event.name}`", find_unit_field(field)
    texts = [item.name for item in form.fields if item.type == _TEXT and item.name != field.name]
    if name not in texts:
        checker.report(
            "unit",
            f"{owner} has its unit in `{name}`, which is no text field of the same form",
            field.name,
            expected="the name of a text field of the event",
            found=", ".join(f"`{text}`" for text in texts) or "no text fields",
            hint=suggest_names(name, texts) if texts else "",
            within=(event.name,),
        )
    return name in texts


def _check_number(checker: Checker, event: Event, field: Field, place: str, word: str) -> None:
    """Check a number that is converted from the unit at a place, by a word of the language."""
    owner = f"field `{field.name}` of event `{event.name}`"
    if field.type != _REAL:
        checker.report(
            "unit",
            f"{owner} is converted from {place}, but is no real number",
            field.name,
            expected=_REAL,
            found=field.type,
            within=(event.name,),
        )
    elif not list_factors(field.unit):
        checker.report(
            "unit",
            f"{owner} is converted from {place}, but has no unit itself",
            field.name,
            expected="a unit of time, size, rate or share, or a unit whose symbol is the text in the records",
            found=field.unit.name,
            hint=f"write `E.inUnit U.nanosecond ({word})`",
            within=(event.name,),
        )
