"""The checker's part about tables of metrics against declared classes."""

from __future__ import annotations

from collections import Counter

from assay.lang import formula
from assay.lang.check.checker import Checker
from assay.lang.check.formulas import comes_out
from assay.lang.model.article import Class, ClassTable
from assay.lang.typing_rules import UnitError
from assay.lang.units import UnknownUnitError
from assay.util.diagnostics import did_you_mean
from assay.util.numbers import decimal


def class_table(checker: Checker, where: str, table: ClassTable) -> None:
    """Classes that have names and amounts of one kind, a formula whose unit comes out, columns that there are."""
    what = f"table `{table.title}` in {where}"
    if not table.classes:
        checker.report("class", f"{what} is against no classes", table.title, hint="name some in `classes`")
        return
    for name, times in Counter(item.name for item in table.classes).items():
        if times > 1:
            checker.report("class", f"{what} has {times} classes called `{name}`", name, hint="rename all but one")
    amount = table.classes[0].unit.name
    for item in table.classes:
        _class(checker, what, item, amount)
    if comes_out(checker, f"the formula of {what}", table.value, table.unit, table.title, amount):
        _columns(checker, what, table)


def _class(checker: Checker, what: str, item: Class, unit: str) -> None:
    if not _positive(item.amount):
        checker.report(
            "class",
            f"class `{item.name}` of {what} has no amount",
            item.name,
            expected=f"a number above 0, in {item.unit.name}",
            found=item.amount,
        )
    try:
        checker.library.factor(item.unit.name, unit)
    except UnknownUnitError as error:
        checker.unknown_unit(error, f"class `{item.name}` of {what}", item.name)
    except UnitError:
        message = f"class `{item.name}` of {what} has an amount of another kind than the first one"
        checker.report("unit", message, item.name, expected=unit, found=item.unit.name)


def _positive(text: str) -> bool:
    number = decimal(text)
    return number is not None and number > 0


def _columns(checker: Checker, what: str, table: ClassTable) -> None:
    """What the columns of figures are: the rows of the grain of all its metrics, or the runs."""
    known = formula.by_id(checker.package)
    metrics = [known[name] for name in formula.over(table.value)]
    if not table.across:
        return
    if not formula.measured(known, metrics):
        return  # its formulas are wrong themselves
    grains = {formula.grain(known, metric) for metric in metrics}
    found = [item for item in checker.package.grains if grains == {item.name}]
    if not found:
        checker.report(
            "other-grain",
            f"{what} has a column for each row of a grain, and its metrics are not all of one",
            table.title,
            found=", ".join(sorted(grains - {""})) or "none",
        )
        return
    columns = [column.name for column in found[0].columns]
    if table.across not in columns:
        checker.report(
            "unknown-column",
            f"{what} calls rows by an unknown column `{table.across}` of grain `{found[0].name}`",
            table.across,
            hint=did_you_mean(table.across, columns),
        )
