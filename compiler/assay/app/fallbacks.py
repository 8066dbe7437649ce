"""Names of events, and places of fields, that stand in for each other: which of them records really have.

Which name a record had, and at which place a field was found, no table of an event tells.  So the records are read once
more, as events of the same names with other fields: one that says which name it was, one for each place.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

from sqlglot import exp

from assay.app.prepare import prepare
from assay.app.runs import NamedRun
from assay.app.session import Session
from assay.engine.executor import connect
from assay.engine.mount import mount
from assay.engine.result_cache import Store
from assay.lang.model.package import Event, Field, Form, Name
from assay.lang.model.unit import Unit
from assay.lang.normal_form import CheckedPackage
from assay.sql import dialect
from assay.sql.dialect import column
from assay.sql.events import event_table, scan
from assay.util.scratch import folder as temporary

NULL = exp.Null()
NAMED = "named"  # the probe that says which name a record had


@dataclass(frozen=True, slots=True)
class Fallback:
    """One of several names of an event (no `field`), or of several places of a field; `form` is the number (from 1) of
    the form that has it, `text` the name with its generation, or the place."""

    event: str
    field: str
    form: int
    text: str


def fallbacks(event: Event, fields: Collection[str]) -> tuple[Fallback, ...]:
    """All names of an event, where there are several, and all places of its `fields` that have several in a form."""
    names = [Fallback(event.name, "", form, text) for form, texts in _names(event) for text in texts]
    places = [
        Fallback(event.name, field.name, form, ".".join(path))
        for form, field in _with_several(event, fields)
        for path in field.paths
    ]
    return (*(names if len(names) > 1 else ()), *places)


def exercised(
    session: Session, checked: CheckedPackage, run: NamedRun, fields: Mapping[str, Collection[str]]
) -> frozenset[Fallback]:
    """Which names and places the records of a run have, of events and their fields.  Raises AssayError."""
    probes = {
        event.name: _probe(event, fields[event.name])
        for event in checked.package.events
        if event.name in fields and fallbacks(event, fields[event.name])
    }
    if not probes:
        return frozenset()
    events = tuple(probes.get(event.name, event) for event in checked.package.events)
    probed = replace(checked, package=replace(checked.package, events=events))
    wanted = {name: frozenset(field.name for field in probe.fields) for name, probe in probes.items()}
    found: set[Fallback] = set()
    with temporary() as folder:
        # What is read so is nothing to keep in the place of what the events are.
        with closing(Session(session.workspace, Store(folder), threads=session.threads)) as alone:
            (prepared,) = prepare(alone, probed, [run], wanted)
        with connect(os.cpu_count() or 1, folder) as connection:
            mount(connection, prepared.folders)
            for event in checked.package.events:
                if prepared.counts.get(event.name) and event.name in probes:
                    names = sorted(wanted[event.name])
                    rows = connection.execute(dialect.text(query_taken_paths(event.name, names))).fetchall()
                    told = [dict(zip(names, row, strict=True)) for row in rows]
                    found |= set(_of_rows(event, fields[event.name], told))
    return frozenset(found)


def _names(event: Event) -> Iterator[tuple[int, tuple[str, ...]]]:
    """The number of each form, and its names with their generations."""
    for number, form in enumerate(event.forms, start=1):
        yield number, tuple(f"{item.generation}: {item.name}" for item in form.names)


def _with_several(event: Event, fields: Collection[str]) -> Iterator[tuple[int, Field]]:
    """The fields with several places, each with the number of its form."""
    for number, form in enumerate(event.forms, start=1):
        yield from ((number, field) for field in form.fields if field.name in fields and len(field.paths) > 1)


def _probe(event: Event, fields: Collection[str]) -> Event:
    """The event with a form for each name, and fields that tell names and places."""
    several = dict.fromkeys(field.name for _, field in _with_several(event, fields))
    most = {
        name: max(len(field.paths) for _, field in _with_several(event, fields) if field.name == name)
        for name in several
    }
    forms: list[Form] = []
    for form in event.forms:
        alone: list[tuple[Name, ...]] = [(name,) for name in form.names]
        for names in alone or [()]:
            told = Field(NAMED, "integer", Unit("", ""), "value", (), str(len(forms)), True, (), "")
            forms.append(replace(form, names=names, fields=(told, *_places(form, most))))
    return replace(event, forms=tuple(forms))


def _places(form: Form, most: Mapping[str, int]) -> Iterator[Field]:
    """A field for each place of the fields with several."""
    paths = {field.name: field.paths for field in form.fields}
    for name, number in most.items():
        for index in range(number):
            place = paths[name][index : index + 1]
            yield Field(f"{name}_{index}", "text", Unit("", ""), "value", place, None, False, (), "")


def query_taken_paths(event: str, names: Sequence[str]) -> exp.Select:
    """Which name was seen with which places: a row for each that there is; of a place, whether it had a value."""
    table = event_table(scan(f"events/{event}/*.parquet"), names)
    told = [
        column(name) if name == NAMED else exp.alias_(exp.Not(this=exp.Is(this=column(name), expression=NULL)), name)
        for name in names
    ]
    return dialect.select(*told).distinct().from_(table.subquery("told"))


def _of_rows(event: Event, fields: Collection[str], rows: Sequence[Mapping[str, object]]) -> Iterator[Fallback]:
    """The names that rows had, and the first places of fields with a value."""
    named = [
        (number, text, form)
        for (number, texts), form in zip(_names(event), event.forms, strict=True)
        for text in texts or ("",)
    ]
    for row in rows:
        number, text, form = named[int(str(row[NAMED]))]
        yield Fallback(event.name, "", number, text)
        for field in form.fields:
            if field.name in fields and len(field.paths) > 1:
                there = (path for index, path in enumerate(field.paths) if row[f"{field.name}_{index}"])
                if path := next(there, None):
                    yield Fallback(event.name, field.name, number, ".".join(path))
