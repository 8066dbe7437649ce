"""What a spec package says, as frozen dataclasses (the intermediate form all later stages read).

One class a thing of the language.  References between them are names; `spec.check` has seen that every one resolves.
"""

from __future__ import annotations

from dataclasses import dataclass

from assay.lang.model.article import Article
from assay.lang.model.example import Example
from assay.lang.model.expression import Expression
from assay.lang.model.report import History, Report
from assay.lang.model.vocabulary import Coverage, Cut, Summary, Unit


@dataclass(frozen=True, slots=True)
class BaseUnit:
    """A unit of the domain that pint does not know (slot, block, transaction)."""

    name: str
    doc: str


@dataclass(frozen=True, slots=True)
class Constant:
    """A fact of a run, read from a JSON document of its directory.

    `files` are candidates relative to the run's directory (the first that exists is read), `path` the keys from the
    document's root; where it holds no value, the paths of `or_at` are tried.  `type` is integer, real, text, boolean,
    instant (UTC time, in ns since 1970) or duration (decimal number of `unit`, in ns).  Without a default it must be
    there.  A `positive` number is above 0, as a duration always is.
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


@dataclass(frozen=True, slots=True)
class Lookup:
    """One way to recognise a record: the text at `path` (keys from the record's root, or from its body when
    `in_body`), after dropping the prefix `drop`, is looked up among the names of a generation."""

    path: tuple[str, ...]
    in_body: bool
    drop: str
    generation: str


@dataclass(frozen=True, slots=True)
class Unwrap:
    """The body is replaced by its member `take` when `absent` is missing from it and all `present` are there."""

    absent: str
    present: tuple[str, ...]
    take: str


@dataclass(frozen=True, slots=True)
class Quarantine:
    """How many broken lines of a host are borne: `share` of its lines, but at least `at_least`."""

    share: float
    at_least: int


@dataclass(frozen=True, slots=True)
class Source:
    """A kind of raw record and where a run keeps its files.

    `kind` is `json-lines`, `text-lines`, `json-records`, `csv`, `blocks` (each begins with the key `begins`) or
    `samples`.  `hosts` is a glob of host directories below the run's (the directory's name is the host's), `logs` are
    globs below a host's directory; with `host_files`, `hosts` is a glob of files, the log of a host each, named by what
    the star in the glob's last part stands for.  `time` is the path of the record's instant (ISO 8601, any fraction;
    empty of rows and blocks without one), `body` that of the object with the fields.  `lookups` are tried in order.

    Of text lines `line` is the pattern that all have, `time` and `body` are places of it (the body, where there
    is no pattern, is the whole line).  `time_form` says how an instant is written where it is not ISO 8601: `s`, `ms`,
    `us` or `ns` since 1970, or a text with `%` places; `zone` is the zone of a time without one: `UTC` or `+02:00`.
    `ignored` are names of records, or prefixes that end in `*`, which no event has and nobody is to be warned of;
    `or_time` are further paths of the instant of a JSON line.
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

    @property
    def times(self) -> tuple[tuple[str, ...], ...]:
        """The paths of the record's instant; the first that holds a value is read."""
        return (self.time, *self.or_time)

    def ignores(self, name: str) -> bool:
        """Return whether a name that no event has is known to be of no interest."""
        return any(name.startswith(item[:-1]) if item.endswith("*") else name == item for item in self.ignored)


@dataclass(frozen=True, slots=True)
class Transform:
    """A small change of a field's text, in order: `take` n characters; `before` a separator; `plus` a constant;
    a `duration`, as Go writes it, becomes whole nanoseconds."""

    kind: str
    number: int
    text: str


@dataclass(frozen=True, slots=True)
class Field:
    """A field of an event: the first path of `paths` (each a list of keys from the record's body) that holds a value.

    `type` is integer, unsigned (both of 64 bits), real, text, boolean.  `default` (a literal as text) stands
    where no path holds a value; `required`: a record without it is broken.  `kind` is value, counter or gauge.
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
    """A name of a generation that marks a record as this event; of text lines a pattern that tells their fields."""

    generation: str
    name: str


@dataclass(frozen=True, slots=True)
class Unless:
    """The record is not this event when the text at `path` of its body equals `is` (or, with `present`, when there
    is any value, null included not)."""

    path: tuple[str, ...]
    equals: str
    present: bool


@dataclass(frozen=True, slots=True)
class Form:
    """One form of an event: its names, what rules it out, and how its fields are found."""

    names: tuple[Name, ...]
    unless: tuple[Unless, ...]
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class Event:
    """A kind of trace event; all forms have fields of the same names, types and units.

    Compiles to a table `name`: host (text), seq (place in the host's log), t_ns (ns since 1970, UTC), fields.
    """

    name: str
    source: str
    forms: tuple[Form, ...]
    doc: str

    @property
    def fields(self) -> tuple[Field, ...]:
        """The fields as the first form has them (names, types and units are those of every form)."""
        return self.forms[0].fields if self.forms else ()


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a relation or grain: name, type (as of fields, or instant: ns since 1970), unit."""

    name: str
    type: str
    unit: Unit
    doc: str


@dataclass(frozen=True, slots=True)
class Check:
    """Rows that must not be: a query over the relation's table; the message has `{column}` places."""

    code: str
    sql: str
    uses: tuple[str, ...]
    message: str
    hint: str
    severity: str


@dataclass(frozen=True, slots=True)
class Relation:
    """A SQL file over events, relations and grains (`uses`), with declared columns, key and doc."""

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

    `pick`: `first` or `last` (of the rows of table `of` that agree on `on`), `latest before` (the last row of `of`,
    in log order, ahead of the instant `before`), `computed` (the expression `value`).  `where` narrows the bound
    rows.  `fields` are fields of the picked row that the grain takes along.
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
    """A column of a grain computed from its others."""

    column: Column
    value: Expression


@dataclass(frozen=True, slots=True)
class Runs:
    """A grain made of another: the maximal runs of its accepted rows where `holds`, consecutive in `along`, per `by`.

    Columns: `by`, `first`, `last` (of `along`), `length` (rows), and `first_x`, `last_x` for every x of `carry`.
    """

    of: str
    holds: Expression
    by: tuple[str, ...]
    along: str
    carry: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Subject:
    """The coarser grain whose filters decide on this one's rows, and the columns that lead to it."""

    grain: str
    on: tuple[Pair, ...]


@dataclass(frozen=True, slots=True)
class Grain:
    """What one sample is about: a relation (or runs of another grain) plus instants, tallies and derived columns.

    `at` is the member, an instant, by which phases cut its rows.
    """

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

    @property
    def every_column(self) -> tuple[Column, ...]:
        """Its columns, those of its tallies, those that are derived."""
        tallies, derived = (item.column for item in self.tallies), (item.column for item in self.derived)
        return (*self.columns, *tallies, *derived)


@dataclass(frozen=True, slots=True)
class Sampled:
    """Samples that a series is made of: rows of an event with a field `value`, those where a condition holds."""

    event: str
    where: Expression | None


@dataclass(frozen=True, slots=True)
class Gone:
    """What ends a line: rows of an event that agree with it on the fields `on`, where a condition holds."""

    event: str
    on: tuple[str, ...]
    where: Expression | None


@dataclass(frozen=True, slots=True)
class Term:
    """Another series that one is worked out of, called `name` in its value; `over` is how the lines of it that agree in
    the labels become one: `mean`, `sum`, `least`, `greatest`; empty when its labels are the same."""

    name: str
    series: str
    over: str


@dataclass(frozen=True, slots=True)
class Series:
    """A table of values over time: a row for each window, step of it, and line that has a value then.

    Lines are the distinct values of the label fields `by`.  `windows` is a relation with the instants `from_ns` and
    `to_ns` (both steps).  `reading`: `latest` (the last sample of the last `window_ns`, unless the line is `gone` after
    it) or `rate` (the increase a second of a counter over `window_ns`).  Where several `samples` are named, the first
    that has a value at a step counts; with `covered`, a rate has the steps alone whose windows have samples near both
    ends; with `ceases`, a line is also gone where its rows of `gone`'s event cease while others go on.  Columns: the
    windows' key, `by`, `t_ns`, `value` (in `unit`: what is read, times `factor`, which resolving works out).

    Instead of samples a series may have `terms`: its `value` is worked out of those that all have one at a step.
    `window` and `every` name constants of the run, durations, that stand for `window_ns` and `every_ns`.
    """

    name: str
    samples: tuple[Sampled, ...]
    by: tuple[str, ...]
    windows: str
    every_ns: int
    reading: str
    window_ns: int
    gone: Gone | None
    unit: Unit
    doc: str
    factor: str = "1"
    terms: tuple[Term, ...] = ()
    value: Expression | None = None
    window: str = ""
    every: str = ""
    covered: bool = False
    ceases: bool = False


@dataclass(frozen=True, slots=True)
class Reduction:
    """Samples of a metric are reduced to one per distinct `by`: `min`, `max`, `sum`, `count`, `centile`."""

    by: tuple[str, ...]
    kind: str
    centile: float


@dataclass(frozen=True, slots=True)
class ExampleValue:
    """A value of a metric in a worked example: a decimal number, in a unit."""

    metric: str
    value: str
    unit: Unit


@dataclass(frozen=True, slots=True)
class Worked:
    """A worked example of a formula: of the values `given`, what it `shows` in a unit, rounded to as many decimals."""

    given: tuple[ExampleValue, ...]
    shows: str
    unit: Unit
    doc: str


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric: what is measured on each row of a grain, in what unit, and how samples become a distribution.

    Or a formula over the values of other metrics (`measure` refers to them, and `grain` is empty where they are of
    several), with worked `examples`; see `spec.formula`.

    `per` is empty for one distribution of all samples, else the column (the host) each of whose values has its own,
    summarised over those with samples (`sampled_only`) or all, one without as if they were 0.  `accepted` tells whether
    filters apply.  `better` is lower, higher or neither, `width` that of the value in published tables and charts.
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
    sampled_only: bool = False  # what specs mean that do not know the word


@dataclass(frozen=True, slots=True)
class Parameter:
    """The argument of a filter: `--filter name=ARGUMENT`."""

    name: str
    type: str
    unit: Unit


@dataclass(frozen=True, slots=True)
class Condition:
    """What a filter demands of the rows of one grain."""

    grain: str
    holds: Expression


@dataclass(frozen=True, slots=True)
class Filter:
    """A named, possibly parameterised predicate over one or more grains."""

    name: str
    parameter: Parameter | None
    conditions: tuple[Condition, ...]
    doc: str


Table = Event | Relation | Grain | Series
"""What SQL and instants may read by name."""


@dataclass(frozen=True, slots=True)
class Package:
    """All that the specs of one system say."""

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
    articles: tuple[Article, ...]
    histories: tuple[History, ...]
    examples: tuple[Example, ...] = ()
    cuts: tuple[Cut, ...] = ()
    coverage: tuple[Coverage, ...] = ()

    @property
    def tables(self) -> tuple[Table, ...]:
        """Events, relations, grains and series: they share one set of names."""
        return (*self.events, *self.relations, *self.grains, *self.series)
