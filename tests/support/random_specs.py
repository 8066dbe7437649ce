"""Random packages: events, relations (SQL of many shapes), grains, filters and metrics that the checker accepts.

No field has the name of another, nor of a column: what a relation's text names, it reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from random import Random

from assay.lang.model.expression import Expression
from assay.lang.model.package import (
    Check,
    Column,
    Condition,
    Derived,
    Event,
    Field,
    Filter,
    Form,
    Grain,
    Instant,
    Lookup,
    Metric,
    Name,
    Package,
    Pair,
    Quarantine,
    Reduction,
    Relation,
    Source,
    Subject,
    Tally,
    Transform,
    Unit,
)
from assay.lang.model.vocabulary import Summary

PLAIN = Unit("dimensionless", "")
NANOSECOND = Unit("nanosecond", "ns")
LOOKUPS = (Lookup(("ns",), False, "", "new"), Lookup(("kind",), True, "", "old"))

#: SQL of an integer column of a relation; {f}, {g} are fields, {o} the order within a host
VALUES = (
    "{f}",
    "{f} + {g}",
    "CASE WHEN {f} > {g} THEN {f} END",
    "coalesce({f}, {g}, 0)",
    "{f} - coalesce(lag({f}) OVER (PARTITION BY host ORDER BY seq), 0)",
    "max({f}) OVER before",
    "greatest({f}, 3)",
    "(SELECT count(*) FROM {other} WHERE {other}.host = {event}.host)",
)
#: SQL of an integer column of a relation of groups
GROUPED = (
    "min_by({f}, seq)",
    "max({f})",
    "count(*)",
    "count(CASE WHEN {f} > {g} THEN 1 END)",
    "sum({f})::BIGINT",
    "count(DISTINCT {f})",
    "max_by({f}, ({g}, {f}))",
)


def column(name: str) -> Expression:
    """Return a column of the grain."""
    return Expression("column", name=name)


def number(value: int) -> Expression:
    """Return an integer."""
    return Expression("integer", number=Decimal(value))


@dataclass(slots=True)
class Generator:
    """Generates the parts of a package from earlier parts."""

    random: Random
    events: list[Event] = field(default_factory=list)
    relations: list[Relation] = field(default_factory=list)
    grains: list[Grain] = field(default_factory=list)
    used: int = 0

    def fresh(self, word: str) -> str:
        """Return an unused name."""
        self.used += 1
        return f"{word}_{self.used}"

    def maybe(self, share: float = 0.5) -> bool:
        return self.random.random() < share

    # Events

    def event(self) -> Event:
        """Generate an event with a key, integers, and maybe an optional text."""
        name = self.fresh("event")
        fields = [self.field("key", "integer"), *(self.field("number", "integer") for _ in range(3))]
        if self.maybe():
            fields.append(self.field("text", "text", required=False))
        forms = [Form((Name("new", f"New.{name}"),), (), tuple(fields))]
        if self.maybe():
            old = tuple(self.moved(item) for item in fields)
            forms.append(Form((Name("old", f"Old.{name}"),), (), old))
        return Event(name, "log", tuple(forms), "")

    def field(self, word: str, kind: str, required: bool = True) -> Field:
        name = self.fresh(word)
        default = "7" if kind == "integer" and self.maybe(0.2) else None
        changes = (Transform("plus", 1, ""),) if kind == "integer" and self.maybe(0.2) else ()
        paths = self.paths(name)
        return Field(name, kind, PLAIN, "value", paths, default, required, changes, "")

    def paths(self, name: str) -> tuple[tuple[str, ...], ...]:
        paths = [(name,)]
        if self.maybe(0.3):
            paths.append(("deep", name))
        return tuple(paths)

    def moved(self, item: Field) -> Field:
        return Field(
            item.name, item.type, item.unit, item.kind, (("was", item.name),), item.default, item.required, (), ""
        )

    # Relations have columns host, KEY, AT and VALUE with unique names

    def relation(self) -> Relation:
        """Generate a relation over an event or a relation."""
        name = self.fresh("relation")
        key, at, value = (self.fresh(word) for word in ("rkey", "rat", "rvalue"))
        kinds = [self.of_event, self.of_groups, self.of_join, self.of_union]
        if self.relations:
            kinds += [self.of_relation, self.of_anti]
        sql, uses = self.random.choice(kinds)(key, at, value)
        columns = (
            Column("host", "text", PLAIN, ""),
            Column(key, "integer", PLAIN, ""),
            Column(at, "instant", NANOSECOND, ""),
            Column(value, "integer", PLAIN, ""),
        )
        checks = (self.check(name, value),) if self.maybe(0.2) else ()
        return Relation(name, sql, tuple(uses), columns, ("host", key), checks, "")

    def check(self, name: str, value: str) -> Check:
        return Check("never", f"SELECT {value} FROM {name} WHERE {value} = -987654321", (name,), "bad", "", "error")

    def numbers(self, event: Event) -> list[str]:
        return [item.name for item in event.fields if item.type == "integer"]

    def key_of(self, event: Event) -> str:
        return event.fields[0].name

    def of_event(self, key: str, at: str, value: str) -> tuple[str, Sequence[str]]:
        event, other = self.random.choice(self.events), self.random.choice(self.events)
        shape = self.random.choice(VALUES)
        f, g = self.random.sample(self.numbers(event)[1:], 2)
        new_text = shape.format(f=f, g=g, event=event.name, other=other.name)
        window = " WINDOW before AS (PARTITION BY host ORDER BY seq)" if "OVER before" in new_text else ""
        where = f" WHERE {self.random.choice(self.numbers(event))} >= 0" if self.maybe() else ""
        uses = [event.name, *([other.name] if other.name in new_text and other is not event else [])]
        text = f"SELECT host, {self.key_of(event)} AS {key}, t_ns AS {at}, {new_text} AS {value} FROM {event.name}"
        return text + where + window, uses

    def of_groups(self, key: str, at: str, value: str) -> tuple[str, Sequence[str]]:
        event = self.random.choice(self.events)
        own = self.key_of(event)
        f, g = self.random.sample(self.numbers(event)[1:], 2)
        new_text = self.random.choice(GROUPED).format(f=f, g=g)
        having = f" HAVING max({f}) >= 0" if self.maybe(0.3) else ""
        text = (
            f"WITH kept AS (SELECT * FROM {event.name}) SELECT host, {own} AS {key}, min(t_ns) AS {at}, {new_text} AS "
            f"{value} FROM kept GROUP BY host, {own}{having}"
        )
        if "*" in text:  # a star names every requested field
            names = ", ".join(dict.fromkeys((own, f, g)))
            text = text.replace("SELECT *", f"SELECT host, seq, t_ns, {names}")
        return text, [event.name]

    def of_join(self, key: str, at: str, value: str) -> tuple[str, Sequence[str]]:
        left, right = self.random.sample(self.events, 2)
        kind = self.random.choice(("INNER", "LEFT", "ASOF LEFT"))
        more = "b.seq < a.seq" if kind == "ASOF LEFT" else f"b.{self.key_of(right)} = a.{self.key_of(left)}"
        f = self.random.choice(self.numbers(right)[1:])
        g = self.random.choice(self.numbers(left)[1:])
        text = (
            f"SELECT a.host, a.{self.key_of(left)} AS {key}, a.t_ns AS {at}, coalesce(b.{f}, a.{g}) AS {value} "
            f"FROM {left.name} AS a {kind} JOIN {right.name} AS b ON b.host = a.host AND {more}"
        )
        return text, [left.name, right.name]

    def of_union(self, key: str, at: str, value: str) -> tuple[str, Sequence[str]]:
        left, right = self.random.sample(self.events, 2)
        parts = []
        for event in (left, right):
            f = self.random.choice(self.numbers(event)[1:])
            parts.append(f"SELECT host, {self.key_of(event)} AS {key}, t_ns AS {at}, {f} AS {value} FROM {event.name}")
        return self.random.choice((" UNION ALL ", " UNION ")).join(parts), [left.name, right.name]

    def of_relation(self, key: str, at: str, value: str) -> tuple[str, Sequence[str]]:
        inner = self.random.choice(self.relations)
        _, ikey, iat, ivalue = (item.name for item in inner.columns)
        text = (
            f"WITH least AS (SELECT host, min({iat}) AS first_at FROM {inner.name} GROUP BY host) "
            f"SELECT i.host, i.{ikey} AS {key}, least.first_at AS {at}, i.{ivalue} AS {value} FROM {inner.name} AS i "
            "INNER JOIN least ON least.host = i.host"
        )
        return text, [inner.name]

    def of_anti(self, key: str, at: str, value: str) -> tuple[str, Sequence[str]]:
        inner, event = self.random.choice(self.relations), self.random.choice(self.events)
        _, ikey, iat, ivalue = (item.name for item in inner.columns)
        kind = self.random.choice(("ANTI", "SEMI"))
        text = (
            f"SELECT i.host, i.{ikey} AS {key}, i.{iat} AS {at}, i.{ivalue} AS {value} FROM {inner.name} AS i "
            f"{kind} JOIN {event.name} AS e ON e.host = i.host AND e.{self.key_of(event)} = i.{ivalue}"
        )
        return text, [inner.name, event.name]

    # Grains

    def grain(self) -> Grain:
        """Generate a grain of a relation's rows, with instants, a tally and a derived column."""
        name = self.fresh("grain")
        base = self.random.choice(self.relations)
        _, key, _, value = (item.name for item in base.columns)
        instants = [self.first(name, key), self.first(name, key)]
        if self.maybe(0.7):
            instants.append(self.latest(name, instants[0].name))
        shifted = Expression("plus", (Expression("instant", name=instants[0].name), self.duration()))
        instants.append(self.instant(name, "computed", value=shifted))
        tallies = [self.tally(key)]
        doubled = Expression("plus", (column(value), column(tallies[0].column.name)))
        derived = Derived(Column(self.fresh("derived"), "integer", PLAIN, ""), doubled)
        subject = None
        if self.grains and self.maybe(0.4):
            parent = self.random.choice(self.grains)
            subject = Subject(parent.name, (Pair("host", "host"), Pair(key, parent.key[1])))
        return Grain(
            name, base.name, None, ("host", key), base.columns, tuple(instants), tuple(tallies), (derived,), subject,
            (), "",
        )  # fmt: skip

    def duration(self) -> Expression:
        return Expression("quantity", number=Decimal(5), unit="nanosecond")

    def instant(
        self,
        grain: str,
        pick: str,
        of: str = "",
        on: tuple[Pair, ...] = (),
        before: str = "",
        where: Expression | None = None,
        value: Expression | None = None,
        fields: tuple[str, ...] = (),
    ) -> Instant:
        return Instant(self.fresh("instant"), grain, pick, of, on, before, where, value, fields, "")

    def first(self, grain: str, key: str) -> Instant:
        event = self.random.choice(self.events)
        names = self.numbers(event)
        wanted = Expression("above", (Expression("field", name=self.random.choice(names[1:])), number(1)))
        return self.instant(
            grain,
            self.random.choice(("first", "last")),
            event.name,
            (Pair("host", "host"), Pair(key, names[0])),
            where=wanted if self.maybe() else None,
            fields=(self.random.choice(names[1:]),) if self.maybe() else (),
        )

    def latest(self, grain: str, before: str) -> Instant:
        event = self.random.choice(self.events)
        wanted = Expression("above", (Expression("field", name=self.random.choice(self.numbers(event)[1:])), number(0)))
        return self.instant(
            grain, "latest before", event.name, (Pair("host", "host"),), before, wanted if self.maybe() else None
        )

    def tally(self, key: str) -> Tally:
        event = self.random.choice(self.events)
        wanted = Expression("above", (Expression("field", name=self.random.choice(self.numbers(event)[1:])), number(1)))
        pairs = (Pair("host", "host"), *((Pair(key, self.key_of(event)),) if self.maybe() else ()))
        return Tally(
            Column(self.fresh("tally"), "integer", PLAIN, ""), event.name, pairs, wanted if self.maybe() else None
        )

    # Metrics and filters

    def metric(self, filters: Sequence[Filter]) -> Metric:
        """Generate a metric over a grain; existing filters apply."""
        grain = self.random.choice(self.grains)
        judged = grain.subject or any(one.grain == grain.name for item in filters for one in item.conditions)
        measure, unit = self.measure(grain)
        value = grain.columns[3].name
        where = Expression("at_least", (column(value), number(0))) if self.maybe(0.3) else None
        kinds = ("min", "max", "sum", "count", "centile")
        reduction = Reduction(("host",), self.random.choice(kinds), 0.5) if self.maybe(0.3) else None
        if reduction and reduction.kind == "count":
            unit = PLAIN
        per = "host" if self.maybe(0.3) else ""
        return Metric(
            self.fresh("metric"), "", "", grain.name, measure, where, bool(judged) or self.maybe(), reduction, per,
            unit, "neither", 5,
        )  # fmt: skip

    def measure(self, grain: Grain) -> tuple[Expression, Unit]:
        one, other = self.random.sample(grain.instants, 2)
        elapsed = Expression("minus", tuple(Expression("instant", name=item.name) for item in (one, other)))
        expressions = [
            Expression("taken", name=name, text=item.name) for item in grain.instants for name in item.fields
        ]
        plain = [column(grain.columns[3].name), column(grain.derived[0].column.name), *expressions]
        choice = self.random.random()
        if choice < 0.3:
            return elapsed, NANOSECOND
        if choice < 0.5:
            return Expression("coalesce", (elapsed, self.duration())), NANOSECOND
        return self.random.choice(plain), PLAIN

    def filter(self) -> Filter:
        """Generate a filter on one grain."""
        grain = self.random.choice(self.grains)
        value = self.random.choice((grain.columns[3].name, grain.tallies[0].column.name))
        holds = Expression("at_least", (column(value), number(self.random.randint(0, 2))))
        return Filter(self.fresh("filter").replace("_", "-"), None, (Condition(grain.name, holds),), "")


def random_package(seed: int) -> Package:
    """Generate a package from a seed."""
    maker = Generator(Random(seed))
    maker.events = [maker.event() for _ in range(4)]
    for _ in range(3):
        maker.relations.append(maker.relation())
    for _ in range(2):
        maker.grains.append(maker.grain())
    filters = tuple(maker.filter() for _ in range(2))
    metrics = tuple(maker.metric(filters) for _ in range(2))
    summary = Summary("mean", 0, "mean", False, "")
    source = Source("log", "json-lines", "*", ("*",), ("at",), ("data",), (), LOOKUPS, Quarantine(0.0, 1), (), "")
    return Package(
        system="random", units=(), sources=(source,), events=tuple(maker.events), relations=tuple(maker.relations),
        grains=tuple(maker.grains), metrics=metrics, filters=filters, summaries=(summary,), reports=(), series=(),
        articles=(), histories=(),
    )  # fmt: skip
