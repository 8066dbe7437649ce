"""Models of filters, and of the files in which other tools keep theirs, as frozen dataclasses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from assay.lang.model.expression import Expression
from assay.lang.model.report import FilterUse
from assay.lang.model.vocabulary import Unit


@dataclass(frozen=True, slots=True)
class Parameter:
    """The argument of a filter: `--filter name=ARGUMENT`."""

    name: str
    type: str
    unit: Unit


@dataclass(frozen=True, slots=True)
class Condition:
    """The condition of a filter on the rows of one grain."""

    grain: str
    holds: Expression


@dataclass(frozen=True, slots=True)
class Filter:
    """A named, possibly parameterised predicate over one or more grains."""

    name: str
    parameter: Parameter | None
    conditions: tuple[Condition, ...]
    doc: str


@dataclass(frozen=True, slots=True)
class FilterTag:
    """A condition of a filter file: its tags, outermost first, and the filter that it is."""

    tags: tuple[str, ...]
    filter: str


@dataclass(frozen=True, slots=True)
class FilterSet:
    """A named list of filters, as another tool ships it."""

    name: str
    filters: tuple[FilterUse, ...]


@dataclass(frozen=True, slots=True)
class KeyPath:
    """The keys that lead from the root of a JSON document to a value."""

    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FilterFile:
    """A form of JSON documents with filters; `name` is what the documents are called.

    A document is a list of conditions, or an object that has such lists at the paths `lists`, and lists of names of
    sets or files at the paths `names`. A condition is an object: `tag` is the member with its tag, `contents` that with
    a further condition or the argument. `files` are the documents in a run's directory that may have filters.
    """

    name: str
    tag: str
    contents: str
    conditions: tuple[FilterTag, ...]
    lists: tuple[KeyPath, ...]
    names: tuple[KeyPath, ...]
    sets: tuple[FilterSet, ...]
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FilterSource:
    """A file that filters were read from: its name, size, SHA-256 and filters (`NAME=ARGUMENT`)."""

    file: str
    bytes: int
    sha256: str
    filters: tuple[str, ...]

    __pydantic_config__: ClassVar[dict[str, Any]] = {"extra": "forbid"}
