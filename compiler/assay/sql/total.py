"""Where an order decides a value of a query, and does not tell all rows apart: of rows that tie any may be the first.

An order suffices where rows that tie agree in all that it decides: it names a key of the rows, or all that is taken of
them.  What cannot be proved is refused.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from assay.sql.order_parts import (
    arguments_of,
    cuts,
    equalities,
    is_all,
    is_of_places,
    is_of_window,
    is_read,
    ordered_by,
)
from assay.sql.ordered import ANY_ORDER, OF_GROUPS, OTHERS, bare, is_one_row, named, word_of
from assay.sql.row_keys import (
    RANKS,
    Joined,
    Key,
    Known,
    Rows,
    Shape,
    conjuncts,
    is_aggregate,
    keys_of,
    within,
)

#: functions that take a row from an end of the frame
_EDGES = (exp.FirstValue, exp.LastValue, exp.First, exp.Last, exp.AnyValue)
Tables = Mapping[str, Shape]


@dataclass(frozen=True, slots=True)
class Tie:
    """An order that leaves rows untold apart: the words that may stand in the text for what it decides, the columns
    that would tell them apart, what is wrong, and where in the text the function stands, if that is known: its first
    and last character."""

    words: tuple[str, ...]
    missing: tuple[str, ...] = ()
    problem: str = "whose order does not tell all rows apart"
    place: tuple[int, int] | None = None


def ties(tree: exp.Query, tables: Tables) -> Iterator[Tie]:
    """The orders of a query over tables of known shapes that do not suffice, in no particular order."""
    found = _Reading()
    found.shape(tree, {name.casefold(): shape for name, shape in tables.items()}, is_inner=False)
    yield from found.ties


@dataclass(slots=True)
class _Reading:
    """A query being read from the inside out."""

    ties: list[Tie] = field(default_factory=list)

    def shape(self, query: exp.Expr, tables: Tables, is_inner: bool) -> Shape:
        """The shape of a query; its ties are noted."""
        tables = self._with_queries(query, tables, is_inner)
        if isinstance(query, exp.Subquery):
            found = self.shape(query.this, tables, is_inner)
            self._cut_rows(query, found)
        elif isinstance(query, exp.SetOperation):
            found = self._united(query, tables, is_inner)
            self._cut_rows(query, found)
        elif isinstance(query, exp.Select):
            found = _Selecting(self, query, tables, is_inner).shape()
        else:
            found = Shape()
        limit = query.args.get("limit")
        count = limit.expression if isinstance(limit, exp.Limit) else None
        if isinstance(count, exp.Literal) and count.name in ("0", "1"):
            return Shape(found.columns, (Key(frozenset()),))
        return found

    def _with_queries(self, query: exp.Expr, tables: Tables, is_inner: bool) -> Tables:
        """The tables that a query can read, with those that it names itself."""
        given = query.args.get("with_")
        if given is None:
            return tables
        known = dict(tables)
        for item in given.expressions:
            name = item.alias.casefold()
            names = [column.name for column in item.args["alias"].columns]
            if given.recursive:
                first = item.this.left if isinstance(item.this, exp.SetOperation) else item.this
                columns = _Reading().shape(first, known, is_inner).columns
                known[name] = Shape(Shape(columns).renamed(names).columns)
            known[name] = self.shape(item.this, known, is_inner).renamed(names)
            if given.recursive:
                known[name] = Shape(known[name].columns)
        return known

    def _united(self, query: exp.SetOperation, tables: Tables, is_inner: bool) -> Shape:
        left, right = (self.shape(item, tables, is_inner) for item in (query.left, query.right))
        if left.columns is None or query.args.get("by_name"):
            return Shape()
        if isinstance(query, (exp.Except, exp.Intersect)):
            return left
        if query.args.get("distinct"):
            return Shape(left.columns, (Key(frozenset(left.columns)),))
        if right.columns is None or len(right.columns) != len(left.columns):
            return Shape(left.columns)
        right = right.renamed(left.columns)
        keys = [
            Key(one.columns, one.lines | other.lines)
            for one in left.keys
            for other in right.keys
            if one.columns == other.columns and _are_apart(one, other)
        ]
        return Shape(left.columns, tuple(keys))

    def _cut_rows(self, query: exp.Expr, shape: Shape) -> None:
        """Note where the rows of several queries, or of one in brackets, are cut by an order that ties."""
        order = query.args.get("order")
        if not order or shape.is_one_row:
            return
        rows = Rows(is_inner=False, sources={"": shape})
        given = [item.this for item in order.expressions]
        if shape.columns is not None:
            outputs = [exp.column(name) for name in shape.columns]
            given = [value for item in given for value in ordered_by(item, outputs, {})]
        known = rows.known(*given)
        for part in cuts(query):
            if not known.has(exp.Star()):
                self.ties.append(Tie((part,), _missing(rows, known)))


def _are_apart(one: Key, other: Key) -> bool:
    """Whether the keys of two queries are of lines that cannot be the same."""
    sources = {source for source, _ in one.lines | other.lines}
    return bool(one.lines and other.lines) and len(sources) == 1 and not one.lines & other.lines


def _missing(rows: Rows, known: Known) -> tuple[str, ...]:
    """The columns that an order lacks, of the first table whose rows it does not tell apart."""
    for alias, shape in rows.sources.items():
        if alias not in known.whole and shape.keys:
            own = (name for name in sorted(shape.keys[0].columns))
            return tuple(name for name in own if not known.of_row(exp.column(name, table=alias or None)))
    return ()


class _Selecting:
    """A SELECT being read: the rows that it is of, then what it makes of them."""

    def __init__(self, reading: _Reading, select: exp.Select, tables: Tables, is_inner: bool) -> None:
        self._reading = reading
        self._select = select
        self._tables = tables
        self._rows = Rows(is_inner)
        self._asof: list[tuple[str, set[str]]] = []

    def shape(self) -> Shape:
        """Its shape; its ties are noted, and those of queries in it."""
        select = self._select
        self._read_tables()
        self._rows.equal += equalities(select.args.get("where"))
        outputs = [item.unalias() for item in select.expressions]
        self._rows.aliases = {item.alias.casefold(): item.unalias() for item in select.expressions if item.alias}
        self._read_groups(outputs)
        for node in self._own():
            if isinstance(node, exp.Query):
                self._inner(node)
            elif isinstance(node, exp.Window):
                if not isinstance(node.this, exp.Identifier):  # the words of a named window
                    self._window(node)
            elif is_aggregate(node) and not is_of_window(node):
                self._aggregate(node)
            elif isinstance(node, exp.Column):
                self._place_of_row(node)
        self._cut(outputs)
        for alias, by in self._asof:
            self._joined_asof(alias, by)
        return self._shape(outputs)

    def _own(self) -> Iterator[exp.Expr]:
        """The nodes of the SELECT, but for its tables and for what is inside of queries in it; these are among them."""
        names = ("where", "group", "having", "qualify", "order", "distinct", "limit", "offset")
        yield from within(*self._select.expressions, *(self._select.args.get(name) for name in names))
        for join in self._select.args.get("joins") or ():
            yield from within(join.args.get("on"))

    def _tie(self, words: tuple[str, ...], known: Known, call: exp.Expr | None = None) -> None:
        found = call.meta if call is not None else {}
        place = (found["start"], found["end"]) if "start" in found else None
        self._reading.ties.append(Tie(words, _missing(self._rows, known), place=place))

    # the tables

    def _read_tables(self) -> None:
        start = self._select.args.get("from_")
        if start is None:
            self._rows.sources[""] = Shape((), (Key(frozenset()),))
            return
        self._add(start.this)
        for lateral in self._select.args.get("laterals") or ():
            self._add(lateral)
        for join in self._select.args.get("joins") or ():
            self._join(join)

    def _add(self, source: exp.Expr) -> str:
        """Add a table; returns its alias."""
        alias, shape = self._source(source)
        while alias in self._rows.sources:
            alias += "'"
        self._rows.sources[alias] = shape
        for join in source.args.get("joins") or ():
            self._join(join)
        return alias

    def _source(self, source: exp.Expr) -> tuple[str, Shape]:
        alias = source.alias_or_name.casefold()
        given = source.args.get("alias")
        names = [column.name for column in given.columns] if isinstance(given, exp.TableAlias) else []
        if source.args.get("pivots") or not isinstance(source, (exp.Subquery, exp.Lateral)):
            self._read_inside(source)
        if source.args.get("pivots"):
            return alias, Shape()
        if isinstance(source, exp.Table) and isinstance(source.this, exp.Identifier):
            return alias, self._tables.get(source.name.casefold(), Shape()).renamed(names)
        if isinstance(source, exp.Table):
            made = tuple(name.casefold() for name in names) or None
            is_series = isinstance(source.this, exp.GenerateSeries) and len(names) == 1
            return alias, Shape(made, (Key(frozenset(made)),) if is_series and made else ())
        if isinstance(source, exp.Subquery) and isinstance(source.this, exp.Query):
            found = self._reading.shape(source, self._tables, is_inner=True)
            return alias, found.renamed(names)
        if isinstance(source, exp.Lateral) and isinstance(source.this, exp.Subquery):
            found = self._reading.shape(source.this, self._tables, is_inner=True).renamed(names)
            return alias, Shape(found.columns)
        self._read_inside(source)
        return alias, Shape(tuple(name.casefold() for name in names) or None)

    def _read_inside(self, source: exp.Expr) -> None:
        """Note the ties of queries inside of what is not read as a table."""
        for part in source.iter_expressions():
            for node in within(part):
                if isinstance(node, exp.Query):
                    self._reading.shape(node, self._tables, is_inner=True)

    def _join(self, join: exp.Join) -> None:
        before = list(self._rows.sources)
        alias, shape = self._source(join.this)
        using = [item.name.casefold() for item in join.args.get("using") or ()]
        if join.kind in ("SEMI", "ANTI"):
            if join.kind == "SEMI" and shape.is_one_row:
                self._rows.beside[alias] = shape
                self._rows.equal += [*equalities(join.args.get("on")), *self._same(before, alias, using)]
            return
        alias = self._add(join.this) if alias in self._rows.sources else alias
        self._rows.sources[alias] = shape
        equal = [*equalities(join.args.get("on")), *self._same(before, alias, using)]
        if join.method == "ASOF":
            compared = [item for item in conjuncts(join.args.get("on")) if isinstance(item, exp.Binary)]
            pairs = [*((item.this, item.expression) for item in compared), *self._same(before, alias, using)]
            by = self._by(alias, pairs)
            self._rows.joined.append(Joined(alias, by, is_asof=True))
            self._asof.append((alias, {name for name, _ in by}))
        elif join.side in ("RIGHT", "FULL") or join.method == "NATURAL":
            return
        elif join.side == "LEFT":
            self._rows.joined.append(Joined(alias, self._by(alias, equal)))
            return
        if join.side != "LEFT":
            self._rows.equal += equal

    def _same(self, before: Sequence[str], alias: str, using: Sequence[str]) -> list[tuple[exp.Expr, exp.Expr]]:
        """The equalities of `USING`."""
        found: list[tuple[exp.Expr, exp.Expr]] = []
        for name in using:
            for other in before:
                columns = self._rows.sources[other].columns
                if columns is None or name in columns:
                    found.append((exp.column(name, table=other), exp.column(name, table=alias)))
                    break
        return found

    def _by(self, alias: str, pairs: Sequence[tuple[exp.Expr, exp.Expr]]) -> list[tuple[str, exp.Expr]]:
        """The columns of a joined table that are compared, each with what it is compared to."""
        found = []
        for one, other in (*pairs, *((other, one) for one, other in pairs)):
            if isinstance(one, exp.Column) and (place := self._rows.resolve(one)) and place[0] == alias:
                found.append((place[1], other))
        return found

    def _joined_asof(self, alias: str, by: Collection[str]) -> None:
        """Note a join that takes the last of several rows by these columns, where these tie in what is read of them.

        Rows that have a key of another kind than lines may have more that are not declared: of these nothing is noted.
        """
        keys = self._rows.sources[alias].keys
        if any(not key.lines or key.columns <= set(by) for key in keys):
            return
        for node in self._own():
            if isinstance(node, exp.Column) and not node.is_star:
                place = self._rows.resolve(node)
                is_decided = place is not None and place[0] == alias and place[1] not in by
            else:
                is_decided = isinstance(node, exp.Star) and is_read(node)
            if is_decided:
                self._tie(("ASOF",), self._rows.known(*(exp.column(name, table=alias) for name in by)))
                return

    # what it makes of them

    def _read_groups(self, outputs: Sequence[exp.Expr]) -> None:
        select, group = self._select, self._select.args.get("group")
        if group is not None:
            self._rows.unknown = any(group.args.get(name) for name in ("grouping_sets", "cube", "rollup", "totals"))
            by = group.expressions
            if group.args.get("all"):
                by = [item for item in outputs if not any(map(is_aggregate, within(item)))]
            aliases = {
                name: value
                for name, value in self._rows.aliases.items()
                if self._rows.resolve(exp.column(name)) is None
            }
            self._rows.groups = [value for item in by for value in ordered_by(item, outputs, aliases)]
        elif select.args.get("having") or any(
            is_aggregate(node) and not is_of_window(node) for item in outputs for node in within(item)
        ):
            self._rows.groups = []

    def _inner(self, query: exp.Query) -> None:
        """Read a query in an expression; as a list, its rows must have an order."""
        shape = self._reading.shape(query, self._tables, is_inner=True)
        as_list = isinstance(query.parent, exp.Array) and not isinstance(query.parent.parent, ANY_ORDER)
        body = query.unnest() if isinstance(query, exp.Subquery) else query
        if not as_list or shape.is_one_row:
            return
        order = body.args.get("order")
        outputs = [item.unalias() for item in body.selects] if isinstance(body, exp.Select) else []
        if not order or len(outputs) != 1 or not isinstance(body, exp.Select):
            self._reading.ties.append(Tie(("ARRAY",), problem="of rows that have no order"))
            return
        inner = _Selecting(_Reading(), body, self._tables, is_inner=True)
        inner.shape()
        known = inner._order(outputs)
        if not known.has(outputs[0]):
            self._reading.ties.append(Tie(("ARRAY",), _missing(inner._rows, known)))

    def _place_of_row(self, column: exp.Column) -> None:
        """Note the number that the engine gives to a row of a table."""
        if column.name.casefold() == "rowid" and not column.this.quoted:
            found = self._rows.resolve(column)
            columns = {**self._rows.sources, **self._rows.beside}[found[0]].columns if found else ()
            if columns is not None and "rowid" not in columns:
                problem = "that numbers rows as the engine happens to hold them"
                self._reading.ties.append(Tie((column.name,), problem=problem))

    def _groups(self) -> list[exp.Expr]:
        return self._rows.groups or []

    def _aggregate(self, call: exp.Expr) -> None:
        """Note a function of a group whose rows tie."""
        values, by, is_distinct = arguments_of(call)
        if not by:
            return
        known = self._rows.known(*self._groups(), *by)
        if is_distinct:
            suffices = all(any(value == item for item in known.values) for value in values)
        else:
            suffices = all(map(known.of_row, values))
        if not suffices:
            self._tie(word_of(call), known, call)

    def _window(self, window: exp.Window) -> None:
        """Note a function of a window whose rows tie."""
        call = bare(window.this)
        call = call.this if isinstance(call, exp.Filter) else call
        other = named(window)
        parts = window.args.get("partition_by") or other.args.get("partition_by") or []
        order = window.args.get("order") or other.args.get("order")
        spec = window.args.get("spec") or other.args.get("spec")
        by = [item.this for item in order.expressions] if order else []
        if isinstance(call, RANKS):
            return
        counted = spec is not None and str(spec.args.get("kind")).upper() == "ROWS" and not is_all(spec)
        known = self._rows.known(*parts, *by)
        if known.is_group or self._are_alike(known):
            return
        values, own, is_distinct = arguments_of(call)
        if own:
            inside = self._rows.known(*parts, *own)
            if is_distinct:
                suffices = all(any(value == item for item in inside.values) for value in values)
            else:
                suffices = all(map(inside.has, values))
        elif isinstance(call, (*_EDGES, *OF_GROUPS)) or call.name.casefold() in OTHERS:
            suffices = all(map(known.has, values))
            if isinstance(call, _EDGES) and spec is not None and str(spec.args.get("start")).upper() == "UNBOUNDED":
                counted = False
        else:
            suffices = is_aggregate(call) and not is_of_places(call)
        if not suffices or counted:
            self._tie(word_of(call), known, call)

    def _are_alike(self, known: Known) -> bool:
        """Whether rows that tie are the same in all that is read of them."""
        return all(
            known.has(node) for node in self._own() if isinstance(node, (exp.Column, exp.Star)) and is_read(node)
        )

    def _order(self, outputs: Sequence[exp.Expr]) -> Known:
        """What the order of the SELECT determines."""
        order = self._select.args.get("order")
        by = [item.this for item in order.expressions] if order else []
        return self._rows.known(*(value for item in by for value in ordered_by(item, outputs, self._rows.aliases)))

    def _cut(self, outputs: Sequence[exp.Expr]) -> None:
        """Note where some rows are taken, and these tie."""
        if not self._select.args.get("order") or is_one_row(self._select):
            return
        known = self._order(outputs)
        distinct = self._select.args.get("distinct")
        if distinct is not None and (on := distinct.args.get("on")):
            of = [value for item in on.expressions for value in ordered_by(item, outputs, self._rows.aliases)]
            together = self._rows.known(*of, *known.values)
            if not all(map(together.has, outputs)):
                self._tie(("DISTINCT",), together)
            return
        if isinstance(self._select.parent, exp.Exists):
            return
        for word in cuts(self._select):
            if not all(map(known.has, outputs)):
                self._tie((word,), known)

    # what it yields

    def _shape(self, outputs: Sequence[exp.Expr]) -> Shape:
        columns = self._outputs(outputs)
        if columns is None:
            return Shape()
        names = tuple(columns)
        distinct = self._select.args.get("distinct")
        if distinct is not None:
            on = distinct.args.get("on")
            own = [name for name, value in columns.items() if on and any(value == item for item in on.expressions)]
            if on and len(own) != len(on.expressions):
                return Shape(names)
            return Shape(names, (Key(frozenset(own if on else names)),))
        keys = keys_of(self._rows, columns)
        return Shape(names, (*keys, *self._numbered(columns)))

    def _numbered(self, columns: Mapping[str, exp.Expr]) -> Iterator[Key]:
        """The keys that are numbers of rows, and those of which one row is left."""
        for name, value in columns.items():
            if isinstance(value, exp.Window) and isinstance(value.this, exp.RowNumber):
                parts = value.args.get("partition_by") or named(value).args.get("partition_by") or []
                own = [other for other, item in columns.items() if item in parts]
                if len(own) == len(parts):
                    yield Key(frozenset((name, *own)))
        qualify = self._select.args.get("qualify")
        for item in conjuncts(qualify.this if qualify else None):
            if isinstance(item, exp.EQ) and isinstance(item.expression, exp.Literal) and item.expression.name == "1":
                value = item.this
                value = self._rows.aliases.get(value.name.casefold(), value) if isinstance(value, exp.Column) else value
                if isinstance(value, exp.Window) and isinstance(value.this, exp.RowNumber):
                    parts = value.args.get("partition_by") or named(value).args.get("partition_by") or []
                    own = [other for other, of in columns.items() if of in parts]
                    if len(own) == len(parts):
                        yield Key(frozenset(own))

    def _outputs(self, outputs: Sequence[exp.Expr]) -> dict[str, exp.Expr] | None:
        """The columns of the SELECT by their names; None where they are not known."""
        found: dict[str, exp.Expr] = {}
        for item, value in zip(self._select.expressions, outputs, strict=True):
            if isinstance(value, exp.Columns):
                return None
            if not value.is_star or isinstance(value, exp.Count):
                found[item.alias_or_name.casefold() or f"'{len(found)}"] = value
                continue
            star = value.this if isinstance(value, exp.Column) else value
            aliases = [value.table.casefold()] if isinstance(value, exp.Column) else list(self._rows.sources)
            without = {column.name.casefold() for column in star.args.get("except_") or ()}
            replaced = {column.alias.casefold() for column in star.args.get("replace") or ()}
            if star.args.get("rename"):
                return None
            for alias in aliases:
                columns = self._rows.sources.get(alias, Shape()).columns
                if columns is None:
                    return None
                for name in columns:
                    if name not in without:
                        hidden = name in replaced
                        of = exp.Anonymous(this="replaced") if hidden else exp.column(name, table=alias)
                        found.setdefault(name, of)
        return found
