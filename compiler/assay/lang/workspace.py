"""Workspaces: find a folder with `specs/`, load and cache its packages.

A package comes from its committed normal form when that is of the very Dhall sources that are there, else from the
cache, else from the Dhall evaluator.
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

from assay.lang import decode, normal_form
from assay.lang import sources as source_index
from assay.lang.libraries import LIBRARIES
from assay.lang.model.package import Package
from assay.lang.normal_form import CheckedPackage
from assay.util.atomic import write_file
from assay.util.checksums import seal_text, unseal_text
from assay.util.diagnostics import USAGE, AssayError, Diagnostic, Span, did_you_mean, fail, raise_all
from assay.util.escape import dump_escaped_json
from assay.util.os_errors import make_write_error
from assay.util.paths import resolve_path

if TYPE_CHECKING:
    from assay.dhall import Evaluated
    from assay.lang.model.package import Package, Source
    from assay.lang.positions import Positions
    from assay.lang.sources import SourceFile


ROOT_FILE = "package.dhall"
SHOWN = 5  # files that a message names


@dataclass(frozen=True, slots=True)
class Workspace:
    """A workspace: `root` with `specs/`, and what may stand beside it."""

    root: Path

    @property
    def specs(self) -> Path:
        """Folder of the specs."""
        return self.root / "specs"

    def templates(self) -> Path:
        """Folder of the templates: the workspace's own, or the shipped ones.

        All files in it are looked at.  AssayError `template`: it is no folder, a link leads out, or to a folder, whose
        links would not be seen.
        """
        own = self.root / "templates"
        if not os.path.lexists(own):
            return shipped().root / "templates"
        _require_folder(own, "template")
        whole = resolve_path(own)  # all of it may be elsewhere, where somebody has put it
        for path in own.rglob("*"):
            if path.is_symlink():
                if not (self.holds(path) or resolve_path(path).is_relative_to(whole)):
                    raise fail("template", "a link leads out of the workspace", span=Span(str(path)))
                if path.is_dir():
                    hint = "put the folder itself there, or links to its files"
                    raise fail("template", "a link leads to a folder", span=Span(str(path)), hint=hint)
        return own

    def holds(self, path: Path) -> bool:
        """Whether a file is inside once every symbolic link is followed."""
        return resolve_path(path).is_relative_to(resolve_path(self.root))

    def normal_form(self, system: str) -> Path:
        """Where a system's normal form is committed."""
        return self.root / "golden" / "specs" / f"{system}.yaml"

    def systems(self) -> tuple[str, ...]:
        """Names of the systems that have specs; OSError when a folder cannot be read."""
        found = (path.name for path in self.specs.iterdir() if path.is_dir() and (path / ROOT_FILE).exists())
        return tuple(sorted(name for name in found if name not in LIBRARIES))

    def has_systems(self) -> bool:
        """Whether it is a workspace.  AssayError `no-system`: there are specs, but none that is a system's package, or
        some that cannot be reached."""
        if not os.path.lexists(self.specs):
            return False
        _require_folder(self.specs, "no-system")
        entries = sorted(self.specs.iterdir())
        for path in entries:
            if path.is_symlink() and not path.exists():
                _require_folder(path, "no-system")
        if self.systems():
            return True
        specs = sorted(path.relative_to(self.root).as_posix() for path in self.specs.rglob("*.dhall"))
        if entries and not specs:
            return False  # it is another program's
        raise fail(
            "no-system",
            f"no folder of {self.specs} is a system's: none holds {ROOT_FILE}",
            expected=f"specs/SYSTEM/{ROOT_FILE}",
            found=(", ".join(specs[:SHOWN]) or "an empty folder") + (", ..." if len(specs) > SHOWN else ""),
        )


def _require_folder(place: Path, code: str) -> None:
    """Raise AssayError where something else than a folder is at a place, OSError for a loop of links."""
    if place.is_dir():
        return
    resolve_path(place)
    found = f"a link to what is not there, {place.readlink()}" if place.is_symlink() else "a file"
    hint = "mend or remove it: without it, what comes with Assay is taken"
    raise fail(code, f"{place} is no folder", expected="a folder", found=found, hint=hint)


def shipped() -> Workspace:
    """The workspace that comes with the package: beside the code in a wheel, the repository in a checkout."""
    package = resolve_path(Path(__file__)).parent.parent
    inside = package / "_workspace"
    return Workspace(inside if inside.is_dir() else package.parent.parent)


def find(start: Path) -> Workspace:
    """The workspace of a folder: the nearest one that holds or is above it, else the shipped one.

    Raises AssayError when the specs that are found first are of no system.
    """
    for folder in (start, *start.parents):
        found = Workspace(folder)
        if found.has_systems():
            return found
    return shipped()


def load(
    workspace: Workspace,
    system: str,
    cache: Path | None,
    later: list[Callable[[], None]] | None = None,
    found: CachedPackage | None = None,
) -> CheckedPackage:
    """A system's package, checked.  Raises AssayError with every problem of it.

    `cache` is a folder that keeps evaluated packages, by the hash of their sources.  What keeps this one is put into
    `later`, if there is such a list, and done now if not.  `found` is what `load_cached` gave, where that was called
    before; it is used up.
    """
    if system not in workspace.systems():
        named = "/" not in system and list(workspace.specs.glob(f"{glob.escape(system)}/*.dhall"))
        incomplete = named and not (workspace.specs / system / ROOT_FILE).exists()
        raise fail(
            "unknown-system",
            f"there are no specs for `{system}` in {workspace.specs}",
            hint=f"specs/{system} has no {ROOT_FILE}" if incomplete else did_you_mean(system, workspace.systems()),
            status=USAGE,
        )
    if found or (found := load_cached(workspace, system, cache)):
        return normal_form.restore_package(found.content, found.where)
    from assay.lang.sources import hash_sources  # loads much, which unchanged specs do without

    files = scan(workspace, system)
    restorable = _restorable(_cached(cache, hash_sources(files))) if cache else None
    restored = normal_form.restore_package(restorable.content, restorable.where) if restorable else None
    checked = restored or _load_normal_form(workspace, system, files) or evaluate(workspace, system, files)

    def keep() -> None:
        read, said = _read(files), text(checked, cache) if cache else _text(checked)
        _remember(workspace, system, cache, checked, read, said)

    defer(keep, later)
    return checked


@dataclass(frozen=True, slots=True)
class CachedPackage:
    """A package of unchanged specs, as the normal form that is kept of it: plain data, and a name for the place."""

    content: dict[str, Any]
    where: str

    @property
    def sources(self) -> tuple[Source, ...]:
        """Its sources, without the rest."""
        return decode.sources(self.content["package"].get("sources"), self.where)


def load_cached(workspace: Workspace, system: str, cache: Path | None) -> CachedPackage | None:
    """A system's package if it is known without looking into its files, or by their hashes, what it comes to."""
    unchanged = source_index.read_unchanged_sources(cache, workspace.root, system) if cache else None
    return _restorable(_cached(cache, unchanged)) if unchanged and cache else None


def comes_with_the_code(workspace: Workspace) -> bool:
    """Whether it is the shipped workspace, which is as much to be believed as the code."""
    return resolve_path(workspace.root) == resolve_path(shipped().root)


def _read(files: Sequence[SourceFile]) -> list[source_index.IndexedFile]:
    return [(item.name, item.path, item.content) for item in files]


def defer(keep: Callable[[], None], later: list[Callable[[], None]] | None) -> None:
    """Do it now, unless there is a list of what is done later."""
    if later is None:
        keep()
    else:
        later.append(keep)


def _remember(
    workspace: Workspace,
    system: str,
    cache: Path | None,
    checked: CheckedPackage,
    files: Sequence[source_index.IndexedFile],
    said: str,
) -> None:
    """Let a cache keep a package, and which files it is made of."""
    if cache:
        _keep(said, _cached(cache, checked.sources))
        source_index.write_index(cache, workspace.root, system, files, checked.sources)


def scan(workspace: Workspace, system: str) -> tuple[SourceFile, ...]:
    """Every file that a system's package is made of."""
    from assay.lang.sources import read_sources  # loads much, and is seldom needed

    return read_sources(workspace.specs / system / ROOT_FILE, workspace.root, shipped().root)


def _load_normal_form(workspace: Workspace, system: str, files: Sequence[SourceFile]) -> CheckedPackage | None:
    """The package of these very sources out of the committed normal form."""
    from assay.lang.sources import hash_sources

    wanted = hash_sources(files)
    committed = workspace.normal_form(system)
    text = committed.read_text(encoding="utf-8") if committed.is_file() else ""
    if normal_form.read_header(text) != wanted:
        return None
    if comes_with_the_code(workspace):
        return normal_form.load(text, str(committed))
    return _proved(text, str(committed), wanted, positions(workspace, system, files))


def _proved(text: str, where: str, sources: str, locate: Positions) -> CheckedPackage | None:
    """The package of a committed normal form, checked and resolved as one out of Dhall is, for anybody can write its
    hashes; None when anything is wrong with it."""
    from yaml import YAMLError

    from assay.lang.check import check

    try:
        package = normal_form.load(text, where).package
    except (AssayError, YAMLError, LookupError, TypeError, ValueError, ArithmeticError, AttributeError, RecursionError):
        return None
    if check.check(package, locate):
        return None
    return normal_form.resolve(package, sources)


def _cached(cache: Path, sources: str) -> Path:
    return cache / "specs" / f"{sources}-{normal_form.code_version()}.sealed"


def _restorable(place: Path) -> CachedPackage | None:
    """The package that the cache has; None when it has none, or one that is damaged."""
    said = _unsealed(place)
    return CachedPackage(json.loads(said), str(place)) if said is not None else None


def _unsealed(place: Path) -> str | None:
    try:
        return unseal_text(place.name, place.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return None


def _keep(said: str, place: Path) -> None:
    """Put a package, as JSON, into the cache, unless it is there."""
    if _unsealed(place) is not None:
        return
    try:
        write_file(place.parent.parent, place, seal_text(place.name, said))
    except OSError as error:
        hint = "name another with --cache"
        raise make_write_error("cache", "cache folder", place.parent.parent, error, hint) from None


def text(checked: CheckedPackage, cache: Path) -> str:
    """The normal form of a package as JSON; the text that the cache has, where the package came by way of it."""
    return _unsealed(_cached(cache, checked.sources)) or _text(checked)


def _text(checked: CheckedPackage) -> str:
    return dump_escaped_json(normal_form.build_content(checked)) + "\n"


def warm_up() -> None:
    """Load what evaluation and checking take long to load, before they are asked for."""
    from assay.lang.units import UnitLibrary

    for module in ("check.check", "decode", "sources"):
        importlib.import_module(f"assay.lang.{module}")
    UnitLibrary(())


def get_ready(workspace: Workspace, system: str, cache: Path) -> None:
    """Do once beforehand what every evaluation of a system does and remembers, of what an edit leaves as it is.

    Raises AssayError when the specs are wrong as they are.
    """
    from assay.lang import decode
    from assay.lang.check import check
    from assay.lang.positions import Positions

    files = scan(workspace, system)
    evaluated = _evaluate(workspace, system, files)
    decode.get_ready()
    check.check(load(workspace, system, cache).package, Positions(lambda: evaluated))


def root_name(workspace: Workspace, system: str, files: Sequence[SourceFile]) -> str:
    """The name of a system's root file among its files."""
    root = workspace.specs / system / ROOT_FILE
    return next(item.name for item in files if item.path == resolve_path(root) or item.path == root)


def positions(workspace: Workspace, system: str, files: Sequence[SourceFile] | None = None) -> Positions:
    """Where the words of a system's package are written. Asking for a position raises AssayError for wrong specs."""
    from assay.lang.positions import Positions

    return Positions(lambda: _evaluate(workspace, system, files or scan(workspace, system)))


def _evaluate(workspace: Workspace, system: str, files: Sequence[SourceFile]) -> Evaluated:
    from assay.lang.sources import evaluate_sources

    return evaluate_sources(root_name(workspace, system, files), files, workspace.root, shipped().root)


def evaluate_data(workspace: Workspace, system: str, files: Sequence[SourceFile]) -> object:
    """The value of a system's package as plain data, neither decoded nor checked."""
    from assay.lang.sources import convert_data

    return convert_data(_evaluate(workspace, system, files), workspace.root, shipped().root)


def evaluate(workspace: Workspace, system: str, files: Sequence[SourceFile]) -> CheckedPackage:
    """A system's package out of its Dhall sources, checked."""
    from assay.lang.sources import hash_sources

    package, problems = check_evaluated(workspace, system, _evaluate(workspace, system, files))
    raise_all(problems)
    return normal_form.resolve(package, hash_sources(files))


def check_evaluated(workspace: Workspace, system: str, evaluated: Evaluated) -> tuple[Package, tuple[Diagnostic, ...]]:
    """Return the package that a system's root file was evaluated to, and every problem of it.

    Raises AssayError when it is no package, or one of another system.
    """
    from assay.lang import decode
    from assay.lang.check import check
    from assay.lang.positions import Positions
    from assay.lang.sources import convert_data

    root = workspace.specs / system / ROOT_FILE
    package = decode.package(convert_data(evaluated, workspace.root, shipped().root), str(root))
    locate = Positions(lambda: evaluated)
    if package.system != system:
        span, excerpt = locate(package.system)
        raise fail("system", f"the package in specs/{system} is of another system: `{package.system}`", span=span,
                   excerpt=excerpt, expected=system, found=package.system,
                   hint="a system is called as its folder: rename one of them")  # fmt: skip
    return package, check.check(package, locate)


@dataclass(frozen=True, slots=True)
class UncheckedPackage:
    """A package; `refused` is what checks have against it (nothing: it has passed them)."""

    checked: CheckedPackage
    refused: tuple[Diagnostic, ...] = ()


def load_unchecked(found: Workspace, system: str, cache: Path | None) -> UncheckedPackage:
    """A system's package, checked where it passes; else out of its committed normal form, where that is of its sources,
    or out of its Dhall, with all worked out as of a checked one.

    Raises AssayError, with what the checks say, where even that does not go.
    """
    try:
        return UncheckedPackage(load(found, system, cache))
    except AssayError as error:
        with suppress(AssayError, OSError):
            files = scan(found, system)
            for package in (_load_committed, _evaluate_unchecked):
                checked = _resolve_unchecked(package, found, system, files)
                if checked:
                    return UncheckedPackage(checked, error.diagnostics)
        raise


def _resolve_unchecked(
    made: Callable[[Workspace, str, Sequence[SourceFile], str], Package | None],
    found: Workspace,
    system: str,
    files: Sequence[SourceFile],
) -> CheckedPackage | None:
    """What a reader makes of the files of a system, its units and definitions worked out; None where it cannot be."""
    from assay.lang.sources import hash_sources

    sources = hash_sources(files)
    try:
        package = made(found, system, files, sources)
        return normal_form.resolve(package, sources) if package and package.system == system else None
    except Exception:  # nothing has checked it: whatever comes of that, it cannot be read
        return None


def _load_committed(found: Workspace, system: str, _files: Sequence[SourceFile], sources: str) -> Package | None:
    """The package of the committed normal form, where that is of these sources."""
    place = found.normal_form(system)
    text = place.read_text(encoding="utf-8") if place.is_file() else ""
    return normal_form.load(text, str(place)).package if normal_form.read_header(text) == sources else None


def _evaluate_unchecked(found: Workspace, system: str, files: Sequence[SourceFile], _sources: str) -> Package:
    """The package that the Dhall yields."""
    from assay.lang import decode

    root = found.specs / system / ROOT_FILE
    data: Any = evaluate_data(found, system, files)
    return decode.package(data, str(root), lenient=True)
