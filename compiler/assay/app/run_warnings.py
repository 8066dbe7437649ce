"""What a report warns of its runs before all else: that they share raw files, or are cut elsewhere than they tell."""

from __future__ import annotations

from collections.abc import Sequence

from assay.app.compute import Computation
from assay.app.phases import overruled
from assay.app.shared_files import shared_files
from assay.lang.model.package import Package


def run_warnings(package: Package, found: Computation, named: Sequence[str]) -> tuple[str, ...]:
    """Sentences about runs; `named` is what the report calls them, in order."""
    runs = [item.prepared for item in found.runs]
    cuts = zip(named, runs, found.phases, strict=False)  # without phases there are none
    return (*shared_files(runs, named), *overruled(package, cuts))
