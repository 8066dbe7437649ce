"""Create a small workspace that builds at once (`assay init`)."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from assay.app.session.outputs import is_unused, replace_folder
from assay.lang import workspace
from assay.lang.libraries import write_libraries
from assay.util.diagnostics import USAGE, AssayError, fail, suggest_names
from assay.util.os_errors import build_write_error

SYSTEM, REPORT = "service", "comparison"
#: The folder of the starter, next to the shipped specs.
STARTER = "starter"
#: The folder of the examples, beside it.
EXAMPLES = "examples"
#: commands in the README of an example
_COMMANDS = re.compile(r"^```sh\n(.*?)^```", re.S | re.M)
#: a link from an example to a page of the documentation, which its copy has not beside it
_LINK = re.compile(r"\[([^\]]+)\]\(\.\./\.\./([^)]+)\)")
#: `.gitignore` of a workspace: what commands can write again
IGNORED_FILES = """\
# what commands write: reports, and temporary folders of builds
/build/
.assay-*

# If logs are too large for the repository, ignore them, too:
# /runs/
"""


def create_workspace(place: Path) -> tuple[str, ...]:
    """Write the starter, schema and Prelude into a new or empty folder; return the commands to try next.

    Raises AssayError: `not-empty` (usage), `output`.
    """
    with fill_workspace(place) as folder:
        starter = workspace.get_shipped_workspace().root / STARTER
        shutil.copytree(starter, folder, dirs_exist_ok=True, copy_function=shutil.copyfile)
    runs = sorted(item.name for item in (place / "runs").iterdir())
    run_options = " ".join(f"--run runs/{name}" for name in runs)
    return (
        f"cd {quote_path(place)}",
        "assay check",
        "assay test",
        f"assay build {SYSTEM}/{REPORT} {run_options} -o build/{REPORT}",
        f"assay explain wait --run runs/{runs[0]}",
    )


def create_example(name: str, place: Path) -> tuple[str, ...]:
    """Write an example, schema and Prelude into a new or empty folder; return the commands to try next.

    Raises AssayError: `unknown-example` (usage), `not-empty` (usage), `output`.
    """
    examples = workspace.get_shipped_workspace().root / EXAMPLES
    names = sorted(item.name for item in examples.iterdir() if item.is_dir())
    if name not in names:
        raise fail("unknown-example", f"there is no example `{name}`", hint=suggest_names(name, names), status=USAGE)
    with fill_workspace(place) as folder:
        shutil.copytree(examples / name, folder, dirs_exist_ok=True, copy_function=shutil.copyfile)
        readme = folder / "README.md"
        text = readme.read_text(encoding="utf-8")
        readme.write_text(_LINK.sub(r"\1 (\2)", text), encoding="utf-8")
    return (f"cd {quote_path(place)}", "assay test", *_COMMANDS.findall(text)[0].splitlines())


@contextmanager
def fill_workspace(place: Path) -> Iterator[Path]:
    """Yield a fresh folder that becomes the new or empty folder `place`, with the schema and the Prelude.

    The folder is written atomically. Raises AssayError: `not-empty` (usage), `output`.
    """
    if place.is_dir() and not is_unused(place):
        raise fail(
            "not-empty",
            f"the folder is not empty: {place}",
            expected="a new or empty folder",
            hint="choose another folder",
            status=USAGE,
        )
    with _replace_output_hint(), replace_folder(place) as new_folder:
        (new_folder / ".gitignore").write_text(IGNORED_FILES, encoding="utf-8")
        write_libraries(new_folder, workspace.get_shipped_workspace().root)
        yield new_folder


def update_schema(place: Path) -> tuple[str, ...]:
    """Write the shipped schema and Prelude into a workspace; return the names of new or changed files.

    Raises AssayError: `no-workspace` (usage), `output`.
    """
    if not (place / "specs").is_dir():
        raise fail("no-workspace", f"the folder has no specs/: {place}", expected="a workspace", status=USAGE)
    try:
        return tuple(write_libraries(place, workspace.get_shipped_workspace().root))
    except OSError as error:
        raise build_write_error("output", "workspace", place, error, "check the permissions of its specs/") from None


@contextmanager
def _replace_output_hint() -> Iterator[None]:
    """Replace the hint of output errors, as the folder is an argument here and not an option."""
    try:
        yield
    except AssayError as error:
        problems = [replace(item, hint="choose another folder") if item.code == "output" else item
                    for item in error.diagnostics]  # fmt: skip
        raise AssayError(problems, error.status) from None


def quote_path(place: Path) -> str:
    """Return a path as a word of a shell."""
    import shlex

    return shlex.quote(os.fspath(place))
