"""Check grains: columns, conditions, instants, members, and the columns that rows are joined by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from assay.lang import reserved_names, scopes
from assay.lang.check.checker import Checker, Field
from assay.lang.expression_types import INSTANT, NONE, Scope, ValueType
from assay.lang.model.expression import Expression
from assay.lang.model.package import Column, Grain, Instant, Pair, Relation, Tally
from assay.lang.segments import DIMENSION_TYPES, find_field_to_take
from assay.util.diagnostics import suggest_names


def check_members(checker: Checker, owner: str, grain: Grain) -> None:
    """Check that members of a grain have distinct names and do not depend on themselves.

    Members are columns, instants and the fields that instants take along.  SQL ignores the case of names, so this does.
    """
    member_names = list(_list_member_names(checker, grain))
    for name in (*(item.name for item in grain.instants), *(item.column.name for item in grain.tallies)):
        if name.lower() == reserved_names.BASE:
            message = f"{owner} binds rows to `{name}`, which the compiler reserves for the grain itself"
            checker.report("reserved-name", message, name, hint="rename it")
    for name, times in Counter(item.lower() for item in member_names).items():
        word = next(item for item in member_names if item.lower() == name)
        if reserved_names.is_grain_column(name):
            message = f"member `{word}` of {owner} has a name that the compiler reserves"
            checker.report("reserved-name", message, word, hint="rename it")
        elif times > 1:
            message = f"{times} members of {owner} are named `{word}`"
            hint = "columns (also of the relation), instants and their fields (`INSTANT_FIELD`) need different names"
            checker.report("duplicate-member", message, word, hint=hint)
    _check_cycles(checker, owner, grain)


def _list_member_names(checker: Checker, grain: Grain) -> Iterator[str]:
    declared = [item.name for item in grain.columns]
    yield from declared
    yield from (name for name in scopes.list_inherited_columns(checker.package, grain) if name not in declared)
    yield from (item.column.name for item in grain.tallies)
    yield from (item.column.name for item in grain.derived)
    yield from (instant.name for instant in grain.instants)
    # two instants of one name are one problem, not one more for each field
    yield from dict.fromkeys(f"{instant.name}_{name}" for instant in grain.instants for name in instant.fields)


def _check_cycles(checker: Checker, owner: str, grain: Grain) -> None:
    computed = {item.name: item.value for item in grain.instants if item.value}
    computed |= {item.column.name: item.value for item in grain.derived}
    reads = {
        name: sorted({node.name for node in value.walk() if node.op in ("column", "instant")} & set(computed))
        for name, value in computed.items()
    }
    visited: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        """Follow the members that `name` is computed from; `trail` holds the members on the way to it."""
        if name in trail:
            cycle = (*trail[trail.index(name) :], name)
            message = f"`{name}` of {owner} depends on itself: {' -> '.join(cycle)}"
            checker.report("cycle", message, name, hint="break the cycle: one of these must not refer to the next")
            visited.update(cycle)
        elif name not in visited:
            for member in reads[name]:
                visit(member, (*trail, name))
            visited.add(name)

    for name in sorted(reads):
        visit(name, ())


NUMBERS = ("integer", "real")


def check_agreement(
    checker: Checker,
    owner: str,
    word: str,
    pairs: Iterable[Pair],
    columns: Mapping[str, ValueType],
    rows: Mapping[str, ValueType],
    table: str,
) -> None:
    """Check that each pair has columns of one type and unit, in the grain and in `table`.

    `rows` are the types of the columns of the table.  Unknown names are skipped: they are reported elsewhere.
    """
    for pair in pairs:
        left, right = columns.get(pair.column), rows.get(pair.field)
        if left and right:
            _check_same_type(
                checker, f"{owner} matches `{pair.column}` with `{pair.field}` of `{table}`", word, left, right
            )


def _check_same_type(checker: Checker, description: str, word: str, left: ValueType, right: ValueType) -> None:
    are_numbers = left.type in NUMBERS and right.type in NUMBERS
    if left.type != right.type and not are_numbers:
        checker.report("type", f"{description}, which has a different type", word, expected=left.type, found=right.type)
    elif are_numbers and not checker.is_one_unit(right.unit, left.unit):
        checker.report("unit", f"{description}, which has a different unit", word, expected=left.unit, found=right.unit)


WHOLE = ("integer", "unsigned", "huge")


def check_grains(checker: Checker) -> None:
    """Check every grain of the package, and the keys of the relations."""
    _check_relation_keys(checker)
    for grain in checker.package.grains:
        scope = scopes.build_grain_scope(checker.package, grain)
        owner = f"grain `{grain.name}`"
        for instant in grain.instants:
            _check_instant(checker, grain, instant, scope)
        for item in grain.derived:
            _check_derived(checker, owner, item.column, item.value, scope)
        for tally in grain.tallies:
            _check_tally(checker, owner, tally, scope)
        _check_key(checker, owner, grain, scope)
        _check_inherited_columns(checker, owner, grain)
        _check_subject(checker, owner, grain, scope)
        _check_dimensions(checker, owner, grain, scope)
        if grain.runs:
            _check_runs(checker, owner, grain)
        check_members(checker, owner, grain)


def _check_derived(checker: Checker, owner: str, column: Column, value: Expression, scope: Scope) -> None:
    """Check that the value of a derived column has the declared type and unit."""
    column_owner = f"column `{column.name}` of {owner}"
    inferred = checker.infer_type(value, scope, column_owner, column.name)
    expected = scopes.type_column(column)
    if not inferred:
        return
    if inferred.type != expected.type:
        checker.report(
            "type",
            f"{column_owner} is declared with a different type than its value has",
            column.name,
            expected=expected.type,
            found=inferred.type,
        )
    elif inferred.type in NUMBERS and not checker.is_one_unit(inferred.unit, expected.unit):
        checker.report(
            "unit",
            f"{column_owner} is declared in a different unit than its value has",
            column.name,
            expected=expected.unit,
            found=inferred.unit,
            hint=checker.suggest_unit(expected.unit, inferred.unit),
            cause=f"{column_owner} {expected.unit} {inferred.unit}",
        )


def _check_tally(checker: Checker, owner: str, tally: Tally, scope: Scope) -> None:
    """Check that a tally counts the rows of a known table, under a valid condition."""
    name = tally.column.name
    column_owner = f"column `{name}` of {owner}"
    rows = scopes.list_row_columns(checker.package, tally.of)
    if rows is None:
        tables = [item.name for item in checker.package.tables]
        checker.report_unknown("table", tally.of, f"counted by {column_owner}", tables, word=name)
        return
    for pair in tally.on:
        _check_pair(checker, column_owner, name, pair, tally.of, rows, scope)
    if tally.where:
        checker.check_condition(tally.where, scopes.build_row_scope(checker.package, tally.of), column_owner, name)
    _check_count_column(checker, column_owner, tally.column)


def _check_count_column(checker: Checker, column_owner: str, column: Column) -> None:
    """Check that a column with a number of rows has a whole number type and a unit that counts things."""
    count_units = ("event", *(unit.name for unit in checker.package.units))
    if column.type not in WHOLE:
        message = f"{column_owner} counts rows but is not declared as a whole number"
        checker.report("type", message, column.name, expected=", ".join(WHOLE), found=column.type)
    elif column.unit.name not in count_units and not checker.is_one_unit(column.unit.name, NONE):
        checker.report(
            "unit",
            f"{column_owner} counts rows but is declared in a unit that does not count things",
            column.name,
            expected="count, event, or a unit of the package",
            found=column.unit.name,
        )


def _check_instant(checker: Checker, grain: Grain, instant: Instant, scope: Scope) -> None:
    owner = f"instant `{instant.name}` of grain `{grain.name}`"
    if instant.grain != grain.name:
        checker.report(
            "foreign-instant",
            f"instant `{instant.name}` of grain `{instant.grain}` is listed in grain `{grain.name}`",
            instant.name,
        )
    if instant.value:
        inferred = checker.infer_type(instant.value, scope, owner, instant.name, "value")
        if inferred and inferred.type != INSTANT.type:
            message = f"the value of {owner} is not an instant"
            checker.report("type", message, instant.name, expected=INSTANT.type, found=inferred.type, field="value")
    rows = scopes.list_row_columns(checker.package, instant.of) or {}
    if not rows:
        return
    if instant.where:
        checker.check_condition(instant.where, scopes.build_row_scope(checker.package, instant.of), owner, instant.name)
    for pair in instant.on:
        _check_pair(checker, owner, instant.name, pair, instant.of, rows, scope)
    for field in instant.fields:
        if field not in rows:
            checker.report_unknown(
                "field",
                field,
                f"of `{instant.of}` in {owner}",
                rows,
                word=field or instant.name,
                within=(instant.name,),
            )


def _check_pair(
    checker: Checker, owner: str, word: str, pair: Pair, table: str, rows: Mapping[str, ValueType], scope: Scope
) -> None:
    """Check that a pair names a column of the grain and one of `table`, with types that can be equal."""
    columns = scope.leaves["column"]
    if rows and pair.field not in rows:
        use = f"of `{table}`, which {owner} matches with column `{pair.column}`"
        checker.report_unknown("field", pair.field, use, rows, word=word)
    if pair.column not in columns:
        use = f"that {owner} matches with field `{pair.field}` of `{table}`"
        checker.report_unknown("column", pair.column, use, columns, word=word)
    check_agreement(checker, owner, word, [pair], columns, rows, table)


def _check_key(checker: Checker, owner: str, grain: Grain, scope: Scope) -> None:
    """Check that the key has known columns and identifies the rows of the grain's relation."""
    unknown_columns = sorted(set(grain.key) - set(scope.leaves["column"]))
    for name in unknown_columns:
        checker.report(
            "unknown-key",
            f"unknown column `{name}` in the key of {owner}",
            name or grain.name,
            hint=suggest_names(name, scope.leaves["column"]),
            within=(grain.name,),
        )
    relation = next((item for item in checker.package.relations if item.name == grain.relation), None)
    if relation and not unknown_columns and _has_known_key(relation) and not set(relation.key) <= set(grain.key):
        checker.report(
            "grain-key",
            f"the key of {owner} does not identify the rows of relation `{relation.name}`",
            grain.name,
            expected=", ".join(relation.key),
            found=", ".join(grain.key) or "no key",
        )


def _check_dimensions(checker: Checker, owner: str, grain: Grain, scope: Scope) -> None:
    """Check that dimensions are distinct columns of the grain whose values are names or whole numbers."""
    columns = scope.leaves["column"]
    splitting = [name for name, kind in columns.items() if kind.type in DIMENSION_TYPES]
    within = (grain.name, Field("dimensions"))
    for name, times in Counter(grain.dimensions).items():
        if name not in splitting:
            actual = f"a column of type {columns[name].type}" if name in columns else "no column of the grain"
            checker.report(
                "dimension",
                f"`{name}` among the dimensions of {owner} is not a column that can split its rows",
                name,
                expected="a column of the grain, of type text, boolean or integer",
                found=actual,
                hint=find_field_to_take(checker.package, grain, name) or suggest_names(name, splitting),
                within=within,
            )
        elif times > 1:
            message = f"{owner} has the dimension `{name}` {times} times"
            checker.report("dimension", message, name, hint="remove all but one", within=within)


def _check_relation_keys(checker: Checker) -> None:
    """Check that the keys of relations have columns of these."""
    for relation in checker.package.relations:
        columns = [column.name for column in relation.columns]
        for name in sorted(set(relation.key) - set(columns)):
            checker.report(
                "unknown-key",
                f"unknown column `{name}` in the key of relation `{relation.name}`",
                name or relation.name,
                hint=suggest_names(name, columns),
                within=(relation.name,),
            )


def _has_known_key(relation: Relation) -> bool:
    """Return whether the key of a relation has only columns of it.  If not, that is reported for the relation."""
    return set(relation.key) <= {column.name for column in relation.columns}


def _check_inherited_columns(checker: Checker, owner: str, grain: Grain) -> None:
    """Check that a grain declares the columns of its relation, or of the grain of its runs, as these do."""
    base = grain.runs.of if grain.runs else grain.relation
    base_columns = scopes.list_inherited_columns(checker.package, grain)
    for column in grain.columns:
        column_owner = f"column `{column.name}` of {owner}"
        base_column = base_columns.get(column.name)
        if grain.runs and column.name == "length":
            _check_count_column(checker, column_owner, column)
        elif base_column and base_column.type != column.type:
            checker.report(
                "type",
                f"{column_owner} is declared with a different type than in `{base}`",
                column.name,
                expected=base_column.type,
                found=column.type,
            )
        elif (
            base_column
            and scopes.type_column(column).type in NUMBERS
            and not checker.is_one_unit(column.unit.name, base_column.unit.name)
        ):
            checker.report(
                "unit",
                f"{column_owner} is declared in a different unit than in `{base}`",
                column.name,
                expected=base_column.unit.name,
                found=column.unit.name,
            )


def _check_subject(checker: Checker, owner: str, grain: Grain, scope: Scope) -> None:
    """Check that a row has at most one row of the subject: the pairs cover the key of the subject."""
    if not grain.subject:
        return
    grains = {item.name: item for item in checker.package.grains}
    subject = grains.get(grain.subject.grain)
    if not subject:
        checker.report_unlisted(
            "grain", grain.subject.grain, f"as the subject of {owner}", grains, within=(grain.doc, grain.name)
        )
        return
    fields = list(dict.fromkeys(pair.field for pair in grain.subject.on))
    subject_columns = scopes.build_grain_scope(checker.package, subject).leaves["column"]
    for name, columns, table_label in (
        *((pair.column, scope.leaves["column"], "the grain") for pair in grain.subject.on),
        *((name, subject_columns, f"grain `{subject.name}`") for name in fields),
    ):
        if name not in columns:
            checker.report_unknown(
                "column", name, f"of {table_label} in the subject of {owner}", columns, word=grain.name
            )
    pairs, columns = grain.subject.on, scope.leaves["column"]
    check_agreement(checker, f"the subject of {owner}", grain.name, pairs, columns, subject_columns, subject.name)
    if not set(subject.key) <= set(fields):
        checker.report(
            "subject-key",
            f"the subject of {owner} does not match the whole key of grain `{subject.name}`: a row could have several",
            grain.name,
            expected=", ".join(subject.key),
            found=", ".join(fields),
        )


def _check_runs(checker: Checker, owner: str, grain: Grain) -> None:
    assert grain.runs is not None
    base = next((item for item in checker.package.grains if item.name == grain.runs.of), None)
    if base:
        scope = scopes.build_grain_scope(checker.package, base)
        checker.check_condition(grain.runs.holds, scope, owner, grain.name, f"the condition of {owner}")
