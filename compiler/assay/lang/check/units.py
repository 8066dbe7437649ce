"""Check the units of a package: those that it defines, and those of its fields, columns, filters and metrics."""

from __future__ import annotations

import re
from collections.abc import Iterator

from assay.lang.check.checker import Checker
from assay.lang.model.package import Package
from assay.lang.units import WORD, UnitLibrary, UnknownUnitError, is_factor


def check_units(checker: Checker) -> None:
    """Report unknown units, and derived units without a new name, a factor, or a unit that they are a multiple of."""
    _check_derived_units(checker)
    for owner, unit, word in _list_units(checker.package):
        try:
            checker.library.check_unit(unit)
        except UnknownUnitError as error:
            checker.report_unknown_unit(error, owner, word)


def _list_units(package: Package) -> Iterator[tuple[str, str, str]]:
    for event in package.events:
        yield from (
            (f"field `{item.name}` of event `{event.name}`", item.unit.name, item.name)
            for form in event.forms
            for item in form.fields
        )
    for relation in package.relations:
        yield from (
            (f"column `{item.name}` of relation `{relation.name}`", item.unit.name, item.name)
            for item in relation.columns
        )
    for grain in package.grains:
        suffix = f"of grain `{grain.name}`"
        yield from ((f"column `{item.name}` {suffix}", item.unit.name, item.name) for item in grain.all_columns)
    for filter_ in package.filters:
        if filter_.parameter:
            yield f"the parameter of filter `{filter_.name}`", filter_.parameter.unit.name, filter_.name
    for item in package.series:
        yield f"series `{item.name}`", item.unit.name, item.name
    for metric in package.metrics:
        yield f"metric `{metric.id}`", metric.unit.name, metric.id


def _check_derived_units(checker: Checker) -> None:
    base_names = [unit.name for unit in checker.package.units]
    unit_names = set(UnitLibrary(base_names).names)
    for unit in checker.package.derived_units:
        owner = f"unit `{unit.name}`"
        if unit.name in unit_names:
            checker.report("duplicate-unit", f"{owner} is defined twice", unit.name, hint="choose another name")
        if not is_factor(unit.factor):
            checker.report(
                "unit-factor",
                f"the factor of {owner} is not a number",
                unit.factor or unit.name,
                expected="a decimal number above 0, such as 1000 or 0.001",
                found=f'"{unit.factor}"',
            )
        unknown = [name for name in re.findall(WORD, unit.of) if name not in unit_names]
        try:
            if unknown:
                raise UnknownUnitError(unknown[0], tuple(sorted(unit_names)))
            checker.library.check_unit(unit.of)
        except UnknownUnitError as error:
            checker.report_unknown_unit(error, owner, unit.name)
        unit_names.add(unit.name)
