"""`assay diff`: compare two states of the specs, from a workspace, a git revision or a build."""

from __future__ import annotations

import dataclasses
import io
import json
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from assay.app.outputs import SPECS
from assay.app.prose import KEPT, Texts, kept_texts, texts_by_article, unchecked_texts
from assay.app.session import Session
from assay.diff.builds import chosen, made_of
from assay.diff.specs import SystemDiff, by_hashes, diff
from assay.lang import normal_form, workspace
from assay.lang import workspace as unchecked
from assay.lang.normal_form import CheckedPackage
from assay.lang.workspace import Workspace
from assay.provenance.read import NAME, Content, PublishedContent, Recorded, RecordedPublished, recorded_in
from assay.provenance.record import outline
from assay.util.diagnostics import USAGE, AssayError, Diagnostic, Span, did_you_mean, fail
from assay.util.paths import LOOP, is_loop, resolve_path
from assay.util.scratch import temporary_folder as temporary

#: what is taken out of a revision: specs, the SQL that they import, and their normal forms
_NEEDED = ("specs", "queries", "golden/specs")
#: so many metrics are named of those whose definitions are not what a build says
_NAMED = 3


@dataclass(frozen=True, slots=True)
class State:
    """What is known of a state of the specs, system by system.

    `packages` are those that could be read, `unread` says why others could not; `hashes` are the definition hashes
    (metric -> hash) of a build that has kept no specs.  `unchecked` are those of the packages that have passed no
    checks, with what to tell where they cannot be compared.  `prose` is that of articles (system -> article -> file ->
    text), as far as it is known.  `build` is what a build says that it was made of.  `warnings` are what readers must
    know.
    """

    packages: Mapping[str, CheckedPackage] = field(default_factory=dict)
    unread: Mapping[str, tuple[Diagnostic, ...]] = field(default_factory=dict)
    hashes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    unchecked: Mapping[str, tuple[Diagnostic, ...]] = field(default_factory=dict)
    prose: Mapping[str, Mapping[str, Texts]] = field(default_factory=dict)
    build: Content | PublishedContent | None = None
    warnings: tuple[str, ...] = ()

    @property
    def systems(self) -> set[str]:
        """The systems that there are, also those that could not be read."""
        return {*self.packages, *self.unread, *self.hashes}


@dataclass(frozen=True, slots=True)
class _Named:
    """A state that somebody has named: what reads it, some systems of it or (None) all; whether it is a build."""

    read: Callable[[set[str] | None], State]
    build: bool = False


def states(session: Session, before: str, after: str, system: str | None = None) -> tuple[State, State]:
    """Two states that are compared, of each a folder of a workspace, of a build (or its provenance), or a git revision
    of the session's workspace; of all systems, or one.  Beside a build, which is of one system, only that one counts.

    A revision may hold what today's checks refuse: it is read as far as that goes.  Raises AssayError: `unknown-state`
    (usage) for what is none of these, `unknown-system` (usage) for a system of neither; that of the specs of a
    workspace when they are wrong, that of a build when its files are.
    """
    named = [_named(session, name) for name in (before, after)]
    wanted = {system} if system else None
    of_builds = {item: item.read(wanted) for item in named if item.build}
    if of_builds and wanted is None:
        wanted = set().union(*(found.systems for found in of_builds.values()))
    first, second = (of_builds.get(item) or item.read(wanted) for item in named)
    if system and system not in first.systems | second.systems:
        raise fail("unknown-system", f"neither {before} nor {after} has specs for `{system}`", status=USAGE,
                   hint=suggest_system(named, system))  # fmt: skip
    return first, second


def suggest_system(named: list[_Named], system: str) -> str:
    return did_you_mean(system, {name for item in named for name in item.read(None).systems})


def _named(session: Session, name: str) -> _Named:
    """What a name stands for."""
    place = Path(name)
    record = place if place.name == NAME and place.is_file() else place / NAME
    if record.is_file():
        return _Named(lambda wanted: _only(_built(record), wanted), build=True)
    if place.is_dir() and Workspace(place).has_systems():
        return _Named(lambda wanted: _workspace(Workspace(resolve_path(place)), wanted, session.store.folder))
    commit = _commit(session.workspace.root, name)
    if commit:
        return _Named(lambda wanted: _revision(session, commit, wanted))
    if place.is_file() and place.suffix == ".json":
        return _Named(lambda wanted: _only(_built(place), wanted), build=True)
    raise fail(
        "unknown-state",
        f"`{name}` is no workspace, no build and no git revision",
        expected="a folder with specs/, a folder that a report was built into, its provenance.json, or a revision",
        found=describe_place(place),
        status=USAGE,
    )


def describe_place(place: Path) -> str:
    """Say what a place holds that is no state of specs."""
    if is_loop(place):
        return LOOP
    return "a folder with none of these" if place.is_dir() else "a file" if place.is_file() else "nothing"


def _only(found: State, wanted: set[str] | None) -> State:
    """A state of a build; of no system where it is of none that is wanted."""
    return found if wanted is None or found.systems & wanted else State(warnings=found.warnings)


def _wanted(found: Workspace, wanted: set[str] | None) -> list[str]:
    return [system for system in found.systems() if wanted is None or system in wanted]


def _workspace(found: Workspace, wanted: set[str] | None, cache: Path) -> State:
    packages = {system: workspace.load(found, system, cache) for system in _wanted(found, wanted)}
    return State(packages, prose={system: texts_by_article(found, checked) for system, checked in packages.items()})


def _built(record: Path) -> State:
    """A build by its provenance: the specs that it has kept, else the definition hashes of what it prints."""
    found = recorded_in(record)
    place = record.parent / SPECS
    warnings = () if found.intact else (f"{record}: its hash is not that of its content, so that it was changed",)
    kept = read_stored_package(place) if place.is_file() else None
    of_another = kept is not None and record.name != NAME and kept[0].sources != found.content.specs
    if kept is None or of_another:
        return _hash_state(record, found, warnings)
    checked, said = kept
    system = checked.package.system
    wrong = Diagnostic("specs", f"the specs of the build cannot be compared: {place}")
    unlike = _unlike(place, checked, said, found)
    prose, untold = _prose_of(record.parent, checked, found)
    return State(
        {system: checked},
        unchecked={system: (wrong,)},
        prose={system: prose},
        build=found.content,
        warnings=(*warnings, *unlike, *untold),
    )


def _prose_of(
    folder: Path, checked: CheckedPackage, found: Recorded | RecordedPublished
) -> tuple[dict[str, Texts], tuple[str, ...]]:
    """The prose that a build of an article has kept, and what readers must know of it."""
    name = found.content.report.partition("/")[2]
    article = next((item for item in checked.package.articles if item.name == name), None)
    if article is None:
        return {}, ()
    texts = kept_texts(folder)
    if texts is None:
        return {}, (f"{folder}: no {KEPT} of this build stands there, so that its prose is not compared",)
    if outline(article, texts) == found.content.outline:
        return {name: texts}, ()
    said = "what it holds is not the prose that the build names, or its report is another; what it holds is compared"
    return {name: texts}, (f"{folder / KEPT}: {said}",)


def _hash_state(record: Path, found: Recorded | RecordedPublished, warnings: tuple[str, ...]) -> State:
    if not isinstance(found.content, Content):
        raise fail(
            "no-specs",
            f"the specs of a report of publications stand beside its provenance, and there are none: {record}",
            expected=f"{SPECS} of the same build in the same folder",
            hint="name the folder of the build, or build the report again; every build of this version keeps its specs",
        )
    system = found.content.report.partition("/")[0]
    said = f"{record}: no {SPECS} of this build stands beside it, so that definition hashes alone are compared"
    return State(hashes={system: found.content.definitions}, build=found.content, warnings=(*warnings, said))


def read_stored_package(place: Path) -> tuple[CheckedPackage, Mapping[str, str]]:
    """The package that a build has kept, with all worked out anew, for anybody can write its hashes; and these."""
    try:
        found = normal_form.restore_package(json.loads(place.read_text(encoding="utf-8")), str(place))
        return normal_form.resolve(found.package, found.sources), found.definitions
    except AssayError:
        raise
    except Exception as error:  # nothing has checked it
        raise fail("specs", f"the specs of the build cannot be read: {error}", span=Span(str(place))) from None


def _unlike(
    place: Path, checked: CheckedPackage, said: Mapping[str, str], found: Recorded | RecordedPublished
) -> Iterator[str]:
    """A warning where the specs of a build are not those that its files say that they are."""
    printed = found.content.definitions if isinstance(found.content, Content) else {}
    now = checked.definitions
    wrong = sorted({name for of in (said, printed) for name in of if of[name] != now.get(name)})
    if wrong:
        named = ", ".join(wrong[:_NAMED]) + (f" and {len(wrong) - _NAMED} more" if len(wrong) > _NAMED else "")
        yield (
            f"{place}: what it holds has other definition hashes than the build says ({named}): it was changed, or is "
            "of another version of Assay; what it holds is compared"
        )


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


def _revision(session: Session, commit: str, wanted: set[str] | None) -> State:
    """What a revision holds; a system that cannot be read is told, with the reason, unless none can."""
    packages, unread, refused, prose, warnings = {}, {}, {}, {}, []
    with _unpacked(session.workspace.root, commit) as folder:
        for system in _wanted(Workspace(folder), wanted):
            try:
                found = unchecked.load_unchecked(Workspace(folder), system, session.store.folder)
            except AssayError as error:
                unread[system] = _of_revision(error.diagnostics, commit)
                continue
            packages[system] = found.checked
            prose[system] = unchecked_texts(Workspace(folder), found.checked)
            if found.refused:
                refused[system] = _of_revision(found.refused, commit)
                warnings.append(_refused(system, commit, found.refused))
    if unread and not packages:
        raise AssayError([item for of in unread.values() for item in of])
    return State(packages, unread, unchecked=refused, prose=prose, warnings=tuple(warnings))


@contextmanager
def _unpacked(root: Path, commit: str) -> Iterator[Path]:
    """A folder with what specs are made of in a revision."""
    there = [name for name in _NEEDED if git(root, "cat-file", "-e", f"{commit}:./{name}") is not None]
    packed = git(root, "archive", "--format=tar", commit, "--", *there) if "specs" in there else None
    if packed is None:
        raise fail("no-specs", f"the revision {commit[:12]} has no specs in this workspace", status=USAGE)
    with temporary() as folder:
        import tarfile

        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            # Releases of Python before 3.11.4 have no filters; git writes no path that leads out of the folder.
            archive.extraction_filter = getattr(tarfile, "data_filter", None)
            archive.extractall(folder)
        yield folder


def _of_revision(found: Sequence[Diagnostic], commit: str) -> tuple[Diagnostic, ...]:
    note = f"in revision {commit[:12]}"
    return tuple(dataclasses.replace(item, notes=(*item.notes, note)) for item in found)


def _refused(system: str, commit: str, refused: tuple[Diagnostic, ...]) -> str:
    first, *others = refused
    more = f", and {len(others)} more" if others else ""
    return (
        f"revision {commit[:12]}: checks refuse the specs of {system} ({first.code}: {first.message}{more}); "
        "they are compared as they are"
    )


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
        return _diff_hashes(name, before, after)
    texts = (state.prose.get(name, {}) for state in (before, after))
    return diff(before.packages[name], after.packages[name], *texts)


def _diff_hashes(name: str, before: State, after: State) -> SystemDiff:
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
