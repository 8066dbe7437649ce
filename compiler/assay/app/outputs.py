"""Output folders: written beside the target and moved into place when complete."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from assay.lang import workspace
from assay.lang.normal_form import CheckedPackage
from assay.provenance.read import NAME as RECORD
from assay.provenance.read import recorded
from assay.report.output_forms import FILES
from assay.util.diagnostics import USAGE, AssayError, fail
from assay.util.locks import ignore_wait, locked, release
from assay.util.os_errors import (
    convert_os_error,
    has_room,
    is_full,
    is_within,
    make_write_error,
    place_of,
    some_disk_full,
)
from assay.util.paths import resolve_path
from assay.util.scratch import BESIDE, create_locked_folder, sweep

if TYPE_CHECKING:
    from assay.app.runs import NamedRun
    from assay.app.session import Session


#: what a build keeps of the specs that it was made of: the normal form of the system's package, as JSON
SPECS = "specs.json"


def write_specs(checked: CheckedPackage, folder: Path, cache: Path) -> None:
    """Keep the package that a build is made of in its folder; what a cache has of it need not be written anew."""
    (folder / SPECS).write_text(workspace.text(checked, cache), encoding="utf-8")


#: there when a build is complete: what is to go that a former one left
COMPLETE = "complete.json"
#: folders of an output folder that a build makes anew
REPLACED = ("charts", "report", "sql")
#: folders of a workspace that reports are made of
SOURCES = ("specs", "queries", "templates")


def refuse_sources(session: Session, out: Path, runs: Sequence[NamedRun] = ()) -> None:
    """AssayError `output` (usage) for an output folder among what is read: in a run, or in the workspace's definitions,
    which would then hold what was made of them; and where a run lies in what the build would replace."""
    place = resolve_path(out)
    hint = "choose another folder with -o"
    for run in runs:
        if run.is_here and place.is_relative_to(resolve_path(run.directory)):
            raise fail("output", f"the output folder lies in the run {run.id}: {out}", hint=hint, status=USAGE)
    for run in runs:
        theirs = resolve_path(Path(run.place))
        if any(theirs.is_relative_to(place / name) for name in REPLACED):
            raise fail("output", f"the run {run.id} lies in a folder that a build replaces: {run.place}",
                       hint=f"{hint}, or move the run out of it", status=USAGE)  # fmt: skip
    for name in SOURCES:
        if place.is_relative_to(resolve_path(session.workspace.root / name)):
            raise fail("output", f"the output folder lies in the workspace's {name}/: {out}", hint=hint, status=USAGE)


def is_unused(out: Path) -> bool:
    """Whether a folder holds nothing, or nothing but what a command left that was killed as it wrote there."""
    theirs = (entry for entry in out.iterdir() if not entry.name.startswith(BESIDE))
    return next(theirs, None) is None or any(out.glob(f"{BESIDE}*/{COMPLETE}"))


@contextmanager
def replacing(
    out: Path,
    waiting: Callable[[], None] = ignore_wait,
    finished: Callable[[Path], None] = lambda _: None,
    hint: str = "choose a folder that can be written with -o",
) -> Iterator[Path]:
    """A fresh folder; its entries take their places in `out` when the block ends well.

    Other entries of `out` stay, but for a report in a form that the former build wrote and this one does not: beside
    other numbers it would be wrong.  One process at a time writes into `out`; `waiting` is called when another does,
    `finished` with the folder when it is filled.
    What one left that was killed is put in order first.
    AssayError `output` when the folder cannot be written, with the `hint`.
    """
    made = done = False
    try:
        made = not out.exists()
        with locked(out, waiting):
            try:
                _settle(out)
                yield from _filled(out, finished)
                done = True
            finally:
                if made and not done:
                    shutil.rmtree(out, ignore_errors=True)
    except OSError as error:
        if not is_within(error, out):
            raise convert_os_error(error) from None
        if place_of(error) is None and is_full(error):
            raise some_disk_full() from None
        raise make_write_error("output", "output folder", out, error, hint) from None


def _filled(out: Path, finished: Callable[[Path], None]) -> Iterator[Path]:
    place, lock = create_locked_folder(out, BESIDE)
    try:
        fresh = place / "report"
        fresh.mkdir()
        yield fresh
        _refuse_theirs(fresh, out)
        finished(fresh)
        (place / "begun").write_text(json.dumps(sorted(_outdated(fresh, out))), encoding="utf-8")
        (place / "begun").replace(place / COMPLETE)
        _move(place, out)
    except OSError as error:
        if place_of(error) is None and is_full(error) and not has_room(out):  # asked before what is here goes
            error.filename = str(out)
        raise
    finally:
        shutil.rmtree(place, ignore_errors=True)
        release(lock)


def _refuse_theirs(fresh: Path, out: Path) -> None:
    """AssayError `output` (usage) where a report would take the place of what no build has written."""
    if (out / RECORD).exists() or not (fresh / RECORD).exists():
        return
    theirs = sorted(entry.name for entry in fresh.iterdir() if (out / entry.name).exists())
    if theirs:
        raise fail(
            "output",
            f"the output folder holds what no build has written, and this one would replace: {out}",
            expected=f"a folder without {', '.join(theirs)}, or one with the {RECORD} of a former build",
            hint="choose another folder with -o",
            status=USAGE,
        )


def _settle(out: Path) -> None:
    """Finish what a build began to move that was killed meanwhile; what was not complete goes."""
    for place in sorted(out.glob(f"{BESIDE}*")):
        if (place / COMPLETE).exists() and (place / "report").exists():
            _move(place, out)
    sweep(out, BESIDE)


def _move(place: Path, out: Path) -> None:
    """Let a complete build take its place, or what is left to move of one; what tells of it comes last."""
    for name in json.loads((place / COMPLETE).read_text(encoding="utf-8")):
        _remove(out / name)
    for entry in sorted((place / "report").iterdir(), key=lambda item: (item.name == RECORD, item.name)):
        target = out / entry.name
        if target.is_dir() and not target.is_symlink():
            target.replace(place / f"former-{entry.name}")
        entry.replace(target)
    (place / COMPLETE).unlink()  # before the rest goes: there is nothing to move any more


def _outdated(fresh: Path, out: Path) -> set[str]:
    """What a former build left in `out` of forms that its report no longer takes."""
    try:
        forms = recorded(out).forms
    except AssayError:
        return set()
    return {name for form in forms for name in FILES[form]} - {entry.name for entry in fresh.iterdir()}


def _remove(entry: Path) -> None:
    if entry.is_dir() and not entry.is_symlink():
        shutil.rmtree(entry)
    else:
        entry.unlink(missing_ok=True)
