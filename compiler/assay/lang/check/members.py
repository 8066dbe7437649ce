"""The checker's part about what grains are made of: members that are told apart, and none that is made of itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from assay.lang import reserved_names, scopes
from assay.lang.check.checker import Checker
from assay.lang.model.package import Grain


def members(checker: Checker, what: str, grain: Grain) -> None:
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
    yield from (name for name in scopes.begins(checker.package, grain) if name not in declared)
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
