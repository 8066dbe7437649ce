"""Run the evaluator's tests and one pinned build on other Pythons.

    python -m tools.pythons              all other supported Pythons on PATH or in pyenv
    python -m tools.pythons 3.13         one version

Each Python gets an environment below build/pythons/ with the versions of uv.lock. The build reads logs without the
scanner, as on a machine without Rust, and must produce the bytes of golden/reports/.

Exit status: 0 if all pass, 1 if something fails or a version is not installed.
"""

from __future__ import annotations

import argparse
import functools
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path

import bootstrap
from tools import golden

ROOT = Path(__file__).resolve().parent.parent
BUILD = "two"  # in golden/reports/pinned.toml: PDF, web page and Markdown
TESTS = (
    "compiler/assay_dhall/tests",
    "--ignore=compiler/assay_dhall/tests/test_hostile.py",
)  # the ignored tests take a minute
VERSIONS = tuple(f"3.{minor}" for minor in range(bootstrap.OLDEST[1], bootstrap.NEWEST[1] + 1))


@functools.cache
def find_other_pythons() -> dict[str, str]:
    """Find supported Pythons on PATH or in pyenv except the running version; return paths by version."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    others = {}
    for version in VERSIONS:
        installed = sorted(pyenv.glob(f"{version}.*/bin/python"))
        for candidate in (shutil.which(f"python{version}"), *installed):
            interpreter = bootstrap.inspect_python(str(candidate)) if candidate else None
            if interpreter and bootstrap.format_version(interpreter[0]) == version:
                others[version] = interpreter[1]
    others.pop(bootstrap.format_version(sys.version_info[:2]), None)
    return others


def prepare(version: str, interpreter: str) -> Path:
    """Install Assay into an environment unless it is up to date; return its Python."""
    folder = ROOT / "build" / "pythons" / version
    python, stamp, log = folder / "bin" / "python", folder / "assay.stamp", folder / bootstrap.LOG.name
    mark = bootstrap.hash_inputs((version,), interpreter)
    if stamp.is_file() and stamp.read_text() == mark:
        return python
    pip = [*bootstrap.create_environment(interpreter, folder), "install", "--quiet", "--no-input", "--no-compile"]
    requirements = str(folder / "requirements.txt")
    export = ["export", "--frozen", "--offline", "--no-emit-project", "--no-default-groups", "--group", "pythons"]
    bootstrap.run_logged(
        [str(bootstrap.VENV / "bin" / "uv"), *export, "--quiet", "--python", str(python), "-o", requirements], log
    )
    bootstrap.run_logged([*pip, "--require-hashes", "-r", requirements], log)
    bootstrap.run_logged([*pip, "--no-deps", "--no-build-isolation", "--editable", str(ROOT)], log)
    stamp.write_text(mark)
    return python


def run_tests(python: Path) -> bool:
    """Run the evaluator's tests; return whether they pass."""
    command = [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS]
    return subprocess.run(command, cwd=ROOT).returncode == 0


def compare_build(python: Path) -> bool:
    """Build a pinned report, print files whose hash differs, and return whether all hashes match."""
    pinned = tomllib.loads((ROOT / "golden" / "reports" / golden.PINNED).read_text(encoding="utf-8"))["build"]
    words = shlex.split(next(item["command"] for item in pinned if item["name"] == BUILD))
    name = f"golden/reports/{BUILD}{golden.HASHES}"
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "out"
        command = [str(python), "-m", "assay", *words, "-o", str(out), "--cache", str(Path(scratch) / "cache")]
        if subprocess.run(command, cwd=ROOT, env={**os.environ, "ASSAY_SCANNER": "off"}).returncode:
            return False
        new = golden.hash_files(out)
    old = (ROOT / name).read_text(encoding="utf-8")
    sys.stdout.writelines(golden.list_differences({name: old}, {name: new}))
    return old == new


def check(version: str, interpreter: str) -> bool:
    """Run tests and build on a Python; return whether both pass."""
    print(f"Python {version} ({interpreter})", flush=True)
    python = prepare(version, interpreter)
    return all([run_tests(python), compare_build(python)])


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("versions", nargs="*", metavar="VERSION", help=f"{', '.join(VERSIONS)}  [default: all]")
    others = find_other_pythons()
    chosen = parser.parse_args(arguments).versions or list(others)
    if missing := [version for version in chosen if version not in others]:
        print(f"error: no other Python {', '.join(missing)}; installed: {', '.join(others) or 'none'}", file=sys.stderr)
        return 1
    try:
        passed = [check(version, others[version]) for version in chosen]
    except bootstrap.SetupError as error:
        print(error, file=sys.stderr)
        return 1
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
