"""A session: the workspace, the packages loaded from it, the cache, and what the user is told meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from assay.app.hashing import Hashes
from assay.app.stages import stage
from assay.engine.result_cache import Store
from assay.ingest.hashing import MEMO
from assay.lang import workspace as workspaces
from assay.lang.libraries import warn_of_differences
from assay.lang.model.article import Article
from assay.lang.model.package import Source
from assay.lang.model.report import History, Report
from assay.lang.normal_form import CheckedPackage
from assay.lang.workspace import CachedPackage, Workspace
from assay.util.diagnostics import SPECS_OR_DATA, USAGE, AssayError, Diagnostic, Span, did_you_mean, excerpt_at, fail
from assay.util.paths import resolve_path
from assay.util.progress import Notice, Progress, ignore_notice, ignore_progress

if TYPE_CHECKING:
    from assay.ingest.hashing import BackgroundHasher


def ignore_build(_folder: Path) -> None:
    """What most do with a finished build."""


@dataclass(slots=True)
class Session:
    """What commands share.  Packages are loaded when first asked for.

    `notice` is told what a user should know who waits.  `threads` is how many each engine connection takes; 0 shares
    the cores among the connections.  `finished` is called with the folder of a report that is whole, before it takes
    its place.  `mirrors` are the directories of runs that are elsewhere, with their addresses; `held` are the locks
    that keep those as they are until `close`.  `looked` is the folder of templates, once its links were looked at.
    `kept` are packages of which only sources were asked for; `hashes` are those of the files of runs.  `later` is where
    goes what can wait until nothing is asked for, such as keeping specs for others; None: it is done at once.
    """

    workspace: Workspace
    store: Store
    progress: Progress = ignore_progress
    threads: int = 0
    packages: dict[str, CheckedPackage] = field(default_factory=dict)
    notice: Notice = ignore_notice
    finished: Callable[[Path], None] = ignore_build
    mirrors: dict[Path, str] = field(default_factory=dict)
    held: ExitStack = field(default_factory=ExitStack)
    looked: Path | None = None
    later: list[Callable[[], None]] | None = None
    kept: dict[str, CachedPackage] = field(default_factory=dict)
    hashes: Hashes = field(default=None)  # type: ignore[assignment]  # until there is a session

    def __post_init__(self) -> None:
        if self.hashes is None:
            self.hashes = Hashes(self.store.folder / MEMO)

    def waits_for(self, folder: Path) -> Callable[[], None]:
        """What is to be called when another process writes into a folder that we want to write into."""
        return lambda: self.notice(f"waiting for another assay that writes {folder}")

    def templates(self) -> Path:
        """The folder of the workspace's templates, looked at once; AssayError `template` for a link among them that is
        refused."""
        if self.looked is None:
            self.looked = self.workspace.templates()
        return self.looked

    def close(self) -> None:
        """Let other commands change what this one read, and end what nobody waits for."""
        self.hashes.close()
        self.held.close()

    def as_named(self, error: AssayError) -> AssayError:
        """An error with the addresses of runs in the place of the directories that they are mirrored into, and with the
        files of the SQL that it is about."""

        def named(text: str) -> str:
            for folder, address in self.mirrors.items():
                text = text.replace(str(folder), address)
            return text

        def all_named(item: Diagnostic) -> Diagnostic:
            span = replace(item.span, file=named(item.span.file)) if item.span else None
            file = self.file_of(item.text) if item.text else ""
            span = replace(span or Span(""), file=file) if file else span
            if span and not span.file and item.text and (found := self.written_in(item.text, span)):
                span, item = found[0], replace(item, excerpt=found[1])
            return replace(item, message=named(item.message), expected=named(item.expected), found=named(item.found),
                           notes=tuple(map(named, item.notes)), span=span)  # fmt: skip

        return AssayError(tuple(map(all_named, error.diagnostics)), error.status)

    def file_of(self, text: str) -> str:
        """The file with this text among those that packages loaded so far are made of; empty where there is none."""
        for system in self.packages:
            with suppress(AssayError, OSError):
                for item in workspaces.scan(self.workspace, system):
                    if item.content == text.encode():
                        return item.name
        return ""

    def written_in(self, text: str, span: Span) -> tuple[Span, str] | None:
        """The place in specs of a place in a text that they hold themselves, and the line; None where the line of the
        text does not stand in them just once, as it is."""
        lines = text.split("\n")
        line = lines[span.line - 1] if 1 <= span.line <= len(lines) else ""
        words = line.strip()
        found = []
        for system in self.packages:
            with suppress(AssayError, OSError):
                for item in workspaces.scan(self.workspace, system):
                    before, *behind = item.text.split(words) if item.is_code and words else [""]
                    found += [(item, before)] * len(behind)
        if len(found) != 1:
            return None
        item, before = found[0]
        row, column = before.count("\n") + 1, len(before) - before.rfind("\n") + span.column - 1
        column -= len(line) - len(line.lstrip())
        return Span(item.name, row, column, span.length), excerpt_at(item.path, row, column, span.length)

    def package(self, system: str) -> CheckedPackage:
        """A system's package, checked; AssayError with all problems of its specs."""
        if system not in self.packages:
            found = self.kept.pop(system, None)
            with stage("specs", system=system):
                self.packages[system] = self._load(system, found)
        return self.packages[system]

    def _load(self, system: str, found: CachedPackage | None) -> CheckedPackage:
        """Load a package; errors of specs come with a warning when the workspace has another schema."""
        try:
            return workspaces.load(self.workspace, system, self.store.folder, self.later, found)
        except AssayError as error:
            if error.status != SPECS_OR_DATA:
                raise
            raise AssayError((*error.diagnostics, *self.warn_of_schema()), error.status) from None

    def warn_of_schema(self) -> tuple[Diagnostic, ...]:
        """Return a warning when the workspace has a schema or Prelude that differs from the shipped one."""
        return warn_of_differences(self.workspace.root, workspaces.shipped().root)

    def sources(self, system: str) -> tuple[Source, ...]:
        """A system's sources, without the rest of its package where that is kept; AssayError as of `package`."""
        if system not in self.packages:
            found = self.kept.get(system) or workspaces.load_cached(self.workspace, system, self.store.folder)
            if found:
                self.kept[system] = found
                return found.sources
        return self.package(system).package.sources

    def report(self, name: str) -> tuple[CheckedPackage, Report]:
        """The report `system/name` and its package; AssayError (usage) when there is none."""
        checked, found = self.find_report(name)
        if not isinstance(found, Report):
            known = [f"{checked.package.system}/{report.name}" for report in checked.package.reports]
            raise fail(
                "unknown-report",
                f"`{name}` is not a comparison of runs",
                hint=did_you_mean(name, known),
                status=USAGE,
            )
        return checked, found

    def history(self, name: str) -> tuple[CheckedPackage, History]:
        """The history `system/name` and its package; AssayError (usage) when there is none."""
        checked, found = self.find_report(name)
        if not isinstance(found, History):
            raise fail("unknown-report", f"`{name}` is a report of runs, not a history", status=USAGE)
        return checked, found

    def article(self, name: str) -> tuple[CheckedPackage, Article]:
        """The article `system/name` and its package; AssayError (usage) when there is none."""
        checked, found = self.find_report(name)
        if not isinstance(found, Article):
            raise fail("unknown-report", f"`{name}` is not an article", status=USAGE)
        return checked, found

    def is_of_runs(self, name: str) -> bool:
        """Whether `system/name` is a report of runs, not a history; AssayError (usage) when it is neither."""
        return isinstance(self.find_report(name)[1], (Report, Article))

    def find_report(self, name: str) -> tuple[CheckedPackage, Report | History | Article]:
        """The report or history `system/name` and its package; AssayError (usage) when there is none."""
        system, slash, _ = name.partition("/")
        systems = self.workspace.systems()
        within = (system,) if slash and system in systems else systems
        known = {f"{item}/{found.name}": (item, found) for item in within for found in self._all_shown(item)}
        if not slash or name not in known:
            raise fail(
                "unknown-report",
                f"there is no report `{name}`",
                hint=did_you_mean(name, known),
                notes=self.elsewhere(),
                status=USAGE,
            )
        return self.package(system), known[name][1]

    def elsewhere(self) -> tuple[str, ...]:
        """A note that the workspace is not the user's, for who looks in vain for what is in another; where it is."""
        if resolve_path(Path.cwd()).is_relative_to(resolve_path(self.workspace.root)):
            return ()
        return ("no folder here or above has specs/, so these are the specs that come with Assay",)

    def systems(self, system: str | None) -> tuple[str, ...]:
        """The systems of the workspace, or the one named (AssayError when there is none of that name)."""
        if system is None:
            return self.workspace.systems()
        self.package(system)
        return (system,)

    def _all_shown(self, system: str) -> tuple[Report | History | Article, ...]:
        package = self.package(system).package
        return (*package.reports, *package.histories, *package.articles)


def open_session(
    start: Path, cache: Path, notice: Notice = ignore_notice, ahead: BackgroundHasher | None = None
) -> Session:
    """A session in the workspace of a folder; `ahead` hashes files already."""
    hashes = Hashes(cache / MEMO, ahead)
    return Session(workspaces.find(start), Store(cache), notice=notice, hashes=hashes)
