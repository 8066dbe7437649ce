"""Bound the work of an evaluation by counting it, so that it ends at the same point on every machine.

The counters are module state, because every function of the evaluator counts; `apply_budget` holds a lock, so that one
evaluation runs at a time. Counted are steps of evaluation, comparison and output; characters of text; cells of memory
(items of lists, fields of records, slots of environments: about 8 bytes each); and nested calls. The size of numbers is
bounded, too.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from assay_dhall.errors import DhallError, Problem

MAX_FRAMES = 160_000


@dataclass(frozen=True, slots=True)
class Budget:
    """The limits of one evaluation; `bits` is the size of the largest number."""

    steps: int = 2_000_000
    characters: int = 50_000_000
    cells: int = 20_000_000
    depth: int = 20_000
    bits: int = 8_192


class Meter:
    """What is left of the budget of the running evaluation."""

    __slots__ = ("bits", "budget", "cells", "characters", "depth", "steps")

    def __init__(self) -> None:
        self.start(Budget())

    def start(self, budget: Budget) -> None:
        """Fill the meter."""
        self.budget = budget
        self.steps = budget.steps
        self.characters = budget.characters
        self.cells = budget.cells
        self.depth = budget.depth
        self.bits = budget.bits


METER = Meter()
_LOCK = threading.RLock()
_ACTIVE: list[Budget] = []


@contextmanager
def apply_budget(budget: Budget) -> Iterator[Meter]:
    """Run a block with a full meter, or with the meter of the evaluation that encloses it in the same thread."""
    with _LOCK:
        if _ACTIVE:
            yield METER
            return
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(max(limit, MAX_FRAMES))
        METER.start(budget)
        _ACTIVE.append(budget)
        try:
            yield METER
        except RecursionError:
            raise build_budget_error("depth") from None
        finally:
            _ACTIVE.pop()
            sys.setrecursionlimit(limit)


def spend_steps(number: int) -> None:
    """Count steps; raise `DhallError` when none are left."""
    METER.steps -= number
    if METER.steps < 0:
        raise build_budget_error("steps")


def spend_cells(number: int) -> None:
    """Count cells of memory; raise `DhallError` when none are left."""
    METER.cells -= number
    if METER.cells < 0:
        raise build_budget_error("cells")


def spend_characters(number: int) -> None:
    """Count characters of a new text; raise `DhallError` when none are left."""
    METER.characters -= number
    if METER.characters < 0:
        raise build_budget_error("characters")


def check_number(number: int) -> int:
    """Return a number; raise `DhallError` if it has too many bits."""
    if number.bit_length() > METER.bits:
        raise build_budget_error("bits")
    return number


def find_budget_error() -> DhallError:
    """Return the error of the counter that is below zero."""
    return build_budget_error("steps" if METER.steps < 0 else "depth" if METER.depth < 0 else "cells")


def build_budget_error(kind: str) -> DhallError:
    """Return the error of a budget that is used up."""
    budget = METER.budget
    messages = {
        "steps": f"the evaluation takes more than {budget.steps:,} steps",
        "characters": f"the evaluation makes more than {budget.characters:,} characters of text",
        "cells": f"the evaluation makes more than {budget.cells:,} cells of lists, records and environments",
        "depth": f"the evaluation nests more than {budget.depth:,} calls",
        "bits": f"a number has more than {budget.bits:,} bits",
    }
    hint = "the expression grows without end, or far beyond what a specification needs"
    return DhallError([Problem("budget", messages[kind], hint=hint)])
