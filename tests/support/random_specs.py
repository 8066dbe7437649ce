"""Random packages: events, relations (SQL of many shapes), grains, filters and metrics that the checker accepts.

Names of fields and columns are unique, so a relation reads exactly the fields that its text names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from random import Random

from assay.lang.model.expression import Expression
from assay.lang.model.filters import Condition, Filter
from assay.lang.model.package import (
    Check,
    Column,
    Derived,
    Event,
    Field,
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


def build_column(name: str) -> Expression:
    """Return a column of the grain."""
    return Expression("column", name=name)


def build_number(value: int) -> Expression:
    """Return an integer."""
    return Expression("integer", number=Decimal(value))


@dataclass(slots=True)
class Generator:
    """Generates the parts of a package from earlier parts."""

    random: Random
    events: list[Event] = field(default_factory=list)
    relations: list[Relation] = field(default_factory=list)
    grains: list[Grain] = field(default_factory=list)
    name_count: int = 0

    def create_name(self, word: str) -> str:
        """Return an unused name."""
        self.name_count += 1
        return f"{word}_{self.name_count}"

    def draw_boolean(self, share: float = 0.5) -> bool:
        return self.random.random() < share

    # Events

    def draw_event(self) -> Event:
        """Generate an event with a key, integers, and maybe an optional text."""
        name = self.create_name("event")
        fields = [self.draw_field("key", "integer"), *(self.draw_field("number", "integer") for _ in range(3))]
        if self.draw_boolean():
            fields.append(self.draw_field("text", "text", required=False))
        forms = [Form((Name("new", f"New.{name}"),), (), tuple(fields))]
        if self.draw_boolean():
            old = tuple(self.move_field(item) for item in fields)
            forms.append(Form((Name("old", f"Old.{name}"),), (), old))
        return Event(name, "log", tuple(forms), "")

    def draw_field(self, word: str, kind: str, required: bool = True) -> Field:
        name = self.create_name(word)
        default = "7" if kind == "integer" and self.draw_boolean(0.2) else None
        changes = (Transform("plus", 1, ""),) if kind == "integer" and self.draw_boolean(0.2) else ()
        paths = self.draw_paths(name)
        return Field(name, kind, PLAIN, "value", paths, default, required, changes, "")

    def draw_paths(self, name: str) -> tuple[tuple[str, ...], ...]:
        paths = [(name,)]
        if self.draw_boolean(0.3):
            paths.append(("deep", name))
        return tuple(paths)

    def move_field(self, item: Field) -> Field:
        return Field(
            item.name, item.type, item.unit, item.kind, (("was", item.name),), item.default, item.required, (), ""
        )

    # Relations have columns host, KEY, AT and VALUE with unique names

    def draw_relation(self) -> Relation:
        """Generate a relation over an event or a relation."""
        name = self.create_name("relation")
        key, instant, value = (self.create_name(word) for word in ("rkey", "rat", "rvalue"))
        kinds = [self.draw_event_query, self.draw_group_query, self.draw_join_query, self.draw_union_query]
        if self.relations:
            kinds += [self.draw_relation_query, self.draw_anti_query]
        sql, uses = self.random.choice(kinds)(key, instant, value)
        columns = (
            Column("host", "text", PLAIN, ""),
            Column(key, "integer", PLAIN, ""),
            Column(instant, "instant", NANOSECOND, ""),
            Column(value, "integer", PLAIN, ""),
        )
        checks = (self.build_check(name, value),) if self.draw_boolean(0.2) else ()
        return Relation(name, sql, tuple(uses), columns, ("host", key), checks, "")

    def build_check(self, name: str, value: str) -> Check:
        return Check("never", f"SELECT {value} FROM {name} WHERE {value} = -987654321", (name,), "bad", "", "error")

    def list_integer_fields(self, event: Event) -> list[str]:
        return [item.name for item in event.fields if item.type == "integer"]

    def get_key(self, event: Event) -> str:
        return event.fields[0].name

    def draw_event_query(self, key: str, instant: str, value: str) -> tuple[str, Sequence[str]]:
        event, other = self.random.choice(self.events), self.random.choice(self.events)
        shape = self.random.choice(VALUES)
        f, g = self.random.sample(self.list_integer_fields(event)[1:], 2)
        new_text = shape.format(f=f, g=g, event=event.name, other=other.name)
        window = " WINDOW before AS (PARTITION BY host ORDER BY seq)" if "OVER before" in new_text else ""
        where = f" WHERE {self.random.choice(self.list_integer_fields(event))} >= 0" if self.draw_boolean() else ""
        uses = [event.name, *([other.name] if other.name in new_text and other is not event else [])]
        text = (
            f"SELECT host, {self.get_key(event)} AS {key}, t_ns AS {instant}, {new_text} AS {value} FROM {event.name}"
        )
        return text + where + window, uses

    def draw_group_query(self, key: str, instant: str, value: str) -> tuple[str, Sequence[str]]:
        event = self.random.choice(self.events)
        key_field = self.get_key(event)
        f, g = self.random.sample(self.list_integer_fields(event)[1:], 2)
        new_text = self.random.choice(GROUPED).format(f=f, g=g)
        having = f" HAVING max({f}) >= 0" if self.draw_boolean(0.3) else ""
        text = (
            f"WITH kept AS (SELECT * FROM {event.name}) SELECT host, {key_field} AS {key}, min(t_ns) AS "
            f"{instant}, {new_text} AS "
            f"{value} FROM kept GROUP BY host, {key_field}{having}"
        )
        if "*" in text:  # a star names every requested field
            names = ", ".join(dict.fromkeys((key_field, f, g)))
            text = text.replace("SELECT *", f"SELECT host, seq, t_ns, {names}")
        return text, [event.name]

    def draw_join_query(self, key: str, instant: str, value: str) -> tuple[str, Sequence[str]]:
        left, right = self.random.sample(self.events, 2)
        kind = self.random.choice(("INNER", "LEFT", "ASOF LEFT"))
        more = "b.seq < a.seq" if kind == "ASOF LEFT" else f"b.{self.get_key(right)} = a.{self.get_key(left)}"
        f = self.random.choice(self.list_integer_fields(right)[1:])
        g = self.random.choice(self.list_integer_fields(left)[1:])
        text = (
            f"SELECT a.host, a.{self.get_key(left)} AS {key}, a.t_ns AS {instant}, coalesce(b.{f}, a.{g}) AS {value} "
            f"FROM {left.name} AS a {kind} JOIN {right.name} AS b ON b.host = a.host AND {more}"
        )
        return text, [left.name, right.name]

    def draw_union_query(self, key: str, instant: str, value: str) -> tuple[str, Sequence[str]]:
        left, right = self.random.sample(self.events, 2)
        parts = []
        for event in (left, right):
            f = self.random.choice(self.list_integer_fields(event)[1:])
            parts.append(
                f"SELECT host, {self.get_key(event)} AS {key}, t_ns AS {instant}, {f} AS {value} FROM {event.name}"
            )
        return self.random.choice((" UNION ALL ", " UNION ")).join(parts), [left.name, right.name]

    def draw_relation_query(self, key: str, instant: str, value: str) -> tuple[str, Sequence[str]]:
        inner = self.random.choice(self.relations)
        _, ikey, iat, ivalue = (item.name for item in inner.columns)
        text = (
            f"WITH least AS (SELECT host, min({iat}) AS first_at FROM {inner.name} GROUP BY host) "
            f"SELECT i.host, i.{ikey} AS {key}, least.first_at AS {instant}, i.{ivalue} AS {value} FROM "
            f"{inner.name} AS i "
            "INNER JOIN least ON least.host = i.host"
        )
        return text, [inner.name]

    def draw_anti_query(self, key: str, instant: str, value: str) -> tuple[str, Sequence[str]]:
        inner, event = self.random.choice(self.relations), self.random.choice(self.events)
        _, ikey, iat, ivalue = (item.name for item in inner.columns)
        kind = self.random.choice(("ANTI", "SEMI"))
        text = (
            f"SELECT i.host, i.{ikey} AS {key}, i.{iat} AS {instant}, i.{ivalue} AS {value} FROM {inner.name} AS i "
            f"{kind} JOIN {event.name} AS e ON e.host = i.host AND e.{self.get_key(event)} = i.{ivalue}"
        )
        return text, [inner.name, event.name]

    # Grains

    def draw_grain(self) -> Grain:
        """Generate a grain of a relation's rows, with instants, a tally and a derived column."""
        name = self.create_name("grain")
        base = self.random.choice(self.relations)
        _, key, _, value = (item.name for item in base.columns)
        instants = [self.draw_first_instant(name, key), self.draw_first_instant(name, key)]
        if self.draw_boolean(0.7):
            instants.append(self.draw_latest_instant(name, instants[0].name))
        shifted = Expression("plus", (Expression("instant", name=instants[0].name), self.build_duration()))
        instants.append(self.build_instant(name, "computed", value=shifted))
        tallies = [self.draw_tally(key)]
        total = Expression("plus", (build_column(value), build_column(tallies[0].column.name)))
        derived = Derived(Column(self.create_name("derived"), "integer", PLAIN, ""), total)
        subject = None
        if self.grains and self.draw_boolean(0.4):
            parent = self.random.choice(self.grains)
            subject = Subject(parent.name, (Pair("host", "host"), Pair(key, parent.key[1])))
        return Grain(
            name, base.name, None, ("host", key), base.columns, tuple(instants), tuple(tallies), (derived,), subject,
            (), "",
        )  # fmt: skip

    def build_duration(self) -> Expression:
        return Expression("quantity", number=Decimal(5), unit="nanosecond")

    def build_instant(
        self,
        grain: str,
        pick: str,
        event_name: str = "",
        pairs: tuple[Pair, ...] = (),
        before: str = "",
        where: Expression | None = None,
        value: Expression | None = None,
        fields: tuple[str, ...] = (),
    ) -> Instant:
        return Instant(self.create_name("instant"), grain, pick, event_name, pairs, before, where, value, fields, "")

    def draw_first_instant(self, grain: str, key: str) -> Instant:
        event = self.random.choice(self.events)
        names = self.list_integer_fields(event)
        condition = Expression("above", (Expression("field", name=self.random.choice(names[1:])), build_number(1)))
        return self.build_instant(
            grain,
            self.random.choice(("first", "last")),
            event.name,
            (Pair("host", "host"), Pair(key, names[0])),
            where=condition if self.draw_boolean() else None,
            fields=(self.random.choice(names[1:]),) if self.draw_boolean() else (),
        )

    def draw_latest_instant(self, grain: str, before: str) -> Instant:
        event = self.random.choice(self.events)
        condition = Expression(
            "above",
            (Expression("field", name=self.random.choice(self.list_integer_fields(event)[1:])), build_number(0)),
        )
        return self.build_instant(
            grain,
            "latest before",
            event.name,
            (Pair("host", "host"),),
            before,
            condition if self.draw_boolean() else None,
        )

    def draw_tally(self, key: str) -> Tally:
        event = self.random.choice(self.events)
        condition = Expression(
            "above",
            (Expression("field", name=self.random.choice(self.list_integer_fields(event)[1:])), build_number(1)),
        )
        pairs = (Pair("host", "host"), *((Pair(key, self.get_key(event)),) if self.draw_boolean() else ()))
        return Tally(
            Column(self.create_name("tally"), "integer", PLAIN, ""),
            event.name,
            pairs,
            condition if self.draw_boolean() else None,
        )

    # Metrics and filters

    def draw_metric(self, filters: Sequence[Filter]) -> Metric:
        """Generate a metric over a grain; existing filters apply."""
        grain = self.random.choice(self.grains)
        is_filtered = grain.subject or any(one.grain == grain.name for item in filters for one in item.conditions)
        measure, unit = self.draw_measure(grain)
        value = grain.columns[3].name
        where = Expression("at_least", (build_column(value), build_number(0))) if self.draw_boolean(0.3) else None
        kinds = ("min", "max", "sum", "count", "centile")
        reduction = Reduction(("host",), self.random.choice(kinds), 0.5) if self.draw_boolean(0.3) else None
        if reduction and reduction.kind == "count":
            unit = PLAIN
        per = "host" if self.draw_boolean(0.3) else ""
        return Metric(
            name := self.create_name("metric"),
            name,
            "",
            grain.name,
            measure,
            where,
            bool(is_filtered) or self.draw_boolean(),
            reduction,
            per,
            unit,
            "neither",
            5,
        )

    def draw_measure(self, grain: Grain) -> tuple[Expression, Unit]:
        one, other = self.random.sample(grain.instants, 2)
        elapsed = Expression("minus", tuple(Expression("instant", name=item.name) for item in (one, other)))
        expressions = [
            Expression("taken", name=name, text=item.name) for item in grain.instants for name in item.fields
        ]
        plain = [build_column(grain.columns[3].name), build_column(grain.derived[0].column.name), *expressions]
        choice = self.random.random()
        if choice < 0.3:
            return elapsed, NANOSECOND
        if choice < 0.5:
            return Expression("coalesce", (elapsed, self.build_duration())), NANOSECOND
        return self.random.choice(plain), PLAIN

    def draw_filter(self) -> Filter:
        """Generate a filter on one grain."""
        grain = self.random.choice(self.grains)
        value = self.random.choice((grain.columns[3].name, grain.tallies[0].column.name))
        holds = Expression("at_least", (build_column(value), build_number(self.random.randint(0, 2))))
        return Filter(self.create_name("filter").replace("_", "-"), None, (Condition(grain.name, holds),), "")


def generate_package(seed: int) -> Package:
    """Generate a package from a seed."""
    generator = Generator(Random(seed))
    generator.events = [generator.draw_event() for _ in range(4)]
    for _ in range(3):
        generator.relations.append(generator.draw_relation())
    for _ in range(2):
        generator.grains.append(generator.draw_grain())
    filters = tuple(generator.draw_filter() for _ in range(2))
    metrics = tuple(generator.draw_metric(filters) for _ in range(2))
    summary = Summary("mean", 0, "mean", False, "")
    source = Source("log", "json-lines", "*", ("*",), ("at",), ("data",), (), LOOKUPS, Quarantine(0.0, 1), (), "")
    return Package(
        system="random",
        units=(),
        sources=(source,),
        events=tuple(generator.events),
        relations=tuple(generator.relations),
        grains=tuple(generator.grains),
        metrics=metrics,
        filters=filters,
        summaries=(summary,),
        reports=(),
        series=(),
    )
