"""Find which names of events, and which paths of fields, the records of a run use (`assay test`).

Event tables do not record which name a record had, or at which path the value of a field was. So the records are
ingested a second time as probe events, which have the same names but other fields: one with the number of the name, and
one for each path, whose value is missing if the path has none.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

from sqlglot import exp

from assay.app.session.prepare import prepare
from assay.app.session.session import Session
from assay.engine.executor import connect
from assay.engine.mount import mount_folders
from assay.engine.result_cache import Store
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.package import Event, Field, Form, Name
from assay.lang.model.vocabulary import Unit
from assay.runs.model import NamedRun
from assay.sql import dialect
from assay.sql.dialect import build_column, build_scan, select_event_rows
from assay.util.scratch import create_temporary_folder

NULL = exp.Null()
NAME_NUMBER = "named"  # the probe field with the number of the record's name


@dataclass(frozen=True, slots=True)
class Fallback:
    """One of several names of an event (`field` is empty), or one of several paths of a field.

    `form` is the number (from 1) of the form that has it; `text` is the name with its generation, or the path.
    """

    event: str
    field: str
    form: int
    text: str


def list_fallbacks(event: Event, fields: Collection[str]) -> tuple[Fallback, ...]:
    """Return the names of an event if it has several, and the paths of those `fields` that have several in a form."""
    name_fallbacks = [Fallback(event.name, "", form, text) for form, texts in _iter_form_names(event) for text in texts]
    path_fallbacks = [
        Fallback(event.name, field.name, form, ".".join(path))
        for form, field in _iter_multi_path_fields(event, fields)
        for path in field.paths
    ]
    return (*(name_fallbacks if len(name_fallbacks) > 1 else ()), *path_fallbacks)


def find_exercised_fallbacks(
    session: Session, checked: CheckedPackage, run: NamedRun, fields: Mapping[str, Collection[str]]
) -> frozenset[Fallback]:
    """Return the names and paths that occur in the records of a run, for the given fields by event.

    Raises AssayError.
    """
    probes = {
        event.name: _create_probe(event, fields[event.name])
        for event in checked.package.events
        if event.name in fields and list_fallbacks(event, fields[event.name])
    }
    if not probes:
        return frozenset()
    events = tuple(probes.get(event.name, event) for event in checked.package.events)
    probe_package = replace(checked, package=replace(checked.package, events=events))
    probe_fields = {name: frozenset(field.name for field in probe.fields) for name, probe in probes.items()}
    used_fallbacks: set[Fallback] = set()
    with create_temporary_folder() as folder:
        # The probes use a separate store: they must not replace the real events in the cache.
        with closing(Session(session.workspace, Store(folder), threads=session.threads)) as probe_session:
            (ingested_run,) = prepare(probe_session, probe_package, [run], probe_fields)
        with connect(os.cpu_count() or 1, folder) as connection:
            mount_folders(connection, ingested_run.folders)
            for event in checked.package.events:
                if ingested_run.counts.get(event.name) and event.name in probes:
                    names = sorted(probe_fields[event.name])
                    rows = connection.execute(dialect.to_sql(build_path_query(event.name, names))).fetchall()
                    row_values = [dict(zip(names, row, strict=True)) for row in rows]
                    used_fallbacks |= set(_iter_used_fallbacks(event, fields[event.name], row_values))
    return frozenset(used_fallbacks)


def _iter_form_names(event: Event) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield the number of each form, and its names with their generations."""
    for number, form in enumerate(event.forms, start=1):
        yield number, tuple(f"{item.generation}: {item.name}" for item in form.names)


def _iter_multi_path_fields(event: Event, fields: Collection[str]) -> Iterator[tuple[int, Field]]:
    """Yield the fields with several paths, each with the number of its form."""
    for number, form in enumerate(event.forms, start=1):
        yield from ((number, field) for field in form.fields if field.name in fields and len(field.paths) > 1)


def _create_probe(event: Event, fields: Collection[str]) -> Event:
    """Return the probe of an event: a form for each name, with fields that identify the name and the paths."""
    multi_path_fields = dict.fromkeys(field.name for _, field in _iter_multi_path_fields(event, fields))
    path_counts = {
        name: max(len(field.paths) for _, field in _iter_multi_path_fields(event, fields) if field.name == name)
        for name in multi_path_fields
    }
    forms: list[Form] = []
    for form in event.forms:
        single_names: list[tuple[Name, ...]] = [(name,) for name in form.names]
        for names in single_names or [()]:
            name_field = Field(NAME_NUMBER, "integer", Unit("", ""), "value", (), str(len(forms)), True, (), "")
            forms.append(replace(form, names=names, fields=(name_field, *_iter_path_fields(form, path_counts))))
    return replace(event, forms=tuple(forms))


def _iter_path_fields(form: Form, path_counts: Mapping[str, int]) -> Iterator[Field]:
    """Yield a field for each path of the fields with several paths."""
    paths = {field.name: field.paths for field in form.fields}
    for name, number in path_counts.items():
        for index in range(number):
            path = paths[name][index : index + 1]
            yield Field(f"{name}_{index}", "text", Unit("", ""), "value", path, None, False, (), "")


def build_path_query(event: str, names: Sequence[str]) -> exp.Select:
    """Return a query of the distinct combinations of names and paths.

    Each row has the number of the name and, for each path, whether it had a value.
    """
    table = select_event_rows(build_scan(f"events/{event}/*.parquet"), names)
    columns = [
        build_column(name)
        if name == NAME_NUMBER
        else exp.alias_(exp.Not(this=exp.Is(this=build_column(name), expression=NULL)), name)
        for name in names
    ]
    return dialect.select(*columns).distinct().from_(table.subquery("probes"))


def _iter_used_fallbacks(
    event: Event, fields: Collection[str], rows: Sequence[Mapping[str, object]]
) -> Iterator[Fallback]:
    """Yield the names that rows have and, for each field with several paths, the first path with a value."""
    numbered_names = [
        (number, text, form)
        for (number, texts), form in zip(_iter_form_names(event), event.forms, strict=True)
        for text in texts or ("",)
    ]
    for row in rows:
        number, text, form = numbered_names[int(str(row[NAME_NUMBER]))]
        yield Fallback(event.name, "", number, text)
        for field in form.fields:
            if field.name in fields and len(field.paths) > 1:
                paths_with_value = (path for index, path in enumerate(field.paths) if row[f"{field.name}_{index}"])
                if path := next(paths_with_value, None):
                    yield Fallback(event.name, field.name, number, ".".join(path))
