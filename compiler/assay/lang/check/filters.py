"""Check filters: their conditions, and how reports and examples apply them."""

from __future__ import annotations

from collections.abc import Sequence

from assay.lang import scopes
from assay.lang.check.checker import Checker
from assay.lang.model.package import Parameter
from assay.lang.model.report import FilterUse
from assay.util.numbers import parse_decimal


def check_filters(checker: Checker) -> None:
    """Check that the conditions of filters are conditions on known grains."""
    grains = {grain.name: grain for grain in checker.package.grains}
    for item in checker.package.filters:
        for condition in item.conditions:
            if condition.grain not in grains:
                checker.report_unlisted(
                    "grain", condition.grain, f"in filter `{item.name}`", grains, within=(item.name,)
                )
                continue
            scope = scopes.build_grain_scope(checker.package, grains[condition.grain], item.parameter)
            inferred = checker.infer_type(condition.holds, scope, f"filter `{item.name}`", item.name)
            if inferred and inferred.type != "boolean":
                checker.report(
                    "type",
                    f"the condition of filter `{item.name}` is not a boolean",
                    item.name,
                    expected="boolean",
                    found=inferred.type,
                )


def check_filter_uses(checker: Checker, owner: str, uses: Sequence[FilterUse], word: str) -> None:
    """Check that the filters that `owner` applies exist and have the argument that they need."""
    filters = {item.name: item for item in checker.package.filters}
    for use in uses:
        if use.name not in filters:
            checker.report_unknown("filter", use.name, f"in {owner}", filters, word=word)
            continue
        parameter = filters[use.name].parameter
        if bool(parameter) != bool(use.argument):
            mismatch = "without its argument" if parameter else "with an argument, but it takes none"
            checker.report(
                "filter-argument",
                f"{owner} applies filter `{use.name}` {mismatch}",
                word,
                expected=f"{parameter.name}, {parameter.type}" if parameter else "no argument",
                found=use.argument or "none",
            )
        elif parameter and not _is_number_of(use.argument, parameter):
            checker.report(
                "filter-argument",
                f"invalid argument of filter `{use.name}` in {owner}",
                use.argument,
                expected=f"{parameter.name}, {'a whole number' if parameter.type == 'integer' else 'a number'}",
                found=use.argument,
                within=(word,),
            )


def _is_number_of(argument: str, parameter: Parameter) -> bool:
    """Return whether a text is a number of the type of a parameter."""
    number = parse_decimal(argument)
    return number is not None and (parameter.type != "integer" or number == number.to_integral_value())
