"""The checker's part about filters: what they demand, and how reports and examples apply them."""

from __future__ import annotations

from collections.abc import Sequence

from assay.lang import scopes
from assay.lang.check.checker import Checker
from assay.lang.model.package import Parameter
from assay.lang.model.report import FilterUse
from assay.util.diagnostics import did_you_mean
from assay.util.numbers import parse_decimal


def filters(checker: Checker) -> None:
    """The conditions of filters are conditions on grains that there are."""
    grains = {grain.name: grain for grain in checker.package.grains}
    for item in checker.package.filters:
        for condition in item.conditions:
            if condition.grain not in grains:
                message = f"filter `{item.name}` is on an unknown grain `{condition.grain}`"
                checker.missing("unknown-grain", message, condition.grain, grains, within=(item.name,))
                continue
            scope = scopes.build_grain_scope(checker.package, grains[condition.grain], item.parameter)
            kind = checker.kind(condition.holds, scope, f"filter `{item.name}`", item.name)
            if kind and kind.type != "boolean":
                checker.report(
                    "type",
                    f"filter `{item.name}` is no condition",
                    item.name,
                    expected="boolean",
                    found=kind.type,
                )


def uses(checker: Checker, what: str, applied: Sequence[FilterUse], word: str) -> None:
    """The filters that `what` applies exist, and have the argument that they take."""
    known = {item.name: item for item in checker.package.filters}
    for use in applied:
        if use.name not in known:
            said = f"{what} applies an unknown filter `{use.name}`"
            checker.report("unknown-filter", said, word, hint=did_you_mean(use.name, known))
            continue
        parameter = known[use.name].parameter
        if bool(parameter) != bool(use.argument):
            lacks = "without its argument" if parameter else "with an argument"
            checker.report(
                "filter-argument",
                f"{what} applies filter `{use.name}` {lacks}",
                word,
                expected=f"{parameter.name}, {parameter.type}" if parameter else "none",
                found=use.argument or "none",
            )
        elif parameter and not _fits(use.argument, parameter):
            checker.report(
                "filter-argument",
                f"{what} applies filter `{use.name}` with an argument that is none",
                use.argument,
                expected=f"{parameter.name}, {'a whole number' if parameter.type == 'integer' else 'a number'}",
                found=use.argument,
                within=(word,),
            )


def _fits(argument: str, parameter: Parameter) -> bool:
    """Whether a text is a number of the type of a parameter."""
    number = parse_decimal(argument)
    return number is not None and (parameter.type != "integer" or number == number.to_integral_value())
