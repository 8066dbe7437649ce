#!/usr/bin/env python3
"""Sets the project up and runs one of its recipes.

Needs Python 3.11 to 3.13 with pip, on Linux or macOS, x86-64 or ARM, and nothing else.

    python3 bootstrap.py               set up, then list the recipes
    python3 bootstrap.py demo          set up, then build the report of the two shipped runs
    python3 bootstrap.py test          set up, then lint, check types, and run the tests
    python3 bootstrap.py RECIPE ...    set up, then `just RECIPE ...`

Everything goes into `.venv`, in the versions of `uv.lock`, each file checked against its hash. Packages are
fetched by pip, so that pip's own settings (index, proxy, certificates) hold. When the lock, the project
file, the folder and the Python are those of the last time, nothing is installed again.

This file keeps to a syntax that old Pythons parse too, so that they get a message and not a traceback.
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
    """Setting up cannot go on. The text says what is wrong and what to try."""


def say(text):
    """Progress goes to stderr: stdout belongs to the recipe."""
    sys.stderr.write("bootstrap: " + text + "\n")
    sys.stderr.flush()


def dotted(version):
    return ".".join(str(part) for part in version)


def examine(interpreter):
    """(version, path) of the Python behind an interpreter, or None when it does not run (as a shim may not).

    Inside an environment that is the Python which the environment was made of.
    """
    code = (
        "import os, sys; own = getattr(sys, '_base_executable', None) or sys.executable\n"
        "print(sys.version_info[0], sys.version_info[1], os.path.realpath(own))"
    )
    try:
        answer = subprocess.run([interpreter, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    except OSError:
        return None
    if answer.returncode:
        return None
    major, minor, path = answer.stdout.decode().strip().split(" ", 2)
    return (int(major), int(minor)), path


def choose_python():
    """(version, path) of this Python if it is supported, else of the newest supported one on PATH."""
    names = ["python3." + str(minor) for minor in range(NEWEST[1], OLDEST[1] - 1, -1)]
    for candidate in [sys.executable] + [shutil.which(name) for name in names]:
        examined = candidate and examine(candidate)
        if examined and OLDEST <= examined[0] <= NEWEST:
            return examined
    raise SetupError(
        f"Python {dotted(OLDEST)} to {dotted(NEWEST)} is needed; this is {dotted(sys.version_info[:2])}"
        f" ({sys.executable}), and PATH has no other.\n"
        "Install one (Debian: apt-get install python3 python3-venv) and run this file with it."
    )


def fingerprint(version, interpreter):
    """Changes when an installed environment would no longer be what the lock says, or stands elsewhere."""
    digest = hashlib.sha256()
    for part in (str(ROOT), interpreter, dotted(version)):
        digest.update(part.encode() + b"\0")
    for name in ("uv.lock", "pyproject.toml", "bootstrap.py"):
        digest.update((ROOT / name).read_bytes() + b"\0")
    return digest.hexdigest()


def is_set_up(mark):
    return STAMP.is_file() and STAMP.read_text() == mark and (VENV / "bin" / "just").exists()


def run_logged(command, path=LOG):
    """Runs a step, its output to the log only; a step that fails becomes a message with the log's end."""
    # A user-wide `pip install --user` or `--target` setting would put packages outside the environment.
    unwanted = ("PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PIP_REQUIRE_VIRTUALENV", "PYTHONHOME", "PYTHONPATH")
    environment = {name: value for name, value in os.environ.items() if name not in unwanted}
    environment["PIP_DISABLE_PIP_VERSION_CHECK"] = "1"
    with path.open("ab") as log:
        log.write(("\n$ " + " ".join(command) + "\n").encode())
        log.flush()
        result = subprocess.run(
            command, cwd=str(ROOT), env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
    if result.returncode:
        raise SetupError(explain(command, path))


def explain(command, path):
    """What went wrong in a step, from the log it left."""
    lines = path.read_text(errors="replace").rsplit("\n$ ", 1)[-1].splitlines()[1:]
    text = "\n".join(lines)
    if BAD_CERTIFICATE.search(text):
        cause = (
            "The package index's certificate is not trusted here. Where a proxy has its own authority,\n"
            "PIP_CERT (or `cert =` in pip's configuration) names the authority's file."
        )
    elif NO_NETWORK.search(text):
        cause = "The package index could not be reached, and the first setup needs it (pip's settings hold)."
    else:
        cause = "The step `" + " ".join(command[:6]) + " ...` failed."
    tail = "\n".join("    " + line for line in lines[-8:])
    return cause + "\nThe log's end (" + str(path.relative_to(ROOT)) + "):\n" + tail


def make_environment(interpreter, folder=VENV):
    """Makes an empty environment; returns the command of a pip that installs into it."""
    has = subprocess.run([interpreter, "-c", "import venv, ensurepip"], stderr=subprocess.DEVNULL)
    if folder.exists():
        shutil.rmtree(str(folder))
    folder.mkdir(parents=True)
    if has.returncode == 0:
        run_logged([interpreter, "-m", "venv", str(folder)], folder / LOG.name)
        return [str(folder / "bin" / "python"), "-m", "pip"]
    # Debian's Python comes without ensurepip: the outer pip then fills an environment that has none.
    run_logged([interpreter, "-m", "venv", "--without-pip", str(folder)], folder / LOG.name)
    ask = [interpreter, "-m", "pip", "--version"]
    outer = subprocess.run(ask, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    release = re.match(rb"pip (\d+)\.(\d+)", outer.stdout)
    if outer.returncode or not release or tuple(int(part) for part in release.groups()) < (22, 3):
        raise SetupError(
            f"{interpreter} has neither ensurepip nor pip 22.3 or newer, so packages cannot be installed.\n"
            "Install one of them (Debian: apt-get install python3-venv)."
        )
    return [interpreter, "-m", "pip", "--python", str(folder / "bin" / "python")]


def locked_uv():
    """The requirement line of uv with its hashes, from the lock: it unpacks the lock for all the others."""
    import tomllib

    lock = tomllib.loads((ROOT / "uv.lock").read_text(encoding="utf-8"))
    package = next(entry for entry in lock["package"] if entry["name"] == "uv")
    hashes = [wheel["hash"] for wheel in package["wheels"]]
    return f"uv=={package['version']} " + " ".join("--hash=" + value for value in hashes) + "\n"


def install(pip):
    """Fills `.venv`: uv by its locked hash, what the lock names by theirs, the project itself, editable."""
    options = ["install", "--quiet", "--no-input", "--retries", "2", "--no-warn-script-location"]
    first, rest = VENV / "uv.txt", VENV / "requirements.txt"
    first.write_text(locked_uv())
    run_logged([*pip, *options, "--require-hashes", "--only-binary", ":all:", "-r", str(first)])
    export = ["export", "--frozen", "--offline", "--no-emit-project", "--no-python-downloads", "--quiet"]
    python = str(VENV / "bin" / "python")
    run_logged([str(VENV / "bin" / "uv"), *export, "--python", python, "-o", str(rest)])
    run_logged([*pip, *options, "--require-hashes", "-r", str(rest)])
    run_logged([*pip, *options, "--no-deps", "--no-build-isolation", "--editable", str(ROOT)])
    # Even where Python is told to write no bytecode, what is installed has some: a command starts in half the time.
    run_logged([python, "-m", "compileall", "-q", str(ROOT / "compiler")])


def set_up(version, interpreter):
    """Makes `.venv` what the lock says, unless it is already."""
    mark = fingerprint(version, interpreter)
    if is_set_up(mark):
        return
    say(f"setting up .venv with Python {dotted(version)} ({interpreter}); this takes a minute or two")
    started = time.monotonic()
    install(make_environment(interpreter))
    STAMP.write_text(mark)
    say(f"set up in {time.monotonic() - started:.0f} s")


def main(arguments):
    """Exit status: the recipe's; 1 when setting up failed; 130 when interrupted."""
    if arguments and arguments[0] in ("-h", "--help"):
        print(__doc__.strip())
        return 0
    try:
        version, interpreter = choose_python()
        if version != sys.version_info[:2]:  # this one lacks what the rest of this file needs
            return subprocess.run([interpreter, str(Path(__file__).resolve()), *arguments]).returncode
        set_up(version, interpreter)
        just = [str(VENV / "bin" / "just"), "--justfile", str(ROOT / "justfile")]
        return subprocess.run([*just, *arguments], cwd=str(ROOT)).returncode
    except SetupError as error:
        say(str(error))
        return 1
    except KeyboardInterrupt:
        say("interrupted")
        return 130
    except OSError as error:
        say(f"{error.filename or 'operating system'}: {error.strerror or error}")
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
