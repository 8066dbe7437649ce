"""Normal forms: a package as sorted YAML, with what the checker found; and definition hashes.

A normal form is what an auditor reads and diffs.  Values that say nothing (empty, false, none) are left out.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import re
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

from assay.lang import decode, dependencies, formula, scopes
from assay.lang.check.formulas import build_formula_scope
from assay.lang.check.series import VALUE, read_unit
from assay.lang.formula import write_conversions
from assay.lang.model.article import Article, Block, Part
from assay.lang.model.expression import Expression, show
from assay.lang.model.package import Filter, Grain, Instant, Metric, Package, Parameter, Series, Source
from assay.lang.model.source_kinds import SOURCE_KINDS
from assay.lang.model.vocabulary import Cut, Unit
from assay.lang.typing_rules import SIDE_BY_SIDE, Scope, Units, convert_operands, infer, infer_reduced, infer_sides
from assay.lang.units import UnitLibrary, get_library
from assay.util.repr_key import ReprKey

FORMAT = 2  # 1 had events and summaries by name
_ORDERED = ("events", "summaries")  # parts of a package whose order has a meaning
_FACTOR = re.compile(r"-?[0-9]{1,400}(?:/(?!0+$)[0-9]{1,400})?")


@dataclass(frozen=True, slots=True)
class Measured:
    """What a metric's measure yields: its type (integer, unsigned, real), its unit, the factor to the metric's unit."""

    type: str
    unit: str
    factor: Fraction

    @property
    def integral(self) -> bool:
        """Whether samples are exact integers."""
        return self.type != "real"


@dataclass(frozen=True, slots=True)
class CheckedPackage:
    """A package that has passed the checker.  `factors` has the number of ns, or of the operand's unit, of every
    conversion that expressions ask for: (from, to) -> factor."""

    package: Package
    measured: Mapping[str, Measured]
    definitions: Mapping[str, str]
    sources: str

    def metric(self, name: str) -> Metric:
        """The metric of an id (KeyError when there is none)."""
        return {metric.id: metric for metric in self.package.metrics}[name]


def resolve(package: Package, sources: str) -> CheckedPackage:
    """A checked package with its conversions worked out; expects that `check` found no problem."""
    units = get_library(tuple(unit.name for unit in package.units))
    package = _in_order(_with_factors(package, units))
    grains = {grain.name: grain for grain in package.grains}
    measured = {}
    for metric in package.metrics:
        if formula.is_formula(metric):
            measured[metric.id] = Measured("real", metric.unit.name, Fraction(1))
            continue
        found = infer(metric.measure, scopes.build_grain_scope(package, grains[metric.grain]), units.units())
        found = infer_reduced(found, metric.reduction.kind if metric.reduction else "")
        counts = metric.reduction is not None and metric.reduction.kind == "count"
        kind = "unsigned" if not counts and _unsigned(metric.measure, grains[metric.grain]) else found.type
        measured[metric.id] = Measured(kind, found.unit, units.factor(found.unit, metric.unit.name))
    return CheckedPackage(package, measured, definitions(package), sources)


def _in_order(package: Package) -> Package:
    """The package with its parts sorted by id or name, as normal forms have them, but those whose order says something:
    patterns of text lines are tried in the order of events, and the first summary is the default."""
    parts = {item.name: getattr(package, item.name) for item in dataclasses.fields(package)}
    ordered: dict[str, Any] = {
        name: tuple(sorted(part, key=_key))
        for name, part in parts.items()
        if isinstance(part, tuple) and name not in _ORDERED
    }
    return dataclasses.replace(package, **ordered)


def _key(item: Any) -> str:
    return str(item.id if isinstance(item, Metric) else item.name)


def _unsigned(node: Expression, grain: Grain) -> bool:
    """Whether a measure is a column that cannot be negative, at most converted."""
    if node.op in ("whole", "as_unit"):
        return _unsigned(node.operands[0], grain)
    columns = (*grain.columns, *(t.column for t in grain.tallies), *(d.column for d in grain.derived))
    types = {column.name: column.type for column in columns}
    return node.op == "column" and types[node.name] in ("unsigned", "huge")


def _with_factors(package: Package, library: UnitLibrary) -> Package:
    """Expressions with the conversion factors of `whole` and `quantity` written into them."""
    resolver = _Resolver(package, library)
    return dataclasses.replace(
        package,
        grains=tuple(resolver.grain(item) for item in package.grains),
        metrics=tuple(resolver.metric(item) for item in package.metrics),
        filters=tuple(resolver.filter(item) for item in package.filters),
        series=tuple(resolver.series(item) for item in package.series),
        articles=tuple(resolver.article(item) for item in package.articles),
        cuts=tuple(resolver.cut(item) for item in package.cuts),
    )


@dataclass(frozen=True, slots=True)
class _Resolver:
    package: Package
    library: UnitLibrary

    @property
    def units(self) -> Units:
        return self.library.units()

    def scope(self, grain: str, parameter: Parameter | None = None) -> Scope:
        found = next(item for item in self.package.grains if item.name == grain)
        return scopes.build_grain_scope(self.package, found, parameter)

    def node(self, node: Expression, scope: Scope) -> Expression:
        """An expression with its factors."""
        operands = tuple(self.node(operand, scope) for operand in node.operands)
        factor = ""
        if node.op == "whole":
            factor = str(self.units.factor(infer(node.operands[0], scope, self.units).unit, node.unit))
        elif node.op == "quantity" and (kind := infer(node, scope, self.units)).type == "integer":
            factor = str(self.units.factor(node.unit, kind.unit))
        elif node.op in SIDE_BY_SIDE:
            operands = convert_operands(operands, infer_sides(node, scope, self.units), self.units)
        return dataclasses.replace(node, operands=operands, factor=factor)

    def maybe(self, node: Expression | None, scope: Scope) -> Expression | None:
        return self.node(node, scope) if node else None

    def grain(self, grain: Grain) -> Grain:
        """A grain with the factors of all its expressions."""
        scope, runs = self.scope(grain.name), grain.runs
        return dataclasses.replace(
            grain,
            instants=tuple(self.instant(item, scope) for item in grain.instants),
            tallies=tuple(dataclasses.replace(t, where=self.maybe(t.where, self.rows(t.of))) for t in grain.tallies),
            derived=tuple(dataclasses.replace(d, value=self.node(d.value, scope)) for d in grain.derived),
            runs=dataclasses.replace(runs, holds=self.node(runs.holds, self.scope(runs.of))) if runs else None,
        )

    def rows(self, table: str) -> Scope:
        return scopes.build_row_scope(self.package, table)

    def instant(self, instant: Instant, scope: Scope) -> Instant:
        value, where = self.maybe(instant.value, scope), self.maybe(instant.where, self.rows(instant.of))
        return dataclasses.replace(instant, value=value, where=where)

    def metric(self, metric: Metric) -> Metric:
        """A metric with the factors of its measure or formula, and without what says nothing there."""
        if formula.is_formula(metric):
            grain = formula.find_grain(formula.index_metrics(self.package), metric)
            measure = self.formula(metric.measure, metric.unit)
            return dataclasses.replace(metric, grain=grain, measure=measure, sampled_only=False)
        scope = self.scope(metric.grain)
        measure, where = self.node(metric.measure, scope), self.maybe(metric.where, scope)
        sampled_only = metric.sampled_only and bool(metric.per)  # else it says nothing
        return dataclasses.replace(metric, measure=measure, where=where, sampled_only=sampled_only)

    def formula(self, node: Expression, unit: Unit, amount: str = "") -> Expression:
        """A formula with its conversions."""
        return write_conversions(node, unit.name, build_formula_scope(self.package, amount), self.library)

    def article(self, article: Article) -> Article:
        """An article with the conversions of its blocks."""
        parts = (
            dataclasses.replace(part, blocks=tuple(block.resolve(self) for block in part.blocks))
            for part in article.parts
        )
        return dataclasses.replace(article, parts=tuple(parts))

    def series(self, item: Series) -> Series:
        """A series with its factor to its unit."""
        samples = tuple(
            dataclasses.replace(sampled, where=self.maybe(sampled.where, self.rows(sampled.event)))
            for sampled in item.samples
        )
        ended = self.maybe(item.gone.where, self.rows(item.gone.event)) if item.gone else None
        gone = item.gone and dataclasses.replace(item.gone, where=ended)
        if item.terms:
            return self.computed(item)
        events = {event.name: event for event in self.package.events}
        value = next(field for field in events[item.samples[0].event].fields if field.name == VALUE)
        factor = self.units.factor(read_unit(value.unit.name, item.reading), item.unit.name)
        return dataclasses.replace(item, samples=samples, gone=gone, factor=str(factor))

    def computed(self, item: Series) -> Series:
        """A series of terms with the factors of its value, and that to its unit."""
        assert item.value is not None
        scope = scopes.build_term_scope(self.package, item)
        factor = self.units.factor(infer(item.value, scope, self.units).unit, item.unit.name)
        return dataclasses.replace(item, value=self.node(item.value, scope), factor=str(factor))

    def cut(self, item: Cut) -> Cut:
        return dataclasses.replace(item, where=self.maybe(item.where, self.rows(item.of)))

    def filter(self, item: Filter) -> Filter:
        conditions = tuple(
            dataclasses.replace(c, holds=self.node(c.holds, self.scope(c.grain, item.parameter)))
            for c in item.conditions
        )
        return dataclasses.replace(item, conditions=conditions)


_PROSE = ("doc", "message", "hint", "better", "width", "examples")
# what a run is refused for, and changes no number of one that is not
_BOUNDS = ("positive",)


@dataclass(frozen=True, slots=True)
class SerializationMemo:
    """What is plain data already: objects by their identity (held, so that no other takes it), and some members of
    tables by the name of the table and theirs; and the texts of plain data, by their identity."""

    objects: dict[int, tuple[object, Any]] = field(default_factory=dict)
    tables: dict[tuple[str, frozenset[str]], Any] = field(default_factory=dict)
    texts: dict[int, tuple[object, str]] = field(default_factory=dict)

    def text(self, plain: Any) -> str:
        """The JSON text of plain data, written once; of a list what it holds is."""
        if isinstance(plain, list):
            return f"[{','.join(map(self.text, plain))}]"
        if id(plain) not in self.texts:
            self.texts[id(plain)] = plain, _compact(plain)
        return self.texts[id(plain)][1]

    def table(self, name: str, members: set[str], made: Callable[[], Any]) -> Any:
        """Some members of a table, made plain once."""
        key = name, frozenset(members)
        if key not in self.tables:
            self.tables[key] = made()
        return self.tables[key]


def plain(value: Any, *, prose: bool = True, written: SerializationMemo | None = None) -> Any:
    """A dataclass as plain data: expressions as text, empty values left out; without `prose`, no `doc`, `name` of a
    metric, `hint` or `message` either.  What is in `written` already is not written again."""
    if _is_object(cast(Hashable, type(value))):
        if written is None:
            return _plain(value, prose, None)
        if id(value) not in written.objects:
            written.objects[id(value)] = (value, _plain(value, prose, written))
        return written.objects[id(value)][1]
    if isinstance(value, (list, tuple)):
        return [plain(item, prose=prose, written=written) for item in value]
    return value


@functools.cache
def _is_object(kind: Any) -> bool:
    """Whether values of a class are written member by member."""
    return dataclasses.is_dataclass(kind)


def _plain(value: Any, prose: bool, written: SerializationMemo | None) -> Any:
    if isinstance(value, Expression):
        return show(value)
    if isinstance(value, Block) and value.is_text:
        (name,) = _names(cast(Hashable, type(value)), prose)
        return getattr(value, name)
    if isinstance(value, Part):
        members = value.list_members()
    else:
        members = ((name, getattr(value, name)) for name in _names(cast(Hashable, type(value)), prose))
    said = {}
    for name, member in members:
        inner = plain(member, prose=prose, written=written)
        if is_non_default(name, inner):
            said[name] = inner
    return said


def is_non_default(name: str, value: Any) -> bool:
    """Whether a member says something; an empty default does."""
    return value is not None if name == "default" else value not in ("", None, [], {}, False)


@functools.cache
def _names(kind: Any, prose: bool) -> tuple[str, ...]:
    """The members of a class of objects, without prose those that do not count."""
    skipped = () if prose else (*_PROSE, *_BOUNDS, *(("name",) if issubclass(kind, Metric) else ()))
    return tuple(item.name for item in dataclasses.fields(kind) if item.name not in skipped)


def definitions(package: Package) -> dict[str, str]:
    """Definition hash of each metric: of all that it depends on (its grain's members, relations' SQL, events, fields,
    patterns that are tried before those of its events, sources, constants, the predicates of all filters that can
    apply), but no prose."""
    written = SerializationMemo()
    known = memo_of_hashes(ReprKey(dataclasses.replace(package, metrics=())))
    found = {}
    for metric in package.metrics:
        told = ReprKey(metric)
        if formula.is_formula(metric) or told not in known:
            known[told] = definition_hash(definition(package, metric, written), written)
        found[metric.id] = known[told]
    return found


@functools.lru_cache(maxsize=2)  # those who watch files ask for the same package with one metric changed
def memo_of_hashes(_others: ReprKey[Package]) -> dict[ReprKey[Metric], str]:
    """The definition hashes of metrics in a package that is otherwise the same."""
    return {}


def definition(package: Package, metric: Metric, written: SerializationMemo | None = None) -> dict[str, Any]:
    """All that a metric depends on, as plain data without prose: what its definition hash is the hash of."""
    needs = dependencies.collect_dependencies(package, [metric], package.filters)
    written = written or SerializationMemo()

    def plainly(items: Iterable[Any]) -> list[Any]:
        return [plain(item, prose=False, written=written) for item in items]

    constants = (item for source in package.sources for item in source.constants)
    body: dict[str, Any] = {
        "metric": plain(metric, prose=False, written=written),
        "grains": [
            written.table(name, members, functools.partial(_members, package, name, members, written))
            for name, members in sorted(needs.grains.items())
        ],
        "relations": plainly(item for item in _sorted(package.relations) if item.name in needs.relations),
        "events": [
            written.table(name, fields, functools.partial(_event, package, name, fields, written))
            for name, fields in sorted(needs.events.items())
        ],
        "sources": plainly(_records(item) for item in _sorted(_sources(package, needs))),
        "constants": plainly(item for item in constants if item.name in needs.constants),
        "filters": plainly(item for item in _sorted(package.filters) if item.name in needs.filters),
    }
    if earlier := _earlier(package, needs):
        body["earlier"] = earlier
    if formula.is_formula(metric):
        known = formula.index_metrics(package)
        body["metrics"] = {
            name: definition(package, known[name], written) for name in formula.list_inputs(metric.measure)
        }
    if needs.series:
        body["series"] = plainly(item for item in _sorted(package.series) if item.name in needs.series)
    return body


def definition_hash(body: Mapping[str, Any], written: SerializationMemo | None = None) -> str:
    """The hash of a definition, which is written in one way only: sha256 in hexadecimal digits."""
    written = written or SerializationMemo()
    parts = (f"{_compact(name)}:{written.text(part)}" for name, part in sorted(body.items()))
    return hashlib.sha256(f"{{{','.join(parts)}}}".encode()).hexdigest()


def _compact(plain: Any) -> str:
    """Plain data as JSON in which every choice is made."""
    return json.dumps(plain, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def _sources(package: Package, needs: dependencies.Dependencies) -> tuple[Source, ...]:
    """The sources of the events that are read; all, where it is read what any source's files hold, or no event is."""
    relations = [item for item in package.relations if item.name in needs.relations]
    if not needs.events or any(scopes.LOGS in item.uses for item in relations):
        return package.sources
    read = {event.source for event in package.events if event.name in needs.events}
    return tuple(item for item in package.sources if item.name in read)


def _earlier(package: Package, needs: dependencies.Dependencies) -> list[dict[str, Any]]:
    """The patterns of text lines that are tried before those of each event that is read: a line that matches one of
    them is none of its own.  Which of them is tried first makes no difference."""
    sources = (source.name for source in package.sources if SOURCE_KINDS[source.kind].has_patterns)
    tried: dict[str, set[str]] = {name: set() for name in sources}
    found = []
    for event in package.events:
        if (patterns := tried.get(event.source)) is None:
            continue
        if patterns and event.name in needs.events:
            found.append({"name": event.name, "patterns": sorted(patterns)})
        patterns |= {name.name for form in event.forms for name in form.names}
    return sorted(found, key=lambda item: str(item["name"]))


def _sorted(items: Iterable[Any]) -> list[Any]:
    return sorted(items, key=lambda item: str(item.name))


def _records(source: Source) -> Source:
    """What of a source shapes its records: whose they are, and how they are read; its constants are told apart."""
    return dataclasses.replace(source, constants=(), ignored=())


def _members(package: Package, name: str, members: set[str], written: SerializationMemo) -> Any:
    grain = next(item for item in package.grains if item.name == name)
    kept = dataclasses.replace(
        grain,
        columns=tuple(item for item in grain.columns if item.name in members),
        instants=tuple(item for item in grain.instants if item.name in members),
        tallies=tuple(item for item in grain.tallies if item.column.name in members),
        derived=tuple(item for item in grain.derived if item.column.name in members),
        checks=(),
        at="",  # what a number means does not depend on how runs may be cut
    )
    return plain(kept, prose=False, written=written)


def _event(package: Package, name: str, fields: set[str], written: SerializationMemo) -> Any:
    event = next(item for item in package.events if item.name == name)
    forms = tuple(
        dataclasses.replace(form, fields=tuple(item for item in form.fields if item.name in fields))
        for form in event.forms
    )
    return plain(dataclasses.replace(event, forms=forms), prose=False, written=written)


def content(checked: CheckedPackage) -> dict[str, Any]:
    """The normal form as plain data: sorted by name where order says nothing, the sources' hash first."""
    body = plain(checked.package)
    for item in body.get("metrics", ()):
        found = checked.measured[item["id"]]
        item["measured"] = {"type": found.type, "unit": found.unit, "factor": str(found.factor)}
        item["definition"] = checked.definitions[item["id"]]
    return {"format": FORMAT, "dhall": checked.sources, "package": body}


def dump(checked: CheckedPackage) -> str:
    """The normal form as YAML; its head names the hash of what follows, so that a hand that changes it is noticed."""
    import yaml

    class Dumper(yaml.SafeDumper):
        """Long texts as blocks."""

    def text(dumper: Any, value: str) -> Any:
        style = "|" if "\n" in value else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)

    Dumper.add_representer(str, text)
    whole = content(checked)
    body = yaml.dump({"package": whole["package"]}, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=110)
    return f"format: {FORMAT}\ndhall: {checked.sources}\ncontent: {_digest(body)}\n{body}"


def _digest(body: str) -> str:
    return hashlib.sha256(body.encode()).hexdigest()


def load(text: str, where: str) -> CheckedPackage:
    """The package of a normal form in YAML."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return restored(yaml.load(text, Loader=loader), where)


def restored(found: dict[str, Any], where: str) -> CheckedPackage:
    """The package of a normal form as plain data (which is used up); `where` names its file in messages."""
    body = found["package"]
    measured, hashes = {}, {}
    for item in body.get("metrics", ()):
        said = item.pop("measured")
        measured[item["id"]] = Measured(said["type"], said["unit"], _factor(said["factor"]))
        hashes[item["id"]] = item.pop("definition")
    return CheckedPackage(decode.package(body, where, lenient=True), measured, hashes, found["dhall"])


def _factor(text: str) -> Fraction:
    """A factor as it is written.  ValueError for anything else, and for what is beyond all factors."""
    if not _FACTOR.fullmatch(text):
        raise ValueError(f"`{text[:40]}` is no factor")
    return Fraction(text)


def header(text: str) -> str:
    """The sources' hash that a normal form names in its head; empty when it names none of this format, or what follows
    is not what was written."""
    *head, body = text.split("\n", 3)
    if len(head) != 3 or head[0] != f"format: {FORMAT}" or head[2] != f"content: {_digest(body)}":
        return ""
    return head[1].removeprefix("dhall: ").strip() if head[1].startswith("dhall: ") else ""


@functools.cache
def code_version() -> str:
    """Return a word for the code that evaluates, decodes and resolves packages: caches of other code are not read."""
    lang = Path(__file__).parent
    files = [*sorted(lang.rglob("*.py")), *sorted((lang.parent / "dhall").glob("*.py"))]
    contents = (path.read_bytes() for path in files if path.name != "positions.py")
    return hashlib.sha256(b"".join(contents)).hexdigest()[:12]
