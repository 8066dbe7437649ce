"""Histories of definitions: the revisions at which committed normal forms changed what a metric means."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from assay.app.diff_states import git
from assay.lang.normal_form import CheckedPackage
from assay.lang.workspace import Workspace

#: the metrics of a normal form; no line within is indented less
_METRICS = re.compile(r"^  metrics:\n((?:(?:  [ -].*)?\n)*)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a definition: day and short commit (both empty: not committed), subject of the commit, the hash
    from then on (empty: the metric is gone)."""

    day: str
    commit: str
    subject: str
    definition: str


@dataclass(frozen=True, slots=True)
class Histories:
    """Of each metric its changes, the latest first; `none` says why there are none."""

    changes: Mapping[str, tuple[Change, ...]]
    none: str = ""
    cut: bool = False


def histories(workspace: Workspace, checked: CheckedPackage) -> Histories:
    """The histories of a system's metrics, as far as git knows them."""
    root, place = workspace.root, workspace.normal_form(checked.package.system)
    name = place.relative_to(root).as_posix()
    head = git(root, "rev-parse", "--is-shallow-repository", "--verify", "HEAD")
    if head is None:
        return Histories({}, "the workspace is no git repository with a commit")
    form = "--format=%H%x00%cs%x00%s"
    told = git(root, "-c", "log.showSignature=false", "log", "--topo-order", "--reverse", form, "--", name) or b""
    found: dict[str, list[Change]] = {}
    for line in told.decode("utf-8", "replace").splitlines():
        commit, day, subject = line.split("\0", 2)
        held = dict(_definitions(git(root, "show", f"{commit}:./{name}") or b""))
        _add(found, held, Change(day, commit[:10], subject, ""))
    if not found:
        return Histories({}, f"git has no revision of {name}")
    _add(found, dict(checked.definitions), Change("", "", "not committed", ""))
    return Histories({key: tuple(reversed(items)) for key, items in found.items()}, cut=head.startswith(b"true"))


def _add(found: dict[str, list[Change]], held: Mapping[str, str], at: Change) -> None:
    """Note what a state of the specs changed; a state without any metric is one that cannot be read."""
    if not held:
        return
    for key in sorted({*found, *held}):
        before, now = found.get(key, []), held.get(key, "")
        if (before[-1].definition if before else "") != now:
            found.setdefault(key, []).append(Change(at.day, at.commit, at.subject, now))


def _definitions(text: bytes) -> Iterator[tuple[str, str]]:
    """Metric and definition hash of a normal form; nothing of one that is not of this form."""
    import yaml

    part = _METRICS.search(text.decode("utf-8", "replace"))
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        items = yaml.load("metrics:\n" + part[1], Loader=loader)["metrics"] if part else []
        for item in items:
            yield str(item["id"]), str(item["definition"])
    except (yaml.YAMLError, KeyError, TypeError):
        return
