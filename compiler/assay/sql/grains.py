"""Grains as SQL: the wide table of rows with their instants, results of filters, and cuts by phase.

Rows are made in layers: what is bound to other tables first, then what is computed of it, a layer for each depth of
reference, so that every expression stands in the text once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sqlglot import exp

from assay.lang.model.expression import Expression
from assay.lang.model.package import Grain, Instant, Pair, Tally
from assay.lang.model.vocabulary import COMPUTED, FIRST, LAST, LATEST_BEFORE, SINCE, UNTIL, Cut
from assay.lang.reserved_names import ACCEPTED, BASE, choose_free_name, rows_name
from assay.lang.scopes import HOST
from assay.plan.planner import AppliedFilter, FilterStep, GrainRowsStep, select_instants
from assay.sql import dialect
from assay.sql.dialect import column
from assay.sql.expressions import Names, compile_expression


def within(instant: exp.Expr) -> exp.Expr:
    """That an instant is in the phase: at or after its first ns, before the first ns after it."""
    return exp.and_(
        exp.GTE(this=instant, expression=exp.Placeholder(this=SINCE)),
        exp.LT(this=instant.copy(), expression=exp.Placeholder(this=UNTIL)),
    )


def instant(cut: Cut, constants: Mapping[str, object]) -> exp.Select:
    """One row: `t_ns`, the instant, null where no row tells it."""
    pick = exp.Max if cut.pick == LAST else exp.Min
    query = dialect.select(exp.alias_(pick(this=column(cut.column)), "t_ns")).from_(dialect.table(cut.of))
    return query.where(compile_expression(cut.where, Names(constants=constants)), copy=False) if cut.where else query


Constants = Mapping[str, object]


def rows(step: GrainRowsStep, finer: frozenset[str], constants: Constants) -> exp.Select:
    """The wide table of a grain before filters.  Of the grains `finer` all rows are counted, not what verdicts left."""
    if step.grain.runs:
        return _runs(step.grain, constants)
    stages = [("bound", _bound(step, finer, constants))]
    for index, layer in enumerate(_layers(step.grain, step.members), start=1):
        stages.append((f"computed_{index}", _computed(layer, stages[-1][0], constants)))
    *earlier, (_, query) = stages
    return dialect.staged(query, earlier)


def _computed(layer: Sequence[tuple[str, Expression]], source: str, constants: Constants) -> exp.Select:
    values = [exp.alias_(compile_expression(value, Names(constants=constants)), name) for name, value in layer]
    return dialect.select("*", *values).from_(dialect.table(source))


def _layers(grain: Grain, members: frozenset[str]) -> list[list[tuple[str, Expression]]]:
    """What is computed of other members, by depth of reference; inside a layer in the order of the spec."""
    computed = {item.name: item.value for item in select_instants(grain, members) if item.value}
    computed |= {item.column.name: item.value for item in grain.derived if item.column.name in members}
    depths: dict[str, int] = {}

    def depth(name: str) -> int:
        if name not in depths:
            used = {node.name for node in computed[name].walk() if node.op in ("column", "instant")}
            depths[name] = 1 + max((depth(item) for item in used & set(computed)), default=0)
        return depths[name]

    deepest = max((depth(name) for name in computed), default=0)
    return [
        [(name, value) for name, value in computed.items() if depths[name] == level] for level in range(1, deepest + 1)
    ]


def _bound(step: GrainRowsStep, finer: frozenset[str], constants: Constants) -> exp.Select:
    """The relation's rows with everything that is bound to other tables."""
    grain = step.grain
    query = _whole_base().from_(dialect.table(grain.relation, BASE))
    tallied = _tallied(step, finer)
    for instant in _in_turn(grain, step.members):
        query = query.select(exp.alias_(column("t_ns", instant.name), instant.name))
        for taken in instant.fields:
            query = query.select(exp.alias_(column(taken, instant.name), f"{instant.name}_{taken}"))
        query = _bind(query, instant, step, instant in tallied.values(), constants)
    for tally in grain.tallies:
        if tally.column.name in step.members:
            beside = tallied.get(tally.column.name)
            query = query.select(count_beside_pick(tally, beside)) if beside else _count(query, tally, finer, constants)
    return query


def _tallied(step: GrainRowsStep, finer: frozenset[str]) -> dict[str, Instant]:
    """Tallies of the very rows of a key that an instant is picked of, which are counted where that is picked."""
    picked = [item for item in select_instants(step.grain, step.members) if item.pick in (FIRST, LAST)]
    wanted = [item for item in step.grain.tallies if item.column.name in step.members and item.of not in finer]
    return {
        tally.column.name: instant
        for tally in wanted
        for instant in picked
        if (tally.of, {*tally.on}, tally.where) == (instant.of, {*instant.on}, instant.where)
    }


def _in_turn(grain: Grain, members: frozenset[str]) -> list[Instant]:
    """The instants that are bound to rows, each after the one that it is the latest before."""
    bound = {item.name: item for item in select_instants(grain, members) if item.pick != COMPUTED}

    def depth(instant: Instant) -> int:
        return 1 + depth(bound[instant.before]) if instant.pick == LATEST_BEFORE else 0

    return sorted(bound.values(), key=depth)


def _whole_base() -> exp.Select:
    return dialect.select(exp.Column(this=exp.Star(), table=exp.to_identifier(BASE)))


def _bind(query: exp.Select, instant: Instant, step: GrainRowsStep, tallied: bool, constants: Constants) -> exp.Select:
    if instant.pick == LATEST_BEFORE:
        ahead = exp.LT(this=column("seq", instant.name), expression=column("seq", instant.before))
        source = _narrowed(instant, constants)
        return dialect.latest_before(query, source, exp.and_(_agree(instant.on, instant.name), ahead))
    place = any(item.before == instant.name for item in select_instants(step.grain, step.members))
    grouped = _picked(instant, instant.name in step.across, place, constants)
    if tallied:
        grouped = grouped.select(exp.alias_(exp.Count(this=exp.Star()), _number(instant)), copy=False)
    return query.join(grouped.subquery(alias=instant.name), on=_agree(instant.on, instant.name), join_type="LEFT")


def _narrowed(instant: Instant, constants: Constants) -> exp.Expr:
    """The bound table, or the rows of it that the instant's condition lets through, under the instant's name."""
    if not instant.where:
        return dialect.table(instant.of, instant.name)
    wanted = [*(pair.field for pair in instant.on), "seq", "t_ns", *instant.fields]
    where = compile_expression(instant.where, Names(constants=constants))
    return (
        dialect.select(*(column(name) for name in wanted))
        .from_(dialect.table(instant.of))
        .where(where)
        .subquery(alias=instant.name)
    )


def _picked(instant: Instant, across: bool, place: bool, constants: Constants) -> exp.Select:
    """First or last row of the bound table for each key, in log order, or `across` logs in time; with `place`, also
    where it stands in the log."""
    last = instant.pick == LAST
    by = exp.Tuple(expressions=[column("t_ns"), column(HOST), column("seq")]) if across else column("seq")
    keys = [column(pair.field) for pair in instant.on]
    extreme = exp.Max(this=column("seq")) if last else exp.Min(this=column("seq"))
    query = dialect.select(*keys, exp.alias_(dialect.picked(column("t_ns"), by, last), "t_ns"))
    if place:
        query = query.select(exp.alias_(extreme, "seq"), copy=False)
    for taken in instant.fields:
        query = query.select(exp.alias_(dialect.picked(column(taken), by.copy(), last), taken))
    query = query.from_(dialect.table(instant.of)).group_by(*(key.copy() for key in keys))
    return query.where(compile_expression(instant.where, Names(constants=constants))) if instant.where else query


def _number(instant: Instant) -> str:
    """What the number of rows that an instant is picked of is called."""
    return choose_free_name("n", ["t_ns", "seq", *(pair.field for pair in instant.on), *instant.fields])


def count_beside_pick(tally: Tally, instant: Instant) -> exp.Expr:
    """A tally that is counted where an instant is picked."""
    return count_as(_number(instant), instant.name, tally.column.name)


def _count(query: exp.Select, tally: Tally, finer: frozenset[str], constants: Constants) -> exp.Select:
    name = tally.column.name
    keys = [column(pair.field) for pair in tally.on]
    judged = tally.where is not None and any(item.name == ACCEPTED for item in tally.where.walk())
    source = rows_name(tally.of) if tally.of in finer and not judged else tally.of
    n = choose_free_name("n", [pair.field for pair in tally.on])
    counted = dialect.select(*keys, exp.alias_(exp.Count(this=exp.Star()), n)).from_(dialect.table(source))
    if tally.where:
        counted = counted.where(compile_expression(tally.where, Names(constants=constants)))
    counted = counted.group_by(*(key.copy() for key in keys))
    query = query.join(counted.subquery(alias=name), on=_agree(tally.on, name), join_type="LEFT")
    return query.select(count_as(n, name, name))


def count_as(number: str, table: str, name: str) -> exp.Expr:
    """A number of rows under its name, 0 where there are none."""
    return exp.alias_(exp.Coalesce(this=column(number, table), expressions=[dialect.integer(0)]), name)


def _agree(pairs: Iterable[Pair], table: str, base: str = BASE) -> exp.Expr:
    return exp.and_(*(exp.EQ(this=column(pair.field, table), expression=column(pair.column, base)) for pair in pairs))


def judge(step: FilterStep, constants: Constants) -> exp.Select:
    """The rows of a grain with the verdict of each filter (`passes_1`, ... in order) and `accepted`."""
    grain = step.grain
    query = _whole_base().from_(dialect.table(rows_name(grain.name), BASE))
    verdicts = [_verdict(item, grain, constants) for item in step.applied]
    for index, (item, verdict) in enumerate(zip(step.applied, verdicts, strict=True), start=1):
        alias = exp.alias_(verdict.copy(), f"passes_{index}")
        alias.add_comments([item.label])
        query = query.select(alias)
    conditions = [*verdicts]
    if grain.subject:
        parent = grain.subject.grain
        conditions.insert(0, column(ACCEPTED, parent))
        query = query.join(dialect.table(parent), on=_agree(grain.subject.on, parent), join_type="INNER")
    accepted = exp.and_(*(item.copy() for item in conditions)) if conditions else exp.true()
    if step.cut and grain.at:
        query = query.where(within(column(grain.at, BASE)), copy=False)
    return query.select(exp.alias_(accepted, ACCEPTED))


def _verdict(applied: AppliedFilter, grain: Grain, constants: Constants) -> exp.Expr:
    holds = next(item.holds for item in applied.filter.conditions if item.grain == grain.name)
    parameter = applied.filter.parameter
    names = Names(BASE, constants, applied.argument, parameter.type if parameter else "")
    return exp.Coalesce(this=compile_expression(holds, names), expressions=[exp.false()])


def _runs(grain: Grain, constants: Constants) -> exp.Select:
    """Maximal runs of accepted rows where the condition holds, next to each other among the accepted ones."""
    runs = grain.runs
    assert runs is not None
    by = [column(name) for name in runs.by]
    place = exp.Window(
        this=exp.RowNumber(),
        partition_by=[item.copy() for item in by],
        order=exp.Order(expressions=[column(runs.along)]),
    )
    names = (*runs.by, runs.along, *runs.carry)
    kept = [column(name) for name in names]
    holds, at, island = (choose_free_name(name, names) for name in ("holds", "place", "island"))
    accepted = (
        dialect.select(
            *kept,
            exp.alias_(compile_expression(runs.holds, Names(constants=constants)), holds),
            exp.alias_(place, at),
        )
        .from_(dialect.table(runs.of))
        .where(column("accepted"))
    )
    apart = exp.alias_(exp.Sub(this=column(at), expression=place.copy()), island)
    holding = (
        dialect.select(*(item.copy() for item in kept), apart)
        .from_(dialect.table("accepted_rows"))
        .where(column(holds))
    )
    query = dialect.select(
        *(item.copy() for item in by),
        exp.alias_(exp.Min(this=column(runs.along)), "first"),
        exp.alias_(exp.Max(this=column(runs.along)), "last"),
        exp.alias_(exp.Count(this=exp.Star()), "length"),
    )
    for name in runs.carry:
        for word, last in (("first", False), ("last", True)):
            picked = dialect.picked(column(name), column(runs.along), last)
            query = query.select(exp.alias_(picked, f"{word}_{name}"))
    query = query.from_(dialect.table("holding")).group_by(*(item.copy() for item in by), column(island))
    return dialect.staged(query, (("accepted_rows", accepted), ("holding", holding)))


def count_rejections(step: FilterStep) -> exp.Select:
    """One row: the number of rows, the number of accepted ones, then for each filter how many it rejected."""
    accepted = exp.Case(ifs=[exp.If(this=column("accepted"), true=dialect.integer(1))])
    query = exp.select(exp.Count(this=exp.Star()), exp.Count(this=accepted))
    for index in range(1, len(step.applied) + 1):
        failed = exp.Case(ifs=[exp.If(this=exp.Not(this=column(f"passes_{index}")), true=dialect.integer(1))])
        query = query.select(exp.Count(this=failed))
    return query.from_(step.name)
