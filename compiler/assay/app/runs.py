"""Runs as the user names them: `DIR` or `NAME=DIR`; a run may also be an address (`s3://...`) or an archive."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from assay.app.session import Session
from assay.lang.model.package import Source
from assay.remote.address import checked_address, is_address, is_archive, name_of
from assay.util.diagnostics import USAGE, AssayError, Diagnostic, fail, raise_all, suggest_nearest
from assay.util.paths import resolve_path
from assay.util.progress import Notice, ignore_notice

#: what is said of a pattern, which the shell has not replaced by names
ONE_EACH = "a pattern in quotes stands for no run; each is named by a --run of its own"


@dataclass(frozen=True, slots=True)
class NamedRun:
    """A run's directory, and the id that results have for it.

    A run that is no directory here has an address, which is also its directory until it is `here`: an address of
    object storage, or the path of an archive.
    """

    id: str
    directory: Path
    address: str = ""

    @property
    def place(self) -> str:
        """Where it is, as the user named it."""
        return self.address or str(self.directory)

    @property
    def is_here(self) -> bool:
        """Whether its directory can be read."""
        return not self.address or self.directory != Path(self.address)


def run_at(name: str, place: str) -> NamedRun:
    """The run of an id at a place: a directory, an address or an archive.  AssayError (usage) for a bad address."""
    if is_address(place):
        address = checked_address(place)
        return NamedRun(name, Path(address), address)
    path = Path(place)
    return NamedRun(name, path, place if is_archive(place) and not path.is_dir() else "")


def here(
    session: Session, runs: Sequence[NamedRun], sources: Iterable[Source], fetching: Notice = ignore_notice
) -> tuple[NamedRun, ...]:
    """The runs, each with a directory that can be read: those that are elsewhere mirrored into the cache, as far as
    the sources can read them; `fetching` is told what is about to be fetched, and how much.

    AssayError with the problems of every run; usage where there is nothing at a place.
    """
    raise_all((problem for run in runs for problem in _misnamed(run)), USAGE)
    if all(run.is_here for run in runs):
        return tuple(runs)
    from assay.remote.mirror import mirrored
    from assay.remote.required_files import patterns

    wanted = patterns(sources)
    found: dict[str, Path] = {}
    problems: list[AssayError] = []
    # In one order everywhere, so that two commands never wait for each other.
    for run in sorted((run for run in runs if not run.is_here), key=lambda run: run.address):
        try:
            if run.address not in found:
                found[run.address] = mirrored(
                    session.store, run.address, run.id, wanted, session.held, session.progress, session.notice, fetching
                )
                session.mirrors[found[run.address]] = run.address
        except AssayError as error:
            problems.append(error)
    if problems:
        raise AssayError(tuple(item for error in problems for item in error.diagnostics), problems[0].status)
    return tuple(run if run.is_here else replace(run, directory=found[run.address]) for run in runs)


def _misnamed(run: NamedRun) -> Iterator[Diagnostic]:
    """What is wrong with the place of a run here, before anybody looks for files of a source in it."""
    from assay.ingest.discovery import TAKEN  # loads much, and a build that is given as it was needs none of it

    path = Path(run.place)
    if is_address(run.place) or path.is_dir() or (run.address and path.is_file()):
        return
    if path.exists():
        yield Diagnostic("no-run", f"the run is no directory: {run.place}", hint=TAKEN)
        return
    beside = path.parent.iterdir() if os.access(path.parent, os.R_OK) and path.parent.is_dir() else ()
    near = suggest_nearest(path.name, (item.name for item in beside if item.is_dir() or is_archive(item.name)))
    hint = ONE_EACH if set("*?[") & set(run.place) else near or TAKEN
    what = "archive of the run" if run.address else "run directory"
    yield Diagnostic("no-run", f"the {what} does not exist: {run.place}", hint=hint)


def named_runs(texts: Sequence[str]) -> tuple[NamedRun, ...]:
    """The runs of a command line, in order.

    Without a name the directory's is taken, as the user wrote it; where two are the same, with the names of the folders
    above until they differ.  AssayError (usage) when names clash, and when one run is named twice.
    """
    given = [_parted(text) for text in texts]
    _once([place for name, place in given if not name])
    depths = [1] * len(given)
    for _ in range(8):
        names = [name or _tail(place, depth) for (name, place), depth in zip(given, depths, strict=True)]
        clashing = {name for name, times in Counter(names).items() if times > 1}
        if not clashing:
            break
        depths = [
            depth + (name in clashing and not given_name)
            for name, depth, (given_name, _) in zip(names, depths, given, strict=True)
        ]
    else:
        _once([place for name, (_, place) in zip(names, given, strict=True) if name == sorted(clashing)[0]])
        said = f"two runs are called `{sorted(clashing)[0]}`"
        raise fail("run-name", said, status=USAGE, hint="name them: --run NAME=DIR")
    return tuple(run_at(name, place) for name, (_, place) in zip(names, given, strict=True))


def _once(places: Sequence[str]) -> None:
    """AssayError (usage) when two places are one directory."""
    known: dict[str, str] = {}
    for place in places:
        other = known.get(_where(place))
        if other is not None:
            linked = not is_address(place) and _named(place) != _named(other)
            notes = (f"{place} leads to the same directory",) if linked else ()
            raise fail("run-name", f"the same run is named twice: {other}", notes=notes, status=USAGE)
        known[_where(place)] = place


def _parted(text: str) -> tuple[str, str]:
    """The name, or nothing, and the place."""
    name, equals, place = text.partition("=")
    if not text or (equals and not is_address(text) and not Path(text).exists()):
        if not name or not place:
            raise fail("run-name", f"`{text}` names no run", expected="NAME=DIR or DIR", found=text, status=USAGE)
        return name, place
    return "", text


def _tail(place: str, depth: int) -> str:
    """The last parts of a place as it is named, so many; of an archive without the end of its name."""
    parts = _parts(checked_address(place).partition("://")[2] if is_address(place) else _named(place))
    *above, last = parts or [""]
    archive = is_archive(place) and (is_address(place) or not Path(place).is_dir())
    return "-".join([*above, name_of(last) if archive else last][-depth:]) or "run"


def _named(place: str) -> str:
    """A path in full as the user named it: a link keeps its own name; what ends in `.` or `..` is where that leads."""
    path = Path(place)
    real = resolve_path(path) if path.name in ("", "..") else resolve_path(path.absolute().parent) / path.name
    return real.as_posix()


def _parts(text: str) -> list[str]:
    return [part for part in text.split("/") if part]


def _where(place: str) -> str:
    """What tells a run from others: two names that lead to one directory are one run."""
    return checked_address(place) if is_address(place) else str(resolve_path(Path(place)))
