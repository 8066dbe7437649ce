"""Compile grains to SQL: the wide table of rows with their instants, filters, and cuts by phase.

Rows are built in layers: first the members that are bound to other tables, then the computed members, one layer for
each depth of reference.  So the SQL contains every expression once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sqlglot import exp

from assay.lang.model.expression import Expression
from assay.lang.model.package import Grain, Instant, Pair, Tally
from assay.lang.model.vocabulary import COMPUTED, FIRST, LAST, LATEST_BEFORE, SINCE, UNTIL, Cut
from assay.lang.reserved_names import ACCEPTED, BASE, choose_free_name, get_rows_name
from assay.lang.scopes import HOST
from assay.plan.planner import AppliedFilter, FilterStep, GrainRowsStep, select_instants
from assay.sql import dialect
from assay.sql.dialect import build_column
from assay.sql.expressions import Names, compile_expression
from assay.sql.template import Slot, fill_expression, fill_query


def build_phase_condition(instant: exp.Expr) -> exp.Expr:
    """Return the condition that an instant is in the phase: from its first ns, before the first ns after it."""
    return exp.and_(
        exp.GTE(this=instant, expression=exp.Placeholder(this=SINCE)),
        exp.LT(this=instant.copy(), expression=exp.Placeholder(this=UNTIL)),
    )


def select_cut_instant(cut: Cut, constants: Mapping[str, object]) -> exp.Select:
    """Return one row with `t_ns`: the instant of a boundary, null where no row has it."""
    pick = "max" if cut.pick == LAST else "min"
    query = fill_query(f"SELECT {pick}($column) AS t_ns FROM $table", column=cut.column, table=cut.of)
    return query.where(compile_expression(cut.where, Names(constants=constants)), copy=False) if cut.where else query


Constants = Mapping[str, object]


def select_grain_rows(step: GrainRowsStep, finer: frozenset[str], constants: Constants) -> exp.Select:
    """Return the wide table of a grain before filters.

    For grains in `finer`, tallies also count the rows that filters reject.
    """
    if step.grain.runs:
        return _select_runs(step.grain, constants)
    stages = [("bound", _bind_rows(step, finer, constants))]
    for index, layer in enumerate(_list_layers(step.grain, step.members), start=1):
        stages.append((f"computed_{index}", _compute_layer(layer, stages[-1][0], constants)))
    *earlier, (_, query) = stages
    return dialect.add_stages(query, earlier)


def _compute_layer(layer: Sequence[tuple[str, Expression]], source: str, constants: Constants) -> exp.Select:
    values = [exp.alias_(compile_expression(value, Names(constants=constants)), name) for name, value in layer]
    return dialect.select("*", *values).from_(dialect.build_table(source))


def _list_layers(grain: Grain, members: frozenset[str]) -> list[list[tuple[str, Expression]]]:
    """Return the computed columns by depth of reference; within a layer, in the order of the spec."""
    computed = {item.name: item.value for item in select_instants(grain, members) if item.value}
    computed |= {item.column.name: item.value for item in grain.derived if item.column.name in members}
    depths: dict[str, int] = {}

    def get_depth(name: str) -> int:
        if name not in depths:
            input_names = {node.name for node in computed[name].walk() if node.op in ("column", "instant")}
            depths[name] = 1 + max((get_depth(item) for item in input_names & set(computed)), default=0)
        return depths[name]

    deepest = max((get_depth(name) for name in computed), default=0)
    return [
        [(name, value) for name, value in computed.items() if depths[name] == level] for level in range(1, deepest + 1)
    ]


def _bind_rows(step: GrainRowsStep, finer: frozenset[str], constants: Constants) -> exp.Select:
    """Return the rows of the relation with everything that is bound to other tables."""
    grain = step.grain
    query = _select_base().from_(dialect.build_table(grain.relation, BASE))
    instants_by_tally = _match_tallies(step, finer)
    for instant in _sort_instants(grain, step.members):
        query = query.select(exp.alias_(build_column("t_ns", instant.name), instant.name))
        for name in instant.fields:
            query = query.select(exp.alias_(build_column(name, instant.name), f"{instant.name}_{name}"))
        query = _join_instant(query, instant, step, instant in instants_by_tally.values(), constants)
    for tally in grain.tallies:
        if tally.column.name in step.members:
            picked_instant = instants_by_tally.get(tally.column.name)
            query = (
                query.select(count_with_pick(tally, picked_instant))
                if picked_instant
                else _join_tally(query, tally, finer, constants)
            )
    return query


def _match_tallies(step: GrainRowsStep, finer: frozenset[str]) -> dict[str, Instant]:
    """Return the tallies that count exactly the rows from which an instant is picked, with that instant.

    The query that picks the instant also counts these rows.
    """
    picked = [item for item in select_instants(step.grain, step.members) if item.pick in (FIRST, LAST)]
    tallies = [item for item in step.grain.tallies if item.column.name in step.members and item.of not in finer]
    return {
        tally.column.name: instant
        for tally in tallies
        for instant in picked
        if (tally.of, {*tally.on}, tally.where) == (instant.of, {*instant.on}, instant.where)
    }


def _sort_instants(grain: Grain, members: frozenset[str]) -> list[Instant]:
    """Return the bound instants, each after the instant that it precedes (`latest before`)."""
    bound = {item.name: item for item in select_instants(grain, members) if item.pick != COMPUTED}

    def get_depth(instant: Instant) -> int:
        return 1 + get_depth(bound[instant.before]) if instant.pick == LATEST_BEFORE else 0

    return sorted(bound.values(), key=get_depth)


def _select_base() -> exp.Select:
    return dialect.select(exp.Column(this=exp.Star(), table=exp.to_identifier(BASE)))


def _join_instant(
    query: exp.Select, instant: Instant, step: GrainRowsStep, has_tally: bool, constants: Constants
) -> exp.Select:
    if instant.pick == LATEST_BEFORE:
        ahead = exp.LT(this=build_column("seq", instant.name), expression=build_column("seq", instant.before))
        source = _select_allowed(instant, constants)
        return dialect.join_latest_before(query, source, exp.and_(_match_keys(instant.on, instant.name), ahead))
    needs_seq = any(item.before == instant.name for item in select_instants(step.grain, step.members))
    picked_rows = _pick_rows(instant, instant.name in step.across, needs_seq, constants)
    if has_tally:
        picked_rows = picked_rows.select(exp.alias_(exp.Count(this=exp.Star()), _count_column(instant)), copy=False)
    return query.join(
        picked_rows.subquery(alias=instant.name), on=_match_keys(instant.on, instant.name), join_type="LEFT"
    )


def _select_allowed(instant: Instant, constants: Constants) -> exp.Expr:
    """Return the bound table, restricted to the rows that the instant's condition allows, under its name."""
    if not instant.where:
        return dialect.build_table(instant.of, instant.name)
    names = [*(pair.field for pair in instant.on), "seq", "t_ns", *instant.fields]
    where = compile_expression(instant.where, Names(constants=constants))
    query = fill_query("SELECT $names FROM $table WHERE $where", names=names, table=instant.of, where=where)
    return query.subquery(alias=instant.name)


def _pick_rows(instant: Instant, across: bool, needs_seq: bool, constants: Constants) -> exp.Select:
    """Return the first or last row of the bound table for each key: in log order, or `across` logs in time order.

    With `needs_seq`, the position in the log (`seq`) is included.
    """
    last = instant.pick == LAST
    sort_key = (
        exp.Tuple(expressions=[build_column("t_ns"), build_column(HOST), build_column("seq")])
        if across
        else build_column("seq")
    )
    picks = {name: dialect.build_pick(build_column(name), sort_key, last) for name in ("t_ns", *instant.fields)}
    values = [exp.alias_(value, name) for name, value in picks.items()]
    if needs_seq:
        values.insert(1, fill_expression(f"{'max' if last else 'min'}(seq) AS seq"))
    query = fill_query(
        "SELECT $keys, $values FROM $table GROUP BY $keys",
        keys=[pair.field for pair in instant.on],
        values=values,
        table=instant.of,
    )
    return query.where(compile_expression(instant.where, Names(constants=constants))) if instant.where else query


def _count_column(instant: Instant) -> str:
    """Return the name of the column that counts the rows from which an instant is picked."""
    return choose_free_name("n", ["t_ns", "seq", *(pair.field for pair in instant.on), *instant.fields])


def count_with_pick(tally: Tally, instant: Instant) -> exp.Expr:
    """Return the value of a tally that is counted by the query that picks an instant."""
    return count_as(_count_column(instant), instant.name, tally.column.name)


def _join_tally(query: exp.Select, tally: Tally, finer: frozenset[str], constants: Constants) -> exp.Select:
    name = tally.column.name
    keys = [pair.field for pair in tally.on]
    reads_filters = tally.where is not None and any(item.name == ACCEPTED for item in tally.where.walk())
    source = get_rows_name(tally.of) if tally.of in finer and not reads_filters else tally.of
    count_name = choose_free_name("n", keys)
    counts = "SELECT $keys, count(*) AS $number FROM $table GROUP BY $keys"
    counted = fill_query(counts, keys=keys, number=count_name, table=source)
    if tally.where:
        counted = counted.where(compile_expression(tally.where, Names(constants=constants)))
    query = query.join(counted.subquery(alias=name), on=_match_keys(tally.on, name), join_type="LEFT")
    return query.select(count_as(count_name, name, name))


def count_as(number: str, table: str, name: str) -> exp.Expr:
    """Return a number of rows under its name; 0 instead of null."""
    return exp.alias_(exp.Coalesce(this=build_column(number, table), expressions=[dialect.build_integer(0)]), name)


def _match_keys(pairs: Iterable[Pair], table: str, base: str = BASE) -> exp.Expr:
    return exp.and_(
        *(exp.EQ(this=build_column(pair.field, table), expression=build_column(pair.column, base)) for pair in pairs)
    )


def apply_filters(step: FilterStep, constants: Constants) -> exp.Select:
    """Return the rows of a grain with the result of each filter (`passes_1`, ... in order) and `accepted`."""
    grain = step.grain
    query = _select_base().from_(dialect.build_table(get_rows_name(grain.name), BASE))
    filter_results = [_compile_filter(item, grain, constants) for item in step.applied]
    for index, (item, filter_result) in enumerate(zip(step.applied, filter_results, strict=True), start=1):
        alias = exp.alias_(filter_result.copy(), f"passes_{index}")
        alias.add_comments([item.label])
        query = query.select(alias)
    conditions = [*filter_results]
    if grain.subject:
        parent = grain.subject.grain
        conditions.insert(0, build_column(ACCEPTED, parent))
        query = query.join(dialect.build_table(parent), on=_match_keys(grain.subject.on, parent), join_type="INNER")
    accepted = exp.and_(*(item.copy() for item in conditions)) if conditions else exp.true()
    if step.cut and grain.at:
        query = query.where(build_phase_condition(build_column(grain.at, BASE)), copy=False)
    return query.select(exp.alias_(accepted, ACCEPTED))


def _compile_filter(applied: AppliedFilter, grain: Grain, constants: Constants) -> exp.Expr:
    holds = next(item.holds for item in applied.filter.conditions if item.grain == grain.name)
    parameter = applied.filter.parameter
    names = Names(BASE, constants, applied.argument, parameter.type if parameter else "")
    return exp.Coalesce(this=compile_expression(holds, names), expressions=[exp.false()])


def _select_runs(grain: Grain, constants: Constants) -> exp.Select:
    """Return the maximal runs of consecutive accepted rows on which the condition holds."""
    runs = grain.runs
    assert runs is not None
    names = (*runs.by, runs.along, *runs.carry)
    holds, place, island = (choose_free_name(name, names) for name in ("holds", "place", "island"))
    slots: dict[str, Slot] = {"by": runs.by, "along": runs.along, "place": place, "holds": holds}
    accepted = """
        SELECT $names, $condition AS $holds, row_number() OVER (PARTITION BY $by ORDER BY $along) AS $place
        FROM $grain WHERE accepted
    """
    # In a run, the place among all rows and the place among the rows that hold have a constant difference.
    holding = """
        SELECT $names, $place - row_number() OVER (PARTITION BY $by ORDER BY $along) AS $island
        FROM accepted_rows WHERE $holds
    """
    query = """
        SELECT $by, min($along) AS first, max($along) AS last, count(*) AS length, $carried
        FROM holding GROUP BY $by, $island
    """
    carried = [
        exp.alias_(dialect.build_pick(build_column(name), build_column(runs.along), word == "last"), f"{word}_{name}")
        for name in runs.carry
        for word in ("first", "last")
    ]
    condition = compile_expression(runs.holds, Names(constants=constants))
    stages = (
        ("accepted_rows", fill_query(accepted, names=names, condition=condition, grain=runs.of, **slots)),
        ("holding", fill_query(holding, names=names, island=island, **slots)),
    )
    query_of_runs = fill_query(query, by=runs.by, along=runs.along, carried=carried, island=island)
    return dialect.add_stages(query_of_runs, stages)


def count_rejections(step: FilterStep) -> exp.Select:
    """Return one row: the number of rows, of accepted ones, and for each filter of the rows that it rejects."""
    rejected = [
        fill_expression("count(CASE WHEN NOT $passes THEN 1 END)", passes=f"passes_{index}")
        for index in range(1, len(step.applied) + 1)
    ]
    query = "SELECT count(*), count(CASE WHEN accepted THEN 1 END), $rejected FROM $grain"
    return fill_query(query, rejected=rejected, grain=step.name)
