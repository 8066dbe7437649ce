"""Test that the evaluator's package imports only the standard library and itself."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import assay_dhall

PACKAGE = Path(assay_dhall.__file__).parent


def list_imported_modules(path: Path) -> set[str]:
    """Return the modules that a file imports, inside functions too."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return names


def test_package_imports_standard_library_and_itself_only() -> None:
    foreign = {
        (path.name, name)
        for path in PACKAGE.glob("*.py")
        for name in list_imported_modules(path)
        if name.split(".")[0] not in sys.stdlib_module_names and not f"{name}.".startswith("assay_dhall.")
    }
    assert foreign == set()


def test_package_reads_neither_clock_nor_environment() -> None:
    modules = {name for path in PACKAGE.glob("*.py") for name in list_imported_modules(path)}
    assert modules & {"time", "random", "subprocess", "multiprocessing", "socket", "urllib.request"} == set()
    assert not any("os.environ" in path.read_text(encoding="utf-8") for path in PACKAGE.glob("*.py"))
