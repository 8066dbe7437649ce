"""Describe runs that have raw files of others: mostly a mistake in the folders of runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.app.prepare import IngestedRun
from assay.ingest.hashing import FileHash

MIN_SHARED_SIZE = 1024  # bytes: shorter files may be equal by chance


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
