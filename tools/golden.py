"""Compare the files under golden/ and starter/golden/ with newly produced ones.

    python tools/golden.py check    print differences; exit status 3 if there are any
    python tools/golden.py accept   replace golden files by the produced ones and print the differences

Parts: `specs` (normal forms), `sql` (compiled SQL), `starter` (both, for the workspace of `assay init`) and
`reports` (the builds in golden/reports/pinned.toml).
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

from assay.app.author.accept import compile_system_sql
from assay.app.session.session import Session
from assay.cli.errors import run
from assay.cli.main import cli
from assay.engine.result_cache import Store
from assay.lang import normal_form, workspace
from assay.lang.checked_package import CheckedPackage
from assay.lang.sources import SourceFile
from assay.lang.workspace import Workspace
from assay.util.diagnostics import DIFFERENCE, AssayError

ROOT = Path(__file__).resolve().parent.parent
PINNED = "pinned.toml"
HASHES = ".sha256"

Texts = Mapping[str, str]
"""Contents of golden files by path."""


class BuildFailedError(Exception):
    """A pinned build failed; the arguments are its exit status and its stderr."""


def evaluate_system(root: Path, system: str) -> CheckedPackage:
    """Evaluate and check a system's package from its Dhall sources."""
    source = Workspace(root)
    return evaluate(source, system, workspace.scan_sources(source, system))


@functools.cache
def evaluate(source: Workspace, system: str, files: tuple[SourceFile, ...]) -> CheckedPackage:
    """Evaluate and check source files; cached, since several parts need the package."""
    return workspace.evaluate_package(source, system, files)


def produce_specs(root: Path, _cache: Path) -> dict[str, str]:
    """Produce the normal form of each system."""
    systems = Workspace(root).list_systems()
    return {
        f"golden/specs/{system}.yaml": normal_form.format_normal_form(evaluate_system(root, system))
        for system in systems
    }


def produce_sql(root: Path, cache: Path) -> dict[str, str]:
    """Produce the SQL of each report under its own filters."""
    produced: dict[str, str] = {}
    for system in Workspace(root).list_systems():
        package = evaluate_system(root, system)
        texts = compile_system_sql(Session(Workspace(root), Store(cache)), package)
        produced |= {f"golden/sql/{system}/{name}": text for name, text in texts.items()}
    return produced


def produce_starter(root: Path, cache: Path) -> dict[str, str]:
    """Produce normal form and SQL of the workspace that `assay init` writes."""
    produced = {**produce_specs(root / "starter", cache), **produce_sql(root / "starter", cache)}
    return {f"starter/{name}": text for name, text in produced.items()}


def produce_reports(root: Path, cache: Path) -> dict[str, str]:
    """Build each pinned report; produce the hashes of its files and its document."""
    pinned = tomllib.loads((root / "golden" / "reports" / PINNED).read_text(encoding="utf-8"))["build"]
    produced: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for item in pinned:
            out = Path(scratch) / item["name"]
            run_build(root, [*shlex.split(item["command"]), "-o", str(out), "--cache", str(cache)])
            produced[f"golden/reports/{item['name']}{HASHES}"] = hash_files(out)
            document = json.loads((out / "document.json").read_text(encoding="utf-8"))
            produced[f"golden/reports/{item['name']}.document.json"] = format_json(document) + "\n"
    return produced


def run_build(root: Path, command: Sequence[str]) -> None:
    """Run an `assay` command in a folder; raise BuildFailedError with its stderr when it fails."""
    stderr = io.StringIO()
    with contextlib.chdir(root), contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(stderr):
        status = run(cli, command)
    if status:
        raise BuildFailedError(status, stderr.getvalue())


def hash_files(folder: Path) -> str:
    """Hash every file of a folder; return lines in the format of `sha256sum`."""
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    lines = (f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {name}\n" for name, path in sorted(files.items()))
    return "".join(lines)


def format_json(value: Any, indent: str = "") -> str:
    """Format plain data as JSON with one line for each list of scalars and each cell link."""
    inner = indent + " "
    if isinstance(value, dict) and value and "prints" not in value:
        parts = [f"{json.dumps(name)}: {format_json(item, inner)}" for name, item in value.items()]
    elif isinstance(value, list) and any(isinstance(item, (dict, list)) for item in value):
        parts = [format_json(item, inner) for item in value]
    else:
        return json.dumps(value, ensure_ascii=False)
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    body = ",\n".join(inner + part for part in parts)
    return f"{opening}\n{body}\n{indent}{closing}"


PARTS: Mapping[str, Callable[[Path, Path], dict[str, str]]] = {
    "specs": produce_specs, "sql": produce_sql, "starter": produce_starter, "reports": produce_reports,
}  # fmt: skip
FOLDERS = {"specs": "golden/specs", "sql": "golden/sql", "starter": "starter/golden", "reports": "golden/reports"}


def read_committed(root: Path, part: str) -> dict[str, str]:
    """Read the golden files of a part."""
    files = (path for path in (root / FOLDERS[part]).rglob("*") if path.is_file() and path.name != PINNED)
    return {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in files}


def list_differences(old: Texts, new: Texts) -> Iterator[str]:
    """Yield lines about differences: file names where hashes differ, unified diffs otherwise."""
    for name in sorted({*old, *new}):
        if name not in new:
            yield f"no longer produced: {name}\n"
        elif name not in old:
            yield f"new: {name}\n"
        elif name.endswith(HASHES):
            yield from _list_hash_differences(Path(name).stem, _parse_hashes(old[name]), _parse_hashes(new[name]))
        elif old[name] != new[name]:
            lines = old[name].splitlines(True), new[name].splitlines(True)
            yield from difflib.unified_diff(*lines, name, f"produced/{name}")


def _parse_hashes(text: str) -> dict[str, str]:
    """Parse the lines of `hash_files`; return hashes by file name."""
    return {name: digest for digest, _, name in (line.partition("  ") for line in text.splitlines())}


def _list_hash_differences(build: str, old: Texts, new: Texts) -> Iterator[str]:
    for name in sorted({*old, *new}):
        if old.get(name) != new.get(name):
            change = "hash differs" if name in old and name in new else "new" if name in new else "no longer produced"
            yield f"{change}: {build}/{name}\n"


def accept(root: Path, old: Texts, new: Texts) -> None:
    """Replace the committed files of the workspace by the produced ones."""
    for name in old.keys() - new.keys():
        (root / name).unlink()
    for name, text in new.items():
        path = root / name
        if old.get(name) != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")


def compare(root: Path, parts: Sequence[str], cache: Path, is_accepted: bool) -> int:
    """Print differences, accept them if `is_accepted`, and return the exit status."""
    old = {name: text for part in parts for name, text in read_committed(root, part).items()}
    new = {name: text for part in parts for name, text in PARTS[part](root, cache).items()}
    sys.stdout.writelines(list_differences(old, new))
    changed = sum(old.get(name) != new.get(name) for name in {*old, *new})
    if is_accepted:
        accept(root, old, new)
        print(f"{len(new)} golden files, {changed} changed")
        return 0
    print(
        f"{len(old)} golden files: "
        + (f"{changed} differ; `just accept` replaces them" if changed else "no difference")
    )
    return DIFFERENCE if changed else 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return 0 without differences, 3 with some, or the status of a failed build."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["check", "accept"])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)}  [default: all]")
    parser.add_argument("--root", type=Path, default=ROOT, help="root of another checkout")
    parser.add_argument("--cache", type=Path, help="cache folder  [default: an empty one]")
    options = parser.parse_args(arguments)
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"unknown part {', '.join(sorted(unknown))}; parts are {', '.join(PARTS)}")
    try:
        with tempfile.TemporaryDirectory() as scratch:
            cache = (options.cache or Path(scratch)).resolve()
            return compare(options.root.resolve(), options.parts or list(PARTS), cache, options.action == "accept")
    except BuildFailedError as error:
        status, stderr = error.args
        sys.stderr.write(stderr)
        return int(status)
    except AssayError as error:
        print(error, file=sys.stderr)
        return error.status


if __name__ == "__main__":
    sys.exit(main())
