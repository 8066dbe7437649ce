"""The queries that turn the lines of log files into events.

First every line is recognised: `rows` has its place, the number of its event's form, its instant, a state, and its text
where fields are to be taken from it (or it is broken).  Then each event's table is made of the rows of its forms: one
list of texts a row, out of which come the typed fields.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlglot import exp

from assay.spec.model import Event, Field, Form, Lookup, Source
from assay.sql import dialect
from assay.sql.dialect import column

#: states of a line
EVENT, OTHER, TEXT, BROKEN, TIMELESS, LACKING = range(6)
LONGEST = 16 * 1024 * 1024  # bytes of a line
ROWS = "rows"
_NO_DELIMITER = "\x01\x02\x03\x04"
Wanted = Mapping[str, frozenset[str]]


@dataclass(frozen=True, slots=True)
class Numbered:
    """A form of an event with its number in queries; `needed` tells that its event is wanted."""

    number: int
    event: Event
    form: Form
    fields: tuple[Field, ...]

    needed: bool

    @property
    def paths(self) -> tuple[tuple[str, ...], ...]:
        """Every path that the form's wanted fields read, each once."""
        return tuple(dict.fromkeys(path for item in self.fields for path in item.paths))


def numbered(events: Sequence[Event], wanted: Wanted) -> tuple[Numbered, ...]:
    """The forms of all events, numbered so that one comparison tells what a form needs.

    First those that have rules (`unless`), then those of wanted events, then the rest; only wanted ones have fields.
    """
    forms = [(event, form) for event in events for form in event.forms]
    forms.sort(key=lambda item: (not item[1].unless, item[0].name not in wanted))
    return tuple(
        Numbered(
            index,
            event,
            form,
            tuple(f for f in form.fields if f.name in wanted.get(event.name, ())),
            event.name in wanted,
        )
        for index, (event, form) in enumerate(forms)
    )


def _below(count: int) -> exp.Expr:
    """Whether the form is one of the first so many."""
    return exp.LT(this=column("form"), expression=dialect.integer(count))


def recognition(source: Source, forms: Sequence[Numbered], host: str, file: Path, first: int) -> exp.Select:
    """All lines of a file as rows: host, seq (after `first`), form, t_ns, state, wrapped, line."""
    stages = [
        ("lines", _lines(file, first)),
        ("keys", _keys(source)),
        ("named", _named(source)),
        ("recognised", _recognised(source, forms)),
        ("ruled", _ruled(source, forms)),
    ]
    kept = max((item.number + 1 for item in forms if item.needed), default=0)
    torn = exp.and_(column("broken"), _call("starts_with", column("line"), _text("{")))
    line = exp.Case(ifs=[exp.If(this=_below(kept), true=column("line")), exp.If(this=torn, true=column("line"))])
    there = exp.and_(exp.Not(this=_missing(column("form"))), exp.Not(this=_missing(column("t_ns"))))
    ifs = [
        exp.If(this=there, true=dialect.integer(EVENT)),
        exp.If(this=torn.copy(), true=dialect.integer(BROKEN)),
        exp.If(this=column("broken"), true=dialect.integer(TEXT)),
        exp.If(this=_missing(column("form")), true=dialect.integer(OTHER)),
    ]
    state = exp.cast(exp.Case(ifs=ifs, default=dialect.integer(TIMELESS)), "TINYINT", dialect=dialect.DIALECT)
    query = exp.select(
        exp.alias_(_text(host), "host"),
        "seq",
        "form",
        "t_ns",
        "wrapped",
        exp.alias_(state, "state"),
        exp.alias_(line, "line"),
    ).from_("ruled")
    return dialect.staged(query, stages)


def event_rows(source: Source, event: Event, forms: Sequence[Numbered]) -> exp.Select:
    """The table of an event out of `rows`: host, seq, t_ns, whole (no required field lacks), the wanted fields."""
    own = [item for item in forms if item.event is event]
    paths = tuple(dict.fromkeys(path for item in own for path in item.paths))
    of = exp.and_(
        exp.EQ(this=column("state"), expression=dialect.integer(EVENT)),
        exp.In(this=column("form"), expressions=[dialect.integer(item.number) for item in own]),
    )
    found = exp.select("host", "seq", "t_ns", "form").from_(ROWS).where(of, copy=False)
    texts = _texts(source, paths) if paths else exp.Null()
    found = found.select(exp.alias_(texts, "found"), copy=False)
    valued = exp.select("host", "seq", "t_ns").from_("found", copy=False)
    names = [item.name for item in own[0].fields]
    for name in names:
        valued = valued.select(exp.alias_(_valued(name, own, paths), name), copy=False)
    required = [item for item in own[0].fields if item.required and any(_may_lack(name, item.name) for name in own)]
    whole = [exp.Not(this=_missing(column(item.name))) for item in required]
    query = exp.select("host", "seq", "t_ns", exp.alias_(exp.and_(*whole) if whole else exp.true(), "whole"), *names)
    return dialect.staged(query.from_("valued", copy=False), (("found", found), ("valued", valued)))


def _may_lack(item: Numbered, name: str) -> bool:
    return any(field.name == name and field.required and field.default is None for field in item.fields)


def _texts(source: Source, paths: Sequence[tuple[str, ...]]) -> exp.Expr:
    """The texts at paths of the body, as a list; of the inner body where it is wrapped."""
    plain = _extracted([(*source.body, *path) for path in paths])
    if not source.unwrap:
        return plain
    inner = (*source.body, source.unwrap[0].take)
    return _when(column("wrapped"), _extracted([(*inner, *path) for path in paths]), plain)


def _valued(name: str, own: Sequence[Numbered], paths: Sequence[tuple[str, ...]]) -> exp.Expr:
    """A field by the form of the row; one expression where all forms agree."""
    values = {item.number: value(next(f for f in item.fields if f.name == name), paths) for item in own}
    different = {found.sql(dialect=dialect.DIALECT) for found in values.values()}
    if len(different) == 1:
        return next(iter(values.values()))
    ifs = [exp.If(this=dialect.integer(number), true=found) for number, found in values.items()]
    return exp.Case(this=column("form"), ifs=ifs)


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


def _missing(value: exp.Expr) -> exp.Expr:
    return exp.Is(this=value, expression=exp.Null())


def _named(source: Source) -> exp.Select:
    """Time and lookup texts as columns; `wrapped` where the body stands inside a member of itself."""
    query = exp.select("seq", "line", exp.alias_(_nth(1), "at"), exp.alias_(_missing(column("found")), "broken"))
    query = query.select(exp.alias_(_wrapped(source), "wrapped"), copy=False)
    for index, _ in enumerate(_key_paths(source, source.body)[1:], start=2):
        query = query.select(exp.alias_(_joined(_nth(index)), f"name_{index}"), copy=False)
    return query.from_("keys", copy=False)


def _wrapped(source: Source) -> exp.Expr:
    """Whether a line's body is to be replaced by its member; cheap tests first."""
    if not source.unwrap:
        return exp.false()
    rule = source.unwrap[0]
    paths = _key_paths(source, source.body)
    absent = (*source.body, rule.absent)
    members = [(*source.body, key) for key in (rule.absent, *rule.present)]
    texts = _extracted(members)
    there = [
        exp.Not(this=_missing(_call("list_extract", texts.copy(), dialect.integer(i))))
        for i in range(2, len(members) + 1)
    ]
    gone = _missing(_call("list_extract", texts.copy(), dialect.integer(1)))
    likely = [_call("contains", column("line"), _text(f'"{key}"')) for key in rule.present]
    if absent in paths:
        likely.insert(0, _missing(_nth(paths.index(absent) + 1)))
    return _when(exp.and_(exp.Not(this=_missing(column("found"))), *likely), exp.and_(gone, *there), exp.false())


def _joined(value: exp.Expr) -> exp.Expr:
    """A list of texts joined with dots; any other text as it is."""
    items = _call("from_json", value.copy(), _text('["VARCHAR"]'))
    joined = _tried(_call("array_to_string", items, _text(".")))
    return _when(_call("starts_with", value.copy(), _text("[")), joined, value)


def _recognised(source: Source, forms: Sequence[Numbered]) -> exp.Select:
    """The number of the form that each line is, by the first lookup that knows its name; its instant.

    Lookups of the record's first key, which nearly all lines are recognised by, are one; the others follow.
    """
    paths = _key_paths(source, source.body)
    main = _lookup_path(source.lookups[0], source.body)
    direct: dict[str, int] = {}
    rest: list[exp.Expr] = []
    for lookup in source.lookups:
        known = _names_of(forms, lookup.generation)
        path = _lookup_path(lookup, source.body)
        if path == main and not lookup.drop and not rest:
            direct = {**known, **direct}
        elif known:
            rest.append(_by_name(_without(_name_text(source, lookup, paths), lookup.drop), known))
    tables = [_by_name(column(f"name_{paths.index(main) + 1}"), direct), *rest]
    number = exp.Coalesce(this=tables[0], expressions=tables[1:])
    return exp.select(
        "seq", "line", "broken", "wrapped", exp.alias_(number, "form"), exp.alias_(_instant(), "t_ns")
    ).from_("named", copy=False)


def _names_of(forms: Sequence[Numbered], generation: str) -> dict[str, int]:
    return {
        name.name: item.number for item in reversed(forms) for name in item.form.names if name.generation == generation
    }


def _name_text(source: Source, lookup: Lookup, paths: Sequence[tuple[str, ...]]) -> exp.Expr:
    """What a lookup reads: of the inner body where it is wrapped."""
    outer = column(f"name_{paths.index(_lookup_path(lookup, source.body)) + 1}")
    if not (lookup.in_body and source.unwrap):
        return outer
    inner = (*source.body, source.unwrap[0].take, *lookup.path)
    return _when(column("wrapped"), _call("list_extract", _extracted([inner]), dialect.integer(1)), outer)


def _instant() -> exp.Expr:
    """The instant in ns, of a UTC time with at least seconds; null when there is none."""
    at = column("at")
    utc = exp.and_(
        _call("suffix", at, _text("Z")), exp.GTE(this=_call("strlen", at.copy()), expression=dialect.integer(20))
    )
    return _when(utc, _tried(_call("epoch_ns", exp.cast(at.copy(), "TIMESTAMP_NS", dialect=dialect.DIALECT))))


def _small(number: int) -> exp.Expr:
    return exp.cast(dialect.integer(number), "SMALLINT", dialect=dialect.DIALECT)


def _without(name: exp.Expr, prefix: str) -> exp.Expr:
    if not prefix:
        return name
    rest = _call("substr", name.copy(), dialect.integer(len(prefix) + 1))
    return _when(_call("starts_with", name.copy(), _text(prefix)), rest, name)


def _by_name(name: exp.Expr, known: Mapping[str, int]) -> exp.Expr:
    """The form of a name, null when none has it."""
    keys = exp.Array(expressions=[_text(text) for text in sorted(known)])
    numbers = exp.Array(expressions=[_small(known[text]) for text in sorted(known)])
    return _call("map_extract_value", exp.Map(keys=keys, values=numbers), name)


def _ruled(source: Source, forms: Sequence[Numbered]) -> exp.Select:
    """Lines whose form is ruled out by what they hold are of no form."""
    ifs = [
        exp.If(this=dialect.integer(item.number), true=_out(source, item.form)) for item in forms if item.form.unless
    ]
    form: exp.Expr = column("form")
    if ifs:
        ruled = exp.Case(this=column("form"), ifs=ifs, default=exp.false())
        inner = _when(exp.Not(this=exp.paren(ruled)), column("form"))
        form = _when(_below(len(ifs)), inner, column("form"))
    return exp.select("seq", "line", "broken", "wrapped", exp.alias_(form, "form"), "t_ns").from_("recognised")


def _out(source: Source, form: Form) -> exp.Expr:
    """Whether a line's body holds what rules the form out."""
    texts = _texts(source, [rule.path for rule in form.unless])
    conditions = []
    for index, rule in enumerate(form.unless, start=1):
        said = _call("list_extract", texts.copy(), dialect.integer(index))
        holds = exp.Not(this=_missing(said)) if rule.present else exp.EQ(this=said, expression=_text(rule.equals))
        conditions.append(holds)
    return exp.Coalesce(this=exp.or_(*conditions), expressions=[exp.false()])


def value(field: Field, paths: Sequence[tuple[str, ...]]) -> exp.Expr:
    """A field out of the texts found at `paths`: first path with a value, changes, type, default."""
    texts = [_nth(paths.index(path) + 1) for path in field.paths]
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
