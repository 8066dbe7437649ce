"""Parse the runs of a command line and of lists of runs.

A run is `DIR` or `NAME=DIR`, where DIR may be an address (`s3://...`) or an archive.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from assay.app.session.session import Session
from assay.remote.address import check_address, get_run_name, is_address, is_archive
from assay.runs.model import NamedRun
from assay.util.diagnostics import USAGE, AssayError, Diagnostic, Span, fail, raise_all, read_excerpt, suggest_nearest
from assay.util.escape import reduce_name
from assay.util.paths import resolve_path
from assay.util.progress import Notice, ignore

if TYPE_CHECKING:
    from assay.lang.model.package import Source

#: The hint for a pattern that the shell did not expand.
PATTERN_HINT = "patterns are not expanded; pass --run once for each run"


def create_named_run(name: str, place: str) -> NamedRun:
    """Return the run with an id at a directory, address or archive. Raises AssayError (usage) for a bad address."""
    if is_address(place):
        address = check_address(place)
        return NamedRun(name, Path(address), address)
    path = Path(place)
    return NamedRun(name, path, place if is_archive(place) and not path.is_dir() else "")


def fetch_runs(
    session: Session, runs: Sequence[NamedRun], sources: Iterable[Source], on_fetch: Notice = ignore
) -> tuple[NamedRun, ...]:
    """Return the runs with readable directories: remote ones and archives are mirrored into the cache.

    Only files that the sources can read are fetched, without logs that workers read. `on_fetch` is called before a
    fetch, with its size.

    Raises AssayError with the problems of every run; usage if a place does not exist.
    """
    check_run_places(runs)
    if all(run.is_here for run in runs):
        return tuple(runs)
    from assay.remote.mirror import mirror_run, select_none
    from assay.remote.required_files import collect_required_files, select_deferred_logs

    all_sources = tuple(sources)
    file_patterns = collect_required_files(all_sources)
    select_deferred = partial(select_deferred_logs, all_sources)
    mirrors_by_address: dict[str, Path] = {}
    problems: list[AssayError] = []
    # All commands lock in the same order, which prevents deadlocks.
    for run in sorted((run for run in runs if not run.is_here), key=lambda run: run.address):
        try:
            if run.address not in mirrors_by_address:
                mirrors_by_address[run.address] = mirror_run(
                    session.store,
                    run.address,
                    run.id,
                    file_patterns,
                    session.mirror_locks,
                    session.progress,
                    session.notice,
                    on_fetch,
                    select_deferred if session.filler and session.filler.reads_objects else select_none,
                )
                session.mirrors[mirrors_by_address[run.address]] = run.address
        except AssayError as error:
            problems.append(error)
    if problems:
        raise AssayError(tuple(item for error in problems for item in error.diagnostics), problems[0].status)
    return tuple(run if run.is_here else replace(run, directory=mirrors_by_address[run.address]) for run in runs)


def check_run_places(runs: Sequence[NamedRun]) -> None:
    """Raise AssayError (usage) with each local run whose place is not a directory or archive."""
    raise_all((problem for run in runs for problem in _check_run_place(run)), USAGE)


def _check_run_place(run: NamedRun) -> Iterator[Diagnostic]:
    """Yield the problem of a local run whose place is not a directory or archive."""
    from assay.ingest.discovery import RUN_HINT  # slow to import, and not needed for a cached build

    path = Path(run.place)
    if is_address(run.place) or path.is_dir() or (run.address and path.is_file()):
        return
    if path.exists():
        yield Diagnostic("no-run", f"the run is not a directory or archive: {run.place}", hint=RUN_HINT)
        return
    siblings = path.parent.iterdir() if os.access(path.parent, os.R_OK) and path.parent.is_dir() else ()
    suggestion = suggest_nearest(path.name, (item.name for item in siblings if item.is_dir() or is_archive(item.name)))
    hint = PATTERN_HINT if set("*?[") & set(run.place) else suggestion or RUN_HINT
    kind = "archive of the run" if run.address else "run directory"
    yield Diagnostic("no-run", f"the {kind} does not exist: {run.place}", hint=hint)


def parse_runs(texts: Sequence[str], calibration: Sequence[str] = ()) -> tuple[NamedRun, ...]:
    """Parse the runs of a command line, in order, with the runs of each version together; calibration runs are last.

    Runs to which the user gives the same name are repeats of one version: `NAME-1`, `NAME-2` and so on. A run without a
    name is named after its directory as typed; clashing names are extended by the names of parent folders.

    Raises AssayError (usage) if names still clash, or if a run is named twice.
    """
    named_places = [_split_name(text) for text in (*texts, *calibration)]
    given_names, places = [name for name, _ in named_places], [place for _, place in named_places]
    _refuse_duplicates([place for name, place in named_places if not name])
    _check_calibration(named_places[: len(texts)], named_places[len(texts) :])
    repeated_names = {name for name, count in Counter(given_names).items() if name and count > 1}
    for version in sorted(repeated_names):
        _refuse_duplicates([place for name, place in named_places if name == version])
    names = _extend_names([*_number_repeats(given_names)], places, repeated_names)
    _refuse_alike(names)
    runs = [
        replace(
            create_named_run(name, place),
            version=given_name if given_name in repeated_names else "",
            is_calibration=index >= len(texts),
            is_named=bool(given_name),
        )
        for index, (name, given_name, place) in enumerate(zip(names, given_names, places, strict=True))
    ]
    first_places = {run.version: index for index, run in reversed([*enumerate(runs)])}
    order = [first_places[run.version] if run.version else index for index, run in enumerate(runs)]
    return tuple(run for _, run in sorted(zip(order, runs, strict=True), key=lambda pair: pair[0]))


def _refuse_alike(names: Sequence[str]) -> None:
    """Raise AssayError (usage) if two runs have different names that look the same."""
    first_names: dict[str, str] = {}
    for name in names:
        first = first_names.setdefault(reduce_name(name), name)
        if first != name:
            raise fail("run-name", f"two runs have names that look the same: `{reduce_name(name)}`",
                       expected="names that differ in letters or digits", found=f"{first!r} and {name!r}",
                       hint="choose another NAME in --run NAME=DIR", status=USAGE)  # fmt: skip


def _number_repeats(names: Sequence[str]) -> Iterator[str]:
    """Yield the names, with numbers behind those that occur several times; empty ones stay empty."""
    for index, name in enumerate(names):
        yield f"{name}-{names[: index + 1].count(name)}" if name and names.count(name) > 1 else name


def _check_calibration(runs: Sequence[tuple[str, str]], calibration: Sequence[tuple[str, str]]) -> None:
    """Raise AssayError (usage) if a calibration run has the name or the directory of another run."""
    shared_names = sorted({name for name, _ in runs} & {name for name, _ in calibration} - {""})
    if shared_names:
        message = f"a run and a calibration run are named `{shared_names[0]}`"
        raise fail("run-name", message, status=USAGE,
                   hint="repeats of a compared version count as they are; pass --calibrate DIR for others")  # fmt: skip
    if calibration:
        distinct_places = {_get_identity(place): place for _, place in runs}.values()
        _refuse_duplicates([*distinct_places, *(place for _, place in calibration)])


def _extend_names(user_names: Sequence[str], places: Sequence[str], versions: Collection[str]) -> list[str]:
    """Return unique names of runs: those of the user, else the names of directories, extended where they clash.

    Raises AssayError (usage) if names still clash with each other or with those of versions.
    """
    depths = [1] * len(places)
    for _ in range(8):
        names = [
            name or _join_tail(place, depth) for name, place, depth in zip(user_names, places, depths, strict=True)
        ]
        clashing_names = {name for name, count in Counter([*names, *versions]).items() if count > 1}
        if not clashing_names:
            return names
        depths = [
            depth + (name in clashing_names and not user_name)
            for name, depth, user_name in zip(names, depths, user_names, strict=True)
        ]
    name = sorted(clashing_names)[0]
    _refuse_duplicates([place for item, place in zip(names, places, strict=True) if item == name])
    numbered = next((item for item in versions if name.startswith(f"{item}-")), "")
    hint = f"repeats of `{numbered}` are numbered; choose another name" if numbered else "pass --run NAME=DIR"
    raise fail("run-name", f"two runs are named `{name}`", status=USAGE, hint=hint)


def _refuse_duplicates(places: Sequence[str]) -> None:
    """Raise AssayError (usage) if two places are the same directory."""
    place_of_run: dict[str, str] = {}
    for place in places:
        former_place = place_of_run.get(_get_identity(place))
        if former_place is not None:
            is_link = not is_address(place) and _get_named_path(place) != _get_named_path(former_place)
            notes = (f"{place} is a link to the same directory",) if is_link else ()
            raise fail("run-name", f"duplicate run: {former_place}", notes=notes, status=USAGE)
        place_of_run[_get_identity(place)] = place


def _split_name(text: str) -> tuple[str, str]:
    """Split a run into its name, which may be empty, and its place."""
    name, equals, place = text.partition("=")
    if not text or (equals and not is_address(text) and not Path(text).exists()):
        if not reduce_name(name) or not place:
            raise fail("run-name", f"invalid run `{text}`", expected="NAME=DIR or DIR", found=text, status=USAGE)
        return name, place
    return "", text


def _join_tail(place: str, depth: int) -> str:
    """Join the last `depth` parts of a place to a name; the suffix of an archive is left out."""
    parts = _split_path(check_address(place).partition("://")[2] if is_address(place) else _get_named_path(place))
    *parents, last = parts or [""]
    archive = is_archive(place) and (is_address(place) or not Path(place).is_dir())
    return "-".join([*parents, get_run_name(last) if archive else last][-depth:]) or "run"


def _get_named_path(place: str) -> str:
    """Return an absolute path as the user named it.

    A link keeps its own name; a path that ends in `.` or `..` is resolved.
    """
    path = Path(place)
    real = resolve_path(path) if path.name in ("", "..") else resolve_path(path.absolute().parent) / path.name
    return real.as_posix()


def _split_path(text: str) -> list[str]:
    return [part for part in text.split("/") if part]


def _get_identity(place: str) -> str:
    """Return the identity of a run: paths that lead to the same directory are one run."""
    return check_address(place) if is_address(place) else str(resolve_path(Path(place)))


def read_run_lists(files: Sequence[Path]) -> tuple[str, ...]:
    """Return the runs of some lists, as on a command line; directories are relative to the file that names them.

    Empty lines, and those that begin with `#`, are left out.

    Raises AssayError (usage) with every line that names no run.
    """
    runs: list[str] = []
    problems: list[Diagnostic] = []
    for file in files:
        for number, line in enumerate(_read_text(file).splitlines(), start=1):
            run = line.strip()
            if not run or run.startswith("#"):
                continue
            name, equals, place = (part.strip() for part in run.partition("="))
            if not equals or is_address(run):
                name, place = "", run
            if not place or (equals and not name and not is_address(run)):
                problems.append(
                    _describe_problem("run-name", "invalid run", (file, number, line), expected="NAME=DIR or DIR")
                )
                continue
            located_place = place if is_address(place) else str(file.parent / place)
            if not is_address(place) and not Path(located_place).exists():
                message = f"the run directory does not exist: {located_place}"
                hint = f"paths are relative to {file.parent}"
                problems.append(_describe_problem("no-run", message, (file, number, line), hint=hint))
            runs.append(f"{name}={located_place}" if name else located_place)
    if problems:
        raise AssayError(tuple(problems), USAGE)
    return tuple(runs)


def _read_text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        cause = getattr(error, "strerror", "") or str(error)
        raise fail("run-list", f"the list of runs cannot be read: {file}", found=cause, status=USAGE,
                   expected="a text file with NAME=DIR in each line") from None  # fmt: skip


def _describe_problem(
    code: str, message: str, place: tuple[Path, int, str], *, expected: str = "", hint: str = ""
) -> Diagnostic:
    """Return the problem of a line; `place` has its file, its number and its text."""
    file, number, line = place
    column = len(line) - len(line.lstrip()) + 1
    length = len(line.strip())
    excerpt = read_excerpt(file, number, column, length)
    return Diagnostic(code, message, Span(str(file), number, column, length), excerpt, expected=expected, hint=hint)
