"""Read and write the files of a results folder (`assay.registry.model` describes them)."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from assay.registry.folder_lock import HINT, lock_folder, share_folder, write_files
from assay.registry.model import (
    FIGURES,
    RUNS,
    SHIFTS,
    RecordedResults,
    RegisteredRun,
    Registration,
    RegistrationFile,
    ResultsFile,
    ShiftNote,
    ShiftNoteFile,
    compute_id,
    dump_content,
    get_reader,
    quote_name,
)
from assay.remote.address import is_address
from assay.util.diagnostics import USAGE, AssayError, Diagnostic, Span, fail, raise_all, read_excerpt, suggest_nearest
from assay.util.json_text import parse_json
from assay.util.os_errors import build_write_error
from assay.util.paths import resolve_path

RESULTS, PROVENANCE = "results.json", "provenance.json"
_AGAIN = "restore the file, or remove it and its .parquet; `assay results add BUILD` writes them again"
T = TypeVar("T")
_COPIED = ("size", "average", "averages", "median", "stddev", "min", "max", "centiles")
_COPIED_OF_GROUPS = ("name", "size", "average", "median", "stddev", "min", "max", "quantiles")


def list_runs(folder: Path) -> tuple[RegisteredRun, ...]:
    """Return the registered runs of a results folder, by name; none if there is no such folder.

    Raises AssayError with the place of each file that is no registered run.
    """
    with share_folder(folder):
        files = sorted((folder / RUNS).glob("*.json")) if (folder / RUNS).is_dir() else []
        return tuple(_read_all(files, lambda path: _read_run(path, folder)))


def read_results(folder: Path) -> tuple[RecordedResults, ...]:
    """Return the recorded results of a folder, by the name of the run; none if there is no such folder.

    Raises AssayError with the place of each file that was changed or damaged.
    """
    with share_folder(folder):
        files = sorted((folder / FIGURES).glob("*/*.json")) if (folder / FIGURES).is_dir() else []
        return tuple(_read_all(files, _read_results))


def read_notes(folder: Path) -> tuple[ShiftNote, ...]:
    """Return the notes on level shifts of a folder, oldest first; none if there is no such folder.

    Raises AssayError with the place of each file that was changed or damaged.
    """
    with share_folder(folder):
        files = sorted((folder / SHIFTS).glob("*/*.json")) if (folder / SHIFTS).is_dir() else []
        notes = tuple(_read_all(files, _read_note))
    return tuple(sorted(notes, key=lambda item: (item.content.time, item.id)))


@dataclass(frozen=True, slots=True)
class Registry:
    """What a results folder holds: recorded results, registered runs, and notes on level shifts."""

    recorded: Sequence[RecordedResults] = ()
    runs: Sequence[RegisteredRun] = ()
    notes: Sequence[ShiftNote] = ()


def read_registry(folder: Path) -> Registry:
    """Return what a results folder holds. Raises AssayError with the place of each damaged file."""
    return Registry(read_results(folder), list_runs(folder), read_notes(folder))


def require_recorded(folder: Path) -> Registry:
    """Return what a results folder holds. Raises AssayError, also (usage) without recorded results."""
    registry = read_registry(folder)
    if not registry.recorded:
        hint = "`assay build` with --results records some; `assay results add BUILD_FOLDER` those of a build"
        raise fail("no-results", f"no results are recorded in {folder}", hint=hint, status=USAGE)
    return registry


def append_note(folder: Path, content: ShiftNoteFile) -> Path:
    """Write a note on a level shift, and return its file. Raises AssayError if the folder cannot be written."""
    data = asdict(content)
    path = folder / SHIFTS / quote_name(content.metric) / f"{compute_id(data)}.json"
    with lock_folder(folder):
        write_files(folder, {path: dump_content(data).encode()})
    return path


def _read_all(files: Sequence[Path], read: Callable[[Path], T]) -> Iterator[T]:
    """Yield what files hold. Raises AssayError with the problems of all files."""
    problems: list[Diagnostic] = []
    for path in files:
        try:
            yield read(path)
        except AssayError as error:
            problems += error.diagnostics
    raise_all(problems)


def _read_run(path: Path, folder: Path) -> RegisteredRun:
    content: RegistrationFile = _decode(RegistrationFile, path, *_load(path))
    if path.stem != quote_name(content.name):
        raise fail(
            "run-file",
            f"the name of the file is not that of its run: {path}",
            span=_locate(path, "name"),
            expected=f"{quote_name(content.name)}.json",
            found=path.name,
            hint="rename the file, or remove it if the run is registered twice",
        )
    places = tuple(place if _is_portable(place) else os.path.relpath(folder / place) for place in content.places)
    return RegisteredRun(path, content.name, places, content.tags, content.commit, content.day)


def _read_results(path: Path) -> RecordedResults:
    content: ResultsFile = _read_immutable(ResultsFile, path, "recorded results were", _AGAIN)
    return RecordedResults(path, path.stem, content)


def _read_note(path: Path) -> ShiftNote:
    content: ShiftNoteFile = _read_immutable(ShiftNoteFile, path, "note was", "restore the file, or remove it")
    return ShiftNote(path, path.stem, content)


def _read_immutable(kind: Any, path: Path, name: str, hint: str) -> Any:
    """Return the content of a file, whose name has its hash; `name` is that of the content, with its verb."""
    text, data = _load(path)
    content = _decode(kind, path, text, data)
    identity = compute_id(data)
    if identity != path.stem:
        raise fail(
            "damaged-result",
            f"the {name} changed after {'they were' if name.endswith('were') else 'it was'} written: {path}",
            expected=f"content with the hash {path.stem}",
            found=identity,
            hint=hint,
        )
    return content


def _load(path: Path) -> tuple[str, dict[str, Any]]:
    try:
        text = path.read_text(encoding="utf-8")
        data = parse_json(text)
    except json.JSONDecodeError as error:
        raise fail(
            "damaged-result",
            f"the file is not valid JSON: {error.msg}",
            span=Span(str(path), error.lineno, error.colno),
            excerpt=read_excerpt(path, error.lineno, error.colno),
        ) from None
    except (OSError, ValueError, RecursionError) as error:
        cause = getattr(error, "strerror", "") or "not UTF-8, or numbers or nesting beyond limits"
        raise fail("damaged-result", f"the file cannot be read: {path}", found=cause) from None
    if not isinstance(data, dict):
        raise fail("damaged-result", f"the file has no JSON object: {path}")
    return text, data


def _decode(kind: Any, path: Path, text: str, data: Mapping[str, Any]) -> Any:
    from pydantic import ValidationError  # slow to import

    if isinstance(number := data.get("format"), int) and number > 1:
        raise fail("newer-format", f"a newer version of Assay wrote this file: {path}", span=_locate(path, "format"),
                   expected="format 1", found=f"format {number}", hint="upgrade Assay")  # fmt: skip
    try:
        return get_reader(kind).validate_json(text, strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        span = _locate(path, str(first["loc"][0]) if first["loc"] else "")
        raise fail("damaged-result", f"invalid member `{place}`: {first['msg']}", span=span,
                   excerpt=read_excerpt(path, span.line, span.column) if span.line else "") from None  # fmt: skip


def _locate(path: Path, member: str) -> Span:
    """Return the place of a member of the object of a file; only the file if the line is not known."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if match := re.match(rf"\s*(?=\"{re.escape(member)}\"\s*:)", line):
            return Span(str(path), number, match.end() + 1)
    return Span(str(path))


def add_run(folder: Path, registration: Registration) -> RegisteredRun:
    """Register a run, whose places are relative to the current folder, or add what a registered run lacks.

    That are tags, a commit, a day, and all places of a run that has none. Raises AssayError (usage) if a run of this
    name has other places, or another commit or day.
    """
    with lock_folder(folder):
        return _add_run(folder, registration)


def _add_run(folder: Path, registration: Registration) -> RegisteredRun:
    name, tags, commit, day = registration.name, registration.tags, registration.commit, registration.day
    path = folder / RUNS / f"{quote_name(name)}.json"
    content: dict[str, Any] = {
        "format": 1,
        "name": name,
        "places": [_make_portable(place, folder) for place in registration.places],
        "tags": list(tags),
        "commit": commit,
        "day": day,
    }
    known_run = _read_run(path, folder) if path.exists() else None
    if known_run:
        registered = {
            "places": [_make_portable(place, folder) for place in known_run.places],
            "commit": known_run.commit,
            "day": known_run.day,
        }
        _check_same_run(path, name, registered, content)
        content |= {
            "places": registered["places"] or content["places"],
            "tags": [*known_run.tags, *tags],
            "commit": known_run.commit or commit,
            "day": known_run.day or day,
        }
    content["tags"] = sorted(set(content["tags"]))
    additions = (set(content["tags"]), content["commit"], content["day"], bool(content["places"]))
    if known_run is None or additions != (
        set(known_run.tags),
        known_run.commit,
        known_run.day,
        bool(known_run.places),
    ):
        text = dump_content({key: value for key, value in content.items() if value or key == "places"})
        write_files(folder, {path: text.encode()})
    return _read_run(path, folder)


def _check_same_run(path: Path, name: str, registered: Mapping[str, Any], content: Mapping[str, Any]) -> None:
    """Raise AssayError (usage) if a run to add differs from the registered one. What either lacks fits any."""
    for member, value in registered.items():
        if content[member] != value and content[member] and value:
            values = (value, content[member])
            expected, actual = (", ".join(item) if isinstance(item, list) else item for item in values)
            raise fail(
                "same-run",
                f"the run `{name}` is registered already, with other `{member}`",
                span=_locate(path, member),
                expected=expected,
                found=actual,
                hint="choose another --name, edit the file, or remove the run with `assay runs remove`",
                status=USAGE,
            )


def _is_portable(place: str) -> bool:
    """Return whether a place is the same in any folder."""
    return is_address(place) or Path(place).is_absolute()


def _make_portable(place: str, folder: Path) -> str:
    """Return a place relative to the results folder; addresses and absolute paths stay."""
    if _is_portable(place):
        return place
    return Path(os.path.relpath(resolve_path(Path(place)), resolve_path(folder))).as_posix()


def remove_run(folder: Path, name: str) -> Path:
    """Remove a registered run and return its file; its results stay. Raises AssayError (usage) for an unknown name."""
    path = folder / RUNS / f"{quote_name(name)}.json"
    if path.is_file():
        with lock_folder(folder), suppress(FileNotFoundError):  # another process has removed it
            _remove_file(folder, path)
            return path
    names = [item.name for item in list_runs(folder)]
    raise fail("unknown-run", f"no run `{name}` is registered in {folder}", hint=suggest_nearest(name, names),
               status=USAGE)  # fmt: skip


def _remove_file(folder: Path, path: Path) -> None:
    """Remove a file. Raises FileNotFoundError, or AssayError if the folder cannot be written."""
    try:
        path.unlink()
    except FileNotFoundError:
        raise
    except OSError as error:
        raise build_write_error("output", "results folder", folder, error, HINT) from None


def append_results(folder: Path, build: Path) -> tuple[Path, ...]:
    """Record the results of a build, a file for each run, and return the new files; known results add none.

    Raises AssayError: for a folder that is no build of a report over runs, and for one of phases.
    """
    contents = {}
    for content in build_contents(build):
        target = folder / FIGURES / quote_name(content.get("version") or content["run"])
        contents[target / f"{compute_id(content)}.json"] = content
    if all(map(_is_recorded, contents)):
        return ()
    with lock_folder(folder):
        new_contents = {path: content for path, content in contents.items() if not _is_recorded(path)}
        write_files(folder, {file: data for item in new_contents.items() for file, data in _list_files(*item)})
    return tuple(new_contents)


def _is_recorded(path: Path) -> bool:
    return path.is_file() and path.with_suffix(".parquet").is_file()


def _list_files(path: Path, content: Mapping[str, Any]) -> Iterator[tuple[Path, bytes | Callable[[Path], None]]]:
    """Yield the files of recorded results with what writes them: the table, then the file that makes them known."""
    from assay.registry.tables import VARIABLE, build_rows, write_parquet

    recorded = [RecordedResults(path, path.stem, _decode(ResultsFile, path, json.dumps(content), content))]
    yield path.with_suffix(".parquet"), partial(write_parquet, list(build_rows(recorded)), excluded=VARIABLE)
    yield path, dump_content(content).encode()


def record_build(folder: Path, build: Path) -> tuple[Path, ...]:
    """Record the results of a finished build, as `append_results` does; none of histories, phases or rows."""
    results = _load_build(build, RESULTS)
    has_whole_runs = bool(results.get("metrics")) and not any("phase" in run for run in results.get("runs", ()))
    return append_results(folder, build) if has_whole_runs else ()


def read_build(build: Path, *, may_have_phases: bool = False) -> tuple[RecordedResults, ...]:
    """Return the results of a build as `append_results` records them, or those of the phases that it compares."""
    path = build / RESULTS
    return tuple(
        RecordedResults(path, compute_id(content), _decode(ResultsFile, path, json.dumps(content), content))
        for content in build_contents(build, may_have_phases=may_have_phases)
    )


def build_contents(build: Path, *, may_have_phases: bool = False) -> list[dict[str, Any]]:
    """Return the content of the file of each run of a build, or of each phase of a run.

    Raises AssayError for a build without results of metrics, and for one of phases unless it `may_have_phases`.
    """
    results, provenance = _load_build(build, RESULTS), _load_build(build, PROVENANCE)
    try:
        runs, content = results["runs"], provenance["content"]
        if not results["metrics"]:
            raise fail(
                "no-metrics",
                f"the build has no results of metrics: {build}",
                found=f"a build of the report `{results['report']}`",
                hint="its rows are the Parquet files in rows/",
            )
        if any("phase" in run for run in runs) and not may_have_phases:
            raise fail(
                "build-of-phases",
                f"the build compares phases of runs, not whole runs: {build}",
                hint="build the report without --phase to record its results",
            )
        inputs = {run["id"]: run for run in content["runs"]}
        version = content["versions"]["assay"]
        return [_build_content(results, run, inputs[run.get("run", run["id"])], version) for run in runs]
    except (KeyError, TypeError, AttributeError):
        raise _build_error(build, "another form of results.json or provenance.json") from None


def _load_build(build: Path, name: str) -> dict[str, Any]:
    if not (build / name).is_file():
        raise _build_error(build, f"no {name}")
    return _load(build / name)[1]


def _build_error(build: Path, obstacle: str) -> AssayError:
    return fail("no-build", f"the folder is not a build of a report over runs: {build}", found=obstacle,
                hint="pass the folder that `assay build -o` wrote", status=USAGE)  # fmt: skip


def _build_content(
    results: Mapping[str, Any], run: Mapping[str, Any], inputs: Mapping[str, Any], version: str
) -> dict[str, Any]:
    groups = results.get("by") or {}
    return {
        "format": 1,
        "run": run["id"],
        **({"version": run["version"]} if "version" in run else {}),
        **{key: run[key] for key in ("day", "start") if run.get(key)},
        "report": results["report"],
        "summary": results.get("summary", ""),
        "filters": list(results.get("filters", ())),
        "assay": version,
        "data": _hash_inputs(inputs),
        **({"hosts": hosts} if (hosts := results["quality"].get(run.get("run", run["id"]), {}).get("hosts")) else {}),
        **({"column": groups["column"]} if groups else {}),
        "metrics": {
            name: _build_figures(metric, run["id"], groups.get("metrics", {}).get(name, {}))
            for name, metric in results["metrics"].items()
        },
    }


def _build_figures(metric: Mapping[str, Any], run: str, groups: Mapping[str, Any]) -> dict[str, Any]:
    figures = metric["runs"][run]
    rows = groups.get(run, {}).get("groups", ())
    return {
        "name": metric["name"],
        "unit": metric["unit"],
        "definition": metric["definition"],
        **({"formula": metric["formula"]} if "formula" in metric else {}),
        **{key: figures[key] for key in _COPIED if key in figures},
        **({"groups": [{key: row[key] for key in _COPIED_OF_GROUPS if key in row} for row in rows]} if rows else {}),
    }


def _hash_inputs(inputs: Mapping[str, Any]) -> str:
    """Return the hash of the raw files of a run and of the documents with its constants, whatever their place."""
    files = [[item["file"], item["sha256"]] for item in (*inputs["files"], *inputs["documents"])]
    return hashlib.sha256(json.dumps(sorted(files)).encode()).hexdigest()
