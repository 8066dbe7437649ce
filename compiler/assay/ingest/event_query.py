"""Build the query for the rows of an event from recognized lines."""

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

ENDED = "ended"  # a boolean column: the row ends before some fields, so these may have no value


def event_rows(
    recognition: Recognition, event: Event, parts: Sequence[Part], swift: bool, in_order: bool
) -> exp.Select:
    """Return the query for the rows of an event: host, seq, t_ns, whole and the required fields.

    The rows are ordered by host and seq. Nothing is sorted if the parts are `in_order`.

    `whole` is true if no required field is missing and every value has the type of its field. The `swift` query may
    return false for a row that is whole, if an integer in it is not written like the engine writes it.
    """
    forms = [item for item in recognition.forms if item.event is event]
    paths = paths_of(forms)
    # If some rows have texts, all must.
    integers = whole_paths(forms) if all(part.scanned for part in parts) else frozenset()
    texts = [f"text_{index}" for index, _ in enumerate(paths, start=1)]
    read: dict[Path_, exp.Expr] = {path: column(name) for path, name in zip(paths, texts, strict=True)}
    lines = [part for part in parts if not part.scanned]
    queries = [_scanned(part, forms, integers) for part in parts if part.scanned]
    queries += [_of_lines(recognition, forms, lines, texts)] if lines else []
    rows = typed_rows(forms, read, _united(queries), swift=swift, whole=integers)
    return rows if in_order else rows.order_by("host", "seq", copy=False)


def _scanned(part: Part, forms: Sequence[NumberedForm], integers: Collection[Path_]) -> exp.Select:
    """Return the query for rows of the scanner: texts, and integers at paths that only integers are read from."""
    scanned_integers = whole_paths(forms)
    values = []
    for index, path in enumerate(paths_of(forms), start=1):
        value: exp.Expr = column(f"c{index}")
        if path in scanned_integers and path not in integers:
            value = builder.cast(value, "TEXT")
        values.append(builder.alias(value, f"text_{index}"))
    return builder.from_source(dialect.select(*_keys(part), "t_ns", "form", *values), part.table)


def _of_lines(
    recognition: Recognition, forms: Sequence[NumberedForm], parts: Sequence[Part], names: Sequence[str]
) -> exp.Select:
    """Return the query for the values at the paths of an event in recognized lines of its forms."""
    if recognition.reads_line(forms):
        texts = builder.alias(texts_of_body(recognition.source, paths_of(forms)), "texts")
        values = [builder.member(column("texts"), index) for index, _ in enumerate(names, start=1)]
        lines = dialect.select(*KEYS, "form", texts)
        rows = builder.from_source(lines, _rows([_part(part, forms, ["wrapped", "line"]) for part in parts]))
    else:
        shared = dict(zip(recognition.shared, shared_columns(recognition), strict=True))
        read = [shared[path] for path in paths_of(forms)]
        values = [column(name) for name in read]
        rows = _united([_part(part, forms, list(dict.fromkeys(read))) for part in parts])
    named = [builder.alias(value, name) for value, name in zip(values, names, strict=True)]
    return builder.from_source(dialect.select(*KEYS, "form", *named), exp.Subquery(this=rows, alias=_alias("lines")))


def _united(queries: Sequence[exp.Select]) -> exp.Select:
    """Return the query for the rows of several queries with the same columns."""
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
    """Return the query for the rows of an event from rows of `keys`, form, and the values `read` at paths.

    `own` are the forms of the event. `given` are values of fields, by form and name, that need no conversion: columns
    of `found`. Fields with a name in `ended` may lack a text in rows where the column `ended` of `found` is true.
    `swift` is that of `field_sql.typed`. Values at the paths `whole` are integers already.
    """
    names = [item.name for item in own[0].fields]
    stages = [("found", found)]
    texts = [builder.alias(read_text(name, own, read), f"{name}_text") for name in names]
    ready_columns = sorted({value.name for value in given.values()} | ({ENDED} if ended else set()))
    stages.append(("known", builder.from_source(dialect.select(*keys, "form", *ready_columns, *texts), "found")))
    values = [builder.alias(_value(name, own, given, swift, whole), name) for name in names]
    texts_kept = [f"{name}_text" for name in names if name in ended or any(_may_lack(item, name) for item in own)]
    texts_kept += [ENDED] if ended else []
    defaulted = [name for name in names if any(_has_default(item, name) for item in own)]
    texts_kept = list(dict.fromkeys([*texts_kept, *(f"{name}_text" for name in defaulted)]))
    stages.append(("valued", builder.from_source(dialect.select(*keys, "form", *texts_kept, *values), "known")))
    marks = [builder.alias(_is_default(name, own), default_mark(name)) for name in defaulted]
    query = dialect.select(*keys, builder.alias(_whole(own, ended), "whole"), *names, *marks)
    return dialect.staged(builder.from_source(query, "valued"), stages)


def _has_default(form: NumberedForm, name: str) -> bool:
    """Return whether a form's field has a default, used if no path has a value."""
    field = _field(form, name)
    return bool(field.paths) and field.default is not None


def _is_default(name: str, forms: Sequence[NumberedForm]) -> exp.Expr:
    """Return the condition that a field has its default, since no path has a value."""
    missing = builder.is_null(column(f"{name}_text"))
    values = {item.number: missing.copy() if _has_default(item, name) else exp.false() for item in forms}
    return builder.cases(column("form"), values)


def _keys(part: Part) -> tuple[exp.Expr, exp.Expr]:
    """Return the host and `seq` of a row."""
    file = exp.Add(this=column("file"), expression=dialect.integer(1))
    hosts = exp.Cast(this=exp.Placeholder(this=f"hosts_{part.number}"), to=host_type("[]"))
    host = dialect.member(hosts, file)
    offset = dialect.member(builder.given_list(f"offsets_{part.number}", "BIGINT"), file.copy())
    place: exp.Expr = column("place" if part.scanned else "rowid")
    if part.odd:
        row = exp.Add(this=place, expression=dialect.integer(1))
        place = dialect.member(builder.given_list(f"places_{part.number}", "BIGINT"), row)
    return builder.alias(host, "host"), builder.alias(exp.Add(this=place, expression=offset), "seq")


def _part(part: Part, forms: Sequence[NumberedForm], columns: Sequence[str]) -> exp.Select:
    query = builder.from_source(dialect.select(*_keys(part), "t_ns", "form", *columns), part.table)
    return query.where(builder.within(column("form"), forms[0].number, forms[-1].number), copy=False)


def _field(form: NumberedForm, name: str) -> Field:
    return next(field for field in form.fields if field.name == name)


def read_text(name: str, forms: Sequence[NumberedForm], read: Mapping[tuple[str, ...], exp.Expr]) -> exp.Expr:
    return builder.cases(
        column("form"),
        {item.number: field_sql.found_text(_field(item, name), read) for item in forms},
    )


def _value(
    name: str,
    forms: Sequence[NumberedForm],
    ready_values: Mapping[tuple[int, str], exp.Expr],
    swift: bool,
    integers: Collection[Path_],
) -> exp.Expr:
    text = column(f"{name}_text")

    def typed_value(field: Field) -> exp.Expr:
        return field_sql.typed(field, text.copy(), swift, bool(field.paths) and set(field.paths) <= set(integers))

    values = {item.number: ready_values.get((item.number, name), typed_value(_field(item, name))) for item in forms}
    return builder.cases(column("form"), values)


def _may_lack(form: NumberedForm, name: str) -> bool:
    """Return whether a field that is read may be null in rows that are whole."""
    field = _field(form, name)
    return bool(field.paths) and not field.required and field.default is None and not field_sql.is_any_text(field)


def _whole(forms: Sequence[NumberedForm], optional: Collection[str]) -> exp.Expr:
    conditions = {item.number: _has_all(item, optional) for item in forms}
    return builder.cases(column("form"), conditions)


def _has_all(form: NumberedForm, optional: Collection[str]) -> exp.Expr:
    """Return the condition that no required field is missing and every value has the type of its field."""
    parts: list[exp.Expr] = []
    for field in form.fields:
        value = column(field.name)
        if field.paths and (field.required or field.default is not None):
            is_present = builder.is_not_null(value)
            is_absent = exp.and_(column(ENDED), builder.is_null(column(f"{field.name}_text")))
            parts.append(exp.or_(is_present, is_absent) if field.name in optional else is_present)
        elif _may_lack(form, field.name):
            parts.append(exp.or_(builder.is_not_null(value), builder.is_null(column(f"{field.name}_text"))))
    return exp.and_(*parts) if parts else exp.true()
