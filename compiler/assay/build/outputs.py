"""Output folders: written beside, moved into place when complete, so that a failed build leaves what was there."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from assay.audit.recorded import recorded
from assay.report.forms import FILES
from assay.spec.diagnostics import AssayError, fail


@contextmanager
def replacing(out: Path) -> Iterator[Path]:
    """A fresh folder; its entries take their places in `out` when the block ends well.

    Other entries of `out` stay, but for a report in a form that the former build wrote and this one does not: beside
    other numbers it would be wrong.  AssayError `output` when the folder cannot be written.
    """
    made = not out.exists()
    try:
        out.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(prefix=".assay-", dir=out))
    except OSError as error:
        raise _unwritable(out, error) from None
    done = False
    try:
        yield fresh
        _move(fresh, out)
        done = True
    except OSError as error:
        raise _unwritable(out, error) from None
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
        if made and not done:
            shutil.rmtree(out, ignore_errors=True)


def _move(fresh: Path, out: Path) -> None:
    for name in _outdated(fresh, out):
        _remove(out / name)
    for entry in sorted(fresh.iterdir()):
        target = out / entry.name
        if target.is_dir() and not target.is_symlink():
            old = Path(tempfile.mkdtemp(prefix=".assay-old-", dir=out))
            target.replace(old / entry.name)
            entry.replace(target)
            shutil.rmtree(old, ignore_errors=True)
        else:
            entry.replace(target)


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


def _unwritable(out: Path, error: OSError) -> AssayError:
    cause = "it is a file" if out.is_file() else os.strerror(error.errno) if error.errno else str(error)
    return fail(
        "output",
        f"the output folder cannot be written: {cause}: {out}",
        hint="choose a folder that can be written with -o",
    )
