"""Warnings about the runs of a report: shared files and different phases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.app.compute import Computation
from assay.app.phases import overruled
from assay.app.prepare import IngestedRun
from assay.ingest.hashing import FileHash
from assay.lang.model.package import Package

LEAST = 1024  # bytes: single files that are shorter may well be alike


def shared_files(runs: Sequence[IngestedRun], named: Sequence[str]) -> Iterator[str]:
    """A sentence for each run that has files of one before it, byte for byte; `named` is what the report calls them."""
    for later, run in enumerate(runs):
        found = [_common(run, other) for other in runs[:later]]
        most = max(found, key=len, default=[])
        if most:
            yield describe_shared_files(named[later], named[found.index(most)], run, most)


def _common(run: IngestedRun, other: IngestedRun) -> list[FileHash]:
    """The files of a run that another has, but for short ones, unless it has all of them."""
    theirs = {item.sha256 for item in other.hashes}
    common = [item for item in run.hashes if item.size and item.sha256 in theirs]
    return common if len(common) == len(run.hashes) else [item for item in common if item.size >= LEAST]


def describe_shared_files(run: str, other: str, prepared: IngestedRun, common: Sequence[FileHash]) -> str:
    whole = len(prepared.hashes)
    if len(common) == whole:
        return f"{run} has the raw files of {other}, byte for byte: a run is compared with itself."
    more = f" and {len(common) - 1} more" if len(common) > 1 else ""
    return (
        f"{run} has {len(common)} of its {whole} raw files from {other}, byte for byte ({common[0].name}{more}): files "
        "of one run may lie in the folder of another."
    )


def run_warnings(package: Package, found: Computation, named: Sequence[str]) -> tuple[str, ...]:
    """Sentences about runs; `named` is what the report calls them, in order."""
    runs = [item.prepared for item in found.runs]
    cuts = zip(named, runs, found.phases, strict=False)  # without phases there are none
    return (*shared_files(runs, named), *overruled(package, cuts))
