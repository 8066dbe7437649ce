"""The query that makes the table of an event out of recognised lines."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

from sqlglot import exp

from assay.ingest import fields, tree
from assay.ingest.forms import Numbered, paths_of
from assay.ingest.recognise import Recognition, shared_columns, texts_of_body
from assay.spec.model import Event, Field
from assay.spec.own_names import KEYS
from assay.sql import dialect
from assay.sql.dialect import column

ENDED = "ended"  # a column that tells of rows that a field of theirs has no value


def event_rows(how: Recognition, event: Event, parts: int, swift: bool) -> exp.Select:
    """The rows of an event out of tables `rows_0`, ... of recognised lines: host, seq, t_ns, whole, the wanted fields.

    `whole` tells that no field lacks that must be there, and that none is of another type than it should be.  The
    `swift` query may say of rows that are whole that they are not, for how they write an integer.
    Parameters: `$hosts_0`, ... and `$offsets_0`, ..., which have a member for each file of a table.
    """
    own = [item for item in how.forms if item.event is event]
    paths = paths_of(own)
    if how.reads_line(own):
        texts = [tree.named(texts_of_body(how.source, paths), "texts")]
        read = {path: tree.member(column("texts"), index) for index, path in enumerate(paths, start=1)}
        rows = _rows(parts, own, ["wrapped", "line"])
    else:
        texts = [column(name) for name in shared_columns(how)]
        read = dict(zip(how.shared, texts, strict=True))
        rows = _rows(parts, own, shared_columns(how))
    return typed_rows(own, read, tree.of(dialect.select(*KEYS, "form", *texts), rows), swift=swift)


def typed_rows(
    own: Sequence[Numbered],
    read: Mapping[tuple[str, ...], exp.Expr],
    found: exp.Select,
    given: Mapping[tuple[int, str], exp.Expr] = MappingProxyType({}),
    ended: Collection[str] = (),
    swift: bool = False,
    keys: Sequence[str] = KEYS,
) -> exp.Select:
    """The rows of an event, whose forms are `own`, out of rows of `keys`, form, and what is `read` at paths.

    `given` are values of fields, by form and name, that are no texts: columns of `found` that are there already.
    Fields of the names `ended` need no text in rows of which the column `ended` of `found` holds.  `swift` is that of
    `fields.typed`.
    """
    names = [item.name for item in own[0].fields]
    stages = [("found", found)]
    said = [tree.named(_said(name, own, read), f"{name}_text") for name in names]
    ready = sorted({value.name for value in given.values()} | ({ENDED} if ended else set()))
    stages.append(("known", tree.of(dialect.select(*keys, "form", *ready, *said), "found")))
    values = [tree.named(_value(name, own, given, swift), name) for name in names]
    texts_kept = [f"{name}_text" for name in names if name in ended or any(_may_lack(item, name) for item in own)]
    texts_kept += [ENDED] if ended else []
    stages.append(("valued", tree.of(dialect.select(*keys, "form", *texts_kept, *values), "known")))
    query = dialect.select(*keys, tree.named(_whole(own, ended), "whole"), *names)
    return dialect.staged(tree.of(query, "valued"), stages)


def _rows(parts: int, own: Sequence[Numbered], columns: Sequence[str]) -> exp.Subquery:
    """The lines of the event's forms, whose numbers follow each other."""
    query: exp.Query = _part(0, own, columns)
    for index in range(1, parts):
        query = exp.Union(this=query, expression=_part(index, own, columns), distinct=False)
    return exp.Subquery(this=query, alias=exp.TableAlias(this=exp.to_identifier("own")))


def _part(index: int, own: Sequence[Numbered], columns: Sequence[str]) -> exp.Select:
    file = exp.Add(this=column("file"), expression=dialect.integer(1))
    host = dialect.member(tree.given_list(f"hosts_{index}", "TEXT"), file)
    offset = dialect.member(tree.given_list(f"offsets_{index}", "BIGINT"), file.copy())
    seq = exp.Add(this=column("rowid"), expression=offset)
    keys = (tree.named(host, "host"), tree.named(seq, "seq"))
    query = tree.of(dialect.select(*keys, "t_ns", "form", *columns), f"rows_{index}")
    return query.where(tree.within(column("form"), own[0].number, own[-1].number), copy=False)


def _field(item: Numbered, name: str) -> Field:
    return next(field for field in item.fields if field.name == name)


def _said(name: str, own: Sequence[Numbered], read: Mapping[tuple[str, ...], exp.Expr]) -> exp.Expr:
    return tree.cases(
        column("form"),
        {item.number: fields.found_text(_field(item, name), read) for item in own},
    )


def _value(name: str, own: Sequence[Numbered], given: Mapping[tuple[int, str], exp.Expr], swift: bool) -> exp.Expr:
    said = column(f"{name}_text")
    values = {
        item.number: given.get((item.number, name), fields.typed(_field(item, name), said.copy(), swift))
        for item in own
    }
    return tree.cases(column("form"), values)


def _may_lack(item: Numbered, name: str) -> bool:
    """Whether a field may be null in rows that are whole, though it is read."""
    field = _field(item, name)
    return bool(field.paths) and not field.required and field.default is None and not fields.is_any_text(field)


def _whole(own: Sequence[Numbered], ended: Collection[str]) -> exp.Expr:
    conditions = {item.number: _has_all(item, ended) for item in own}
    return tree.cases(column("form"), conditions)


def _has_all(item: Numbered, ended: Collection[str]) -> exp.Expr:
    """Whether every field that must be there is, and none that is there is of another type."""
    parts: list[exp.Expr] = []
    for field in item.fields:
        value = column(field.name)
        if field.paths and (field.required or field.default is not None):
            there = tree.given(value)
            none = exp.and_(column(ENDED), tree.missing(column(f"{field.name}_text")))
            parts.append(exp.or_(there, none) if field.name in ended else there)
        elif _may_lack(item, field.name):
            parts.append(exp.or_(tree.given(value), tree.missing(column(f"{field.name}_text"))))
    return exp.and_(*parts) if parts else exp.true()
