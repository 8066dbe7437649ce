"""Check filters: their conditions, the files of other tools, and how reports and examples apply them."""

from __future__ import annotations

from collections.abc import Sequence

from assay.lang import scopes
from assay.lang.check.checker import Checker
from assay.lang.model.filters import Parameter
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


def check_filter_files(checker: Checker) -> None:
    """Check that filter files name filters of the package, and each condition and set once."""
    names = [item.name for item in checker.package.filters]
    for form in checker.package.filter_files:
        owner = f"filter file `{form.name}`"
        for condition in form.conditions:
            if condition.filter not in names:
                checker.report_unlisted("filter", condition.filter, f"in {owner}", names, within=(form.name,))
            if not condition.tags:
                checker.report(
                    "filter-tag", f"a condition of {owner} has no tag", condition.filter, within=(form.name,)
                )
        tags = [".".join(condition.tags) for condition in form.conditions]
        sets = [item.name for item in form.sets]
        for kind, words in (("condition", tags), ("set", sets)):
            for word in dict.fromkeys(words):
                if words.count(word) > 1:
                    message = f"{owner} has several {kind}s `{word}`"
                    checker.report("filter-tag", message, form.name, hint="remove all but one")
        for item in form.sets:
            check_filter_uses(checker, f"set `{item.name}` of {owner}", item.filters, item.name)


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
