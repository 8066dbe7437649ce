"""List the modules of the compiler: the core and the packages beside it, without their tests."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COMPILER = ROOT / "compiler"
CORE = COMPILER / "assay"
OTHER_PACKAGES = sorted(path for path in COMPILER.iterdir() if path.name.startswith("assay_") and path.is_dir())


def list_modules(package: Path) -> list[Path]:
    """Return the modules of a package, without its tests."""
    return sorted(path for path in package.rglob("*.py") if path.relative_to(package).parts[0] != "tests")


def list_all_modules() -> list[Path]:
    """Return the modules of all packages."""
    return [path for package in (CORE, *OTHER_PACKAGES) for path in list_modules(package)]


def find_imports(path: Path) -> set[str]:
    """Return the full names of what a module imports, also inside functions."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return names
