"""Two states of the specs compared, each system as far as both of its sides are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from assay.app.diff_states import State
from assay.diff.builds import chosen, made_of
from assay.diff.specs import SystemDiff, by_hashes, diff
from assay.util.diagnostics import Diagnostic


@dataclass(frozen=True, slots=True)
class Compared:
    """What differs, system by system, what readers must know, and why systems that are `unread` could not be read."""

    systems: tuple[SystemDiff, ...]
    warnings: tuple[str, ...]
    unread: tuple[Diagnostic, ...]


def compare(before: State, after: State) -> Compared:
    """What differs between two states; systems that are the same are left out."""
    found, unread = [], []
    for name in sorted(before.systems | after.systems):
        wrong = [item for state in (before, after) for item in state.unread.get(name, ())]
        try:
            found.append(_unread(name, wrong) if wrong else _system(name, before, after))
        except Exception:  # nothing has checked some of these: whatever comes of that, it cannot be compared
            wrong = [item for state in (before, after) for item in state.unchecked.get(name, ())]
            if not wrong:
                raise
            found.append(_unread(name, wrong))
        unread += wrong
    warnings = tuple(dict.fromkeys((*before.warnings, *after.warnings)))
    return Compared(tuple(item for item in found if item.differs or item.data), warnings, tuple(dict.fromkeys(unread)))


def _unread(name: str, wrong: Sequence[Diagnostic]) -> SystemDiff:
    return SystemDiff(name, "unread", unread=wrong[0].message)


def _system(name: str, before: State, after: State) -> SystemDiff:
    if name not in before.systems or name not in after.systems:
        return SystemDiff(name, "new" if name in after.systems else "gone")
    found = _specs(name, before, after)
    if before.build is None or after.build is None:
        return found
    builds = before.build, after.build
    return replace(found, choices=chosen(*builds), data=made_of(*builds))


def _specs(name: str, before: State, after: State) -> SystemDiff:
    """What differs between the specs of a system that both sides have."""
    if name in before.hashes or name in after.hashes:
        return _by_hashes(name, before, after)
    texts = (state.prose.get(name, {}) for state in (before, after))
    return diff(before.packages[name], after.packages[name], *texts)


def _by_hashes(name: str, before: State, after: State) -> SystemDiff:
    """The same by definition hashes; beside specs, which have all metrics, those count that the build prints."""
    printed = {metric for state in (before, after) for metric in state.hashes.get(name, {})}
    old, new = (
        {metric: said for metric, said in _definitions(name, state).items() if metric in printed}
        for state in (before, after)
    )
    names = {
        metric.id: metric.name
        for state in (before, after)
        if name in state.packages
        for metric in state.packages[name].package.metrics
    }
    return by_hashes(name, old, new, names)


def _definitions(name: str, state: State) -> Mapping[str, str]:
    return state.hashes[name] if name in state.hashes else state.packages[name].definitions
