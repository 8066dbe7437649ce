"""`assay init`: a small workspace that builds at once."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from assay.build.inspect import check_system
from assay.build.outputs import replacing
from assay.build.session import Session
from assay.spec import workspace
from assay.spec.dhall_adapter import available
from assay.spec.diagnostics import USAGE, fail
from assay.spec.workspace import Workspace

SYSTEM, REPORT = "service", "comparison"
#: folder of the starter beside the shipped specs
STARTER = "starter"


def init(session: Session, place: Path) -> tuple[str, ...]:
    """Write the starter into a folder that does not exist, or is empty; returns the commands to go on with.

    All or nothing.  Raises AssayError: `not-empty` (usage), `output`.
    """
    if place.is_dir() and any(place.iterdir()):
        raise fail(
            "not-empty",
            f"the folder holds something already: {place}",
            expected="a folder that does not exist, or is empty",
            hint="name another one",
            status=USAGE,
        )
    with replacing(place) as fresh:
        shutil.copytree(workspace.shipped().root / STARTER, fresh, dirs_exist_ok=True, copy_function=shutil.copyfile)
        if available():
            own = Session(Workspace(fresh), session.store, session.progress)
            check_system(own, SYSTEM, accept=True)
    runs = sorted(item.name for item in (place / "runs").iterdir())
    given = " ".join(f"--run runs/{name}" for name in runs)
    return (
        f"cd {_quoted(place)}",
        "assay check",
        "assay test",
        f"assay build {SYSTEM}/{REPORT} {given} -o build/{REPORT}",
        f"assay explain wait --run runs/{runs[0]}",
    )


def _quoted(place: Path) -> str:
    import shlex

    return shlex.quote(os.fspath(place))
