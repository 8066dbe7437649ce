"""The checker's part about units of what SQL passes on: a column of a relation is in the unit of what it is taken from.

Anybody may convert in SQL, and nobody sees it there; but what is taken as it is has the unit that it had.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from assay.lang import scopes
from assay.lang.check.checker import Checker
from assay.lang.model.package import Package, Relation
from assay.lang.sql_units import Passed, passed
from assay.lang.typing_rules import INSTANT, NONE, Typed

Tables = Mapping[str, Mapping[str, Typed]]


def check_sql_units(checker: Checker) -> None:
    """Every column of a relation is in the unit of the columns and constants that its SQL takes it from."""
    constants = _lower(scopes.constants(checker.package))
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
    found = ((name, scopes.rows(package, name)) for name in relation.uses)
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
                yield column.name, said, scopes.typed(column), theirs


def _passed(sql: str, tables: Tables) -> Mapping[str, Passed]:
    """What the SQL passes on; nothing where it cannot be read, which is told elsewhere."""
    from sqlglot.errors import SqlglotError

    try:
        return passed(sql, {name: tuple(columns) for name, columns in tables.items() if name})
    except (SqlglotError, RecursionError):
        return {}
