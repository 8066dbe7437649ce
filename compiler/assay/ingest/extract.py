"""The query that turns the lines of a log file into events: every line recognised once, wanted fields extracted.

Stages, each a common table expression: `lines` (with their place), `keys` (time and names, where the line is whole
JSON), `named` (names as texts, bodies unwrapped), `recognised` (the form of an event), `found` (the values of the
form's paths), `valued` (one column a field, typed), and a state for each line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlglot import exp

from assay.spec.model import Event, Field, Form, Lookup, Source
from assay.sql import dialect
from assay.sql.dialect import column
from assay.sql.events import wide_column

#: states of a line
EVENT, OTHER, TEXT, BROKEN, TIMELESS, LACKING, RULED_OUT = range(7)
LONGEST = 16 * 1024 * 1024  # bytes of a line
_NO_DELIMITER = "\x01\x02\x03\x04"
Wanted = Mapping[str, frozenset[str]]


@dataclass(frozen=True, slots=True)
class Numbered:
    """A form of an event with its number in queries."""

    number: int
    event: Event
    form: Form
    fields: tuple[Field, ...]

    @property
    def paths(self) -> tuple[tuple[str, ...], ...]:
        """Every path that the form's wanted fields and exclusions read, each once."""
        found = [path for item in self.fields for path in item.paths] + [item.path for item in self.form.unless]
        return tuple(dict.fromkeys(found))


def numbered(events: Sequence[Event], wanted: Wanted) -> tuple[Numbered, ...]:
    """The forms of all events, numbered; only wanted events have fields."""
    forms = [(event, form) for event in events for form in event.forms]
    return tuple(
        Numbered(index, event, form, tuple(f for f in form.fields if f.name in wanted.get(event.name, ())))
        for index, (event, form) in enumerate(forms)
    )


def extraction(
    source: Source, events: Sequence[Event], wanted: Wanted, host: str, file: Path, first: int
) -> exp.Select:
    """All lines of a file as rows: host, seq (from `first` on), event, t_ns, state, a column for each wanted field."""
    forms = numbered(events, wanted)
    stages = [
        ("lines", _lines(file, first)),
        ("keys", _keys(source)),
        ("named", _named(source)),
        ("recognised", _recognised(source, forms)),
        ("found", _found(source, forms, wanted)),
        ("ruled", _ruled(forms)),
        ("valued", _valued(events, forms, wanted)),
    ]
    return dialect.staged(_final(events, forms, wanted, host), stages)


def _lines(file: Path, first: int) -> exp.Select:
    options = {
        "columns": exp.Struct(
            expressions=[exp.PropertyEQ(this=exp.to_identifier("line"), expression=exp.Literal.string("VARCHAR"))]
        ),
        "delim": exp.Literal.string(_NO_DELIMITER),
        "quote": exp.Literal.string(""),
        "escape": exp.Literal.string(""),
        "header": exp.false(),
        "auto_detect": exp.false(),
        "max_line_size": dialect.integer(LONGEST),
        "buffer_size": dialect.integer(2 * LONGEST),
        "strict_mode": exp.true(),
    }
    pairs = [exp.EQ(this=column(name), expression=value) for name, value in options.items()]
    scan = exp.ReadCSV(this=exp.Literal.string(str(file)), expressions=pairs)
    place = exp.Add(this=exp.Window(this=exp.RowNumber()), expression=dialect.integer(first))
    return exp.select(exp.alias_(place, "seq"), "line").from_(scan)


def _pointer(path: Sequence[str]) -> str:
    return "".join("/" + key.replace("~", "~0").replace("/", "~1") for key in path)


def _extracted(paths: Sequence[Sequence[str]]) -> exp.Expr:
    """The texts at several paths of a line, as a list."""
    pointers = exp.Array(expressions=[exp.Literal.string(_pointer(path)) for path in paths])
    return exp.Anonymous(this="json_extract_string", expressions=[column("line"), pointers])


def _tried(value: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this="TRY", expressions=[value])


def _when(condition: exp.Expr, value: exp.Expr, otherwise: exp.Expr | None = None) -> exp.Expr:
    return exp.Case(ifs=[exp.If(this=condition, true=value)], default=otherwise)


def _call(name: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=list(arguments))


def _text(value: str) -> exp.Expr:
    return exp.Literal.string(value)


def _nth(index: int, name: str = "found") -> exp.Expr:
    return _call("list_extract", column(name), dialect.integer(index))


def _key_paths(source: Source, body: Sequence[str]) -> list[tuple[str, ...]]:
    """Time, then what each lookup reads."""
    return [source.time, *dict.fromkeys(_lookup_path(item, body) for item in source.lookups)]


def _lookup_path(lookup: Lookup, body: Sequence[str]) -> tuple[str, ...]:
    return (*body, *lookup.path) if lookup.in_body else lookup.path


def _keys(source: Source) -> exp.Select:
    """Time and names of the lines that are whole JSON; null elsewhere."""
    values = _tried(_extracted(_key_paths(source, source.body)))
    objects = _call("starts_with", column("line"), _text("{"))
    return exp.select("seq", "line", exp.alias_(_when(objects, values), "found")).from_("lines")


def _named(source: Source) -> exp.Select:
    """Time and lookup texts as columns; `wrapped` where the body stands inside a member of itself."""
    query = exp.select("seq", "line", exp.alias_(_nth(1), "at"))
    query = query.select(exp.alias_(_missing(column("found")), "broken"), copy=False)
    wrapped = _wrapped(source)
    query = query.select(exp.alias_(wrapped, "wrapped"), copy=False)
    paths = _key_paths(source, source.body)
    for index, path in enumerate(paths[1:], start=2):
        query = query.select(exp.alias_(_name_text(source, path, index), f"name_{index}"), copy=False)
    return query.from_("keys", copy=False)


def _missing(value: exp.Expr) -> exp.Expr:
    return exp.Is(this=value, expression=exp.Null())


def _wrapped(source: Source) -> exp.Expr:
    """Whether a line's body is to be replaced by its member; cheap tests first."""
    if not source.unwrap:
        return exp.false()
    rule = source.unwrap[0]
    members = [(*source.body, key) for key in (rule.absent, *rule.present)]
    texts = _extracted(members)
    parts = [_call("contains", column("line"), _text(f'"{key}"')) for key in rule.present]
    there = [
        exp.Not(this=_missing(_call("list_extract", texts.copy(), dialect.integer(i))))
        for i in range(2, len(members) + 1)
    ]
    gone = _missing(_call("list_extract", texts.copy(), dialect.integer(1)))
    likely = exp.and_(exp.Not(this=_missing(column("found"))), *parts)
    return _when(likely, exp.and_(gone, *there), exp.false())


def _name_text(source: Source, path: tuple[str, ...], index: int) -> exp.Expr:
    """The text at a lookup's path: of the inner body where it is wrapped; a list of texts joined with dots."""
    value = _nth(index)
    if source.unwrap and path[: len(source.body)] == source.body:
        inner = (*source.body, source.unwrap[0].take, *path[len(source.body) :])
        value = _when(_wrapped(source), _call("list_extract", _extracted([inner]), dialect.integer(1)), value)
    items = _call("from_json", value.copy(), _text('["VARCHAR"]'))
    joined = _tried(_call("array_to_string", items, _text(".")))
    return _when(_call("starts_with", value.copy(), _text("[")), joined, value)


def _recognised(source: Source, forms: Sequence[Numbered]) -> exp.Select:
    """The number of the form that each line is, by the first lookup that knows its name."""
    paths = _key_paths(source, source.body)
    tables = []
    for lookup in source.lookups:
        name = column(f"name_{paths.index(_lookup_path(lookup, source.body)) + 1}")
        known = {
            item.name: found.number
            for found in reversed(forms)
            for item in found.form.names
            if item.generation == lookup.generation
        }
        if known:
            tables.append(_by_name(_without(name, lookup.drop), known))
    number = exp.Coalesce(this=tables[0], expressions=tables[1:]) if tables else exp.Null()
    at = column("at")
    whole = exp.and_(
        _call("suffix", at, _text("Z")), exp.GTE(this=_call("strlen", at.copy()), expression=dialect.integer(20))
    )
    instant = _tried(_call("epoch_ns", exp.cast(at.copy(), "TIMESTAMP_NS", dialect=dialect.DIALECT)))
    return exp.select(
        "seq", "line", "broken", "wrapped", exp.alias_(number, "form"), exp.alias_(_when(whole, instant), "t_ns")
    ).from_("named")


def _without(name: exp.Expr, prefix: str) -> exp.Expr:
    if not prefix:
        return name
    rest = _call("substr", name.copy(), dialect.integer(len(prefix) + 1))
    return _when(_call("starts_with", name.copy(), _text(prefix)), rest, name)


def _by_name(name: exp.Expr, known: Mapping[str, int]) -> exp.Expr:
    ifs = [exp.If(this=_text(text), true=dialect.integer(number)) for text, number in known.items()]
    return exp.Case(this=name, ifs=ifs)


def _found(source: Source, forms: Sequence[Numbered], wanted: Wanted) -> exp.Select:
    """The texts at the paths of each line's form, as a list."""
    inner = (*source.body, source.unwrap[0].take) if source.unwrap else source.body
    plain, unwrapped = (_by_form(forms, body) for body in (source.body, inner))
    values = _when(column("wrapped"), unwrapped, plain) if plain and unwrapped else exp.Null()
    return exp.select("seq", "line", "broken", "form", "t_ns", exp.alias_(values, "found")).from_("recognised")


def _by_form(forms: Sequence[Numbered], body: Sequence[str]) -> exp.Expr | None:
    groups: dict[tuple[tuple[str, ...], ...], list[int]] = {}
    for item in forms:
        if item.paths:
            groups.setdefault(item.paths, []).append(item.number)
    ifs = [
        exp.If(this=dialect.integer(number), true=_extracted([(*body, *path) for path in paths]))
        for paths, numbers in groups.items()
        for number in numbers
    ]
    return exp.Case(this=column("form"), ifs=ifs) if ifs else None


def _ruled(forms: Sequence[Numbered]) -> exp.Select:
    """Lines whose form is ruled out by what they hold are of no form."""
    ifs = []
    for item in forms:
        conditions = []
        for rule in item.form.unless:
            value = _nth(item.paths.index(rule.path) + 1)
            conditions.append(
                exp.Not(this=_missing(value)) if rule.present else exp.EQ(this=value, expression=_text(rule.equals))
            )
        if conditions:
            out = exp.Coalesce(this=exp.or_(*conditions), expressions=[exp.false()])
            ifs.append(exp.If(this=dialect.integer(item.number), true=out))
    ruled = exp.Case(this=column("form"), ifs=ifs, default=exp.false()) if ifs else exp.false()
    form = _when(exp.Not(this=exp.paren(ruled)), column("form"))
    return exp.select("seq", "line", "broken", exp.alias_(form, "form"), "t_ns", "found").from_("found")


def columns(events: Sequence[Event], wanted: Wanted) -> dict[str, str]:
    """The columns of wanted fields: name -> type."""
    return {
        wide_column(events, event.name, item.name): item.type
        for event in events
        for item in event.fields
        if item.name in wanted.get(event.name, ())
    }


def _valued(events: Sequence[Event], forms: Sequence[Numbered], wanted: Wanted) -> exp.Select:
    query = exp.select("seq", "line", "broken", "form", "t_ns")
    for name in columns(events, wanted):
        ifs = [
            exp.If(this=dialect.integer(item.number), true=value(item, field))
            for item in forms
            for field in item.fields
            if wide_column(events, item.event.name, field.name) == name
        ]
        query = query.select(exp.alias_(exp.Case(this=column("form"), ifs=ifs), name), copy=False)
    return query.from_("ruled", copy=False)


def value(item: Numbered, field: Field) -> exp.Expr:
    """A field of a form out of the texts found: first path with a value, changes, type, default."""
    texts = [_nth(item.paths.index(path) + 1) for path in field.paths]
    found: exp.Expr = exp.Null()
    if texts:
        found = texts[0] if len(texts) == 1 else exp.Coalesce(this=texts[0], expressions=texts[1:])
    for change in field.transforms:
        if change.kind == "take":
            found = _call("left", found, dialect.integer(change.number))
        elif change.kind == "before":
            found = _call("split_part", found, _text(change.text), dialect.integer(1))
    typed = _cast(found, field.type)
    for change in field.transforms:
        if change.kind == "plus":
            typed = exp.Add(this=typed, expression=dialect.integer(change.number))
    if field.default is None:
        return typed
    default = _text(field.default)
    default = default if field.type == "text" else dialect.cast(default, field.type)
    return default if not texts else exp.Coalesce(this=typed, expressions=[default])


def _cast(text: exp.Expr, kind: str) -> exp.Expr:
    """A text as a value of a type, null when it is none: integers have no point."""
    if kind == "text" or isinstance(text, exp.Null):
        return text
    typed = exp.TryCast(this=text, to=exp.DataType.build(dialect.TYPES[kind], dialect=dialect.DIALECT))
    if kind in ("integer", "unsigned"):
        return _when(exp.Not(this=_call("contains", text.copy(), _text("."))), typed)
    return typed


def _final(events: Sequence[Event], forms: Sequence[Numbered], wanted: Wanted, host: str) -> exp.Select:
    names = [exp.If(this=dialect.integer(item.number), true=_text(item.event.name)) for item in forms]
    return exp.select(
        exp.alias_(_text(host), "host"),
        "seq",
        exp.alias_(exp.Case(this=column("form"), ifs=names), "event"),
        "t_ns",
        exp.alias_(_state(events, forms), "state"),
        *columns(events, wanted),
    ).from_("valued")


def _state(events: Sequence[Event], forms: Sequence[Numbered]) -> exp.Expr:
    """What a line is: an event, another object, text, or broken (not JSON, no time, a field lacking)."""
    ifs = [
        exp.If(
            this=column("broken"),
            true=_when(
                _call("starts_with", column("line"), _text("{")), dialect.integer(BROKEN), dialect.integer(TEXT)
            ),
        ),
        exp.If(this=_missing(column("form")), true=dialect.integer(OTHER)),
        exp.If(this=_missing(column("t_ns")), true=dialect.integer(TIMELESS)),
    ]
    lacking = []
    for item in forms:
        required = [
            _missing(column(wide_column(events, item.event.name, field.name)))
            for field in item.fields
            if field.required and (field.default is None or field.paths)
        ]
        if required:
            lacking.append(exp.If(this=dialect.integer(item.number), true=exp.or_(*required)))
    if lacking:
        condition = exp.Case(this=column("form"), ifs=lacking, default=exp.false())
        ifs.append(exp.If(this=condition, true=dialect.integer(LACKING)))
    return exp.cast(exp.Case(ifs=ifs, default=dialect.integer(EVENT)), "TINYINT", dialect=dialect.DIALECT)
