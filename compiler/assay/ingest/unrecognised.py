"""What stands in logs in which no line is an event, so that specs and logs can be held against each other."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from assay.ingest.discovery import RunFiles
from assay.ingest.plain_copies import first_lines
from assay.lang.model.package import Lookup, Source
from assay.lang.model.source_kinds import TEXT_LINES
from assay.util.escape import cut, visible
from assay.util.json_document import object_of

LINES = 2000  # of the first log, which are looked at
NAMES = 6  # that are told
WIDTH = 100  # characters of a line or name


def sample_unrecognized_lines(source: Source, files: RunFiles) -> tuple[str, ...]:
    """What the first log that holds anything has in the places of names, or of patterns: a sentence for each lookup."""
    for path in (path for host in files.hosts for path in host.files):
        lines = [line.decode("utf-8", "replace").strip() for line in first_lines(path, LINES)]
        written = [(number, line) for number, line in enumerate(lines, 1) if line]
        if written:
            where = str(path.relative_to(files.directory))
            if source.kind == TEXT_LINES:
                return (_of_text(source, where, *written[len(written) // 2]),)  # a log begins unlike it goes on
            return tuple(dict.fromkeys(_of_json(source, where, written)))
    return ()


def _of_text(source: Source, where: str, number: int, line: str) -> str:
    pattern = f", which is read as {source.line}" if source.line else ""
    return f"source `{source.name}` finds in {where}:{number}: {_short(line)}{pattern}"


def _of_json(source: Source, where: str, lines: Sequence[tuple[int, str]]) -> Iterator[str]:
    objects = [found for _, line in lines if isinstance(found := _json(line), dict)]
    if not objects:
        number, line = lines[0]
        yield f"source `{source.name}` finds no JSON object in {where}:{number}: {_short(line)}"
        return
    for lookup in source.lookups:
        path = [*source.body, *lookup.path] if lookup.in_body else [*lookup.path]
        names = list(dict.fromkeys(name for item in objects if (name := _name(item, path, lookup))))
        more = f" and {len(names) - NAMES} more" if len(names) > NAMES else ""
        said = ", ".join(f"`{_short(name)}`" for name in names[:NAMES]) + more if names else "no text"
        yield f"source `{source.name}` finds as names at {'.'.join(path)} of {where}: {said}"


def _json(line: str) -> object:
    """What a line says as JSON; None where it is none."""
    try:
        return json.loads(line, object_pairs_hook=object_of)
    except (ValueError, RecursionError):
        return None


def _name(found: object, path: Sequence[str], lookup: Lookup) -> str:
    """The name that a lookup reads of a record; empty where there is none."""
    for key in path:
        found = found.get(key) if isinstance(found, dict) else None
    return found.removeprefix(lookup.drop) if isinstance(found, str) else ""


def _short(text: str) -> str:
    return cut(visible(text), WIDTH)
