"""Builds the scanner, the part of Assay in native code, into `compiler/assay/ingest/`.

    python native/hatch_build.py        now, for this checkout (`just scanner`)

Hatchling runs it whenever it builds a wheel, or installs a checkout.  Where no Rust is, or it is too old, nothing is
built: the engine then reads logs by itself, to the same rows, in a third of the speed.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # run by itself
    BuildHookInterface = object

HERE = Path(__file__).resolve().parent
NAME = "libassay_scan.dylib" if sys.platform == "darwin" else "libassay_scan.so"
PLACE = HERE.parent / "compiler" / "assay" / "ingest" / NAME
TOLD = 12  # lines of the compiler that are passed on


def build():
    """Builds the scanner.  An empty text when it is there, else why it is not; an old one is gone then."""
    cargo = shutil.which("cargo")
    why = _compiled(cargo) if cargo else "no Rust compiler (cargo) is there"
    if why:
        PLACE.unlink(missing_ok=True)
        return why
    made = HERE / "target" / "release" / NAME
    if not PLACE.exists() or made.read_bytes() != PLACE.read_bytes():
        # In one step: a command that is at work has the old one open.
        fresh = PLACE.with_suffix(".new")
        shutil.copy2(made, fresh)
        fresh.replace(PLACE)
    return ""


def _compiled(cargo):
    """Why the compiler fails; an empty text when it does not."""
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
    return "\n".join(["cargo failed:", *lines[-TOLD:]]) if done.returncode else ""


class ScannerHook(BuildHookInterface):
    """What hatchling calls."""

    def initialize(self, version, build_data):
        """Build the scanner, and take it into a wheel; a wheel that has it is one of this platform."""
        if self.target_name != "wheel":
            return
        why = build()
        if why:
            self.app.display_warning(f"the scanner is left out: {why}")
        elif version != "editable":
            platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{platform}"
            build_data["force_include"][str(PLACE)] = f"assay/ingest/{NAME}"


if __name__ == "__main__":
    told = build()
    sys.stderr.write(f"the scanner is left out: {told}\n" if told else "")
