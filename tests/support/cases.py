"""Define the reference cases: a run, its filters, and the incumbent's results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.compare_reference import CARDANO
from tests.oracle import Condition, load_filters

#: runs without a filter, with gaps, ties, or orders of events that other cases lack
TINY = ("gap999", "hdrforge2", "longspan", "peerfirst", "plain", "tie-hash", "tie-hosts")

#: condition of a filter file -> filter of the specs
FILTERS = {
    "BUnitaryChainDelta": "unitary",
    "BNonNegatives": "nonnegative",
    "BMinimumAdoptions": "min-adoptions",
    "BSizeGEq": "size-geq",
    "BSizeLEq": "size-leq",
    "BFullnessGEq": "fullness-above",
    "BFullnessLEq": "fullness-below",
    "SlotGEq": "slot-geq",
    "SlotLEq": "slot-leq",
    "EpochGEq": "epoch-geq",
    "EpochLEq": "epoch-leq",
    "EpSlotGEq": "epoch-slot-geq",
    "EpSlotLEq": "epoch-slot-leq",
    "EpochSafeIntGEq": "safe-interval-geq",
    "EpochSafeIntLEq": "safe-interval-leq",
    "SlotHasLeaders": "slot-has-leaders",
}


@dataclass(frozen=True, slots=True)
class Case:
    """A reference case: its name, the name of its filter file ("" for none), the folder of expected results."""

    name: str
    filters: str
    expected: str = "expected"

    @property
    def run(self) -> Path:
        """Return the run directory."""
        return CARDANO / self.name / "run"

    @property
    def results(self) -> Path:
        """Return the folder of the incumbent's results."""
        return CARDANO / self.name / self.expected

    @property
    def key(self) -> str:
        """Return the case's name in the reference data."""
        return f"{self.name}/{self.expected}"

    @property
    def conditions(self) -> list[Condition]:
        """Return the conditions of its filter file."""
        return load_named_filters(self.filters)

    def __str__(self) -> str:
        return self.name if self.expected == "expected" else f"{self.name}-{self.filters}"


def load_named_filters(name: str) -> list[Condition]:
    """Return the conditions of a filter file of the reference; none for an empty name."""
    return load_filters(CARDANO / "filters" / f"{name}.json") if name else []


def format_options(conditions: Sequence[Condition]) -> list[str]:
    """Return the conditions as values of `--filter`."""
    return [FILTERS[c.name] if c.argument is None else f"{FILTERS[c.name]}={c.argument}" for c in conditions]


CASES: tuple[Case, ...] = (
    *(Case(name, "model") for name in ("baseline", "candidate", "candidate2")),
    Case("epochs", "epoch"),
    *(
        Case(name, "unitary")
        for name in ("many-hosts", "legacy", "list-ns", "defects", "full-blocks", "forks", "edges")
    ),
    Case("edges", "edges1", "expected-edges1"),
    Case("edges", "edges2", "expected-edges2"),
    *(Case(f"tiny/{name}", "") for name in TINY),
)
