"""Collect the tables, columns and fields that metrics depend on, directly or not.

Only required members are collected: the columns and instants of a grain and the fields of an event that something
refers to.  What SQL reads follows from its syntax tree; a star reads every column.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Set
from dataclasses import dataclass, field

from assay.lang import formula
from assay.lang.model.expression import Expression
from assay.lang.model.filters import Filter
from assay.lang.model.package import Event, Grain, Metric, Package, Relation, Table
from assay.lang.model.series import Series
from assay.lang.model.vocabulary import Cut
from assay.lang.record_units import add_unit_fields
from assay.lang.reserved_names import ACCEPTED
from assay.lang.sql_dependencies import Reads, find_reads


@dataclass(slots=True)
class Dependencies:
    """Required events with fields, relations, grains with members, series, filters and constants."""

    events: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    relations: set[str] = field(default_factory=set)
    grains: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    series: set[str] = field(default_factory=set)
    filters: set[str] = field(default_factory=set)
    constants: set[str] = field(default_factory=set)


class _DependencyWalker:
    """Walks from metrics to everything that they depend on.  Each method adds to `needs` what one part depends on."""

    def __init__(self, package: Package, filters: Iterable[Filter], cut: bool = False) -> None:
        self.cut = cut
        self.tables = {item.name: item for item in package.tables}
        self.metrics = formula.index_metrics(package)
        self.filters = tuple(filters)
        self.starts = {source.name: {source.start} for source in package.sources if source.start}
        self.needs = Dependencies()
        self.visited: set[tuple[str, str]] = set()

    def add_metric(self, metric: Metric) -> None:
        """Add what a metric refers to; for a formula, what its input metrics refer to."""
        if formula.is_formula(metric):
            self.needs.constants |= _list_constants(metric.measure)
            for name in formula.list_inputs(metric.measure):
                self.add_metric(self.metrics[name])
            return
        grain = self.tables[metric.grain]
        assert isinstance(grain, Grain)
        keys = {*(metric.reduction.columns if metric.reduction else ()), *((metric.per,) if metric.per else ())}
        self.add_members(grain, keys)
        self.add_expression(grain, metric.measure)
        if metric.where:
            self.add_expression(grain, metric.where)
        if metric.accepted:
            self.add_member(grain, ACCEPTED)

    def add_table(self, name: str, read: Set[str] | Reads | None) -> None:
        """Add a table with those of its members that are `read` (None: all)."""
        table = self.tables.get(name)
        if isinstance(table, Event):
            names = _select_read({item.name for item in table.fields}, read)
            self.needs.events[name] |= add_unit_fields(table, names)
            self.needs.constants |= self.starts.get(table.source, set())
        elif isinstance(table, Relation):
            self.add_relation(table)
        elif isinstance(table, Series):
            self.add_series(table)
        elif isinstance(table, Grain):
            self.add_members(table, _select_read(self.list_members(table), read))

    def add_series(self, series: Series) -> None:
        """Add a series: its windows, the labels and values of its samples, and the events that end its lines."""
        if series.name in self.needs.series:
            return
        self.needs.series.add(series.name)
        self.add_table(series.windows, {"from_ns", "to_ns"})
        self.needs.constants |= {name for name in (series.window, series.every) if name}
        self.needs.constants |= _list_constants(series.value) if series.value else set()
        for term in series.terms:
            self.add_table(term.series, None)
        for item in series.samples:
            value = _list_fields(series.value) if series.value else () if series.reading == "count" else {"value"}
            self.add_table(item.event, {*series.by, *value, *(_list_fields(item.where) if item.where else ())})
        if series.gone:
            self.add_table(
                series.gone.event, {*series.gone.on, *(_list_fields(series.gone.where) if series.gone.where else ())}
            )

    def add_relation(self, relation: Relation) -> None:
        """Add a relation with everything that its SQL and its checks read."""
        if relation.name in self.needs.relations:
            return
        self.needs.relations.add(relation.name)
        self.add_sql(relation.sql, relation.uses)
        for check in relation.checks:
            self.add_sql(check.sql, check.uses)

    def add_sql(self, sql: str, uses: Collection[str]) -> None:
        """Add what a SQL text reads: constants, and members of each table."""
        relations = [name for name in uses if isinstance(self.tables.get(name), Relation)]
        sql_reads = find_reads(sql, set(uses) - set(relations), relations)
        self.needs.constants |= sql_reads.constants
        for name in uses:
            self.add_table(name, sql_reads)

    def list_members(self, grain: Grain) -> set[str]:
        """Return the names of all members of a grain."""
        names = {item.name for item in grain.columns} | {item.name for item in grain.instants} | {ACCEPTED}
        names |= {f"{item.name}_{field}" for item in grain.instants for field in item.fields}
        names |= {item.column.name for item in grain.tallies}
        return names | {item.column.name for item in grain.derived}

    def add_members(self, grain: Grain, names: Iterable[str]) -> None:
        """Add members of a grain, and its key."""
        for name in (*grain.key, *sorted(names)):
            self.add_member(grain, name)

    def add_member(self, grain: Grain, name: str) -> None:
        """Add a member of a grain with what it is computed from."""
        if (grain.name, name) in self.visited:
            return
        self.visited.add((grain.name, name))
        self.needs.grains[grain.name].add(name)
        self.add_base(grain)
        if name == ACCEPTED:
            self.add_filters(grain)
        for instant in grain.instants:
            if name == instant.name or name in {f"{instant.name}_{field}" for field in instant.fields}:
                self.add_instant(grain, instant.name)
        for tally in grain.tallies:
            if tally.column.name == name:
                fields = {pair.field for pair in tally.on} | (_list_fields(tally.where) if tally.where else set())
                self.add_members(grain, (pair.column for pair in tally.on))
                self.add_table(tally.of, fields)
        for item in grain.derived:
            if item.column.name == name:
                self.add_expression(grain, item.value)

    def add_instant(self, grain: Grain, name: str) -> None:
        """Add an instant of a grain with the table that it is looked up in."""
        self.add_member(grain, name)
        instant = next(item for item in grain.instants if item.name == name)
        if instant.value:
            self.add_expression(grain, instant.value)
        if instant.before:
            self.add_instant(grain, instant.before)
        if instant.of:
            fields = {pair.field for pair in instant.on} | set(instant.fields)
            fields |= _list_fields(instant.where) if instant.where else set()
            self.needs.constants |= _list_constants(instant.where) if instant.where else set()
            self.add_members(grain, (pair.column for pair in instant.on))
            self.add_table(instant.of, fields)

    def add_base(self, grain: Grain) -> None:
        """Add the table that the rows of a grain come from, and the checks of the grain."""
        if (grain.name, "") in self.visited:
            return
        self.visited.add((grain.name, ""))
        if grain.runs:
            runs = grain.runs
            base = self.tables[runs.of]
            assert isinstance(base, Grain)
            self.add_members(base, (*runs.by, runs.along, *runs.carry, ACCEPTED))
            self.add_expression(base, runs.holds)
        else:
            self.add_table(grain.relation, None)
        if self.cut and grain.at:
            self.add_members(grain, [grain.at])
        for check in grain.checks:
            self.add_sql(check.sql, (*check.uses, grain.name))

    def add_filters(self, grain: Grain) -> None:
        """Add what decides which rows of a grain are accepted: its subject and the filters."""
        if grain.subject:
            parent = self.tables[grain.subject.grain]
            assert isinstance(parent, Grain)
            self.add_members(parent, (*(pair.field for pair in grain.subject.on), ACCEPTED))
            self.add_members(grain, (pair.column for pair in grain.subject.on))
        for item in self.filters:
            for condition in item.conditions:
                if condition.grain == grain.name:
                    self.needs.filters.add(item.name)
                    self.add_expression(grain, condition.holds)

    def add_expression(self, grain: Grain, node: Expression) -> None:
        """Add what an expression over a grain refers to."""
        for item in node.walk():
            if item.op == "column":
                self.add_member(grain, item.name)
            elif item.op == "instant":
                self.add_instant(grain, item.name)
            elif item.op == "taken":
                self.add_instant(grain, item.text)
                self.add_member(grain, f"{item.text}_{item.name}")
            elif item.op == "constant":
                self.needs.constants.add(item.name)


def find_events(package: Package, tables: Iterable[str]) -> frozenset[str]:
    """Return the events that tables depend on, directly or not.  Names of the package need not be checked."""
    tables_by_name = {item.name: item for item in package.tables}
    reachable: set[str] = set()
    queue = list(tables)
    while queue:
        name = queue.pop()
        if name not in reachable and name in tables_by_name:
            reachable.add(name)
            queue += _list_upstream_tables(tables_by_name[name])
    return frozenset(reachable & {event.name for event in package.events})


def _list_upstream_tables(table: Table) -> Iterable[str]:
    """Return the names of the tables that a table reads."""
    if isinstance(table, Relation):
        return table.uses
    if isinstance(table, Grain):
        base = table.runs.of if table.runs else table.relation
        return (base, *(item.of for item in table.instants if item.of), *(item.of for item in table.tallies))
    if isinstance(table, Series):
        events = [*(item.event for item in table.samples), *([table.gone.event] if table.gone else [])]
        return (table.windows, *(term.series for term in table.terms), *events)
    return ()


def _select_read(members: Set[str], read: Set[str] | Reads | None) -> Set[str]:
    """Return the members that are read (None: all)."""
    if isinstance(read, Reads):
        return read.filter_columns(members)
    return members if read is None else members & read


def _list_fields(node: Expression) -> set[str]:
    return {item.name for item in node.walk() if item.op == "field"}


def _list_constants(node: Expression) -> set[str]:
    return {item.name for item in node.walk() if item.op == "constant"}


def collect_dependencies(
    package: Package,
    metrics: Iterable[Metric],
    filters: Iterable[Filter],
    relations: Iterable[str] = (),
    columns: Iterable[tuple[str, Iterable[str]]] = (),
    cut: bool = False,
    cuts: Iterable[Cut] = (),
    with_acceptance: bool = False,
) -> Dependencies:
    """Return what metrics depend on under some filters, plus further tables and members of grains.

    `relations` are read as a whole (by a manifest); `columns` are members of grains.  With `cut`, the instants that
    phases split grains by are included; `cuts` are required boundaries.  With `with_acceptance`, so is what decides
    which rows of each grain are accepted, although no metric needs it: exported tables always have that column.
    """
    filters = tuple(filters)
    walker = _DependencyWalker(package, filters, cut)
    for item in cuts:
        if item.of:
            walker.add_table(item.of, {item.column, *(_list_fields(item.where) if item.where else ())})
    for metric in metrics:
        walker.add_metric(metric)
    for name in relations:
        walker.add_table(name, None)
    for grain, names in columns:
        walker.add_table(grain, set(names))
    if with_acceptance:
        filtered_grains = {condition.grain for filter_ in filters for condition in filter_.conditions}
        for required_grain in package.grains:
            name = required_grain.name
            if name in walker.needs.grains and (required_grain.subject or name in filtered_grains):
                walker.add_member(required_grain, ACCEPTED)
    return walker.needs
