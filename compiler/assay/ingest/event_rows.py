"""The query that makes the table of an event out of recognised lines."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from assay.ingest import fields, tree
from assay.ingest.forms import Numbered
from assay.ingest.recognise import texts_of_body
from assay.spec.model import Event, Field, Source
from assay.sql import dialect
from assay.sql.dialect import column


def event_rows(source: Source, event: Event, forms: Sequence[Numbered], parts: int) -> exp.Select:
    """The rows of an event out of tables `rows_0`, ... of recognised lines: host, seq, t_ns, whole, the wanted fields.

    `whole` tells that no field lacks that must be there, and that none is of another type than it should be.
    Parameters: `$hosts_0`, ... and `$offsets_0`, ..., which have a member for each file of a table.
    """
    own = [item for item in forms if item.event is event]
    paths = tuple(dict.fromkeys(path for item in own for path in item.paths))
    texts = texts_of_body(source, paths) if paths else exp.Null()
    found = dialect.select("host", "seq", "t_ns", "form", tree.named(texts, "texts"))
    found = tree.of(found, _lines(parts, own))
    names = [item.name for item in own[0].fields]
    said = [tree.named(_said(name, own, paths), f"{name}_text") for name in names]
    known = tree.of(dialect.select("host", "seq", "t_ns", "form", *said), "found")
    values = [tree.named(_value(name, own), name) for name in names]
    texts_kept = [f"{name}_text" for name in names if any(_may_lack(item, name) for item in own)]
    valued = tree.of(dialect.select("host", "seq", "t_ns", "form", *texts_kept, *values), "known")
    query = dialect.select("host", "seq", "t_ns", tree.named(_whole(own), "whole"), *names)
    stages = [("found", found), ("known", known), ("valued", valued)]
    return dialect.staged(tree.of(query, "valued"), stages)


def _lines(parts: int, own: Sequence[Numbered]) -> exp.Subquery:
    """The lines of the event's forms, whose numbers follow each other."""
    query: exp.Query = _part(0, own)
    for index in range(1, parts):
        query = exp.Union(this=query, expression=_part(index, own), distinct=False)
    return exp.Subquery(this=query, alias=exp.TableAlias(this=exp.to_identifier("own")))


def _part(index: int, own: Sequence[Numbered]) -> exp.Select:
    low, high = dialect.integer(own[0].number), dialect.integer(own[-1].number)
    of: exp.Expr = exp.EQ(this=column("form"), expression=low)
    if len(own) > 1:
        of = exp.Between(this=column("form"), low=low, high=high)
    file = exp.Add(this=column("file"), expression=dialect.integer(1))
    host = dialect.member(tree.given_list(f"hosts_{index}", "TEXT"), file)
    offset = dialect.member(tree.given_list(f"offsets_{index}", "BIGINT"), file.copy())
    seq = exp.Add(this=column("place"), expression=offset)
    keys = (tree.named(host, "host"), tree.named(seq, "seq"))
    query = tree.of(dialect.select(*keys, "t_ns", "form", "wrapped", "line"), f"rows_{index}")
    return query.where(of, copy=False)


def _field(item: Numbered, name: str) -> Field:
    return next(field for field in item.fields if field.name == name)


def _said(name: str, own: Sequence[Numbered], paths: Sequence[tuple[str, ...]]) -> exp.Expr:
    return tree.cases(
        column("form"),
        {item.number: fields.found_text(_field(item, name), column("texts"), paths) for item in own},
    )


def _value(name: str, own: Sequence[Numbered]) -> exp.Expr:
    said = column(f"{name}_text")
    return tree.cases(column("form"), {item.number: fields.typed(_field(item, name), said.copy()) for item in own})


def _may_lack(item: Numbered, name: str) -> bool:
    """Whether a field may be null in rows that are whole, though it is read."""
    field = _field(item, name)
    return bool(field.paths) and not field.required and field.default is None and field.type != "text"


def _whole(own: Sequence[Numbered]) -> exp.Expr:
    conditions = {item.number: _has_all(item) for item in own}
    return tree.cases(column("form"), conditions)


def _has_all(item: Numbered) -> exp.Expr:
    """Whether every field that must be there is, and none that is there is of another type."""
    parts: list[exp.Expr] = []
    for field in item.fields:
        value = column(field.name)
        if field.paths and (field.required or field.default is not None):
            parts.append(tree.given(value))
        elif _may_lack(item, field.name):
            parts.append(exp.or_(tree.given(value), tree.missing(column(f"{field.name}_text"))))
    return exp.and_(*parts) if parts else exp.true()
