"""The queries over text logs: what every line is, and the rows of an event.

Lines become rows of `file` (its index), `padded` (NUL bytes are ahead of the line), `form` (the number of the pattern,
negative for lines that are no event), `t_ns`, of those that are no event `name`, what is alike in them, and of those
that are an event the `body` and the places `head_1`, ... of the layout; `rowid` counts lines from 0.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from assay.ingest import instants, strange_sql, tree
from assay.ingest.event_rows import typed_rows
from assay.ingest.forms import OTHER, TEXT, TIMELESS, TORN
from assay.ingest.lines import bare, scan
from assay.ingest.text_forms import TextForms, Variant
from assay.spec.own_names import KEYS
from assay.sql import dialect
from assay.sql.dialect import column

Path_ = tuple[str, ...]

#: what differs between texts of one kind: texts in quotes, hexadecimal numbers of eight digits or more, numbers
VARYING = r""""[^"]*"|'[^']*'|\b[0-9a-fA-F]{8,}\b|[0-9]+"""
LONGEST = 80  # characters of what is alike


def recognition(how: TextForms) -> exp.Select:
    """All lines of the files `$files`, recognised."""
    trimmed = tree.named(tree.call("rtrim", tree.first_of([column("line"), tree.text("")]), tree.text(" \t")), "line")
    stages: list[tuple[str, exp.Query]] = [
        ("scanned", scan()),
        ("bare", bare("scanned")),
        ("lines", tree.of(dialect.select("file", "padded", trimmed), "bare")),
        ("parted", _parted(how)),
        ("headed", _headed(how)),
        ("told", tree.of(dialect.select("*", tree.named(_form(how), "form")), "headed")),
        ("moments", tree.of(dialect.select("*", tree.named(instants.taken(how.source, _said(how)), "moment")), "told")),
        ("timed", _timed(how)),
    ]
    heads = _head_columns(how)
    kept = [tree.named(tree.when(_is_event(), column(name)), name) for name in ("body", *heads)]
    name = tree.named(_unknown(), "name")
    query = dialect.select("file", "padded", tree.named(_settled(), "form"), "t_ns", name, *kept)
    return dialect.staged(tree.of(query, "timed"), stages)


def _head_columns(how: TextForms) -> list[str]:
    return [f"head_{index}" for index, _ in enumerate(how.heads, start=1)]


def _names(count: int) -> exp.Expr:
    return exp.Array(expressions=[tree.text(f"p{index}") for index in range(1, count + 1)])


def _member(of: str, index: int) -> exp.Expr:
    """A place of a match; null where it is empty, as a place never is that is there."""
    return _or_null(tree.call("struct_extract", column(of), tree.text(f"p{index}")))


def _or_null(text: exp.Expr) -> exp.Expr:
    """A text, null where it is empty."""
    return tree.call("nullif", text, tree.text(""))


def _matched(text: exp.Expr, expression: str, count: int) -> exp.Expr:
    return tree.call("regexp_extract", text, tree.text(expression), _names(count))


def _matches(text: exp.Expr, expression: str) -> exp.Expr:
    return tree.call("regexp_matches", text, tree.text(expression))


def _parted(how: TextForms) -> exp.Select:
    """Each line with what the layout finds in it."""
    values: list[exp.Expr | str] = ["file", "padded", "line"]
    if how.layout:
        values.append(tree.named(_matched(column("line"), how.layout.expression(how.heads), len(how.heads)), "head"))
    return tree.of(dialect.select(*values), "lines")


def _headed(how: TextForms) -> exp.Select:
    """Each line with its body, null where it has not the layout, or is empty, and the places of the layout."""
    heads = [_member("head", index) for index, _ in enumerate(how.heads, start=1)]
    body = heads[how.heads.index(how.source.body[0])].copy() if how.layout else _or_null(column("line"))
    named = [tree.named(value, name) for value, name in zip(heads, _head_columns(how), strict=True)]
    return tree.of(dialect.select("file", "padded", "line", tree.named(body, "body"), *named), "parted")


def _form(how: TextForms) -> exp.Expr:
    """The first pattern that a body matches; else whether the line looks as if it were an event."""
    ifs = [
        exp.If(this=_matches(column("body"), variant.pattern.expression(())), true=tree.small(variant.number))
        for variant in how.variants
    ]
    torn = tree.small(TORN)
    if how.begins:
        torn = tree.when(_matches(column("body"), how.begins), torn, tree.small(OTHER))
    within: exp.Expr = tree.small(TEXT)
    if how.within:
        within = tree.when(_matches(column("line"), how.within), tree.small(TORN), within)
    return tree.when(tree.given(column("body")), exp.Case(ifs=ifs, default=torn) if ifs else torn, within)


def _said(how: TextForms) -> exp.Expr:
    """The text of the instant: of the layout, or of the event's own pattern."""
    if how.layout:
        return column(_head_columns(how)[how.heads.index(how.time)])
    ifs = [
        exp.If(
            this=exp.EQ(this=column("form"), expression=dialect.integer(variant.number)),
            true=tree.call(
                "regexp_extract",
                column("body"),
                tree.text(variant.pattern.expression((how.time,))),
                dialect.integer(1),
            ),
        )
        for variant in how.variants
    ]
    return exp.Case(ifs=ifs) if ifs else tree.cast(exp.Null(), "TEXT")


def _timed(how: TextForms) -> exp.Select:
    moment = tree.named(instants.instant(how.source, column("moment")), "t_ns")
    return tree.of(dialect.select("file", "padded", "line", "form", "body", *_head_columns(how), moment), "moments")


def _is_event() -> exp.Expr:
    return exp.and_(exp.GTE(this=column("form"), expression=dialect.integer(0)), tree.given(column("t_ns")))


def _settled() -> exp.Expr:
    """The form; a line without an instant is broken when it would be an event, and else nothing but text; so is an
    event with something that no text holds, and one of which the beginning alone was read."""
    timeless = tree.missing(column("t_ns"))
    event = exp.GTE(this=column("form"), expression=dialect.integer(0))
    other = exp.EQ(this=column("form"), expression=dialect.integer(OTHER))
    ifs = [
        exp.If(this=exp.and_(event, strange_sql.in_line(column("line"))), true=tree.small(TORN)),
        exp.If(this=exp.and_(timeless, event.copy()), true=tree.small(TIMELESS)),
        exp.If(this=exp.and_(timeless.copy(), other), true=tree.small(TEXT)),
    ]
    return exp.Case(ifs=ifs, default=column("form"))


def _unknown() -> exp.Expr:
    """What is alike in bodies that match no pattern and have an instant: without numbers and texts in quotes."""
    other = exp.and_(exp.LT(this=column("form"), expression=dialect.integer(0)), tree.given(column("body")))
    alike = tree.call("regexp_replace", column("body"), tree.text(VARYING), tree.text("#"), tree.text("g"))
    return tree.when(exp.and_(other, tree.given(column("t_ns"))), tree.call("left", alike, dialect.integer(LONGEST)))


def event_rows(how: TextForms, event: str, table: str, host: str, offset: int, swift: bool) -> exp.Select:
    """The rows of an event out of a table of recognised lines: host, seq, t_ns, whole, the wanted fields.

    `swift` is that of `fields.typed`.
    """
    own = how.own(event)
    matched = [tree.named(_of_variant(variant), f"match_{variant.number}") for variant in own if variant.read]
    seq = exp.Add(this=column("rowid"), expression=dialect.integer(offset))
    keys = [tree.named(tree.text(host), "host"), tree.named(seq, "seq")]
    found = tree.of(dialect.select(*keys, "t_ns", "form", *_head_columns(how), *matched), table)
    found = found.where(tree.within(column("form"), own[0].number, own[-1].number), copy=False)
    paths = list(dict.fromkeys(path for variant in own for path in variant.item.paths))
    said = [tree.named(_place(how, own, path[0]), f"place_{index}") for index, path in enumerate(paths, start=1)]
    rows = tree.of(dialect.select(*KEYS, "form", *said), found.subquery("matched"))
    read: dict[Path_, exp.Expr] = {path: column(f"place_{index}") for index, path in enumerate(paths, start=1)}
    return typed_rows([variant.item for variant in own], read, rows, swift=swift)


def _of_variant(variant: Variant) -> exp.Expr:
    found = _matched(column("body"), variant.pattern.expression(variant.read), len(variant.read))
    return tree.when(exp.EQ(this=column("form"), expression=dialect.integer(variant.number)), found)


def _place(how: TextForms, own: Sequence[Variant], name: str) -> exp.Expr:
    """The text at a place of the layout, or of each pattern that has it."""
    if name in how.heads:
        return column(_head_columns(how)[how.heads.index(name)])
    ifs = [
        exp.If(
            this=exp.EQ(this=column("form"), expression=dialect.integer(variant.number)),
            true=_member(f"match_{variant.number}", variant.read.index(name) + 1),
        )
        for variant in own
        if name in variant.read
    ]
    return exp.Case(ifs=ifs) if ifs else tree.cast(exp.Null(), "TEXT")
