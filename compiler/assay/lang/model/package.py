"""Models of a spec package as frozen dataclasses, one for each concept of the language.

All later stages read them.  References between them are names; `lang.check` has verified these.
"""

from __future__ import annotations

from dataclasses import dataclass

from assay.lang.model.example import Example
from assay.lang.model.expression import Expression
from assay.lang.model.filters import Filter, FilterFile
from assay.lang.model.report import Report
from assay.lang.model.series import Series
from assay.lang.model.source_kinds import SOURCE_KINDS
from assay.lang.model.vocabulary import Coverage, Cut, Margin, MetricBreak, Summary, Unit


@dataclass(frozen=True, slots=True)
class BaseUnit:
    """A unit of the domain (slot, block, transaction)."""

    name: str
    doc: str


@dataclass(frozen=True, slots=True)
class DerivedUnit:
    """A unit of the domain that is `factor` (a decimal text) times the unit `of`."""

    name: str
    factor: str
    of: str
    doc: str


@dataclass(frozen=True, slots=True)
class Constant:
    """A fact of a run, read from a JSON document of its directory, or from a line of a text file.

    `files` are candidates relative to the run's directory (the first that exists is read), `path` the keys from the
    document's root; where it has no value, the paths of `or_at` are tried.  `type` is integer, real, text, boolean,
    instant (UTC time, in ns since 1970) or duration (decimal number of `unit`, in ns).  Without a default it is
    required.  A `positive` number is above 0, as a duration always is.  `line` replaces the path: a pattern of a line
    with the place `line_pattern.VALUE`; `files` are then globs.
    """

    name: str
    files: tuple[str, ...]
    path: tuple[str, ...]
    type: str
    unit: Unit
    default: str | None
    doc: str
    positive: bool = False
    or_at: tuple[tuple[str, ...], ...] = ()
    line: str = ""


@dataclass(frozen=True, slots=True)
class Lookup:
    """Looks up the text at `path` of a record or its body, without the prefix `drop`, in the names of a generation."""

    path: tuple[str, ...]
    in_body: bool
    drop: str
    generation: str


@dataclass(frozen=True, slots=True)
class Unwrap:
    """The body is replaced by its member `take` when it has no `absent` and has all of `present`."""

    absent: str
    present: tuple[str, ...]
    take: str


@dataclass(frozen=True, slots=True)
class Quarantine:
    """The number of malformed lines of a host that are tolerated: `share` of its lines, but at least `at_least`."""

    share: float
    at_least: int


@dataclass(frozen=True, slots=True)
class Source:
    """A kind of raw record and the files of a run that have it.

    `kind` is `json-lines`, `text-lines`, `json-records`, `csv` (its header begins with the column `begins`, if any),
    `blocks` (each begins with the key `begins`) or `samples`.  `hosts` is a glob of host directories below the run's (a
    host is named after its directory), `logs` are globs below a host's directory.  With `host_files`, `hosts` is a glob
    of files, one log of a host each; a host is named after the text that matches the star in the glob's last part.
    `time` is the path of the record's instant (ISO 8601, any fraction; rows and blocks may have none), `body` that of
    the object with the fields.  `lookups` are tried in order; without any, each record of a log is one of the only
    event.

    For text lines, `line` is the pattern of every line, and `time` and `body` are captures of it (without a pattern,
    the body is the whole line).  `time_form` is the format of instants that are not ISO 8601: `s`, `ms`, `us` or `ns`
    since 1970, or a text with `%` placeholders; `zone` is the zone of a time without one: `UTC` or `+02:00`.  `ignored`
    are names of records, or prefixes that end in `*`, that no event has and that cause no warning; `or_time` are
    further paths of the instant of a JSON line.  Numbers count from the constant `start`, which is `start_ns` in a run.
    """

    name: str
    kind: str
    hosts: str
    logs: tuple[str, ...]
    time: tuple[str, ...]
    body: tuple[str, ...]
    unwrap: tuple[Unwrap, ...]
    lookups: tuple[Lookup, ...]
    quarantine: Quarantine
    constants: tuple[Constant, ...]
    doc: str
    host_files: bool = False
    line: str = ""
    time_form: str = ""
    zone: str = ""
    begins: str = ""
    ignored: tuple[str, ...] = ()
    or_time: tuple[tuple[str, ...], ...] = ()
    start: str = ""
    start_ns: int = 0

    @property
    def time_paths(self) -> tuple[tuple[str, ...], ...]:
        """Return the paths of the record's instant; the first that has a value is read."""
        return (self.time, *self.or_time)

    @property
    def nameless(self) -> str:
        """Return the word for a record of a log without lookups; empty if records have names, or by kind have none."""
        kind = SOURCE_KINDS.get(self.kind)
        return "a record of a log without lookups" if kind and kind.has_lookups and not self.lookups else ""

    def is_ignored(self, name: str) -> bool:
        """Return whether records of a name that no event has are ignored without a warning."""
        return any(name.startswith(item[:-1]) if item.endswith("*") else name == item for item in self.ignored)


NO_VALUE = "noValue"  # a transform: a text that is no value


@dataclass(frozen=True, slots=True)
class Transform:
    """A change of a field's text: `take` n characters, text `before` a separator, `plus` a constant.

    A Go `duration` becomes whole nanoseconds. The text of `noValue` is none.
    """

    kind: str
    number: int
    text: str


@dataclass(frozen=True, slots=True)
class Field:
    """A field of an event: the first of `paths` (each a list of keys from the record's body) that has a value.

    `type` is integer, unsigned (both of 64 bits), real, text, boolean.  `default` (a literal as text) is the value
    where no path has one; `required`: a record without it is malformed.  `kind` is one of `number_kinds`.
    """

    name: str
    type: str
    unit: Unit
    kind: str
    paths: tuple[tuple[str, ...], ...]
    default: str | None
    required: bool
    transforms: tuple[Transform, ...]
    doc: str


@dataclass(frozen=True, slots=True)
class Name:
    """A name of a generation that identifies records of an event; for text lines, a pattern that captures fields."""

    generation: str
    name: str


@dataclass(frozen=True, slots=True)
class Unless:
    """Excludes a record whose text at `path` of the body is `equals`, or (with `present`) exists and is not null."""

    path: tuple[str, ...]
    equals: str
    present: bool


TIME_FIELD = "instant"  # type of the field that names the paths of the instant of a form


@dataclass(frozen=True, slots=True)
class Form:
    """One form of an event: its names, what excludes a record, and the paths of its fields.

    `time` are paths of its instant, from the record's root, if it is not at the `time_paths` of its source; the first
    that has a value is read. Specs write them as fields of the type `TIME_FIELD`.
    """

    names: tuple[Name, ...]
    unless: tuple[Unless, ...]
    fields: tuple[Field, ...]
    time: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Event:
    """A kind of record; all forms have fields of the same names, types and units.

    Compiles to a table `name`: host (text), seq (position in the host's log), t_ns (ns since 1970, UTC), fields.
    """

    name: str
    source: str
    forms: tuple[Form, ...]
    doc: str

    @property
    def fields(self) -> tuple[Field, ...]:
        """Return the fields of the first form; every form has the same names, types and units."""
        return self.forms[0].fields if self.forms else ()


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a relation or grain; its type is one of a field, or instant (ns since 1970)."""

    name: str
    type: str
    unit: Unit
    doc: str


@dataclass(frozen=True, slots=True)
class Check:
    """A query for rows that must not exist; the message has `{column}` placeholders."""

    code: str
    sql: str
    uses: tuple[str, ...]
    message: str
    hint: str
    severity: str


@dataclass(frozen=True, slots=True)
class Relation:
    """A table that SQL computes from events, relations and grains (`uses`), with declared columns and key."""

    name: str
    sql: str
    uses: tuple[str, ...]
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    checks: tuple[Check, ...]
    doc: str


@dataclass(frozen=True, slots=True)
class Pair:
    """A column of a grain that equals a field (or column) of the bound table."""

    column: str
    field: str


@dataclass(frozen=True, slots=True)
class Instant:
    """A point in time of a grain's row.

    `pick`: `first` or `last` (of the rows of table `of` that agree on `on`), `latest before` (the last row of `of`, in
    log order, before the instant `before`), `computed` (the expression `value`).  `where` is a condition on the bound
    rows. `fields` are fields of the picked row that the grain takes along.
    """

    name: str
    grain: str
    pick: str
    of: str
    on: tuple[Pair, ...]
    before: str
    where: Expression | None
    value: Expression | None
    fields: tuple[str, ...]
    doc: str


@dataclass(frozen=True, slots=True)
class Tally:
    """A column of a grain that counts the rows of another table (an event, relation or grain) that agree on `on`."""

    column: Column
    of: str
    on: tuple[Pair, ...]
    where: Expression | None


@dataclass(frozen=True, slots=True)
class Derived:
    """A column of a grain that is computed from other members."""

    column: Column
    value: Expression


@dataclass(frozen=True, slots=True)
class Runs:
    """The maximal runs of accepted rows of another grain on which `holds` is true, consecutive in `along`, per `by`.

    Columns: `by`, `first`, `last` (of `along`), `length` (rows), and `first_x`, `last_x` for every x of `carry`.
    """

    of: str
    holds: Expression
    by: tuple[str, ...]
    along: str
    carry: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Subject:
    """The coarser grain whose filters decide on this one's rows, and the columns that identify its row."""

    grain: str
    on: tuple[Pair, ...]


@dataclass(frozen=True, slots=True)
class Grain:
    """The rows of a relation, or runs of another grain, with columns and instants; phases split them by `at`."""

    name: str
    relation: str
    runs: Runs | None
    key: tuple[str, ...]
    columns: tuple[Column, ...]
    instants: tuple[Instant, ...]
    tallies: tuple[Tally, ...]
    derived: tuple[Derived, ...]
    subject: Subject | None
    checks: tuple[Check, ...]
    doc: str
    at: str = ""
    time: str = ""
    cluster: str = ""
    dimensions: tuple[str, ...] = ()  # columns by whose values metrics may be split

    @property
    def all_columns(self) -> tuple[Column, ...]:
        """Return its declared columns, those of its tallies and the derived columns."""
        tallies, derived = (item.column for item in self.tallies), (item.column for item in self.derived)
        return (*self.columns, *tallies, *derived)


CENTILE, HISTOGRAM, EXPONENTIAL = "centile", "histogram", "exponentialHistogram"
HISTOGRAMS = (HISTOGRAM, EXPONENTIAL)
"""Kinds of reductions that select a sample by its rank."""


@dataclass(frozen=True, slots=True)
class Reduction:
    """Reduces the samples of a metric to one per distinct `by`: `min`, `max`, `sum`, `count`, `centile`, `histogram`.

    For `histogram`, samples are upper bounds of buckets, and the column `counts` has how many values are at most each.
    The reduced sample is the centile of these values.
    """

    by: tuple[str, ...]
    kind: str
    centile: float
    counts: str = ""

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the columns of the grain that the reduction reads."""
        return (*self.by, self.counts) if self.counts else self.by


@dataclass(frozen=True, slots=True)
class ExampleValue:
    """A value of a metric in a worked example: a decimal number, in a unit."""

    metric: str
    value: str
    unit: Unit


@dataclass(frozen=True, slots=True)
class Worked:
    """A worked example of a formula: the values `inputs`, and the rounded result that it `shows`."""

    inputs: tuple[ExampleValue, ...]
    shows: str
    unit: Unit
    doc: str


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric: what is measured on each row of a grain, its unit, and how samples become a distribution.

    Or a formula over the values of other metrics: `measure` refers to them, `grain` is empty where they are of several
    grains, and `examples` are worked examples; see `lang.formula`.

    `per` is empty for one distribution of all samples; else it is a column (the host), and each of its values has a
    distribution.  The summary is over those with samples (`sampled_only`), or over all, with 0 for those without.
    `accepted`: filters apply.  `better` is lower, higher or neither; `width` is that of the value in published tables.
    `quantity` is the declared kind of quantity, which says what values are possible (`lang.quantities`). `breaks` are
    points at which values stop being comparable. `exact`: all runs of a version have the same value. `steps` are ids of
    metrics that measure its parts, in order; empty if these are derived.
    """

    id: str
    name: str
    doc: str
    grain: str
    measure: Expression
    where: Expression | None
    accepted: bool
    reduction: Reduction | None
    per: str
    unit: Unit
    better: str
    width: int
    examples: tuple[Worked, ...] = ()
    sampled_only: bool = False  # older specs do not have this field
    margin: Margin | None = None
    quantity: str = ""
    exact: bool = False
    breaks: tuple[MetricBreak, ...] = ()
    steps: tuple[str, ...] = ()


Table = Event | Relation | Grain | Series
"""A table that SQL and instants may read by name."""


@dataclass(frozen=True, slots=True)
class Package:
    """The specs of one system."""

    system: str
    units: tuple[BaseUnit, ...]
    sources: tuple[Source, ...]
    events: tuple[Event, ...]
    relations: tuple[Relation, ...]
    grains: tuple[Grain, ...]
    metrics: tuple[Metric, ...]
    filters: tuple[Filter, ...]
    summaries: tuple[Summary, ...]
    reports: tuple[Report, ...]
    series: tuple[Series, ...]
    examples: tuple[Example, ...] = ()
    cuts: tuple[Cut, ...] = ()
    coverage: tuple[Coverage, ...] = ()
    filter_files: tuple[FilterFile, ...] = ()
    derived_units: tuple[DerivedUnit, ...] = ()

    @property
    def reports_over_runs(self) -> tuple[Report, ...]:
        """Return the reports over runs, not over publications."""
        return tuple(report for report in self.reports if report.over is None)

    @property
    def tables(self) -> tuple[Table, ...]:
        """Return events, relations, grains and series: they share one set of names."""
        return (*self.events, *self.relations, *self.grains, *self.series)
