"""What a user may ask for: metrics and series, by their ids or printed names."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from assay.app.session import Session
from assay.lang.model.package import Metric, Series
from assay.lang.normal_form import CheckedPackage
from assay.util.diagnostics import USAGE, AssayError, did_you_mean, fail

Item = Metric | Series


def named(session: Session, name: str, system: str | None) -> tuple[CheckedPackage, Item]:
    """The metric or series of an id, or of a printed name that only one has, in all systems (or the one named).

    AssayError (usage) when there is none, and when several systems have one.
    """
    every = [(checked, item) for one in session.systems(system) for checked, item in _items(session, one)]
    found = [pair for pair in every if _id(pair[1]) == name] or [pair for pair in every if pair[1].name == name]
    if not found:
        known = [_id(item) for _, item in every]
        others = _having(session, name, system) if system else []
        hint = (
            f"{' and '.join(f'`{one}`' for one in others)} has it: name that one with --system"
            if others
            else did_you_mean(name, known)
        )
        raise fail("unknown-metric", f"there is no metric `{name}`", hint=hint, notes=session.elsewhere(),
                   status=USAGE)  # fmt: skip
    if len(found) > 1:
        raise _ambiguous(name, found)
    return found[0]


def metric_named(session: Session, name: str, system: str | None) -> tuple[CheckedPackage, Metric]:
    """The metric of an id or a printed name, as `named` finds it.  AssayError (usage) also for a series."""
    checked, item = named(session, name, system)
    if isinstance(item, Metric):
        return checked, item
    raise fail("not-a-metric", f"`{name}` is a series: it has no samples of its own, and articles draw it",
               hint=f"`assay explain {item.name} --run DIR` tells what it comes to in a run", status=USAGE)  # fmt: skip


def _having(session: Session, name: str, system: str) -> list[str]:
    """The other systems that have a metric or series of an id or printed name, of those whose specs are not wrong."""
    found = []
    for other in session.workspace.systems():
        with suppress(AssayError):
            if other != system and any(name in (_id(item), item.name) for _, item in _items(session, other)):
                found.append(other)
    return found


def _ambiguous(name: str, found: Sequence[tuple[CheckedPackage, Item]]) -> Exception:
    systems = list(dict.fromkeys(checked.package.system for checked, _ in found))
    ids = list(dict.fromkeys(_id(item) for _, item in found))
    if len(systems) > 1:
        listed = " and ".join(f"`{item}`" for item in systems)
        return fail("ambiguous-metric", f"`{name}` is a metric of {listed}", hint="name the system with --system",
                    status=USAGE)  # fmt: skip
    listed = ", ".join(f"`{item}`" for item in ids)
    return fail("ambiguous-metric", f"`{name}` is the name of several metrics", found=listed, hint="name one by its id",
                status=USAGE)  # fmt: skip


def _items(session: Session, system: str) -> list[tuple[CheckedPackage, Item]]:
    checked = session.package(system)
    items: tuple[Item, ...] = (*checked.package.metrics, *checked.package.series)
    return [(checked, item) for item in items]


def _id(item: Item) -> str:
    return item.id if isinstance(item, Metric) else item.name
