"""Compare two states of the specs: a workspace, a git revision or a build (`assay diff`)."""

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
from assay.lang import checked_package, normal_form, workspace
from assay.lang import workspace as unchecked
from assay.lang.checked_package import CheckedPackage
from assay.lang.workspace import Workspace
from assay.provenance.read import NAME, Content, PublishedContent, Recorded, RecordedPublished, recorded_in
from assay.provenance.record import outline
from assay.util.diagnostics import USAGE, AssayError, Diagnostic, Span, did_you_mean, fail
from assay.util.paths import LOOP, is_loop, resolve_path
from assay.util.scratch import temporary_folder as temporary

#: The folders that are extracted from a revision: specs, the SQL that they import, their normal forms.
_NEEDED = ("specs", "queries", "golden/specs")
#: The number of metrics that a warning about unexpected definition hashes names.
_NAMED = 3


@dataclass(frozen=True, slots=True)
class State:
    """A state of the specs, by system.

    `packages` were read; `unread` has the problems of those that could not be. `hashes` (metric -> definition hash)
    belong to builds without stored specs. `unchecked` has, for packages that did not pass all checks, the problems to
    report if the comparison fails. `prose` is the prose of articles as far as it is known: system -> article -> file ->
    text. `build` is the recorded provenance of a build. `warnings` are for the reader of the comparison.
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
        """All systems of the state, including those that could not be read."""
        return {*self.packages, *self.unread, *self.hashes}


@dataclass(frozen=True, slots=True)
class _Named:
    """A state that a user named: a function that reads some or (None) all systems, and whether it is a build."""

    read: Callable[[set[str] | None], State]
    build: bool = False


def states(session: Session, before: str, after: str, system: str | None = None) -> tuple[State, State]:
    """Read the two states to compare.

    Each name is a workspace folder, the folder or provenance of a build, or a git revision of the session's workspace.
    With `system`, only that one is read. If one state is a build, which has one system, only that system is compared.

    Revisions may fail today's checks; they are read as far as possible.

    Raises AssayError: `unknown-state` (usage) for any other name, `unknown-system` (usage) if neither state has the
    system, and the errors of a workspace's specs or of a build's files.
    """
    sources = [_named(session, name) for name in (before, after)]
    systems = {system} if system else None
    of_builds = {item: item.read(systems) for item in sources if item.build}
    if of_builds and systems is None:
        systems = set().union(*(state.systems for state in of_builds.values()))
    first, second = (of_builds.get(item) or item.read(systems) for item in sources)
    if system and system not in first.systems | second.systems:
        raise fail("unknown-system", f"neither {before} nor {after} has specs for `{system}`", status=USAGE,
                   hint=suggest_system(sources, system))  # fmt: skip
    return first, second


def suggest_system(sources: list[_Named], system: str) -> str:
    """Return a hint with the system of a similar name."""
    return did_you_mean(system, {name for item in sources for name in item.read(None).systems})


def _named(session: Session, name: str) -> _Named:
    """Return the state that a name refers to."""
    path = Path(name)
    record_path = path if path.name == NAME and path.is_file() else path / NAME
    if record_path.is_file():
        return _Named(lambda systems: _only(_built(record_path), systems), build=True)
    if path.is_dir() and Workspace(path).has_systems():
        return _Named(lambda systems: _workspace(Workspace(resolve_path(path)), systems, session.store.folder))
    commit = _commit(session.workspace.root, name)
    if commit:
        return _Named(lambda systems: _revision(session, commit, systems))
    if path.is_file() and path.suffix == ".json":
        return _Named(lambda systems: _only(_built(path), systems), build=True)
    raise fail(
        "unknown-state",
        f"`{name}` is no workspace, no build and no git revision",
        expected="a folder with specs/, a folder that a report was built into, its provenance.json, or a revision",
        found=describe_place(path),
        status=USAGE,
    )


def describe_place(place: Path) -> str:
    """Describe a path that is not a state of specs."""
    if is_loop(place):
        return LOOP
    return "a folder with none of these" if place.is_dir() else "a file" if place.is_file() else "nothing"


def _only(state: State, systems: set[str] | None) -> State:
    """Return the state of a build if it has one of the systems, else an empty state with its warnings."""
    return state if systems is None or state.systems & systems else State(warnings=state.warnings)


def _wanted(source: Workspace, systems: set[str] | None) -> list[str]:
    return [system for system in source.systems() if systems is None or system in systems]


def _workspace(source: Workspace, systems: set[str] | None, cache: Path) -> State:
    packages = {system: workspace.load(source, system, cache) for system in _wanted(source, systems)}
    return State(packages, prose={system: texts_by_article(source, checked) for system, checked in packages.items()})


def _built(record: Path) -> State:
    """Read a build by its provenance: its stored specs, or else the definition hashes of what it prints."""
    provenance = recorded_in(record)
    specs_path = record.parent / SPECS
    warnings = () if provenance.intact else (f"{record}: its hash is not that of its content, so that it was changed",)
    stored = read_stored_package(specs_path) if specs_path.is_file() else None
    is_of_another = stored is not None and record.name != NAME and stored[0].sources != provenance.content.specs
    if stored is None or is_of_another:
        return _hash_state(record, provenance, warnings)
    checked, stored_hashes = stored
    system = checked.package.system
    not_comparable = Diagnostic("specs", f"the specs of the build cannot be compared: {specs_path}")
    hash_warnings = _unlike(specs_path, checked, stored_hashes, provenance)
    prose, prose_warnings = _prose_of(record.parent, checked, provenance)
    return State(
        {system: checked},
        unchecked={system: (not_comparable,)},
        prose={system: prose},
        build=provenance.content,
        warnings=(*warnings, *hash_warnings, *prose_warnings),
    )


def _prose_of(
    folder: Path, checked: CheckedPackage, provenance: Recorded | RecordedPublished
) -> tuple[dict[str, Texts], tuple[str, ...]]:
    """Return the stored prose of an article's build, and warnings about it."""
    name = provenance.content.report.partition("/")[2]
    article = next((item for item in checked.package.articles if item.name == name), None)
    if article is None:
        return {}, ()
    texts = kept_texts(folder)
    if texts is None:
        return {}, (f"{folder}: no {KEPT} of this build stands there, so that its prose is not compared",)
    if outline(article, texts) == provenance.content.outline:
        return {name: texts}, ()
    problem = "what it holds is not the prose that the build names, or its report is another; what it holds is compared"
    return {name: texts}, (f"{folder / KEPT}: {problem}",)


def _hash_state(record: Path, provenance: Recorded | RecordedPublished, warnings: tuple[str, ...]) -> State:
    if not isinstance(provenance.content, Content):
        raise fail(
            "no-specs",
            f"the specs of a report of publications stand beside its provenance, and there are none: {record}",
            expected=f"{SPECS} of the same build in the same folder",
            hint="name the folder of the build, or build the report again; every build of this version keeps its specs",
        )
    system = provenance.content.report.partition("/")[0]
    warning = f"{record}: no {SPECS} of this build stands beside it, so that definition hashes alone are compared"
    return State(
        hashes={system: provenance.content.definitions}, build=provenance.content, warnings=(*warnings, warning)
    )


def read_stored_package(path: Path) -> tuple[CheckedPackage, Mapping[str, str]]:
    """Read the package that a build stored, and the definition hashes stored with it.

    The package is resolved anew, since the file may have been edited. Raises AssayError.
    """
    try:
        stored = normal_form.restore_package(json.loads(path.read_text(encoding="utf-8")), str(path))
        return checked_package.resolve(stored.package, stored.sources), stored.definitions
    except AssayError:
        raise
    except Exception as error:  # the file is unchecked, so anything may fail
        raise fail("specs", f"the specs of the build cannot be read: {error}", span=Span(str(path))) from None


def _unlike(
    path: Path, checked: CheckedPackage, stored_hashes: Mapping[str, str], provenance: Recorded | RecordedPublished
) -> Iterator[str]:
    """Yield a warning if definition hashes of the stored specs differ from those that the build recorded."""
    printed = provenance.content.definitions if isinstance(provenance.content, Content) else {}
    resolved_hashes = checked.definitions
    differing = sorted(
        {
            name
            for recorded_hashes in (stored_hashes, printed)
            for name in recorded_hashes
            if recorded_hashes[name] != resolved_hashes.get(name)
        }
    )
    if differing:
        listed = ", ".join(differing[:_NAMED]) + (
            f" and {len(differing) - _NAMED} more" if len(differing) > _NAMED else ""
        )
        yield (
            f"{path}: what it holds has other definition hashes than the build says ({listed}): it was changed, or is "
            "of another version of Assay; what it holds is compared"
        )


def git(root: Path, *arguments: str) -> bytes | None:
    """Return the output of git; None if it fails or is not installed."""
    try:
        process = subprocess.run(["git", *arguments], cwd=root, capture_output=True, check=False)
    except OSError:
        return None
    return process.stdout if process.returncode == 0 else None


def _commit(root: Path, name: str) -> str | None:
    """Return the commit that a revision's name refers to, or None."""
    output = None if name.startswith("-") else git(root, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
    return output.decode().strip() if output else None


def _revision(session: Session, commit: str, systems: set[str] | None) -> State:
    """Read the specs of a revision.

    Systems that cannot be read are listed with the reason; if none can be read, raises AssayError.
    """
    packages, unread, refused, prose, warnings = {}, {}, {}, {}, []
    with _unpacked(session.workspace.root, commit) as folder:
        for system in _wanted(Workspace(folder), systems):
            try:
                loaded = unchecked.load_unchecked(Workspace(folder), system, session.store.folder)
            except AssayError as error:
                unread[system] = _of_revision(error.diagnostics, commit)
                continue
            packages[system] = loaded.checked
            prose[system] = unchecked_texts(Workspace(folder), loaded.checked)
            if loaded.refused:
                refused[system] = _of_revision(loaded.refused, commit)
                warnings.append(_refused(system, commit, loaded.refused))
    if unread and not packages:
        raise AssayError([item for problems in unread.values() for item in problems])
    return State(packages, unread, unchecked=refused, prose=prose, warnings=tuple(warnings))


@contextmanager
def _unpacked(root: Path, commit: str) -> Iterator[Path]:
    """Yield a folder with the specs of a revision and the files that they are evaluated from."""
    existing = [name for name in _NEEDED if git(root, "cat-file", "-e", f"{commit}:./{name}") is not None]
    packed = git(root, "archive", "--format=tar", commit, "--", *existing) if "specs" in existing else None
    if packed is None:
        raise fail("no-specs", f"the revision {commit[:12]} has no specs in this workspace", status=USAGE)
    with temporary() as folder:
        import tarfile

        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            # Python before 3.11.4 has no extraction filters. Archives of git never contain paths that leave the folder.
            archive.extraction_filter = getattr(tarfile, "data_filter", None)
            archive.extractall(folder)
        yield folder


def _of_revision(problems: Sequence[Diagnostic], commit: str) -> tuple[Diagnostic, ...]:
    note = f"in revision {commit[:12]}"
    return tuple(dataclasses.replace(item, notes=(*item.notes, note)) for item in problems)


def _refused(system: str, commit: str, refused: tuple[Diagnostic, ...]) -> str:
    first, *rest = refused
    more = f", and {len(rest)} more" if rest else ""
    return (
        f"revision {commit[:12]}: checks refuse the specs of {system} ({first.code}: {first.message}{more}); "
        "they are compared as they are"
    )


@dataclass(frozen=True, slots=True)
class Compared:
    """The differences by system, warnings for the reader, and the problems of systems that could not be read."""

    systems: tuple[SystemDiff, ...]
    warnings: tuple[str, ...]
    unread: tuple[Diagnostic, ...]


def compare(before: State, after: State) -> Compared:
    """Return the differences between two states, without the systems that are equal."""
    diffs, unread = [], []
    for name in sorted(before.systems | after.systems):
        problems = [item for state in (before, after) for item in state.unread.get(name, ())]
        try:
            diffs.append(_unread(name, problems) if problems else _system(name, before, after))
        except Exception:  # packages may be unchecked, so the comparison may fail anywhere
            problems = [item for state in (before, after) for item in state.unchecked.get(name, ())]
            if not problems:
                raise
            diffs.append(_unread(name, problems))
        unread += problems
    warnings = tuple(dict.fromkeys((*before.warnings, *after.warnings)))
    return Compared(tuple(item for item in diffs if item.differs or item.data), warnings, tuple(dict.fromkeys(unread)))


def _unread(name: str, problems: Sequence[Diagnostic]) -> SystemDiff:
    return SystemDiff(name, "unread", unread=problems[0].message)


def _system(name: str, before: State, after: State) -> SystemDiff:
    if name not in before.systems or name not in after.systems:
        return SystemDiff(name, "new" if name in after.systems else "gone")
    system_diff = _specs(name, before, after)
    if before.build is None or after.build is None:
        return system_diff
    builds = before.build, after.build
    return replace(system_diff, choices=chosen(*builds), data=made_of(*builds))


def _specs(name: str, before: State, after: State) -> SystemDiff:
    """Compare the specs of a system that both states have."""
    if name in before.hashes or name in after.hashes:
        return _diff_hashes(name, before, after)
    texts = (state.prose.get(name, {}) for state in (before, after))
    return diff(before.packages[name], after.packages[name], *texts)


def _diff_hashes(name: str, before: State, after: State) -> SystemDiff:
    """Compare a system by definition hashes.

    If one state has specs, and thus all metrics, only the metrics that the build prints count.
    """
    printed = {metric for state in (before, after) for metric in state.hashes.get(name, {})}
    old, new = (
        {metric: definition for metric, definition in _definitions(name, state).items() if metric in printed}
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
