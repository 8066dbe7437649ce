"""Queries that recognize the lines of JSON logs.

Each line, in order, becomes a row of `file` (its index), `padded` (whether NUL bytes precede the line), `form` (a
number, negative for lines that are not events), `t_ns`, `wrapped` (number of the unwrap rule, 0 for none), `line` (the
text if fields are read from it), `name` (if no event has this name; empty if the line has none), and the values at the
shared paths.

Every line is parsed once, by one call that extracts the time and the names. The fast query fails if a line within
braces is not JSON. The strict query accepts such lines, but takes a tenth longer.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from assay.ingest import logfmt, sql_trees, timestamps
from assay.ingest.event_forms import OTHER, TEXT, TIMELESS, TORN, compute_ranges, group_required_forms, map_body_paths
from assay.ingest.readers.lines import build_lines_without_nul, build_scan_query
from assay.ingest.recognition import Recognition, Table
from assay.ingest.unknown_records import LONGEST
from assay.lang.model.package import Form, Lookup, Source, Unwrap
from assay.lang.model.source_kinds import SOURCE_KINDS
from assay.sql import dialect
from assay.sql.dialect import build_column

Path_ = tuple[str, ...]

BLANKS = " \t\r"  # allowed before an object
#: beginning of an object after blanks; a brace alone would match indented lines of other texts
INDENTED = r'^[ \t\r]+\{[ \t\r]*"'
LONGEST_NAME = 10_000  # bytes of a list of name segments; longer lists are not parsed, since nesting takes memory


def build_query_parameters(recognition: Recognition) -> dict[str, object]:
    """Return the parameters of the query: the tables of names and forms."""
    values: dict[str, object] = {}
    for index, table in enumerate(recognition.tables, start=1):
        values |= {f"names_{index}": list(table.forms), f"forms_{index}": list(table.forms.values())}
    return values


def build_body_texts(source: Source, paths: Sequence[Path_]) -> exp.Expr:
    """Return the values at paths of the body of a line, wrapped or not, as a list of texts."""
    values = {
        number: sql_trees.extract_texts(build_column("line"), [(*body, *path) for path in paths])
        for number, body in map_body_paths(source).items()
    }
    plain = values.pop(0)
    return sql_trees.build_case(build_column("wrapped"), values, plain) if values else plain


def build_recognition_query(recognition: Recognition, is_strict: bool, lines: exp.Select | None = None) -> exp.Select:
    """Return the query that recognizes the rows of `lines`, by default all lines of the files `$files`."""
    texts = build_lines_without_nul("scanned")
    has_pairs = SOURCE_KINDS[recognition.source.kind].has_pairs
    stages = [
        ("scanned", lines or build_scan_query()),
        *([("texts", texts), ("lines", logfmt.build_json_lines("texts"))] if has_pairs else [("lines", texts)]),
        ("documents", _build_documents_query(recognition, is_strict)),
        ("named", _build_named_query(recognition)),
        ("unwrapped", _build_unwrapped_query(recognition)),
        ("recognised", _build_recognized_query(recognition)),
        ("ruled", _build_ruled_query(recognition)),
        ("timed", _build_timed_query(recognition, is_strict)),
    ]
    form, line = (
        sql_trees.build_alias(_build_final_form(), "form"),
        sql_trees.build_alias(_build_line_text(recognition), "line"),
    )
    name = sql_trees.build_alias(sql_trees.build_if(exp.Not(this=build_column("broken")), build_column("name")), "name")
    query = dialect.select("file", "padded", form, "t_ns", "wrapped", line, name, *list_shared_columns(recognition))
    return dialect.add_stages(sql_trees.set_source(query, "timed"), stages)


def _get_text_column(recognition: Recognition, path: Path_) -> exp.Expr:
    """Return the value at one of the paths that are read of every line."""
    return build_column(f"text_{recognition.paths.index(path) + 1}")


def list_shared_columns(recognition: Recognition) -> list[str]:
    """Return the column names of shared paths."""
    return [f"shared_{index}" for index, _ in enumerate(recognition.shared, start=1)]


def _build_line_text(recognition: Recognition) -> exp.Expr:
    """Return the text of a line if fields are read from it, else null."""
    numbers = [
        item.number
        for forms in group_required_forms(recognition.forms)
        if recognition.needs_line_text(forms)
        for item in forms
    ]
    if not numbers:
        return sql_trees.cast(exp.Null(), "TEXT")
    is_read_form = exp.or_(
        *(sql_trees.build_between(build_column("form"), low, high) for low, high in compute_ranges(numbers))
    )
    return sql_trees.build_if(exp.and_(is_read_form, sql_trees.is_not_null(build_column("t_ns"))), build_column("line"))


def _build_documents_query(recognition: Recognition, is_strict: bool) -> exp.Select:
    """Return the query for the texts at the paths of every line; null if it is not JSON."""
    line = build_column("line")
    texts = sql_trees.extract_texts(line, recognition.paths)
    looks_whole = exp.and_(
        sql_trees.build_starts_with(line, "{"), sql_trees.call("ends_with", line, sql_trees.build_text("}"))
    )
    ifs = [] if is_strict else [exp.If(this=looks_whole, true=texts)]
    ifs.append(exp.If(this=sql_trees.build_starts_with(line, "{"), true=sql_trees.build_try(texts.copy())))
    stripped = sql_trees.call("ltrim", line.copy(), sql_trees.build_text(BLANKS))
    ifs.append(
        exp.If(
            this=_starts_with_blank(),
            true=sql_trees.build_if(sql_trees.build_starts_with(stripped, "{"), sql_trees.build_try(texts.copy())),
        )
    )
    query = dialect.select("file", "padded", "line", sql_trees.build_alias(exp.Case(ifs=ifs), "texts"))
    return sql_trees.set_source(query, "lines")


def _starts_with_blank() -> exp.Expr:
    """Return the condition that a line is empty or begins with a blank or a control character."""
    return exp.LT(this=build_column("line"), expression=sql_trees.build_text("!"))


def _build_named_query(recognition: Recognition) -> exp.Select:
    """Return the query with each text as a column; `broken` if the line has no texts."""
    texts = [
        sql_trees.build_alias(sql_trees.build_member(build_column("texts"), index), f"text_{index}")
        for index, _ in enumerate(recognition.paths, start=1)
    ]
    broken = sql_trees.build_alias(sql_trees.is_null(build_column("texts")), "broken")
    return sql_trees.set_source(dialect.select("file", "padded", "line", broken, *texts), "documents")


def _build_unwrapped_query(recognition: Recognition) -> exp.Select:
    """Return the query with the number of the first unwrap rule that matches."""
    ifs = [
        exp.If(
            this=_is_likely_wrapped(recognition, rule),
            true=sql_trees.build_if(_is_wrapped(recognition.source, rule), dialect.build_integer(number)),
        )
        for number, rule in enumerate(recognition.source.unwrap, start=1)
    ]
    number: exp.Expr = dialect.build_integer(0)
    if ifs:
        number = exp.Coalesce(this=exp.Case(ifs=ifs), expressions=[number])
    wrapped = sql_trees.cast(number, "TINYINT")
    texts = [f"text_{index}" for index, _ in enumerate(recognition.paths, start=1)]
    query = dialect.select("file", "padded", "line", "broken", sql_trees.build_alias(wrapped, "wrapped"), *texts)
    return sql_trees.set_source(query, "named")


def _is_likely_wrapped(recognition: Recognition, rule: Unwrap) -> exp.Expr:
    """Return cheap necessary conditions of an unwrap rule.

    The absent member has no text, and the line contains each present key, or an escape sequence that may encode it.
    """
    is_absent = sql_trees.is_null(_get_text_column(recognition, (*recognition.source.body, rule.absent)))
    signs = [
        exp.or_(
            *(sql_trees.call("contains", build_column("line"), sql_trees.build_text(sign)) for sign in (key, "\\u"))
        )
        for key in rule.present
        if key.isalnum()
    ]
    return exp.and_(exp.Not(this=build_column("broken")), is_absent, *signs)


def _is_wrapped(source: Source, rule: Unwrap) -> exp.Expr:
    """Return the condition that the body of a line is wrapped."""
    is_absent = exp.Not(this=sql_trees.build_json_exists(build_column("line"), (*source.body, rule.absent)))
    return exp.and_(
        is_absent, *(sql_trees.build_json_exists(build_column("line"), (*source.body, key)) for key in rule.present)
    )


def _build_recognized_query(recognition: Recognition) -> exp.Select:
    """Return the query with the form of each line, from the first table that has its name.

    Without lookups, each line has the form of the only event.
    """
    values = [
        value
        for index, table in enumerate(recognition.tables, 1)
        for value in (
            *_build_form_numbers(_build_name(recognition, table.lookup), index),
            *_build_prefix_form(_build_name(recognition, table.lookup), table),
        )
    ]
    if recognition.source.nameless and recognition.forms:
        is_whole = exp.Not(this=build_column("broken"))
        values = [sql_trees.build_if(is_whole, sql_trees.build_smallint(recognition.forms[0].number))]
    form = sql_trees.build_coalesce([*values, sql_trees.build_smallint(OTHER)])
    paths_of_instants = [recognition.source.time_paths, *recognition.forms_by_time]
    instants = [
        sql_trees.build_alias(
            sql_trees.build_coalesce([_get_text_column(recognition, path) for path in paths]), f"instant_{index}"
        )
        for index, paths in enumerate(paths_of_instants)
    ]
    shared = [
        sql_trees.build_alias(_build_body_text(recognition, path), name)
        for path, name in zip(recognition.shared, list_shared_columns(recognition), strict=True)
    ]
    names = [
        sql_trees.build_alias(
            _build_unknown_name(_build_name(recognition, table.lookup), table.lookup), f"name_{index}"
        )
        for index, table in enumerate(recognition.tables, 1)
    ]
    columns = ("file", "padded", "line", "broken", "wrapped")
    return sql_trees.set_source(
        dialect.select(*columns, sql_trees.build_alias(form, "form"), *instants, *names, *shared), "unwrapped"
    )


def _build_unknown_name(name: exp.Expr, lookup: Lookup) -> exp.Expr:
    """Return the name of a record without an event: segments joined by dots, without the prefix, truncated."""
    joined = sql_trees.build_if(_is_list(name), _build_joined_segments(name))
    whole = sql_trees.build_coalesce([joined, name.copy()])
    if lookup.drop:
        rest = sql_trees.call("substr", whole.copy(), dialect.build_integer(len(lookup.drop) + 1))
        whole = sql_trees.build_if(sql_trees.build_starts_with(whole, lookup.drop), rest, whole.copy())
    return sql_trees.call("left", whole, dialect.build_integer(LONGEST))


def _build_name(recognition: Recognition, lookup: Lookup) -> exp.Expr:
    """Return the value at the path of a lookup."""
    return _build_body_text(recognition, lookup.path) if lookup.in_body else _get_text_column(recognition, lookup.path)


def _build_body_text(recognition: Recognition, path: Path_) -> exp.Expr:
    """Return the value at a path of the body; of the inner body if it is wrapped."""
    outer = _get_text_column(recognition, (*recognition.source.body, *path))
    inner = {
        number: sql_trees.build_member(sql_trees.extract_texts(build_column("line"), [(*body, *path)]), 1)
        for number, body in map_body_paths(recognition.source).items()
        if number
    }
    return sql_trees.build_case(build_column("wrapped"), inner, outer) if inner else outer


def _build_form_numbers(name: exp.Expr, index: int) -> list[exp.Expr]:
    """Return the forms of a name in a table: of the name as text, and as a list of segments joined by dots."""
    return [
        _build_form_number(name, index),
        sql_trees.build_if(_is_list(name), _build_form_number(_build_joined_segments(name), index)),
    ]


def _build_prefix_form(name: exp.Expr, table: Table) -> list[exp.Expr]:
    """Return the form of the first name of a table that ends in `*` and whose beginning a text has, if there is any."""
    ifs = [
        exp.If(this=sql_trees.build_starts_with(name, prefix), true=sql_trees.build_smallint(form))
        for prefix, form in table.prefixes.items()
    ]
    return [exp.Case(ifs=ifs)] if ifs else []


def _is_list(name: exp.Expr) -> exp.Expr:
    """Return the condition that a name may be a list of segments and is short enough to parse."""
    is_short = exp.LT(this=sql_trees.call("strlen", name.copy()), expression=dialect.build_integer(LONGEST_NAME))
    return exp.and_(sql_trees.build_starts_with(name.copy(), "["), is_short)


def _build_joined_segments(name: exp.Expr) -> exp.Expr:
    """Return the segments of a list joined by dots; null if the name is not a list."""
    segments = sql_trees.call("from_json", name.copy(), sql_trees.build_text('["VARCHAR"]'))
    return sql_trees.build_try(sql_trees.call("array_to_string", segments, sql_trees.build_text(".")))


def _build_form_number(name: exp.Expr, index: int) -> exp.Expr:
    """Return the number of the form of a text in a table; null if the table does not have it."""
    position = sql_trees.call("list_position", sql_trees.build_list_parameter(f"names_{index}", "TEXT"), name)
    return dialect.build_list_extract(sql_trees.build_list_parameter(f"forms_{index}", "SMALLINT"), position)


def _build_ruled_query(recognition: Recognition) -> exp.Select:
    """Return the query in which lines have no form if their values rule it out."""
    conditions = {
        item.number: _is_ruled_out(recognition.source, item.form) for item in recognition.forms if item.form.unless
    }
    form: exp.Expr = build_column("form")
    if conditions:
        ifs = [
            exp.If(
                this=dialect.build_integer(number),
                true=sql_trees.build_if(is_out, sql_trees.build_smallint(OTHER), sql_trees.build_smallint(number)),
            )
            for number, is_out in conditions.items()
        ]
        form = exp.Case(this=build_column("form"), ifs=ifs, default=build_column("form"))
    names: list[exp.Expr] = [build_column(f"name_{index}") for index, _ in enumerate(recognition.tables, start=1)]
    is_other = exp.EQ(this=build_column("form"), expression=dialect.build_integer(OTHER))
    name = sql_trees.build_alias(
        sql_trees.build_if(is_other, sql_trees.build_coalesce([*names, sql_trees.build_text("")])), "name"
    )
    columns = ("file", "padded", "line", "broken", "wrapped", *_list_instant_columns(recognition))
    return sql_trees.set_source(
        dialect.select(*columns, sql_trees.build_alias(form, "form"), name, *list_shared_columns(recognition)),
        "recognised",
    )


def _is_ruled_out(source: Source, form: Form) -> exp.Expr:
    """Return the condition that the body of a line rules out a form."""
    rules = [rule for rule in form.unless if not rule.present]
    texts = build_body_texts(source, [rule.path for rule in rules])
    conditions: list[exp.Expr] = [
        exp.EQ(this=sql_trees.build_member(texts.copy(), index), expression=sql_trees.build_text(rule.equals))
        for index, rule in enumerate(rules, start=1)
    ]
    for rule in form.unless:
        if rule.present:
            exists = {
                n: sql_trees.build_json_exists(build_column("line"), (*body, *rule.path))
                for n, body in map_body_paths(source).items()
            }
            plain = exists.pop(0)
            conditions.append(sql_trees.build_case(build_column("wrapped"), exists, plain) if exists else plain)
    return exp.Coalesce(this=exp.or_(*conditions), expressions=[exp.false()])


def _build_timed_query(recognition: Recognition, is_strict: bool) -> exp.Select:
    """Return the query with the instant of each line in ns; null if it has none."""
    first, *others = _list_instant_columns(recognition)
    ifs = [
        exp.If(
            this=exp.or_(*(sql_trees.build_between(build_column("form"), *pair) for pair in compute_ranges(numbers))),
            true=build_column(name),
        )
        for name, numbers in zip(others, recognition.forms_by_time.values(), strict=True)
    ]
    text = exp.Case(ifs=ifs, default=build_column(first)) if ifs else build_column(first)
    t_ns = timestamps.build_text_instant(recognition.source, text, is_strict)
    columns = ("file", "padded", "line", "broken", "wrapped", "form", "name")
    return sql_trees.set_source(
        dialect.select(*columns, sql_trees.build_alias(t_ns, "t_ns"), *list_shared_columns(recognition)), "ruled"
    )


def _list_instant_columns(recognition: Recognition) -> list[str]:
    """Return the names of the columns of instants: of the source, then of forms with their own."""
    return [f"instant_{index}" for index in range(1 + len(recognition.forms_by_time))]


def _build_final_form() -> exp.Expr:
    """Return the form of a line, or the number of the reason why it is not an event.

    A line of another name needs no instant.
    """
    is_indented = sql_trees.call("regexp_matches", build_column("line"), sql_trees.build_text(INDENTED))
    begins = sql_trees.build_if(
        _starts_with_blank(), is_indented, sql_trees.build_starts_with(build_column("line"), "{")
    )
    torn = sql_trees.build_if(begins, sql_trees.build_smallint(TORN), sql_trees.build_smallint(TEXT))
    ifs = [
        exp.If(this=build_column("broken"), true=torn),
        exp.If(
            this=exp.and_(
                exp.GTE(this=build_column("form"), expression=dialect.build_integer(0)),
                sql_trees.is_null(build_column("t_ns")),
            ),
            true=sql_trees.build_smallint(TIMELESS),
        ),
    ]
    return exp.Case(ifs=ifs, default=build_column("form"))
