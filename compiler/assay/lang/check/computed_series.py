"""The checker's part about series that are worked out of others: terms that are there and fit, a value of the unit."""

from __future__ import annotations

from collections import Counter

from assay.lang import scopes
from assay.lang.check.checker import Checker
from assay.lang.labels import LINES
from assay.lang.model.package import Series, Term
from assay.lang.typing_rules import UnitError
from assay.lang.units import UnknownUnitError
from assay.util.diagnostics import did_you_mean

OVER = tuple(LINES)


def terms(checker: Checker, what: str, item: Series) -> None:
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
        _term(checker, what, item, term)
    _value(checker, what, item)


def _term(checker: Checker, what: str, item: Series, term: Term) -> None:
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


def _value(checker: Checker, what: str, item: Series) -> None:
    if item.value is None:
        checker.report("series-value", f"{what} has terms, but no value", item.name)
        return
    found = checker.kind(item.value, scopes.of_terms(checker.package, item), f"the value of {what}", item.name, "value")
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
