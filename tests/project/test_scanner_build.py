"""The build of the scanner, which bootstrap.py runs, where Rust is missing, broken, or reports errors."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.laboratory import ROOT

START = "scanner skipped, logs are read by SQL instead: "
RUSTUP = """\
error: rustup could not choose a version of cargo to run, because no default is configured.
help: run 'rustup default stable' to download the latest stable release of Rust and set it as your default toolchain.
"""
PANIC = "thread 'main' panicked at src/main.rs:3:5\nstack backtrace:\n" + "   0: std::panicking\n" * 40
MISTAKE = "error[E0308]: mismatched types\n --> src/lib.rs:3:5\n  |\n3 | x\n"

CARGOS = {
    "toolchain": (f"#!/bin/sh\ncat >&2 <<'E'\n{RUSTUP}E\nexit 1\n", "CARGO failed: error: rustup could not choose"),
    "silent": ("#!/bin/sh\nexit 101\n", "CARGO failed: no output, status 101"),
    "backtrace": (f"#!/bin/sh\ncat >&2 <<'E'\n{PANIC}E\nexit 101\n", "CARGO failed: thread 'main' panicked"),
    "no program": ("\x7fELF\0", "CARGO does not run: Exec format error"),
}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Copy the build script, with a library of an earlier build."""
    (tmp_path / "native").mkdir()
    shutil.copy(ROOT / "native" / "hatch_build.py", tmp_path / "native")
    library = tmp_path / "compiler" / "assay" / "ingest" / "libassay_scan.so"
    library.parent.mkdir(parents=True)
    library.write_bytes(b"old")
    return tmp_path


def build(checkout: Path, cargo: str) -> subprocess.CompletedProcess[str]:
    """Build the scanner with a program named cargo; without one if it is empty."""
    folder = checkout / "bin"
    folder.mkdir()
    if cargo:
        (folder / "cargo").write_text(cargo, encoding="utf-8")
        (folder / "cargo").chmod(0o755)
    path = f"{folder}{os.pathsep}/usr/bin{os.pathsep}/bin" if cargo else str(folder)
    command = [sys.executable, checkout / "native" / "hatch_build.py"]
    return subprocess.run(command, env={"PATH": path}, capture_output=True, text=True)


@pytest.mark.parametrize("name", CARGOS)
def test_broken_cargo_is_one_short_line(checkout: Path, name: str) -> None:
    cargo, reason = CARGOS[name]
    result = build(checkout, cargo)
    (line,) = result.stderr.splitlines()
    assert (result.returncode, result.stdout) == (0, "")
    assert line.startswith(START + reason.replace("CARGO", str(checkout / "bin" / "cargo")))
    assert len(line) < len(START) + len(str(checkout)) + 200
    assert not list((checkout / "compiler" / "assay" / "ingest").iterdir())


def test_missing_cargo_is_one_short_line(checkout: Path) -> None:
    result = build(checkout, "")
    assert (result.returncode, result.stderr) == (0, f"{START}no Rust compiler (cargo) on PATH\n")


def test_error_in_the_sources_is_quoted(checkout: Path) -> None:
    result = build(checkout, f"#!/bin/sh\ncat >&2 <<'E'\n{MISTAKE}E\nexit 101\n")
    assert result.stderr == f"{START}the compiler reports errors:\n{MISTAKE}"
