"""Queries over text logs: patterns, the kind of each line, and the rows of an event.

Lines become rows of `file` (its index), `padded` (NUL bytes are ahead of the line), `form` (the number of the pattern,
negative for lines that are no event), `t_ns`, of those that are no event `name`, what is alike in them, and of those
that are an event the `body` and the places `head_1`, ... of the layout; `rowid` counts lines from 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from assay.ingest import builder, invalid_text, timestamps
from assay.ingest.event_forms import OTHER, TEXT, TIMELESS, TORN, NumberedForm
from assay.ingest.event_query import typed_rows
from assay.ingest.readers.lines import bare, scan
from assay.lang.line_pattern import Pattern, build_literal_regex, parse
from assay.lang.model.package import Source
from assay.lang.reserved_names import KEYS
from assay.sql import dialect
from assay.sql.dialect import column

Path_ = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Variant:
    """A pattern of a form of an event, under a number of its own, by which `item` is numbered, too."""

    item: NumberedForm
    pattern: Pattern

    @property
    def number(self) -> int:
        """The number that lines of the pattern have."""
        return self.item.number

    @property
    def read(self) -> tuple[str, ...]:
        """The places that wanted fields read, in the order of the pattern."""
        asked = {path[0] for path in self.item.paths}
        return tuple(name for name in self.pattern.places if name in asked)


@dataclass(frozen=True, slots=True)
class TextForms:
    """How lines are told apart: the pattern of all (none: a line is nothing but its body), and those of events, in the
    order in which they are tried."""

    source: Source
    layout: Pattern | None
    variants: tuple[Variant, ...]

    @property
    def time(self) -> str:
        """The place of the instant."""
        return self.source.time[0]

    @property
    def heads(self) -> tuple[str, ...]:
        """Places of the layout that are read, in its order: the time, the body, and what wanted fields read."""
        if not self.layout:
            return ()
        fields = {path[0] for variant in self.variants for path in variant.item.paths}
        asked = {self.time, *self.source.body, *fields}
        return tuple(name for name in self.layout.places if name in asked)

    @property
    def marks(self) -> tuple[str, ...]:
        """The texts by which a body looks as if it were an event's."""
        return tuple(dict.fromkeys(variant.pattern.mark.rstrip() for variant in self.variants))

    @property
    def begins(self) -> str:
        """The expression of a body that begins as one of an event does; empty when any does."""
        return "" if "" in self.marks else "^(?:" + "|".join(build_literal_regex(mark) for mark in self.marks) + ")"

    @property
    def within(self) -> str:
        """The expression of a line that holds the beginning of an event; empty when any line would."""
        return "" if "" in self.marks else "|".join(build_literal_regex(mark) for mark in self.marks)

    def ends_in_value(self, variant: Variant) -> bool:
        """Whether lines of a pattern may end in something that is read."""
        ends = set(self.layout.last if self.layout else variant.pattern.last)
        if self.layout and ends & set(self.source.body):
            ends |= set(variant.pattern.last)
        read = {self.time, *(path[0] for path in variant.item.paths)}
        return variant.item.needed and bool(ends & read)

    def own(self, event: str) -> tuple[Variant, ...]:
        """The patterns of an event."""
        return tuple(variant for variant in self.variants if variant.item.event.name == event)


def text_forms(source: Source, forms: Sequence[NumberedForm]) -> TextForms:
    """How the lines of a source are recognised; each pattern of a form has a number of its own."""
    pairs = [(item, name.name) for item in forms for name in item.form.names]
    variants = tuple(Variant(replace(item, number=number), parse(text)) for number, (item, text) in enumerate(pairs))
    return TextForms(source, parse(source.line) if source.line else None, variants)


#: what differs between texts of one kind: texts in quotes, hexadecimal numbers of eight digits or more, numbers
VARYING = r""""[^"]*"|'[^']*'|\b[0-9a-fA-F]{8,}\b|[0-9]+"""
LONGEST = 80  # characters of what is alike


def recognition(how: TextForms) -> exp.Select:
    """All lines of the files `$files`, recognised."""
    trimmed = builder.alias(
        builder.call("rtrim", builder.first_of([column("line"), builder.text("")]), builder.text(" \t")),
        "line",
    )
    stages: list[tuple[str, exp.Query]] = [
        ("scanned", scan()),
        ("bare", bare("scanned")),
        ("lines", builder.from_source(dialect.select("file", "padded", trimmed), "bare")),
        ("parted", _parted(how)),
        ("headed", _headed(how)),
        ("told", builder.from_source(dialect.select("*", builder.alias(_form(how), "form")), "headed")),
        (
            "moments",
            builder.from_source(
                dialect.select("*", builder.alias(timestamps.parse_parts(how.source, instant_text(how)), "moment")),
                "told",
            ),
        ),
        ("timed", _timed(how)),
    ]
    heads = _head_columns(how)
    kept = [builder.alias(builder.when(_is_event(), column(name)), name) for name in ("body", *heads)]
    name = builder.alias(_unknown(), "name")
    query = dialect.select("file", "padded", builder.alias(_settled(), "form"), "t_ns", name, *kept)
    return dialect.staged(builder.from_source(query, "timed"), stages)


def _head_columns(how: TextForms) -> list[str]:
    return [f"head_{index}" for index, _ in enumerate(how.heads, start=1)]


def _names(count: int) -> exp.Expr:
    return exp.Array(expressions=[builder.text(f"p{index}") for index in range(1, count + 1)])


def _member(of: str, index: int) -> exp.Expr:
    """A place of a match; null where it is empty, as a place never is that is there."""
    return _or_null(builder.call("struct_extract", column(of), builder.text(f"p{index}")))


def _or_null(text: exp.Expr) -> exp.Expr:
    """A text, null where it is empty."""
    return builder.call("nullif", text, builder.text(""))


def _matched(text: exp.Expr, expression: str, count: int) -> exp.Expr:
    return builder.call("regexp_extract", text, builder.text(expression), _names(count))


def _matches(text: exp.Expr, expression: str) -> exp.Expr:
    return builder.call("regexp_matches", text, builder.text(expression))


def _parted(how: TextForms) -> exp.Select:
    """Each line with what the layout finds in it."""
    values: list[exp.Expr | str] = ["file", "padded", "line"]
    if how.layout:
        values.append(builder.alias(_matched(column("line"), how.layout.expression(how.heads), len(how.heads)), "head"))
    return builder.from_source(dialect.select(*values), "lines")


def _headed(how: TextForms) -> exp.Select:
    """Each line with its body, null where it has not the layout, or is empty, and the places of the layout."""
    heads = [_member("head", index) for index, _ in enumerate(how.heads, start=1)]
    body = heads[how.heads.index(how.source.body[0])].copy() if how.layout else _or_null(column("line"))
    named = [builder.alias(value, name) for value, name in zip(heads, _head_columns(how), strict=True)]
    return builder.from_source(dialect.select("file", "padded", "line", builder.alias(body, "body"), *named), "parted")


def _form(how: TextForms) -> exp.Expr:
    """The first pattern that a body matches; else whether the line looks as if it were an event."""
    ifs = [
        exp.If(this=_matches(column("body"), variant.pattern.expression(())), true=builder.small(variant.number))
        for variant in how.variants
    ]
    torn = builder.small(TORN)
    if how.begins:
        torn = builder.when(_matches(column("body"), how.begins), torn, builder.small(OTHER))
    within: exp.Expr = builder.small(TEXT)
    if how.within:
        within = builder.when(_matches(column("line"), how.within), builder.small(TORN), within)
    return builder.when(builder.is_not_null(column("body")), exp.Case(ifs=ifs, default=torn) if ifs else torn, within)


def instant_text(how: TextForms) -> exp.Expr:
    """The text of the instant: of the layout, or of the event's own pattern."""
    if how.layout:
        return column(_head_columns(how)[how.heads.index(how.time)])
    ifs = [
        exp.If(
            this=exp.EQ(this=column("form"), expression=dialect.integer(variant.number)),
            true=builder.call(
                "regexp_extract",
                column("body"),
                builder.text(variant.pattern.expression((how.time,))),
                dialect.integer(1),
            ),
        )
        for variant in how.variants
    ]
    return exp.Case(ifs=ifs) if ifs else builder.cast(exp.Null(), "TEXT")


def _timed(how: TextForms) -> exp.Select:
    moment = builder.alias(timestamps.instant(how.source, column("moment")), "t_ns")
    return builder.from_source(
        dialect.select("file", "padded", "line", "form", "body", *_head_columns(how), moment), "moments"
    )


def _is_event() -> exp.Expr:
    return exp.and_(exp.GTE(this=column("form"), expression=dialect.integer(0)), builder.is_not_null(column("t_ns")))


def _settled() -> exp.Expr:
    """The form; a line without an instant is broken when it would be an event, and else nothing but text; so is an
    event with something that no text holds, and one of which the beginning alone was read."""
    timeless = builder.is_null(column("t_ns"))
    event = exp.GTE(this=column("form"), expression=dialect.integer(0))
    other = exp.EQ(this=column("form"), expression=dialect.integer(OTHER))
    ifs = [
        exp.If(this=exp.and_(event, invalid_text.is_invalid_line(column("line"))), true=builder.small(TORN)),
        exp.If(this=exp.and_(timeless, event.copy()), true=builder.small(TIMELESS)),
        exp.If(this=exp.and_(timeless.copy(), other), true=builder.small(TEXT)),
    ]
    return exp.Case(ifs=ifs, default=column("form"))


def _unknown() -> exp.Expr:
    """What is alike in bodies that match no pattern and have an instant: without numbers and texts in quotes."""
    other = exp.and_(exp.LT(this=column("form"), expression=dialect.integer(0)), builder.is_not_null(column("body")))
    alike = builder.call("regexp_replace", column("body"), builder.text(VARYING), builder.text("#"), builder.text("g"))
    return builder.when(
        exp.and_(other, builder.is_not_null(column("t_ns"))), builder.call("left", alike, dialect.integer(LONGEST))
    )


def event_rows(how: TextForms, event: str, table: str, host: str, offset: int, swift: bool) -> exp.Select:
    """The rows of an event out of a table of recognised lines: host, seq, t_ns, whole, the wanted fields.

    `swift` is that of `fields.typed`.
    """
    own = how.own(event)
    matched = [builder.alias(_of_variant(variant), f"match_{variant.number}") for variant in own if variant.read]
    seq = exp.Add(this=column("rowid"), expression=dialect.integer(offset))
    keys = [builder.alias(builder.text(host), "host"), builder.alias(seq, "seq")]
    found = builder.from_source(dialect.select(*keys, "t_ns", "form", *_head_columns(how), *matched), table)
    found = found.where(builder.within(column("form"), own[0].number, own[-1].number), copy=False)
    paths = list(dict.fromkeys(path for variant in own for path in variant.item.paths))
    said = [builder.alias(_place(how, own, path[0]), f"place_{index}") for index, path in enumerate(paths, start=1)]
    rows = builder.from_source(dialect.select(*KEYS, "form", *said), found.subquery("matched"))
    read: dict[Path_, exp.Expr] = {path: column(f"place_{index}") for index, path in enumerate(paths, start=1)}
    return typed_rows([variant.item for variant in own], read, rows, swift=swift)


def _of_variant(variant: Variant) -> exp.Expr:
    found = _matched(column("body"), variant.pattern.expression(variant.read), len(variant.read))
    return builder.when(exp.EQ(this=column("form"), expression=dialect.integer(variant.number)), found)


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
    return exp.Case(ifs=ifs) if ifs else builder.cast(exp.Null(), "TEXT")
