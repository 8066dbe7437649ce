"""Build the query for the rows of an event from recognized lines."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

from sqlglot import exp

from assay.ingest import field_sql, sql_trees
from assay.ingest.event_forms import NumberedForm, list_field_paths
from assay.ingest.field_sql import find_integer_paths
from assay.ingest.readers.json_lines_sql import build_body_texts, list_shared_columns
from assay.ingest.readers.json_lines_worker import Part
from assay.ingest.recognition import Recognition
from assay.lang.model.package import Event, Field
from assay.lang.reserved_names import KEYS, get_default_mark
from assay.sql import dialect
from assay.sql.dialect import build_column, build_host_type

Path_ = tuple[str, ...]

ENDED = "ended"  # a boolean column: the row ends its line, so some fields may have no value


def build_event_query(
    recognition: Recognition, event: Event, parts: Sequence[Part], is_fast: bool, is_ordered: bool
) -> exp.Select:
    """Return the query for the rows of an event: host, seq, t_ns, whole and the required fields.

    The rows are ordered by host and seq; with `is_ordered`, the parts already have this order.

    `whole` is true if no required field is missing and every value has the type of its field, else false. The `is_fast`
    query returns null if a value may be an integer in another notation than that of the engine.
    """
    forms = [item for item in recognition.forms if item.event is event]
    paths = list_field_paths(forms)
    # All parts need the same column types, and recognized lines have only texts.
    integers = find_integer_paths(forms) if all(part.is_scanned for part in parts) else frozenset()
    texts = [f"text_{index}" for index, _ in enumerate(paths, start=1)]
    values_by_path: dict[Path_, exp.Expr] = {path: build_column(name) for path, name in zip(paths, texts, strict=True)}
    line_parts = [part for part in parts if not part.is_scanned]
    queries = [_build_scan_query(part, forms, integers) for part in parts if part.is_scanned]
    queries += [_build_lines_query(recognition, forms, line_parts, texts)] if line_parts else []
    rows = build_typed_query(forms, values_by_path, _union_queries(queries), is_fast=is_fast, integer_paths=integers)
    return rows if is_ordered else rows.order_by("host", "seq", copy=False)


def _build_scan_query(part: Part, forms: Sequence[NumberedForm], integers: Collection[Path_]) -> exp.Select:
    """Return the query for rows of the scanner: integers at the paths `integers`, texts at the other paths."""
    scanned_integers = find_integer_paths(forms)
    values = []
    for index, path in enumerate(list_field_paths(forms), start=1):
        value: exp.Expr = build_column(f"c{index}")
        if path in scanned_integers and path not in integers:
            value = sql_trees.cast(value, "TEXT")
        values.append(sql_trees.build_alias(value, f"text_{index}"))
    return sql_trees.set_source(dialect.select(*_select_keys(part), "t_ns", "form", *values), part.table)


def _build_lines_query(
    recognition: Recognition, forms: Sequence[NumberedForm], parts: Sequence[Part], names: Sequence[str]
) -> exp.Select:
    """Return the query for the values at the paths of an event in recognized lines of its forms."""
    if recognition.needs_line_text(forms):
        texts = sql_trees.build_alias(build_body_texts(recognition.source, list_field_paths(forms)), "texts")
        values = [sql_trees.build_member(build_column("texts"), index) for index, _ in enumerate(names, start=1)]
        lines = dialect.select(*KEYS, "form", texts)
        rows = sql_trees.set_source(
            lines, _build_union([_select_part(part, forms, ["wrapped", "line"]) for part in parts])
        )
    else:
        shared = dict(zip(recognition.shared, list_shared_columns(recognition), strict=True))
        shared_names = [shared[path] for path in list_field_paths(forms)]
        values = [build_column(name) for name in shared_names]
        rows = _union_queries([_select_part(part, forms, list(dict.fromkeys(shared_names))) for part in parts])
    named = [sql_trees.build_alias(value, name) for value, name in zip(values, names, strict=True)]
    return sql_trees.set_source(
        dialect.select(*KEYS, "form", *named), exp.Subquery(this=rows, alias=_build_table_alias("lines"))
    )


def _union_queries(queries: Sequence[exp.Select]) -> exp.Select:
    """Return the query for the rows of several queries with the same columns."""
    return queries[0] if len(queries) == 1 else sql_trees.set_source(dialect.select("*"), _build_union(queries))


def _build_union(queries: Sequence[exp.Select]) -> exp.Subquery:
    query: exp.Query = queries[0]
    for other in queries[1:]:
        query = exp.Union(this=query, expression=other, distinct=False)
    return exp.Subquery(this=query, alias=_build_table_alias("parts"))


def _build_table_alias(name: str) -> exp.TableAlias:
    return exp.TableAlias(this=exp.to_identifier(name))


def build_typed_query(
    forms: Sequence[NumberedForm],
    values_by_path: Mapping[Path_, exp.Expr],
    rows: exp.Select,
    typed_values: Mapping[tuple[int, str], exp.Expr] = MappingProxyType({}),
    ended_fields: Collection[str] = (),
    is_fast: bool = False,
    keys: Sequence[str] = KEYS,
    integer_paths: Collection[Path_] = (),
) -> exp.Select:
    """Return the query for the rows of an event from rows of `keys`, form, and the values `values_by_path` at paths.

    `forms` are the forms of the event. `typed_values` are columns of `rows`, by form and name of a field, that need no
    conversion. The fields `ended_fields` may have no value in rows where the column `ended` of `rows` is true.
    `is_fast` is that of `field_sql.build_typed_value`. Values at the paths `integer_paths` already are integers.
    """
    names = [item.name for item in forms[0].fields]
    stages = [("path_values", rows)]
    texts = [sql_trees.build_alias(_build_field_text(name, forms, values_by_path), f"{name}_text") for name in names]
    typed_columns = sorted({value.name for value in typed_values.values()} | ({ENDED} if ended_fields else set()))
    field_texts = sql_trees.set_source(dialect.select(*keys, "form", *typed_columns, *texts), "path_values")
    stages.append(("field_texts", field_texts))
    values = [
        sql_trees.build_alias(_build_value(name, forms, typed_values, is_fast, integer_paths), name) for name in names
    ]
    text_columns = [
        f"{name}_text" for name in names if name in ended_fields or any(_can_be_null(item, name) for item in forms)
    ]
    has_notations = {
        name
        for item in forms
        for name in names
        if is_fast and field_sql.has_notations(_get_field(item, name), integer_paths)
    }
    text_columns += [ENDED] if ended_fields else []
    text_columns += [f"{name}_text" for name in names if name in has_notations]
    defaulted = [name for name in names if any(_has_default(item, name) for item in forms)]
    text_columns = list(dict.fromkeys([*text_columns, *(f"{name}_text" for name in defaulted)]))
    field_values = sql_trees.set_source(dialect.select(*keys, "form", *text_columns, *values), "field_texts")
    stages.append(("field_values", field_values))
    marks = [sql_trees.build_alias(_is_default(name, forms), get_default_mark(name)) for name in defaulted]
    whole = sql_trees.build_alias(_build_whole(forms, ended_fields, has_notations), "whole")
    query = dialect.select(*keys, whole, *names, *marks)
    return dialect.add_stages(sql_trees.set_source(query, "field_values"), stages)


def _has_default(form: NumberedForm, name: str) -> bool:
    """Return whether a field of a form is read from paths and has a default."""
    field = _get_field(form, name)
    return bool(field.paths) and field.default is not None


def _is_default(name: str, forms: Sequence[NumberedForm]) -> exp.Expr:
    """Return the condition that a field has its default, since no path has a value."""
    missing = sql_trees.is_null(build_column(f"{name}_text"))
    values = {item.number: missing.copy() if _has_default(item, name) else exp.false() for item in forms}
    return sql_trees.build_case(build_column("form"), values)


def _select_keys(part: Part) -> tuple[exp.Expr, exp.Expr]:
    """Return the host and `seq` of a row."""
    file = exp.Add(this=build_column("file"), expression=dialect.build_integer(1))
    hosts = exp.Cast(this=exp.Placeholder(this=f"hosts_{part.number}"), to=build_host_type("[]"))
    host = dialect.build_list_extract(hosts, file)
    offset = dialect.build_list_extract(sql_trees.build_list_parameter(f"offsets_{part.number}", "BIGINT"), file.copy())
    line_place: exp.Expr = build_column("place" if part.is_scanned else "rowid")
    if part.is_odd:
        row = exp.Add(this=line_place, expression=dialect.build_integer(1))
        line_place = dialect.build_list_extract(sql_trees.build_list_parameter(f"places_{part.number}", "BIGINT"), row)
    return sql_trees.build_alias(host, "host"), sql_trees.build_alias(
        exp.Add(this=line_place, expression=offset), "seq"
    )


def _select_part(part: Part, forms: Sequence[NumberedForm], columns: Sequence[str]) -> exp.Select:
    query = sql_trees.set_source(dialect.select(*_select_keys(part), "t_ns", "form", *columns), part.table)
    return query.where(sql_trees.build_between(build_column("form"), forms[0].number, forms[-1].number), copy=False)


def _get_field(form: NumberedForm, name: str) -> Field:
    return next(field for field in form.fields if field.name == name)


def _build_field_text(name: str, forms: Sequence[NumberedForm], values_by_path: Mapping[Path_, exp.Expr]) -> exp.Expr:
    """Return the text of a field, which the form of the row decides."""
    return sql_trees.build_case(
        build_column("form"),
        {item.number: _build_form_text(item, _get_field(item, name), values_by_path) for item in forms},
    )


def _build_form_text(form: NumberedForm, field: Field, values_by_path: Mapping[Path_, exp.Expr]) -> exp.Expr:
    return field_sql.build_source_text(field, values_by_path, form.find_unit(field))


def _build_value(
    name: str,
    forms: Sequence[NumberedForm],
    typed_values: Mapping[tuple[int, str], exp.Expr],
    is_fast: bool,
    integer_paths: Collection[Path_],
) -> exp.Expr:
    text = build_column(f"{name}_text")

    def build_value(field: Field) -> exp.Expr:
        return field_sql.build_typed_value(
            field, text.copy(), is_fast, bool(field.paths) and set(field.paths) <= set(integer_paths)
        )

    values = {item.number: typed_values.get((item.number, name), build_value(_get_field(item, name))) for item in forms}
    return sql_trees.build_case(build_column("form"), values)


def _can_be_null(form: NumberedForm, name: str) -> bool:
    """Return whether a field that is read from paths may be null in whole rows."""
    field = _get_field(form, name)
    return bool(field.paths) and not field.required and field.default is None and not field_sql.is_any_text(field)


def _build_whole(
    forms: Sequence[NumberedForm], ended_fields: Collection[str], has_notations: Collection[str]
) -> exp.Expr:
    """Return the condition that a row is whole, null if the values of the fields `has_notations` decide on it."""
    conditions = {item.number: _is_whole(item, ended_fields, has_notations) for item in forms}
    return sql_trees.build_case(build_column("form"), conditions)


def _is_whole(form: NumberedForm, ended_fields: Collection[str], has_notations: Collection[str]) -> exp.Expr:
    """Return the condition that no required field is missing and every value has the type of its field."""
    conditions: list[exp.Expr] = []
    for field in form.fields:
        value, text = build_column(field.name), build_column(f"{field.name}_text")
        condition = sql_trees.is_not_null(value)
        if field.paths and (field.required or field.default is not None):
            is_ended = exp.and_(build_column(ENDED), sql_trees.is_null(text))
            condition = exp.or_(condition, is_ended) if field.name in ended_fields else condition
        elif _can_be_null(form, field.name):
            condition = exp.or_(condition, sql_trees.is_null(text))
        else:
            continue
        if field.name in has_notations:
            unknown = sql_trees.build_if(field_sql.may_be_number(text.copy()), exp.Null(), exp.false())
            condition = sql_trees.build_if(condition, exp.true(), unknown)
        conditions.append(condition)
    return exp.and_(*conditions) if conditions else exp.true()
