"""`assay init`: a small workspace that builds at once."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from assay.app.outputs import is_unused, replacing
from assay.lang import workspace
from assay.lang.libraries import write_libraries
from assay.util.diagnostics import USAGE, AssayError, fail
from assay.util.os_errors import make_write_error

SYSTEM, REPORT = "service", "comparison"
#: folder of the starter beside the shipped specs
STARTER = "starter"


def init(place: Path) -> tuple[str, ...]:
    """Write the starter, with schema and Prelude, into a folder that does not exist, or is empty.

    Returns the commands to go on with.

    All or nothing.  Raises AssayError: `not-empty` (usage), `output`.
    """
    if place.is_dir() and not is_unused(place):
        raise fail(
            "not-empty",
            f"the folder holds something already: {place}",
            expected="a folder that does not exist, or is empty",
            hint="name another one",
            status=USAGE,
        )
    with _named_as_argument(), replacing(place) as fresh:
        shipped = workspace.shipped().root
        shutil.copytree(shipped / STARTER, fresh, dirs_exist_ok=True, copy_function=shutil.copyfile)
        write_libraries(fresh, shipped)
    runs = sorted(item.name for item in (place / "runs").iterdir())
    given = " ".join(f"--run runs/{name}" for name in runs)
    return (
        f"cd {_quoted(place)}",
        "assay check",
        "assay test",
        f"assay build {SYSTEM}/{REPORT} {given} -o build/{REPORT}",
        f"assay explain wait --run runs/{runs[0]}",
    )


def update_schema(place: Path) -> tuple[str, ...]:
    """Write the shipped schema and Prelude into a workspace; return names of files that are new or changed.

    Raises AssayError: `no-workspace` (usage), `output`.
    """
    if not (place / "specs").is_dir():
        raise fail("no-workspace", f"the folder has no specs/: {place}", expected="a workspace", status=USAGE)
    try:
        return tuple(write_libraries(place, workspace.shipped().root))
    except OSError as error:
        raise make_write_error("output", "workspace", place, error, "mend the rights of its specs/") from None


@contextmanager
def _named_as_argument() -> Iterator[None]:
    """Let errors of the folder that is written advise what goes here, where it is no option."""
    try:
        yield
    except AssayError as error:
        problems = [replace(item, hint="name another folder") if item.code == "output" else item
                    for item in error.diagnostics]  # fmt: skip
        raise AssayError(problems, error.status) from None


def _quoted(place: Path) -> str:
    import shlex

    return shlex.quote(os.fspath(place))
