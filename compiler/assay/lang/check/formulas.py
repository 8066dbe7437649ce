"""Check formulas (no cycles, units, worked examples) and units that SQL passes through.

Conversions in SQL cannot be checked, but a column that SQL passes through unchanged must keep its unit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction

from assay.lang import formula, scopes
from assay.lang.check.checker import Checker
from assay.lang.expression_types import INSTANT, NONE, KindError, UnitError, UnknownNameError, ValueType
from assay.lang.formula import FormulaScope, infer_unit, write_conversions
from assay.lang.model.expression import Expression
from assay.lang.model.package import ExampleValue, Metric, Package, Relation, Worked
from assay.lang.model.vocabulary import Unit
from assay.lang.sql_units import UnitSources, trace_units
from assay.lang.units import UnknownUnitError
from assay.util.diagnostics import suggest_names
from assay.util.numbers import parse_decimal

Tables = Mapping[str, Mapping[str, ValueType]]


def check_sql_units(checker: Checker) -> None:
    """Check that every column of a relation has the unit of the columns and constants that SQL passes into it."""
    constants = _lower_names(scopes.collect_constants(checker.package))
    for relation in checker.package.relations:
        tables = {**_list_tables(checker.package, relation), "": constants}
        for column, description, declared, upstream in list_passed_columns(relation, tables):
            if upstream.unit != NONE and not checker.is_one_unit(upstream.unit, declared.unit):
                checker.report(
                    "unit",
                    f"column `{column}` of relation `{relation.name}` is {description}, but has a different unit",
                    column,
                    expected=upstream.unit,
                    found=declared.unit,
                    hint="convert it in the SQL, or declare the unit that it has",
                    within=(relation.doc, relation.name),
                )


def _list_tables(package: Package, relation: Relation) -> Tables:
    """Return the types of the columns of each existing table that a relation may read."""
    tables = ((name, scopes.list_row_columns(package, name)) for name in relation.uses)
    return {name.casefold(): _lower_names(columns) for name, columns in tables if columns is not None}


def _lower_names(columns: Mapping[str, ValueType]) -> dict[str, ValueType]:
    return {name.casefold(): kind for name, kind in columns.items()}


def list_passed_columns(relation: Relation, tables: Tables) -> Iterator[tuple[str, str, ValueType, ValueType]]:
    """Yield each column with a description of the upstream column, its own type and the upstream type."""
    passed_columns = _find_passed_columns(relation.sql, tables)
    for column in relation.columns:
        for table, name, is_unchanged in sorted(passed_columns.get(column.name.casefold(), ())):
            if (upstream := tables.get(table, {}).get(name)) and (is_unchanged or upstream == INSTANT):
                description = f"`{name}` of `{table}`" if table else f"the constant `{name}`"
                description += " unchanged" if is_unchanged else " minus another instant"
                yield column.name, description, scopes.type_column(column), upstream


def _find_passed_columns(sql: str, tables: Tables) -> Mapping[str, UnitSources]:
    """Return what the SQL passes through; nothing where it cannot be parsed, which is reported elsewhere."""
    from sqlglot.errors import SqlglotError

    try:
        return trace_units(sql, {name: tuple(columns) for name, columns in tables.items() if name})
    except (SqlglotError, RecursionError):
        return {}


def check_formulas(checker: Checker) -> None:
    """Check every formula of the package."""
    circular = _check_cycles(checker)
    for metric in checker.package.metrics:
        owner = f"metric `{metric.id}`"
        if not formula.is_formula(metric):
            if metric.examples:
                checker.report("example", f"{owner} has worked examples but is not a formula", metric.id)
            continue
        _check_formula_fields(checker, owner, metric)
        has_unit = check_formula_unit(
            checker, FormulaPlace(f"the formula of {owner}", metric.id, "measure"), metric.measure, metric.unit
        )
        if has_unit and metric.id not in circular:
            for example in metric.examples:
                _check_example(checker, owner, metric, example)


def build_formula_scope(package: Package, amount: str = "") -> FormulaScope:
    """Return what the formulas of a package may refer to."""
    units = {metric.id: metric.unit.name for metric in package.metrics}
    return FormulaScope(units, scopes.collect_constants(package), amount)


def _check_formula_fields(checker: Checker, owner: str, metric: Metric) -> None:
    """Check that a formula has no fields that choose or reduce rows: it has no rows."""
    row_fields = [name for name in ("where", "reduction", "per") if getattr(metric, name)]
    if row_fields:
        checker.report(
            "formula",
            f"{owner} is a formula, so it cannot have `{row_fields[0]}`",
            metric.id,
            hint=f"set `{row_fields[0]}` on the metrics that the formula uses",
        )
    inferred_grain = formula.find_grain(formula.index_metrics(checker.package), metric)
    if metric.grain and metric.grain != inferred_grain:
        checker.report(
            "formula",
            f"{owner} is a formula with a different grain than it declares",
            metric.id,
            expected=inferred_grain or "no grain: its metrics are of several grains",
            found=metric.grain,
            hint="`M.formula` takes the grain from the metrics",
        )


@dataclass(frozen=True, slots=True)
class FormulaPlace:
    """Where a formula is: its name in messages, and the word and field of the specs that locate it."""

    owner: str
    word: str
    field: str = ""


def check_formula_unit(checker: Checker, place: FormulaPlace, node: Expression, unit: Unit, amount: str = "") -> bool:
    """Return whether a formula refers to known names and converts to the declared unit.

    Report what is wrong.
    """
    inferred = _infer_unit(checker, place, node, amount)
    owner, word, field = place.owner, place.word, place.field
    if inferred is None:
        return False
    try:
        checker.library.compute_factor(inferred, unit.name)
    except UnknownUnitError as error:
        checker.report_unknown_unit(error, owner, word)
        return False
    except UnitError:
        missing_factor = checker.library.find_missing_factor(inferred, unit.name)
        checker.report(
            "unit",
            f"the result of {owner} has a unit that does not convert to the declared unit",
            word,
            field=field,
            expected=unit.name,
            found=inferred,
            hint=f"a factor in `{missing_factor}` is missing in: {formula.format_formula(node)}",
        )
        return False
    return True


def _infer_unit(checker: Checker, place: FormulaPlace, node: Expression, amount: str) -> str | None:
    """Return the unit of a formula; report what is wrong with it and return None."""
    owner, word, field = place.owner, place.word, place.field
    try:
        return infer_unit(node, build_formula_scope(checker.package, amount), checker.library)
    except UnknownNameError as error:
        hint = suggest_names(error.name, error.candidates)
        if error.kind == "metric":
            hint = f"is it in the package's `metrics`? {hint}"
        elif error.kind in ("column", "instant", "field", "taken"):
            hint = "a formula uses values of metrics (`M.value`), not columns of rows"
        checker.report(
            f"unknown-{error.kind}",
            f"unknown {error.noun} `{error.name}` in {owner}",
            word,
            field=field,
            hint=hint,
        )
    except KindError as error:
        checker.report(
            "type",
            f"{owner} is not arithmetic over values of metrics",
            word,
            field=field,
            expected=error.expected,
            found=f"{error.actual} in {error.node}",
        )
    except UnitError as error:
        checker.report(
            "unit",
            f"{owner} adds or compares values whose units do not convert to each other",
            word,
            field=field,
            expected=error.expected,
            found=error.actual,
        )
    except UnknownUnitError as error:
        checker.report_unknown_unit(error, owner, word)
    return None


def _check_cycles(checker: Checker) -> set[str]:
    """Report each cycle of formulas once.  Return the ids of the metrics on cycles."""
    metrics = formula.index_metrics(checker.package)
    circular: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        """Follow the inputs of a formula; `trail` holds the formulas on the way to it."""
        if name in trail:
            cycle = trail[trail.index(name) :]
            if not circular & set(cycle):
                checker.report(
                    "cycle",
                    f"the formula of metric `{name}` depends on itself: {' -> '.join((*cycle, name))}",
                    name,
                    hint="break the cycle: one of these must be measured",
                )
            circular.update(cycle)
        elif name in metrics:
            for input_id in formula.list_inputs(metrics[name].measure):
                visit(input_id, (*trail, name))

    for metric in checker.package.metrics:
        if metric.id not in circular:
            visit(metric.id, ())
    return circular


def _check_example(checker: Checker, owner: str, metric: Metric, example: Worked) -> None:
    """Check that an example has a value for each input of the formula and shows the computed result."""
    values = convert_example_values(checker, owner, metric, example)
    if values is None or not _check_convertible(checker, owner, example.unit, metric.unit.name, example.shows):
        return
    shows = parse_decimal(example.shows)
    if shows is None:
        _report_not_decimal(checker, owner, example.shows)
        return
    node = write_conversions(metric.measure, example.unit.name, build_formula_scope(checker.package), checker.library)
    result = formula.evaluate(node, lambda name: values[name], values)
    if result.value is None:
        _report_failed_example(checker, owner, example, f"no value ({result.reason})", ())
    elif round_like(result.value, example.shows) != example.shows:
        exact = f"exactly {formula.format_quantity(str(result.value), example.unit.name)}"
        computed = f"{round_like(result.value, example.shows)} {example.unit.symbol}".rstrip()
        _report_failed_example(checker, owner, example, computed, (exact,))


def _report_failed_example(
    checker: Checker, owner: str, example: Worked, computed: str, notes: tuple[str, ...]
) -> None:
    inputs = ", ".join(
        f"{item.metric} = {formula.format_number(item.value)} {item.unit.symbol}".rstrip() for item in example.inputs
    )
    checker.report(
        "example",
        f"an example of {owner} fails: {inputs}",
        example.shows,
        expected=f"{example.shows} {example.unit.symbol}".rstrip(),
        found=computed,
        notes=notes,
        hint="check the example, the formula and the units, such as a prefix of 1000 instead of 1024",
    )


def convert_example_values(checker: Checker, owner: str, metric: Metric, example: Worked) -> dict[str, Fraction] | None:
    """Return the values of an example, in the units of its metrics and constants.

    Report what is wrong and return None.
    """
    scope = build_formula_scope(checker.package)
    units = {**scope.metrics, **{name: kind.unit for name, kind in scope.constants.items()}}
    required = dict.fromkeys(item.name for item in metric.measure.walk() if item.op in ("metric", "constant"))
    if sorted(item.metric for item in example.inputs) != sorted(required):
        checker.report(
            "example",
            f"an example of {owner} does not give a value to exactly the metrics and constants of the formula",
            example.shows,
            expected=", ".join(required),
            found=", ".join(item.metric for item in example.inputs) or "none",
        )
        return None
    values = {}
    for item in example.inputs:
        value = _convert(checker, owner, item, units[item.metric])
        if value is None:
            return None
        values[item.metric] = value
    return values


def _convert(checker: Checker, owner: str, item: ExampleValue, unit: str) -> Fraction | None:
    if not _check_convertible(checker, owner, item.unit, unit, item.metric):
        return None
    number = parse_decimal(item.value)
    if number is None:
        _report_not_decimal(checker, owner, item.value)
        return None
    return Fraction(number) * checker.library.compute_factor(item.unit.name, unit)


def _check_convertible(checker: Checker, owner: str, unit: Unit, required: str, word: str) -> bool:
    try:
        checker.library.compute_factor(unit.name, required)
    except UnknownUnitError as error:
        checker.report_unknown_unit(error, owner, word)
    except UnitError:
        message = f"a value in an example of {owner} has a unit that does not convert"
        checker.report("unit", message, word, expected=required, found=unit.name)
    else:
        return True
    return False


def _report_not_decimal(checker: Checker, owner: str, text: str) -> None:
    checker.report("example", f"a value in an example of {owner} is not a decimal number", text, found=text or "none")


def round_like(value: Fraction, like: str) -> str:
    """Return a number as decimal text, rounded half to even to the number of decimals of `like`."""
    decimals = len(like.partition(".")[2])
    scaled = round(value * 10**decimals)
    context = Context(prec=len(str(abs(scaled))) + decimals + 1, rounding=ROUND_HALF_EVEN)
    return format(Decimal(scaled).scaleb(-decimals, context=context), "f")
