"""`provenance.json` read back: what a build says of itself."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from assay.audit.provenance import FORMAT, content_hash
from assay.spec.diagnostics import AssayError, Span, fail

NAME = "provenance.json"
_STRICT: dict[str, Any] = {"extra": "forbid"}


@dataclass(frozen=True, slots=True)
class RecordedFile:
    """An input file of a run: its name from the run's directory, its size, its hash."""

    file: str
    bytes: int
    sha256: str

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """A run: its logs, and the documents that its constants were read from."""

    id: str
    label: str
    files: tuple[RecordedFile, ...]
    documents: tuple[RecordedFile, ...]
    quarantined: tuple[dict[str, str | int], ...]
    filters: tuple[dict[str, str | int | None], ...]

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT

    @property
    def inputs(self) -> tuple[RecordedFile, ...]:
        """All files that were read."""
        return (*self.files, *self.documents)


@dataclass(frozen=True, slots=True)
class RecordedOptions:
    """What was chosen."""

    style: str
    summary: str
    filters: tuple[str, ...]
    date: str
    title: str
    author: str

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT


@dataclass(frozen=True, slots=True)
class Content:
    """All that a build was made of; hashes are sha256 in hexadecimal digits."""

    report: str
    options: RecordedOptions
    versions: dict[str, str]
    specs: str
    definitions: dict[str, str]
    outline: str
    templates: str
    runs: tuple[RecordedRun, ...]

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT


@dataclass(frozen=True, slots=True)
class Recorded:
    """A provenance: its content, whether the hash beside it is the content's, and where the runs were, by their ids."""

    content: Content
    intact: bool
    places: dict[str, str]


def document_of(folder: Path) -> dict[str, Any]:
    """The provenance of a build's folder as plain data; AssayError as of `recorded` when there is none."""
    found = _document(folder, folder / NAME)
    return found if isinstance(found, dict) and isinstance(found.get("content", {}), dict) else {}


def recorded(folder: Path) -> Recorded:
    """The provenance of a build's folder.

    Raises AssayError: `no-build` when the folder holds none, `provenance` when its file is not what a build writes.
    """
    place = folder / NAME
    found = _document(folder, place)
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        said = found.get("format") if isinstance(found, dict) else None
        raise fail(
            "provenance",
            f"the provenance is of another form: {place}",
            expected=f"a provenance of format {FORMAT}",
            found="no format" if said is None else f"format {json.dumps(said)[:40]}",
            hint="only what `assay build` of this version wrote can be verified",
        )
    content = _content(found.get("content"), place)
    places = found.get("places")
    ids = [run.id for run in content.runs]
    if (
        not isinstance(places, dict)
        or sorted(places) != sorted(ids)
        or not all(isinstance(p, str) for p in places.values())
    ):
        raise _invalid(place, "places: must name the directory of each run, and of no other")
    return Recorded(content, found.get("hash") == content_hash(found["content"]), places)


def _document(folder: Path, place: Path) -> Any:
    """What the file holds."""
    if not place.is_file():
        what = "holds no provenance.json" if folder.is_dir() else "does not exist"
        raise fail("no-build", f"the folder {what}: {folder}", hint="name the folder that a report was built into (-o)")
    try:
        return json.loads(place.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        span = Span(str(place), error.lineno, error.colno)
        raise fail("provenance", f"the provenance is not JSON: {error.msg}", span=span) from None
    except (OSError, UnicodeDecodeError, RecursionError) as error:
        raise fail("provenance", f"the provenance cannot be read: {error}", span=Span(str(place))) from None


def _content(found: object, place: Path) -> Content:
    from pydantic import TypeAdapter, ValidationError  # slow to import, and only readers need it

    try:
        return TypeAdapter(Content).validate_json(json.dumps(found), strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        raise _invalid(place, f"{'.'.join(map(str, ('content', *first['loc'])))}: {first['msg']}") from None


def _invalid(place: Path, problem: str) -> AssayError:
    return fail("provenance", f"the provenance is not what a build writes: {place}", found=problem)
