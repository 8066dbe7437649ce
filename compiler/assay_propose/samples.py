"""Read the sample files of a proposal: their first lines, and the folders that distinguish them."""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from assay.ingest.decompress import iter_decompressed
from assay.util.diagnostics import USAGE, AssayError, fail
from assay.util.paths import resolve_path
from assay_propose.file_names import ROTATION, drop_compression
from assay_propose.model import PassedOver, SampleFile

#: what a proposal reads of each file; the copy in the run is whole
MAX_LINES, MAX_CHARACTERS = 20_000, 32 * 2**20
_BEGINNINGS = ("{", "[", "[{")  # first lines of a JSON document of several lines, which is of use only as a whole
RESERVED = "meta.json"  # the facts of the run
#: endings of the files of a folder that are read as logs, apart from those of rotated and compressed files
SUFFIXES = ("", ".csv", ".err", ".json", ".jsonl", ".jtl", ".log", ".logfmt", ".ndjson", ".om", ".out", ".prom", ".tsv",
            ".txt")  # fmt: skip


_START = 4096  # bytes that show that a file is text


def read_samples(paths: Sequence[Path]) -> tuple[tuple[SampleFile, ...], tuple[PassedOver, ...]]:
    """Read the first lines of files, and of the logs below folders; return the files passed over, too.

    Raises AssayError `no-file` (usage), `broken-file`.
    """
    listed: dict[Path, bool] = {}
    passed_over = []
    for path in paths:
        if not path.is_dir():
            listed[path] = True
            continue
        logs, others = _list_folder(path)
        if not logs:
            raise _build_no_file_error(path)
        listed.update((log, listed.get(log, False)) for log in logs)
        if others:
            passed_over.append(PassedOver(len(others), others[0].name, f"only {_describe_suffixes()} are logs"))
    folders = _find_folders(list(listed))
    samples = []
    for (path, is_listed), parts in zip(listed.items(), folders, strict=True):
        lines, is_cut = _read_lines(path)
        if is_listed or any(map(str.strip, lines)):
            samples.append(SampleFile(path, parts, _make_file_name(path.name), lines, is_cut, is_listed))
        else:
            passed_over.append(PassedOver(1, path.name, "it is empty"))
    return tuple(samples), tuple(passed_over)


def _describe_suffixes() -> str:
    return f"names without an ending or with {', '.join(filter(None, SUFFIXES))}"


def _list_folder(folder: Path) -> tuple[list[Path], list[Path]]:
    """Return the logs below a folder, in order, and its other files; hidden ones are neither."""
    paths = sorted(
        path
        for path in folder.rglob("*")
        if not any(part.startswith(".") for part in path.relative_to(folder).parts) and path.is_file()
    )
    logs = [path for path in paths if _is_log_name(path.name)] or list(filter(_has_text, paths))
    return logs, [path for path in paths if path not in logs and path.name != RESERVED]


def _has_text(path: Path) -> bool:
    """Return whether a file begins like a text, whatever its name ends in."""
    with path.open("rb") as stream:
        start = stream.read(_START)
    return path.name != RESERVED and bool(start) and b"\0" not in start


def _is_log_name(name: str) -> bool:
    return name != RESERVED and Path(ROTATION.sub("", drop_compression(name))).suffix in SUFFIXES


def _find_folders(paths: Sequence[Path]) -> list[tuple[str, ...]]:
    """Return the folders of each file below the innermost folder that contains all."""
    parents = [resolve_path(path).parent for path in paths]
    root = os.path.commonpath(parents)
    return [tuple(map(_make_file_name, parent.relative_to(root).parts)) for parent in parents]


def _make_file_name(name: str) -> str:
    """Return a name that no glob reads as a pattern."""
    return re.sub(r"[^\w.+-]", "_", name, flags=re.ASCII).lstrip(".") or "sample"


def _iter_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a file, which may be compressed, without their ends."""
    if not path.is_file():
        raise _build_no_file_error(path)
    pending = ""
    for text in codecs.iterdecode(iter_decompressed(path), "utf-8-sig", errors="replace"):
        *lines, pending = (pending + text).split("\n")
        yield from lines
        if len(pending) > MAX_CHARACTERS:
            break
    if pending:
        yield pending


def _build_no_file_error(path: Path) -> AssayError:
    if not path.is_dir():
        return fail("no-file", f"there is no log at {path}", expected="a log, or a folder of logs", found="no file",
                    status=USAGE)  # fmt: skip
    return fail("no-file", f"the folder has no logs: {path}", expected=f"files with {_describe_suffixes()}",
                hint="name the logs after `--from` instead of the folder", status=USAGE)  # fmt: skip


def _read_lines(path: Path) -> tuple[tuple[str, ...], bool]:
    lines: list[str] = []
    size = 0
    for line in _iter_lines(path):
        size += len(line)
        is_document = bool(lines) and lines[0].strip() in _BEGINNINGS
        if size > MAX_CHARACTERS or (len(lines) == MAX_LINES and not is_document):
            return tuple(lines or [line[:MAX_CHARACTERS]]), True
        lines.append(line.rstrip("\r"))
    return tuple(lines), False
