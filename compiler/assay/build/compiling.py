"""What comes with Assay made ready to be used, as its code is when that is compiled."""

from __future__ import annotations

from collections.abc import Mapping

from assay.build import handing
from assay.build.ingesting import wanted_of
from assay.ingest import ready_texts, summary
from assay.ingest.batches import batches_key
from assay.ingest.event_writing import Statements, hosts_type
from assay.ingest.filling import Part
from assay.ingest.forms import numbered
from assay.ingest.recognition import Recognition
from assay.spec import workspace
from assay.spec.model import Package, Source
from assay.spec.source_kinds import JSON_LINES

WORKERS = 2  # up to so many, what they read is put together by statements that are ready


def compile_shipped() -> None:
    """Have the specs ready that come with Assay, and the statements that read the logs of their systems."""
    workspace.compile_shipped()
    for system in workspace.shipped().systems():
        package = workspace.load(workspace.shipped(), system, None).package
        wanted = wanted_of(package)
        handing.statement([(name, True) for name in sorted(_constants(package))])
        for source in package.sources:
            if source.kind == JSON_LINES:
                _statements(package, source, wanted)
    hosts_type()
    summary.statements()
    ready_texts.keep(others=False)


def _constants(package: Package) -> set[str]:
    return {constant.name for source in package.sources for constant in source.constants}


def _statements(package: Package, source: Source, wanted: Mapping[str, frozenset[str]]) -> None:
    """Make the statements that write the events of a source."""
    events = [event for event in package.events if event.source == source.name]
    asked = {event.name: wanted[event.name] for event in events if event.name in wanted}
    how = Recognition(source, numbered(events, asked))
    statements = Statements(how, batches_key(source, events, asked, how.forms))
    for count in range(1, WORKERS + 1):
        parts = [Part(number, f"scan_{number}", scanned=True) for number in range(count)]
        for event in events:
            if event.name in asked:
                statements.text(event, parts, swift=True, in_order=True)
