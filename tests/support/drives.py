"""Define a small system: drives with write rates as a table, and formulas over them."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from tests.support.laboratory import ROOT

PACKAGE = "specs/drives/package.dhall"
FORMULAS = "specs/antelope/formulas.dhall"
PROSE = """\
The first drive is written to at {{ disk_write_rate(drive = "sda") }}: {{ disk_writes_per_year(drive = "sda") }} a year.
"""

SPECS = (Path(__file__).parent / "drives.dhall").read_text(encoding="utf-8")
SQL = "SELECT drive, seq AS place, rate FROM read\n"


def create_drives_workspace(
    target: Path, edits: Mapping[str, str] | None = None, formulas: Mapping[str, str] | None = None
) -> Path:
    """Create a workspace with the system `drives`, and replace texts of its package and formulas."""
    for name, text in {
        PACKAGE: _edit_text(SPECS, edits or {}),
        FORMULAS: _edit_text((ROOT / FORMULAS).read_text(encoding="utf-8"), formulas or {}),
        "specs/drives/prose/disk.md": PROSE,
        "queries/drives/rates.sql": SQL,
    }.items():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).write_text(text, encoding="utf-8")
    shutil.copytree(ROOT / "specs" / "schema", target / "specs" / "schema")
    return target


def _edit_text(text: str, edits: Mapping[str, str]) -> str:
    for old, new in edits.items():
        assert old in text, f"there is no {old!r}"
        text = text.replace(old, new, 1)
    return text


def create_drives_run(folder: Path, **rates: int | tuple[int, ...]) -> Path:
    """Create a run from the rates of each drive, in bytes per second and per line."""
    folder.mkdir(parents=True)
    lines = ["at,drive,rate"]
    for drive, drive_rates in rates.items():
        for rate in drive_rates if isinstance(drive_rates, tuple) else (drive_rates,):
            lines.append(f"2024-01-22T20:00:{len(lines):02}Z,{drive},{rate}")
    (folder / "rates.csv").write_text("\n".join([*lines, ""]), encoding="utf-8")
    (folder / "meta.json").write_text(f'{{"ident": "{folder.name}"}}', encoding="utf-8")
    return folder
