"""Plan the steps that turn events into results, in an order in which each step's inputs exist.

A step is data: its output and its inputs.  `sql` turns it into a statement, `engine` runs it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from assay.lang import formula
from assay.lang.dependencies import Dependencies, collect_dependencies, find_events
from assay.lang.model.filters import Filter
from assay.lang.model.package import Check, Event, Grain, Instant, Metric, Package, Relation
from assay.lang.model.series import Series
from assay.lang.model.vocabulary import Cut
from assay.lang.reserved_names import ACCEPTED, KEY, KEYS, SERIES, get_key_columns, get_rows_name
from assay.lang.scopes import HOST, LOGS
from assay.plan.request import Request, RowRequest, name_rows_statement
from assay.plan.value_request import DividedCells, ValueRequest


@dataclass(frozen=True, slots=True)
class AppliedFilter:
    """A filter with its argument: an integer or a real as exact text, or None."""

    filter: Filter
    argument: str | None

    @property
    def label(self) -> str:
        """Return the filter as on the command line: `NAME=ARGUMENT`."""
        return self.filter.name if self.argument is None else f"{self.filter.name}={self.argument}"


@dataclass(frozen=True, slots=True)
class EventStep:
    """Creates the typed table of an event, with these fields besides its `keys`."""

    event: Event
    fields: tuple[str, ...]
    keys: tuple[str, ...] = KEYS

    @property
    def name(self) -> str:
        """Return the name of the table."""
        return self.event.name


@dataclass(frozen=True, slots=True)
class RelationStep:
    """Creates the table of a relation.

    `sources` are the sources whose logs it may read: those of the events that it depends on.  Empty in a package with
    one source.
    """

    relation: Relation
    sources: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Return the name of the table."""
        return self.relation.name


@dataclass(frozen=True, slots=True)
class GrainRowsStep:
    """Creates the wide table of a grain with these members, before filters: `<grain>_rows`.

    The instants `across` pick a row from the logs of several hosts, where log positions do not define an order.
    """

    grain: Grain
    members: frozenset[str]
    across: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """Return the name of the table."""
        return get_rows_name(self.grain.name)


@dataclass(frozen=True, slots=True)
class FilterStep:
    """Creates the wide table of a grain with the result of every filter on it, and `accepted`.

    With `cut` it has only the rows of one phase: those whose instant `at`, if the grain names one, is in it.
    """

    grain: Grain
    applied: tuple[AppliedFilter, ...]
    cut: bool = False

    @property
    def name(self) -> str:
        """Return the name of the table."""
        return self.grain.name


ROWS_OF_KEY = "rows_of_key"
FROM, TO = "from_ns", "to_ns"


@dataclass(frozen=True, slots=True)
class CheckStep:
    """Queries for rows that must not exist in `table`; `sources` as in RelationStep."""

    check: Check
    table: str
    sources: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Return the name of the check."""
        return f"check {self.table} {self.check.code}"


@dataclass(frozen=True, slots=True)
class SeriesStep:
    """Creates the table of a series, whose windows have this key; with `cut`, in one phase.

    Records of the events `logged` have an order in the log of a host, also at the same instant.
    """

    series: Series
    key: tuple[str, ...]
    cut: bool = False
    logged: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Return the name of the table."""
        return self.series.name


Step = EventStep | RelationStep | GrainRowsStep | FilterStep | SeriesStep | CheckStep


def request_rows(package: Package, grain: Grain, keys: Sequence[str], metrics: Sequence[Metric]) -> RowRequest:
    """Return a request for rows of a grain with metrics, some of which may be formulas."""
    measured = formula.list_measured(formula.index_metrics(package), metrics)
    return RowRequest(grain, tuple(keys), measured, tuple(metric for metric in metrics if formula.is_formula(metric)))


@dataclass(frozen=True, slots=True)
class Plan:
    """The steps in order, and what is computed after them.

    `metrics` are summarized, and `formulas` evaluated over these; `row_requests`, `series` and `cuts` are requested
    rows, series and instants; `judged` metrics have cells, `detailed` ones also
    quantiles, `grouped` ones the distribution of each value of their `per`; `value_requests` are requested values of
    columns, `divided` requested cells by these.  `required_fields` are by event, `constants` the required constants.
    """

    steps: tuple[Step, ...]
    metrics: tuple[Metric, ...]
    applied: tuple[AppliedFilter, ...]
    required_fields: Mapping[str, frozenset[str]]
    constants: frozenset[str]
    row_requests: tuple[RowRequest, ...] = ()
    series: tuple[SeriesStep, ...] = ()
    formulas: tuple[Metric, ...] = ()
    cuts: tuple[Cut, ...] = ()
    judged: tuple[Metric, ...] = ()
    detailed: tuple[Metric, ...] = ()
    grouped: tuple[Metric, ...] = ()
    value_requests: tuple[ValueRequest, ...] = ()
    divided: tuple[DividedCells, ...] = ()

    @property
    def point_names(self) -> frozenset[str]:
        """Return the names of the statements whose rows are points of figures: those of series, and some requests."""
        names = (item.name for item in self.row_requests if item.are_points)
        return frozenset((*names, *(name_rows_statement(step.name) for step in self.series)))


def name_span_statement(windows: str) -> str:
    """Return the name of the statement for the span of all windows of a relation, as FROM and TO."""
    return f"span {windows}"


def name_cut_statement(cut: str) -> str:
    """Return the name of the statement for a named instant of a run."""
    return f"cut {cut}"


def select_grain_filters(grain: Grain, applied: Iterable[AppliedFilter]) -> tuple[AppliedFilter, ...]:
    """Return the filters that have a condition on the grain, in their order."""
    return tuple(item for item in applied if any(c.grain == grain.name for c in item.filter.conditions))


class _StepScheduler:
    """Appends steps to `steps`, each after the steps of its inputs."""

    def __init__(
        self, package: Package, dependencies: Dependencies, applied: tuple[AppliedFilter, ...], cut: bool
    ) -> None:
        self.cut = cut
        self.tables = {item.name: item for item in package.tables}
        self.kinds = {item.name: item.kind for item in package.sources}
        multi_host_sources = {item.name for item in package.sources if item.hosts}
        self.multi_host_events = frozenset(item.name for item in package.events if item.source in multi_host_sources)
        self.package = package
        self.dependencies = dependencies
        self.applied = applied
        self.steps: dict[str, Step] = {}

    def add_table(self, name: str) -> None:
        """Add the step of a table after those of all tables that it reads.  A table is added once."""
        if name == LOGS or name in self.steps:
            return
        table = self.tables[name]
        if isinstance(table, Event):
            fields = tuple(item.name for item in table.fields if item.name in self.dependencies.events[name])
            self.steps[name] = EventStep(table, fields, get_key_columns(self.kinds[table.source]))
        elif isinstance(table, Relation):
            self.add_relation(table)
        elif isinstance(table, Series):
            self.add_series(table)
        else:
            self.add_grain(table)

    def add_series(self, series: Series) -> None:
        """Add a series after its windows and the events that it reads."""
        self.add_table(series.windows)
        windows = self.tables[series.windows]
        assert isinstance(windows, Relation)
        for term in series.terms:
            self.add_table(term.series)
        for event in (*(item.event for item in series.samples), *((series.gone.event,) if series.gone else ())):
            self.add_table(event)
        logged = tuple(item.event for item in series.samples if not self.has_series(item.event))
        self.steps[series.name] = SeriesStep(series, windows.key, self.cut, logged)

    def has_series(self, event: str) -> bool:
        """Return whether the records of an event are samples, which have no order at the same instant."""
        table = self.tables[event]
        assert isinstance(table, Event)
        return SERIES in get_key_columns(self.kinds[table.source])

    def add_relation(self, relation: Relation) -> None:
        """Add a relation after the tables that it uses, and its checks after it."""
        for name in relation.uses:
            self.add_table(name)
        self.steps[relation.name] = RelationStep(relation, self.list_sources(relation.uses))
        self.add_checks(relation.name, (build_key_check(relation), *relation.checks))

    def add_grain(self, grain: Grain) -> None:
        """Add a grain after its rows, its subject and their inputs."""
        self.add_rows(grain)
        if grain.subject:
            self.add_table(grain.subject.grain)
        self.steps[grain.name] = FilterStep(grain, select_grain_filters(grain, self.applied), self.cut)
        self.add_checks(grain.name, grain.checks)

    def list_sources(self, uses: Iterable[str]) -> tuple[str, ...]:
        """Return the sources of the events that tables depend on, if they include the logs.

        Empty in a package with one source.
        """
        if LOGS not in uses or len(self.package.sources) < 2:
            return ()
        events = find_events(self.package, uses)
        return tuple(sorted({item.source for item in self.package.events if item.name in events}))

    def list_unbound_instants(self, grain: Grain) -> frozenset[str]:
        """Return the instants that are bound to an event of several hosts, but not by the host."""
        unbound = (item for item in grain.instants if HOST not in {pair.field for pair in item.on})
        return frozenset(item.name for item in unbound if item.of in self.multi_host_events)

    def add_rows(self, grain: Grain) -> None:
        """Add the rows of a grain after the tables that they are bound to."""
        step = GrainRowsStep(grain, frozenset(self.dependencies.grains[grain.name]), self.list_unbound_instants(grain))
        if step.name in self.steps:
            return
        for name in list_bound_tables(grain, step.members):
            finer = self.tables.get(name)
            if isinstance(finer, Grain) and finer.subject and finer.subject.grain == grain.name:
                self.add_rows(finer)
            else:
                self.add_table(name)
        self.steps[step.name] = step

    def add_checks(self, name: str, checks: Iterable[Check]) -> None:
        """Add checks after the tables that they use."""
        for check in checks:
            for table in check.uses:
                self.add_table(table)
            step = CheckStep(check, name, self.list_sources((*check.uses, name)))
            self.steps.setdefault(step.name, step)


def build_key_check(relation: Relation) -> Check:
    """Return the check that no two rows of a relation have the same key."""
    instant_columns = {item.name for item in relation.columns if item.type == "instant"}
    names = ", ".join(f"{name} {{{name}{':t' if name in instant_columns else ''}}}" for name in relation.key)
    problem = f"rows with the same key: {names}" if names else "rows, but its key has no columns"
    hint = "group the relation's SQL by its key, or list every column that distinguishes its rows in `key`"
    message = f"relation `{relation.name}` has {{{ROWS_OF_KEY}}} {problem}"
    return Check(KEY, "", (), message, hint, "error")


def list_bound_tables(grain: Grain, members: frozenset[str]) -> Iterator[str]:
    """Yield the tables that the rows of a grain with these members read."""
    yield grain.runs.of if grain.runs else grain.relation
    for instant in select_instants(grain, members):
        if instant.of:
            yield instant.of
    for tally in grain.tallies:
        if tally.column.name in members:
            yield tally.of


def select_instants(grain: Grain, members: frozenset[str]) -> Iterator[Instant]:
    """Return the instants of a grain that are among its members."""
    return (item for item in grain.instants if item.name in members)


def build_plan(
    package: Package,
    request: Request,
    applied: Sequence[AppliedFilter] = (),
    cuts: Sequence[Cut] = (),
    *,
    cut: bool = False,
) -> Plan:
    """Return the plan for what is requested under some filters.

    The plan also has instants (`cuts`), and summarizes the inputs of formulas.  With `cut` the plan is for one phase of
    a run, whose bounds are parameters.
    """
    relations, row_requests, series = request.relations, request.rows, request.series
    formulas = tuple(metric for metric in request.metrics if formula.is_formula(metric))
    metrics = formula.list_measured(formula.index_metrics(package), request.metrics)
    divided = [metric for item in request.divided for metric in item.metrics]
    split = [*request.grouped, *(item.metric for item in request.values), *divided]
    required_metrics = [*metrics, *split, *(metric for item in row_requests for metric in item.metrics)]
    measured = formula.list_measured(formula.index_metrics(package), request.judged)
    required_metrics += measured
    keys = [*_list_row_keys(row_requests), *_list_value_keys(request)]
    detailed = select_timed_metrics(package, request.detailed)
    judged = tuple(dict.fromkeys((*select_timed_metrics(package, measured), *detailed)))
    keys += list_times(package, (*judged, *divided))
    table_cuts = tuple(item for item in cuts if item.of)
    row_formulas = [row_formula for item in row_requests for row_formula in item.formulas]
    dependencies = collect_dependencies(
        package,
        [*required_metrics, *formulas, *row_formulas],
        [item.filter for item in applied],
        [*relations, *series],
        keys,
        cut,
        table_cuts,
        with_acceptance=True,
    )
    scheduler = _StepScheduler(package, dependencies, tuple(applied), cut)
    row_grains = [name for name, _ in _list_row_keys(row_requests)]
    grains = (*(metric.grain for metric in (*metrics, *split, *judged)), *row_grains)
    for name in (*relations, *series, *(item.of for item in table_cuts), *grains):
        scheduler.add_table(name)
    required_fields = {name: frozenset(fields) for name, fields in sorted(dependencies.events.items())}
    steps = tuple(scheduler.steps.values())
    return Plan(
        steps,
        tuple(metrics),
        tuple(applied),
        required_fields,
        frozenset(dependencies.constants),
        tuple({item.name: item for item in row_requests}.values()),
        tuple(step for step in steps if isinstance(step, SeriesStep) and step.name in series),
        formulas,
        table_cuts,
        judged,
        detailed,
        request.grouped,
        tuple(dict.fromkeys(request.values)),
        tuple(dict.fromkeys(request.divided)),
    )


def _list_row_keys(row_requests: Sequence[RowRequest]) -> list[tuple[str, tuple[str, ...]]]:
    """Return the grains whose rows are read, also by metrics of finer grains, with the columns that are read."""
    keys = [(item.grain.name, (*item.keys, *((ACCEPTED,) if item.rejected else ()))) for item in row_requests]
    return keys + [(metric.grain, item.grain.key) for item in row_requests for metric in item.finer_metrics]


def _list_value_keys(request: Request) -> list[tuple[str, tuple[str, ...]]]:
    """Return the grains by whose columns rows or cells are divided, with these columns."""
    keys = [(item.metric.grain, item.by) for item in request.values]
    return keys + [(item.metrics[0].grain, item.columns) for item in request.divided]


def select_timed_metrics(package: Package, metrics: Iterable[Metric]) -> tuple[Metric, ...]:
    """Return those of some metrics whose grain has a time."""
    timed = {grain.name for grain in package.grains if grain.time}
    return tuple(metric for metric in metrics if metric.grain in timed and not formula.is_formula(metric))


def list_times(package: Package, metrics: Iterable[Metric]) -> list[tuple[str, tuple[str, ...]]]:
    """Return the names of time and cluster of the grains of some metrics, each with its grain."""
    names = {metric.grain for metric in metrics}
    times = [(grain.name, (grain.time, grain.cluster)) for grain in package.grains if grain.name in names]
    return [(grain, tuple(member for member in members if member)) for grain, members in times]


def name_cells_statement(metric: Metric) -> str:
    """Return the name of the statement for the cells of a metric, and of others of its grain."""
    return f"cells {metric.grain} per {metric.per}" if metric.per else f"cells {metric.grain}"


def name_quantiles_statement(metric: Metric) -> str:
    """Return the name of the statement for the quantiles of a metric, and of others of its grain."""
    return f"quantiles {metric.grain} per {metric.per}" if metric.per else f"quantiles {metric.grain}"


def group_by_statement(metrics: Iterable[Metric], name: Callable[[Metric], str]) -> dict[str, list[Metric]]:
    """Return metrics by the name of the statement that a function gives each."""
    groups: dict[str, list[Metric]] = {}
    for metric in metrics:
        groups.setdefault(name(metric), []).append(metric)
    return groups


def name_groups_statement(metric: Metric) -> str:
    """Return the name of the statement for the distributions of a metric by the column `per`."""
    return f"groups {metric.per} {metric.id}"


def group_metric(package: Package, metric: Metric, column: str) -> Metric | None:
    """Return a metric with a distribution for each value of a column; None if its samples have no such value.

    The samples of a formula, of a metric by another column, and those that combine rows of several values have none.
    """
    if formula.is_formula(metric) or metric.per == column:
        return metric if metric.per == column else None
    grain = next(item for item in package.grains if item.name == metric.grain)
    is_column = any(item.name == column and item.type == "text" for item in grain.columns)
    is_combined = metric.reduction is not None and column not in metric.reduction.by
    return None if metric.per or not is_column or is_combined else replace(metric, per=column)


def can_split_by_phase(package: Package, table: str) -> bool:
    """Return whether phases restrict the rows of a table, directly or through its inputs.

    Series are split by their instants, grains by their `at`.  A grain without one follows its subject, the grain of its
    runs, or its relation, which is split if all tables that it reads are (besides the logs).  Events are not split.
    """
    tables = {item.name: item for item in package.tables}

    def is_split(name: str) -> bool:
        """Return whether the rows of a table are split."""
        definition = tables.get(name)
        if isinstance(definition, Series):
            return True
        if isinstance(definition, Relation):
            read = [table_name for table_name in definition.uses if table_name != LOGS]
            return bool(read) and all(is_split(table_name) for table_name in read)
        if not isinstance(definition, Grain):
            return False
        return bool(definition.at) or any(is_split(base) for base in _list_base_grains(definition))

    return is_split(table)


def _list_base_grains(grain: Grain) -> tuple[str, ...]:
    subject = (grain.subject.grain,) if grain.subject else ()
    return (*subject, grain.runs.of if grain.runs else grain.relation)
