"""Collect notes on a run's raw data: those of its files, silent hosts, malformed records, files of other runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from assay.engine.mount import find_first_quarantined
from assay.ingest.hashing import FileHash
from assay.ingest.manifest import read_notes
from assay.lang.model.source_kinds import SOURCE_KINDS
from assay.runs.model import IngestedRun, Part
from assay.util.diagnostics import AssayError

NAMED = 3  # hosts that a note names
MIN_SHARED_SIZE = 1024  # bytes: shorter files may be equal by chance


def list_raw_notes(ingested_run: IngestedRun) -> tuple[str, ...]:
    """Return a sentence for each property of the raw data that may affect the results."""
    notes = [note for part in ingested_run.parts for note in (*read_notes(part.events), *_iter_silent_host_notes(part))]
    return (*ingested_run.notes, *notes, *_iter_malformed_notes(ingested_run))


def add_silent_host_notes(error: AssayError, ingested_run: IngestedRun) -> AssayError:
    """Return an error with a note on hosts whose files have no events, which may be its cause."""
    silent_host_notes = tuple(note for part in ingested_run.parts for note in _iter_silent_host_notes(part))
    return AssayError(
        [replace(item, notes=(*silent_host_notes, *item.notes)) for item in error.diagnostics], error.status
    )


def _iter_silent_host_notes(part: Part) -> Iterator[str]:
    """Yield a note that names the hosts without any event in their files."""
    hosts = [log.host for log in part.facts.logs if not log.recognised]
    if not hosts or not part.source.hosts:
        return
    more = f" and {len(hosts) - NAMED} more" if len(hosts) > NAMED else ""
    host_list = f"host{'' if len(hosts) == 1 else 's'} {', '.join(hosts[:NAMED])}{more}"
    records = SOURCE_KINDS[part.source.kind].records
    yield f"none of the {records} of {host_list} is an event that the specs know (source {part.source.name})."


def _iter_malformed_notes(ingested_run: IngestedRun) -> Iterator[str]:
    """Yield a note on malformed records: how many on which hosts, and the reason for the first."""
    quarantined_logs = [log for log in ingested_run.logs if log.quarantined]
    if not quarantined_logs:
        return
    total = sum(log.quarantined for log in quarantined_logs)
    host_counts = ", ".join(f"{log.host}: {log.quarantined}" for log in quarantined_logs if log.host)
    records = f"broken {'log line' if host_counts else 'record'}{'' if total == 1 else 's'}"
    folder = next(part.events for part in ingested_run.parts if any(log.quarantined for log in part.facts.logs))
    subject = "the first is" if total > 1 else "it is"
    yield (
        f"{total} {records} left out{f' ({host_counts})' if host_counts else ''}; {subject} "
        f"{find_first_quarantined(folder)}."
    )


def iter_shared_file_notes(runs: Sequence[IngestedRun], run_labels: Sequence[str]) -> Iterator[str]:
    """Yield a sentence for each run that has the same files as an earlier run, byte for byte.

    `run_labels` are the labels of the runs in the report, in the same order.
    """
    for index, run in enumerate(runs):
        shared_by_run = [_find_common_files(run, other) for other in runs[:index]]
        most_shared = max(shared_by_run, key=len, default=[])
        if most_shared:
            yield _describe_shared_files(
                run_labels[index], run_labels[shared_by_run.index(most_shared)], run, most_shared
            )


def _find_common_files(run: IngestedRun, other: IngestedRun) -> list[FileHash]:
    """Return the files of a run that another run has too.

    Files shorter than `MIN_SHARED_SIZE` are left out, unless all files are shared.
    """
    other_hashes = {item.sha256 for item in other.hashes}
    common_files = [item for item in run.hashes if item.size and item.sha256 in other_hashes]
    if len(common_files) == len(run.hashes):
        return common_files
    return [item for item in common_files if item.size >= MIN_SHARED_SIZE]


def _describe_shared_files(run: str, other: str, ingested_run: IngestedRun, common_files: Sequence[FileHash]) -> str:
    """Say which raw files of a run are those of another; `run` and `other` are the labels of the runs."""
    file_count = len(ingested_run.hashes)
    if len(common_files) == file_count:
        is_repeat = ingested_run.run.version or ingested_run.run.is_calibration
        effect = "counts twice" if is_repeat else "is compared with itself"
        return f"{run} has the raw files of {other}, byte for byte: a run {effect}."
    more = f" and {len(common_files) - 1} more" if len(common_files) > 1 else ""
    return (
        f"{run} has {len(common_files)} of its {file_count} raw files from {other}, byte for byte "
        f"({common_files[0].name}{more}): files of one run may lie in the folder of another."
    )
