"""Build the scanner, the native part of Assay, into `compiler/assay/ingest/`.

    python native/hatch_build.py        build for this checkout (`just scanner`)

Hatchling runs this hook when it builds a wheel or installs a checkout. Without a recent Rust compiler nothing is
built; the engine then reads logs to the same rows at a third of the speed.

The variable ASSAY_SCANNER selects another scanner for a wheel: `none`, or `PLATFORM_TAG:LIBRARY` for one that is built
already (`tools/wheels.py`).
"""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # run as a script
    BuildHookInterface = object

HERE = Path(__file__).resolve().parent
NAME = "libassay_scan.dylib" if sys.platform == "darwin" else "libassay_scan.so"
TARGET = HERE.parent / "compiler" / "assay" / "ingest" / NAME
LOG_LINES = 12  # of the compiler's output that a message quotes
LONGEST = 160  # characters of an error of cargo that a message quotes
SOURCE_PLACE = "--> "  # precedes the place of an error in the scanner's sources


def build():
    """Build the scanner; on failure remove an old one. Return the reason of a failure or an empty text."""
    cargo = shutil.which("cargo")
    problem = _compile(cargo) if cargo else "no Rust compiler (cargo) on PATH"
    if problem:
        TARGET.unlink(missing_ok=True)
        return problem
    library = HERE / "target" / "release" / NAME
    if not TARGET.exists() or library.read_bytes() != TARGET.read_bytes():
        # Replace atomically: a running command may have the old library open.
        temporary = TARGET.with_suffix(".new")
        shutil.copy2(library, temporary)
        temporary.replace(TARGET)
    return ""


def _compile(cargo):
    """Run cargo; return the end of its output when it fails, else an empty text."""
    settings = ("CARGO_TARGET_DIR", "CARGO_BUILD_TARGET_DIR", "CARGO_BUILD_TARGET", "RUSTFLAGS")
    environment = {name: value for name, value in os.environ.items() if name not in settings}
    manifest = ["--manifest-path", str(HERE / "Cargo.toml")]
    try:
        done = subprocess.run(
            [cargo, "build", "--release", "--locked", "--offline", "--quiet", *manifest],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
    except OSError as error:
        return f"{cargo} does not run: {error.strerror}"
    if not done.returncode:
        return ""
    lines = done.stdout.decode(errors="replace").strip().splitlines()
    if any(line.lstrip().startswith(SOURCE_PLACE) for line in lines):
        return "\n".join(["the compiler reports errors:", *lines[-LOG_LINES:]])
    # A broken installation of Rust: its first error says why, the rest is noise for whoever does not maintain it.
    errors = [line for line in lines if line.startswith("error")] or lines or [f"no output, status {done.returncode}"]
    return f"{cargo} failed: {errors[0][:LONGEST]}"


class ScannerHook(BuildHookInterface):
    """Build hook of hatchling."""

    def initialize(self, version, build_data):
        """Build the scanner and add it to the wheel, which then depends on the platform."""
        if self.target_name != "wheel":
            return
        scanner = os.environ.get("ASSAY_SCANNER", "")
        if scanner:
            tag, _, library = scanner.partition(":")
            if library:
                _add(build_data, tag, Path(library))
            return
        problem = build()
        if problem:
            self.app.display_warning(f"scanner not built: {problem}")
        elif version != "editable":
            _add(build_data, sysconfig.get_platform().replace("-", "_").replace(".", "_"), TARGET)


def _add(build_data, tag, library):
    """Add a library to the wheel of a platform."""
    build_data["pure_python"] = False
    build_data["tag"] = f"py3-none-{tag}"
    build_data["force_include"][str(library)] = f"assay/ingest/{library.name}"


if __name__ == "__main__":
    problem = build()
    sys.stderr.write(f"scanner skipped, logs are read by SQL instead: {problem}\n" if problem else "")
