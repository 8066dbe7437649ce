"""An independent implementation of the metrics document in plain Python, without any database.

`analyse(run_dir, filters)` computes everything; `reconstruct` and `analyse_reconstruction` are its two
halves, for several filters over one run. `RefusalError` is raised, with the reason, for a run that cannot be
analysed. Nothing here comes from the compiler under test, so an agreement of the two is evidence. NOTES.md
has all rules.
"""

from tests.oracle.analysis import Reconstruction, analyse, analyse_reconstruction, reconstruct
from tests.oracle.distribution import CENTILES
from tests.oracle.filters import load_filters
from tests.oracle.model import (
    Analysis,
    BlockRow,
    Centile,
    Condition,
    Distribution,
    HostRow,
    Observation,
    RefusalError,
    Spread,
)
from tests.oracle.texts import format_manifest_cells

__all__ = [
    "CENTILES",
    "Analysis",
    "BlockRow",
    "Centile",
    "Condition",
    "Distribution",
    "HostRow",
    "Observation",
    "Reconstruction",
    "RefusalError",
    "Spread",
    "analyse",
    "analyse_reconstruction",
    "format_manifest_cells",
    "load_filters",
    "reconstruct",
]
