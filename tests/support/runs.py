"""Create run directories: copies of reference runs with other lines, hosts and files."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import zstandard

from tests.compare_reference import CARDANO
from tests.oracle.instants import SECOND, format_instant, parse_instant

#: the start of slot 0 in the runs under `tiny`, whose slots last a second
TINY_START = parse_instant("2026-02-05T18:52:16Z")


def copy_run(case: str, target: Path) -> Path:
    """Copy a reference case's run."""
    shutil.copytree(CARDANO / case / "run", target)
    return target


def read_lines(host: Path) -> list[str]:
    """Return the lines of a host's log, its files ordered by first instant."""
    files = [_decompress_file(file).decode().splitlines() for file in host.iterdir()]
    first_instants = [
        next((instant for instant in map(_read_instant, lines) if instant is not None), 0) for lines in files
    ]
    return [line for _, lines in sorted(zip(first_instants, files, strict=True)) for line in lines]


def _decompress_file(file: Path) -> bytes:
    raw = file.read_bytes()
    if file.suffix == ".gz":
        return gzip.decompress(raw)
    return zstandard.ZstdDecompressor().decompress(raw) if file.suffix == ".zst" else raw


def write_log(host: Path, lines: Sequence[str], name: str = "stdout", end: str = "\n") -> None:
    """Write one file of a host's log, compressed according to its suffix."""
    host.mkdir(parents=True, exist_ok=True)
    content = "".join(f"{line}{end}" for line in lines).encode()
    if name.endswith(".gz"):
        content = gzip.compress(content, 1, mtime=0)
    elif name.endswith(".zst"):
        content = zstandard.ZstdCompressor(level=1).compress(content)
    (host / name).write_bytes(content)


def change_log(host: Path, change: Callable[[list[str]], Sequence[str]]) -> None:
    """Replace a host's log by changed lines."""
    lines = change(read_lines(host))
    for file in host.iterdir():
        file.unlink()
    write_log(host, lines)


def rotate_log(host: Path, names: Sequence[str]) -> None:
    """Split a host's log into files before instants later than all earlier ones, so that their order is known."""
    lines = read_lines(host)
    for file in host.iterdir():
        file.unlink()
    candidates = _find_cuts(lines)
    step = len(candidates) // len(names)
    cuts = [0, *(candidates[step * part] for part in range(1, len(names))), len(lines)]
    for name, begin, end in zip(names, cuts, cuts[1:], strict=False):
        write_log(host, lines[begin:end], name)


def _find_cuts(lines: Sequence[str]) -> list[int]:
    cuts, latest = [], -1
    for index, line in enumerate(lines):
        instant = _read_instant(line)
        if instant is not None:
            if instant > latest >= 0:
                cuts.append(index)
            latest = max(latest, instant)
    return cuts


def _read_instant(line: str) -> int | None:
    try:
        return parse_instant(json.loads(line)["at"])
    except (ValueError, KeyError, TypeError):
        return None


def format_line(seconds: float, ns: str, data: dict[str, Any]) -> str:
    """Return a log object `seconds` seconds after the start of slot 0 of a tiny run."""
    instant = TINY_START + round(seconds * SECOND)
    text = format_instant(instant, "%Y-%m-%dT%H:%M:%S")
    return json.dumps({"at": f"{text}.{instant % SECOND:09d}Z", "ns": ns, "data": {"kind": "K", **data}})


def format_reading(seconds: float, **counters: int) -> str:
    """Return a `Resources` object whose other counters and gauges are 0."""
    names = ("CentiCpu", "CentiGC", "CentiMut", "CentiBlkIO", "GcsMajor", "GcsMinor", "Alloc", "RSS", "Live", "Threads")
    return format_line(seconds, "Resources", {**dict.fromkeys(names, 0), **counters})


def change_json(file: Path, change: Callable[[Any], None]) -> None:
    """Change a JSON document in place, and write one key per line."""
    content = json.loads(file.read_text(encoding="utf-8"))
    change(content)
    file.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
