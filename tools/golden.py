"""What is committed under golden/ and starter/golden/, beside what is produced now.

    python tools/golden.py check    prints what differs; exit status 3 when anything does
    python tools/golden.py accept   takes what is produced now, and prints what changed

Parts can be named: `specs` (normal forms), `sql` (compiled SQL), `starter` (both, of what `assay init` writes),
`reports` (what golden/reports/pinned.toml lists).
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import functools
import hashlib
import io
import json
import shlex
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from assay.app.check_and_query import system_sql
from assay.app.session import Session
from assay.cli.errors import run
from assay.cli.main import cli
from assay.engine.result_cache import Store
from assay.lang import normal_form, workspace
from assay.lang.normal_form import CheckedPackage
from assay.lang.sources import SourceFile
from assay.lang.workspace import Workspace
from assay.util.diagnostics import DIFFERENCE, AssayError

ROOT = Path(__file__).resolve().parent.parent
PINNED = "pinned.toml"
HASHES = ".sha256"

Texts = Mapping[str, str]
"""Texts of golden files by their paths."""


class BuildFailedError(Exception):
    """A pinned build that failed: its exit status, and what it said."""


def package(root: Path, system: str) -> CheckedPackage:
    """Evaluate and check a system's package from its Dhall sources."""
    here = Workspace(root)
    return evaluate(here, system, workspace.scan(here, system))


@functools.cache
def evaluate(here: Workspace, system: str, files: tuple[SourceFile, ...]) -> CheckedPackage:
    """Evaluate and check these sources, once for all parts that need the package."""
    return workspace.evaluate(here, system, files)


def specs(root: Path, _cache: Path) -> dict[str, str]:
    """The normal form of each system."""
    systems = Workspace(root).systems()
    return {f"golden/specs/{system}.yaml": normal_form.dump(package(root, system)) for system in systems}


def sql(root: Path, cache: Path) -> dict[str, str]:
    """The SQL that each report compiles to under its own filters."""
    found: dict[str, str] = {}
    for system in Workspace(root).systems():
        checked = package(root, system)
        for report, texts in system_sql(Session(Workspace(root), Store(cache)), checked).items():
            found |= {f"golden/sql/{system}/{report}/{name}": text for name, text in texts.items()}
    return found


def starter(root: Path, cache: Path) -> dict[str, str]:
    """Both of the workspace that `assay init` writes."""
    produced = {**specs(root / "starter", cache), **sql(root / "starter", cache)}
    return {f"starter/{name}": text for name, text in produced.items()}


def reports(root: Path, cache: Path) -> dict[str, str]:
    """Of each pinned build: the hashes of its files, and the document that it shows."""
    pinned = tomllib.loads((root / "golden" / "reports" / PINNED).read_text(encoding="utf-8"))["build"]
    found: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for item in pinned:
            out = Path(scratch) / item["name"]
            build(root, [*shlex.split(item["command"]), "-o", str(out), "--cache", str(cache)])
            found[f"golden/reports/{item['name']}{HASHES}"] = hashes(out)
            document = json.loads((out / "document.json").read_text(encoding="utf-8"))
            found[f"golden/reports/{item['name']}.document.json"] = rows(document) + "\n"
    return found


def build(root: Path, command: Sequence[str]) -> None:
    """Run a command of assay in a folder; what it says is only printed when it fails."""
    said = io.StringIO()
    with contextlib.chdir(root), contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
        status = run(cli, command)
    if status:
        raise BuildFailedError(status, said.getvalue())


def hashes(folder: Path) -> str:
    """The hash of every file of a folder, as `sha256sum` writes and checks them."""
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    lines = (f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {name}\n" for name, path in sorted(files.items()))
    return "".join(lines)


def rows(value: Any, indent: str = "") -> str:
    """Plain data as JSON text, in which a list without lists and members is one line, and where a cell leads."""
    inner = indent + " "
    if isinstance(value, dict) and value and "prints" not in value:
        parts = [f"{json.dumps(name)}: {rows(item, inner)}" for name, item in value.items()]
    elif isinstance(value, list) and any(isinstance(item, (dict, list)) for item in value):
        parts = [rows(item, inner) for item in value]
    else:
        return json.dumps(value, ensure_ascii=False)
    ends = "{}" if isinstance(value, dict) else "[]"
    body = ",\n".join(inner + part for part in parts)
    return f"{ends[0]}\n{body}\n{indent}{ends[1]}"


PARTS: Mapping[str, Callable[[Path, Path], dict[str, str]]] = {
    "specs": specs, "sql": sql, "starter": starter, "reports": reports,
}  # fmt: skip
FOLDERS = {"specs": "golden/specs", "sql": "golden/sql", "starter": "starter/golden", "reports": "golden/reports"}


def committed(root: Path, part: str) -> dict[str, str]:
    """The golden files of a part."""
    files = (path for path in (root / FOLDERS[part]).rglob("*") if path.is_file() and path.name != PINNED)
    return {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in files}


def differences(old: Texts, new: Texts) -> Iterator[str]:
    """What differs, as lines: hashes by the names of their files, everything else as a unified diff."""
    for name in sorted({*old, *new}):
        if name not in new:
            yield f"not produced any more: {name}\n"
        elif name not in old:
            yield f"new: {name}\n"
        elif name.endswith(HASHES):
            yield from _hash_differences(Path(name).stem, _by_name(old[name]), _by_name(new[name]))
        elif old[name] != new[name]:
            lines = old[name].splitlines(True), new[name].splitlines(True)
            yield from difflib.unified_diff(*lines, name, f"produced/{name}")


def _by_name(text: str) -> dict[str, str]:
    """File name -> hash, of lines as `hashes` writes them."""
    return {name: digest for digest, _, name in (line.partition("  ") for line in text.splitlines())}


def _hash_differences(build: str, old: Texts, new: Texts) -> Iterator[str]:
    for name in sorted({*old, *new}):
        if old.get(name) != new.get(name):
            what = "hash differs" if name in old and name in new else "new" if name in new else "not produced any more"
            yield f"{what}: {build}/{name}\n"


def accept(root: Path, old: Texts, new: Texts) -> None:
    """Put what was produced in the place of what is committed."""
    for name in old.keys() - new.keys():
        (root / name).unlink()
    for name, text in new.items():
        place = root / name
        if old.get(name) != text:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")


def compare(root: Path, parts: Sequence[str], cache: Path, accepting: bool) -> int:
    """Print what differs, and accept it when asked to; the exit status."""
    old = {name: text for part in parts for name, text in committed(root, part).items()}
    new = {name: text for part in parts for name, text in PARTS[part](root, cache).items()}
    sys.stdout.writelines(differences(old, new))
    changed = sum(old.get(name) != new.get(name) for name in {*old, *new})
    if accepting:
        accept(root, old, new)
        print(f"{len(new)} golden files, {changed} changed")
        return 0
    print(
        f"{len(old)} golden files: "
        + (f"{changed} differ; `just accept` takes what is produced now" if changed else "no difference")
    )
    return DIFFERENCE if changed else 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status: 0 no difference or accepted, 3 a difference, else that of the command that failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["check", "accept"])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)}  [default: all]")
    parser.add_argument("--root", type=Path, default=ROOT, help="another copy of the repository")
    parser.add_argument("--cache", type=Path, help="a cache folder to use  [default: an empty one]")
    given = parser.parse_args(arguments)
    if unknown := set(given.parts) - set(PARTS):
        parser.error(f"there is no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    try:
        with tempfile.TemporaryDirectory() as scratch:
            cache = (given.cache or Path(scratch)).resolve()
            return compare(given.root.resolve(), given.parts or list(PARTS), cache, given.what == "accept")
    except BuildFailedError as error:
        status, said = error.args
        sys.stderr.write(said)
        return int(status)
    except AssayError as error:
        print(error, file=sys.stderr)
        return error.status


if __name__ == "__main__":
    sys.exit(main())
