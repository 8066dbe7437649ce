"""`assay build`: build a report of any kind, or reuse a finished build.

A build is made of the files of the runs, specs, queries, templates and of Assay itself, of the tools' versions and of
what the user said.  A file is as it was when its size, times of change and inode are; none is read to find out.  One
build is kept of all that the same user's words come to.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
import shutil
import stat
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import assay
from assay.app.options import Built, Options, reports
from assay.app.outputs import SOURCES, refuse_sources, replacing
from assay.app.runs import NamedRun, named_runs
from assay.app.session import Session
from assay.app.stages import stage
from assay.engine.pruning import used
from assay.lang import sources as source_index
from assay.lang.model.article import Article
from assay.lang.workspace import shipped
from assay.provenance.record import form_tools, versions
from assay.report.charts.converter import start
from assay.util import atomic
from assay.util.checksums import SETTLED, is_sealed, seal
from assay.util.diagnostics import USAGE, AssayError, fail
from assay.util.paths import resolve_path

KIND = "builds"
DRAWINGS = "drawings"
FILES, FACTS = "report", "facts.json"
Mark = tuple[str, int, int, int, int]


class _GoneError(Exception):
    """A kept build cannot be copied, or was replaced meanwhile."""


@dataclass(frozen=True, slots=True)
class _BuildKey:
    """A build that is asked for, and where it would be kept."""

    session: Session
    name: str
    runs: tuple[NamedRun, ...]
    options: Options

    @property
    def place(self) -> Path:
        """Where it is kept: by all that the user said, and where that was."""
        places = [[run.id, run.place, str(resolve_path(run.directory))] for run in self.runs]
        said = [str(self.session.workspace.root), self.name, places, dataclasses.asdict(self.options)]
        key = hashlib.sha256(json.dumps(said).encode()).hexdigest()
        return self.session.store.place(KIND, key)

    @property
    def sources(self) -> str:
        """The hash of the specs' sources, unless a file of them has changed, or it is not known: then empty."""
        system = self.name.partition("/")[0]
        return source_index.read_unchanged_sources(self.session.store.folder, self.session.workspace.root, system) or ""

    def made_of(self) -> str:
        """One hash for the versions of tools and the marks of files; empty when these cannot be told."""
        now = time.time_ns()
        roots = dict.fromkeys((self.session.workspace.root, shipped().root))
        parts = [path for root in roots for part in SOURCES if (path := root / part).exists()]
        places = [Path(assay.__file__).parent, *parts, *(run.directory for run in self.runs)]
        try:
            marks = [mark for place in places for mark in _marks(place)]
        except OSError:
            return ""
        if any(now - max(changed) < SETTLED for _, _, *changed, _ in marks):
            return ""
        tools = {form: form_tools(form) for form in self.options.forms}
        return hashlib.sha256(json.dumps([versions(), tools, marks]).encode()).hexdigest()


def _marks(place: Path) -> Iterator[Mark]:
    """Path, size, times of change and inode of every file of a folder, or of a file.

    Raises OSError, also for a link to a folder, which might lead back, and for what is neither file nor folder.
    """
    found = place.stat()
    if stat.S_ISREG(found.st_mode):
        yield str(place), found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino
        return
    with os.scandir(place) as entries:
        for entry in sorted(entries, key=lambda item: item.name):
            if entry.is_symlink() and entry.is_dir():
                raise OSError(f"a link to a folder: {entry.path}")
            if entry.name != "__pycache__":
                yield from _marks(Path(entry.path))


def build_report(session: Session, name: str, runs: Sequence[str], out: Path, options: Options) -> Built:
    """Build the report `system/name` over runs (`NAME=DIR`), as `shown.build_shown` does, or give a kept one again.

    Raises AssayError.
    """
    asked = _BuildKey(session, name, named_runs(runs), options)
    refuse_sources(session, out, asked.runs)
    made_of = asked.made_of() if all(run.is_here for run in asked.runs) else ""
    return (_restore(asked, made_of, out) if made_of else None) or _build_and_store(asked, made_of, runs, out)


def _restore(asked: _BuildKey, made_of: str, out: Path) -> Built | None:
    """The kept build in its place; None when there is none."""
    place, sources = asked.place, asked.sources
    facts = _facts(place)
    if not sources or (facts.get("made_of"), facts.get("sources")) != (made_of, sources) or not is_sealed(place):
        return None
    with contextlib.suppress(_GoneError), stage("kept", report=asked.name):
        with replacing(out, asked.session.waits_for(out)) as fresh:
            _copy(place, fresh)
            if _facts(place) != facts:  # another took its place meanwhile
                raise _GoneError
        used(place)
        return Built(out, reports(out, asked.options.forms), tuple(facts["warnings"]))
    return None


def _facts(place: Path) -> dict[str, Any]:
    """What is kept beside the files; nothing when there is no such build."""
    try:
        found = json.loads((place / FACTS).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _copy(place: Path, fresh: Path) -> None:
    try:
        shutil.copytree(place / FILES, fresh, dirs_exist_ok=True, copy_function=shutil.copyfile)
    except OSError:  # what it is, making the build will tell
        raise _GoneError from None


def _start_converters(session: Session) -> None:
    """Let chart converters get ready at once where no drawing was ever kept: then there are charts to draw."""
    if not session.store.place(DRAWINGS, "").exists():
        with contextlib.suppress(AssayError, OSError):  # what is wrong is told by those who need it
            start(session.templates() / "fonts")


def _build_and_store(asked: _BuildKey, made_of: str, runs: Sequence[str], out: Path) -> Built:
    """The build, made and then kept; a cache that cannot be written is no matter."""
    _start_converters(asked.session)
    # MERGED

    kept: list[Path] = []

    def keep(fresh: Path) -> None:
        with contextlib.suppress(OSError, AssayError):
            room = asked.session.store.room()
            shutil.copytree(fresh, room / FILES, copy_function=shutil.copyfile)
            kept.append(room)

    session = dataclasses.replace(asked.session, finished=keep) if made_of else asked.session
    built = build_shown(session, asked.name, runs, (), out, asked.options)
    package = session.packages.get(asked.name.partition("/")[0])
    if kept and package and asked.sources == package.sources and asked.made_of() == made_of:
        facts = {"made_of": made_of, "sources": package.sources, "warnings": built.warnings}
        with contextlib.suppress(OSError):
            (kept[0] / FACTS).write_text(json.dumps(facts), encoding="utf-8")
            seal(kept[0], asked.place.name)
            atomic.install(session.store.folder, kept[0], asked.place)
    return built


def build_shown(
    session: Session, name: str, runs: Sequence[str], publications: Sequence[Path], out: Path, options: Options
) -> Built:
    """Build the report `system/name` over runs (`NAME=DIR`), or the history of that name over publications.

    Raises AssayError, also (usage) when the one is given what the other is made of.
    """
    named = named_runs(runs)
    refuse_sources(session, out, named)
    wanted, given = ("runs", "publications") if session.is_of_runs(name) else ("publications", "runs")
    if {"runs": runs, "publications": publications}[given]:
        raise fail(
            "report-inputs",
            f"`{name}` is built from {wanted}, not from {given}",
            hint=f"--{wanted[:-1]} in the place of --{given[:-1]}",
            status=USAGE,
        )
    checked, report = session.find_report(name)
    if wanted == "runs" and all(run.is_here for run in named):
        package = checked.package
        session.hashes.begin([(run.id, run.directory) for run in named], package.sources, package.events)
    # Each loads what only reports of its kind are made with.
    if wanted == "runs" and isinstance(report, Article):
        from assay.app.article import build_article

        return build_article(session, name, named, out, options)
    if wanted == "runs":
        from assay.app.comparison import build

        return build(session, name, named, out, options)
    from assay.app.history import build_history

    return build_history(session, name, publications, out, options)
