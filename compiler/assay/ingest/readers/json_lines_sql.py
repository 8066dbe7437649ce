"""The query that tells what every line of log files is.

Out of lines, in their order, come rows of `file` (its index), `padded` (NUL bytes are ahead of the line), `form` (a
number, negative for lines that are no event), `t_ns`, `wrapped` (the rule by which the body is a member of itself, 0
for none), `line`, the text of those lines that fields are taken from, `name` (of a line whose name no event has, empty
where it has none), and what stands at the shared paths.

Every line is parsed once, by one call that takes the time and the names out of it.  The swift query takes for granted
that a line within braces is JSON, and fails where it is not; the careful one does not, and takes a tenth longer.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from assay.ingest import builder, timestamps
from assay.ingest.event_forms import OTHER, TEXT, TIMELESS, TORN, bodies, ranges, wanted_events
from assay.ingest.readers.lines import bare, scan
from assay.ingest.recognition import Recognition
from assay.ingest.unknown_records import LONGEST
from assay.lang.model.package import Form, Lookup, Source, Unwrap
from assay.sql import dialect
from assay.sql.dialect import column

Path_ = tuple[str, ...]

BLANKS = " \t\r"  # that may stand ahead of an object
#: how an object begins that has blanks ahead: lines of other texts that are indented begin with a brace, too
INDENTED = r'^[ \t\r]+\{[ \t\r]*"'
LONGEST_NAME = 10_000  # bytes of a list of segments that is taken apart: what nests deeper than names do takes memory


def parameters(how: Recognition) -> dict[str, object]:
    """The parameters of the query: the tables."""
    found: dict[str, object] = {}
    for index, table in enumerate(how.tables, start=1):
        found |= {f"names_{index}": list(table.forms), f"forms_{index}": list(table.forms.values())}
    return found


def texts_of_body(source: Source, paths: Sequence[Path_]) -> exp.Expr:
    """What stands at paths of the body of a line, wrapped or not, as a list of texts."""
    values = {
        number: builder.texts_at(column("line"), [(*body, *path) for path in paths])
        for number, body in bodies(source).items()
    }
    plain = values.pop(0)
    return builder.cases(column("wrapped"), values, plain) if values else plain


def recognition(how: Recognition, careful: bool, lines: exp.Select | None = None) -> exp.Select:
    """All lines of the files that are the parameters of `lines.scan`, recognised; or the `lines` of a query like it."""
    stages = [
        ("scanned", lines or scan()),
        ("lines", bare("scanned")),
        ("documents", _documents(how, careful)),
        ("named", _named(how)),
        ("unwrapped", _unwrapped(how)),
        ("recognised", _recognised(how)),
        ("ruled", _ruled(how)),
        ("timed", _timed(how, careful)),
    ]
    form, line = builder.alias(_settled(), "form"), builder.alias(select_text(how), "line")
    unknown = builder.when(
        exp.and_(exp.Not(this=column("broken")), builder.is_not_null(column("t_ns"))), column("name")
    )
    name = builder.alias(unknown, "name")
    query = dialect.select("file", "padded", form, "t_ns", "wrapped", line, name, *shared_columns(how))
    return dialect.staged(builder.from_source(query, "timed"), stages)


def _read(how: Recognition, path: Path_) -> exp.Expr:
    """What stands at one of the paths that are read of every line."""
    return column(f"text_{how.paths.index(path) + 1}")


def shared_columns(how: Recognition) -> list[str]:
    """The names of the columns of shared paths."""
    return [f"shared_{index}" for index, _ in enumerate(how.shared, start=1)]


def select_text(how: Recognition) -> exp.Expr:
    """The text of a line that fields are taken from."""
    numbers = [item.number for own in wanted_events(how.forms) if how.reads_line(own) for item in own]
    if not numbers:
        return builder.cast(exp.Null(), "TEXT")
    reads = exp.or_(*(builder.within(column("form"), low, high) for low, high in ranges(numbers)))
    return builder.when(exp.and_(reads, builder.is_not_null(column("t_ns"))), column("line"))


def _documents(how: Recognition, careful: bool) -> exp.Select:
    """The texts at the paths of every line that is JSON; null where it is not."""
    line = column("line")
    texts = builder.texts_at(line, how.paths)
    whole = exp.and_(builder.starts(line, "{"), builder.call("ends_with", line, builder.text("}")))
    ifs = [] if careful else [exp.If(this=whole, true=texts)]
    ifs.append(exp.If(this=builder.starts(line, "{"), true=builder.tried(texts.copy())))
    bare = builder.call("ltrim", line.copy(), builder.text(BLANKS))
    ifs.append(exp.If(this=_begins_blank(), true=builder.when(builder.starts(bare, "{"), builder.tried(texts.copy()))))
    query = dialect.select("file", "padded", "line", builder.alias(exp.Case(ifs=ifs), "texts"))
    return builder.from_source(query, "lines")


def _begins_blank() -> exp.Expr:
    """Whether a line is empty, or begins with a blank or a control character."""
    return exp.LT(this=column("line"), expression=builder.text("!"))


def _named(how: Recognition) -> exp.Select:
    """Each text as a column; `broken` where there are none."""
    texts = [
        builder.alias(builder.member(column("texts"), index), f"text_{index}")
        for index, _ in enumerate(how.paths, start=1)
    ]
    broken = builder.alias(builder.is_null(column("texts")), "broken")
    return builder.from_source(dialect.select("file", "padded", "line", broken, *texts), "documents")


def _unwrapped(how: Recognition) -> exp.Select:
    """The rule by which the body is wrapped, the first that holds."""
    ifs = [
        exp.If(this=_likely(how, rule), true=builder.when(_wrapped(how.source, rule), dialect.integer(number)))
        for number, rule in enumerate(how.source.unwrap, start=1)
    ]
    number: exp.Expr = dialect.integer(0)
    if ifs:
        number = exp.Coalesce(this=exp.Case(ifs=ifs), expressions=[number])
    wrapped = builder.cast(number, "TINYINT")
    texts = [f"text_{index}" for index, _ in enumerate(how.paths, start=1)]
    query = dialect.select("file", "padded", "line", "broken", builder.alias(wrapped, "wrapped"), *texts)
    return builder.from_source(query, "named")


def _likely(how: Recognition, rule: Unwrap) -> exp.Expr:
    """Cheap signs that a line's body is wrapped: what is to be absent has no text, the keys to be present occur, or
    something is written with an escape, as they may be."""
    absent = builder.is_null(_read(how, (*how.source.body, rule.absent)))
    signs = [
        exp.or_(*(builder.call("contains", column("line"), builder.text(sign)) for sign in (key, "\\u")))
        for key in rule.present
        if key.isalnum()
    ]
    return exp.and_(exp.Not(this=column("broken")), absent, *signs)


def _wrapped(source: Source, rule: Unwrap) -> exp.Expr:
    """Whether a line's body is wrapped."""
    absent = exp.Not(this=builder.exists(column("line"), (*source.body, rule.absent)))
    return exp.and_(absent, *(builder.exists(column("line"), (*source.body, key)) for key in rule.present))


def _recognised(how: Recognition) -> exp.Select:
    """The form of each line by the first table that knows its name."""
    found = [value for index, table in enumerate(how.tables, 1) for value in _numbers(_name(how, table.lookup), index)]
    form = builder.first_of([*found, builder.small(OTHER)])
    instant = builder.alias(builder.first_of([_read(how, path) for path in how.source.times]), "instant")
    shared = [
        builder.alias(_inside(how, path), name) for path, name in zip(how.shared, shared_columns(how), strict=True)
    ]
    names = [
        builder.alias(_unknown(_name(how, table.lookup), table.lookup), f"name_{index}")
        for index, table in enumerate(how.tables, 1)
    ]
    told = ("file", "padded", "line", "broken", "wrapped")
    return builder.from_source(
        dialect.select(*told, builder.alias(form, "form"), instant, *names, *shared), "unwrapped"
    )


def _unknown(name: exp.Expr, lookup: Lookup) -> exp.Expr:
    """What a lookup reads, as the name of a record that is of no event: without the prefix, joined, not too long."""
    joined = builder.when(_is_list(name), _joined(name))
    whole = builder.first_of([joined, name.copy()])
    if lookup.drop:
        rest = builder.call("substr", whole.copy(), dialect.integer(len(lookup.drop) + 1))
        whole = builder.when(builder.starts(whole, lookup.drop), rest, whole.copy())
    return builder.call("left", whole, dialect.integer(LONGEST))


def _name(how: Recognition, lookup: Lookup) -> exp.Expr:
    """What a lookup reads."""
    return _inside(how, lookup.path) if lookup.in_body else _read(how, lookup.path)


def _inside(how: Recognition, path: Path_) -> exp.Expr:
    """What stands at a path of the body, of the inner one where it is wrapped."""
    outer = _read(how, (*how.source.body, *path))
    inner = {
        number: builder.member(builder.texts_at(column("line"), [(*body, *path)]), 1)
        for number, body in bodies(how.source).items()
        if number
    }
    return builder.cases(column("wrapped"), inner, outer) if inner else outer


def _numbers(name: exp.Expr, index: int) -> list[exp.Expr]:
    """The form of a name by a table; of a name that is a list of segments, which are joined with dots."""
    return [_number(name, index), builder.when(_is_list(name), _number(_joined(name), index))]


def _is_list(name: exp.Expr) -> exp.Expr:
    """Whether a name looks like a list of segments that is taken apart."""
    short = exp.LT(this=builder.call("strlen", name.copy()), expression=dialect.integer(LONGEST_NAME))
    return exp.and_(builder.starts(name.copy(), "["), short)


def _joined(name: exp.Expr) -> exp.Expr:
    """The segments of a name that is a list of them, with dots between; null of one that is no list."""
    segments = builder.call("from_json", name.copy(), builder.text('["VARCHAR"]'))
    return builder.tried(builder.call("array_to_string", segments, builder.text(".")))


def _number(name: exp.Expr, index: int) -> exp.Expr:
    place = builder.call("list_position", builder.given_list(f"names_{index}", "TEXT"), name)
    return dialect.member(builder.given_list(f"forms_{index}", "SMALLINT"), place)


def _ruled(how: Recognition) -> exp.Select:
    """Lines whose form is ruled out by what they hold are of no form."""
    ruled = {item.number: _out(how.source, item.form) for item in how.forms if item.form.unless}
    form: exp.Expr = column("form")
    if ruled:
        ifs = [
            exp.If(
                this=dialect.integer(number),
                true=builder.when(out, builder.small(OTHER), builder.small(number)),
            )
            for number, out in ruled.items()
        ]
        form = exp.Case(this=column("form"), ifs=ifs, default=column("form"))
    names: list[exp.Expr] = [column(f"name_{index}") for index, _ in enumerate(how.tables, start=1)]
    other = exp.EQ(this=column("form"), expression=dialect.integer(OTHER))
    name = builder.alias(builder.when(other, builder.first_of([*names, builder.text("")])), "name")
    told = ("file", "padded", "line", "broken", "wrapped", "instant")
    return builder.from_source(
        dialect.select(*told, builder.alias(form, "form"), name, *shared_columns(how)), "recognised"
    )


def _out(source: Source, form: Form) -> exp.Expr:
    """Whether a line's body holds what rules the form out."""
    equal = [rule for rule in form.unless if not rule.present]
    texts = texts_of_body(source, [rule.path for rule in equal])
    conditions: list[exp.Expr] = [
        exp.EQ(this=builder.member(texts.copy(), index), expression=builder.text(rule.equals))
        for index, rule in enumerate(equal, start=1)
    ]
    for rule in form.unless:
        if rule.present:
            there = {n: builder.exists(column("line"), (*body, *rule.path)) for n, body in bodies(source).items()}
            plain = there.pop(0)
            conditions.append(builder.cases(column("wrapped"), there, plain) if there else plain)
    return exp.Coalesce(this=exp.or_(*conditions), expressions=[exp.false()])


def _timed(how: Recognition, careful: bool) -> exp.Select:
    """The instant of each line in ns; null when it has none."""
    t_ns = timestamps.of_text(how.source, column("instant"), careful)
    told = ("file", "padded", "line", "broken", "wrapped", "form", "name")
    return builder.from_source(dialect.select(*told, builder.alias(t_ns, "t_ns"), *shared_columns(how)), "ruled")


def _settled() -> exp.Expr:
    """The form, or what a line is that is no event."""
    indented = builder.call("regexp_matches", column("line"), builder.text(INDENTED))
    begins = builder.when(_begins_blank(), indented, builder.starts(column("line"), "{"))
    torn = builder.when(begins, builder.small(TORN), builder.small(TEXT))
    ifs = [
        exp.If(this=column("broken"), true=torn),
        exp.If(this=builder.is_null(column("t_ns")), true=builder.small(TIMELESS)),
    ]
    return exp.Case(ifs=ifs, default=column("form"))
