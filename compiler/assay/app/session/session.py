"""Define the state that commands share: the workspace, its loaded packages, the cache, and callbacks for the user."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from assay.app.session.hashing import RunHasher
from assay.app.session.stages import log_stage
from assay.engine.result_cache import Store
from assay.ingest.hashing import MEMO
from assay.lang import workspace as workspaces
from assay.lang.libraries import warn_of_differences
from assay.remote.cache_location import locate_cache
from assay.util.diagnostics import SPECS_OR_DATA, USAGE, AssayError, Diagnostic, Span, fail, read_excerpt, suggest_names
from assay.util.paths import resolve_path
from assay.util.progress import Notice, Progress, ignore
from assay.util.scratch import hold_root

if TYPE_CHECKING:
    from assay.app.session.cache_filler import CacheFiller
    from assay.ingest.hashing import BackgroundHasher
    from assay.lang.checked_package import CheckedPackage
    from assay.lang.model.package import Source
    from assay.lang.model.report import Report
    from assay.lang.workspace import CachedPackage, Workspace


@dataclass(slots=True)
class Session:
    """The shared state of commands. Packages are loaded on first use.

    `progress` and `notice` report progress and messages to the user. `threads` is the number of threads of each engine
    connection; 0 divides the cores among the connections. `on_finished` is called with the folder of a complete report
    before it is moved into place.

    `mirrors` maps local copies of remote runs to their addresses; `mirror_locks` has the locks on these copies until
    `close`. `checked_templates` is the folder of templates once its links have been checked. `cached_packages` has the
    packages whose sources alone are loaded. `run_hasher` hashes the files of runs. `deferred_work` collects work that
    can wait until the command is idle, such as caching specs; if it is None, such work is done at once. `filler` fills
    the cache before the command reads and computes. `storage` is the address of the object storage whose entries the
    cache folder has copies of; empty without one.
    """

    workspace: Workspace
    store: Store
    progress: Progress = ignore
    threads: int = 0
    packages: dict[str, CheckedPackage] = field(default_factory=dict)
    notice: Notice = ignore
    on_finished: Callable[[Path], None] = ignore
    mirrors: dict[Path, str] = field(default_factory=dict)
    mirror_locks: ExitStack = field(default_factory=ExitStack)
    checked_templates: Path | None = None
    deferred_work: list[Callable[[], None]] | None = None
    filler: CacheFiller | None = None
    storage: str = ""
    cached_packages: dict[str, CachedPackage] = field(default_factory=dict)
    run_hasher: RunHasher = field(default=None)  # type: ignore[assignment]  # set in __post_init__

    def __post_init__(self) -> None:
        if self.run_hasher is None:
            self.run_hasher = RunHasher(self.store.folder / MEMO)

    def get_wait_notice(self, folder: Path) -> Callable[[], None]:
        """Return a callback that notifies the user that another process writes into a folder."""
        return lambda: self.notice(f"waiting for another assay that writes {folder}")

    def get_templates(self) -> Path:
        """Return the folder of the workspace's templates; check its links on first use.

        Raises AssayError: `template` for a link out of the workspace.
        """
        if self.checked_templates is None:
            self.checked_templates = self.workspace.find_templates()
        return self.checked_templates

    def close(self) -> None:
        """Release the locks on mirrored runs, and stop background hashing."""
        self.run_hasher.close()
        self.mirror_locks.close()

    def localize_error(self, error: AssayError) -> AssayError:
        """Return an error in the user's terms.

        Directories of mirrored runs become their addresses; SQL texts become the files or specs that contain them.
        """

        def localize(text: str) -> str:
            for folder, address in self.mirrors.items():
                text = text.replace(str(folder), address)
            return text

        def rename(item: Diagnostic) -> Diagnostic:
            """Return a problem with addresses and files that the user knows."""
            span = replace(item.span, file=localize(item.span.file)) if item.span else None
            file = self.find_file(item.text) if item.text else ""
            span = replace(span or Span(""), file=file) if file else span
            if span and not span.file and item.text and (location := self.locate_text(item.text, span)):
                span, item = location[0], replace(item, excerpt=location[1])
            return replace(
                item,
                message=localize(item.message),
                expected=localize(item.expected),
                found=localize(item.found),
                notes=tuple(map(localize, item.notes)),
                span=span,
            )

        return AssayError(tuple(map(rename, error.diagnostics)), error.status)

    def find_file(self, text: str) -> str:
        """Return the file with this text among the sources of the loaded packages; empty if there is none."""
        for system in self.packages:
            with suppress(AssayError, OSError):
                for item in workspaces.scan_sources(self.workspace, system):
                    if item.content == text.encode():
                        return item.name
        return ""

    def locate_text(self, text: str, span: Span) -> tuple[Span, str] | None:
        """Locate a position in an SQL text that specs contain inline.

        Returns the position in the specs and an excerpt; None unless the line occurs in the specs exactly once.
        """
        lines = text.split("\n")
        line = lines[span.line - 1] if 1 <= span.line <= len(lines) else ""
        stripped_line = line.strip()
        occurrences = []
        for system in self.packages:
            with suppress(AssayError, OSError):
                for item in workspaces.scan_sources(self.workspace, system):
                    before, *after = item.text.split(stripped_line) if item.is_code and stripped_line else [""]
                    occurrences += [(item, before)] * len(after)
        if len(occurrences) != 1:
            return None
        item, before = occurrences[0]
        row, column = before.count("\n") + 1, len(before) - before.rfind("\n") + span.column - 1
        column -= len(line) - len(line.lstrip())
        return Span(item.name, row, column, span.length), read_excerpt(item.path, row, column, span.length)

    def load_package(self, system: str) -> CheckedPackage:
        """Return a system's checked package. Raises AssayError with all problems of its specs."""
        if system not in self.packages:
            cached_package = self.cached_packages.pop(system, None)
            with log_stage("specs", system=system):
                self.packages[system] = self._load(system, cached_package)
        return self.packages[system]

    def _load(self, system: str, cached_package: CachedPackage | None) -> CheckedPackage:
        """Load a package; if its specs are wrong, add a warning about an outdated schema to the error."""
        try:
            return workspaces.load_package(
                self.workspace, system, self.store.folder, self.deferred_work, cached_package
            )
        except AssayError as error:
            if error.status != SPECS_OR_DATA:
                raise
            raise AssayError((*error.diagnostics, *self.warn_of_schema()), error.status) from None

    def warn_of_schema(self) -> tuple[Diagnostic, ...]:
        """Return a warning if the workspace's schema or Prelude differs from the shipped one."""
        return warn_of_differences(self.workspace.root, workspaces.get_shipped_workspace().root)

    def load_sources(self, system: str) -> tuple[Source, ...]:
        """Return a system's sources, from the cache without loading the whole package if possible.

        Raises AssayError as `load_package` does.
        """
        if system not in self.packages:
            cached_package = self.cached_packages.get(system) or workspaces.load_cached(
                self.workspace, system, self.store.folder
            )
            if cached_package:
                self.cached_packages[system] = cached_package
                return cached_package.sources
        return self.load_package(system).package.sources

    def find_report_of_runs(self, name: str) -> tuple[CheckedPackage, Report]:
        """Return the report `system/name` over runs, and its package. Raises AssayError (usage) if there is none."""
        checked, report = self.find_report(name)
        if report.over:
            report_names = [
                f"{checked.package.system}/{item.name}" for item in checked.package.reports if not item.over
            ]
            raise fail(
                "unknown-report",
                f"`{name}` is a report over publications, not over runs",
                hint=suggest_names(name, report_names),
                status=USAGE,
            )
        return checked, report

    def is_of_runs(self, name: str) -> bool:
        """Return whether `system/name` is a report over runs, not over publications.

        Raises AssayError (usage) if there is no such report.
        """
        return self.find_report(name)[1].over is None

    def find_report(self, name: str) -> tuple[CheckedPackage, Report]:
        """Return the report `system/name` and its package.

        Raises AssayError (usage) if there is none.
        """
        system, slash, _ = name.partition("/")
        systems = self.workspace.list_systems()
        searched_systems = (system,) if slash and system in systems else systems
        reports_by_name = {
            f"{item}/{report.name}": (item, report)
            for item in searched_systems
            for report in self.load_package(item).package.reports
        }
        if not slash or name not in reports_by_name:
            raise fail(
                "unknown-report",
                f"there is no report `{name}`",
                hint=suggest_names(name, reports_by_name),
                notes=self.list_workspace_notes(),
                status=USAGE,
            )
        return self.load_package(system), reports_by_name[name][1]

    def list_workspace_notes(self) -> tuple[str, ...]:
        """Return a note if the workspace in use is the shipped one and the current folder is outside of it."""
        if resolve_path(Path.cwd()).is_relative_to(resolve_path(self.workspace.root)):
            return ()
        return ("neither this folder nor its parents have specs/: using the specs that come with Assay",)

    def list_systems(self, system: str | None) -> tuple[str, ...]:
        """Return the systems of the workspace, or the named one. Raises AssayError if there is no such system."""
        systems = self.workspace.list_systems()
        if system is None:
            return systems
        if system not in systems:
            self.load_package(system)  # raises with a hint
        return (system,)


def open_session(
    start: Path, cache: str | Path, notice: Notice = ignore, background_hasher: BackgroundHasher | None = None
) -> Session:
    """Open a session in the workspace of a folder; `background_hasher` may already be hashing files.

    `cache` is a folder or an address on object storage. Raises AssayError (usage) for an invalid address.
    """
    folder, storage = locate_cache(cache)
    run_hasher = RunHasher(folder / MEMO, background_hasher)
    workspace = workspaces.find_workspace(start)
    hold_root(folder)
    return Session(workspace, Store(folder), notice=notice, run_hasher=run_hasher, storage=storage)
