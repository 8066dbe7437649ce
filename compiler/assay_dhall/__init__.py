"""Dhall in pure Python: parser, types, normal forms, imports confined by a policy, and messages with places.

The package imports nothing but the standard library.

>>> from assay_dhall import evaluate_text, to_data
>>> evaluated = evaluate_text("let double = \\\\(n : Natural) -> n * 2 in { size = double 21 }")
>>> to_data(evaluated.value)
{'size': 42}

A file, with imports from one folder only, and the place where a part of its value was written:

    evaluator = Evaluator(FolderPolicy([folder]))
    evaluated = evaluator.evaluate_file(folder / "package.dhall")
    data = to_data(evaluated.value)
    node = find_origin(evaluated.value, ("metrics", 0, "unit"))
    print(get_node_span(node))

An `Evaluator` remembers files: after an edit, only the file and those that import it are evaluated again. Errors are
`DhallError`, with all problems of the files. A `Budget` bounds the work by counting it, not by its time. `normalize`
returns the normal form of a value, for `print_node`, `encode` and `compute_semantic_hash`.

Layers, each using those before it: `syntax`, `errors`, `budget`, `values`; `lexer`, `literals`, `primitives`, `parser`;
`hooks`, `convert`, `operations`, `builtin_functions`, `quote`, `evaluate`; `printer`, `mismatch`, `infer` and the
rules in `typing_rules`, `typing_records`, `typing_unions`; `binary`, `decode`; `imports`, `session`, `collect`;
`origin`, `data`, `names`; `editor`.
"""

from __future__ import annotations

from assay_dhall.binary import compute_semantic_hash, encode
from assay_dhall.budget import Budget, apply_budget
from assay_dhall.data import to_data
from assay_dhall.decode import decode
from assay_dhall.errors import DhallError, Problem, Span, get_node_span
from assay_dhall.imports import FolderPolicy, ImportPolicy, ImportRefusedError, NoImports, OverlayPolicy
from assay_dhall.origin import Place, find_origin
from assay_dhall.printer import print_node
from assay_dhall.quote import quote
from assay_dhall.session import Evaluation, Evaluator, Module, ReadFile, evaluate_file
from assay_dhall.syntax import Node
from assay_dhall.values import Value

__all__ = [
    "Budget",
    "DhallError",
    "Evaluation",
    "Evaluator",
    "FolderPolicy",
    "ImportPolicy",
    "ImportRefusedError",
    "Module",
    "NoImports",
    "Node",
    "OverlayPolicy",
    "Place",
    "Problem",
    "ReadFile",
    "Span",
    "compute_semantic_hash",
    "decode",
    "encode",
    "evaluate_file",
    "evaluate_text",
    "find_origin",
    "get_node_span",
    "normalize",
    "print_node",
    "to_data",
]


def evaluate_text(text: str, name: str = "(text)", budget: Budget | None = None) -> Evaluation:
    """Evaluate an expression without imports; raise `DhallError`."""
    return Evaluator(NoImports(), budget).evaluate_text(text, name)


def normalize(value: Value, budget: Budget | None = None) -> Node:
    """Return the normal form of a value or type as an expression, with the names that its binders had."""
    with apply_budget(budget or Budget()):
        return quote(value, [])
