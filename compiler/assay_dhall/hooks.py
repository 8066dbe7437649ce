"""Functions of the evaluator that modules below it call.

Comparison, quotation and reduction apply functions, and evaluation needs all three, so imports would form a cycle.
`assay_dhall.evaluate` sets the functions when it is imported.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from assay_dhall.syntax import Node
from assay_dhall.values import Environment, Value


class Hooks:
    """The functions `apply`, `instantiate` and `evaluate` of `assay_dhall.evaluate`."""

    __slots__ = ("apply", "evaluate", "instantiate")

    apply: Callable[[Value, Value], Value]
    instantiate: Callable[[Any, Value], Value]
    evaluate: Callable[[Node, Environment], Value]


HOOKS = Hooks()
