"""Dhall in pure Python: parser, type inference, evaluation and confined imports.

The package needs the standard library alone. A session evaluates files inside some folders and remembers them:

    from pathlib import Path

    from assay.dhall import Evaluator, FolderPolicy, to_data

    evaluator = Evaluator(FolderPolicy(Path("specs")))
    evaluated = evaluator.evaluate_file("package.dhall")
    print(to_data(evaluated.value), evaluated.files_read)

`DhallError` holds the diagnostics of all problems of a file as data. Evaluation stops at a counted budget, at the
same point on every machine. `find_origin` tells where a part of the value is written.
"""

from assay.dhall.data import Origin, find_origin, to_data
from assay.dhall.errors import DhallError, Diagnostic, Span
from assay.dhall.evaluator import Evaluated, Evaluator
from assay.dhall.imports import FolderPolicy, ImportPolicy, Refusal
from assay.dhall.meter import Budget
from assay.dhall.syntax import Target

__all__ = [
    "Budget",
    "DhallError",
    "Diagnostic",
    "Evaluated",
    "Evaluator",
    "FolderPolicy",
    "ImportPolicy",
    "Origin",
    "Refusal",
    "Span",
    "Target",
    "find_origin",
    "to_data",
]
