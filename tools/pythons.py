"""Run the evaluator's tests and one pinned build on other Pythons.

    python -m tools.pythons              every other supported Python on PATH or in pyenv
    python -m tools.pythons 3.13         that one only

Each Python gets an environment below build/pythons/, in the versions of uv.lock. The build reads logs without the
scanner, as on a machine without Rust, and must give the bytes of golden/reports/.

Exit status: 0 all pass, 1 something fails or no such Python is here.
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
BUILD = "two"  # of golden/reports/pinned.toml: PDF, page and Markdown
TESTS = ("tests/dhall", "--ignore=tests/dhall/test_hostile.py")  # these run for a minute, in processes of their own
VERSIONS = tuple(f"3.{minor}" for minor in range(bootstrap.OLDEST[1], bootstrap.NEWEST[1] + 1))


@functools.cache
def find_others() -> dict[str, str]:
    """Return paths of supported Pythons on PATH or in pyenv by version, without the version that runs this."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    others = {}
    for version in VERSIONS:
        installed = sorted(pyenv.glob(f"{version}.*/bin/python"))
        for candidate in (shutil.which(f"python{version}"), *installed):
            examined = bootstrap.examine(str(candidate)) if candidate else None
            if examined and bootstrap.dotted(examined[0]) == version:
                others[version] = examined[1]
    others.pop(bootstrap.dotted(sys.version_info[:2]), None)
    return others


def prepare(version: str, interpreter: str) -> Path:
    """Return the Python of an environment with Assay in it, made anew when lock, project or interpreter changed."""
    folder = ROOT / "build" / "pythons" / version
    python, stamp, log = folder / "bin" / "python", folder / "assay.stamp", folder / bootstrap.LOG.name
    mark = bootstrap.fingerprint((version,), interpreter)
    if stamp.is_file() and stamp.read_text() == mark:
        return python
    pip = [*bootstrap.make_environment(interpreter, folder), "install", "--quiet", "--no-input", "--no-compile"]
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
    """Build a pinned report; return whether every file has the pinned hash, and print those that do not."""
    pinned = tomllib.loads((ROOT / "golden" / "reports" / golden.PINNED).read_text(encoding="utf-8"))["build"]
    words = shlex.split(next(item["command"] for item in pinned if item["name"] == BUILD))
    name = f"golden/reports/{BUILD}{golden.HASHES}"
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "out"
        command = [str(python), "-m", "assay", *words, "-o", str(out), "--cache", str(Path(scratch) / "cache")]
        if subprocess.run(command, cwd=ROOT, env={**os.environ, "ASSAY_SCANNER": "off"}).returncode:
            return False
        new = golden.hashes(out)
    old = (ROOT / name).read_text(encoding="utf-8")
    sys.stdout.writelines(golden.differences({name: old}, {name: new}))
    return old == new


def check(version: str, interpreter: str) -> bool:
    """Run the tests and the build on a Python; return whether both pass."""
    print(f"Python {version} ({interpreter})", flush=True)
    python = prepare(version, interpreter)
    return all([run_tests(python), compare_build(python)])


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("versions", nargs="*", metavar="VERSION", help=f"{', '.join(VERSIONS)}  [default: all]")
    others = find_others()
    chosen = parser.parse_args(arguments).versions or list(others)
    if absent := [version for version in chosen if version not in others]:
        print(f"no other Python {', '.join(absent)} is here; there are: {', '.join(others) or 'none'}", file=sys.stderr)
        return 1
    try:
        passed = [check(version, others[version]) for version in chosen]
    except bootstrap.SetupError as error:
        print(error, file=sys.stderr)
        return 1
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
