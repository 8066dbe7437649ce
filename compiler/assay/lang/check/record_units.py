"""Check fields whose numbers are in units that records carry."""

from __future__ import annotations

from assay.lang.check.checker import Checker
from assay.lang.model.package import Event, Field, Form
from assay.lang.record_units import find_unit_field, list_factors
from assay.util.diagnostics import suggest_names

_TEXT, _REAL = "text", "real"


def check_record_units(checker: Checker) -> None:
    """Check that `unitOf` names a text of the same form, of a real number in a unit that others convert to."""
    for event in checker.package.events:
        for form in event.forms:
            for field in form.fields:
                if find_unit_field(field):
                    _check_field(checker, event, form, field)


def _check_field(checker: Checker, event: Event, form: Form, field: Field) -> None:
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
    elif field.type != _REAL:
        checker.report(
            "unit",
            f"{owner} is converted from the unit in `{name}`, but is no real number",
            field.name,
            expected=_REAL,
            found=field.type,
            within=(event.name,),
        )
    elif not list_factors(field.unit):
        checker.report(
            "unit",
            f"{owner} is converted from the unit in `{name}`, but has no unit itself",
            field.name,
            expected="a unit of time, size, rate or share, or a unit whose symbol is the text in the records",
            found=field.unit.name,
            hint=f'write `E.inUnit U.nanosecond (E.unitOf "{name}" ...)`',
            within=(event.name,),
        )
