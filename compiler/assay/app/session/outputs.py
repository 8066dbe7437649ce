"""Write output folders next to the target and move them into place when complete."""

from __future__ import annotations

import contextlib
import json
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from assay.lang import workspace
from assay.provenance.read import NAME as RECORD
from assay.provenance.read import read_forms
from assay.report.output_forms import FILES
from assay.util.diagnostics import USAGE, AssayError, fail
from assay.util.locks import acquire_lock, release
from assay.util.os_errors import (
    build_unnamed_disk_full_error,
    build_write_error,
    convert_os_error,
    get_error_path,
    has_room,
    is_disk_full_error,
    is_within,
)
from assay.util.paths import format_listing, resolve_path
from assay.util.progress import ignore
from assay.util.scratch import TEMPORARY_PREFIX, create_locked_folder, sweep

if TYPE_CHECKING:
    from assay.app.session.session import Session
    from assay.lang.checked_package import CheckedPackage
    from assay.runs.model import NamedRun


T = TypeVar("T")
ATTEMPTS, PAUSE = 100, 0.02  # to read a build that is being replaced, and the time between them in seconds
#: The file of a build with its specs: the normal form of the system's package, as JSON.
SPECS = "specs.json"


def write_specs(checked: CheckedPackage, folder: Path, cache: Path) -> None:
    """Store the package of a build in its folder, from the cache if it is there."""
    (folder / SPECS).write_text(workspace.get_normal_form_text(checked, cache), encoding="utf-8")


#: Marks a build as complete, and lists the files of the former build to remove.
COMPLETE = "complete.json"
#: The folders of an output folder that each build replaces.
REPLACED = ("charts", "report", "rows", "sql")


def refuse_sources(session: Session, out: Path, runs: Sequence[NamedRun] = (), former_file: str = RECORD) -> None:
    """Raise AssayError `output` (usage) if the output folder would mix with other files.

    It must not be within a run or within the definitions of the workspace, and no run may be within a folder that the
    build replaces. It must be empty, or have `former_file`, which each command of this kind writes.
    """
    target = resolve_path(out)
    hint = "choose another folder with -o"
    for run in runs:
        if run.is_here and target.is_relative_to(resolve_path(run.directory)):
            raise fail("output", f"the output folder is within the run {run.id}: {out}", hint=hint, status=USAGE)
    for run in runs:
        run_path = resolve_path(Path(run.place))
        if any(run_path.is_relative_to(target / name) for name in REPLACED):
            raise fail("output", f"the run {run.id} is within a folder that the build replaces: {run.place}",
                       hint=f"{hint}, or move the run", status=USAGE)  # fmt: skip
    for name in workspace.SOURCES:
        if target.is_relative_to(resolve_path(session.workspace.root / name)):
            raise fail("output", f"the output folder is within the workspace's {name}/: {out}", hint=hint, status=USAGE)

    if _has_foreign_files(out, former_file):
        raise fail("output", f"the output folder has files that no build wrote: {out}",
                   expected=f"a new or empty folder, or one with the {former_file} of a former build",
                   found=format_listing(out), hint=hint, status=USAGE)  # fmt: skip


def _has_foreign_files(out: Path, former_file: str) -> bool:
    """Return whether a folder has files but not that of a former build; False if it cannot be read."""
    try:
        return out.is_dir() and not is_unused(out) and not (out / former_file).is_file()
    except OSError:  # reported when the folder is written
        return False


def is_unused(out: Path) -> bool:
    """Return whether a folder is empty, or has only hidden files or what a command left that was killed while writing.

    A folder with the `.git` of a repository is in use.
    """
    foreign_entries = (entry for entry in out.iterdir() if not entry.name.startswith(".") or entry.name == ".git")
    return next(foreign_entries, None) is None or any(out.glob(f"{TEMPORARY_PREFIX}*/{COMPLETE}"))


@contextmanager
def replace_folder(
    out: Path,
    on_wait: Callable[[], None] = ignore,
    on_finished: Callable[[Path], None] = lambda _: None,
    hint: str = "choose a writable folder with -o",
) -> Iterator[Path]:
    """Yield a fresh folder whose entries replace those of `out` if the block succeeds.

    Other entries of `out` stay, except reports in forms that the former build wrote and this one does not: their
    numbers would be outdated.

    One process at a time writes into `out`. `on_wait` is called if another one does; `on_finished` is called with the
    complete folder. Remains of killed processes are cleaned up first.

    Raises AssayError: `output` if the folder cannot be written, with the `hint`.
    """
    is_new = is_done = False
    try:
        is_new = not out.exists()
        with acquire_lock(out, on_wait):
            try:
                _finish_killed_builds(out)
                yield from _fill_folder(out, on_finished)
                is_done = True
            finally:
                if is_new and not is_done:
                    shutil.rmtree(out, ignore_errors=True)
    except OSError as error:
        if not is_within(error, out):
            raise convert_os_error(error) from None
        if get_error_path(error) is None and is_disk_full_error(error):
            raise build_unnamed_disk_full_error() from None
        raise build_write_error("output", "output folder", out, error, hint) from None


def _fill_folder(out: Path, on_finished: Callable[[Path], None]) -> Iterator[Path]:
    work_dir, lock = create_locked_folder(out, TEMPORARY_PREFIX)
    try:
        new_folder = work_dir / "report"
        new_folder.mkdir()
        yield new_folder
        on_finished(new_folder)
        (work_dir / "begun").write_text(json.dumps(sorted(_find_outdated_files(new_folder, out))), encoding="utf-8")
        (work_dir / "begun").replace(work_dir / COMPLETE)
        _move(work_dir, out)
    except OSError as error:
        # Removing the work folder makes room, so this must be checked first.
        if get_error_path(error) is None and is_disk_full_error(error) and not has_room(out):
            error.filename = str(out)
        raise
    finally:
        shutil.rmtree(work_dir, ignore_errors=True)
        release(lock)


def _finish_killed_builds(out: Path) -> None:
    """Finish moving complete builds whose process was killed, and remove incomplete ones."""
    for work_dir in sorted(out.glob(f"{TEMPORARY_PREFIX}*")):
        if (work_dir / COMPLETE).exists() and (work_dir / "report").exists():
            _move(work_dir, out)
    sweep(out, TEMPORARY_PREFIX)


def _move(work_dir: Path, out: Path) -> None:
    """Move a complete build, or the rest of one, into place.

    The provenance of the former build goes first and that of the new one comes last, as `read_whole_build` expects.
    """
    if (work_dir / "report" / RECORD).exists():
        (out / RECORD).unlink(missing_ok=True)
    for name in json.loads((work_dir / COMPLETE).read_text(encoding="utf-8")):
        _remove(out / name)
    for entry in sorted((work_dir / "report").iterdir(), key=lambda item: (item.name == RECORD, item.name)):
        target = out / entry.name
        if target.is_dir() and not target.is_symlink():
            target.replace(work_dir / f"former-{entry.name}")
        entry.replace(target)
    (work_dir / COMPLETE).unlink()  # before the work folder is removed, as its files are moved now


def read_whole_build(folder: Path, read: Callable[[], T]) -> T:
    """Return what `read` reads from the folder of a build, all of it from one build.

    It reads again if another process replaced the build meanwhile. Raises what `read` raises.
    """
    for _ in range(ATTEMPTS):
        record = _read_record(folder)
        if record is not None:
            with contextlib.suppress(AssayError):
                content = read()
                if _read_record(folder) == record:
                    return content
        if _read_record(folder) == record and not any(folder.glob(f"{TEMPORARY_PREFIX}*/{COMPLETE}")):
            break
        time.sleep(PAUSE)
    return read()


def _read_record(folder: Path) -> bytes | None:
    """Return the provenance of the build in a folder; None while there is none."""
    try:
        return (folder / RECORD).read_bytes()
    except OSError:
        return None


def _find_outdated_files(new_folder: Path, out: Path) -> set[str]:
    """Return the files in `out` of output forms that the report no longer has."""
    try:
        forms = read_forms(out)
    except AssayError:
        return set()
    return {name for form in forms for name in FILES[form]} - {entry.name for entry in new_folder.iterdir()}


def _remove(entry: Path) -> None:
    if entry.is_dir() and not entry.is_symlink():
        shutil.rmtree(entry)
    else:
        entry.unlink(missing_ok=True)
