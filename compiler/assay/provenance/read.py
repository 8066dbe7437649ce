"""Read `provenance.json`: the inputs, options and versions of a build."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

from assay.lang.model.filters import FilterSource
from assay.report.output_forms import DEFAULT_FORMS, FILES
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
    """An input file of a run: its name relative to the run's directory, size and hash."""

    file: str
    bytes: int
    sha256: str

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """A run: its logs, and the documents that its constants were read from; `version` if it has several runs.

    `named` says whether the user named the run.
    """

    id: str
    label: str
    files: tuple[RecordedFile, ...]
    documents: tuple[RecordedFile, ...]
    quarantined: tuple[dict[str, str | int], ...]
    filters: tuple[dict[str, str | int | None], ...]
    version: str = ""
    named: bool = False

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT

    @property
    def inputs(self) -> tuple[RecordedFile, ...]:
        """Return all files that were read."""
        return (*self.files, *self.documents)


@dataclass(frozen=True, slots=True)
class RecordedOptions:
    """The options of a build."""

    style: str
    summary: str
    filters: tuple[str, ...]
    date: str
    title: str
    author: str
    at: tuple[str, ...] = ()
    phases: tuple[str, ...] = ()
    margin: str = ""
    repeats: bool = False
    columns: tuple[str, ...] = ()
    details: tuple[str, ...] = ()
    by: str = ""
    filter_files: tuple[FilterSource, ...] = ()
    edition: str = ""

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT


@dataclass(frozen=True, slots=True)
class Content:
    """All inputs of a build; hashes are SHA-256 in hexadecimal."""

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
    calibration: tuple[RecordedRun, ...] = ()
    judgement: str = ""

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT

    @property
    def all_runs(self) -> tuple[RecordedRun, ...]:
        """Return the compared runs and the calibration runs."""
        return (*self.runs, *self.calibration)


@dataclass(frozen=True, slots=True)
class RecordedPublication:
    """A publication file: its name, size, hash and edition."""

    file: str
    bytes: int
    sha256: str
    edition: str

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT


@dataclass(frozen=True, slots=True)
class RecordedHistoryBuild:
    """The `results.json` of a build: its name, size and hash, the workload of the build, and its day."""

    file: str
    bytes: int
    sha256: str
    workload: str
    day: str

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT


@dataclass(frozen=True, slots=True)
class PublishedContent:
    """All inputs of a report of publications: a history, or, with an edition, a report built again."""

    report: str
    edition: str
    options: dict[str, str]
    versions: dict[str, str]
    specs: str
    outline: str
    templates: str
    publications: tuple[RecordedPublication, ...]
    builds: tuple[RecordedHistoryBuild, ...] = ()

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT


Forms = dict[str, dict[str, str]]
"""Form of a report -> tool -> version."""


@dataclass(frozen=True, slots=True)
class RecordedPublishedBuild:
    """The provenance of a report of publications; `places` are the files, in the order of the content.

    `folders` are those of the builds of a history.
    """

    content: PublishedContent
    is_intact: bool
    places: tuple[Path, ...]
    folders: tuple[Path, ...]
    forms: Forms


@dataclass(frozen=True, slots=True)
class RecordedBuild:
    """A provenance: its content, whether its hash matches the content, and the places of the runs by id.

    `forms` are the output forms of the report, each with the versions of the tools that only it needs.
    """

    content: Content
    is_intact: bool
    places: dict[str, str]
    forms: Forms


def get_build_folder(path: Path) -> Path:
    """Return the folder of a build; `path` is the folder or its provenance file."""
    return path.parent if path.name == NAME and path.is_file() else path


def read_provenance(folder: Path) -> RecordedBuild | RecordedPublishedBuild:
    """Read the provenance of a build's folder.

    Raises AssayError: `no-build` if the folder has none, `provenance` if the file is not what a build writes.
    """
    return read_provenance_file(folder / NAME)


def read_provenance_file(path: Path) -> RecordedBuild | RecordedPublishedBuild:
    """Read the provenance in a file of any name.  Raises the errors of `read_provenance`."""
    document = _load_document(path.parent, path)
    data, places = document.get("content"), document.get("places")
    forms = _read_forms(document, path)
    is_intact = document.get("hash") == hash_content(data) if isinstance(data, dict) else False
    if isinstance(data, dict) and "publications" in data:
        published = _decode_content(PublishedContent, data, path)
        if not published.publications and not published.builds:
            raise _build_error(path, "publications: there are none")
        files, folders = (
            _read_places(places, kind, len(inputs), path)
            for kind, inputs in (("publications", published.publications), ("builds", published.builds))
        )
        return RecordedPublishedBuild(published, is_intact, files, folders, forms)
    content = _decode_content(Content, data, path)
    for item in (item for run in content.all_runs for item in run.inputs):
        if not is_below(item.file):
            raise _build_error(path, f"runs: {json.dumps(item.file[:80])} is not below the directory of a run")
    ids = [run.id for run in content.all_runs]
    if (
        not isinstance(places, dict)
        or sorted(places) != sorted(ids)
        or not all(isinstance(p, str) for p in places.values())
    ):
        raise _build_error(path, "places: does not have exactly one directory for each run")
    return RecordedBuild(content, is_intact, places, forms)


def hash_content(content: Mapping[str, object]) -> str:
    """Return the SHA-256 of the content in a canonical form of JSON."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _read_places(places: object, kind: str, count: int, path: Path) -> tuple[Path, ...]:
    """Return the places of the `publications` or `builds`."""
    files = places.get(kind, []) if isinstance(places, dict) else None
    if not isinstance(files, list) or len(files) != count or not all(isinstance(item, str) for item in files):
        raise _build_error(path, f"places: does not have exactly one path for each of the {kind}")
    return tuple(Path(item) for item in files)


def read_forms(folder: Path) -> Forms:
    """Read only the output forms of a build's folder.  Raises the errors of `read_provenance`."""
    path = folder / NAME
    return _read_forms(_load_document(folder, path), path)


def _read_forms(document: dict[str, Any], path: Path) -> Forms:
    """Return the output forms of the report."""
    data = document.get("forms", {form: {} for form in DEFAULT_FORMS})
    forms = data if isinstance(data, dict) else {}
    tools = [
        pair
        for tools_of_form in forms.values()
        for pair in (tools_of_form.items() if isinstance(tools_of_form, dict) else [("", None)])
    ]
    if not forms or forms.keys() - FILES.keys() or not all(isinstance(version, str) for _, version in tools):
        raise _build_error(path, f"forms: expected some of {', '.join(FILES)}, each with its tools")
    return forms


def _load_document(folder: Path, path: Path) -> dict[str, Any]:
    """Return the plain data of the file."""
    resolve_path(path)
    if not path.is_file():
        state = "has no provenance.json" if folder.is_dir() else "does not exist"
        raise fail("no-build", f"the folder {state}: {folder}",
                   hint="pass the output folder of a build (-o)",
                   status=SPECS_OR_DATA if folder.exists() else USAGE)  # fmt: skip
    try:
        document = parse_json(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        span = Span(str(path), error.lineno, error.colno)
        raise fail("provenance", f"the provenance is not JSON: {error.msg}", span=span) from None
    except (OSError, ValueError, RecursionError) as error:
        raise fail("provenance", f"the provenance cannot be read: {error}", span=Span(str(path))) from None
    if isinstance(document, dict) and document.get("format") == FORMAT:
        return document
    number = document.get("format") if isinstance(document, dict) else None
    raise fail(
        "provenance",
        f"the provenance has an unsupported format: {path}",
        expected=f"a provenance of format {FORMAT}",
        found="no format" if number is None else f"format {json.dumps(number)[:40]}",
        hint="verify it with the version of Assay that built it",
    )


def _decode_content(kind: type[T], data: object, path: Path) -> T:
    from pydantic import ValidationError  # slow to import, and only readers need it

    try:
        return cast("T", _build_reader(cast("Any", kind)).validate_json(json.dumps(data), strict=True))
    except ValidationError as error:
        first = error.errors()[0]
        raise _build_error(path, f"{'.'.join(map(str, ('content', *first['loc'])))}: {first['msg']}") from None


@functools.cache
def _build_reader(kind: Any) -> TypeAdapter[Any]:
    """Return the decoder of a type; cached, since building it takes longer than reading."""
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


def _build_error(path: Path, problem: str) -> AssayError:
    return fail("provenance", f"the provenance was not written by a build: {path}", found=problem)
