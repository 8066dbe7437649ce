"""`assay init`: a small workspace that builds at once."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from assay.build.outputs import is_unused, replacing
from assay.spec import workspace
from assay.spec.diagnostics import USAGE, AssayError, fail

SYSTEM, REPORT = "service", "comparison"
#: folder of the starter beside the shipped specs
STARTER = "starter"


def init(place: Path) -> tuple[str, ...]:
    """Write the starter into a folder that does not exist, or is empty; returns the commands to go on with.

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
        shutil.copytree(workspace.shipped().root / STARTER, fresh, dirs_exist_ok=True, copy_function=shutil.copyfile)
    runs = sorted(item.name for item in (place / "runs").iterdir())
    given = " ".join(f"--run runs/{name}" for name in runs)
    return (
        f"cd {_quoted(place)}",
        "assay check",
        "assay test",
        f"assay build {SYSTEM}/{REPORT} {given} -o build/{REPORT}",
        f"assay explain wait --run runs/{runs[0]}",
    )


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
