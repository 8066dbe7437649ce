"""Compare two states of the specs: a workspace, a git revision or a build (`assay spec-diff`)."""

from __future__ import annotations

import dataclasses
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from assay.app.session.outputs import SPECS
from assay.app.session.prose import KEPT, Texts, read_stored_texts, read_texts_by_report, read_unchecked_texts
from assay.app.session.session import Session
from assay.diff.builds import compare_choices, compare_data
from assay.diff.specs import SystemDiff, add_breaks, diff_hashes, diff_packages
from assay.lang import normal_form, workspace
from assay.lang.checked_package import CheckedPackage
from assay.lang.resolve import resolve_package
from assay.lang.workspace import Workspace
from assay.provenance.read import (
    NAME,
    Content,
    PublishedContent,
    RecordedBuild,
    RecordedPublishedBuild,
    read_provenance_file,
)
from assay.provenance.record import hash_outline
from assay.util.diagnostics import USAGE, AssayError, Diagnostic, Span, fail, suggest_names
from assay.util.git import run_git
from assay.util.paths import LOOP, is_loop, resolve_path
from assay.util.scratch import create_temporary_folder

#: The folders that are extracted from a revision: specs, the SQL that they import, their normal forms.
_REVISION_FOLDERS = ("specs", "queries", "golden/specs")
#: The largest number of metrics that a warning about unexpected definition hashes names.
_MAX_NAMES = 3


@dataclass(frozen=True, slots=True)
class State:
    """A state of the specs, by system.

    `packages` were read; `read_problems` has the problems of those that could not be read. `hashes` (metric ->
    definition hash) is set for builds without stored specs. `unchecked` has, for packages that did not pass all checks,
    the problems to report if the comparison fails. `prose` is the prose of reports, if it could be read: system ->
    report -> file -> text. `build` is the recorded provenance of a build, `day` its day. `warnings`
    are for the reader of the comparison.
    """

    packages: Mapping[str, CheckedPackage] = field(default_factory=dict)
    read_problems: Mapping[str, tuple[Diagnostic, ...]] = field(default_factory=dict)
    hashes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    unchecked: Mapping[str, tuple[Diagnostic, ...]] = field(default_factory=dict)
    prose: Mapping[str, Mapping[str, Texts]] = field(default_factory=dict)
    build: Content | PublishedContent | None = None
    day: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def systems(self) -> set[str]:
        """Return all systems of the state, including those that could not be read."""
        return {*self.packages, *self.read_problems, *self.hashes}


@dataclass(frozen=True, slots=True)
class _StateSource:
    """A state that the user named: a function that reads some systems or (None) all, and whether it is a build."""

    read: Callable[[set[str] | None], State]
    is_build: bool = False


def read_states(session: Session, before: str, after: str, system: str | None = None) -> tuple[State, State]:
    """Read the two states to compare.

    Each name is a workspace folder, the folder or provenance of a build, or a git revision of the session's workspace.
    With `system`, only that one is read. If one state is a build, which has one system, only that system is compared.

    Revisions may fail today's checks; they are read as far as possible.

    Raises AssayError: `unknown-state` (usage) for any other name, `unknown-system` (usage) if neither state has the
    system, and the errors of a workspace's specs or of a build's files.
    """
    sources = [_find_state_source(session, name) for name in (before, after)]
    systems = {system} if system else None
    states_of_builds = {item: item.read(systems) for item in sources if item.is_build}
    if states_of_builds and systems is None:
        systems = set().union(*(state.systems for state in states_of_builds.values()))
    first, second = (states_of_builds.get(item) or item.read(systems) for item in sources)
    if system and system not in first.systems | second.systems:
        raise fail("unknown-system", f"neither {before} nor {after} has specs for `{system}`", status=USAGE,
                   hint=_suggest_system(sources, system))  # fmt: skip
    return first, second


def _suggest_system(sources: list[_StateSource], system: str) -> str:
    """Return a hint that names a system of a similar name; empty if there is none."""
    return suggest_names(system, {name for item in sources for name in item.read(None).systems})


def _find_state_source(session: Session, name: str) -> _StateSource:
    """Return the state that a name refers to."""
    path = Path(name)
    record_path = path if path.name == NAME and path.is_file() else path / NAME
    if record_path.is_file():
        return _StateSource(lambda systems: _select_systems(_read_build(record_path), systems), is_build=True)
    if path.is_dir() and Workspace(path).has_systems():
        return _StateSource(
            lambda systems: _read_workspace(Workspace(resolve_path(path)), systems, session.store.folder)
        )
    commit = _resolve_commit(session.workspace.root, name)
    if commit:
        return _StateSource(lambda systems: _read_revision(session, commit, systems))
    if path.is_file() and path.suffix == ".json":
        return _StateSource(lambda systems: _select_systems(_read_build(path), systems), is_build=True)
    raise fail(
        "unknown-state",
        f"`{name}` is not a workspace, a build or a git revision",
        expected="a folder with specs/, a folder that a report was built into, its provenance.json, or a revision",
        found=_describe_path(path),
        status=USAGE,
    )


def _describe_path(path: Path) -> str:
    """Describe a path that is not a state of specs."""
    if is_loop(path):
        return LOOP
    return "a folder with none of these" if path.is_dir() else "a file" if path.is_file() else "nothing"


def _select_systems(state: State, systems: set[str] | None) -> State:
    """Return the state of a build if it has one of the systems, else an empty state with its warnings."""
    return state if systems is None or state.systems & systems else State(warnings=state.warnings)


def _list_systems(source: Workspace, systems: set[str] | None) -> list[str]:
    return [system for system in source.list_systems() if systems is None or system in systems]


def _read_workspace(source: Workspace, systems: set[str] | None, cache: Path) -> State:
    packages = {system: workspace.load_package(source, system, cache) for system in _list_systems(source, systems)}
    return State(
        packages, prose={system: read_texts_by_report(source, checked) for system, checked in packages.items()}
    )


def _read_build(record: Path) -> State:
    """Read the specs that a build stored beside its provenance, or else the definition hashes in the provenance."""
    provenance = read_provenance_file(record)
    specs_path = record.parent / SPECS
    warnings = () if provenance.is_intact else (f"{record}: the file was changed: its hash is not that of its content",)
    stored_package = read_stored_package(specs_path) if specs_path.is_file() else None
    is_from_other_build = (
        stored_package is not None and record.name != NAME and stored_package[0].sources != provenance.content.specs
    )
    if stored_package is None or is_from_other_build:
        return _create_hash_state(record, provenance, warnings)
    checked, stored_hashes = stored_package
    system = checked.package.system
    comparison_problem = Diagnostic("specs", f"the specs of the build cannot be compared: {specs_path}")
    hash_warnings = _iter_hash_warnings(specs_path, checked, stored_hashes, provenance)
    prose, prose_warnings = _read_prose(record.parent, checked, provenance)
    return State(
        {system: checked},
        unchecked={system: (comparison_problem,)},
        prose={system: prose},
        build=provenance.content,
        day="" if is_history(provenance.content) else _read_day(record.parent / "document.json"),
        warnings=(*warnings, *hash_warnings, *prose_warnings),
    )


def is_history(content: Content | PublishedContent) -> bool:
    """Return whether a build is a history, which shows the breaks between its publications itself."""
    return isinstance(content, PublishedContent) and not content.edition


def _read_day(document: Path) -> str:
    """Return the day of a built report; empty if its document cannot be read."""
    try:
        return str(json.loads(document.read_bytes())["date"])[:10]
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def _read_prose(
    folder: Path, checked: CheckedPackage, provenance: RecordedBuild | RecordedPublishedBuild
) -> tuple[dict[str, Texts], tuple[str, ...]]:
    """Return the stored prose of a report's build, and warnings about it."""
    name = provenance.content.report.partition("/")[2]
    report = next((item for item in checked.package.reports if item.name == name), None)
    if report is None:
        return {}, ()
    texts = read_stored_texts(folder)
    if texts is None and not any(part.prose_files for part in report.parts):
        return {}, ()
    if texts is None:
        return {}, (f"{folder}: the folder has no {KEPT} of this build, so its prose is not compared",)
    if hash_outline(report, texts) == provenance.content.outline:
        return {name: texts}, ()
    warning = (
        f"{folder / KEPT}: the prose or the report differs from what the build recorded; "
        "the prose in the file is compared"
    )
    return {name: texts}, (warning,)


def _create_hash_state(
    record: Path, provenance: RecordedBuild | RecordedPublishedBuild, warnings: tuple[str, ...]
) -> State:
    """Return the state of a build without stored specs: the definition hashes that its provenance records.

    Raises AssayError `no-specs` for a report of publications, whose provenance has no definition hashes.
    """
    if not isinstance(provenance.content, Content):
        raise fail(
            "no-specs",
            f"the provenance of a report of publications has no definition hashes to compare: {record}",
            expected=f"{SPECS} of the same build in the same folder",
            hint="name the folder of the build, or build the report again, which stores its specs",
        )
    system = provenance.content.report.partition("/")[0]
    warning = f"{record}: the folder has no {SPECS} of this build, so only definition hashes are compared"
    return State(
        hashes={system: provenance.content.definitions}, build=provenance.content, warnings=(*warnings, warning)
    )


def read_stored_package(path: Path) -> tuple[CheckedPackage, Mapping[str, str]]:
    """Read the package that a build stored, and the definition hashes stored with it.

    The definition hashes of the package are computed again, since the file may have been edited. Raises AssayError.
    """
    try:
        stored_package = normal_form.restore_package(json.loads(path.read_text(encoding="utf-8")), str(path))
        checked = resolve_package(stored_package.package, stored_package.sources)
        return checked, stored_package.definitions
    except AssayError:
        raise
    except Exception as error:  # the content of the file is unchecked, so any step may fail
        raise fail("specs", f"the specs of the build cannot be read: {error}", span=Span(str(path))) from None


def _iter_hash_warnings(
    path: Path,
    checked: CheckedPackage,
    stored_hashes: Mapping[str, str],
    provenance: RecordedBuild | RecordedPublishedBuild,
) -> Iterator[str]:
    """Yield a warning if definition hashes of the stored specs differ from those that the build recorded."""
    printed_definitions = provenance.content.definitions if isinstance(provenance.content, Content) else {}
    resolved_hashes = checked.definitions
    differing_names = sorted(
        {
            name
            for recorded_hashes in (stored_hashes, printed_definitions)
            for name in recorded_hashes
            if recorded_hashes[name] != resolved_hashes.get(name)
        }
    )
    if differing_names:
        more_count = len(differing_names) - _MAX_NAMES
        names_text = ", ".join(differing_names[:_MAX_NAMES]) + (f" and {more_count} more" if more_count > 0 else "")
        yield (
            f"{path}: definition hashes differ from those that the build recorded ({names_text}): the file was "
            "changed, or written by another version of Assay; it is compared as it is"
        )


def _resolve_commit(root: Path, name: str) -> str | None:
    """Return the commit that a revision's name refers to, or None."""
    output = None if name.startswith("-") else run_git(root, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
    return output.decode().strip() if output else None


def _read_revision(session: Session, commit: str, systems: set[str] | None) -> State:
    """Read the specs of a revision.

    Systems that cannot be read are recorded with the reason. Raises AssayError if no system can be read.
    """
    packages, read_problems, refusals, prose, warnings = {}, {}, {}, {}, []
    with _unpack_revision(session.workspace.root, commit) as folder:
        for system in _list_systems(Workspace(folder), systems):
            try:
                loaded = workspace.load_unchecked(Workspace(folder), system, session.store.folder)
            except AssayError as error:
                read_problems[system] = _add_revision_note(error.diagnostics, commit)
                continue
            packages[system] = loaded.checked
            prose[system] = read_unchecked_texts(Workspace(folder), loaded.checked)
            if loaded.problems:
                refusals[system] = _add_revision_note(loaded.problems, commit)
                warnings.append(_format_refusal(system, commit, loaded.problems))
    if read_problems and not packages:
        raise AssayError([item for problems in read_problems.values() for item in problems])
    return State(packages, read_problems, unchecked=refusals, prose=prose, warnings=tuple(warnings))


@contextmanager
def _unpack_revision(root: Path, commit: str) -> Iterator[Path]:
    """Yield a folder with the specs of a revision and the files that they are evaluated from."""
    existing_folders = [
        name for name in _REVISION_FOLDERS if run_git(root, "cat-file", "-e", f"{commit}:./{name}") is not None
    ]
    archive_bytes = (
        run_git(root, "archive", "--format=tar", commit, "--", *existing_folders)
        if "specs" in existing_folders
        else None
    )
    if archive_bytes is None:
        raise fail("no-specs", f"the revision {commit[:12]} has no specs in this workspace", status=USAGE)
    with create_temporary_folder() as folder:
        import tarfile

        with tarfile.open(fileobj=io.BytesIO(archive_bytes)) as archive:
            # Python before 3.11.4 has no extraction filters. Archives of git never contain paths that leave the folder.
            archive.extraction_filter = getattr(tarfile, "data_filter", None)
            archive.extractall(folder)
        yield folder


def _add_revision_note(problems: Sequence[Diagnostic], commit: str) -> tuple[Diagnostic, ...]:
    note = f"in revision {commit[:12]}"
    return tuple(dataclasses.replace(item, notes=(*item.notes, note)) for item in problems)


def _format_refusal(system: str, commit: str, problems: tuple[Diagnostic, ...]) -> str:
    first, *rest = problems
    more = f", and {len(rest)} more" if rest else ""
    return (
        f"revision {commit[:12]}: the specs of {system} fail checks ({first.code}: {first.message}{more}); "
        "they are compared as they are"
    )


@dataclass(frozen=True, slots=True)
class Comparison:
    """The differences by system, warnings for the reader, and the problems of systems that could not be read."""

    systems: tuple[SystemDiff, ...]
    warnings: tuple[str, ...]
    read_problems: tuple[Diagnostic, ...]


def compare_states(before: State, after: State) -> Comparison:
    """Return the differences between two states; equal systems are left out."""
    diffs, read_problems = [], []
    for name in sorted(before.systems | after.systems):
        problems = [item for state in (before, after) for item in state.read_problems.get(name, ())]
        try:
            diffs.append(_create_unread_diff(name, problems) if problems else _compare_system(name, before, after))
        except Exception:  # packages may be unchecked, so the comparison may fail anywhere
            problems = [item for state in (before, after) for item in state.unchecked.get(name, ())]
            if not problems:
                raise
            diffs.append(_create_unread_diff(name, problems))
        read_problems += problems
    warnings = tuple(dict.fromkeys((*before.warnings, *after.warnings)))
    return Comparison(
        tuple(item for item in diffs if item.differs or item.data), warnings, tuple(dict.fromkeys(read_problems))
    )


def _create_unread_diff(name: str, problems: Sequence[Diagnostic]) -> SystemDiff:
    return SystemDiff(name, "unread", unread=problems[0].message)


def _compare_system(name: str, before: State, after: State) -> SystemDiff:
    """Compare the specs of a system and, if both states are builds, the options and data of the builds."""
    if name not in before.systems or name not in after.systems:
        return SystemDiff(name, "new" if name in after.systems else "gone")
    system_diff = _compare_specs(name, before, after)
    if before.build is None or after.build is None:
        return system_diff
    builds = before.build, after.build
    metrics = after.packages[name].package.metrics if name in after.packages else ()
    broken = add_breaks(system_diff.metrics, metrics, (before.day, after.day))
    return replace(system_diff, metrics=broken, choices=compare_choices(*builds), data=compare_data(*builds))


def _compare_specs(name: str, before: State, after: State) -> SystemDiff:
    """Compare the specs of a system that both states have."""
    if name in before.hashes or name in after.hashes:
        return _diff_hashes(name, before, after)
    texts = (state.prose.get(name, {}) for state in (before, after))
    return diff_packages(before.packages[name], after.packages[name], *texts)


def _diff_hashes(name: str, before: State, after: State) -> SystemDiff:
    """Compare a system by definition hashes.

    Only the metrics that a build printed are compared: the other state may have specs, and thus all metrics.
    """
    printed_ids = {metric for state in (before, after) for metric in state.hashes.get(name, {})}
    old, new = (
        {metric: definition for metric, definition in _get_definitions(name, state).items() if metric in printed_ids}
        for state in (before, after)
    )
    names = {
        metric.id: metric.name
        for state in (before, after)
        if name in state.packages
        for metric in state.packages[name].package.metrics
    }
    return diff_hashes(name, old, new, names)


def _get_definitions(name: str, state: State) -> Mapping[str, str]:
    return state.hashes[name] if name in state.hashes else state.packages[name].definitions
