"""List the hosts with records of a source; of samples, which have no host, the labels that may name one."""

from __future__ import annotations

import glob
from collections.abc import Mapping, Sequence, Set

from assay.engine.connection import open_shared_cursor
from assay.ingest.readers.samples import LABEL
from assay.lang.model.package import Event
from assay.quality.absent_hosts import SourceHosts
from assay.quality.assess import Assessment
from assay.runs.model import Part
from assay.sql import dialect
from assay.sql.dialect import build_column, build_scan


def list_source_hosts(part: Part, events: Sequence[Event], assessment: Assessment) -> SourceHosts:
    """Return the hosts of a source by event, or the values of the labels of its samples by event.

    A source with several hosts counts as one event without a name: `Assessment` compares its hosts event by event.
    """
    if part.source.hosts:
        hosts = assessment.hosts.get(part.source.name, ())
        return SourceHosts(part.source.name, {event.name: frozenset(hosts) for event in events})
    labels: dict[str, dict[str, Set[str]]] = {}
    for event in events:
        for label, values in _read_labels(part, event).items():
            labels.setdefault(label, {})[event.name] = values
    return SourceHosts(part.source.name, labels=labels)


def _read_labels(part: Part, event: Event) -> Mapping[str, Set[str]]:
    """Return the distinct values of the labels of an event's samples that the columns of its table hold."""
    fields = {
        field.name: path[1]
        for form in event.forms
        for field in form.fields
        for path in field.paths
        if len(path) == 2 and path[0] == LABEL and not field.transforms
    }
    values: dict[str, set[str]] = {}
    with open_shared_cursor() as connection:
        for file in sorted((part.events / "events" / event.name).glob("*.parquet")):
            scan = build_scan(glob.escape(str(file)))
            columns = connection.execute(dialect.to_sql(dialect.select("*").from_(scan).limit(0))).description
            for name in fields.keys() & {str(column[0]) for column in columns}:
                query = dialect.select(build_column(name)).distinct().from_(scan.copy()).where(build_column("whole"))
                rows = connection.execute(dialect.to_sql(query)).fetchall()
                values.setdefault(fields[name], set()).update(str(value) for (value,) in rows if value)
    return values
