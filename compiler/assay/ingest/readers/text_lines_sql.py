"""Queries over text logs: patterns, the form of each line, and the rows of an event.

Each line becomes a row of `file` (its index), `padded` (whether NUL bytes precede the line), `form` (number of the
pattern, negative for lines that are not events), `t_ns`, `name` (the constant parts of a line that is not an event),
and for events `body` and `head_1`, `head_2`, ... (places of the layout). `rowid` counts lines from 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from assay.ingest import invalid_text, sql_trees, timestamps
from assay.ingest.event_forms import OTHER, TEXT, TIMELESS, TORN, NumberedForm
from assay.ingest.event_query import build_typed_query
from assay.ingest.readers.lines import build_lines_without_nul, build_scan_query
from assay.lang.line_pattern import Pattern, build_marks_regex, parse_pattern
from assay.lang.model.package import Source
from assay.lang.reserved_names import KEYS
from assay.sql import dialect
from assay.sql.dialect import build_column

Path_ = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Variant:
    """A pattern of a form of an event with its number, which is also that of `item`."""

    item: NumberedForm
    pattern: Pattern

    @property
    def number(self) -> int:
        """Return the number of the pattern, which lines that match it have as `form`."""
        return self.item.number

    @property
    def read_places(self) -> tuple[str, ...]:
        """Return the places that required fields read, in the order of the pattern."""
        required = {path[0] for path in self.item.paths}
        return tuple(name for name in self.pattern.places if name in required)


@dataclass(frozen=True, slots=True)
class TextForms:
    """Patterns of the lines of a source.

    `layout` is the pattern of all lines, None if a line has only its body. `variants` are the patterns of events in the
    order in which they are tried.
    """

    source: Source
    layout: Pattern | None
    variants: tuple[Variant, ...]

    @property
    def time_place(self) -> str:
        """Return the place of the instant in patterns of events, without a layout; empty if lines have no instant."""
        return self.source.time[0] if self.source.time else ""

    @property
    def head_places(self) -> tuple[str, ...]:
        """Return the places of the layout that are read, in order: time, body, and those of required fields."""
        if not self.layout:
            return ()
        fields = {path[0] for variant in self.variants for path in variant.item.paths}
        required = {*self.source.time, *self.source.body, *fields}
        return tuple(name for name in self.layout.places if name in required)

    @property
    def contained_regex(self) -> str:
        """Return the expression for a line that contains the beginning of an event; empty if every line does."""
        return build_marks_regex(variant.pattern for variant in self.variants)

    @property
    def beginning_regex(self) -> str:
        """Return the expression for a body that begins like an event; empty if every body does."""
        return self.contained_regex and f"^(?:{self.contained_regex})"

    def can_end_in_value(self, variant: Variant) -> bool:
        """Return whether lines of a pattern may end in a value that is read."""
        ends = set(self.layout.last_places if self.layout else variant.pattern.last_places)
        if self.layout and ends & set(self.source.body):
            ends |= set(variant.pattern.last_places)
        read_places = {*self.source.time, *(path[0] for path in variant.item.paths)}
        return variant.item.is_required and bool(ends & read_places)

    def find_variants(self, event: str) -> tuple[Variant, ...]:
        """Return the patterns of an event."""
        return tuple(variant for variant in self.variants if variant.item.event.name == event)


def create_text_forms(source: Source, forms: Sequence[NumberedForm]) -> TextForms:
    """Return the patterns of a source; each pattern of a form has its own number."""
    pairs = [(item, name.name) for item in forms for name in item.form.names]
    variants = tuple(
        Variant(replace(item, number=number), parse_pattern(text)) for number, (item, text) in enumerate(pairs)
    )
    return TextForms(source, parse_pattern(source.line) if source.line else None, variants)


#: varying parts of texts of one kind: quoted texts, UUIDs, hexadecimal numbers of at least eight digits, numbers
VARYING = r""""[^"]*"|'[^']*'|\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b|\b[0-9a-fA-F]{8,}\b|[0-9]+"""
LONGEST = 80  # characters of a name that is made from a body


def build_recognition_query(forms: TextForms, is_joined: bool = False) -> exp.Select:
    """Return the query that recognizes all lines of the files `$files`, or of one that joins several."""
    trimmed = sql_trees.build_alias(
        sql_trees.call(
            "rtrim",
            sql_trees.build_coalesce([build_column("line"), sql_trees.build_text("")]),
            sql_trees.build_text(" \t"),
        ),
        "line",
    )
    parts = timestamps.build_parts(forms.source, _build_instant_text(forms))
    instant_parts = sql_trees.build_alias(parts, "instant_parts")
    stages: list[tuple[str, exp.Query]] = [
        ("scanned", build_scan_query(is_joined)),
        ("unpadded", build_lines_without_nul("scanned")),
        ("lines", sql_trees.set_source(dialect.select("file", "padded", trimmed), "unpadded")),
        ("matched", _build_matched_query(forms)),
        ("bodies", _build_bodies_query(forms)),
        (
            "formed",
            sql_trees.set_source(dialect.select("*", sql_trees.build_alias(_build_form(forms), "form")), "bodies"),
        ),
        ("parts", sql_trees.set_source(dialect.select("*", instant_parts), "formed")),
        ("timed", _build_timed_query(forms)),
    ]
    heads = _list_head_columns(forms)
    values = [
        sql_trees.build_alias(sql_trees.build_if(_is_event(forms.source), build_column(name)), name)
        for name in ("body", *heads)
    ]
    name = sql_trees.build_alias(_build_unknown_name(forms.source), "name")
    query = dialect.select(
        "file", "padded", sql_trees.build_alias(_build_final_form(forms.source), "form"), "t_ns", name, *values
    )
    return dialect.add_stages(sql_trees.set_source(query, "timed"), stages)


def _list_head_columns(forms: TextForms) -> list[str]:
    return [f"head_{index}" for index, _ in enumerate(forms.head_places, start=1)]


def _build_group_names(count: int) -> exp.Expr:
    return exp.Array(expressions=[sql_trees.build_text(f"p{index}") for index in range(1, count + 1)])


def _build_match_place(match: str, index: int) -> exp.Expr:
    """Return the text of a place of a match, null if it is empty: a place that is present has a text."""
    return _build_null_if_empty(
        sql_trees.call("struct_extract", build_column(match), sql_trees.build_text(f"p{index}"))
    )


def _build_null_if_empty(text: exp.Expr) -> exp.Expr:
    """Return a text, null if it is empty."""
    return sql_trees.call("nullif", text, sql_trees.build_text(""))


def _build_match(text: exp.Expr, expression: str, count: int) -> exp.Expr:
    return sql_trees.call("regexp_extract", text, sql_trees.build_text(expression), _build_group_names(count))


def _is_match(text: exp.Expr, expression: str) -> exp.Expr:
    return sql_trees.call("regexp_matches", text, sql_trees.build_text(expression))


def _build_matched_query(forms: TextForms) -> exp.Select:
    """Return the query for lines with their match of the layout."""
    values: list[exp.Expr | str] = ["file", "padded", "line"]
    if forms.layout:
        values.append(
            sql_trees.build_alias(
                _build_match(
                    build_column("line"), forms.layout.build_expression(forms.head_places), len(forms.head_places)
                ),
                "head",
            )
        )
    return sql_trees.set_source(dialect.select(*values), "lines")


def _build_bodies_query(forms: TextForms) -> exp.Select:
    """Return the query for lines with their body and places of the layout; the body is null without a match."""
    heads = [_build_match_place("head", index) for index, _ in enumerate(forms.head_places, start=1)]
    body = (
        heads[forms.head_places.index(forms.source.body[0])].copy()
        if forms.layout
        else _build_null_if_empty(build_column("line"))
    )
    named = [sql_trees.build_alias(value, name) for value, name in zip(heads, _list_head_columns(forms), strict=True)]
    return sql_trees.set_source(
        dialect.select("file", "padded", "line", sql_trees.build_alias(body, "body"), *named), "matched"
    )


def _build_form(forms: TextForms) -> exp.Expr:
    """Return the number of the first pattern that a body matches, else that of the reason why it is not an event."""
    ifs = [
        exp.If(
            this=_is_match(build_column("body"), variant.pattern.build_expression(())),
            true=sql_trees.build_smallint(variant.number),
        )
        for variant in forms.variants
    ]
    unmatched = sql_trees.build_smallint(TORN)
    if forms.beginning_regex:
        unmatched = sql_trees.build_if(
            _is_match(build_column("body"), forms.beginning_regex), unmatched, sql_trees.build_smallint(OTHER)
        )
    without_body: exp.Expr = sql_trees.build_smallint(TEXT)
    if forms.contained_regex:
        is_torn = exp.and_(_is_match(build_column("line"), forms.contained_regex), *_list_not_ignored(forms.source))
        without_body = sql_trees.build_if(is_torn, sql_trees.build_smallint(TORN), without_body)
    return sql_trees.build_if(
        sql_trees.is_not_null(build_column("body")),
        exp.Case(ifs=ifs, default=unmatched) if ifs else unmatched,
        without_body,
    )


def _list_not_ignored(source: Source) -> list[exp.Expr]:
    """Return the conditions that the name of a line is none of those that the source ignores."""
    line = _build_name(build_column("line"))
    return [
        exp.Not(
            this=sql_trees.build_starts_with(line.copy(), name.removesuffix("*"))
            if name.endswith("*")
            else exp.EQ(this=line.copy(), expression=sql_trees.build_text(name))
        )
        for name in source.ignored
    ]


def _build_instant_text(forms: TextForms) -> exp.Expr:
    """Return the text of the instant, from the layout or from the pattern of the event; null if lines have none."""
    if not forms.source.time:
        return sql_trees.cast(exp.Null(), "TEXT")
    if forms.layout:
        heads = _list_head_columns(forms)
        return sql_trees.join_by_blanks(
            [build_column(heads[forms.head_places.index(name)]) for name in forms.source.time]
        )
    ifs = [
        exp.If(
            this=exp.EQ(this=build_column("form"), expression=dialect.build_integer(variant.number)),
            true=sql_trees.call(
                "regexp_extract",
                build_column("body"),
                sql_trees.build_text(variant.pattern.build_expression((forms.time_place,))),
                dialect.build_integer(1),
            ),
        )
        for variant in forms.variants
    ]
    return exp.Case(ifs=ifs) if ifs else sql_trees.cast(exp.Null(), "TEXT")


def _build_timed_query(forms: TextForms) -> exp.Select:
    """Return the query for lines with their instants."""
    t_ns = sql_trees.build_alias(timestamps.build_instant(forms.source, build_column("instant_parts")), "t_ns")
    return sql_trees.set_source(
        dialect.select("file", "padded", "line", "form", "body", *_list_head_columns(forms), t_ns), "parts"
    )


def _is_event(source: Source) -> exp.Expr:
    return exp.and_(exp.GTE(this=build_column("form"), expression=dialect.build_integer(0)), _has_instant(source))


def _has_instant(source: Source) -> exp.Expr:
    """Return the condition that a line has an instant, if the source has any."""
    return sql_trees.is_not_null(build_column("t_ns")) if source.time else exp.true()


def _build_final_form(source: Source) -> exp.Expr:
    """Return the final form of a line.

    Events without an instant or with invalid text are malformed. Other lines without an instant are text.
    """
    is_timeless = exp.Not(this=_has_instant(source))
    is_event = exp.GTE(this=build_column("form"), expression=dialect.build_integer(0))
    is_other = exp.EQ(this=build_column("form"), expression=dialect.build_integer(OTHER))
    ifs = [
        exp.If(
            this=exp.and_(is_event, invalid_text.is_invalid_line(build_column("line"))),
            true=sql_trees.build_smallint(TORN),
        ),
        exp.If(this=exp.and_(is_timeless, is_event.copy()), true=sql_trees.build_smallint(TIMELESS)),
        exp.If(this=exp.and_(is_timeless.copy(), is_other), true=sql_trees.build_smallint(TEXT)),
    ]
    return exp.Case(ifs=ifs, default=build_column("form"))


def _build_unknown_name(source: Source) -> exp.Expr:
    """Return the body of a line that may be an event but matches no pattern, without its varying parts, else null."""
    is_other = exp.and_(
        exp.LT(this=build_column("form"), expression=dialect.build_integer(0)),
        sql_trees.is_not_null(build_column("body")),
    )
    return sql_trees.build_if(exp.and_(is_other, _has_instant(source)), _build_name(build_column("body")))


def _build_name(text: exp.Expr) -> exp.Expr:
    """Return a text without its varying parts, cut to a maximal length."""
    name = sql_trees.call(
        "regexp_replace",
        text,
        sql_trees.build_text(VARYING),
        sql_trees.build_text("#"),
        sql_trees.build_text("g"),
    )
    return sql_trees.call("left", name, dialect.build_integer(LONGEST))


def build_event_rows(forms: TextForms, event: str, table: str, is_fast: bool) -> exp.Select:
    """Return the query for the rows of an event in a table of lines: host, seq, t_ns, whole, the required fields.

    Its parameters `$hosts` and `$offsets` have the host of each file, and the difference between `seq` and `rowid` in
    it. `is_fast` is that of `field_sql.build_typed_value`.
    """
    variants = forms.find_variants(event)
    matched = [
        sql_trees.build_alias(_build_variant_match(variant), f"match_{variant.number}")
        for variant in variants
        if variant.read_places
    ]
    file = exp.Add(this=build_column("file"), expression=dialect.build_integer(1))
    host = dialect.build_list_extract(sql_trees.build_list_parameter("hosts", "TEXT"), file)
    offset = dialect.build_list_extract(sql_trees.build_list_parameter("offsets", "BIGINT"), file.copy())
    seq = exp.Add(this=build_column("rowid"), expression=offset)
    keys = [sql_trees.build_alias(host, "host"), sql_trees.build_alias(seq, "seq")]
    lines = sql_trees.set_source(dialect.select(*keys, "t_ns", "form", *_list_head_columns(forms), *matched), table)
    lines = lines.where(
        sql_trees.build_between(build_column("form"), variants[0].number, variants[-1].number), copy=False
    )
    paths = list(dict.fromkeys(path for variant in variants for path in variant.item.paths))
    places = [
        sql_trees.build_alias(_build_place_text(forms, variants, path[0]), f"place_{index}")
        for index, path in enumerate(paths, start=1)
    ]
    rows = sql_trees.set_source(dialect.select(*KEYS, "form", *places), lines.subquery("matched"))
    values_by_path: dict[Path_, exp.Expr] = {
        path: build_column(f"place_{index}") for index, path in enumerate(paths, start=1)
    }
    return build_typed_query([variant.item for variant in variants], values_by_path, rows, is_fast=is_fast)


def _build_variant_match(variant: Variant) -> exp.Expr:
    match = _build_match(
        build_column("body"), variant.pattern.build_expression(variant.read_places), len(variant.read_places)
    )
    return sql_trees.build_if(
        exp.EQ(this=build_column("form"), expression=dialect.build_integer(variant.number)), match
    )


def _build_place_text(forms: TextForms, variants: Sequence[Variant], name: str) -> exp.Expr:
    """Return the text at a place of the layout, or of each pattern that has the place."""
    if name in forms.head_places:
        return build_column(_list_head_columns(forms)[forms.head_places.index(name)])
    ifs = [
        exp.If(
            this=exp.EQ(this=build_column("form"), expression=dialect.build_integer(variant.number)),
            true=_build_match_place(f"match_{variant.number}", variant.read_places.index(name) + 1),
        )
        for variant in variants
        if name in variant.read_places
    ]
    return exp.Case(ifs=ifs) if ifs else sql_trees.cast(exp.Null(), "TEXT")
