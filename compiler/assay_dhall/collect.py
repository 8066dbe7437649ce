"""Find the files that an evaluation reads, without typing or evaluating any of them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

from assay_dhall.budget import apply_budget
from assay_dhall.errors import DhallError, Problem
from assay_dhall.imports import ImportRefusedError
from assay_dhall.session import Evaluator, Loader, Module, describe_refusal
from assay_dhall.syntax import Import


@dataclass(frozen=True, slots=True)
class CollectedFile:
    """A file that an evaluation reads; `mode` is `Code`, `Text` or `Bytes`."""

    name: str
    mode: str
    content: bytes = field(repr=False)


def collect_files(evaluator: Evaluator, name: str) -> tuple[CollectedFile, ...]:
    """Return a file and its direct and indirect imports, sorted by name; raise `DhallError` with every problem.

    A file that is read in two modes is listed once, as code. The evaluator does not parse the same contents again.
    """
    with apply_budget(evaluator.budget):
        walk = _Walk(evaluator)
        try:
            walk.visit(name)
        except ImportRefusedError as error:
            walk.problems.append(Problem("import", error.message, hint=error.hint))
    if walk.problems:
        raise DhallError(walk.problems)
    return tuple(walk.files[key] for key in sorted(walk.files))


class _Walk:
    """A depth-first walk over imports, which collects files and problems."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.load = Loader(evaluator)
        self.files: dict[str, CollectedFile] = {}
        self.problems: list[Problem] = []

    def visit(self, name: str) -> None:
        """Add a file of code, and the files that it imports, directly or not."""
        content = self.load.read(name)
        self.files[name] = CollectedFile(name, "Code", content)
        self.load.trail.append(name)
        try:
            module = self.evaluator.find_module(name, hashlib.sha256(content).hexdigest())
            if module is None or not self._add_uses(module):
                self._visit_imports(name, content)
        finally:
            self.load.trail.pop()

    def _add_uses(self, module: Module) -> bool:
        """Add the files that the evaluation of a module read; return whether all of them can still be read.

        If not, the imports must be visited: only these have places to report.
        """
        try:
            for name, mode, _, _ in module.uses:
                self._add(name, mode)
        except ImportRefusedError:
            return False
        return True

    def _visit_imports(self, name: str, content: bytes) -> None:
        try:
            parsed = self.evaluator.parse(name, content)
        except DhallError as error:
            self._report(error)
            return
        for node in parsed.imports:
            try:
                self._follow_import(name, node)
            except DhallError as error:
                self._report(error)
            except ImportRefusedError as error:
                # The operator `?` accepts files that do not exist.
                if not (error.is_absent and parsed.has_fallback):
                    self._report(DhallError([describe_refusal(node, error)]))

    def _follow_import(self, importer: str, node: Import) -> None:
        name = self.load.resolve(importer, node)
        if node.mode == "Location":
            return
        if node.mode == "Code":
            self.load.check_trail(name, node)
        self._add(name, node.mode)

    def _add(self, name: str, mode: str) -> None:
        if mode == "Code":
            if name not in self.files or self.files[name].mode != "Code":
                self.visit(name)
        elif name not in self.files:
            self.files[name] = CollectedFile(name, mode, self.load.read(name))

    def _report(self, error: DhallError) -> None:
        self.problems.extend(problem for problem in error.problems if problem not in self.problems)
