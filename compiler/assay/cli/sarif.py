"""Write SARIF 2.1.0 files, from which code hosts mark lines of a change with problems."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import click

from assay.provenance.versions import get_versions
from assay.util.diagnostics import AssayError, Diagnostic, Span, fail

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
SPECS = "specs"

add_sarif_option = click.option(
    "--sarif", metavar="FILE", type=click.Path(path_type=Path), help="Also write the problems to this file as SARIF."
)


@dataclass(frozen=True, slots=True)
class SarifResult:
    """A problem: `rule` is its stable code, `level` error, warning or note; `span` is None if its place is unknown."""

    rule: str
    level: str
    message: str
    span: Span | None


def convert_diagnostic(item: Diagnostic) -> SarifResult:
    """Return a problem of the specs with what was expected and found, its notes and its hint."""
    details = [("expected", item.expected), ("found", item.found), *(("note", note) for note in item.notes)]
    lines = [f"{name}: {text}" for name, text in (*details, ("hint", item.hint)) if text]
    return SarifResult(item.code, item.severity, "\n".join([item.message, *lines]), item.span)


@contextmanager
def record_problems(place: Path | None, root: Path, localize: Callable[[AssayError], AssayError]) -> Iterator[None]:
    """Write the problems of specs that the body raises to a file; an empty list if it raises none."""
    try:
        yield
    except AssayError as error:
        if place:
            problems = [convert_diagnostic(item) for item in localize(error).diagnostics]
            write_sarif(place, problems, root, SPECS)
        raise
    if place:
        write_sarif(place, [], root, SPECS)


def write_sarif(place: Path, results: Sequence[SarifResult], root: Path, fallback: str) -> None:
    """Write problems to a file.

    Files of spans are relative to `root`; those of the result are relative to the git repository around it, as code
    hosts expect. A problem without a place is located in the file `fallback`, because code hosts refuse one without.
    Raises AssayError if the file cannot be written.
    """
    text = json.dumps(_build_log(results, root, fallback), ensure_ascii=False, indent=1)
    try:
        place.write_text(text + "\n", encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise fail("output", f"the file cannot be written: {error.strerror}: {place}") from None


def _build_log(results: Sequence[SarifResult], root: Path, fallback: str) -> dict[str, Any]:

    repository = _find_repository(root)
    rules = sorted({item.rule for item in results})
    driver = {"name": "Assay", "version": get_versions()["assay"], "rules": [{"id": rule} for rule in rules]}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [
            {
                "ruleId": item.rule,
                "level": item.level,
                "message": {"text": item.message},
                "locations": [_build_location(item.span or Span(fallback), root, repository)],
            }
            for item in results
        ],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _find_repository(root: Path) -> Path:
    """Return the folder of the git repository around a folder, or else the folder itself."""
    folders: Iterable[Path] = (root.absolute(), *root.absolute().parents)
    return next((folder for folder in folders if (folder / ".git").exists()), root.absolute())


def _build_location(span: Span, root: Path, repository: Path) -> dict[str, Any]:
    path = root.absolute() / span.file
    is_inside = path.is_relative_to(repository)
    address = quote(path.relative_to(repository).as_posix()) if is_inside else path.as_uri()
    location: dict[str, Any] = {"artifactLocation": {"uri": address}}
    if span.line:
        region = {"startLine": span.line}
        if span.column:
            region["startColumn"] = span.column
            if span.length:
                region["endColumn"] = span.column + span.length
        location["region"] = region
    return {"physicalLocation": location}
