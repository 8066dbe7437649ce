"""Find keys of the rows of a query, as far as its text and the keys of its tables prove them.

Expressions *determine* a column if rows that agree in the expressions also agree in the column.  Names are compared
without regard to case, as in the engine.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

Column = tuple[str, str]  # the alias of a table, the name of a column
#: window functions that have the same value in rows that tie
RANKS = (exp.Rank, exp.DenseRank, exp.PercentRank, exp.CumeDist)
#: values that expand to rows
_EXPANSIONS = (exp.UDTF, exp.Explode)
_EXPANDING_FUNCTIONS = ("unnest", "generate_subscripts", "regexp_split_to_table")
_CONSTANTS = (exp.Literal, exp.Placeholder, exp.Null, exp.Boolean, exp.DataType, exp.Var, exp.Identifier)
#: aggregate functions for which the parser has no class
_AGGREGATES = frozenset(
    (
        "fsum", "kahan_sum", "sumkahan", "favg", "mean", "product", "geomean", "geometric_mean", "sem", "entropy",
        "mad", "arbitrary", "list", "bit_and", "bit_or", "bit_xor", "bitstring_agg", "histogram",
        "histogram_exact", "lttb",
        "json_group_array", "json_group_object", "json_group_structure", "variant_group_array", "variant_group_object",
        "argmax", "argmin", "kurtosis_pop", "regr_r2", "regr_count", "bool_and", "bool_or", "max_by", "min_by",
        "arg_max_null", "arg_min_null", "arg_max_nulls_last", "arg_min_nulls_last", "count_star", "count_if",
    )
)  # fmt: skip
MAX_COMBINATIONS = 64  # combinations of keys to try


@dataclass(frozen=True, slots=True)
class Key:
    """Columns such that no two rows agree in all of them.

    If the key identifies log lines, `lines` holds the (source, event) of these lines: two events of a source have no
    line in common.
    """

    columns: frozenset[str]
    lines: frozenset[tuple[str, str]] = frozenset()

    def is_disjoint_from(self, other: Key) -> bool:
        """Return whether no log line can be identified by both keys."""
        sources = {source for source, _ in self.lines | other.lines}
        return bool(self.lines and other.lines) and len(sources) == 1 and not self.lines & other.lines


@dataclass(frozen=True, slots=True)
class Shape:
    """The columns of a table or query (None: unknown) and its keys."""

    columns: tuple[str, ...] | None = None
    keys: tuple[Key, ...] = ()

    def rename_columns(self, names: Sequence[str]) -> Shape:
        """Return the shape with other names for its first columns."""
        if not names:
            return self
        if self.columns is None:
            return Shape(None)
        new = tuple(name.casefold() for name in (*names, *self.columns[len(names) :]))
        by_name = dict(zip(self.columns, new, strict=True))
        return Shape(new, tuple(Key(frozenset(by_name[name] for name in key.columns), key.lines) for key in self.keys))

    @property
    def is_one_row(self) -> bool:
        """Return whether there is at most one row."""
        return any(not key.columns for key in self.keys)


def is_aggregate(node: exp.Expr) -> bool:
    """Return whether a node calls an aggregate function."""
    if isinstance(node, exp.Anonymous):
        return node.name.casefold() in _AGGREGATES
    return isinstance(node, exp.AggFunc)


def can_expand(value: exp.Expr) -> bool:
    """Return whether a value may expand to several rows."""
    return any(
        isinstance(item, _EXPANSIONS)
        or (isinstance(item, exp.Anonymous) and item.name.casefold() in _EXPANDING_FUNCTIONS)
        for item in walk_within(value)
    )


def walk_within(*parts: exp.Expr | None) -> Iterator[exp.Expr]:
    """Yield the nodes of parts of a query, except those inside nested queries."""
    for part in parts:
        if part is not None:
            yield from part.walk(prune=lambda node: isinstance(node, exp.Query))


def split_conjuncts(condition: exp.Expr | None) -> Iterator[exp.Expr]:
    """Yield the conditions that are joined by AND."""
    if isinstance(condition, exp.Where):
        condition = condition.this
    if isinstance(condition, exp.Paren):
        yield from split_conjuncts(condition.this)
    elif isinstance(condition, exp.And):
        yield from split_conjuncts(condition.this)
        yield from split_conjuncts(condition.expression)
    elif condition is not None:
        yield condition


@dataclass(slots=True)
class JoinedTable:
    """A joined table whose row is determined by comparisons of its columns with expressions over other tables.

    `is_asof`: at most one row is joined, whatever the keys.
    """

    alias: str
    comparisons: list[tuple[str, exp.Expr]]
    is_asof: bool = False


@dataclass(slots=True)
class Rows:
    """The rows of a SELECT before grouping, and the equalities that hold in all of them.

    `aliases` are the named outputs.  `groups` are the values of GROUP BY, None without grouping.  `has_unknown_groups`:
    the query groups in several ways (such as CUBE), so that nothing determines its groups.
    """

    is_inner: bool
    sources: dict[str, Shape] = field(default_factory=dict)
    one_row_tables: dict[str, Shape] = field(default_factory=dict)  # tables of one row in semi-joins, which filter rows
    equal: list[tuple[exp.Expr, exp.Expr]] = field(default_factory=list)
    joined: list[JoinedTable] = field(default_factory=list)
    aliases: dict[str, exp.Expr] = field(default_factory=dict)
    groups: list[exp.Expr] | None = None
    has_unknown_groups: bool = False

    def resolve(self, column: exp.Column) -> Column | None:
        """Return the table and column that a name refers to; None where no table has it."""
        parts = [part.name.casefold() for part in column.parts]
        tables = {**self.sources, **self.one_row_tables}
        if len(parts) > 1 and parts[0] in tables:
            return parts[0], parts[1]
        name = parts[0]
        for alias, shape in tables.items():
            if shape.columns is not None and name in shape.columns:
                return alias, name
        return next(((alias, name) for alias, shape in tables.items() if shape.columns is None), None)

    def determine(self, *values: exp.Expr) -> DeterminedValues:
        """Return what these values determine."""
        return DeterminedValues(self, values)


class DeterminedValues:
    """The values that some expressions determine in the rows of a SELECT; `whole` are tables with all columns."""

    def __init__(self, rows: Rows, values: Iterable[exp.Expr]) -> None:
        self._rows = rows
        self._columns: set[Column] = set()
        self.whole = {alias for alias, shape in rows.one_row_tables.items() if shape.is_one_row}
        self.values = [part for value in values for part in _list_parts(value)]
        for value in self.values:
            if isinstance(value, exp.Column) and (column := rows.resolve(value)):
                self._columns.add(column)
        self._close()

    @property
    def is_row(self) -> bool:
        """Return whether the row of every table is determined."""
        return set(self._rows.sources) <= self.whole

    @property
    def is_group(self) -> bool:
        """Return whether the row of the group is determined; without grouping, the row."""
        if self._rows.groups is None:
            return self.is_row
        return not self._rows.has_unknown_groups and all(map(self._has, self._rows.groups))

    def has(self, value: exp.Expr) -> bool:
        """Return whether a value of the result, after grouping, is determined."""
        return not can_expand(value) and (self.is_group or self._has(value))

    def has_in_row(self, value: exp.Expr) -> bool:
        """Return whether a value of a row, before grouping, is determined."""
        return self.is_row or self._has(value)

    def list_missing(self) -> tuple[str, ...]:
        """List the columns that would also determine the row of the first table whose row is not determined."""
        for alias, shape in self._rows.sources.items():
            if alias not in self.whole and shape.keys:
                columns = sorted(shape.keys[0].columns)
                return tuple(name for name in columns if not self.has_in_row(exp.column(name, table=alias or None)))
        return ()

    def _has(self, value: exp.Expr) -> bool:
        value = value.unnest()
        value = value.this if isinstance(value, exp.Alias) else value
        if any(value == item for item in self.values) or isinstance(value, _CONSTANTS):
            return True
        if isinstance(value, exp.Column):
            return self._has_all(value.table.casefold()) if value.is_star else self._has_column(value)
        if isinstance(value, exp.Query):
            return all(self._can_depend(item) for item in value.find_all(exp.Column))
        if isinstance(value, exp.Star):
            return all(self._has_all(alias) for alias in self._rows.sources)
        if isinstance(value, exp.Window):
            return isinstance(value.this, RANKS) and all(map(self._has, value.iter_expressions()))
        if is_aggregate(value) or isinstance(value, (*_EXPANSIONS, exp.Columns)):
            return False
        return all(map(self._has, value.iter_expressions()))

    def _has_all(self, alias: str) -> bool:
        shape = self._rows.sources.get(alias)
        if shape is None:
            return False
        columns = shape.columns
        return alias in self.whole or (columns is not None and {(alias, name) for name in columns} <= self._columns)

    def _has_column(self, column: exp.Column) -> bool:
        function = column.find_ancestor(exp.Lambda)
        if function is not None and column.parts[0].name in {item.name for item in function.expressions}:
            return True
        resolved = self._rows.resolve(column)
        if resolved is not None:
            return resolved[0] in self.whole or resolved in self._columns
        alias_value = self._rows.aliases.get(column.name.casefold())
        if (
            alias_value is not None
            and alias_value is not column
            and not any(item is column for item in alias_value.walk())
        ):
            return self._has(alias_value)
        return self._rows.is_inner  # a column of the enclosing query is constant here

    def _can_depend(self, column: exp.Column) -> bool:
        """Return whether a column in a nested query is determined, or belongs to no table of these rows."""
        resolved = self._rows.resolve(column)
        return resolved is None or resolved[0] in self.whole or resolved in self._columns

    def _close(self) -> None:
        """Add all consequences of the determined values, until nothing changes."""
        count_before = -1
        while count_before != (count_before := len(self._columns) + len(self.whole)):
            for left, right in self._rows.equal:
                for value, other in ((left, right), (right, left)):
                    if isinstance(value, exp.Column) and self._has(other) and (resolved := self._rows.resolve(value)):
                        self._columns.add(resolved)
            for alias, shape in {**self._rows.sources, **self._rows.one_row_tables}.items():
                columns_of_table = {name for table, name in self._columns if table == alias}
                if any(key.columns <= columns_of_table for key in shape.keys):
                    self.whole.add(alias)
            for join in self._rows.joined:
                determined_columns = {name for name, value in join.comparisons if self._has(value)}
                keys = self._rows.sources[join.alias].keys
                is_one = join.is_asof and len(determined_columns) == len({name for name, _ in join.comparisons})
                if is_one or any(key.columns <= determined_columns for key in keys):
                    self.whole.add(join.alias)


def _list_parts(value: exp.Expr) -> Iterator[exp.Expr]:
    """Yield a value and the values that it determines: the members of a row, the operand of a minus."""
    value = value.unnest()
    yield value
    if isinstance(value, exp.Tuple):
        for item in value.expressions:
            yield from _list_parts(item)
    elif isinstance(value, exp.Neg):
        yield from _list_parts(value.this)


def find_keys(rows: Rows, outputs: Mapping[str, exp.Expr]) -> tuple[Key, ...]:
    """Find keys of the result of a SELECT, as names of its columns."""
    if any(map(can_expand, outputs.values())):
        return ()
    if rows.groups is not None:
        least = _find_least(outputs, lambda names: rows.determine(*(outputs[name] for name in names)).is_group)
        return () if least is None else (Key(least),)
    keys: list[Key] = []
    choices = [[(alias, key) for key in (*shape.keys, Key(frozenset(("",))))] for alias, shape in rows.sources.items()]
    for combination in itertools.islice(itertools.product(*choices), MAX_COMBINATIONS):
        used_keys = [(alias, key) for alias, key in combination if "" not in key.columns]
        columns = {(alias, name) for alias, key in used_keys for name in key.columns}
        names = _find_outputs(rows, outputs, columns)
        if names is None:
            continue
        least = _find_least(names, lambda names: rows.determine(*(outputs[name] for name in names)).is_row)
        if least is not None:
            lines = used_keys[0][1].lines if len(used_keys) == 1 and len(least) == len(columns) else frozenset()
            keys.append(Key(least, lines))
    return tuple(dict.fromkeys(keys))


def _find_outputs(rows: Rows, outputs: Mapping[str, exp.Expr], columns: Collection[Column]) -> list[str] | None:
    """Find an output for each column; return None where a column has none."""
    output_names = []
    for alias, name in sorted(columns):
        column = exp.column(name, table=alias)
        equal_outputs = (
            key for key, value in outputs.items() if isinstance(value, exp.Column) and _is_equal(rows, value, column)
        )
        if (first := next(equal_outputs, None)) is None:
            return None
        output_names.append(first)
    return output_names


def _is_equal(rows: Rows, value: exp.Column, column: exp.Column) -> bool:
    """Return whether an output is a column, or equal to it wherever it is not null."""
    return rows.resolve(value) == rows.resolve(column) or any(
        {rows.resolve(left), rows.resolve(right)} == {rows.resolve(value), rows.resolve(column)}
        for left, right in rows.equal
        if isinstance(left, exp.Column) and isinstance(right, exp.Column)
    )


def _find_least(names: Iterable[str], suffices: Callable[[Sequence[str]], bool]) -> frozenset[str] | None:
    """Find names that suffice, none of them redundant; return None where all together do not suffice."""
    selected = list(dict.fromkeys(names))
    if not suffices(selected):
        return None
    for name in list(selected):
        rest = [item for item in selected if item != name]
        if suffices(rest):
            selected = rest
    return frozenset(selected)
