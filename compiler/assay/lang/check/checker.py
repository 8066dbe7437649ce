"""Collect the problems of one package while it is checked.

A check calls a `report...` method of `Checker` for each problem.  Problems with one cause are merged into one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from assay.lang.expression_types import (
    BOOLEAN,
    NONE,
    KindError,
    OtherUnitError,
    Scope,
    UnitError,
    UnknownNameError,
    ValueType,
    infer,
)
from assay.lang.model.expression import Expression
from assay.lang.model.package import Package
from assay.lang.units import UnitLibrary, UnknownUnitError
from assay.util.diagnostics import Diagnostic, Span, suggest_names

AS_UNIT = "`asUnit` declares the unit of a number explicitly"

_UNLISTED_HINT = "is it in the package's lists? "
#: kind of a name in an expression -> the beginning of the hint where it is unknown
_LISTS = {
    "instant": "is it in the grain's `instants`, or its event in `events` of `G.eachKey`? ",
    "taken": "is the instant in the grain, and the field in its event? ",
}
#: kind of a name in a code -> kind of the set of names that it belongs to
_NAME_KIND = dict.fromkeys(("event", "relation", "grain", "series"), "table")


class Field(str):
    """The name of a field of a declaration, as an element of `within`."""

    __slots__ = ()


class Locate(Protocol):
    """Finds the places of names in the sources (see `assay.lang.positions`)."""

    def __call__(self, word: str, skipped: int = 0, within: Sequence[str] = ()) -> tuple[Span | None, str]:
        """Return the position of a name and its line.  `skipped` occurrences come before it."""

    def find_field(self, word: str, name: str) -> tuple[Span | None, str]:
        """Return the position of the field `name` in the declaration of `word`, and its line."""

    def find_declaration(self, word: str) -> tuple[Span | None, str]:
        """Return the position of the declaration that has this name, if there is one."""


@dataclass(slots=True)
class Checker:
    """The state of one check of a package: its unit library and the problems so far."""

    package: Package
    locate: Locate
    library: UnitLibrary
    problems: dict[str, list[Diagnostic]] = field(default_factory=dict)

    def report(
        self,
        code: str,
        message: str,
        word: str,
        *,
        expected: str = "",
        found: str = "",
        hint: str = "",
        cause: str = "",
        notes: tuple[str, ...] = (),
        within: Sequence[str] = (),
        field: str = "",
    ) -> None:
        """Report a problem at the place where `word` (an id, a name) is written.

        `within` names the enclosing declarations, outermost first.  With `field`, the place is the expression of that
        field in the declaration of `word`, where it has one.  Problems with the same code and `cause` (default: the
        message) are merged: only the first is reported in full.
        """
        span, excerpt = self.locate.find_field(word, field) if field else (None, "")
        if span is None:
            span, excerpt = self.locate(word, 0, within)
        self.add(Diagnostic(code, message, span, excerpt, expected, found, hint, notes), cause)

    def report_unknown(
        self, kind: str, name: str, use: str, candidates: Iterable[str], *, word: str = "", within: Sequence[str] = ()
    ) -> None:
        """Report a reference to a name that is not among `candidates`; `use` is the rest of the message after the name.

        The place is that of `word` (default: the name).
        """
        hint = suggest_names(name, candidates)
        self.report(f"unknown-{kind}", f"unknown {kind} `{name}` {use}", word or name, hint=hint, within=within)

    def report_unlisted(
        self, kind: str, name: str, use: str, candidates: Iterable[str], *, within: Sequence[str] = ()
    ) -> None:
        """Report a reference to a name that the package does not list, as `report_unknown` does.

        The place is where `name` is written in the declaration of `within`.  References to one name are one problem.
        """
        span, excerpt = self.locate(name, 0, within)
        declaration = self.locate.find_declaration(name)[0]
        hint = _UNLISTED_HINT + (
            f"a `{name}` is declared at {declaration}" if declaration else suggest_names(name, candidates)
        )
        if declaration and declaration == span:
            hint = "add it to the package's lists"
        related = (declaration,) if declaration and declaration != span else ()
        message = f"unknown {kind} `{name}` {use}"
        self.add(
            Diagnostic(f"unknown-{kind}", message, span, excerpt, hint=hint, related=related),
            kind=_NAME_KIND.get(kind, kind),
            cause=name,
        )

    def add(self, problem: Diagnostic, cause: str = "", kind: str = "") -> None:
        """Add a problem whose place is known.

        It is merged with the problems of the same cause and the same kind (default: its code).
        """
        self.problems.setdefault(f"{kind or problem.code} {cause or problem.message}", []).append(problem)

    def collect_problems(self) -> tuple[Diagnostic, ...]:
        """Return the problems, with those of one cause merged into the first.

        A single slip in a constructor makes many such problems; the first lists the places of the others.
        """
        return tuple(merge_alike(problem, repeats) for problem, *repeats in self.problems.values())

    def infer_type(self, node: Expression, scope: Scope, owner: str, word: str, field: str = "") -> ValueType | None:
        """Return the type and unit of an expression; report what is wrong with it and return None."""
        try:
            return infer(node, scope, self.library.get_units())
        except UnknownNameError as error:
            self.report(
                f"unknown-{error.kind}",
                f"unknown {error.noun} `{error.name}` in {owner}",
                word,
                field=field,
                hint=_LISTS.get(error.kind, "") + suggest_names(error.name, error.candidates),
            )
        except KindError as error:
            self.report(
                "type",
                f"{owner} has a value of the wrong type in {error.part}",
                word,
                field=field,
                expected=error.expected,
                found=error.actual,
            )
        except OtherUnitError as error:
            self.report(
                "unit",
                f"{owner} combines values of different units",
                word,
                field=field,
                expected=error.expected,
                found=error.actual,
                hint="neither is a whole number of the other: convert one with `X.whole`",
                cause=f"{error.expected} {error.actual}",
            )
        except UnitError as error:
            self.report(
                "unit",
                f"{owner} mixes units that do not convert to each other",
                word,
                field=field,
                expected=error.expected,
                found=error.actual,
                hint=self.suggest_unit(error.expected, error.actual),
                cause=f"{error.expected} {error.actual}",
            )
        except UnknownUnitError as error:
            self.report_unknown_unit(error, owner, word)
        return None

    def check_condition(
        self, node: Expression, scope: Scope, owner: str, word: str, description: str = "", field: str = "where"
    ) -> None:
        """Check that an expression is a condition of `owner`.

        `description` is what messages call the expression itself (default: `owner`).
        """
        inferred = self.infer_type(node, scope, description or owner, word, field)
        if inferred and inferred.type != BOOLEAN.type:
            message = f"{description or f'the condition of {owner}'} is not a boolean"
            self.report("type", message, word, expected=BOOLEAN.type, found=inferred.type, field=field)

    def is_one_unit(self, actual: str, expected: str) -> bool:
        """Return whether numbers in two units are the same numbers.

        True where a unit is unknown, since that is reported elsewhere.
        """
        try:
            return self.library.compute_factor(actual, expected) == 1
        except UnitError:
            return False
        except UnknownUnitError:
            return True

    def suggest_unit(self, expected: str, actual: str) -> str:
        """Return a hint for a value in the unit `actual` where `expected` is required."""
        if NONE in (expected, actual) or self.is_one_unit(actual, NONE):
            return AS_UNIT
        try:
            self.library.compute_factor(actual, expected)
        except (UnitError, UnknownUnitError):
            return "one of the two units is wrong; `asUnit` would relabel the value without converting it"
        return f"declare it in `{actual}`: measures of it are converted to the unit of the metric"

    def report_unknown_unit(self, error: UnknownUnitError, owner: str, word: str) -> None:
        """Report an unknown unit, at the place of the unit or else of `word`."""
        self.report(
            "unknown-unit",
            f"unknown unit `{error.name}` in {owner}",
            error.name if self.locate(error.name, 0)[0] else word,
            cause=error.name,
            hint=suggest_names(error.name, error.candidates),
        )


def merge_alike(first: Diagnostic, repeats: Sequence[Diagnostic]) -> Diagnostic:
    """Return the first of some problems with one cause, with a note about the places of the repeats."""
    if not repeats:
        return first
    places = list(dict.fromkeys(item.span for item in repeats if item.span and item.span != first.span))
    listing = ", ".join(map(str, places[:3])) + (", ..." if len(places) > 3 else "")
    note = f"{len(repeats)} more like it" + (f": {listing}" if listing else "")
    return replace(first, notes=(*first.notes, note), related=(*first.related, *places))
