"""The checker's part about what rows are bound by: columns and fields that there are, and can be equal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from assay.lang.check.checker import Checker
from assay.lang.model.package import Pair
from assay.lang.typing_rules import Typed

NUMBERS = ("integer", "real")


def agree(
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
