"""Compile a plan to SQL statements: the tables and views to create, in order, and the queries over them.

`build_standalone_query` combines the statements of one metric into a single one.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeGuard

from sqlglot import exp

from assay.lang import scopes
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.package import Check, Event, Grain, Metric, Package, Relation
from assay.lang.model.source_kinds import SOURCE_KINDS, SourceKind
from assay.lang.reserved_names import KEY, SERIES
from assay.lang.scopes import HOST, LOGS, SOURCE
from assay.plan.planner import (
    CheckStep,
    EventStep,
    FilterStep,
    GrainRowsStep,
    Plan,
    RelationStep,
    SeriesStep,
    Step,
    group_by_statement,
    name_cells_statement,
    name_cut_statement,
    name_groups_statement,
    name_quantiles_statement,
    name_span_statement,
)
from assay.plan.request import name_rows_statement
from assay.plan.value_request import DividedCells
from assay.sql import dialect, distributions, divided_cells, grains, quantiles, relations, rows, sample_cells, series
from assay.sql.expressions import build_placeholders
from assay.sql.read_tables import find_tables
from assay.sql.row_keys import Key, Shape
from assay.util.repr_key import ReprKey


def list_table_shapes(package: Package, names: Iterable[str], sources: Iterable[str]) -> tuple[tuple[str, Shape], ...]:
    """Return the shapes of tables, each with its name.

    `sources` are the sources whose logs are read; empty means the only source.
    """
    tables: tuple[Event | Relation | Grain, ...] = (*package.events, *package.relations, *package.grains)
    tables_by_name = {item.name: item for item in tables}
    return tuple((name, _find_shape(package, name, tables_by_name.get(name), len(tuple(sources)))) for name in names)


def _find_shape(package: Package, name: str, table: Event | Relation | Grain | None, source_count: int) -> Shape:
    columns = scopes.list_row_columns(package, name)
    if columns is not None and isinstance(table, Event) and _find_source_kind(package, table).has_series:
        columns = {**columns, SERIES: columns[HOST]}
    return Shape(
        None if columns is None else tuple(column.casefold() for column in columns),
        tuple(_find_keys(package, name, table, source_count)),
    )


def _find_keys(package: Package, name: str, table: Event | Relation | Grain | None, source_count: int) -> Iterator[Key]:
    if name == LOGS:
        yield Key(frozenset((SOURCE, HOST) if source_count > 1 else (HOST,)))
    elif isinstance(table, Event):
        # A log line is one event at most; a row of a table is a row of every event of its source.
        lines = frozenset(((table.source, name),)) if _find_source_kind(package, table).is_log else frozenset()
        yield Key(frozenset((HOST, "seq")), lines)
    elif table is not None:
        yield Key(frozenset(column.casefold() for column in table.key))


def _find_source_kind(package: Package, event: Event) -> SourceKind:
    """Return the kind of an event's source; a kind without properties if the source is not in the package."""
    kind = next((source.kind for source in package.sources if source.name == event.source), "")
    return SOURCE_KINDS.get(kind, SourceKind(kind, "", ""))


Constants = Mapping[str, object]
EventTables = Mapping[str, exp.Query]

CACHE_SIZE = 2048  # cached statements: a process that builds again needs most statements of its last plans


@dataclass(frozen=True, slots=True, eq=False)
class Statement:
    """A query and its purpose.

    `kind` is `table` or `view` (created under `name`), `check` (must yield no rows), `metric` (the distribution of the
    metric with the id `name`), `rows` (all rows are read) or `count` (how complete the rows of a metric are).

    Plans share statements: copy a query before you change it.
    """

    kind: str
    name: str
    query: exp.Expr
    step: Step | None = None


def compile_steps(
    plan: Plan, checked: CheckedPackage, names: Iterable[str], events: EventTables
) -> tuple[Statement, ...]:
    """Return every statement of a plan, in order; constants are placeholders with these names.

    `events` are the queries that yield the event tables, by the names of the events.
    """
    unfiltered = _list_unfiltered(plan)
    names = tuple(names)
    constants = build_placeholders(names)
    steps = [step for step in plan.steps if not _is_guaranteed(step, checked, names)]
    statements = [_compile_step(step, unfiltered, names, events, checked) for step in steps]
    statements += [build_metric_statement(metric, checked, names) for metric in plan.metrics]
    statements += build_cells_statements(plan.judged, checked, constants)
    for detailed in group_by_statement(plan.detailed, name_quantiles_statement).values():
        statements.append(build_quantiles_statement(detailed, checked))
    integral = {name for name, measured in checked.measured.items() if measured.integral}
    statements += [
        _build_groups_statement(metric, checked, constants) for metric in plan.grouped if metric not in plan.metrics
    ]
    statements += [
        Statement("rows", item.name, distributions.count_values(item, constants)) for item in plan.value_requests
    ]
    statements += [_build_divided_statement(item, checked, constants) for item in plan.divided]
    statements += [
        Statement("rows", item.name, rows.select_rows(item, plan.applied, integral, constants))
        for item in plan.row_requests
    ]
    sampled = [step for step in plan.steps if isinstance(step, SeriesStep) and step.series.samples]
    sampled = [step for step in sampled if not step.series.has_intervals]
    statements += [_build_ambiguity_check(step, constants) for step in sampled]
    numbered_events = {step.name for step in plan.steps if isinstance(step, EventStep) and SERIES in step.keys}
    statements += [
        _build_interleaving_check(step, constants)
        for step in sampled
        if {item.event for item in step.series.samples} <= numbered_events
    ]
    rates = [step for step in sampled if step.series.reading == "rate"]
    statements += [_build_sparsity_check(step, constants) for step in rates]
    statements += [_build_negativity_check(step) for step in rates]
    statements += [
        Statement("rows", name_cut_statement(item.name), grains.select_cut_instant(item, constants))
        for item in plan.cuts
    ]
    statements += [
        Statement("rows", name_rows_statement(step.name), distributions.select_lines(step)) for step in plan.series
    ]
    windows = dict.fromkeys(step.series.windows for step in plan.series)
    statements += [Statement("rows", name_span_statement(name), distributions.select_span(name)) for name in windows]
    return tuple(statements)


def _build_ambiguity_check(step: SeriesStep, constants: Constants) -> Statement:
    """Return the check for lines with several samples at one instant: they combine several series."""
    labels = ", ".join(step.series.by)
    check = Check(
        "several-series",
        "",
        (),
        f"{step.name}: the line {{line}} combines several series: it has up to {{values}} samples at an instant",
        ("add `host`" if step.logged else "fetch the samples of one series (`--match`), or add a label")
        + f" that distinguishes them to `by` of the series, which has {labels}",
        "error",
    )
    check_step = CheckStep(check, step.name)
    query = series.select_ambiguous_lines(step.series, constants, step.logged)
    return Statement("check", check_step.name, query, check_step)


def _build_interleaving_check(step: SeriesStep, constants: Constants) -> Statement:
    """Return the check for lines that combine several series, whose samples are at different instants.

    It is only a warning: a single series may also be scraped with gaps, under changing labels.
    """
    labels = ", ".join(step.series.by)
    check = Check(
        "interleaved-series",
        "",
        (),
        f"{step.name}: the line {{line}} combines several series with interleaved samples, so its values alternate "
        f"between them: the series differ in their names, or in labels other than {labels}.",
        "",
        "warning",
    )
    check_step = CheckStep(check, step.name)
    return Statement("check", check_step.name, series.select_interleaved_lines(step.series, constants), check_step)


def _build_sparsity_check(step: SeriesStep, constants: Constants) -> Statement:
    """Return the check for rates whose samples are further apart than the window: they have no values."""
    check = Check(
        "scrape-interval",
        "",
        (),
        f"{step.name}: samples of {{line}} are {{interval:g}} s apart, more than the window of {{window:g}} s, so the "
        "rate has no values.",
        "",
        "warning",
    )
    check_step = CheckStep(check, step.name)
    return Statement("check", check_step.name, series.select_sparse_lines(step.series, constants), check_step)


def _build_negativity_check(step: SeriesStep) -> Statement:
    """Return the check for rates below 0."""
    check = Check(
        "negative-rate",
        "",
        (),
        f"{step.name}: the rate of {{line}} is below 0 at {{steps}} of its steps: either a sample that is not a "
        "number hides a reset of the counter, or samples are below 0.",
        "",
        "warning",
    )
    check_step = CheckStep(check, step.name)
    return Statement("check", check_step.name, series.select_negative_lines(step.series), check_step)


def build_metric_statement(metric: Metric, checked: CheckedPackage, names: tuple[str, ...]) -> Statement:
    """Return the statement that yields the distribution of a metric."""
    grain = next(item for item in checked.package.grains if item.name == metric.grain)
    integral = checked.measured[metric.id].integral
    domain = distributions.get_domain(grain)
    return _compile_metric(ReprKey(metric), domain, integral, checked.definitions[metric.id], names)


def build_cells_statements(
    metrics: Iterable[Metric], checked: CheckedPackage, constants: Constants
) -> Iterator[Statement]:
    """Yield the statements for the cells of metrics."""
    grains_by_name = {item.name: item for item in checked.package.grains}
    decimals = {name: measured.decimals for name, measured in checked.measured.items()}
    for name, group in group_by_statement(metrics, name_cells_statement).items():
        query = sample_cells.build_cells(group, grains_by_name[group[0].grain], decimals, constants)
        yield Statement("rows", name, query)


def build_quantiles_statement(metrics: Sequence[Metric], checked: CheckedPackage) -> Statement:
    """Return the statement for the quantiles of metrics of one grain that all have the same `per`."""
    grain = next(item for item in checked.package.grains if item.name == metrics[0].grain)
    integral = {metric.id for metric in metrics if checked.measured[metric.id].integral}
    constants = build_placeholders(item.name for source in checked.package.sources for item in source.constants)
    query = quantiles.build_quantiles(metrics, grain, integral, constants)
    return Statement("rows", name_quantiles_statement(metrics[0]), query)


def _build_divided_statement(request: DividedCells, checked: CheckedPackage, constants: Constants) -> Statement:
    metric = request.metrics[0]
    grain = next(item for item in checked.package.grains if item.name == metric.grain)
    if not request.columns:
        return Statement("rows", request.name, divided_cells.build_place_times(metric, grain, constants))
    decimals = {name: measured.decimals for name, measured in checked.measured.items()}
    query = divided_cells.build_divided_cells(request.metrics, request.columns, grain, decimals, constants)
    return Statement("rows", request.name, query)


def _build_groups_statement(metric: Metric, checked: CheckedPackage, constants: Constants) -> Statement:
    grain = next(item for item in checked.package.grains if item.name == metric.grain)
    integral = checked.measured[metric.id].integral
    query = distributions.build_distribution(metric, distributions.get_domain(grain), integral, constants)
    return Statement("rows", name_groups_statement(metric), query)


@functools.lru_cache(maxsize=CACHE_SIZE)
def _compile_metric(
    metric: ReprKey[Metric], domain: str, integral: bool, definition: str, names: tuple[str, ...]
) -> Statement:
    item = metric.value
    query = distributions.build_distribution(item, domain, integral, build_placeholders(names))
    query.add_comments([f" {item.id}: {item.name} ", f" definition {definition} "])
    return Statement("metric", item.id, query)


def _list_unfiltered(plan: Plan) -> frozenset[str]:
    """Return the grains whose rows other grains count before filters apply.

    These are grains with a subject, because their filters apply later, and grains that a phase cuts, because tallies
    count rows of the whole run.
    """
    names = frozenset(step.grain.name for step in plan.steps if isinstance(step, GrainRowsStep) and step.grain.subject)
    filter_steps = (step for step in plan.steps if isinstance(step, FilterStep))
    return names | {step.grain.name for step in filter_steps if step.cut and step.grain.at}


def _is_guaranteed(step: Step, checked: CheckedPackage, names: tuple[str, ...]) -> bool:
    """Return whether a key check is not needed, because the relation's SQL guarantees a unique key."""
    return _is_key_check(step) and _has_unique_key(ReprKey(_find_relation(checked, step)), names)


def _is_key_check(step: Step) -> TypeGuard[CheckStep]:
    """Return whether a step checks the key of a relation."""
    return isinstance(step, CheckStep) and step.check.code == KEY and not step.check.sql


@functools.lru_cache(maxsize=CACHE_SIZE)
def _has_unique_key(cache_key: ReprKey[Relation], names: tuple[str, ...]) -> bool:
    relation = cache_key.value
    query = relations.compile_query(
        relation.sql, build_placeholders(names), relation.uses, f"relation `{relation.name}`"
    )
    return relations.has_unique_key(query, relation.key)


def _find_relation(checked: CheckedPackage, step: CheckStep) -> Relation:
    return next(item for item in checked.package.relations if item.name == step.table)


def _compile_step(
    step: Step, unfiltered: frozenset[str], names: tuple[str, ...], events: EventTables, checked: CheckedPackage
) -> Statement:
    if isinstance(step, EventStep):
        return Statement("view", step.name, events[step.name], step)
    if _is_key_check(step):
        return Statement("check", step.name, relations.select_duplicates(_find_relation(checked, step)), step)
    counted = {tally.of for tally in step.grain.tallies} if isinstance(step, GrainRowsStep) else set()
    statement = _compile_cached(ReprKey(step), unfiltered & counted, names)
    _refuse_ties(step, checked)
    return statement


def _refuse_ties(step: Step, checked: CheckedPackage) -> None:
    """Raise AssayError when the SQL of a step decides a value by an order in which rows tie."""
    if isinstance(step, RelationStep):
        sql, uses, subject = step.relation.sql, step.relation.uses, f"relation `{step.name}`"
    elif isinstance(step, CheckStep):
        sql, uses, subject = (
            step.check.sql,
            (*step.check.uses, step.table),
            f"check `{step.check.code}` of `{step.table}`",
        )
    else:
        return
    relations.refuse_ties(sql, list_table_shapes(checked.package, uses, step.sources), subject)


@functools.lru_cache(maxsize=CACHE_SIZE)
def _compile_cached(
    cache_key: ReprKey[RelationStep | GrainRowsStep | SeriesStep | FilterStep | CheckStep],
    unfiltered: frozenset[str],
    names: tuple[str, ...],
) -> Statement:
    step, constants = cache_key.value, build_placeholders(names)
    if isinstance(step, RelationStep):
        subject = f"relation `{step.name}`"
        query = relations.compile_query(step.relation.sql, constants, step.relation.uses, subject)
        return Statement("table", step.name, relations.restrict_sources(query, step.sources), step)
    if isinstance(step, GrainRowsStep):
        return Statement("table", step.name, grains.select_grain_rows(step, unfiltered, constants), step)
    if isinstance(step, SeriesStep):
        query = series.compile_series(step.series, step.key, constants, step.cut, step.logged)
        return Statement("table", step.name, query, step)
    if isinstance(step, FilterStep):
        return Statement("table", step.name, grains.apply_filters(step, constants), step)
    subject = f"check `{step.check.code}` of `{step.table}`"
    query = relations.compile_query(step.check.sql, constants, (*step.check.uses, step.table), subject)
    return Statement("check", step.name, relations.restrict_sources(query, step.sources), step)


def build_standalone_query(
    statements: Iterable[Statement], metric: str, tables: Mapping[str, exp.Select], constants: str
) -> exp.Expr:
    """Return one statement that yields a metric, with all its dependencies as common table expressions.

    `tables` are the queries of the raw tables, and of `constants`, a table of one row with the constants of the run.
    """
    all_statements = tuple(statements)
    final = next(item for item in all_statements if item.kind == "metric" and item.name == metric)
    created = {item.name: item.query for item in all_statements if item.kind in ("table", "view")}
    names_read = _list_tables_read(final.query, {**tables, **created})
    query = final.query.copy()
    assert isinstance(query, exp.Select)
    with_clause = query.args.get("with_")
    queries = {name: part for name, part in {**tables, **created}.items() if name in names_read or name == constants}
    metric_stages = {item.alias: item.this for item in with_clause.expressions} if with_clause else {}
    stages = [*((name, part.copy()) for name, part in queries.items()), *metric_stages.items()]
    # By default the engine inlines a stage wherever it is read, and then orders the joins of the large query badly.
    # So whatever is a table when statements run one by one is materialized here.
    query = dialect.add_stages(query, stages, {item.name for item in all_statements if item.kind == "table"})
    for placeholder in list(query.find_all(exp.Placeholder)):
        value = exp.select(exp.column(str(placeholder.this))).from_(constants)
        placeholder.replace(value.subquery())
    return query


def _list_tables_read(query: exp.Expr, queries: Mapping[str, exp.Expr]) -> set[str]:
    """Return the tables in `queries` that a query reads, directly or indirectly."""
    names: set[str] = set()
    queue = [query]
    while queue:
        for table in find_tables(queue.pop()):
            if table.name in queries and table.name not in names:
                names.add(table.name)
                queue.append(queries[table.name])
    return names


def build_create_sql(statement: Statement, temporary: bool = True) -> str:
    """Return the SQL that creates a statement's table or view; only its connection sees a `temporary` one."""
    kind = "VIEW" if statement.kind == "view" else "TABLE"
    tree = exp.Create(
        this=exp.to_table(exp.to_identifier(statement.name).sql(dialect.DIALECT)),
        kind=kind,
        expression=statement.query,
        properties=exp.Properties(expressions=[exp.TemporaryProperty()] if temporary else []),
    )
    return dialect.to_sql(tree)


def build_insert_sql(statement: Statement) -> str:
    """Return the SQL that appends a statement's rows to its existing table."""
    return dialect.to_sql(exp.Insert(this=dialect.build_table(statement.name), expression=statement.query.copy()))
