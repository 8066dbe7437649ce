"""Compare outputs, and check messages and files after failing commands."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from tests.support.commands import CommandResult

FORMER: Mapping[str, bytes] = {
    "report.pdf": b"the report of yesterday",
    "results.json": b"{}\n",
    "charts/CentiCpu.svg": b"<svg/>\n",
    "notes.txt": b"not ours\n",
    "provenance.json": b"{}",
}


def write_former_outputs(out: Path) -> None:
    """Put the files of an earlier build, and a foreign one, into an output folder."""
    for name, content in FORMER.items():
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_bytes(content)


def read_contents(folder: Path) -> dict[str, bytes]:
    """Return every file of a folder by its path in it."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def assert_same(folder: Path, other: Path) -> None:
    """Check that two outputs have the same files, byte by byte."""
    mine, theirs = read_contents(folder), read_contents(other)
    assert set(mine) == set(theirs)
    assert [name for name in sorted(mine) if mine[name] != theirs[name]] == []


def format_message(result: CommandResult, places: Mapping[str, Path]) -> str:
    """Return the only output of a failed command, with paths replaced by names of places."""
    assert result.out == ""
    assert "Traceback" not in result.err
    text = result.err
    for name, place in sorted(places.items(), key=lambda item: -len(str(item[1]))):
        text = text.replace(str(place), name)
    return replace_quarantine_path(text)


def replace_quarantine_path(text: str) -> str:
    """Replace the path of the file of broken records by QUARANTINE."""
    return re.sub(r"\S+/quarantine/[0-9a-f]{32}\.parquet", "QUARANTINE", text)
