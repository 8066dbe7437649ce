"""Check grains: columns, conditions, instants, members, and the fields that bind rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from assay.lang import reserved_names, scopes
from assay.lang.check.checker import Checker
from assay.lang.model.expression import Expression
from assay.lang.model.package import Column, Grain, Instant, Pair, Relation, Tally
from assay.lang.typing_rules import INSTANT, NONE, Scope, Typed
from assay.util.diagnostics import did_you_mean


def check_members(checker: Checker, what: str, grain: Grain) -> None:
    """Members of a grain (columns, instants, fields taken along) have a name each, and are not computed of themselves.

    SQL does not tell small letters from capital ones.
    """
    named = list(_named(checker, grain))
    for name in (*(item.name for item in grain.instants), *(item.column.name for item in grain.tallies)):
        if name.lower() == reserved_names.BASE:
            said = f"{what} binds rows to `{name}`, which is what the compiler calls the grain's own"
            checker.report("reserved-name", said, name, hint="rename it")
    for name, times in Counter(item.lower() for item in named).items():
        word = next(item for item in named if item.lower() == name)
        if reserved_names.is_column(name):
            said = f"{what} has a member called `{word}`, which is what the compiler calls one of its own"
            checker.report("reserved-name", said, word, hint="rename it")
        elif times > 1:
            said = f"{times} members of {what} are called `{word}`"
            hint = "one set of names: columns (the relation's, too), instants, and what they take, as `INSTANT_FIELD`"
            checker.report("duplicate-member", said, word, hint=hint)
    _circles(checker, what, grain)


def _named(checker: Checker, grain: Grain) -> Iterator[str]:
    declared = [item.name for item in grain.columns]
    yield from declared
    yield from (name for name in scopes.list_inherited_columns(checker.package, grain) if name not in declared)
    yield from (item.column.name for item in grain.tallies)
    yield from (item.column.name for item in grain.derived)
    for instant in grain.instants:
        yield instant.name
        yield from (f"{instant.name}_{name}" for name in dict.fromkeys(instant.fields))


def _circles(checker: Checker, what: str, grain: Grain) -> None:
    computed = {item.name: item.value for item in grain.instants if item.value}
    computed |= {item.column.name: item.value for item in grain.derived}
    reads = {
        name: sorted({node.name for node in value.walk() if node.op in ("column", "instant")} & set(computed))
        for name, value in computed.items()
    }
    done: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        """Follow what a member is computed of, which was reached by a trail of others."""
        if name in trail:
            circle = (*trail[trail.index(name) :], name)
            said = f"`{name}` of {what} is computed of itself: {' -> '.join(circle)}"
            checker.report("cycle", said, name, hint="break the circle: one of these must not refer to the next")
            done.update(circle)
        elif name not in done:
            for following in reads[name]:
                visit(following, (*trail, name))
            done.add(name)

    for name in sorted(reads):
        visit(name, ())


NUMBERS = ("integer", "real")


def check_agreement(
    checker: Checker,
    what: str,
    word: str,
    pairs: Iterable[Pair],
    columns: Mapping[str, Typed],
    rows: Mapping[str, Typed],
    of: str,
) -> None:
    """The columns of a grain are of the types and in the units of those of `of` (the table of `rows`) that they equal;
    of names that there are not, which is told elsewhere."""
    for pair in pairs:
        own, theirs = columns.get(pair.column), rows.get(pair.field)
        if own and theirs:
            _alike(checker, f"{what} is found where `{pair.column}` is `{pair.field}` of `{of}`", word, own, theirs)


def _alike(checker: Checker, said: str, word: str, own: Typed, theirs: Typed) -> None:
    numbers = own.type in NUMBERS and theirs.type in NUMBERS
    if own.type != theirs.type and not numbers:
        checker.report("type", f"{said}, which is of another type", word, expected=own.type, found=theirs.type)
    elif numbers and not checker.is_one_unit(theirs.unit, own.unit):
        checker.report("unit", f"{said}, which is in another unit", word, expected=own.unit, found=theirs.unit)


WHOLE = ("integer", "unsigned", "huge")


def grains(checker: Checker) -> None:
    """Check every grain of the package, and the keys of relations that they are made of."""
    relation_keys(checker)
    for grain in checker.package.grains:
        scope = scopes.build_grain_scope(checker.package, grain)
        what = f"grain `{grain.name}`"
        for instant in grain.instants:
            _instant(checker, grain, instant, scope)
        for item in grain.derived:
            _derived(checker, what, item.column, item.value, scope)
        for tally in grain.tallies:
            _tally(checker, what, tally, scope)
        _key(checker, what, grain, scope)
        _declared(checker, what, grain)
        _subject(checker, what, grain, scope)
        if grain.runs:
            _runs(checker, what, grain)
        check_members(checker, what, grain)


def _derived(checker: Checker, what: str, column: Column, value: Expression, scope: Scope) -> None:
    """A derived column is of the type and in the unit that it is declared to be."""
    of_column = f"column `{column.name}` of {what}"
    found = checker.kind(value, scope, of_column, column.name)
    expected = scopes.type_column(column)
    if not found:
        return
    if found.type != expected.type:
        checker.report(
            "type",
            f"{of_column} is declared as another type than it has",
            column.name,
            expected=expected.type,
            found=found.type,
        )
    elif found.type in NUMBERS and not checker.is_one_unit(found.unit, expected.unit):
        checker.report(
            "unit",
            f"{of_column} is declared in another unit than its value is in",
            column.name,
            expected=expected.unit,
            found=found.unit,
            hint=checker.unit_hint(expected.unit, found.unit),
            cause=f"{of_column} {expected.unit} {found.unit}",
        )


def _tally(checker: Checker, what: str, tally: Tally, scope: Scope) -> None:
    """A tally counts rows, of which its condition, if any, is one."""
    name = tally.column.name
    of_column = f"column `{name}` of {what}"
    rows = scopes.list_row_columns(checker.package, tally.of)
    if rows is None:
        known = [item.name for item in checker.package.tables]
        said = f"{of_column} counts the rows of an unknown table `{tally.of}`"
        checker.report("unknown-table", said, name, hint=did_you_mean(tally.of, known))
        return
    for pair in tally.on:
        _pair(checker, of_column, name, pair, tally.of, rows, scope)
    if tally.where:
        checker.condition(tally.where, scopes.build_row_scope(checker.package, tally.of), of_column, name)
    _counts(checker, of_column, tally.column)


def _counts(checker: Checker, of_column: str, column: Column) -> None:
    """A column that has a number of rows is of whole numbers, and in no unit, or one of things."""
    things = ("event", *(unit.name for unit in checker.package.units))
    if column.type not in WHOLE:
        said = f"{of_column} counts rows, and is declared as another type"
        checker.report("type", said, column.name, expected=", ".join(WHOLE), found=column.type)
    elif column.unit.name not in things and not checker.is_one_unit(column.unit.name, NONE):
        checker.report(
            "unit",
            f"{of_column} counts rows, and is declared in a unit that is not of things",
            column.name,
            expected="count, event, or a unit of the package",
            found=column.unit.name,
        )


def _instant(checker: Checker, grain: Grain, instant: Instant, scope: Scope) -> None:
    what = f"instant `{instant.name}` of grain `{grain.name}`"
    if instant.grain != grain.name:
        checker.report(
            "foreign-instant",
            f"grain `{grain.name}` lists an instant of grain `{instant.grain}`: `{instant.name}`",
            instant.name,
        )
    if instant.value:
        found = checker.kind(instant.value, scope, what, instant.name, "value")
        if found and found.type != INSTANT.type:
            said = f"{what} is computed of what is no instant"
            checker.report("type", said, instant.name, expected=INSTANT.type, found=found.type, field="value")
    rows = scopes.list_row_columns(checker.package, instant.of) or {}
    if not rows:
        return
    if instant.where:
        checker.condition(instant.where, scopes.build_row_scope(checker.package, instant.of), what, instant.name)
    for pair in instant.on:
        _pair(checker, what, instant.name, pair, instant.of, rows, scope)
    for taken in instant.fields:
        if taken not in rows:
            checker.report(
                "unknown-field",
                f"{what} takes along field `{taken}`, which `{instant.of}` lacks",
                taken or instant.name,
                hint=did_you_mean(taken, rows),
                within=(instant.name,),
            )


def _pair(checker: Checker, what: str, word: str, pair: Pair, of: str, rows: Mapping[str, Typed], scope: Scope) -> None:
    """A column of the grain and one of the table `of`, which can be equal."""
    columns = scope.leaves["column"]
    if rows and pair.field not in rows:
        checker.report(
            "unknown-field",
            f"{what} is bound by field `{pair.field}`, which `{of}` lacks",
            word,
            hint=did_you_mean(pair.field, rows),
        )
    if pair.column not in columns:
        checker.report(
            "unknown-column",
            f"{what} is bound to column `{pair.column}`, which the grain lacks",
            word,
            hint=did_you_mean(pair.column, columns),
        )
    check_agreement(checker, what, word, [pair], columns, rows, of)


def _key(checker: Checker, what: str, grain: Grain, scope: Scope) -> None:
    """A key is of columns that there are, and tells the rows of the grain's relation apart."""
    lacking = sorted(set(grain.key) - set(scope.leaves["column"]))
    for name in lacking:
        checker.report(
            "unknown-key",
            f"{what} has a key column `{name}` that it lacks",
            name or grain.name,
            hint=did_you_mean(name, scope.leaves["column"]),
            within=(grain.name,),
        )
    made_of = next((item for item in checker.package.relations if item.name == grain.relation), None)
    if made_of and not lacking and _is_whole(made_of) and not set(made_of.key) <= set(grain.key):
        checker.report(
            "grain-key",
            f"{what} has a key that does not tell the rows of relation `{made_of.name}` apart",
            grain.name,
            expected=", ".join(made_of.key),
            found=", ".join(grain.key) or "none",
        )


def relation_keys(checker: Checker) -> None:
    """The keys of relations are of columns that they have."""
    for relation in checker.package.relations:
        columns = [column.name for column in relation.columns]
        for name in sorted(set(relation.key) - set(columns)):
            checker.report(
                "unknown-key",
                f"relation `{relation.name}` has a key column `{name}` that it lacks",
                name or relation.name,
                hint=did_you_mean(name, columns),
                within=(relation.name,),
            )


def _is_whole(relation: Relation) -> bool:
    """Whether the key of a relation is of its own columns, which is told of the relation itself."""
    return set(relation.key) <= {column.name for column in relation.columns}


def _declared(checker: Checker, what: str, grain: Grain) -> None:
    """Columns that a grain has of its relation, or of the grain whose runs it is made of, are declared as there."""
    made_of = grain.runs.of if grain.runs else grain.relation
    known = scopes.list_inherited_columns(checker.package, grain)
    for column in grain.columns:
        of_column = f"column `{column.name}` of {what}"
        there = known.get(column.name)
        if grain.runs and column.name == "length":
            _counts(checker, of_column, column)
        elif there and there.type != column.type:
            checker.report(
                "type",
                f"{of_column} is declared as another type than it has in `{made_of}`",
                column.name,
                expected=there.type,
                found=column.type,
            )
        elif (
            there
            and scopes.type_column(column).type in NUMBERS
            and not checker.is_one_unit(column.unit.name, there.unit.name)
        ):
            checker.report(
                "unit",
                f"{of_column} is declared in another unit than it has in `{made_of}`",
                column.name,
                expected=there.unit.name,
                found=column.unit.name,
            )


def _subject(checker: Checker, what: str, grain: Grain, scope: Scope) -> None:
    """A row has one row of its subject at most: it is found by the whole key."""
    if not grain.subject:
        return
    known = {item.name: item for item in checker.package.grains}
    subject = known.get(grain.subject.grain)
    if not subject:
        said = f"{what} has an unknown grain for its subject: `{grain.subject.grain}`"
        checker.missing("unknown-grain", said, grain.subject.grain, known, within=(grain.doc, grain.name))
        return
    fields = list(dict.fromkeys(pair.field for pair in grain.subject.on))
    theirs = scopes.build_grain_scope(checker.package, subject).leaves["column"]
    for name, columns, of in (
        *((pair.column, scope.leaves["column"], "the grain") for pair in grain.subject.on),
        *((name, theirs, f"grain `{subject.name}`") for name in fields),
    ):
        if name not in columns:
            said = f"the subject of {what} is found by column `{name}`, which {of} lacks"
            checker.report("unknown-column", said, grain.name, hint=did_you_mean(name, columns))
    on, columns = grain.subject.on, scope.leaves["column"]
    check_agreement(checker, f"the subject of {what}", grain.name, on, columns, theirs, subject.name)
    if not set(subject.key) <= set(fields):
        checker.report(
            "subject-key",
            f"the subject of {what} is found by less than the key of grain `{subject.name}`: a row could have several",
            grain.name,
            expected=", ".join(subject.key),
            found=", ".join(fields),
        )


def _runs(checker: Checker, what: str, grain: Grain) -> None:
    assert grain.runs is not None
    of = next((item for item in checker.package.grains if item.name == grain.runs.of), None)
    if of:
        scope = scopes.build_grain_scope(checker.package, of)
        checker.condition(grain.runs.holds, scope, what, grain.name, f"the condition of {what}")
