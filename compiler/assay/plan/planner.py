"""Plan the steps that turn events into results, in an order in which each step's inputs exist.

A step is data: what it makes, of what.  `sql` turns it into a statement, `engine` runs it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from assay.lang import formula
from assay.lang.dependencies import Dependencies, collect_dependencies, find_events
from assay.lang.model.package import Check, Event, Filter, Grain, Instant, Metric, Package, Relation, Series
from assay.lang.model.vocabulary import Cut
from assay.lang.reserved_names import KEY, KEYS, keys_of, rows_name
from assay.lang.scopes import HOST, LOGS


@dataclass(frozen=True, slots=True)
class Applied:
    """A filter with its argument: an integer, a real (as text, exact), or None."""

    filter: Filter
    argument: str | None

    @property
    def label(self) -> str:
        """As the command line takes it: `NAME=ARGUMENT`."""
        return self.filter.name if self.argument is None else f"{self.filter.name}={self.argument}"


@dataclass(frozen=True, slots=True)
class EventStep:
    """The typed table of an event, with these fields beside its `keys`."""

    event: Event
    fields: tuple[str, ...]
    keys: tuple[str, ...] = KEYS

    @property
    def name(self) -> str:
        """Name of the table."""
        return self.event.name


@dataclass(frozen=True, slots=True)
class RelationStep:
    """The table of a relation.

    `sources` are those whose logs it may read: those of the events that it is made of; none where the package has one.
    """

    relation: Relation
    sources: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Name of the table."""
        return self.relation.name


@dataclass(frozen=True, slots=True)
class RowsStep:
    """The wide table of a grain with these members, before filters: `<grain>_rows`.

    The instants `across` pick a row out of the logs of several hosts, where no place in a log tells which is the first.
    """

    grain: Grain
    members: frozenset[str]
    across: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """Name of the table."""
        return rows_name(self.grain.name)


@dataclass(frozen=True, slots=True)
class JudgeStep:
    """The wide table of a grain with the verdict of every filter on it, and `accepted`.

    With `cut` it has the rows of one phase only: those whose instant `at`, if the grain names one, is in it.
    """

    grain: Grain
    applied: tuple[Applied, ...]
    cut: bool = False

    @property
    def name(self) -> str:
        """Name of the table."""
        return self.grain.name


ROWS_OF_KEY = "rows_of_key"
FROM, TO = "from_ns", "to_ns"


@dataclass(frozen=True, slots=True)
class CheckStep:
    """Rows that must not be; `sources` as of relations."""

    check: Check
    of: str
    sources: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Name of the check."""
        return f"check {self.of} {self.check.code}"


@dataclass(frozen=True, slots=True)
class SeriesStep:
    """The table of a series, whose windows have this key; with `cut`, in one phase."""

    series: Series
    key: tuple[str, ...]
    cut: bool = False

    @property
    def name(self) -> str:
        """Name of the table."""
        return self.series.name


Step = EventStep | RelationStep | RowsStep | JudgeStep | SeriesStep | CheckStep


@dataclass(frozen=True, slots=True)
class Listed:
    """Rows of a grain that are asked for, in the order of its key: columns, what metrics measure on each row, and what
    `formulas` over these come to (the metrics that they are over are among `metrics`)."""

    grain: Grain
    keys: tuple[str, ...]
    metrics: tuple[Metric, ...]
    formulas: tuple[Metric, ...] = ()

    @property
    def name(self) -> str:
        """Name of the rows: their grain, columns, metrics and formulas."""
        ids = (metric.id for metric in (*self.metrics, *self.formulas))
        return " ".join(["rows", self.grain.name, *self.keys, *ids])


def listed_rows(package: Package, grain: Grain, keys: Sequence[str], metrics: Sequence[Metric]) -> Listed:
    """Rows of a grain with metrics, some of which may be formulas."""
    measured = formula.list_measured(formula.index_metrics(package), metrics)
    return Listed(grain, tuple(keys), measured, tuple(metric for metric in metrics if formula.is_formula(metric)))


@dataclass(frozen=True, slots=True)
class Plan:
    """Steps in order, the metrics to be summarised after them, the formulas to be worked out over those, the rows,
    series and instants that are asked for, and what of the raw data they need."""

    steps: tuple[Step, ...]
    metrics: tuple[Metric, ...]
    applied: tuple[Applied, ...]
    wanted: Mapping[str, frozenset[str]]
    constants: frozenset[str]
    listed: tuple[Listed, ...] = ()
    series: tuple[SeriesStep, ...] = ()
    formulas: tuple[Metric, ...] = ()
    cuts: tuple[Cut, ...] = ()


def rows_of(series: str) -> str:
    """Name of the statement that yields the rows of a series."""
    return f"rows {series}"


def span_of(windows: str) -> str:
    """Name of the statement that yields from when to when all windows of a relation are, as FROM and TO."""
    return f"span {windows}"


def cut_name(cut: str) -> str:
    """Name of the statement that yields a named instant of a run."""
    return f"cut {cut}"


def applied_to(grain: Grain, applied: Iterable[Applied]) -> tuple[Applied, ...]:
    """The filters that have a condition on the grain, in their order."""
    return tuple(item for item in applied if any(c.grain == grain.name for c in item.filter.conditions))


class _Order:
    def __init__(self, package: Package, need: Dependencies, applied: tuple[Applied, ...], cut: bool) -> None:
        self.cut = cut
        self.tables = {item.name: item for item in package.tables}
        self.kinds = {item.name: item.kind for item in package.sources}
        several = {item.name for item in package.sources if item.hosts}
        self.of_hosts = frozenset(item.name for item in package.events if item.source in several)
        self.package = package
        self.need = need
        self.applied = applied
        self.steps: dict[str, Step] = {}

    def table(self, name: str) -> None:
        """Put the table, and all that it reads, in order (once)."""
        if name == LOGS or name in self.steps:
            return
        found = self.tables[name]
        if isinstance(found, Event):
            fields = tuple(item.name for item in found.fields if item.name in self.need.events[name])
            self.steps[name] = EventStep(found, fields, keys_of(self.kinds[found.source]))
        elif isinstance(found, Relation):
            self.relation(found)
        elif isinstance(found, Series):
            self.line(found)
        else:
            self.grain(found)

    def line(self, series: Series) -> None:
        """A series after its windows and the events that it reads."""
        self.table(series.windows)
        windows = self.tables[series.windows]
        assert isinstance(windows, Relation)
        for term in series.terms:
            self.table(term.series)
        for event in (*(item.event for item in series.samples), *((series.gone.event,) if series.gone else ())):
            self.table(event)
        self.steps[series.name] = SeriesStep(series, windows.key, self.cut)

    def relation(self, relation: Relation) -> None:
        """A relation after all that it uses; its checks after it."""
        for used in relation.uses:
            self.table(used)
        self.steps[relation.name] = RelationStep(relation, self.sources(relation.uses))
        self.checks(relation.name, (key_check(relation), *relation.checks))

    def grain(self, grain: Grain) -> None:
        """A grain after its rows, its subject and all that they read."""
        self.rows(grain)
        if grain.subject:
            self.table(grain.subject.grain)
        self.steps[grain.name] = JudgeStep(grain, applied_to(grain, self.applied), self.cut)
        self.checks(grain.name, grain.checks)

    def sources(self, uses: Iterable[str]) -> tuple[str, ...]:
        """Of tables with the logs among them, the sources of the events that they are made of; none of one source."""
        if LOGS not in uses or len(self.package.sources) < 2:
            return ()
        events = find_events(self.package, uses)
        return tuple(sorted({item.source for item in self.package.events if item.name in events}))

    def across(self, grain: Grain) -> frozenset[str]:
        """The instants that are bound to an event of several hosts, but not by the host."""
        unbound = (item for item in grain.instants if HOST not in {pair.field for pair in item.on})
        return frozenset(item.name for item in unbound if item.of in self.of_hosts)

    def rows(self, grain: Grain) -> None:
        """The rows of a grain after all that they are bound to."""
        step = RowsStep(grain, frozenset(self.need.grains[grain.name]), self.across(grain))
        if step.name in self.steps:
            return
        for name in bound_tables(grain, step.members):
            finer = self.tables.get(name)
            if isinstance(finer, Grain) and finer.subject and finer.subject.grain == grain.name:
                self.rows(finer)
            else:
                self.table(name)
        self.steps[step.name] = step

    def checks(self, name: str, checks: Iterable[Check]) -> None:
        """Checks after all that they use."""
        for check in checks:
            for used in check.uses:
                self.table(used)
            step = CheckStep(check, name, self.sources((*check.uses, name)))
            self.steps.setdefault(step.name, step)


def key_check(relation: Relation) -> Check:
    """No two rows of a relation have one key."""
    times = {item.name for item in relation.columns if item.type == "instant"}
    names = ", ".join(f"{name} {{{name}{':t' if name in times else ''}}}" for name in relation.key)
    said = f"rows of one key: {names}" if names else "rows, and no key tells them apart"
    hint = "group the relation's SQL by its key, or name every column that tells its rows apart in `key`"
    message = f"relation `{relation.name}` has {{{ROWS_OF_KEY}}} {said}"
    return Check(KEY, "", (), message, hint, "error")


def bound_tables(grain: Grain, members: frozenset[str]) -> Iterator[str]:
    """The tables that the rows of a grain with these members are made of."""
    yield grain.runs.of if grain.runs else grain.relation
    for instant in instants(grain, members):
        if instant.of:
            yield instant.of
    for tally in grain.tallies:
        if tally.column.name in members:
            yield tally.of


def instants(grain: Grain, members: frozenset[str]) -> Iterator[Instant]:
    """The instants of a grain that are among its members."""
    return (item for item in grain.instants if item.name in members)


def plan(
    package: Package,
    metrics: Sequence[Metric],
    applied: Sequence[Applied],
    relations: Sequence[str] = (),
    listed: Sequence[Listed] = (),
    series: Sequence[str] = (),
    cuts: Sequence[Cut] = (),
    cut: bool = False,
) -> Plan:
    """The plan for some metrics under some filters; made too: further relations (those of a manifest), rows, series,
    named instants.

    Of a formula, the metrics that it is over are summarised.  With `cut` it is for one phase of a run, whose bounds are
    parameters.
    """
    formulas = tuple(metric for metric in metrics if formula.is_formula(metric))
    metrics = formula.list_measured(formula.index_metrics(package), metrics)
    read = [*metrics, *(metric for item in listed for metric in item.metrics)]
    keys = [(item.grain.name, item.keys) for item in listed]
    told = tuple(item for item in cuts if item.of)
    need = collect_dependencies(
        package,
        [*read, *formulas, *(found for item in listed for found in item.formulas)],
        [item.filter for item in applied],
        [*relations, *series],
        keys,
        cut,
        told,
        judged=True,
    )
    order = _Order(package, need, tuple(applied), cut)
    grains = (*(metric.grain for metric in metrics), *(item.grain.name for item in listed))
    for name in (*relations, *series, *(item.of for item in told), *grains):
        order.table(name)
    wanted = {name: frozenset(fields) for name, fields in sorted(need.events.items())}
    lines = tuple(step for step in order.steps.values() if isinstance(step, SeriesStep) and step.name in series)
    return Plan(
        tuple(order.steps.values()),
        tuple(metrics),
        tuple(applied),
        wanted,
        frozenset(need.constants),
        tuple({item.name: item for item in listed}.values()),
        lines,
        formulas,
        told,
    )


def can_split_by_phase(package: Package, table: str) -> bool:
    """Whether phases restrict the rows of a table, or of what it is made of.

    Series by their instants, grains by their `at`; a grain without one follows its subject, the grain whose runs it
    has, or the tables that its relation reads, if all are cut (besides the hosts' logs).  Events are not cut.
    """
    tables = {item.name: item for item in package.tables}

    def cut(name: str) -> bool:
        """Whether the rows of a table are cut."""
        found = tables.get(name)
        if isinstance(found, Series):
            return True
        if isinstance(found, Relation):
            read = [used for used in found.uses if used != LOGS]
            return bool(read) and all(cut(used) for used in read)
        if not isinstance(found, Grain):
            return False
        return bool(found.at) or any(cut(of) for of in _made_of(found))

    return cut(table)


def _made_of(grain: Grain) -> tuple[str, ...]:
    subject = (grain.subject.grain,) if grain.subject else ()
    return (*subject, grain.runs.of if grain.runs else grain.relation)
