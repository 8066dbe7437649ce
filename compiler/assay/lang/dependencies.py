"""What a set of metrics needs: the tables, columns and fields that they are made of, directly or not.

Demand is by member: of a grain only the columns and instants that something refers to, of an event only the fields.
What a relation's SQL refers to is told by its tree; a star stands for all that there is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Set
from dataclasses import dataclass, field

from assay.lang import formula
from assay.lang.model.expression import Expression
from assay.lang.model.package import Event, Filter, Grain, Metric, Package, Relation, Series, Table
from assay.lang.model.vocabulary import Cut
from assay.lang.reserved_names import ACCEPTED
from assay.lang.sql_dependencies import Reads, find_reads


@dataclass(slots=True)
class Dependencies:
    """Events with fields, relations, grains with members, series, filters, constants."""

    events: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    relations: set[str] = field(default_factory=set)
    grains: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    series: set[str] = field(default_factory=set)
    filters: set[str] = field(default_factory=set)
    constants: set[str] = field(default_factory=set)


class _Walk:
    def __init__(self, package: Package, filters: Iterable[Filter], cut: bool = False) -> None:
        self.cut = cut
        self.tables = {item.name: item for item in package.tables}
        self.metrics = formula.index_metrics(package)
        self.filters = tuple(filters)
        self.needs = Dependencies()
        self.done: set[tuple[str, str]] = set()

    def metric(self, metric: Metric) -> None:
        """What a metric refers to; of a formula what the metrics do that it is over."""
        if formula.is_formula(metric):
            self.needs.constants |= _constants(metric.measure)
            for name in formula.list_inputs(metric.measure):
                self.metric(self.metrics[name])
            return
        grain = self.tables[metric.grain]
        assert isinstance(grain, Grain)
        keys = {*(metric.reduction.by if metric.reduction else ()), *((metric.per,) if metric.per else ())}
        self.members(grain, keys)
        self.expression(grain, metric.measure)
        if metric.where:
            self.expression(grain, metric.where)
        if metric.accepted:
            self.member(grain, ACCEPTED)

    def table(self, name: str, read: Set[str] | Reads | None) -> None:
        """A table is read; of its members those that are `read` (None: whatever it has)."""
        found = self.tables.get(name)
        if isinstance(found, Event):
            self.needs.events[name] |= _among({item.name for item in found.fields}, read)
        elif isinstance(found, Relation):
            self.relation(found)
        elif isinstance(found, Series):
            self.line(found)
        elif isinstance(found, Grain):
            self.members(found, _among(self.all_members(found), read))

    def line(self, series: Series) -> None:
        """A series, its windows, the labels and values of its samples, and what ends its lines."""
        if series.name in self.needs.series:
            return
        self.needs.series.add(series.name)
        self.table(series.windows, {"from_ns", "to_ns"})
        self.needs.constants |= {name for name in (series.window, series.every) if name}
        self.needs.constants |= _constants(series.value) if series.value else set()
        for term in series.terms:
            self.table(term.series, None)
        for item in series.samples:
            self.table(item.event, {*series.by, "value", *(_names(item.where) if item.where else ())})
        if series.gone:
            self.table(series.gone.event, {*series.gone.on, *(_names(series.gone.where) if series.gone.where else ())})

    def relation(self, relation: Relation) -> None:
        """A relation, and all that its SQL and its checks read."""
        if relation.name in self.needs.relations:
            return
        self.needs.relations.add(relation.name)
        self.text(relation.sql, relation.uses)
        for check in relation.checks:
            self.text(check.sql, check.uses)

    def text(self, sql: str, uses: Collection[str]) -> None:
        """What a SQL text reads: constants, and members of each table."""
        whole = [name for name in uses if isinstance(self.tables.get(name), Relation)]
        found = find_reads(sql, set(uses) - set(whole), whole)
        self.needs.constants |= found.constants
        for name in uses:
            self.table(name, found)

    def all_members(self, grain: Grain) -> set[str]:
        """Every member that a grain can have."""
        names = {item.name for item in grain.columns} | {item.name for item in grain.instants} | {ACCEPTED}
        names |= {f"{item.name}_{taken}" for item in grain.instants for taken in item.fields}
        names |= {item.column.name for item in grain.tallies}
        return names | {item.column.name for item in grain.derived}

    def members(self, grain: Grain, names: Iterable[str]) -> None:
        """Members of a grain, and its key."""
        for name in (*grain.key, *sorted(names)):
            self.member(grain, name)

    def member(self, grain: Grain, name: str) -> None:
        """A member of a grain, and what it is made of."""
        if (grain.name, name) in self.done:
            return
        self.done.add((grain.name, name))
        self.needs.grains[grain.name].add(name)
        self.base(grain)
        if name == ACCEPTED:
            self.accepted(grain)
        for instant in grain.instants:
            if name == instant.name or name in {f"{instant.name}_{taken}" for taken in instant.fields}:
                self.instant(grain, instant.name)
        for tally in grain.tallies:
            if tally.column.name == name:
                words = {pair.field for pair in tally.on} | (_names(tally.where) if tally.where else set())
                self.members(grain, (pair.column for pair in tally.on))
                self.table(tally.of, words)
        for item in grain.derived:
            if item.column.name == name:
                self.expression(grain, item.value)

    def instant(self, grain: Grain, name: str) -> None:
        """An instant of a grain, and what it is bound to."""
        self.member(grain, name)
        instant = next(item for item in grain.instants if item.name == name)
        if instant.value:
            self.expression(grain, instant.value)
        if instant.before:
            self.instant(grain, instant.before)
        if instant.of:
            words = {pair.field for pair in instant.on} | set(instant.fields)
            words |= _names(instant.where) if instant.where else set()
            self.needs.constants |= _constants(instant.where) if instant.where else set()
            self.members(grain, (pair.column for pair in instant.on))
            self.table(instant.of, words)

    def base(self, grain: Grain) -> None:
        """What the rows of a grain are made of, and its checks."""
        if (grain.name, "") in self.done:
            return
        self.done.add((grain.name, ""))
        if grain.runs:
            runs = grain.runs
            of = self.tables[runs.of]
            assert isinstance(of, Grain)
            self.members(of, (*runs.by, runs.along, *runs.carry, ACCEPTED))
            self.expression(of, runs.holds)
        else:
            self.table(grain.relation, None)
        if self.cut and grain.at:
            self.members(grain, [grain.at])
        for check in grain.checks:
            self.text(check.sql, (*check.uses, grain.name))

    def accepted(self, grain: Grain) -> None:
        """What decides on the rows of a grain: its subject, the filters on it."""
        if grain.subject:
            parent = self.tables[grain.subject.grain]
            assert isinstance(parent, Grain)
            self.members(parent, (*(pair.field for pair in grain.subject.on), ACCEPTED))
            self.members(grain, (pair.column for pair in grain.subject.on))
        for item in self.filters:
            for condition in item.conditions:
                if condition.grain == grain.name:
                    self.needs.filters.add(item.name)
                    self.expression(grain, condition.holds)

    def expression(self, grain: Grain, node: Expression) -> None:
        """What an expression over a grain refers to."""
        for item in node.walk():
            if item.op == "column":
                self.member(grain, item.name)
            elif item.op == "instant":
                self.instant(grain, item.name)
            elif item.op == "taken":
                self.instant(grain, item.text)
                self.member(grain, f"{item.text}_{item.name}")
            elif item.op == "constant":
                self.needs.constants.add(item.name)


def events_of(package: Package, tables: Iterable[str]) -> frozenset[str]:
    """The events that tables are made of, directly or not; also of packages whose names are not checked yet."""
    known = {item.name: item for item in package.tables}
    found: set[str] = set()
    ahead = list(tables)
    while ahead:
        name = ahead.pop()
        if name not in found and name in known:
            found.add(name)
            ahead += _made_of(known[name])
    return frozenset(found & {event.name for event in package.events})


def _made_of(table: Table) -> Iterable[str]:
    """The names of the tables that a table is made of."""
    if isinstance(table, Relation):
        return table.uses
    if isinstance(table, Grain):
        own = table.runs.of if table.runs else table.relation
        return (own, *(item.of for item in table.instants if item.of), *(item.of for item in table.tallies))
    if isinstance(table, Series):
        read = [*(item.event for item in table.samples), *([table.gone.event] if table.gone else [])]
        return (table.windows, *(term.series for term in table.terms), *read)
    return ()


def _among(known: Set[str], read: Set[str] | Reads | None) -> Set[str]:
    """Of known members those that are read (None: all)."""
    if isinstance(read, Reads):
        return read.among(known)
    return known if read is None else known & read


def _names(node: Expression) -> set[str]:
    return {item.name for item in node.walk() if item.op == "field"}


def _constants(node: Expression) -> set[str]:
    return {item.name for item in node.walk() if item.op == "constant"}


def collect_dependencies(
    package: Package,
    metrics: Iterable[Metric],
    filters: Iterable[Filter],
    relations: Iterable[str] = (),
    columns: Iterable[tuple[str, Iterable[str]]] = (),
    cut: bool = False,
    cuts: Iterable[Cut] = (),
    judged: bool = False,
) -> Dependencies:
    """What the metrics need when the filters are applied, the further tables (a manifest's), and members of grains.

    With `cut`, also the instants by which phases cut grains; `cuts` are instants that are asked for.  With `judged`,
    also what decides on the rows of each grain, though no metric asks for that: tables have it whenever they are made.
    """
    applied = tuple(filters)
    walk = _Walk(package, applied, cut)
    for item in cuts:
        if item.of:
            walk.table(item.of, {item.column, *(_names(item.where) if item.where else ())})
    for metric in metrics:
        walk.metric(metric)
    for name in relations:
        walk.table(name, None)
    for grain, names in columns:
        walk.table(grain, set(names))
    if judged:
        told = {condition.grain for item in applied for condition in item.conditions}
        for found in package.grains:
            if found.name in walk.needs.grains and (found.subject or found.name in told):
                walk.member(found, ACCEPTED)
    return walk.needs
