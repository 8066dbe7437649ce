"""The evaluator: a session that remembers files by their content."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from assay.dhall.errors import DhallError, Diagnostic
from assay.dhall.imports import FolderPolicy, ImportPolicy, Refusal
from assay.dhall.loading import Entry, Loader
from assay.dhall.meter import METER, Budget
from assay.dhall.syntax import Node, Target
from assay.dhall.values import Value

_STACK = 256 << 20
_LOCK = threading.RLock()
_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class Evaluated:
    """A file's value and type, the expression that it is, and the names of all files read for it, sorted."""

    value: Value
    type: Value
    node: Node
    files_read: tuple[str, ...]


class Evaluator:
    """Evaluates files and remembers them: after an edit, only what depends on it is evaluated again."""

    def __init__(self, policy: ImportPolicy | None = None, budget: Budget | None = None) -> None:
        self.policy = policy or FolderPolicy(Path())
        self.budget = budget or Budget()
        self._known: dict[tuple[Target, str], Entry] = {}

    def evaluate_file(self, path: str | Path | Target) -> Evaluated:
        """Evaluate a file; raises `DhallError` with all its diagnostics."""
        if isinstance(path, Target):
            target = path
        else:
            assert isinstance(self.policy, FolderPolicy), "another policy takes a `Target`"
            try:
                target = self.policy.find_target(path)
            except Refusal as refusal:
                raise DhallError(Diagnostic("import", refusal.message, hint=refusal.hint)) from None
        return self._run(lambda loader: loader.load(target, "Code", None))

    def evaluate_text(self, text: str, name: str = "(text)") -> Evaluated:
        """Evaluate a text; its imports are relative to the root."""
        return self._run(lambda loader: loader.load_text(name, text.encode("utf-8", "replace"), text, None))

    def _run(self, work: Callable[[Loader], Entry]) -> Evaluated:
        loader = Loader(self.policy, self._known)
        try:
            entry = run_deep(lambda: work(loader), self.budget)
        except DhallError as error:
            error.files_read = self._name_files(loader)
            raise
        assert entry.node is not None
        return Evaluated(entry.value, entry.type, entry.node, self._name_files(loader))

    def _name_files(self, loader: Loader) -> tuple[str, ...]:
        return tuple(sorted({self.policy.name(target) for target in loader.contents}))


def run_deep(work: Callable[[], _Result], budget: Budget) -> _Result:
    """Run work within a budget, in a thread whose stack suffices for its depth; one at a time in a process."""
    results: list[_Result] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except RecursionError:
            message = f"the evaluation is nested more than {budget.frames} calls deep"
            hint = "a function that calls itself through its argument goes too deep"
            errors.append(DhallError(Diagnostic("budget", message, hint=hint)))
        except BaseException as error:
            errors.append(error)

    with _LOCK:
        METER.reset(budget)
        limit, size = sys.getrecursionlimit(), threading.stack_size(_STACK)
        sys.setrecursionlimit(budget.frames)
        try:
            thread = threading.Thread(target=run)
            thread.start()
            threading.stack_size(size)
            thread.join()
        finally:
            sys.setrecursionlimit(limit)
    if errors:
        raise errors[0]
    return results[0]
