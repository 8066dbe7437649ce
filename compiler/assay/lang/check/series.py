"""Check series: their events, types and units, and the terms of computed series."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from assay.lang import scopes
from assay.lang.check.checker import Checker
from assay.lang.expression_types import NONE, UnitError
from assay.lang.model.expression import Expression
from assay.lang.model.package import Event, Field, Relation
from assay.lang.model.series import INTERVAL_READINGS, Series, Term
from assay.lang.scopes import HOST
from assay.lang.series_wording import LINES
from assay.lang.units import VALUE, UnknownUnitError, compute_reading_factor, describe_reading_unit
from assay.util.diagnostics import suggest_names

_MERGES = tuple(LINES)


def check_terms(checker: Checker, owner: str, item: Series) -> None:
    """Check the terms and the value of a computed series."""
    for name, times in Counter(term.name for term in item.terms).items():
        if times > 1:
            checker.report("series-term", f"{owner} has {times} terms named `{name}`", item.name)
    if item.samples or item.gone or item.reading or item.covered or item.ceases:
        checker.report(
            "series-samples", f"{owner} has both terms and samples", item.name,
            hint="remove either `samples`, `reading`, `gone`, `ceases` and `covered`, or the terms",
        )  # fmt: skip
    for term in item.terms:
        _check_term(checker, owner, item, term)
    _check_value(checker, owner, item)


def _check_term(checker: Checker, owner: str, item: Series, term: Term) -> None:
    upstream = next((series for series in checker.package.series if series.name == term.series), None)
    if upstream is None:
        names = [series.name for series in checker.package.series]
        checker.report_unlisted("series", term.series, f"in {owner}", names, within=(item.doc, item.name))
        return
    if term.over not in _MERGES:
        checker.report(
            "series-term", f"unknown aggregation `{term.over}` of the lines of `{upstream.name}` in {owner}",
            item.name, hint=suggest_names(term.over, _MERGES[1:]),
        )  # fmt: skip
    if (upstream.windows, upstream.every_ns, upstream.every) != (item.windows, item.every_ns, item.every):
        checker.report("series-term", f"{owner} and its term `{term.name}` have different windows or steps", item.name)
    missing_labels = sorted(set(item.by) - set(upstream.by))
    extra_labels = sorted(set(upstream.by) - set(item.by))
    if missing_labels or (extra_labels and not term.over):
        checker.report(
            "series-label",
            f"{owner} and its term `{term.name}` have different labels",
            item.name,
            expected=", ".join(item.by),
            found=", ".join(upstream.by),
            hint="" if missing_labels else "`meanOf` and similar functions combine the lines with equal labels",
        )


def _check_value(checker: Checker, owner: str, item: Series) -> None:
    if item.value is None:
        checker.report("series-value", f"{owner} has terms but no value", item.name)
        return
    inferred = checker.infer_type(
        item.value, scopes.build_term_scope(checker.package, item), f"the value of {owner}", item.name, "value"
    )
    if inferred is None:
        return
    if inferred.type not in ("integer", "real"):
        checker.report(
            "type", f"the value of {owner} is not a number", item.name, expected="a number", found=inferred.type
        )
        return
    try:
        checker.library.compute_factor(inferred.unit, item.unit.name)
    except UnknownUnitError as error:
        checker.report_unknown_unit(error, owner, item.name)
    except UnitError:
        checker.report(
            "unit", f"the value of {owner} has a unit that does not convert to the declared unit", item.name,
            expected=item.unit.name, found=inferred.unit,
        )  # fmt: skip


NUMERIC_TYPES = ("real", "integer", "unsigned")
READINGS = ("latest", "rate", *INTERVAL_READINGS)


def check_series(checker: Checker) -> None:
    """Check every series of the package."""
    for item in checker.package.series:
        owner = f"series `{item.name}`"
        _check_times(checker, owner, item)
        _check_windows(checker, owner, item)
        if item.terms:
            check_terms(checker, owner, item)
            continue
        _check_reading(checker, owner, item)
        for sampled in item.samples:
            _check_samples(checker, owner, item, sampled.event, sampled.where)
        if not item.samples:
            checker.report("series-samples", f"{owner} has no samples", item.name)
        if not item.by and not item.has_intervals:
            checker.report(
                "series-by",
                f"{owner} has no labels in `by`",
                item.name,
                expected="label fields of the samples; only a series of intervals or `terms` can combine all lines",
            )
        if item.gone:
            _check_end(checker, owner, item)
        _check_rate_and_end(checker, owner, item)


def _check_reading(checker: Checker, owner: str, item: Series) -> None:
    if item.reading not in READINGS:
        checker.report(
            "series-reading",
            f"unknown reading `{item.reading}` of {owner}",
            item.reading or item.name,
            hint=suggest_names(item.reading, READINGS),
            within=(item.name,),
        )


def _check_rate_and_end(checker: Checker, owner: str, item: Series) -> None:
    """Check fields that are valid for one kind of reading only."""
    if item.covered and item.reading == "latest":
        checker.report(
            "series-reading",
            f"{owner} has `covered`, but reading `{item.reading}` uses no windows",
            item.name,
            expected='`reading = "rate"` or one of intervals, or no `covered`',
        )
    if item.has_intervals and (item.window or item.window_ns or item.gone):
        checker.report(
            "series-reading",
            f"{owner} has `windowNs`, `window` or `gone`, but reading `{item.reading}` reads whole intervals",
            item.name,
            expected="only `everyNs` or `every`, the length of an interval",
        )
    if item.reading == "count" and item.value is not None:
        checker.report(
            "series-value",
            f"{owner} has a value, but reading `count` counts records",
            item.name,
            expected="no `value`, or a reading such as `sum`",
        )
    if item.ceases and (not item.gone or item.reading != "latest"):
        checker.report(
            "series-gone",
            f"{owner} has `ceases` but does not define which lines end",
            item.name,
            expected='`reading = "latest"` and `gone`, or no `ceases`',
        )


def _check_times(checker: Checker, owner: str, item: Series) -> None:
    """Check that step and window are a number of ns above 0 or a constant that is a duration.

    A series of terms or intervals has no window.
    """
    durations = scopes.list_durations(checker.package)
    settings = (("everyNs", item.every_ns, item.every), ("windowNs", item.window_ns, item.window))
    for name, number, constant in settings[:1] if item.terms or item.has_intervals else settings:
        if constant and constant not in durations:
            checker.report(
                "series-time",
                f"constant `{constant}` in `{name}` of {owner} is not a duration",
                constant or item.name,
                hint=suggest_names(constant, durations),
                within=(item.name,),
            )
        elif not constant and number <= 0:
            checker.report(
                "series-time",
                f"`{name}` of {owner} is not above 0",
                item.name,
                expected="ns, above 0",
                found=str(number),
            )


def _check_windows(checker: Checker, owner: str, item: Series) -> None:
    windows = next((relation for relation in checker.package.relations if relation.name == item.windows), None)
    if not isinstance(windows, Relation):
        names = [relation.name for relation in checker.package.relations]
        checker.report_unlisted(
            "relation", item.windows, f"in `windows` of {owner}", names, within=(item.doc, item.name)
        )
        return
    types = {column.name: column.type for column in windows.columns}
    for name in ("from_ns", "to_ns"):
        if types.get(name) != "instant":
            checker.report(
                "series-windows",
                f"relation `{windows.name}`, with the windows of {owner}, has no instant `{name}`",
                item.name,
                found=types.get(name) or f"columns {', '.join(types)}",
            )


def _check_samples(checker: Checker, owner: str, item: Series, event: str, where: Expression | None) -> None:
    fields = _find_fields(checker, owner, item, event)
    if fields is None:
        return
    _check_labels(checker, owner, item, event, fields, item.by)
    check_line_keys(checker, owner, item, event)
    if item.reading != "count":
        _check_sampled_value(checker, owner, item, event, fields)
    else:
        _check_unit(checker, owner, item, NONE)
    if where:
        checker.check_condition(
            where, scopes.build_row_scope(checker.package, event), owner, item.name, f"the condition of {owner}"
        )  # fmt: skip


def _check_sampled_value(checker: Checker, owner: str, item: Series, event: str, fields: dict[str, Field]) -> None:
    """Check that each record has a number: the value of the series, or without one its field `value`."""
    field = fields.get(VALUE)
    if item.value is not None:
        scope = scopes.build_row_scope(checker.package, event)
        inferred = checker.infer_type(item.value, scope, f"the value of {owner}", item.name, VALUE)
        if inferred is None:
            return
        if inferred.type in NUMERIC_TYPES:
            _check_unit(checker, owner, item, inferred.unit)
            return
        actual = inferred.type
    elif field is not None and field.type in NUMERIC_TYPES:
        _check_unit(checker, owner, item, field.unit.name)
        return
    else:
        actual = field.type if field else f"fields {', '.join(fields) or 'none'}"
    checker.report(
        "series-value",
        f"the value of {owner} is not a number"
        if item.value is not None
        else f"event `{event}`, sampled by {owner}, has no numeric field `{VALUE}`",
        item.name,
        found=actual,
        hint="" if item.value is not None else "set `value` of the series to a field: `G.field e.size`",
    )


def check_line_keys(checker: Checker, owner: str, item: Series, event: str) -> None:
    """Check that every sample has the labels that identify its line.

    A missing label would equal nothing, not even another missing label.
    """
    for candidate in (candidate for candidate in checker.package.events if candidate.name == event):
        optional = {f.name for form in candidate.forms for f in form.fields if not f.required and f.default is None}
        for name in (name for name in dict.fromkeys(item.by) if name in optional):
            checker.report(
                "series-by",
                f"label `{name}` of {owner} is an optional field of event `{event}`",
                item.name,
                expected="a field that is required or has a default",
                found=name,
                hint='give the field a default, such as `""`',
            )


def _check_unit(checker: Checker, owner: str, item: Series, unit: str) -> None:
    """Check that readings of values in a unit convert to that of the series."""
    try:
        compute_reading_factor(checker.library.compute_factor, checker.package, item, unit)
    except UnknownUnitError as error:
        checker.report_unknown_unit(error, owner, item.name)
    except UnitError:
        checker.report(
            "unit",
            f"the readings of {owner} have a unit that does not convert to the declared unit",
            item.name,
            expected=item.unit.name,
            found=describe_reading_unit(unit, item.reading),
        )


def _check_end(checker: Checker, owner: str, item: Series) -> None:
    assert item.gone is not None
    fields = _find_fields(checker, owner, item, item.gone.event)
    if fields is None:
        return
    _check_labels(checker, owner, item, item.gone.event, fields, item.gone.on)
    for name in sorted(set(item.gone.on) - set(item.by)):
        checker.report(
            "series-gone", f"`{name}` in `gone` of {owner} is not one of its labels", item.name,
            expected=", ".join(item.by), found=name,
        )  # fmt: skip
    if item.gone.where:
        scope = scopes.build_row_scope(checker.package, item.gone.event)
        description = f"the condition of `gone` of {owner}"
        checker.check_condition(item.gone.where, scope, owner, item.name, description)


def _find_fields(checker: Checker, owner: str, item: Series, event: str) -> dict[str, Field] | None:
    definition = next((item for item in checker.package.events if item.name == event), None)
    if not isinstance(definition, Event):
        names = [item.name for item in checker.package.events]
        checker.report_unlisted("event", event, f"in {owner}", names, within=(item.doc, item.name))
        return None
    return {field.name: field for field in definition.fields}


def _check_labels(
    checker: Checker, owner: str, item: Series, event: str, fields: dict[str, Field], names: Iterable[str]
) -> None:
    for name in names:
        field = fields.get(name)
        if name == HOST:
            continue
        if field is None or field.type != "text":
            texts = [text_field.name for text_field in fields.values() if text_field.type == "text"]
            checker.report(
                "series-label",
                f"event `{event}`, read by {owner}, has no text field `{name}`",
                name or item.name,
                hint=suggest_names(name, texts),
                within=(item.name,),
            )
