"""States of the specs that can be compared: a workspace, a git revision of one, a build."""

from __future__ import annotations

import dataclasses
import io
import json
import subprocess
import tarfile
from collections.abc import Mapping
from pathlib import Path

from assay.audit.recorded import NAME
from assay.build.session import Session
from assay.spec import normal_form, workspace
from assay.spec.diagnostics import USAGE, AssayError, Span, fail
from assay.spec.normal_form import Checked
from assay.spec.workspace import Workspace
from assay.storage.scratch import folder as temporary

#: what a build keeps of the specs that it was made of: the normal form of the system's package, as JSON
SPECS = "specs.json"
#: what is taken out of a revision: specs, the SQL that they import, and their normal forms
_NEEDED = ("specs", "queries", "golden/specs")

State = Mapping[str, Checked]


def write_specs(checked: Checked, folder: Path, cache: Path) -> None:
    """Keep the package that a build is made of in its folder; what a cache has of it need not be written anew."""
    (folder / SPECS).write_text(workspace.text(checked, cache), encoding="utf-8")


def states(session: Session, before: str, after: str) -> tuple[State, State]:
    """Two states that are compared; beside a build, which is of one system, only that system counts."""
    first, second = state(session, before), state(session, after)
    of = [found for name, found in ((before, first), (after, second)) if _build(name)]
    systems = set().union(*of) if of else {*first, *second}
    return _only(first, systems), _only(second, systems)


def _only(found: State, systems: set[str]) -> State:
    return {name: package for name, package in found.items() if name in systems}


def _build(name: str) -> Path | None:
    """The folder of a build that is named by it, or by its provenance."""
    place = Path(name)
    if place.name == NAME and place.is_file():
        return place.parent
    return place if (place / NAME).is_file() else None


def state(session: Session, name: str) -> State:
    """The packages (system -> package) of a folder of a workspace, of a build (its folder, or its provenance.json), or
    of a git revision of the session's workspace.

    Raises AssayError: `unknown-state` (usage) when it is none of these; that of the specs when they are wrong.
    """
    place, build = Path(name), _build(name)
    if build:
        return _built(build)
    if place.is_dir() and Workspace(place).systems():
        return _loaded(Workspace(place.resolve()), session.store.folder)
    commit = _commit(session.workspace.root, name)
    if commit:
        return _revision(session, commit)
    raise fail(
        "unknown-state",
        f"`{name}` is no workspace, no build and no git revision",
        expected="a folder with specs/, a folder that a report was built into, its provenance.json, or a revision",
        found="a folder with none of these" if place.is_dir() else "a file" if place.is_file() else "nothing",
        status=USAGE,
    )


def _loaded(found: Workspace, cache: Path) -> State:
    return {system: workspace.load(found, system, cache) for system in found.systems()}


def _built(folder: Path) -> State:
    place = folder / SPECS
    try:
        found = normal_form.restored(json.loads(place.read_text(encoding="utf-8")), str(place))
    except FileNotFoundError:
        raise fail(
            "no-specs",
            f"the build holds no {SPECS}, so that its specs cannot be compared: {folder}",
            hint="build the report again; every build of this version keeps its specs",
        ) from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise fail("specs", f"the specs of the build cannot be read: {error}", span=Span(str(place))) from None
    return {found.package.system: found}


def git(root: Path, *arguments: str) -> bytes | None:
    """What git prints; None when it fails, or is not here."""
    try:
        done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, check=False)
    except OSError:
        return None
    return done.stdout if done.returncode == 0 else None


def _commit(root: Path, name: str) -> str | None:
    """The commit of a revision's name."""
    found = None if name.startswith("-") else git(root, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
    return found.decode().strip() if found else None


def _revision(session: Session, commit: str) -> State:
    root = session.workspace.root
    there = [name for name in _NEEDED if git(root, "cat-file", "-e", f"{commit}:./{name}") is not None]
    packed = git(root, "archive", "--format=tar", commit, "--", *there) if "specs" in there else None
    if packed is None:
        raise fail("no-specs", f"the revision {commit[:12]} has no specs in this workspace", status=USAGE)
    try:
        with temporary() as folder:
            with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
                archive.extractall(folder, filter="data")
            return _loaded(Workspace(folder), session.store.folder)
    except AssayError as error:
        note = f"in revision {commit[:12]}"
        problems = [dataclasses.replace(item, notes=(*item.notes, note)) for item in error.diagnostics]
        raise AssayError(problems, error.status) from None
