"""A budget for evaluation, counted and not timed: it is spent at the same point on every machine."""

from __future__ import annotations

from dataclasses import dataclass

from assay.dhall.errors import DhallError, Diagnostic


@dataclass(frozen=True, slots=True)
class Budget:
    """Upper bounds; `characters` and `items` count all texts and lists made, also those no longer needed."""

    steps: int = 500_000
    characters: int = 20_000_000
    items: int = 2_000_000
    natural_bits: int = 13_000
    depth: int = 4_000
    frames: int = 120_000


class Meter:
    """What is left of the budget of the evaluation at hand; one runs at a time in a process."""

    __slots__ = ("budget", "characters", "depth", "items", "steps")

    def __init__(self) -> None:
        self.reset(Budget())

    def reset(self, budget: Budget) -> None:
        """Begin with a whole budget."""
        self.budget = budget
        self.steps = budget.steps
        self.characters = budget.characters
        self.items = budget.items
        self.depth = 0

    def spend(self, steps: int = 1) -> None:
        """Count steps."""
        self.steps -= steps
        if self.steps < 0:
            raise self.exhaust("steps", self.budget.steps)

    def spend_characters(self, count: int) -> None:
        """Count characters of a text before it is made."""
        self.characters -= count
        if self.characters < 0:
            raise self.exhaust("characters of text", self.budget.characters)

    def spend_items(self, count: int) -> None:
        """Count items of a list, or fields of a record, before it is made."""
        self.items -= count
        if self.items < 0:
            raise self.exhaust("items of lists and records", self.budget.items)

    def check_bits(self, bits: int) -> None:
        """Refuse a number of more bits than a Natural may have."""
        if bits > self.budget.natural_bits:
            raise self.exhaust("bits of one number", self.budget.natural_bits)

    @staticmethod
    def exhaust(unit: str, limit: int) -> DhallError:
        """Make the error of a budget that is spent; the evaluator adds the place."""
        message = f"the evaluation needs more than {limit:,} {unit}"
        return DhallError(Diagnostic("budget", message, hint="write a smaller expression"))


METER = Meter()
