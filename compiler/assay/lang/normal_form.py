"""Write and read normal forms (a checked package as sorted YAML); compute definition hashes.

A normal form is what an auditor reads and diffs.  Empty, false and missing values are left out.
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
from assay.lang.conversions import write_factors
from assay.lang.model.article import Block, Part
from assay.lang.model.expression import Expression, show
from assay.lang.model.package import Grain, Metric, Package, Source
from assay.lang.model.source_kinds import SOURCE_KINDS
from assay.lang.typing_rules import infer, infer_reduced
from assay.lang.units import get_library
from assay.util.repr_key import ReprKey

FORMAT = 2  # 1 sorted events and summaries by name
_ORDERED = ("events", "summaries")  # parts of a package whose order matters
_FACTOR = re.compile(r"-?[0-9]{1,400}(?:/(?!0+$)[0-9]{1,400})?")


@dataclass(frozen=True, slots=True)
class Measured:
    """The result of a metric's measure: type (integer, unsigned, real), unit, and factor to the metric's unit."""

    type: str
    unit: str
    factor: Fraction

    @property
    def integral(self) -> bool:
        """Return whether samples are exact integers."""
        return self.type != "real"


@dataclass(frozen=True, slots=True)
class CheckedPackage:
    """A package that passed all checks, with conversion factors written into its expressions.

    `measured` and `definitions` (hashes) are by id of the metric; `sources` is the hash of the Dhall sources.
    """

    package: Package
    measured: Mapping[str, Measured]
    definitions: Mapping[str, str]
    sources: str

    def metric(self, name: str) -> Metric:
        """Return the metric with an id.  Raises KeyError."""
        return {metric.id: metric for metric in self.package.metrics}[name]


def resolve(package: Package, sources: str) -> CheckedPackage:
    """Return the checked package with its conversion factors.  `check` must have found no problem."""
    units = get_library(tuple(unit.name for unit in package.units))
    package = _sort_parts(write_factors(package, units))
    grains = {grain.name: grain for grain in package.grains}
    measured = {}
    for metric in package.metrics:
        if formula.is_formula(metric):
            measured[metric.id] = Measured("real", metric.unit.name, Fraction(1))
            continue
        inferred = infer(metric.measure, scopes.build_grain_scope(package, grains[metric.grain]), units.units())
        inferred = infer_reduced(inferred, metric.reduction.kind if metric.reduction else "")
        is_count = metric.reduction is not None and metric.reduction.kind == "count"
        kind = "unsigned" if not is_count and _is_unsigned(metric.measure, grains[metric.grain]) else inferred.type
        measured[metric.id] = Measured(kind, inferred.unit, units.factor(inferred.unit, metric.unit.name))
    return CheckedPackage(package, measured, hash_definitions(package), sources)


def _sort_parts(package: Package) -> Package:
    """Return the package with its parts sorted by id or name, except those whose order matters.

    Patterns of text lines are tried in the order of events, and the first summary is the default.
    """
    parts = {item.name: getattr(package, item.name) for item in dataclasses.fields(package)}
    ordered: dict[str, Any] = {
        name: tuple(sorted(part, key=_sort_key))
        for name, part in parts.items()
        if isinstance(part, tuple) and name not in _ORDERED
    }
    return dataclasses.replace(package, **ordered)


def _sort_key(item: Any) -> str:
    return str(item.id if isinstance(item, Metric) else item.name)


def _is_unsigned(node: Expression, grain: Grain) -> bool:
    """Return whether a measure is a column that cannot be negative, possibly converted."""
    if node.op in ("whole", "as_unit"):
        return _is_unsigned(node.operands[0], grain)
    columns = (*grain.columns, *(t.column for t in grain.tallies), *(d.column for d in grain.derived))
    types = {column.name: column.type for column in columns}
    return node.op == "column" and types[node.name] in ("unsigned", "huge")


_PROSE = ("doc", "message", "hint", "better", "width", "examples")
# limits on inputs: a run beyond them is refused, and the numbers of other runs do not depend on them
_BOUNDS = ("positive",)


@dataclass(frozen=True, slots=True)
class SerializationMemo:
    """Plain data of objects that were converted before.

    `objects` are by identity (and kept alive, so that no new object gets the same one), `tables` by name and selected
    members, `texts` (JSON) by identity of the plain data.
    """

    objects: dict[int, tuple[object, Any]] = field(default_factory=dict)
    tables: dict[tuple[str, frozenset[str]], Any] = field(default_factory=dict)
    texts: dict[int, tuple[object, str]] = field(default_factory=dict)

    def text(self, plain: Any) -> str:
        """Return the JSON text of plain data; each part is serialized once."""
        if isinstance(plain, list):
            return f"[{','.join(map(self.text, plain))}]"
        if id(plain) not in self.texts:
            self.texts[id(plain)] = plain, _dump_compact(plain)
        return self.texts[id(plain)][1]

    def table(self, name: str, members: set[str], compute: Callable[[], Any]) -> Any:
        """Return the plain data of some members of a table; it is computed once."""
        key = name, frozenset(members)
        if key not in self.tables:
            self.tables[key] = compute()
        return self.tables[key]


def to_plain_data(value: Any, *, prose: bool = True, memo: SerializationMemo | None = None) -> Any:
    """Convert a dataclass to plain data: expressions as text, empty values left out.

    Without `prose`, also `doc`, the `name` of a metric, `hint` and `message` are left out.  `written` caches results.
    """
    if _is_object(cast(Hashable, type(value))):
        if memo is None:
            return _convert_object(value, prose, None)
        if id(value) not in memo.objects:
            memo.objects[id(value)] = (value, _convert_object(value, prose, memo))
        return memo.objects[id(value)][1]
    if isinstance(value, (list, tuple)):
        return [to_plain_data(item, prose=prose, memo=memo) for item in value]
    return value


@functools.cache
def _is_object(kind: Any) -> bool:
    """Return whether values of a class are converted field by field."""
    return dataclasses.is_dataclass(kind)


def _convert_object(value: Any, prose: bool, memo: SerializationMemo | None) -> Any:
    if isinstance(value, Expression):
        return show(value)
    if isinstance(value, Block) and value.is_text:
        (name,) = _field_names(cast(Hashable, type(value)), prose)
        return getattr(value, name)
    if isinstance(value, Part):
        members = value.list_members()
    else:  # mypy does not see that a class is hashable
        members = ((name, getattr(value, name)) for name in _field_names(cast(Hashable, type(value)), prose))
    items = {}
    for name, member in members:
        item = to_plain_data(member, prose=prose, memo=memo)
        if is_non_default(name, item):
            items[name] = item
    return items


def is_non_default(name: str, value: Any) -> bool:
    """Return whether a field has a value that is written.  A `default` is written even if it is empty."""
    return value is not None if name == "default" else value not in ("", None, [], {}, False)


@functools.cache
def _field_names(kind: Any, prose: bool) -> tuple[str, ...]:
    """Return the fields of a class that are written; without `prose`, those that affect numbers."""
    skipped = () if prose else (*_PROSE, *_BOUNDS, *(("name",) if issubclass(kind, Metric) else ()))
    return tuple(item.name for item in dataclasses.fields(kind) if item.name not in skipped)


def hash_definitions(package: Package) -> dict[str, str]:
    """Return the definition hash of each metric.

    It covers all that a metric depends on, but no prose: members of its grain, SQL of relations, events, fields,
    patterns that are tried before those of its events, sources, constants, and predicates of all filters that can
    apply.
    """
    memo = SerializationMemo()
    hashes = get_hash_memo(ReprKey(dataclasses.replace(package, metrics=())))
    hashes_by_id = {}
    for metric in package.metrics:
        key = ReprKey(metric)
        if formula.is_formula(metric) or key not in hashes:
            hashes[key] = hash_definition(collect_definition(package, metric, memo), memo)
        hashes_by_id[metric.id] = hashes[key]
    return hashes_by_id


@functools.lru_cache(maxsize=2)  # `watch` computes the same package with one metric changed
def get_hash_memo(_others: ReprKey[Package]) -> dict[ReprKey[Metric], str]:
    """Return the cached definition hashes of metrics in a package that is otherwise the same."""
    return {}


def collect_definition(package: Package, metric: Metric, memo: SerializationMemo | None = None) -> dict[str, Any]:
    """Return all that a metric depends on, as plain data without prose: the input of the definition hash."""
    needs = dependencies.collect_dependencies(package, [metric], package.filters)
    memo = memo or SerializationMemo()

    def convert_all(items: Iterable[Any]) -> list[Any]:
        return [to_plain_data(item, prose=False, memo=memo) for item in items]

    constants = (item for source in package.sources for item in source.constants)
    body: dict[str, Any] = {
        "metric": to_plain_data(metric, prose=False, memo=memo),
        "grains": [
            memo.table(name, members, functools.partial(_convert_members, package, name, members, memo))
            for name, members in sorted(needs.grains.items())
        ],
        "relations": convert_all(item for item in _sort_by_name(package.relations) if item.name in needs.relations),
        "events": [
            memo.table(name, fields, functools.partial(_convert_event, package, name, fields, memo))
            for name, fields in sorted(needs.events.items())
        ],
        "sources": convert_all(_without_run_facts(item) for item in _sort_by_name(_required_sources(package, needs))),
        "constants": convert_all(item for item in constants if item.name in needs.constants),
        "filters": convert_all(item for item in _sort_by_name(package.filters) if item.name in needs.filters),
    }
    if earlier_patterns := _list_earlier_patterns(package, needs):
        body["earlier"] = earlier_patterns
    if formula.is_formula(metric):
        metrics = formula.index_metrics(package)
        body["metrics"] = {
            name: collect_definition(package, metrics[name], memo) for name in formula.list_inputs(metric.measure)
        }
    if needs.series:
        body["series"] = convert_all(item for item in _sort_by_name(package.series) if item.name in needs.series)
    return body


def hash_definition(body: Mapping[str, Any], memo: SerializationMemo | None = None) -> str:
    """Return the SHA-256 (hexadecimal) of a definition, serialized canonically."""
    memo = memo or SerializationMemo()
    parts = (f"{_dump_compact(name)}:{memo.text(part)}" for name, part in sorted(body.items()))
    return hashlib.sha256(f"{{{','.join(parts)}}}".encode()).hexdigest()


def _dump_compact(plain: Any) -> str:
    """Return plain data as canonical JSON."""
    return json.dumps(plain, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def _required_sources(package: Package, needs: dependencies.Dependencies) -> tuple[Source, ...]:
    """Return the sources of the events that are read.

    All sources, where a relation reads the logs or no event is read.
    """
    relations = [item for item in package.relations if item.name in needs.relations]
    if not needs.events or any(scopes.LOGS in item.uses for item in relations):
        return package.sources
    read = {event.source for event in package.events if event.name in needs.events}
    return tuple(item for item in package.sources if item.name in read)


def _list_earlier_patterns(package: Package, needs: dependencies.Dependencies) -> list[dict[str, Any]]:
    """Return the patterns of text lines that are tried before those of each event that is read.

    A line that matches an earlier pattern is not a record of the event.  The order of these patterns does not matter.
    """
    patterns_by_source: dict[str, set[str]] = {
        source.name: set() for source in package.sources if SOURCE_KINDS[source.kind].has_patterns
    }
    entries = []
    for event in package.events:
        if (patterns := patterns_by_source.get(event.source)) is None:
            continue
        if patterns and event.name in needs.events:
            entries.append({"name": event.name, "patterns": sorted(patterns)})
        patterns |= {name.name for form in event.forms for name in form.names}
    return sorted(entries, key=lambda item: str(item["name"]))


def _sort_by_name(items: Iterable[Any]) -> list[Any]:
    return sorted(items, key=lambda item: str(item.name))


def _without_run_facts(source: Source) -> Source:
    """Return a source without its constants and ignored names, which do not shape its records."""
    return dataclasses.replace(source, constants=(), ignored=())


def _convert_members(package: Package, name: str, members: set[str], memo: SerializationMemo) -> Any:
    grain = next(item for item in package.grains if item.name == name)
    selected = dataclasses.replace(
        grain,
        columns=tuple(item for item in grain.columns if item.name in members),
        instants=tuple(item for item in grain.instants if item.name in members),
        tallies=tuple(item for item in grain.tallies if item.column.name in members),
        derived=tuple(item for item in grain.derived if item.column.name in members),
        checks=(),
        at="",  # the meaning of a number does not depend on how runs may be split
    )
    return to_plain_data(selected, prose=False, memo=memo)


def _convert_event(package: Package, name: str, fields: set[str], memo: SerializationMemo) -> Any:
    event = next(item for item in package.events if item.name == name)
    forms = tuple(
        dataclasses.replace(form, fields=tuple(item for item in form.fields if item.name in fields))
        for form in event.forms
    )
    return to_plain_data(dataclasses.replace(event, forms=forms), prose=False, memo=memo)


def build_content(checked: CheckedPackage) -> dict[str, Any]:
    """Return the normal form as plain data, the hash of the sources first, parts sorted where order does not matter."""
    body = to_plain_data(checked.package)
    for item in body.get("metrics", ()):
        measured = checked.measured[item["id"]]
        item["measured"] = {"type": measured.type, "unit": measured.unit, "factor": str(measured.factor)}
        item["definition"] = checked.definitions[item["id"]]
    return {"format": FORMAT, "dhall": checked.sources, "package": body}


def dump(checked: CheckedPackage) -> str:
    """Return the normal form as YAML.  Its header has the hash of the body, so that a manual edit is detected."""
    import yaml

    class Dumper(yaml.SafeDumper):
        """Writes texts of several lines as blocks."""

    def text(dumper: Any, value: str) -> Any:
        style = "|" if "\n" in value else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)

    Dumper.add_representer(str, text)
    data = build_content(checked)
    body = yaml.dump({"package": data["package"]}, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=110)
    return f"format: {FORMAT}\ndhall: {checked.sources}\ncontent: {_digest(body)}\n{body}"


def _digest(body: str) -> str:
    return hashlib.sha256(body.encode()).hexdigest()


def load(text: str, where: str) -> CheckedPackage:
    """Load the package of a normal form in YAML."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return restore_package(yaml.load(text, Loader=loader), where)


def restore_package(data: dict[str, Any], where: str) -> CheckedPackage:
    """Build the package of a normal form from plain data (which is changed); `where` names its file in messages."""
    body = data["package"]
    measured, hashes = {}, {}
    for item in body.get("metrics", ()):
        entry = item.pop("measured")
        measured[item["id"]] = Measured(entry["type"], entry["unit"], _parse_factor(entry["factor"]))
        hashes[item["id"]] = item.pop("definition")
    return CheckedPackage(decode.package(body, where, lenient=True), measured, hashes, data["dhall"])


def _parse_factor(text: str) -> Fraction:
    """Parse a factor.  Raises ValueError for other texts, and for more digits than any factor has."""
    if not _FACTOR.fullmatch(text):
        raise ValueError(f"`{text[:40]}` is not a factor")
    return Fraction(text)


def read_header(text: str) -> str:
    """Return the hash of the sources in the header of a normal form.

    Empty when the header is missing or of another format, or when the body does not match its hash.
    """
    *head, body = text.split("\n", 3)
    if len(head) != 3 or head[0] != f"format: {FORMAT}" or head[2] != f"content: {_digest(body)}":
        return ""
    return head[1].removeprefix("dhall: ").strip() if head[1].startswith("dhall: ") else ""


@functools.cache
def code_version() -> str:
    """Return a hash of the code that evaluates, decodes and resolves packages, for keys of caches."""
    lang = Path(__file__).parent
    files = [*sorted(lang.rglob("*.py")), *sorted((lang.parent / "dhall").glob("*.py"))]
    contents = (path.read_bytes() for path in files if path.name != "positions.py")
    return hashlib.sha256(b"".join(contents)).hexdigest()[:12]
