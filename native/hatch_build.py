"""Build the scanner, the native part of Assay, into `compiler/assay/ingest/`.

    python native/hatch_build.py        build for this checkout (`just scanner`)

Hatchling runs this hook when it builds a wheel or installs a checkout. Without a recent Rust compiler nothing is
built; the engine then reads logs to the same rows at a third of the speed.
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
    done = subprocess.run(
        [cargo, "build", "--release", "--locked", "--offline", "--quiet", *manifest],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    lines = done.stdout.decode(errors="replace").strip().splitlines()
    return "\n".join(["cargo failed:", *lines[-LOG_LINES:]]) if done.returncode else ""


class ScannerHook(BuildHookInterface):
    """Build hook of hatchling."""

    def initialize(self, version, build_data):
        """Build the scanner and add it to the wheel, which then depends on the platform."""
        if self.target_name != "wheel":
            return
        problem = build()
        if problem:
            self.app.display_warning(f"scanner not built: {problem}")
        elif version != "editable":
            platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{platform}"
            build_data["force_include"][str(TARGET)] = f"assay/ingest/{NAME}"


if __name__ == "__main__":
    problem = build()
    sys.stderr.write(f"scanner not built: {problem}\n" if problem else "")
