"""Functions of the evaluator that modules below it call.

Comparison, quotation and reduction apply functions, and evaluation needs all three, so imports would form a cycle.
`assay.dhall.evaluate` sets the functions when it is imported.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from assay.dhall.syntax import Node
from assay.dhall.values import Environment, Value


class Hooks:
    """The functions `apply`, `instantiate` and `evaluate` of `assay.dhall.evaluate`."""

    __slots__ = ("apply", "evaluate", "instantiate")

    apply: Callable[[Value, Value], Value]
    instantiate: Callable[[Any, Value], Value]
    evaluate: Callable[[Node, Environment], Value]


HOOKS = Hooks()
