"""Name the lines of text in logs of JSON objects, and the lines of any log that look like a crash.

Ingest counts lines of text without keeping them. Here the files of hosts with such lines are read again, until all of
them are known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.engine.mount import UnknownName
from assay.ingest.chunks import FILE_STEP
from assay.ingest.decompress import iter_decompressed
from assay.lang.model.source_kinds import JSON_LINES, SOURCE_KINDS
from assay.quality.finding import CRASH, STRAY, Finding
from assay.quality.unknown_names import list_unknown_names
from assay.runs.model import IngestedRun, Part
from assay.util.escape import escape_text, truncate
from assay.util.numbers import format_count, split_numbers

MOST_EXAMINED = 100_000  # lines of text of a host
NAMED = 3  # groups that a message names
WIDTH = 100  # columns of a line in a message
_LONGEST_PREFIX = 1 << 16  # bytes of a line that are looked at
_BLANKS = b"\0 \t\r"
_NO_OBJECT = re.compile(rb"\n[^{]")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_CRASH = re.compile(
    r"\bpanic(?:ked)?\b|\bfatal\b|\btraceback\b|exception\b|\bsegfault|\bsegmentation fault|\bcore dumped|"
    r"\bout of memory|outofmemory|\boom\b|\boom[-_ ]?kill|\bstack overflow|stackoverflow|"
    r"\bassert(?:ion)?\b.*\bfail|\bassertion ?error|\bsig(?:segv|abrt|kill|bus|ill)\b|\b\w*sanitizer:",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class StrayLine:
    """A line of text: its host, file relative to the run, line number and text; `rows` lines are alike."""

    host: str
    file: str
    line: int
    text: str
    rows: int = 1

    @property
    def is_crash(self) -> bool:
        """Return whether the line looks like the message of a crash."""
        return bool(_CRASH.search(self.text))

    @property
    def beginning(self) -> str:
        """Return the first two words, numbers replaced, by which lines are alike."""
        return re.sub(r"\d+", "#", " ".join(self.text.split()[:2]))


def list_stray_findings(ingested_run: IngestedRun) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """Return a finding about lines that look like a crash, and a note about other lines of text; each may be absent.

    Raises AssayError if a file cannot be read.
    """
    lines = [line for part in ingested_run.parts for line in _iter_lines(part)]
    crashes = [line for line in lines if line.is_crash]
    others = [line for line in lines if not line.is_crash]
    findings = (_describe_lines(CRASH, crashes, "look like a crash", "looks like a crash"),) if crashes else ()
    notes = (_describe_lines(STRAY, others, "are no JSON objects", "is no JSON object"),) if others else ()
    return findings, notes


def _iter_lines(part: Part) -> Iterator[StrayLine]:
    kind = SOURCE_KINDS[part.source.kind]
    if kind is JSON_LINES:
        numbers = {log.host: log.text_lines for log in part.facts.logs}
        for host in sorted(part.files.hosts, key=lambda host: split_numbers(host.host)):
            yield from _read_host(part.files.directory, host.host, host.files, numbers.get(host.host, 0))
    elif kind.has_patterns:
        files = {host.host: host.files for host in part.files.hosts}
        for name, items in list_unknown_names(part.source, part.facts.unknown).items():
            if name and _CRASH.search(name):
                yield _locate_line(part.files.directory, files, name, items)


def _locate_line(
    directory: Path, files: dict[str, tuple[Path, ...]], name: str, items: Sequence[UnknownName]
) -> StrayLine:
    """Return the first of the lines of a text log that no pattern matches and that have one name."""
    first = min(items, key=lambda item: split_numbers(item.host))
    path = files[first.host][first.first_seq // FILE_STEP]
    file = path.relative_to(directory).as_posix()
    return StrayLine(first.host, file, first.first_seq % FILE_STEP, name, sum(item.n for item in items))


def _read_host(directory: Path, host: str, files: Sequence[Path], number: int) -> Iterator[StrayLine]:
    """Yield the lines of text of a host, blank ones left out; its files have `number` of them."""
    number = min(number, MOST_EXAMINED)
    for path in files:
        if number <= 0:
            return
        file = path.relative_to(directory).as_posix()
        for line, content in _iter_text_lines(path):
            if text := content.strip(_BLANKS).decode(errors="replace"):
                yield StrayLine(host, file, line, text)
            number -= 1
            if number <= 0:
                break


def _iter_text_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the number and the first bytes of each line of a file that does not begin like a JSON object."""
    number, rest = 1, b""
    for chunk in iter_decompressed(path):
        if number == 1 and not rest:
            chunk = chunk.removeprefix(_BYTE_ORDER_MARK)
        content = rest + chunk
        end = content.rfind(b"\n")
        if end >= 0:
            # Most chunks have objects only. To search them is much faster than to look at each line.
            if not content.startswith(b"{") or _NO_OBJECT.search(content, 0, end):
                yield from _filter_lines(content[:end], number)
            number += content.count(b"\n")
        rest = content[end + 1 :][:_LONGEST_PREFIX]
    if rest:
        yield from _filter_lines(rest, number)


def _filter_lines(content: bytes, first: int) -> Iterator[tuple[int, bytes]]:
    for number, line in enumerate(content.split(b"\n"), start=first):
        if not line.startswith(b"{") and not line.lstrip(_BLANKS).startswith(b"{"):
            yield number, line[:_LONGEST_PREFIX]


def _describe_lines(code: str, lines: Sequence[StrayLine], plural: str, singular: str) -> Finding:
    """Return a finding with the number of lines, and the first of each group of lines that begin alike."""
    groups: dict[str, list[StrayLine]] = {}
    for line in lines:
        groups.setdefault(line.beginning, []).append(line)
    names = [_describe_group(group) for group in list(groups.values())[:NAMED]]
    more = f"; and {format_count(len(groups) - NAMED, 'other beginning')}" if len(groups) > NAMED else ""
    total = sum(line.rows for line in lines)
    text = f"{format_count(total, 'log line')} {singular if total == 1 else plural}: {'; '.join(names)}{more}."
    hosts = tuple(sorted({line.host for line in lines if line.host}, key=split_numbers))
    return Finding(code, text, hosts=hosts, affected=total)


def _describe_group(group: Sequence[StrayLine]) -> str:
    first, rows = group[0], sum(line.rows for line in group)
    text = truncate(escape_text(first.text), WIDTH).replace("`", "'")
    return f"{first.file}:{first.line} `{text}`{f' ({rows} begin so)' if rows > 1 else ''}"
