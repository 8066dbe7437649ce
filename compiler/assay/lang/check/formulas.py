"""Check formulas (no cycles, units, worked examples) and units that SQL passes through.

Anybody may convert in SQL, and nobody sees it there; but what is taken as it is has the unit that it had.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction

from assay.lang import formula, scopes
from assay.lang.check.checker import Checker
from assay.lang.formula import FormulaScope, infer_unit, write_conversions
from assay.lang.model.expression import Expression
from assay.lang.model.package import ExampleValue, Metric, Package, Relation, Worked
from assay.lang.model.vocabulary import Unit
from assay.lang.sql_units import UnitSources, trace_units
from assay.lang.typing_rules import INSTANT, NONE, KindError, Typed, UnitError, UnknownNameError
from assay.lang.units import UnknownUnitError
from assay.util.diagnostics import did_you_mean
from assay.util.numbers import parse_decimal

Tables = Mapping[str, Mapping[str, Typed]]


def check_sql_units(checker: Checker) -> None:
    """Every column of a relation is in the unit of the columns and constants that its SQL takes it from."""
    constants = _lower(scopes.collect_constants(checker.package))
    for relation in checker.package.relations:
        tables = {**_tables(checker.package, relation), "": constants}
        for column, said, own, theirs in list_taken_columns(relation, tables):
            if theirs.unit != NONE and not checker.is_one_unit(theirs.unit, own.unit):
                checker.report(
                    "unit",
                    f"column `{column}` of relation `{relation.name}` is {said}, in another unit",
                    column,
                    expected=theirs.unit,
                    found=own.unit,
                    hint="convert it in the SQL, or name the unit that it has",
                    within=(relation.doc, relation.name),
                )


def _tables(package: Package, relation: Relation) -> Tables:
    """The tables that a relation may read, those that there are, with the types of their columns."""
    found = ((name, scopes.list_row_columns(package, name)) for name in relation.uses)
    return {name.casefold(): _lower(columns) for name, columns in found if columns is not None}


def _lower(columns: Mapping[str, Typed]) -> dict[str, Typed]:
    return {name.casefold(): kind for name, kind in columns.items()}


def list_taken_columns(relation: Relation, tables: Tables) -> Iterator[tuple[str, str, Typed, Typed]]:
    """Each column with what it is taken from, in words, and the types of both."""
    found = _passed(relation.sql, tables)
    for column in relation.columns:
        for table, name, as_it_is in sorted(found.get(column.name.casefold(), ())):
            if (theirs := tables.get(table, {}).get(name)) and (as_it_is or theirs == INSTANT):
                said = f"`{name}` of `{table}`" if table else f"the constant `{name}`"
                said += " as it is" if as_it_is else " less another instant"
                yield column.name, said, scopes.type_column(column), theirs


def _passed(sql: str, tables: Tables) -> Mapping[str, UnitSources]:
    """What the SQL passes on; nothing where it cannot be read, which is told elsewhere."""
    from sqlglot.errors import SqlglotError

    try:
        return trace_units(sql, {name: tuple(columns) for name, columns in tables.items() if name})
    except (SqlglotError, RecursionError):
        return {}


def formulas(checker: Checker) -> None:
    """Check every formula of the package."""
    circular = _cycles(checker)
    for metric in checker.package.metrics:
        what = f"metric `{metric.id}`"
        if not formula.is_formula(metric):
            if metric.examples:
                checker.report("example", f"{what} has worked examples and is no formula", metric.id)
            continue
        _plain(checker, what, metric)
        sound = comes_out(checker, f"the formula of {what}", metric.measure, metric.unit, metric.id, field="measure")
        if sound and metric.id not in circular:
            for example in metric.examples:
                _example(checker, what, metric, example)


def scope_of(package: Package, amount: str = "") -> FormulaScope:
    """What the formulas of a package may refer to."""
    units = {metric.id: metric.unit.name for metric in package.metrics}
    return FormulaScope(units, scopes.collect_constants(package), amount)


def _plain(checker: Checker, what: str, metric: Metric) -> None:
    """A formula has no rows of its own to choose from or to reduce."""
    said = [name for name in ("where", "reduction", "per") if getattr(metric, name)]
    if said:
        checker.report(
            "formula",
            f"{what} is a formula, which measures no rows: `{said[0]}` means nothing there",
            metric.id,
            hint=f"`{said[0]}` belongs to the metrics that it is over",
        )
    own = formula.find_grain(formula.index_metrics(checker.package), metric)
    if metric.grain and metric.grain != own:
        checker.report(
            "formula",
            f"{what} is a formula of another grain than it says",
            metric.id,
            expected=own or "none: the metrics that it is over are of several",
            found=metric.grain,
            hint="`M.formula` leaves the grain to the metrics",
        )


def comes_out(
    checker: Checker, what: str, node: Expression, unit: Unit, word: str, amount: str = "", field: str = ""
) -> bool:
    """Whether a formula's names are known and its unit is, or converts to, the declared one; what is wrong is noted."""
    found = _unit(checker, what, node, word, amount, field)
    if found is None:
        return False
    try:
        checker.library.factor(found, unit.name)
    except UnknownUnitError as error:
        checker.unknown_unit(error, what, word)
        return False
    except UnitError:
        lacking = checker.library.find_missing_factor(found, unit.name)
        checker.report(
            "unit",
            f"{what} comes out in a unit that does not convert to its own",
            word,
            field=field,
            expected=unit.name,
            found=found,
            hint=f"a factor in `{lacking}` is lacking in: {formula.format_formula(node)}",
        )
        return False
    return True


def _unit(checker: Checker, what: str, node: Expression, word: str, amount: str, field: str) -> str | None:
    """The unit of a formula, or None with the problem noted."""
    try:
        return infer_unit(node, scope_of(checker.package, amount), checker.library)
    except UnknownNameError as error:
        hint = did_you_mean(error.name, error.known)
        if error.kind == "metric":
            hint = f"is it in the package's `metrics`? {hint}"
        elif error.kind in ("column", "instant", "field", "taken"):
            hint = "a formula is over values of metrics (`M.value`), not over what rows have"
        checker.report(
            f"unknown-{error.kind}",
            f"{what} refers to an unknown {error.kind} `{error.name}`",
            word,
            field=field,
            hint=hint,
        )
    except KindError as error:
        expected, found = error.expected, f"{error.found} in {error.node}"
        checker.report(
            "type", f"{what} is no arithmetic over values of metrics", word, expected=expected, found=found, field=field
        )
    except UnitError as error:
        checker.report(
            "unit",
            f"{what} adds or compares units that do not convert",
            word,
            field=field,
            expected=error.expected,
            found=error.found,
        )
    except UnknownUnitError as error:
        checker.unknown_unit(error, what, word)
    return None


def _cycles(checker: Checker) -> set[str]:
    """The metrics that are formulas over themselves; each circle is told once."""
    known = formula.index_metrics(checker.package)
    circular: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        """Follow what a formula is over, which was reached by a trail of others."""
        if name in trail:
            circle = trail[trail.index(name) :]
            if not circular & set(circle):
                checker.report(
                    "cycle",
                    f"metric `{name}` is a formula over itself: {' -> '.join((*circle, name))}",
                    name,
                    hint="break the circle: one of these must be measured",
                )
            circular.update(circle)
        elif name in known:
            for following in formula.list_inputs(known[name].measure):
                visit(following, (*trail, name))

    for metric in checker.package.metrics:
        if metric.id not in circular:
            visit(metric.id, ())
    return circular


def _example(checker: Checker, what: str, metric: Metric, example: Worked) -> None:
    """An example gives each metric that the formula is over a value, and shows what comes out."""
    told = example_values(checker, what, metric, example)
    if told is None or not _convertible(checker, what, example.unit, metric.unit.name, example.shows):
        return
    shows = parse_decimal(example.shows)
    if shows is None:
        _not_decimal(checker, what, example.shows)
        return
    node = write_conversions(metric.measure, example.unit.name, scope_of(checker.package), checker.library)
    found = formula.evaluate(node, lambda name: told[name], told)
    said = f"{example.shows} {example.unit.symbol or example.unit.name}"
    if found.value is None:
        _fails(checker, what, example, said, f"no value ({found.reason})", ())
    elif rounded(found.value, example.shows) != example.shows:
        exact = f"exactly {found.value} {example.unit.name}"
        rightly = f"{rounded(found.value, example.shows)} {example.unit.symbol or example.unit.name}"
        _fails(checker, what, example, said, rightly, (exact,))


def _fails(checker: Checker, what: str, example: Worked, expected: str, found: str, notes: tuple[str, ...]) -> None:
    given = ", ".join(
        f"{item.metric} = {formula.format_number(item.value)} {item.unit.symbol}" for item in example.given
    )
    checker.report(
        "example",
        f"an example of {what} does not come out: {given}",
        example.shows,
        expected=expected,
        found=found,
        notes=notes,
        hint="the example, the formula or a unit is wrong: a prefix of 1000 for one of 1024?",
    )


def example_values(checker: Checker, what: str, metric: Metric, example: Worked) -> dict[str, Fraction] | None:
    """The values of an example in the units of their metrics (and constants), or None with the problem noted."""
    scope = scope_of(checker.package)
    units = {**scope.metrics, **{name: found.unit for name, found in scope.constants.items()}}
    wanted = dict.fromkeys(item.name for item in metric.measure.walk() if item.op in ("metric", "constant"))
    if sorted(item.metric for item in example.given) != sorted(wanted):
        checker.report(
            "example",
            f"an example of {what} does not give a value to just what the formula is over",
            example.shows,
            expected=", ".join(wanted),
            found=", ".join(item.metric for item in example.given) or "none",
        )
        return None
    told = {}
    for item in example.given:
        value = _in_unit(checker, what, item, units[item.metric])
        if value is None:
            return None
        told[item.metric] = value
    return told


def _in_unit(checker: Checker, what: str, item: ExampleValue, unit: str) -> Fraction | None:
    if not _convertible(checker, what, item.unit, unit, item.metric):
        return None
    number = parse_decimal(item.value)
    if number is None:
        _not_decimal(checker, what, item.value)
        return None
    return Fraction(number) * checker.library.factor(item.unit.name, unit)


def _convertible(checker: Checker, what: str, unit: Unit, due: str, word: str) -> bool:
    try:
        checker.library.factor(unit.name, due)
    except UnknownUnitError as error:
        checker.unknown_unit(error, what, word)
    except UnitError:
        message = f"an example of {what} has a value in a unit that does not convert"
        checker.report("unit", message, word, expected=due, found=unit.name)
    else:
        return True
    return False


def _not_decimal(checker: Checker, what: str, text: str) -> None:
    checker.report("example", f"an example of {what} has a value that is no decimal number", text, found=text or "none")


def rounded(value: Fraction, like: str) -> str:
    """A number as a decimal text with as many decimals as another has, rounded half to even."""
    decimals = len(like.partition(".")[2])
    scaled = round(value * 10**decimals)
    context = Context(prec=len(str(abs(scaled))) + decimals + 1, rounding=ROUND_HALF_EVEN)
    return format(Decimal(scaled).scaleb(-decimals, context=context), "f")
