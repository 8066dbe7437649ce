"""Check series: their events, types and units, and the terms of computed series."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from assay.lang import scopes
from assay.lang.check.checker import Checker
from assay.lang.labels import LINES
from assay.lang.model.expression import Expression
from assay.lang.model.package import Event, Field, Relation, Series, Term
from assay.lang.typing_rules import UnitError
from assay.lang.units import UnknownUnitError
from assay.util.diagnostics import did_you_mean

OVER = tuple(LINES)


def check_terms(checker: Checker, what: str, item: Series) -> None:
    """Check the terms of a series, and its value."""
    for name, times in Counter(term.name for term in item.terms).items():
        if times > 1:
            checker.report("series-term", f"{what} has {times} terms called `{name}`", item.name)
    if item.samples or item.gone or item.reading or item.covered or item.ceases:
        checker.report(
            "series-samples", f"{what} is worked out of other series, and reads samples, too", item.name,
            hint="leave out `samples`, `reading`, `gone`, `ceases` and `covered`, or the terms",
        )  # fmt: skip
    for term in item.terms:
        _check_term(checker, what, item, term)
    _check_value(checker, what, item)


def _check_term(checker: Checker, what: str, item: Series, term: Term) -> None:
    found = next((known for known in checker.package.series if known.name == term.series), None)
    if found is None:
        known = [other.name for other in checker.package.series]
        message = f"{what} is worked out of an unknown series `{term.series}`"
        checker.missing("unknown-series", message, term.series, known, within=(item.doc, item.name))
        return
    if term.over not in OVER:
        checker.report(
            "series-term", f"{what} makes lines of `{found.name}` one in a way that there is not: `{term.over}`",
            item.name, hint=did_you_mean(term.over, OVER[1:]),
        )  # fmt: skip
    if (found.windows, found.every_ns, found.every) != (item.windows, item.every_ns, item.every):
        checker.report("series-term", f"{what} and its term `{term.name}` have other windows or steps", item.name)
    lacking = sorted(set(item.by) - set(found.by))
    more = sorted(set(found.by) - set(item.by))
    if lacking or (more and not term.over):
        checker.report(
            "series-label",
            f"{what} and its term `{term.name}` do not have the same labels",
            item.name,
            expected=", ".join(item.by),
            found=", ".join(found.by),
            hint="" if lacking else "`meanOf` and the like make the lines that agree in the labels one",
        )


def _check_value(checker: Checker, what: str, item: Series) -> None:
    if item.value is None:
        checker.report("series-value", f"{what} has terms, but no value", item.name)
        return
    found = checker.kind(
        item.value, scopes.build_term_scope(checker.package, item), f"the value of {what}", item.name, "value"
    )
    if found is None:
        return
    if found.type not in ("integer", "real"):
        checker.report("type", f"the value of {what} is no number", item.name, expected="a number", found=found.type)
        return
    try:
        checker.library.factor(found.unit, item.unit.name)
    except UnknownUnitError as error:
        checker.unknown_unit(error, what, item.name)
    except UnitError:
        checker.report(
            "unit", f"{what} has a value in a unit that does not convert to its own", item.name,
            expected=item.unit.name, found=found.unit,
        )  # fmt: skip


READINGS = ("latest", "rate")
VALUE = "value"


def series(checker: Checker) -> None:
    """Check every series of the package."""
    for item in checker.package.series:
        what = f"series `{item.name}`"
        _times(checker, what, item)
        _windows(checker, what, item)
        if item.terms:
            check_terms(checker, what, item)
            continue
        _reading(checker, what, item)
        for sampled in item.samples:
            _samples(checker, what, item, sampled.event, sampled.where)
        if not item.samples:
            checker.report("series-samples", f"{what} is made of no samples", item.name)
        if not item.by:
            checker.report(
                "series-by",
                f"lines of {what} are told apart by no label",
                item.name,
                expected="label fields of its samples in `by`; a series with `terms` can make all lines one",
            )
        if item.gone:
            _gone(checker, what, item)
        _words(checker, what, item)


def _reading(checker: Checker, what: str, item: Series) -> None:
    if item.reading not in READINGS:
        checker.report(
            "series-reading",
            f"{what} is read in a way that there is not: `{item.reading}`",
            item.reading or item.name,
            hint=did_you_mean(item.reading, READINGS),
            within=(item.name,),
        )


def _words(checker: Checker, what: str, item: Series) -> None:
    """Words that say something of one reading alone."""
    if item.covered and item.reading != "rate":
        checker.report(
            "series-reading",
            f"{what} is of windows that samples cover, and reads no windows: `{item.reading}`",
            item.name,
            expected='`reading = "rate"`, or no `covered`',
        )
    if item.ceases and (not item.gone or item.reading != "latest"):
        checker.report(
            "series-gone",
            f"lines of {what} end where rows cease, and it does not say which",
            item.name,
            expected='`reading = "latest"` and `gone`, or no `ceases`',
        )


def _times(checker: Checker, what: str, item: Series) -> None:
    """Step and window: numbers of ns above 0, or constants that are durations; what is worked out has no window."""
    durations = scopes.list_durations(checker.package)
    told = (("everyNs", item.every_ns, item.every), ("windowNs", item.window_ns, item.window))
    for name, number, constant in told[:1] if item.terms else told:
        if constant and constant not in durations:
            checker.report(
                "series-time",
                f"{what} takes `{name}` from a constant that is no duration: `{constant}`",
                constant or item.name,
                hint=did_you_mean(constant, durations),
                within=(item.name,),
            )
        elif not constant and number <= 0:
            checker.report(
                "series-time", f"`{name}` of {what} is no time", item.name, expected="ns, above 0", found=str(number)
            )


def _windows(checker: Checker, what: str, item: Series) -> None:
    windows = next((relation for relation in checker.package.relations if relation.name == item.windows), None)
    if not isinstance(windows, Relation):
        known = [relation.name for relation in checker.package.relations]
        message = f"{what} has an unknown relation of windows `{item.windows}`"
        checker.missing("unknown-relation", message, item.windows, known, within=(item.doc, item.name))
        return
    types = {column.name: column.type for column in windows.columns}
    for name in ("from_ns", "to_ns"):
        if types.get(name) != "instant":
            checker.report(
                "series-windows",
                f"relation `{windows.name}`, which has the windows of {what}, has no instant `{name}`",
                item.name,
                found=types.get(name) or f"columns {', '.join(types)}",
            )


def _samples(checker: Checker, what: str, item: Series, event: str, where: Expression | None) -> None:
    fields = _fields(checker, what, item, event)
    if fields is None:
        return
    _labels(checker, what, item, event, fields, item.by)
    check_line_keys(checker, what, item, event)
    value = fields.get(VALUE)
    if value is None or value.type not in ("real", "integer", "unsigned"):
        checker.report(
            "series-value",
            f"event `{event}`, which {what} is made of, has no number `{VALUE}`",
            item.name,
            found=value.type if value else f"fields {', '.join(fields) or 'none'}",
        )
    else:
        _unit(checker, what, item, value)
    if where:
        checker.condition(
            where, scopes.build_row_scope(checker.package, event), what, item.name, f"the condition of {what}"
        )  # fmt: skip


def check_line_keys(checker: Checker, what: str, item: Series, event: str) -> None:
    """Every sample says of which line it is: what is not there equals nothing, also where it is not there either."""
    for known in (known for known in checker.package.events if known.name == event):
        optional = {f.name for form in known.forms for f in form.fields if not f.required and f.default is None}
        for name in (name for name in dict.fromkeys(item.by) if name in optional):
            checker.report(
                "series-by",
                f"lines of {what} are told apart by `{name}`, which records of event `{event}` need not have",
                item.name,
                expected="a field that is required, or has a default",
                found=name,
                hint='give the field a default, such as `""`',
            )


def _unit(checker: Checker, what: str, item: Series, value: Field) -> None:
    due = read_unit(value.unit.name, item.reading)
    try:
        checker.library.factor(due, item.unit.name)
    except UnknownUnitError as error:
        checker.unknown_unit(error, what, item.name)
    except UnitError:
        checker.report(
            "unit",
            f"{what} reads values in a unit that does not convert to its own",
            item.name,
            expected=item.unit.name,
            found=due,
        )


def read_unit(unit: str, reading: str) -> str:
    """The unit of what is read of samples in a unit: of a rate, a second of it."""
    return f"({unit}) / second" if reading == "rate" else unit


def _gone(checker: Checker, what: str, item: Series) -> None:
    assert item.gone is not None
    fields = _fields(checker, what, item, item.gone.event)
    if fields is None:
        return
    _labels(checker, what, item, item.gone.event, fields, item.gone.on)
    for name in sorted(set(item.gone.on) - set(item.by)):
        checker.report(
            "series-gone", f"lines of {what} end by `{name}`, which does not tell them apart", item.name,
            expected=", ".join(item.by), found=name,
        )  # fmt: skip
    if item.gone.where:
        scope = scopes.build_row_scope(checker.package, item.gone.event)
        ends = f"the end of lines of {what}"
        checker.condition(item.gone.where, scope, ends, item.name, ends)


def _fields(checker: Checker, what: str, item: Series, event: str) -> dict[str, Field] | None:
    found = next((known for known in checker.package.events if known.name == event), None)
    if not isinstance(found, Event):
        known = [known.name for known in checker.package.events]
        message = f"{what} reads an unknown event `{event}`"
        checker.missing("unknown-event", message, event, known, within=(item.doc, item.name))
        return None
    return {field.name: field for field in found.fields}


def _labels(
    checker: Checker, what: str, item: Series, event: str, fields: dict[str, Field], names: Iterable[str]
) -> None:
    for name in names:
        field = fields.get(name)
        if field is None or field.type != "text":
            texts = [known.name for known in fields.values() if known.type == "text"]
            checker.report(
                "series-label",
                f"event `{event}`, which {what} reads, has no text `{name}`",
                name or item.name,
                hint=did_you_mean(name, texts),
                within=(item.name,),
            )
