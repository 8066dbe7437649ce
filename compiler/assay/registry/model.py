"""The files of a results folder: registered runs, and the results of runs.

    runs/NAME.json                 a registered run: where its raw data is, tags, commit, day
    figures/NAME/ID.json           the results of one run from one build; ID is the hash of its content
    figures/NAME/ID.parquet        the same as a table, a row for each metric
    shifts/METRIC/ID.json          a note of a person on a level shift or drift of a metric

All but the first are immutable. So two branches of a repository that record results merge without a conflict.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

if TYPE_CHECKING:
    from pydantic import TypeAdapter

FORMAT = 1
RUNS, FIGURES, SHIFTS = "runs", "figures", "shifts"
ID_DIGITS = 16  # of a hash in the name of a file
#: tag of runs of other conditions than those before and after them
EXPERIMENT = "experiment"

NUMBERS_BY_TEXT = {"NaN": math.nan, "+Inf": math.inf, "-Inf": -math.inf}

Number = float | Literal["NaN", "+Inf", "-Inf"]
"""A number of a file: JSON has texts for those that are not finite."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistrationFile:
    """The content of the file of a registered run; places are relative to the results folder."""

    format: Literal[1] = 1
    name: str
    places: tuple[str, ...]
    tags: tuple[str, ...] = ()
    commit: str = ""
    day: str = ""


@dataclass(frozen=True, slots=True)
class RegisteredRun:
    """A registered run and its file. Several places are repeats; those on a disk are relative to the current folder.

    A run of which only results are recorded has no places.
    """

    path: Path
    name: str
    places: tuple[str, ...]
    tags: tuple[str, ...] = ()
    commit: str = ""
    day: str = ""


@dataclass(frozen=True, slots=True)
class Registration:
    """What to register of a run: places, name (default: that of a place), tags, commit and day."""

    places: Sequence[str]
    name: str = ""
    tags: Sequence[str] = ()
    commit: str = ""
    day: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The figures of a metric for one value of a column, in the unit of the metric."""

    name: str
    size: int
    average: Number | None = None
    median: Number | None = None
    stddev: Number | None = None
    min: Number | None = None
    max: Number | None = None
    quantiles: tuple[tuple[Number, ...], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """The figures of a metric in a run, in its unit: members of `results.json`.

    A formula has only averages, and no `size`. Without samples, `size` is 0 and no number counts: null, in old files 0.
    """

    name: str
    unit: str
    definition: str
    size: int | None = None
    average: Number | None
    averages: Mapping[str, Number | None] = field(default_factory=dict)
    median: Number | None = None
    stddev: Number | None = None
    min: Number | None = None
    max: Number | None = None
    centiles: tuple[tuple[Number, ...], ...] = ()
    formula: str = ""
    groups: tuple[Group, ...] = ()

    @property
    def value(self) -> float | None:
        """The average; None without samples, and for a number that is not finite."""
        number = self.average
        return float(number) if isinstance(number, (int, float)) and self.size != 0 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultsFile:
    """The content of the file of recorded results: a run in one build of a report.

    `version` is the name that repeats share, `day` the day of the last record of the run, `start` the instant of the
    first one, empty if it is not known, `data` the hash of its raw files, `hosts` the number of hosts, 0 if it is not
    known, `column` the column of the groups of metrics.
    """

    format: Literal[1] = 1
    run: str
    version: str = ""
    day: str = ""
    start: str = ""
    report: str
    summary: str
    filters: tuple[str, ...] = ()
    assay: str
    data: str
    hosts: int = 0
    column: str = ""
    metrics: Mapping[str, Figures]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShiftNoteFile:
    """The content of the file of a note on a level shift or drift: what a person does with it, and why.

    `run` is the run at which the level shift or drift begins, `day` its day, `before` and `after` are its levels when
    the note was written, in the unit of the metric. `time` is the instant of the note, in UTC.
    """

    format: Literal[1] = 1
    system: str
    metric: str
    kind: Literal["accept", "annotate", "reopen"]
    change: Literal["level shift", "drift"]
    run: str
    day: str = ""
    before: float
    after: float
    author: str
    reason: str
    time: str


@dataclass(frozen=True, slots=True)
class ShiftNote:
    """A note on a level shift or drift, and its file; `id` is the hash in its name."""

    path: Path
    id: str
    content: ShiftNoteFile


@dataclass(frozen=True, slots=True)
class RecordedResults:
    """Recorded results and their file; `id` is the hash in its name."""

    path: Path
    id: str
    content: ResultsFile

    @property
    def name(self) -> str:
        """The name of the run, which repeats share."""
        return self.content.version or self.content.run

    @property
    def system(self) -> str:
        """The system of the report."""
        return self.content.report.partition("/")[0]


def quote_name(name: str) -> str:
    """Return the file name of a run: other characters than letters, digits and `_.-~` are percent-encoded."""
    quoted = quote(name, safe="")
    return "%2E" + quoted[1:] if quoted.startswith(".") else quoted


def dump_content(content: Mapping[str, Any]) -> str:
    """Return the text of a file: one line for each member, and for each metric."""
    lines = []
    for key, value in content.items():
        if key == "metrics":
            metrics = ",\n".join(f" {_dump(name)}: {_dump(value[name])}" for name in sorted(value))
            lines.append(f'"metrics": {{\n{metrics}\n}}')
        else:
            lines.append(f"{_dump(key)}: {_dump(value)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=True, allow_nan=False)


def compute_id(content: Mapping[str, Any]) -> str:
    """Return the hash of recorded results, whatever the line ends of their file."""
    return hashlib.sha256(dump_content(content).encode()).hexdigest()[:ID_DIGITS]


@functools.cache
def get_reader(kind: Any) -> TypeAdapter[Any]:
    """Return what decodes a kind of file: `RegistrationFile` or `ResultsFile`."""
    from pydantic import ConfigDict, TypeAdapter, with_config  # slow to import

    return TypeAdapter(with_config(ConfigDict(extra="forbid"))(kind))


def build_json_schema(kind: Any) -> dict[str, Any]:
    """Return the JSON Schema of a kind of file: `RegistrationFile` or `ResultsFile`."""
    title = "A registered run of Assay" if kind is RegistrationFile else "Recorded results of Assay"
    schema = get_reader(kind).json_schema()
    schema.pop("description", None)
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title}
    return {**head, **{key: value for key, value in schema.items() if key != "title"}}
