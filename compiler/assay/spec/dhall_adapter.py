"""Dhall files to plain data, through the `dhall` binding with its sharp edges filed off.

What a value becomes:

* Text `str`, Bool `bool`, a record `dict` with sorted keys, a List `list` in its order.
* Natural and Integer `int`, exact within 64 bits.  A literal beyond them is refused, but arithmetic wraps
  around without a word: 2^64 - 1 and 1 make 0.
* Double `float`: `1.0` stays a float, NaN and infinities pass.
* `Some x` is `x` and `None T` is `None`, so `Some (None T)` cannot be told from `None T`.
* A list of `{ mapKey : Text, mapValue : T }`, which is what `toMap` gives, is a `dict`, also
  when it is empty; of a key that comes twice the last value stays.
* A union loses its tag: `A.Mono "t"` is `"t"`, an alternative without a value is its name.
* Functions and types are refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from assay.spec.dhall_errors import failure, interpolated
from assay.spec.dhall_known import Known
from assay.spec.dhall_outlines import Outlines
from assay.spec.dhall_run import SECONDS, available, copied, get_ready
from assay.spec.imports import SourceFile, root_name, sources, sources_hash

__all__ = [
    "Known",
    "Outlines",
    "SourceFile",
    "available",
    "evaluate",
    "evaluate_sources",
    "get_ready",
    "sources",
    "sources_hash",
]


def evaluate(root_file: Path, workspace: Path, shipped: Path | None = None, *, seconds: float = SECONDS) -> object:
    """The value of a Dhall file as plain data, the same in every process.

    The files are scanned first (see `sources`), then evaluated in another process with an empty environment,
    within `seconds` and 2 GB.  Raises `AssayError`.
    """
    files = sources(root_file, workspace, shipped)
    return evaluate_sources(root_name(root_file, workspace, shipped), files, seconds=seconds)


def evaluate_sources(
    root: str, files: Sequence[SourceFile], *, seconds: float = SECONDS, known: Known | None = None
) -> object:
    """The value of the file named `root` among sources that are scanned already; raises `AssayError`.

    With `known`, files that did not change are not worked out again.  Without the package `dhall`, Assay's own
    evaluator is used.
    """
    if not available():
        from assay.spec.own_evaluator import evaluate_scanned

        return evaluate_scanned(root, files)
    found = (Outlines(known).evaluate(root, files, seconds) or known.evaluate(root, files, seconds)) if known else None
    if found:
        return found.value
    with copied(files) as copy:
        outcome = copy.evaluate(root, seconds, [piece.text for piece in interpolated(files)])
        if outcome.kind == "value":
            return outcome.value
        error = failure(outcome, root, files, copy, seconds)
    raise error
