"""Find workspaces (folders with `specs/`); load and cache their packages.

A package is loaded from its committed normal form if that is of the current Dhall sources, else from the cache, else
by the Dhall evaluator.

The model of packages is imported by what loads one: to find a workspace, as shell completion does, is fast without it.
"""

from __future__ import annotations

import glob
import importlib
import json
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.lang import source_index
from assay.lang.libraries import LIBRARIES
from assay.lang.normal_form_header import compute_code_version, read_header
from assay.util.atomic import write_file
from assay.util.checksums import seal_text, unseal_text
from assay.util.diagnostics import USAGE, AssayError, Diagnostic, Span, fail, raise_all, suggest_names
from assay.util.escape import dump_escaped_json
from assay.util.os_errors import build_write_error
from assay.util.paths import resolve_path

if TYPE_CHECKING:
    from assay.lang.checked_package import CheckedPackage
    from assay.lang.model.package import Package, Source
    from assay.lang.positions import Positions
    from assay.lang.sources import SourceFile
    from assay_dhall import Evaluation


ROOT_FILE = "package.dhall"
#: The folders of a workspace that reports are built from.
SOURCES = ("specs", "queries", "templates")
MAX_LISTED_FILES = 5  # number of files that a message names


@dataclass(frozen=True, slots=True)
class Workspace:
    """A workspace: the folder `root` with `specs/`, and optionally `templates/` and `golden/`."""

    root: Path

    @property
    def specs(self) -> Path:
        """Return the folder of the specs."""
        return self.root / "specs"

    def find_templates(self) -> Path:
        """Return the folder of the templates: the workspace's own, or the shipped ones.

        Raises AssayError `template` when it is not a folder, or has a link that leads out of it or to a folder (whose
        links would not be checked).
        """
        folder = self.root / "templates"
        if not os.path.lexists(folder):
            return get_shipped_workspace().root / "templates"
        _require_folder(folder, "template")
        target = resolve_path(folder)  # the folder itself may be a link
        for path in folder.rglob("*"):
            if path.is_symlink():
                if not (self.contains_path(path) or resolve_path(path).is_relative_to(target)):
                    raise fail("template", "a link points outside the workspace", span=Span(str(path)))
                if path.is_dir():
                    hint = "use the folder itself, or links to its files"
                    raise fail("template", "a link points to a folder", span=Span(str(path)), hint=hint)
        return folder

    def contains_path(self, path: Path) -> bool:
        """Return whether a file is in the workspace once every symbolic link is followed."""
        return resolve_path(path).is_relative_to(resolve_path(self.root))

    def get_normal_form_path(self, system: str) -> Path:
        """Return the path of a system's committed normal form."""
        return self.root / "golden" / "specs" / f"{system}.yaml"

    def list_systems(self) -> tuple[str, ...]:
        """Return the names of the systems that have specs.  Raises OSError when a folder cannot be read."""
        names = (path.name for path in self.specs.iterdir() if path.is_dir() and (path / ROOT_FILE).exists())
        return tuple(sorted(name for name in names if name not in LIBRARIES))

    def has_systems(self) -> bool:
        """Return whether the folder is a workspace.

        Raises AssayError `no-system` when there are specs, but no system's package, or some that cannot be read.
        """
        if not os.path.lexists(self.specs):
            return False
        _require_folder(self.specs, "no-system")
        entries = sorted(self.specs.iterdir())
        for path in entries:
            if path.is_symlink() and not path.exists():
                _require_folder(path, "no-system")
        if self.list_systems():
            return True
        specs = sorted(path.relative_to(self.root).as_posix() for path in self.specs.rglob("*.dhall"))
        if entries and not specs:
            return False  # `specs/` belongs to another program
        raise fail(
            "no-system",
            f"no system in {self.specs}: no folder contains {ROOT_FILE}",
            expected=f"specs/SYSTEM/{ROOT_FILE}",
            found=(", ".join(specs[:MAX_LISTED_FILES]) or "an empty folder")
            + (", ..." if len(specs) > MAX_LISTED_FILES else ""),
        )


def _require_folder(path: Path, code: str) -> None:
    """Raise AssayError if a path is something other than a folder, OSError for a loop of links."""
    if path.is_dir():
        return
    resolve_path(path)
    kind = f"a broken link to {path.readlink()}" if path.is_symlink() else "a file"
    hint = "repair or remove it: without it, Assay uses its own"
    raise fail(code, f"{path} is not a folder", expected="a folder", found=kind, hint=hint)


def get_shipped_workspace() -> Workspace:
    """Return the workspace that comes with Assay: inside the package in a wheel, the repository in a checkout."""
    package = resolve_path(Path(__file__)).parent.parent
    inside = package / "_workspace"
    return Workspace(inside if inside.is_dir() else package.parent.parent)


def find_workspace(start: Path) -> Workspace:
    """Return the nearest workspace that holds `start` or is above it, else the shipped one.

    Raises AssayError when the nearest specs have no system.
    """
    for folder in (start, *start.parents):
        workspace = Workspace(folder)
        if workspace.has_systems():
            return workspace
    return get_shipped_workspace()


def load_package(
    workspace: Workspace,
    system: str,
    cache: Path | None,
    deferred: list[Callable[[], None]] | None = None,
    cached_package: CachedPackage | None = None,
) -> CheckedPackage:
    """Load a system's package, checked.  Raises AssayError with every problem of it.

    `cache` is the folder of evaluated packages, by hash of their sources.  The action that stores this package is
    appended to `deferred` if that is given, else done now.  `cached_package` is the result of an earlier call of
    `load_cached`; it is used up.
    """
    from assay.lang import normal_form

    if system not in workspace.list_systems():
        dhall_files = "/" not in system and list(workspace.specs.glob(f"{glob.escape(system)}/*.dhall"))
        incomplete = dhall_files and not (workspace.specs / system / ROOT_FILE).exists()
        raise fail(
            "unknown-system",
            f"no specs for `{system}` in {workspace.specs}",
            hint=f"specs/{system} has no {ROOT_FILE}"
            if incomplete
            else suggest_names(system, workspace.list_systems()),
            status=USAGE,
        )
    if cached_package or (cached_package := load_cached(workspace, system, cache)):
        return normal_form.restore_package(cached_package.content, cached_package.where)
    from assay.lang.sources import hash_sources  # a slow import, not needed for unchanged specs

    files = scan_sources(workspace, system)
    cached = _load_from_cache(_get_cache_path(cache, hash_sources(files))) if cache else None
    checked_from_cache = normal_form.restore_package(cached.content, cached.where) if cached else None
    checked = (
        checked_from_cache or _load_normal_form(workspace, system, files) or evaluate_package(workspace, system, files)
    )

    def store() -> None:
        if cache:
            _store_text(get_normal_form_text(checked, cache), _get_cache_path(cache, checked.sources))
            source_index.write_index(cache, workspace.root, system, _build_index_entries(files), checked.sources)

    defer_action(store, deferred)
    return checked


@dataclass(frozen=True, slots=True)
class CachedPackage:
    """A package of unchanged specs, as plain data of its normal form, and the name of its file for messages."""

    content: dict[str, Any]
    where: str

    @property
    def sources(self) -> tuple[Source, ...]:
        """Return its sources, without decoding the rest."""
        from assay.lang import decode

        return decode.decode_sources(self.content["package"].get("sources"), self.where)


def load_cached(workspace: Workspace, system: str, cache: Path | None) -> CachedPackage | None:
    """Return a system's package if the files of its specs are unchanged and it is in the cache."""
    unchanged = source_index.read_unchanged_sources(cache, workspace.root, system) if cache else None
    return _load_from_cache(_get_cache_path(cache, unchanged)) if unchanged and cache else None


def is_shipped(workspace: Workspace) -> bool:
    """Return whether a workspace is the shipped one, which is trusted like the code."""
    return resolve_path(workspace.root) == resolve_path(get_shipped_workspace().root)


def _build_index_entries(files: Sequence[SourceFile]) -> list[source_index.IndexedFile]:
    return [(item.name, item.path, item.content) for item in files]


def defer_action(action: Callable[[], None], deferred: list[Callable[[], None]] | None) -> None:
    """Append an action to the list of deferred actions; run it now if there is no list."""
    if deferred is None:
        action()
    else:
        deferred.append(action)


def scan_sources(workspace: Workspace, system: str) -> tuple[SourceFile, ...]:
    """Return every file that the evaluation of a system's package reads."""
    from assay.lang.sources import read_sources  # a slow import, seldom needed

    return read_sources(workspace.specs / system / ROOT_FILE, workspace.root, get_shipped_workspace().root)


def _load_normal_form(workspace: Workspace, system: str, files: Sequence[SourceFile]) -> CheckedPackage | None:
    """Return the package of the committed normal form, if that is of these sources."""
    from assay.lang import normal_form
    from assay.lang.sources import hash_sources

    sources = hash_sources(files)
    committed = workspace.get_normal_form_path(system)
    text = committed.read_text(encoding="utf-8") if committed.is_file() else ""
    if read_header(text) != sources:
        return None
    if is_shipped(workspace):
        return normal_form.parse_normal_form(text, str(committed))
    return _verify_normal_form(text, str(committed), sources, get_positions(workspace, system, files))


def _verify_normal_form(text: str, where: str, sources: str, locate: Positions) -> CheckedPackage | None:
    """Return the package of a committed normal form, checked and resolved like one from Dhall.

    Anybody can write its hashes, so they prove nothing.  None when anything is wrong with it.
    """
    from yaml import YAMLError

    from assay.lang import normal_form
    from assay.lang.check import check
    from assay.lang.resolve import resolve_package

    try:
        package = normal_form.parse_normal_form(text, where).package
    except (AssayError, YAMLError, LookupError, TypeError, ValueError, ArithmeticError, AttributeError, RecursionError):
        return None
    if check.check_package(package, locate):
        return None
    return resolve_package(package, sources)


def _get_cache_path(cache: Path, sources: str) -> Path:
    return cache / "specs" / f"{sources}-{compute_code_version()}.sealed"


def _load_from_cache(path: Path) -> CachedPackage | None:
    """Return the cached package; None if it is missing or damaged."""
    content = _read_sealed(path)
    return CachedPackage(json.loads(content), str(path)) if content is not None else None


def _read_sealed(path: Path) -> str | None:
    try:
        return unseal_text(path.name, path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return None


def _store_text(content: str, path: Path) -> None:
    """Write a package, as JSON, to the cache, unless the cache has it."""
    if _read_sealed(path) is not None:
        return
    try:
        write_file(path.parent.parent, path, seal_text(path.name, content))
    except OSError as error:
        hint = "pass --cache DIR"
        raise build_write_error("cache", "cache folder", path.parent.parent, error, hint) from None


def get_normal_form_text(checked: CheckedPackage, cache: Path) -> str:
    """Return the normal form of a package as JSON; the text in the cache, if there is one."""
    return _read_sealed(_get_cache_path(cache, checked.sources)) or _dump_normal_form(checked)


def _dump_normal_form(checked: CheckedPackage) -> str:
    from assay.lang import normal_form

    return dump_escaped_json(normal_form.build_content(checked)) + "\n"


def load_modules() -> None:
    """Import the slow modules of evaluation and checking ahead of time."""
    from assay.lang.units import UnitLibrary

    for module in ("check.check", "decode", "sources"):
        importlib.import_module(f"assay.lang.{module}")
    UnitLibrary(())


def prepare_evaluation(workspace: Workspace, system: str, cache: Path) -> None:
    """Prepare the evaluation of a system: do everything that does not change with an edit.

    Raises AssayError when the specs are wrong.
    """
    from assay.lang import decode
    from assay.lang.check import check
    from assay.lang.positions import Positions

    files = scan_sources(workspace, system)
    evaluated = _evaluate_root(workspace, system, files)
    decode.build_decoders()
    check.check_package(load_package(workspace, system, cache).package, Positions(lambda: evaluated))


def find_root_name(workspace: Workspace, system: str, files: Sequence[SourceFile]) -> str:
    """Return the name of a system's root file among its files."""
    root = workspace.specs / system / ROOT_FILE
    return next(item.name for item in files if item.path == resolve_path(root) or item.path == root)


def get_positions(workspace: Workspace, system: str, files: Sequence[SourceFile] | None = None) -> Positions:
    """Return where the words of a system's package are written.  Its use raises AssayError for wrong specs."""
    from assay.lang.positions import Positions

    return Positions(lambda: _evaluate_root(workspace, system, files or scan_sources(workspace, system)))


def _evaluate_root(workspace: Workspace, system: str, files: Sequence[SourceFile]) -> Evaluation:
    from assay.lang.sources import evaluate_sources

    return evaluate_sources(
        find_root_name(workspace, system, files), files, workspace.root, get_shipped_workspace().root
    )


def evaluate_data(workspace: Workspace, system: str, files: Sequence[SourceFile]) -> object:
    """Return the value of a system's package as plain data, neither decoded nor checked."""
    from assay.lang.sources import convert_data

    return convert_data(_evaluate_root(workspace, system, files), workspace.root, get_shipped_workspace().root)


def evaluate_package(workspace: Workspace, system: str, files: Sequence[SourceFile]) -> CheckedPackage:
    """Evaluate and check a system's package from its Dhall sources."""
    from assay.lang.resolve import resolve_package
    from assay.lang.sources import hash_sources

    package, problems = check_evaluated(workspace, system, _evaluate_root(workspace, system, files))
    raise_all(problems)
    return resolve_package(package, hash_sources(files))


def check_evaluated(workspace: Workspace, system: str, evaluated: Evaluation) -> tuple[Package, tuple[Diagnostic, ...]]:
    """Return the package that a system's root file evaluated to, and all its problems.

    Raises AssayError when it is not a package, or is one of another system.
    """
    from assay.lang import decode
    from assay.lang.check import check
    from assay.lang.positions import Positions
    from assay.lang.sources import convert_data

    root = workspace.specs / system / ROOT_FILE
    package = decode.decode_package(convert_data(evaluated, workspace.root, get_shipped_workspace().root), str(root))
    locate = Positions(lambda: evaluated)
    if package.system != system:
        span, excerpt = locate(package.system)
        raise fail("system", f"package `{package.system}` in specs/{system} has the wrong name", span=span,
                   excerpt=excerpt, expected=system, found=package.system,
                   hint="a system has the name of its folder: rename one of them")  # fmt: skip
    return package, check.check_package(package, locate)


@dataclass(frozen=True, slots=True)
class UncheckedPackage:
    """A package; `problems` are the problems of its checks (none: it passed them)."""

    checked: CheckedPackage
    problems: tuple[Diagnostic, ...] = ()


def load_unchecked(workspace: Workspace, system: str, cache: Path | None) -> UncheckedPackage:
    """Load a system's package even if it fails its checks.

    A package that fails is loaded from its committed normal form, if that is of its sources, or else from Dhall, and
    resolved like a checked one.  Raises AssayError with the problems of the checks where that fails, too.
    """
    try:
        return UncheckedPackage(load_package(workspace, system, cache))
    except AssayError as error:
        with suppress(AssayError, OSError):
            files = scan_sources(workspace, system)
            for read_package in (_load_committed, _evaluate_unchecked):
                checked = _resolve_unchecked(read_package, workspace, system, files)
                if checked:
                    return UncheckedPackage(checked, error.diagnostics)
        raise


def _resolve_unchecked(
    read_package: Callable[[Workspace, str, Sequence[SourceFile], str], Package | None],
    workspace: Workspace,
    system: str,
    files: Sequence[SourceFile],
) -> CheckedPackage | None:
    """Return the package that `read_package` reads, resolved; None where that fails."""
    from assay.lang.resolve import resolve_package
    from assay.lang.sources import hash_sources

    sources = hash_sources(files)
    try:
        package = read_package(workspace, system, files, sources)
        return resolve_package(package, sources) if package and package.system == system else None
    except Exception:  # an unchecked package can raise any error
        return None


def _load_committed(workspace: Workspace, system: str, _files: Sequence[SourceFile], sources: str) -> Package | None:
    """Return the package of the committed normal form, if that is of these sources."""
    from assay.lang import normal_form

    path = workspace.get_normal_form_path(system)
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    return normal_form.parse_normal_form(text, str(path)).package if read_header(text) == sources else None


def _evaluate_unchecked(workspace: Workspace, system: str, files: Sequence[SourceFile], _sources: str) -> Package:
    """Return the package that the Dhall evaluates to."""
    from assay.lang import decode

    root = workspace.specs / system / ROOT_FILE
    data: Any = evaluate_data(workspace, system, files)
    return decode.decode_package(data, str(root), lenient=True)
