"""`provenance.json` read back: what a build says of itself."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

from assay.report.output_forms import FILES, USUAL
from assay.util.diagnostics import SPECS_OR_DATA, USAGE, AssayError, Span, fail
from assay.util.json_text import parse_json
from assay.util.os_errors import is_below
from assay.util.paths import resolve_path

if TYPE_CHECKING:
    from pydantic import TypeAdapter

FORMAT = 1
NAME = "provenance.json"
T = TypeVar("T")
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
    at: tuple[str, ...] = ()
    phases: tuple[str, ...] = ()

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
    claims: tuple[dict[str, Any], ...] = ()
    cut_by: dict[str, str] = field(default_factory=dict)
    phases: dict[str, dict[str, Any]] = field(default_factory=dict)

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT


@dataclass(frozen=True, slots=True)
class RecordedPublication:
    """A publication file: its name, its size, its hash, and the edition it is in."""

    file: str
    bytes: int
    sha256: str
    edition: str

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT


@dataclass(frozen=True, slots=True)
class PublishedContent:
    """All that a report of publications was made of: a history, or, with an edition, one made again."""

    report: str
    edition: str
    options: dict[str, str]
    versions: dict[str, str]
    specs: str
    outline: str
    templates: str
    publications: tuple[RecordedPublication, ...]

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT


Forms = dict[str, dict[str, str]]
"""Form of a report -> tool -> version."""


@dataclass(frozen=True, slots=True)
class RecordedPublished:
    """The same of a report of publications; `places` are the files, in the content's order."""

    content: PublishedContent
    intact: bool
    places: tuple[Path, ...]
    forms: Forms


@dataclass(frozen=True, slots=True)
class Recorded:
    """A provenance: its content, whether the hash beside it is the content's, and where the runs were, by their ids.

    `forms` are those of the report, each with the versions of the tools that only it needs.
    """

    content: Content
    intact: bool
    places: dict[str, str]
    forms: Forms


def folder_of(named: Path) -> Path:
    """The folder of a build, which may be named by its provenance."""
    return named.parent if named.name == NAME and named.is_file() else named


def recorded(folder: Path) -> Recorded | RecordedPublished:
    """The provenance of a build's folder.

    Raises AssayError: `no-build` when the folder holds none, `provenance` when its file is not what a build writes.
    """
    return recorded_in(folder / NAME)


def recorded_in(place: Path) -> Recorded | RecordedPublished:
    """The provenance that a file holds, whatever it is called; raises as `recorded` does."""
    found = _document(place.parent, place)
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        said = found.get("format") if isinstance(found, dict) else None
        raise fail(
            "provenance",
            f"the provenance is of another form: {place}",
            expected=f"a provenance of format {FORMAT}",
            found="no format" if said is None else f"format {json.dumps(said)[:40]}",
            hint="only what `assay` of this version built can be verified",
        )
    said, places = found.get("content"), found.get("places")
    forms = _forms(found.get("forms", {form: {} for form in USUAL}), place)
    intact = found.get("hash") == content_hash(said) if isinstance(said, dict) else False
    if isinstance(said, dict) and "publications" in said:
        published = _content(PublishedContent, said, place)
        return RecordedPublished(published, intact, _files(published, places, place), forms)
    content = _content(Content, said, place)
    for item in (item for run in content.runs for item in run.inputs):
        if not is_below(item.file):
            raise _invalid(place, f"runs: {json.dumps(item.file[:80])} is no file of a run")
    ids = [run.id for run in content.runs]
    if (
        not isinstance(places, dict)
        or sorted(places) != sorted(ids)
        or not all(isinstance(p, str) for p in places.values())
    ):
        raise _invalid(place, "places: must name the directory of each run, and of no other")
    return Recorded(content, intact, places, forms)


def content_hash(content: Mapping[str, object]) -> str:
    """sha256 of the content, written in one way only."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _files(content: PublishedContent, places: object, place: Path) -> tuple[Path, ...]:
    """Where the publication files were."""
    named = places.get("publications") if isinstance(places, dict) else None
    if (
        not isinstance(named, list)
        or len(named) != len(content.publications)
        or not named
        or not all(isinstance(item, str) for item in named)
    ):
        raise _invalid(place, "places: must name each publication file, and no other")
    return tuple(Path(item) for item in named)


def _forms(found: object, place: Path) -> Forms:
    """The forms of the report."""
    forms = found if isinstance(found, dict) else {}
    tools = [pair for of in forms.values() for pair in (of.items() if isinstance(of, dict) else [("", None)])]
    if not forms or forms.keys() - FILES.keys() or not all(isinstance(version, str) for _, version in tools):
        raise _invalid(place, f"forms: must name some of {', '.join(FILES)}, each with its tools")
    return forms


def _document(folder: Path, place: Path) -> Any:
    """What the file holds."""
    resolve_path(place)
    if not place.is_file():
        what = "holds no provenance.json" if folder.is_dir() else "does not exist"
        raise fail("no-build", f"the folder {what}: {folder}", hint="name the folder that a report was built into (-o)",
                   status=SPECS_OR_DATA if folder.exists() else USAGE)  # fmt: skip
    try:
        return parse_json(place.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        span = Span(str(place), error.lineno, error.colno)
        raise fail("provenance", f"the provenance is not JSON: {error.msg}", span=span) from None
    except (OSError, ValueError, RecursionError) as error:
        raise fail("provenance", f"the provenance cannot be read: {error}", span=Span(str(place))) from None


def _content(kind: type[T], found: object, place: Path) -> T:
    from pydantic import ValidationError  # slow to import, and only readers need it

    try:
        return cast("T", _reader(cast("Any", kind)).validate_json(json.dumps(found), strict=True))
    except ValidationError as error:
        first = error.errors()[0]
        raise _invalid(place, f"{'.'.join(map(str, ('content', *first['loc'])))}: {first['msg']}") from None


@functools.cache
def _reader(kind: Any) -> TypeAdapter[Any]:
    """What reads data of a type; to make it takes longer than to read."""
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


def _invalid(place: Path, problem: str) -> AssayError:
    return fail("provenance", f"the provenance is not what a build writes: {place}", found=problem)
