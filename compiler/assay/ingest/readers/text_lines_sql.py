"""Queries over text logs: patterns, the form of each line, and the rows of an event.

Lines become rows of `file` (its index), `padded` (NUL bytes before the line), `form` (number of the pattern, negative
for lines that are not events), `t_ns`, `name` (the constant parts of lines that are not events), and for events `body`
and `head_1`, ... (places of the layout). `rowid` counts lines from 0.
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
    """A pattern of a form of an event with its own number, which `item` has, too."""

    item: NumberedForm
    pattern: Pattern

    @property
    def number(self) -> int:
        """Return the number of lines that match the pattern."""
        return self.item.number

    @property
    def read(self) -> tuple[str, ...]:
        """Return the places that required fields read, in the order of the pattern."""
        required = {path[0] for path in self.item.paths}
        return tuple(name for name in self.pattern.places if name in required)


@dataclass(frozen=True, slots=True)
class TextForms:
    """Patterns of the lines of a source.

    `layout` is the pattern of all lines, None if a line is nothing but its body. `variants` are the patterns of events
    in the order in which they are tried.
    """

    source: Source
    layout: Pattern | None
    variants: tuple[Variant, ...]

    @property
    def time(self) -> str:
        """Return the place of the instant."""
        return self.source.time[0]

    @property
    def heads(self) -> tuple[str, ...]:
        """Return the places of the layout that are read, in order: time, body, and those of required fields."""
        if not self.layout:
            return ()
        fields = {path[0] for variant in self.variants for path in variant.item.paths}
        required = {self.time, *self.source.body, *fields}
        return tuple(name for name in self.layout.places if name in required)

    @property
    def marks(self) -> tuple[str, ...]:
        """Return the literal beginnings of the patterns of events."""
        return tuple(dict.fromkeys(variant.pattern.mark.rstrip() for variant in self.variants))

    @property
    def begins(self) -> str:
        """Return the expression for a body with the beginning of an event; empty if any body has one."""
        return "" if "" in self.marks else "^(?:" + "|".join(build_literal_regex(mark) for mark in self.marks) + ")"

    @property
    def within(self) -> str:
        """Return the expression for a line that contains the beginning of an event; empty if any line does."""
        return "" if "" in self.marks else "|".join(build_literal_regex(mark) for mark in self.marks)

    def ends_in_value(self, variant: Variant) -> bool:
        """Return whether lines of a pattern may end in a value that is read."""
        ends = set(self.layout.last if self.layout else variant.pattern.last)
        if self.layout and ends & set(self.source.body):
            ends |= set(variant.pattern.last)
        read = {self.time, *(path[0] for path in variant.item.paths)}
        return variant.item.needed and bool(ends & read)

    def own(self, event: str) -> tuple[Variant, ...]:
        """Return the patterns of an event."""
        return tuple(variant for variant in self.variants if variant.item.event.name == event)


def text_forms(source: Source, forms: Sequence[NumberedForm]) -> TextForms:
    """Return the patterns of a source; each pattern of a form has its own number."""
    pairs = [(item, name.name) for item in forms for name in item.form.names]
    variants = tuple(Variant(replace(item, number=number), parse(text)) for number, (item, text) in enumerate(pairs))
    return TextForms(source, parse(source.line) if source.line else None, variants)


#: varying parts of texts of one kind: quoted texts, hexadecimal numbers of at least eight digits, numbers
VARYING = r""""[^"]*"|'[^']*'|\b[0-9a-fA-F]{8,}\b|[0-9]+"""
LONGEST = 80  # characters of a name that is made from a body


def recognition(forms: TextForms) -> exp.Select:
    """Return the query for all lines of the files `$files`, recognized."""
    trimmed = builder.alias(
        builder.call("rtrim", builder.first_of([column("line"), builder.text("")]), builder.text(" \t")),
        "line",
    )
    stages: list[tuple[str, exp.Query]] = [
        ("scanned", scan()),
        ("bare", bare("scanned")),
        ("lines", builder.from_source(dialect.select("file", "padded", trimmed), "bare")),
        ("parted", _parted(forms)),
        ("headed", _headed(forms)),
        ("told", builder.from_source(dialect.select("*", builder.alias(_form(forms), "form")), "headed")),
        (
            "moments",
            builder.from_source(
                dialect.select("*", builder.alias(timestamps.parse_parts(forms.source, instant_text(forms)), "moment")),
                "told",
            ),
        ),
        ("timed", _timed(forms)),
    ]
    heads = _head_columns(forms)
    values = [builder.alias(builder.when(_is_event(), column(name)), name) for name in ("body", *heads)]
    name = builder.alias(_unknown(), "name")
    query = dialect.select("file", "padded", builder.alias(_settled(), "form"), "t_ns", name, *values)
    return dialect.staged(builder.from_source(query, "timed"), stages)


def _head_columns(forms: TextForms) -> list[str]:
    return [f"head_{index}" for index, _ in enumerate(forms.heads, start=1)]


def _names(count: int) -> exp.Expr:
    return exp.Array(expressions=[builder.text(f"p{index}") for index in range(1, count + 1)])


def _member(match: str, index: int) -> exp.Expr:
    """Return a place of a match; null if it is absent, since places that are present are not empty."""
    return _or_null(builder.call("struct_extract", column(match), builder.text(f"p{index}")))


def _or_null(text: exp.Expr) -> exp.Expr:
    """Return a text, null if it is empty."""
    return builder.call("nullif", text, builder.text(""))


def _matched(text: exp.Expr, expression: str, count: int) -> exp.Expr:
    return builder.call("regexp_extract", text, builder.text(expression), _names(count))


def _matches(text: exp.Expr, expression: str) -> exp.Expr:
    return builder.call("regexp_matches", text, builder.text(expression))


def _parted(forms: TextForms) -> exp.Select:
    """Return the query for lines with their match of the layout."""
    values: list[exp.Expr | str] = ["file", "padded", "line"]
    if forms.layout:
        values.append(
            builder.alias(_matched(column("line"), forms.layout.expression(forms.heads), len(forms.heads)), "head")
        )
    return builder.from_source(dialect.select(*values), "lines")


def _headed(forms: TextForms) -> exp.Select:
    """Return the query for lines with their body and places of the layout; the body is null without a match."""
    heads = [_member("head", index) for index, _ in enumerate(forms.heads, start=1)]
    body = heads[forms.heads.index(forms.source.body[0])].copy() if forms.layout else _or_null(column("line"))
    named = [builder.alias(value, name) for value, name in zip(heads, _head_columns(forms), strict=True)]
    return builder.from_source(dialect.select("file", "padded", "line", builder.alias(body, "body"), *named), "parted")


def _form(forms: TextForms) -> exp.Expr:
    """Return the number of the first pattern that a body matches, else whether the line resembles an event."""
    ifs = [
        exp.If(this=_matches(column("body"), variant.pattern.expression(())), true=builder.small(variant.number))
        for variant in forms.variants
    ]
    unmatched = builder.small(TORN)
    if forms.begins:
        unmatched = builder.when(_matches(column("body"), forms.begins), unmatched, builder.small(OTHER))
    without_body: exp.Expr = builder.small(TEXT)
    if forms.within:
        without_body = builder.when(_matches(column("line"), forms.within), builder.small(TORN), without_body)
    return builder.when(
        builder.is_not_null(column("body")), exp.Case(ifs=ifs, default=unmatched) if ifs else unmatched, without_body
    )


def instant_text(forms: TextForms) -> exp.Expr:
    """Return the text of the instant, from the layout or from the pattern of the event."""
    if forms.layout:
        return column(_head_columns(forms)[forms.heads.index(forms.time)])
    ifs = [
        exp.If(
            this=exp.EQ(this=column("form"), expression=dialect.integer(variant.number)),
            true=builder.call(
                "regexp_extract",
                column("body"),
                builder.text(variant.pattern.expression((forms.time,))),
                dialect.integer(1),
            ),
        )
        for variant in forms.variants
    ]
    return exp.Case(ifs=ifs) if ifs else builder.cast(exp.Null(), "TEXT")


def _timed(forms: TextForms) -> exp.Select:
    moment = builder.alias(timestamps.instant(forms.source, column("moment")), "t_ns")
    return builder.from_source(
        dialect.select("file", "padded", "line", "form", "body", *_head_columns(forms), moment), "moments"
    )


def _is_event() -> exp.Expr:
    return exp.and_(exp.GTE(this=column("form"), expression=dialect.integer(0)), builder.is_not_null(column("t_ns")))


def _settled() -> exp.Expr:
    """Return the final form of a line.

    Events without an instant, with invalid text, or truncated are malformed. Other lines without an instant are text.
    """
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
    """Return a body that matches no pattern, but has an instant, without its varying parts."""
    other = exp.and_(exp.LT(this=column("form"), expression=dialect.integer(0)), builder.is_not_null(column("body")))
    alike = builder.call("regexp_replace", column("body"), builder.text(VARYING), builder.text("#"), builder.text("g"))
    return builder.when(
        exp.and_(other, builder.is_not_null(column("t_ns"))), builder.call("left", alike, dialect.integer(LONGEST))
    )


def event_rows(forms: TextForms, event: str, table: str, host: str, offset: int, swift: bool) -> exp.Select:
    """Return the query for the rows of an event in a table of lines: host, seq, t_ns, whole, the required fields.

    `swift` is that of `field_sql.typed`.
    """
    variants = forms.own(event)
    matched = [builder.alias(_of_variant(variant), f"match_{variant.number}") for variant in variants if variant.read]
    seq = exp.Add(this=column("rowid"), expression=dialect.integer(offset))
    keys = [builder.alias(builder.text(host), "host"), builder.alias(seq, "seq")]
    lines = builder.from_source(dialect.select(*keys, "t_ns", "form", *_head_columns(forms), *matched), table)
    lines = lines.where(builder.within(column("form"), variants[0].number, variants[-1].number), copy=False)
    paths = list(dict.fromkeys(path for variant in variants for path in variant.item.paths))
    places = [
        builder.alias(_place(forms, variants, path[0]), f"place_{index}") for index, path in enumerate(paths, start=1)
    ]
    rows = builder.from_source(dialect.select(*KEYS, "form", *places), lines.subquery("matched"))
    read: dict[Path_, exp.Expr] = {path: column(f"place_{index}") for index, path in enumerate(paths, start=1)}
    return typed_rows([variant.item for variant in variants], read, rows, swift=swift)


def _of_variant(variant: Variant) -> exp.Expr:
    match = _matched(column("body"), variant.pattern.expression(variant.read), len(variant.read))
    return builder.when(exp.EQ(this=column("form"), expression=dialect.integer(variant.number)), match)


def _place(forms: TextForms, variants: Sequence[Variant], name: str) -> exp.Expr:
    """Return the text at a place of the layout, or of each pattern that has the place."""
    if name in forms.heads:
        return column(_head_columns(forms)[forms.heads.index(name)])
    ifs = [
        exp.If(
            this=exp.EQ(this=column("form"), expression=dialect.integer(variant.number)),
            true=_member(f"match_{variant.number}", variant.read.index(name) + 1),
        )
        for variant in variants
        if name in variant.read
    ]
    return exp.Case(ifs=ifs) if ifs else builder.cast(exp.Null(), "TEXT")
