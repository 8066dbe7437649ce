"""One check of a package: the problems so far, and how they are told."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from assay.lang.model.expression import Expression
from assay.lang.model.package import Package
from assay.lang.typing_rules import (
    BOOLEAN,
    NONE,
    KindError,
    OtherUnitError,
    Scope,
    Typed,
    UnitError,
    UnknownNameError,
    infer,
)
from assay.lang.units import UnitLibrary, UnknownUnitError
from assay.util.diagnostics import Diagnostic, Span, did_you_mean

AS_UNIT = "`asUnit` declares a number to be in a unit, for every reader to see"

_UNLISTED = "is it in the package's lists? "
#: what a package lists under one set of names
_LISTED = dict.fromkeys(("event", "relation", "grain", "series"), "table")


class Field(str):
    """The name of a field of the declaration that a word is in, among names of declarations."""

    __slots__ = ()


class Locate(Protocol):
    """Where names stand in the sources (see `assay.lang.positions`)."""

    def __call__(self, word: str, passed: int = 0, within: Sequence[str] = ()) -> tuple[Span | None, str]:
        """The place of a name, and the line."""

    def field(self, word: str, name: str) -> tuple[Span | None, str]:
        """The place of a field of what is declared by a name."""

    def declared(self, word: str) -> tuple[Span | None, str]:
        """The place where something is given this name, if it is."""


@dataclass(slots=True)
class Checker:
    """One check of a package: its unit library, and the problems so far."""

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
        """Note a problem; it stands where `word` (an id, a name) is written in the sources, in the declaration of the
        last of `within`, which is in that of the one before.  With `field` it is the expression of a field of what
        `word` declares, where that has one.

        Problems of one code and one `cause` (by default the message) are alike: only the first is told in full.
        """
        span, excerpt = self.locate.field(word, field) if field else (None, "")
        if span is None:
            span, excerpt = self.locate(word, 0, within)
        self.note(Diagnostic(code, message, span, excerpt, expected, found, hint, notes), cause)

    def missing(self, code: str, message: str, name: str, known: Iterable[str], *, within: Sequence[str] = ()) -> None:
        """Note that something refers to a name that the package does not list; it stands where that is written, in
        the declaration of `within`.  However many refer to it, it is one problem.
        """
        span, excerpt = self.locate(name, 0, within)
        there = self.locate.declared(name)[0]
        hint = _UNLISTED + (f"a `{name}` is declared at {there}" if there else did_you_mean(name, known))
        if there and there == span:
            hint = "add it to the package's lists"
        related = (there,) if there and there != span else ()
        kind = code.removeprefix("unknown-")
        self.note(
            Diagnostic(code, message, span, excerpt, hint=hint, related=related),
            kind=_LISTED.get(kind, kind),
            cause=name,
        )

    def note(self, problem: Diagnostic, cause: str = "", kind: str = "") -> None:
        """Note a problem whose place is known, alike those of one cause and one kind, by default its code."""
        self.problems.setdefault(f"{kind or problem.code} {cause or problem.message}", []).append(problem)

    def collect_problems(self) -> tuple[Diagnostic, ...]:
        """The problems: of those that are alike (one slip in a constructor makes many) the first, with the places of
        the others."""
        return tuple(merge_alike(first, others) for first, *others in self.problems.values())

    def kind(self, node: Expression, scope: Scope, what: str, word: str, field: str = "") -> Typed | None:
        """The type and unit of an expression, or None with the problem noted."""
        try:
            return infer(node, scope, self.library.units())
        except UnknownNameError as error:
            self.report(
                f"unknown-{error.kind}",
                f"{what} refers to an unknown {error.kind} `{error.name}`",
                word,
                field=field,
                hint=("is it in the grain's `instants`? " if error.kind == "instant" else "")
                + did_you_mean(error.name, error.known),
            )
        except KindError as error:
            self.report(
                "type",
                f"{what} has a value of the wrong type in {error.node}",
                word,
                field=field,
                expected=error.expected,
                found=error.found,
            )
        except OtherUnitError as error:
            self.report(
                "unit",
                f"{what} puts values of different units beside each other",
                word,
                field=field,
                expected=error.expected,
                found=error.found,
                hint="write both in one unit: they would be compared, or added, as they are",
                cause=f"{error.expected} {error.found}",
            )
        except UnitError as error:
            self.report(
                "unit",
                f"{what} mixes units that do not convert",
                word,
                field=field,
                expected=error.expected,
                found=error.found,
                hint=self.unit_hint(error.expected, error.found),
                cause=f"{error.expected} {error.found}",
            )
        except UnknownUnitError as error:
            self.unknown_unit(error, what, word)
        return None

    def condition(
        self, node: Expression, scope: Scope, what: str, word: str, told: str = "", field: str = "where"
    ) -> None:
        """Note what is wrong with an expression that `what` has for a condition; `told`: how it is called itself."""
        found = self.kind(node, scope, told or what, word, field)
        if found and found.type != BOOLEAN.type:
            said = f"{what} has a condition that is none"
            self.report("type", said, word, expected=BOOLEAN.type, found=found.type, field=field)

    def is_one_unit(self, found: str, expected: str) -> bool:
        """Whether numbers of two units are the same numbers; of units that there are not, which is told elsewhere."""
        try:
            return self.library.factor(found, expected) == 1
        except UnitError:
            return False
        except UnknownUnitError:
            return True

    def unit_hint(self, expected: str, found: str) -> str:
        """What is to be done where numbers of a unit are found in place of those of another."""
        if NONE in (expected, found) or self.is_one_unit(found, NONE):
            return AS_UNIT
        try:
            self.library.factor(found, expected)
        except (UnitError, UnknownUnitError):
            return "one of the two units is not the right one; `asUnit` would claim the other, and convert nothing"
        return f"declare it in `{found}`: what is measured of it is converted to the unit of the metric"

    def unknown_unit(self, error: UnknownUnitError, what: str, word: str) -> None:
        """Note that there is no such unit; it stands where the unit is written, else where `word` is."""
        self.report(
            "unknown-unit",
            f"{what} is in an unknown unit `{error.name}`",
            error.name if self.locate(error.name, 0)[0] else word,
            cause=error.name,
            hint=did_you_mean(error.name, error.known),
        )


def merge_alike(first: Diagnostic, others: Sequence[Diagnostic]) -> Diagnostic:
    if not others:
        return first
    places = list(dict.fromkeys(item.span for item in others if item.span and item.span != first.span))
    listed = ", ".join(map(str, places[:3])) + (", ..." if len(places) > 3 else "")
    note = f"{len(others)} more like it" + (f": {listed}" if listed else "")
    return replace(first, notes=(*first.notes, note), related=(*first.related, *places))
