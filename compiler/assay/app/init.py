"""Create a small workspace that builds at once (`assay init`)."""

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
#: The folder of the starter, next to the shipped specs.
STARTER = "starter"


def init(place: Path) -> tuple[str, ...]:
    """Write the starter, schema and Prelude into a new or empty folder; return the commands to try next.

    The folder is written atomically. Raises AssayError: `not-empty` (usage), `output`.
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
    run_options = " ".join(f"--run runs/{name}" for name in runs)
    return (
        f"cd {_quoted(place)}",
        "assay check",
        "assay test",
        f"assay build {SYSTEM}/{REPORT} {run_options} -o build/{REPORT}",
        f"assay explain wait --run runs/{runs[0]}",
    )


def update_schema(place: Path) -> tuple[str, ...]:
    """Write the shipped schema and Prelude into a workspace; return the names of new or changed files.

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
    """Replace the hint of output errors, as the folder is an argument here and not an option."""
    try:
        yield
    except AssayError as error:
        problems = [replace(item, hint="name another folder") if item.code == "output" else item
                    for item in error.diagnostics]  # fmt: skip
        raise AssayError(problems, error.status) from None


def _quoted(place: Path) -> str:
    import shlex

    return shlex.quote(os.fspath(place))
