"""Queries that recognize the lines of JSON logs.

Lines, in order, become rows of `file` (its index), `padded` (NUL bytes before the line), `form` (a number, negative for
lines that are not events), `t_ns`, `wrapped` (number of the unwrap rule, 0 for none), `line` (the text, of lines that
fields are read from), `name` (of a line whose name no event has, empty if it has none), and the values at the shared
paths.

Every line is parsed once, by one call that extracts the time and the names. The fast query expects that a line within
braces is JSON, and fails otherwise; the strict one (`careful`) does not, and takes a tenth longer.
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

BLANKS = " \t\r"  # allowed before an object
#: beginning of an object after blanks; a brace alone would match indented lines of other texts
INDENTED = r'^[ \t\r]+\{[ \t\r]*"'
LONGEST_NAME = 10_000  # bytes of a list of name segments that is parsed, since deep nesting takes memory


def parameters(recognition: Recognition) -> dict[str, object]:
    """Return the parameters of the query: the tables of names and forms."""
    values: dict[str, object] = {}
    for index, table in enumerate(recognition.tables, start=1):
        values |= {f"names_{index}": list(table.forms), f"forms_{index}": list(table.forms.values())}
    return values


def texts_of_body(source: Source, paths: Sequence[Path_]) -> exp.Expr:
    """Return the values at paths of the body of a line, wrapped or not, as a list of texts."""
    values = {
        number: builder.texts_at(column("line"), [(*body, *path) for path in paths])
        for number, body in bodies(source).items()
    }
    plain = values.pop(0)
    return builder.cases(column("wrapped"), values, plain) if values else plain


def recognition(how: Recognition, careful: bool, lines: exp.Select | None = None) -> exp.Select:
    """Return the query for all lines of the files that are parameters of `lines.scan`, or of `lines`, recognized."""
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


def _read(recognition: Recognition, path: Path_) -> exp.Expr:
    """Return the value at one of the paths that are read of every line."""
    return column(f"text_{recognition.paths.index(path) + 1}")


def shared_columns(recognition: Recognition) -> list[str]:
    """Return the column names of shared paths."""
    return [f"shared_{index}" for index, _ in enumerate(recognition.shared, start=1)]


def select_text(recognition: Recognition) -> exp.Expr:
    """Return the text of a line if fields are read from it."""
    numbers = [
        item.number for forms in wanted_events(recognition.forms) if recognition.reads_line(forms) for item in forms
    ]
    if not numbers:
        return builder.cast(exp.Null(), "TEXT")
    reads = exp.or_(*(builder.within(column("form"), low, high) for low, high in ranges(numbers)))
    return builder.when(exp.and_(reads, builder.is_not_null(column("t_ns"))), column("line"))


def _documents(recognition: Recognition, careful: bool) -> exp.Select:
    """Return the query for the texts at the paths of every line; null if it is not JSON."""
    line = column("line")
    texts = builder.texts_at(line, recognition.paths)
    looks_whole = exp.and_(builder.starts(line, "{"), builder.call("ends_with", line, builder.text("}")))
    ifs = [] if careful else [exp.If(this=looks_whole, true=texts)]
    ifs.append(exp.If(this=builder.starts(line, "{"), true=builder.tried(texts.copy())))
    stripped = builder.call("ltrim", line.copy(), builder.text(BLANKS))
    ifs.append(
        exp.If(this=_begins_blank(), true=builder.when(builder.starts(stripped, "{"), builder.tried(texts.copy())))
    )
    query = dialect.select("file", "padded", "line", builder.alias(exp.Case(ifs=ifs), "texts"))
    return builder.from_source(query, "lines")


def _begins_blank() -> exp.Expr:
    """Return the condition that a line is empty or begins with a blank or a control character."""
    return exp.LT(this=column("line"), expression=builder.text("!"))


def _named(recognition: Recognition) -> exp.Select:
    """Return the query with each text as a column; `broken` if the line has no texts."""
    texts = [
        builder.alias(builder.member(column("texts"), index), f"text_{index}")
        for index, _ in enumerate(recognition.paths, start=1)
    ]
    broken = builder.alias(builder.is_null(column("texts")), "broken")
    return builder.from_source(dialect.select("file", "padded", "line", broken, *texts), "documents")


def _unwrapped(recognition: Recognition) -> exp.Select:
    """Return the query with the number of the first unwrap rule that matches."""
    ifs = [
        exp.If(
            this=_likely(recognition, rule),
            true=builder.when(_wrapped(recognition.source, rule), dialect.integer(number)),
        )
        for number, rule in enumerate(recognition.source.unwrap, start=1)
    ]
    number: exp.Expr = dialect.integer(0)
    if ifs:
        number = exp.Coalesce(this=exp.Case(ifs=ifs), expressions=[number])
    wrapped = builder.cast(number, "TINYINT")
    texts = [f"text_{index}" for index, _ in enumerate(recognition.paths, start=1)]
    query = dialect.select("file", "padded", "line", "broken", builder.alias(wrapped, "wrapped"), *texts)
    return builder.from_source(query, "named")


def _likely(recognition: Recognition, rule: Unwrap) -> exp.Expr:
    """Return cheap necessary conditions for an unwrap rule.

    The absent member has no text, and the present keys occur in the line, or an escape that may spell them.
    """
    is_absent = builder.is_null(_read(recognition, (*recognition.source.body, rule.absent)))
    signs = [
        exp.or_(*(builder.call("contains", column("line"), builder.text(sign)) for sign in (key, "\\u")))
        for key in rule.present
        if key.isalnum()
    ]
    return exp.and_(exp.Not(this=column("broken")), is_absent, *signs)


def _wrapped(source: Source, rule: Unwrap) -> exp.Expr:
    """Return the condition that the body of a line is wrapped."""
    is_absent = exp.Not(this=builder.exists(column("line"), (*source.body, rule.absent)))
    return exp.and_(is_absent, *(builder.exists(column("line"), (*source.body, key)) for key in rule.present))


def _recognised(recognition: Recognition) -> exp.Select:
    """Return the query with the form of each line, by the first table that knows its name."""
    values = [
        value
        for index, table in enumerate(recognition.tables, 1)
        for value in _numbers(_name(recognition, table.lookup), index)
    ]
    form = builder.first_of([*values, builder.small(OTHER)])
    instant = builder.alias(
        builder.first_of([_read(recognition, path) for path in recognition.source.times]), "instant"
    )
    shared = [
        builder.alias(_inside(recognition, path), name)
        for path, name in zip(recognition.shared, shared_columns(recognition), strict=True)
    ]
    names = [
        builder.alias(_unknown(_name(recognition, table.lookup), table.lookup), f"name_{index}")
        for index, table in enumerate(recognition.tables, 1)
    ]
    columns = ("file", "padded", "line", "broken", "wrapped")
    return builder.from_source(
        dialect.select(*columns, builder.alias(form, "form"), instant, *names, *shared), "unwrapped"
    )


def _unknown(name: exp.Expr, lookup: Lookup) -> exp.Expr:
    """Return the name of a record without an event: without prefix, segments joined, truncated."""
    joined = builder.when(_is_list(name), _joined(name))
    whole = builder.first_of([joined, name.copy()])
    if lookup.drop:
        rest = builder.call("substr", whole.copy(), dialect.integer(len(lookup.drop) + 1))
        whole = builder.when(builder.starts(whole, lookup.drop), rest, whole.copy())
    return builder.call("left", whole, dialect.integer(LONGEST))


def _name(recognition: Recognition, lookup: Lookup) -> exp.Expr:
    """Return the value at the path of a lookup."""
    return _inside(recognition, lookup.path) if lookup.in_body else _read(recognition, lookup.path)


def _inside(recognition: Recognition, path: Path_) -> exp.Expr:
    """Return the value at a path of the body, of the inner one if it is wrapped."""
    outer = _read(recognition, (*recognition.source.body, *path))
    inner = {
        number: builder.member(builder.texts_at(column("line"), [(*body, *path)]), 1)
        for number, body in bodies(recognition.source).items()
        if number
    }
    return builder.cases(column("wrapped"), inner, outer) if inner else outer


def _numbers(name: exp.Expr, index: int) -> list[exp.Expr]:
    """Return the form of a name by a table: as text, and as a list of segments joined by dots."""
    return [_number(name, index), builder.when(_is_list(name), _number(_joined(name), index))]


def _is_list(name: exp.Expr) -> exp.Expr:
    """Return the condition that a name may be a list of segments and is short enough to parse."""
    short = exp.LT(this=builder.call("strlen", name.copy()), expression=dialect.integer(LONGEST_NAME))
    return exp.and_(builder.starts(name.copy(), "["), short)


def _joined(name: exp.Expr) -> exp.Expr:
    """Return the segments of a list joined by dots; null if the name is not a list."""
    segments = builder.call("from_json", name.copy(), builder.text('["VARCHAR"]'))
    return builder.tried(builder.call("array_to_string", segments, builder.text(".")))


def _number(name: exp.Expr, index: int) -> exp.Expr:
    place = builder.call("list_position", builder.given_list(f"names_{index}", "TEXT"), name)
    return dialect.member(builder.given_list(f"forms_{index}", "SMALLINT"), place)


def _ruled(recognition: Recognition) -> exp.Select:
    """Return the query in which lines whose form is ruled out by their values have no form."""
    conditions = {item.number: _out(recognition.source, item.form) for item in recognition.forms if item.form.unless}
    form: exp.Expr = column("form")
    if conditions:
        ifs = [
            exp.If(
                this=dialect.integer(number),
                true=builder.when(is_out, builder.small(OTHER), builder.small(number)),
            )
            for number, is_out in conditions.items()
        ]
        form = exp.Case(this=column("form"), ifs=ifs, default=column("form"))
    names: list[exp.Expr] = [column(f"name_{index}") for index, _ in enumerate(recognition.tables, start=1)]
    is_other = exp.EQ(this=column("form"), expression=dialect.integer(OTHER))
    name = builder.alias(builder.when(is_other, builder.first_of([*names, builder.text("")])), "name")
    columns = ("file", "padded", "line", "broken", "wrapped", "instant")
    return builder.from_source(
        dialect.select(*columns, builder.alias(form, "form"), name, *shared_columns(recognition)), "recognised"
    )


def _out(source: Source, form: Form) -> exp.Expr:
    """Return the condition that the body of a line rules out a form."""
    rules = [rule for rule in form.unless if not rule.present]
    texts = texts_of_body(source, [rule.path for rule in rules])
    conditions: list[exp.Expr] = [
        exp.EQ(this=builder.member(texts.copy(), index), expression=builder.text(rule.equals))
        for index, rule in enumerate(rules, start=1)
    ]
    for rule in form.unless:
        if rule.present:
            exists = {n: builder.exists(column("line"), (*body, *rule.path)) for n, body in bodies(source).items()}
            plain = exists.pop(0)
            conditions.append(builder.cases(column("wrapped"), exists, plain) if exists else plain)
    return exp.Coalesce(this=exp.or_(*conditions), expressions=[exp.false()])


def _timed(recognition: Recognition, careful: bool) -> exp.Select:
    """Return the query with the instant of each line in ns; null if it has none."""
    t_ns = timestamps.of_text(recognition.source, column("instant"), careful)
    columns = ("file", "padded", "line", "broken", "wrapped", "form", "name")
    return builder.from_source(
        dialect.select(*columns, builder.alias(t_ns, "t_ns"), *shared_columns(recognition)), "ruled"
    )


def _settled() -> exp.Expr:
    """Return the form of a line, or the number of the reason why it is not an event."""
    indented = builder.call("regexp_matches", column("line"), builder.text(INDENTED))
    begins = builder.when(_begins_blank(), indented, builder.starts(column("line"), "{"))
    torn = builder.when(begins, builder.small(TORN), builder.small(TEXT))
    ifs = [
        exp.If(this=column("broken"), true=torn),
        exp.If(this=builder.is_null(column("t_ns")), true=builder.small(TIMELESS)),
    ]
    return exp.Case(ifs=ifs, default=column("form"))
