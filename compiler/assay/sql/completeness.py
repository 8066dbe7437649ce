"""Count, for each metric, how complete the rows behind its samples are.

`count_rows` counts the rows of a metric's grain: all rows, rows with a value, rows whose value needs no fallback, and
rows with each instant.  `count_unmatched` counts the records of an event whose key matches no row of the bound grain.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlglot import exp

from assay.lang.model.expression import Expression
from assay.lang.model.package import Grain, Instant, Metric
from assay.lang.model.vocabulary import LATEST_BEFORE
from assay.lang.reserved_names import ACCEPTED, get_rows_name
from assay.lang.scopes import HOST
from assay.sql import dialect
from assay.sql.dialect import build_column
from assay.sql.expressions import Names, compile_expression
from assay.sql.template import Slot, fill_expression, fill_query

Constants = Mapping[str, object]

#: columns of the counts
GROUP, ROWS, VALUES, MEASURED, HAS = "host", "total", "with_value", "measured", "has_"
NEGATIVE, BEYOND = "negative", "beyond"
REPLACED, FIRSTS = "replaced_", "firsts_"
OWNER = " "  # between the name of a column and the id of its metric
RECORDS, UNMATCHED, KEYS, EXAMPLE, FOLLOWING = "records", "unmatched", "keys", "example", "following"

#: leaves with the same value in every row
_FIXED = ("constant", "integer", "real", "text", "boolean", "quantity")
#: aggregates that are 0 for no rows, so that the 0 in `coalesce(count, 0)` is not a fallback
_TALLIES = (exp.Count, exp.CountIf, exp.Sum)


@dataclass(frozen=True, slots=True)
class KeyBinding:
    """An event, its field, and the column of a grain that the field refers to; `where` restricts the records.

    `host` is the column with the host of the records if each host must have rows of its keys; else empty.
    """

    grain: str
    event: str
    field: str
    column: str
    where: Expression | None
    host: str = ""

    @property
    def name(self) -> str:
        """Return the name of the statement that counts the binding."""
        return f"keys {self.grain} {self.event} {self.field}"


def list_key_bindings(
    grain: Grain, members: frozenset[str], events: frozenset[str], exclusive: frozenset[str]
) -> tuple[KeyBinding, ...]:
    """List the keys, without hosts, by which instants of a grain are bound to events, each once.

    Records of `exclusive` events have no use in the rows of other grains, so rows of their own host must have the keys.
    """
    hosts = {item.of: _find_key_host(grain, item) if item.of in exclusive else "" for item in grain.instants}
    bindings = [
        KeyBinding(grain.name, instant.of, pair.field, pair.column, instant.where, hosts[instant.of])
        for instant in grain.instants
        if instant.name in members and instant.of in events
        for pair in instant.on
        if pair.field != HOST
    ]
    return tuple({(item.event, item.field): item for item in bindings}.values())


def _find_key_host(grain: Grain, instant: Instant) -> str:
    """Return the column with the host of an instant's records if it is part of the key that the records name."""
    columns = {pair.field: pair.column for pair in instant.on}
    return columns.get(HOST, "") if {*grain.key} == {*columns.values()} else ""


def count_unmatched(binding: KeyBinding, constants: Constants) -> exp.Select:
    """Count the records of an event on each host, and those whose key matches no row of the grain (of their host).

    `keys`: the number of distinct keys without a row; `example`: the least such key; `following`: the records with a
    known key that another record of the host has, too, less one for each such key.
    """
    where = compile_expression(binding.where, Names(constants=constants)) if binding.where else None
    records = fill_query(
        "SELECT host, $field AS key FROM $event WHERE NOT $field IS NULL", field=binding.field, event=binding.event
    )
    query = """
        SELECT found.host, count(*) AS records, count_if($is_unknown) AS unmatched,
          count(DISTINCT CASE WHEN $is_unknown THEN found.key END) AS keys,
          min(CASE WHEN $is_unknown THEN found.key END)::TEXT AS example,
          count(keys.known) - count(DISTINCT keys.known) AS following
        FROM $records AS found
        LEFT JOIN (SELECT DISTINCT $column AS known FROM $rows) AS keys ON found.key = keys.known
        GROUP BY found.host ORDER BY found.host
    """
    slots: dict[str, Slot] = {"column": binding.column, "rows": get_rows_name(binding.grain)}
    is_unknown = fill_expression("own.known IS NULL" if binding.host else "keys.known IS NULL")
    filled = fill_query(query, records=records.where(where), is_unknown=is_unknown, **slots)
    if not binding.host:
        return filled
    keys_of_host = fill_query("SELECT DISTINCT $column AS known, $host AS host FROM $rows", host=binding.host, **slots)
    is_same = "found.key = own.known AND found.host = own.host"
    return filled.join(keys_of_host, on=fill_expression(is_same), join_type="LEFT", join_alias="own")


def count_rows(
    metrics: Sequence[Metric], grain: Grain, constants: Constants, unsigned: Collection[str] = ()
) -> exp.Select:
    """Count the rows of metrics, one result row for each host of the rows (null for rows without a host).

    The metrics have one `name_count_statement`; `unsigned` are the ids of those that cannot be below 0.
    `total`: accepted rows; `has_<instant>`: those with this instant; `firsts_<instant>`, of instants of an earlier
    record of the same event: keys of these rows, each of which has a first record.

    Columns of a metric end with its id: `with_value`: rows that meet the metric's condition and have a value;
    `measured`: those whose value does not need a fallback of the measure; `negative`, if the metric is unsigned: those
    of `with_value` whose value is below 0; `replaced_<instant>`, of instants that are alternatives: rows with others in
    its place.
    """
    names = Names(constants=constants)
    counts: dict[str, exp.Expr] = {ROWS: exp.Count(this=exp.Star())}
    for metric in metrics:
        counts |= {f"{HAS}{name}": exp.Count(this=build_column(name)) for name in list_instants(metric, grain)}
        counts |= {f"{FIRSTS}{item.name}": _count_keys(item) for item in _list_predecessors(metric, grain)}
        own_counts = _count_values(metric, grain, names, is_unsigned=metric.id in unsigned)
        counts |= {f"{name}{OWNER}{metric.id}": count for name, count in own_counts.items()}
    host = find_host_column(metrics[0], grain)
    group: exp.Expr = build_column(host) if host else exp.Cast(this=exp.Null(), to=exp.DataType.build("TEXT"))
    columns = [exp.alias_(count, name, quoted=OWNER in name or None) for name, count in counts.items()]
    query = dialect.select(exp.alias_(group, GROUP), *columns).from_(dialect.build_table(grain.name))
    if metrics[0].accepted:
        query = query.where(build_column(ACCEPTED))
    return query.group_by(build_column(host)).order_by(build_column(host)) if host else query


def name_count_statement(metric: Metric, grain: Grain) -> str:
    """Return the name of the statement that counts the rows of a metric, and of others over the same rows."""
    accepted = "accepted" if metric.accepted else "all"
    return f"count {grain.name} {accepted} {find_host_column(metric, grain)}".rstrip()


def name_count_without_fallbacks(metric: Metric) -> str:
    """Return the name of the statement that counts a metric's rows over relations without their SQL fallbacks."""
    return f"count {metric.id} without fallbacks"


def select_counts(row: Mapping[str, Any], metric: Metric) -> dict[str, Any]:
    """Return the counts of a metric in a row of `count_rows`: column -> number; also the counts of all rows."""
    columns = ((name.partition(OWNER), count) for name, count in row.items())
    return {name: count for (name, _, owner), count in columns if owner in ("", metric.id)}


def _count_values(metric: Metric, grain: Grain, names: Names, *, is_unsigned: bool) -> dict[str, exp.Expr]:
    """Return the counts of a metric's values: column -> count."""
    where = [compile_expression(metric.where, names)] if metric.where else []
    counts: dict[str, exp.Expr] = {}
    for name, measure in ((VALUES, metric.measure), (MEASURED, drop_fallbacks(metric.measure))):
        is_not_null = exp.Not(this=exp.Is(this=exp.paren(compile_expression(measure, names)), expression=exp.Null()))
        counts[name] = exp.CountIf(this=exp.and_(*(item.copy() for item in where), is_not_null))
    if is_unsigned:
        is_negative = exp.LT(
            this=exp.paren(compile_expression(metric.measure, names)), expression=exp.Literal.number(0)
        )
        counts[NEGATIVE] = exp.CountIf(this=exp.and_(*(item.copy() for item in where), is_negative))
    for name, choices in find_alternatives(metric, grain).items():
        counts[f"{REPLACED}{name}"] = exp.CountIf(this=_compile_replacement(name, choices, names))
    return counts


def count_beyond(metric: Metric, value: float, constants: Constants, *, is_limit: bool) -> exp.Select:
    """Count the samples of a metric before they are reduced (`with_value`), and those of a value (`beyond`).

    The value is as measured. With `is_limit`, samples above it are counted.
    """
    names = Names(constants=constants)
    number = dialect.build_integer(value) if isinstance(value, int) else dialect.build_real(repr(value))
    condition = (exp.GT if is_limit else exp.EQ)(
        this=exp.paren(compile_expression(metric.measure, names)), expression=number
    )
    values = exp.alias_(exp.Count(this=compile_expression(metric.measure, names)), VALUES)
    query = dialect.select(values, exp.alias_(exp.CountIf(this=condition), BEYOND))
    query = query.from_(dialect.build_table(metric.grain))
    if metric.accepted:
        query = query.where(build_column(ACCEPTED))
    return query.where(compile_expression(metric.where, names)) if metric.where else query


def find_host_column(metric: Metric, grain: Grain) -> str:
    """Return the column of the host whose records the instants of the metric are bound to; empty without one."""
    read_instants = set(list_instants(metric, grain))
    paired = [
        pair.column for item in grain.instants if item.name in read_instants for pair in item.on if pair.field == HOST
    ]  # fmt: skip
    host_columns = [item.name for item in grain.columns if item.name == HOST]
    return next(iter([*paired, *host_columns]), "")


def list_instants(metric: Metric, grain: Grain) -> tuple[str, ...]:
    """List the instants bound to records that a metric's measure and condition read, in the grain's order."""
    read = {
        name
        for expression in (metric.measure, metric.where)
        if expression
        for name in iter_read_columns(expression, grain)
    }
    return tuple(item.name for item in grain.instants if item.name in read)


def _compile_replacement(name: str, choices: Sequence[Expression], names: Names) -> exp.Expr:
    """Compile the condition that a row lacks an instant, and that each choice with it has another value."""
    is_absent = exp.Is(this=build_column(name), expression=exp.Null())
    values = [exp.paren(compile_expression(choice, names)) for choice in choices]
    return exp.and_(is_absent, *(exp.Not(this=exp.Is(this=value, expression=exp.Null())) for value in values))


def _list_predecessors(metric: Metric, grain: Grain) -> Iterator[Instant]:
    """Yield the instants that a metric reads of which the first record of each key has none.

    They are picked as the latest before a record of the same event.
    """
    instants = {item.name: item for item in grain.instants}
    for name in list_instants(metric, grain):
        item, anchor = instants[name], instants.get(instants[name].before)
        if item.pick == LATEST_BEFORE and anchor and (item.of, item.where) == (anchor.of, anchor.where):
            yield item


def _count_keys(instant: Instant) -> exp.Expr:
    """Count the keys, all of whose columns are known, of rows with the instant that another one precedes."""
    columns = [build_column(pair.column) for pair in instant.on]
    conditions = [exp.Not(this=exp.Is(this=item.copy(), expression=exp.Null())) for item in columns]
    is_bound = exp.Not(this=exp.Is(this=build_column(instant.before), expression=exp.Null()))
    key = exp.Tuple(expressions=columns) if columns else dialect.build_integer(1)
    return exp.Count(this=exp.Distinct(expressions=[exp.case().when(exp.and_(is_bound, *conditions), key)]))


def find_alternatives(metric: Metric, grain: Grain) -> Mapping[str, tuple[Expression, ...]]:
    """Return the bound instants that a metric reads only as one of several that may be present.

    Each is mapped to the choices between them, without fixed values to fall back to.
    """
    computed = {item.name: item.value for item in grain.instants if item.value}
    computed |= {item.column.name: item.value for item in grain.derived}
    bound_names = {item.name for item in grain.instants} - {*computed}
    choices: dict[str, list[Expression | None]] = {}

    def visit(node: Expression, choice: Expression | None, seen: frozenset[str]) -> None:
        if choice is None and node.op == "coalesce" and len(node.operands) > 1:
            choice = node
        name = node.text if node.op == "taken" else node.name
        if node.op in ("instant", "taken", "column") and name not in seen:
            if name in computed:
                visit(drop_fallbacks(computed[name]), choice, seen | {name})
            elif name in bound_names:
                choices.setdefault(name, []).append(choice)
        for operand in node.operands:
            visit(operand, choice, seen)

    for expression in (metric.measure, metric.where):
        if expression:
            visit(drop_fallbacks(expression), None, frozenset())
    return {
        name: tuple(dict.fromkeys(item for item in nodes if item is not None))
        for name, nodes in choices.items()
        if None not in nodes
    }


def iter_read_columns(expression: Expression, grain: Grain, seen: frozenset[str] = frozenset()) -> Iterator[str]:
    """Yield the columns of a grain's rows that an expression reads, through computed members, some more than once.

    They are bound instants, fields that these take along (`<instant>_<field>`), columns and tallies.
    """
    computed = {item.name: item.value for item in grain.instants if item.value}
    computed |= {item.column.name: item.value for item in grain.derived}
    for node in expression.walk():
        name = node.text if node.op == "taken" else node.name
        if node.op not in ("instant", "taken", "column") or name in seen:
            continue
        if name in computed:
            yield from iter_read_columns(computed[name], grain, seen | {name})
            continue
        yield name
        if node.op == "taken":
            yield f"{name}_{node.name}"


def drop_fallbacks(expression: Expression) -> Expression:
    """Return an expression without the fixed values that its `coalesce` operators fall back to."""
    operands = tuple(drop_fallbacks(item) for item in expression.operands)
    if expression.op == "coalesce":
        while len(operands) > 1 and _is_fixed(operands[-1]):
            operands = operands[:-1]
        if len(operands) == 1:
            return operands[0]
    return replace(expression, operands=operands)


def _is_fixed(expression: Expression) -> bool:
    return all(node.operands or node.op in _FIXED for node in expression.walk())


def drop_sql_fallbacks(query: exp.Expr) -> exp.Expr | None:
    """Return a query whose columns do not fall back to fixed values: `coalesce(x, 0) AS x` becomes `x`.

    The 0 of a row count stays, because it is the true value.  None if the query has no such fallback.
    """
    changed = query.copy()
    is_changed = False
    for select in changed.find_all(exp.Select):
        for item in select.selects:
            value = item.unalias()
            if isinstance(value, exp.Coalesce) and (rest := _drop_fixed(value)) and not _is_tally(rest[0], changed):
                fresh = exp.Coalesce(this=rest[0], expressions=rest[1:]) if len(rest) > 1 else rest[0]
                value.replace(fresh.copy())
                is_changed = True
    return changed if is_changed else None


def _drop_fixed(value: exp.Coalesce) -> list[exp.Expr]:
    """List the operands before the fixed values at the end; empty if there are no fixed values."""
    operands = [value.this, *value.expressions]
    rest = list(operands)
    while rest and (rest[-1].is_number or isinstance(rest[-1], exp.Placeholder)):
        rest.pop()
    return rest if len(rest) < len(operands) else []


def _is_tally(value: exp.Expr, query: exp.Expr) -> bool:
    """Return whether a value is a count or sum of rows, in this query or in the named query that it reads."""
    if any(value.find_all(*_TALLIES)):
        return True
    queries_by_name = {item.alias: item.this for item in query.find_all(exp.CTE)}
    queries_by_name |= {item.alias: item.this for item in query.find_all(exp.Subquery) if item.alias}
    return any(
        output.unalias().find(*_TALLIES) is not None
        for column in value.find_all(exp.Column)
        if isinstance(source := queries_by_name.get(_resolve_source(column)), exp.Select)
        for output in source.selects
        if output.alias_or_name == column.name
    )


def _resolve_source(column_node: exp.Column) -> str:
    """Return the name of the query that a column's table is an alias of, else the name of the table."""
    select = column_node.find_ancestor(exp.Select)
    tables = [select.args.get("from_"), *(select.args.get("joins") or ())] if select else []
    for part in tables:
        if part is not None and part.this.alias_or_name == column_node.table:
            return str(part.this.name or column_node.table)
    return column_node.table


def drop_conditions(query: exp.Expr) -> exp.Expr:
    """Return a query in which every CASE is its first result that is not null, and every row count is 0.

    Then the lineage of a value contains neither conditions nor counted rows, which do not supply the value.
    """
    changed = query.copy()
    for count in list(changed.find_all(exp.Count, exp.CountIf)):
        whole = count.parent if isinstance(count.parent, exp.Filter) else count
        whole.replace(dialect.build_integer(0))
    for case in list(changed.find_all(exp.Case)):
        results: Sequence[exp.Expr] = [item.args["true"] for item in case.args["ifs"]]
        results = [*results, *([case.args["default"]] if case.args.get("default") else [])]
        case.replace(exp.Coalesce(this=results[0].copy(), expressions=[item.copy() for item in results[1:]]))
    return changed
