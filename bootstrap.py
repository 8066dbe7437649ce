#!/usr/bin/env python3
"""Set up the project and run one of its recipes.

Requires only Python 3.11 to 3.13 with pip, on Linux or macOS, x86-64 or ARM.

    python3 bootstrap.py               set up and list the recipes
    python3 bootstrap.py demo          set up and build the report of the two shipped runs
    python3 bootstrap.py test          set up, lint, check types and run the tests
    python3 bootstrap.py RECIPE ...    set up and run `just RECIPE ...`

All packages are installed into `.venv` in the versions of `uv.lock`, each checked against its hash. pip downloads
them, so its settings (index, proxy, certificates) apply. Setup is skipped while lock, project file, folder and
Python are unchanged.

This file uses syntax that old Pythons parse, so that they print a message instead of a traceback.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
STAMP = VENV / "assay.stamp"
LOG = VENV / "setup.log"
OLDEST, NEWEST = (3, 11), (3, 13)
NO_NETWORK = re.compile(
    r"name resolution|Name or service not known|nodename nor servname|Connection refused|Max retries"
    r"|NewConnectionError|ReadTimeout|ConnectTimeout|Network is unreachable|ProxyError|Failed to establish",
)
BAD_CERTIFICATE = re.compile(r"CERTIFICATE_VERIFY_FAILED|SSLError|certificate verify failed")


class SetupError(Exception):
    """Setup failed; the text says why and suggests a remedy."""


def report(text):
    """Print progress to stderr; stdout belongs to the recipe."""
    sys.stderr.write("bootstrap: " + text + "\n")
    sys.stderr.flush()


def format_version(version):
    """Format a version tuple with dots."""
    return ".".join(str(part) for part in version)


def inspect_python(interpreter):
    """Return (version, path) of an interpreter, or None when it does not run (as some shims do not).

    Inside a virtual environment, return the Python that the environment is based on.
    """
    code = (
        "import os, sys; base = getattr(sys, '_base_executable', None) or sys.executable\n"
        "print(sys.version_info[0], sys.version_info[1], os.path.realpath(base))"
    )
    try:
        done = subprocess.run([interpreter, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    except OSError:
        return None
    if done.returncode:
        return None
    major, minor, path = done.stdout.decode().strip().split(" ", 2)
    return (int(major), int(minor)), path


def choose_python():
    """Return (version, path) of the running Python if it is supported, else of the newest one on PATH."""
    names = ["python3." + str(minor) for minor in range(NEWEST[1], OLDEST[1] - 1, -1)]
    for candidate in [sys.executable] + [shutil.which(name) for name in names]:
        python = candidate and inspect_python(candidate)
        if python and OLDEST <= python[0] <= NEWEST:
            return python
    raise SetupError(
        f"Python {format_version(OLDEST)} to {format_version(NEWEST)} is required; this is"
        f" {format_version(sys.version_info[:2])} ({sys.executable}), and PATH has no supported one.\n"
        "Install one (Debian: apt-get install python3 python3-venv) and run this file with it."
    )


def hash_inputs(version, interpreter):
    """Hash all inputs of an environment: location, Python, lock and project file."""
    digest = hashlib.sha256()
    for part in (str(ROOT), interpreter, format_version(version)):
        digest.update(part.encode() + b"\0")
    for name in ("uv.lock", "pyproject.toml", "bootstrap.py"):
        digest.update((ROOT / name).read_bytes() + b"\0")
    return digest.hexdigest()


def is_set_up(mark):
    """Return whether `.venv` was set up from inputs with this hash."""
    return STAMP.is_file() and STAMP.read_text() == mark and (VENV / "bin" / "just").exists()


def run_logged(command, path=LOG):
    """Run a command with its output in the log; raise SetupError with the end of the log when it fails."""
    # User settings such as `--user` or `--target` would install packages outside the environment.
    removed = ("PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PIP_REQUIRE_VIRTUALENV", "PYTHONHOME", "PYTHONPATH")
    environment = {name: value for name, value in os.environ.items() if name not in removed}
    environment["PIP_DISABLE_PIP_VERSION_CHECK"] = "1"
    with path.open("ab") as log:
        log.write(("\n$ " + " ".join(command) + "\n").encode())
        log.flush()
        result = subprocess.run(
            command, cwd=str(ROOT), env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
    if result.returncode:
        raise SetupError(describe_failure(command, path))


def describe_failure(command, path):
    """Describe why a command failed, from its log."""
    lines = path.read_text(errors="replace").rsplit("\n$ ", 1)[-1].splitlines()[1:]
    text = "\n".join(lines)
    if BAD_CERTIFICATE.search(text):
        cause = (
            "The certificate of the package index is not trusted. If a proxy uses its own certificate authority,\n"
            "set PIP_CERT (or `cert =` in pip's configuration) to the file of the authority."
        )
    elif NO_NETWORK.search(text):
        cause = "The package index is not reachable; setup downloads packages with pip's settings."
    else:
        cause = "Command failed: " + " ".join(command[:6]) + " ..."
    tail = "\n".join("    " + line for line in lines[-8:])
    return cause + "\nEnd of " + str(path.relative_to(ROOT)) + ":\n" + tail


def create_environment(interpreter, folder=VENV):
    """Create an empty environment; return the pip command that installs into it."""
    probe = subprocess.run([interpreter, "-c", "import venv, ensurepip"], stderr=subprocess.DEVNULL)
    if folder.exists():
        shutil.rmtree(str(folder))
    folder.mkdir(parents=True)
    if probe.returncode == 0:
        run_logged([interpreter, "-m", "venv", str(folder)], folder / LOG.name)
        return [str(folder / "bin" / "python"), "-m", "pip"]
    # Debian's Python lacks ensurepip; then the pip of the interpreter installs into the environment.
    run_logged([interpreter, "-m", "venv", "--without-pip", str(folder)], folder / LOG.name)
    command = [interpreter, "-m", "pip", "--version"]
    outer = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    release = re.match(rb"pip (\d+)\.(\d+)", outer.stdout)
    if outer.returncode or not release or tuple(int(part) for part in release.groups()) < (22, 3):
        raise SetupError(
            f"{interpreter} has neither ensurepip nor pip 22.3 or newer; packages cannot be installed.\n"
            "Install one of them (Debian: apt-get install python3-venv)."
        )
    return [interpreter, "-m", "pip", "--python", str(folder / "bin" / "python")]


def read_locked_uv():
    """Read the requirement of uv, with hashes, from the lock; uv then exports all other requirements."""
    import tomllib

    lock = tomllib.loads((ROOT / "uv.lock").read_text(encoding="utf-8"))
    package = next(entry for entry in lock["package"] if entry["name"] == "uv")
    hashes = [wheel["hash"] for wheel in package["wheels"]]
    return f"uv=={package['version']} " + " ".join("--hash=" + value for value in hashes) + "\n"


def install(pip):
    """Install uv, the locked packages and the project (editable) into `.venv`; verify all hashes."""
    options = ["install", "--quiet", "--no-input", "--retries", "2", "--no-warn-script-location"]
    first, rest = VENV / "uv.txt", VENV / "requirements.txt"
    first.write_text(read_locked_uv())
    run_logged([*pip, *options, "--require-hashes", "--only-binary", ":all:", "-r", str(first)])
    export = ["export", "--frozen", "--offline", "--no-emit-project", "--no-python-downloads", "--quiet"]
    python = str(VENV / "bin" / "python")
    run_logged([str(VENV / "bin" / "uv"), *export, "--python", python, "-o", str(rest)])
    run_logged([*pip, *options, "--require-hashes", "-r", str(rest)])
    run_logged([*pip, *options, "--no-deps", "--no-build-isolation", "--editable", str(ROOT)])
    # Bytecode halves the start time of commands, also where PYTHONDONTWRITEBYTECODE is set.
    run_logged([python, "-m", "compileall", "-q", str(ROOT / "compiler")])


def set_up(version, interpreter):
    """Set up `.venv` unless it is up to date."""
    mark = hash_inputs(version, interpreter)
    if is_set_up(mark):
        return
    report(f"setting up .venv with Python {format_version(version)} ({interpreter}); this takes a minute or two")
    started = time.monotonic()
    install(create_environment(interpreter))
    STAMP.write_text(mark)
    report(f"set up in {time.monotonic() - started:.0f} s")


def main(arguments):
    """Return the exit status of the recipe, 1 when setup failed, or 130 when interrupted."""
    if arguments and arguments[0] in ("-h", "--help"):
        print(__doc__.strip())
        return 0
    try:
        version, interpreter = choose_python()
        if version != sys.version_info[:2]:  # the running Python lacks modules that setup needs
            return subprocess.run([interpreter, str(Path(__file__).resolve()), *arguments]).returncode
        set_up(version, interpreter)
        just = [str(VENV / "bin" / "just"), "--justfile", str(ROOT / "justfile")]
        return subprocess.run([*just, *arguments], cwd=str(ROOT)).returncode
    except SetupError as error:
        report(str(error))
        return 1
    except KeyboardInterrupt:
        report("interrupted")
        return 130
    except OSError as error:
        report(f"{error.filename or 'operating system'}: {error.strerror or error}")
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
