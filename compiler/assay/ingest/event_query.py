"""The query that makes the table of an event out of recognised lines."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

from sqlglot import exp

from assay.ingest import builder, field_sql
from assay.ingest.event_forms import NumberedForm, paths_of
from assay.ingest.field_sql import whole_paths
from assay.ingest.readers.json_lines_sql import shared_columns, texts_of_body
from assay.ingest.readers.json_lines_worker import Part
from assay.ingest.recognition import Recognition
from assay.lang.model.package import Event, Field
from assay.lang.reserved_names import KEYS, default_mark
from assay.sql import dialect
from assay.sql.dialect import column, host_type

Path_ = tuple[str, ...]

ENDED = "ended"  # a column that tells of rows that a field of theirs has no value


def event_rows(how: Recognition, event: Event, parts: Sequence[Part], swift: bool, in_order: bool) -> exp.Select:
    """The rows of an event out of some parts, ordered by host and seq: host, seq, t_ns, whole, the wanted fields.

    Nothing is sorted where the parts, one after the other, are `in_order`.

    `whole` tells that no field lacks that must be there, and that none is of another type than it should be.  The
    `swift` query may say of rows that are whole that they are not, for how they write an integer.
    """
    own = [item for item in how.forms if item.event is event]
    paths = paths_of(own)
    # Where other rows come as texts, so do all.
    whole = whole_paths(own) if all(part.scanned for part in parts) else frozenset()
    texts = [f"text_{index}" for index, _ in enumerate(paths, start=1)]
    read: dict[Path_, exp.Expr] = {path: column(name) for path, name in zip(paths, texts, strict=True)}
    lines = [part for part in parts if not part.scanned]
    found = [_scanned(part, own, whole) for part in parts if part.scanned]
    found += [_of_lines(how, own, lines, texts)] if lines else []
    rows = typed_rows(own, read, _united(found), swift=swift, whole=whole)
    return rows if in_order else rows.order_by("host", "seq", copy=False)


def _scanned(part: Part, own: Sequence[NumberedForm], whole: Collection[Path_]) -> exp.Select:
    """What the scanner took of lines of an event: texts, and integers where all that reads them does."""
    given = whole_paths(own)
    values = []
    for index, path in enumerate(paths_of(own), start=1):
        value: exp.Expr = column(f"c{index}")
        if path in given and path not in whole:
            value = builder.cast(value, "TEXT")
        values.append(builder.alias(value, f"text_{index}"))
    return builder.from_source(dialect.select(*_keys(part), "t_ns", "form", *values), part.table)


def _of_lines(how: Recognition, own: Sequence[NumberedForm], parts: Sequence[Part], names: Sequence[str]) -> exp.Select:
    """What stands at the paths of an event in recognised lines of its forms, whose numbers follow each other."""
    if how.reads_line(own):
        texts = builder.alias(texts_of_body(how.source, paths_of(own)), "texts")
        values = [builder.member(column("texts"), index) for index, _ in enumerate(names, start=1)]
        lines = dialect.select(*KEYS, "form", texts)
        rows = builder.from_source(lines, _rows([_part(part, own, ["wrapped", "line"]) for part in parts]))
    else:
        shared = dict(zip(how.shared, shared_columns(how), strict=True))
        read = [shared[path] for path in paths_of(own)]
        values = [column(name) for name in read]
        rows = _united([_part(part, own, list(dict.fromkeys(read))) for part in parts])
    named = [builder.alias(value, name) for value, name in zip(values, names, strict=True)]
    return builder.from_source(dialect.select(*KEYS, "form", *named), exp.Subquery(this=rows, alias=_alias("lines")))


def _united(queries: Sequence[exp.Select]) -> exp.Select:
    """The rows of some queries of the same columns."""
    return queries[0] if len(queries) == 1 else builder.from_source(dialect.select("*"), _rows(queries))


def _rows(queries: Sequence[exp.Select]) -> exp.Subquery:
    query: exp.Query = queries[0]
    for other in queries[1:]:
        query = exp.Union(this=query, expression=other, distinct=False)
    return exp.Subquery(this=query, alias=_alias("own"))


def _alias(name: str) -> exp.TableAlias:
    return exp.TableAlias(this=exp.to_identifier(name))


def typed_rows(
    own: Sequence[NumberedForm],
    read: Mapping[tuple[str, ...], exp.Expr],
    found: exp.Select,
    given: Mapping[tuple[int, str], exp.Expr] = MappingProxyType({}),
    ended: Collection[str] = (),
    swift: bool = False,
    keys: Sequence[str] = KEYS,
    whole: Collection[Path_] = (),
) -> exp.Select:
    """The rows of an event, whose forms are `own`, out of rows of `keys`, form, and what is `read` at paths.

    `given` are values of fields, by form and name, that are no texts: columns of `found` that are there already.
    Fields of the names `ended` need no text in rows of which the column `ended` of `found` holds.  `swift` is that of
    `fields.typed`.  What stands at the paths `whole` are integers already.
    """
    names = [item.name for item in own[0].fields]
    stages = [("found", found)]
    said = [builder.alias(read_text(name, own, read), f"{name}_text") for name in names]
    ready = sorted({value.name for value in given.values()} | ({ENDED} if ended else set()))
    stages.append(("known", builder.from_source(dialect.select(*keys, "form", *ready, *said), "found")))
    values = [builder.alias(_value(name, own, given, swift, whole), name) for name in names]
    texts_kept = [f"{name}_text" for name in names if name in ended or any(_may_lack(item, name) for item in own)]
    texts_kept += [ENDED] if ended else []
    defaulted = [name for name in names if any(_has_default(item, name) for item in own)]
    texts_kept = list(dict.fromkeys([*texts_kept, *(f"{name}_text" for name in defaulted)]))
    stages.append(("valued", builder.from_source(dialect.select(*keys, "form", *texts_kept, *values), "known")))
    marks = [builder.alias(_is_default(name, own), default_mark(name)) for name in defaulted]
    query = dialect.select(*keys, builder.alias(_whole(own, ended), "whole"), *names, *marks)
    return dialect.staged(builder.from_source(query, "valued"), stages)


def _has_default(item: NumberedForm, name: str) -> bool:
    """Return whether a form's field has a default that stands in where no path holds a value."""
    field = _field(item, name)
    return bool(field.paths) and field.default is not None


def _is_default(name: str, own: Sequence[NumberedForm]) -> exp.Expr:
    """Return the condition that a field's default stands in for its value."""
    missing = builder.is_null(column(f"{name}_text"))
    values = {item.number: missing.copy() if _has_default(item, name) else exp.false() for item in own}
    return builder.cases(column("form"), values)


def _keys(part: Part) -> tuple[exp.Expr, exp.Expr]:
    """Host and `seq` of a row."""
    file = exp.Add(this=column("file"), expression=dialect.integer(1))
    hosts = exp.Cast(this=exp.Placeholder(this=f"hosts_{part.number}"), to=host_type("[]"))
    host = dialect.member(hosts, file)
    offset = dialect.member(builder.given_list(f"offsets_{part.number}", "BIGINT"), file.copy())
    place: exp.Expr = column("place" if part.scanned else "rowid")
    if part.odd:
        row = exp.Add(this=place, expression=dialect.integer(1))
        place = dialect.member(builder.given_list(f"places_{part.number}", "BIGINT"), row)
    return builder.alias(host, "host"), builder.alias(exp.Add(this=place, expression=offset), "seq")


def _part(part: Part, own: Sequence[NumberedForm], columns: Sequence[str]) -> exp.Select:
    query = builder.from_source(dialect.select(*_keys(part), "t_ns", "form", *columns), part.table)
    return query.where(builder.within(column("form"), own[0].number, own[-1].number), copy=False)


def _field(item: NumberedForm, name: str) -> Field:
    return next(field for field in item.fields if field.name == name)


def read_text(name: str, own: Sequence[NumberedForm], read: Mapping[tuple[str, ...], exp.Expr]) -> exp.Expr:
    return builder.cases(
        column("form"),
        {item.number: field_sql.found_text(_field(item, name), read) for item in own},
    )


def _value(
    name: str,
    own: Sequence[NumberedForm],
    given: Mapping[tuple[int, str], exp.Expr],
    swift: bool,
    whole: Collection[Path_],
) -> exp.Expr:
    said = column(f"{name}_text")

    def of(field: Field) -> exp.Expr:
        return field_sql.typed(field, said.copy(), swift, bool(field.paths) and set(field.paths) <= set(whole))

    values = {item.number: given.get((item.number, name), of(_field(item, name))) for item in own}
    return builder.cases(column("form"), values)


def _may_lack(item: NumberedForm, name: str) -> bool:
    """Whether a field may be null in rows that are whole, though it is read."""
    field = _field(item, name)
    return bool(field.paths) and not field.required and field.default is None and not field_sql.is_any_text(field)


def _whole(own: Sequence[NumberedForm], ended: Collection[str]) -> exp.Expr:
    conditions = {item.number: _has_all(item, ended) for item in own}
    return builder.cases(column("form"), conditions)


def _has_all(item: NumberedForm, ended: Collection[str]) -> exp.Expr:
    """Whether every field that must be there is, and none that is there is of another type."""
    parts: list[exp.Expr] = []
    for field in item.fields:
        value = column(field.name)
        if field.paths and (field.required or field.default is not None):
            there = builder.is_not_null(value)
            none = exp.and_(column(ENDED), builder.is_null(column(f"{field.name}_text")))
            parts.append(exp.or_(there, none) if field.name in ended else there)
        elif _may_lack(item, field.name):
            parts.append(exp.or_(builder.is_not_null(value), builder.is_null(column(f"{field.name}_text"))))
    return exp.and_(*parts) if parts else exp.true()
