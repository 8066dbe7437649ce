"""Tables of metrics against declared classes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal

from assay.lang import formula
from assay.lang.check.checker import Checker
from assay.lang.check.formulas import FormulaPlace, check_formula_unit
from assay.lang.expression_types import UnitError
from assay.lang.model.expression import Expression
from assay.lang.model.headings import Heading
from assay.lang.model.package import Package
from assay.lang.model.parts import Block, FormulaResolver, Part, RowRequest
from assay.lang.model.report import Report
from assay.lang.model.vocabulary import Unit
from assay.lang.units import UnknownUnitError
from assay.util.numbers import parse_decimal


@dataclass(frozen=True, slots=True)
class Class:
    """A declared class: its name, and its amount (a decimal number) in a unit.

    `factor` converts the unit to base units; `resolve` computes it.
    """

    name: str
    amount: str
    unit: Unit
    factor: str = "1"


@dataclass(frozen=True, slots=True)
class ClassTable(Block):
    """A table with a row for each declared class; its cells are a formula over the amount of the class and metrics.

    Columns are the runs, with the averages of metrics; with `across`, they are the rows of the metrics' grain, named by
    this column.  `heading` is the title of the column of classes, `width` is like that of a metric.
    """

    title: str
    heading: str
    classes: tuple[Class, ...]
    value: Expression
    unit: Unit
    across: str
    width: int

    def check(self, checker: Checker, owner: str, _article: Report, _part: Part) -> None:
        """Report classes without names or amounts of one kind, a wrong unit of the formula, and unknown columns."""
        owner = f"table `{self.title}` in {owner}"
        if not self.classes:
            checker.report("class", f"{owner} has no classes", self.title, hint="add some to `classes`")
            return
        for name, times in Counter(item.name for item in self.classes).items():
            if times > 1:
                checker.report("class", f"{owner} has {times} classes named `{name}`", name, hint="rename all but one")
        amount = self.classes[0].unit.name
        for item in self.classes:
            _check_class(checker, owner, item, amount)
        if check_formula_unit(
            checker, FormulaPlace(f"the formula of {owner}", self.title), self.value, self.unit, amount
        ):
            self._check_columns(checker, owner)

    def _check_columns(self, checker: Checker, owner: str) -> None:
        """Report columns that are neither the runs nor rows of the grain of all metrics."""
        metrics_by_id = formula.index_metrics(checker.package)
        metrics = [metrics_by_id[name] for name in self.read_metrics()]
        if not self.across or not formula.list_measured(
            metrics_by_id, metrics
        ):  # errors in its formulas are reported elsewhere
            return
        grains = {formula.find_grain(metrics_by_id, metric) for metric in metrics}
        grain = next((item for item in checker.package.grains if grains == {item.name}), None)
        if grain is None:
            checker.report(
                "other-grain",
                f"the metrics of {owner} are not all of one grain, which its columns need",
                self.title,
                found=", ".join(sorted(grains - {""})) or "none",
            )
            return
        columns = [column.name for column in grain.columns]
        if self.across not in columns:
            checker.report_unknown("column", self.across, f"of grain `{grain.name}` in {owner}", columns)

    def resolve(self, resolver: FormulaResolver) -> ClassTable:
        """Return the table with conversion factors in its formula, and each class in base units."""
        value = resolver.convert_formula(self.value, self.unit, self.classes[0].unit.name)
        classes = (
            replace(item, factor=str(resolver.library.convert_to_base(item.unit.name)[0])) for item in self.classes
        )
        return replace(self, value=value, classes=tuple(classes))

    def list_headings(self, _package: Package) -> Iterator[Heading]:
        """Yield the heading of the column of classes, and the names of the classes, which are rows."""
        yield Heading("column", self.heading, self.heading)
        yield from (Heading("class", item.name, item.name) for item in self.classes)

    def read_metrics(self) -> Iterable[str]:
        return formula.list_inputs(self.value)

    def read_averages(self) -> Iterable[str]:
        """Return the metrics whose averages over runs are columns."""
        return () if self.across else self.read_metrics()

    def read_rows(self, package: Package) -> Iterator[RowRequest]:
        """Yield the rows that are columns; none where the runs are."""
        metrics_by_id = formula.index_metrics(package)
        ids = tuple(self.read_metrics())
        measured = formula.list_measured(metrics_by_id, [metrics_by_id[name] for name in ids if name in metrics_by_id])
        grains = {metric.grain for metric in measured if self.across}
        for grain in package.grains:
            if grain.name in grains:
                yield RowRequest(grain.name, tuple(dict.fromkeys((self.across, *grain.key))), ids)

    def build_class_formula(self, item: Class) -> Expression:
        """Return the resolved formula with the amount of a class in its place."""
        return _put_amount(self.value, item)


def _put_amount(node: Expression, item: Class) -> Expression:
    if node.op == "parameter" and node.name == formula.CLASS:
        return Expression("quantity", number=Decimal(item.amount), unit=item.unit.name, factor=item.factor)
    return replace(node, operands=tuple(_put_amount(operand, item) for operand in node.operands))


def _check_class(checker: Checker, owner: str, item: Class, unit: str) -> None:
    amount = parse_decimal(item.amount)
    if amount is None or amount <= 0:
        checker.report(
            "class",
            f"class `{item.name}` of {owner} has no amount",
            item.name,
            expected=f"a number above 0, in {item.unit.name}",
            found=item.amount,
        )
    try:
        checker.library.compute_factor(item.unit.name, unit)
    except UnknownUnitError as error:
        checker.report_unknown_unit(error, f"class `{item.name}` of {owner}", item.name)
    except UnitError:
        message = f"the amount of class `{item.name}` of {owner} has a different dimension than that of the first class"
        checker.report("unit", message, item.name, expected=unit, found=item.unit.name)
