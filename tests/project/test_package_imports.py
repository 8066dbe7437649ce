"""Test the packages beside the core: which modules import them, and what they import."""

from __future__ import annotations

import importlib
import re
import sys
import tomllib
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from assay.app.session import entry_points as loaders
from assay.util.diagnostics import AssayError
from assay.util.program import PACKAGES, find_code_folders, iter_code_files
from tests.support.modules import COMPILER, CORE, OTHER_PACKAGES, ROOT, find_imports, list_all_modules, list_modules

#: modules of the core that import a package beside it; the others are loaded by entry points alone
DOORS = {
    "assay_dhall": {
        "lang/positions.py", "lang/sources.py", "lang/workspace.py",
        "lsp/conversion.py", "lsp/project.py", "lsp/server.py",
    },
}  # fmt: skip
#: what a package beside the core may import, apart from libraries
ALLOWED = {"assay_dhall": set(), "assay_propose": {"assay"}, "assay_cluster": {"assay"}}


def find_packages(path: Path) -> set[str]:
    """Return the packages of the compiler that a module imports."""
    return {name.partition(".")[0] for name in find_imports(path)} & set(PACKAGES)


def test_packages_are_those_of_the_compiler() -> None:
    assert list(PACKAGES) == sorted(path.name for path in (CORE, *OTHER_PACKAGES))
    assert {path.name for path in OTHER_PACKAGES} == set(ALLOWED)


def test_core_imports_other_packages_only_at_their_doors() -> None:
    doors: dict[str, set[str]] = {}
    for path in list_modules(CORE):
        for name in find_packages(path) - {"assay"}:
            doors.setdefault(name, set()).add(path.relative_to(CORE).as_posix())
    assert doors == DOORS


@pytest.mark.parametrize("package", OTHER_PACKAGES, ids=lambda path: path.name)
def test_package_imports_only_what_it_may(package: Path) -> None:
    imported = {name for path in list_modules(package) for name in find_packages(path)}
    assert imported - {package.name} == ALLOWED[package.name]


def test_evaluator_and_its_tests_do_not_need_assay() -> None:
    libraries = {"hypothesis", "pytest"}
    names = {name.partition(".")[0] for path in (COMPILER / "assay_dhall").rglob("*.py") for name in find_imports(path)}
    assert names - sys.stdlib_module_names == {"assay_dhall", *libraries}


def test_entry_points_lead_to_functions_of_other_packages() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    places = project["entry-points"][loaders.GROUP]
    assert {item.name: item.value for item in entry_points(group=loaders.GROUP)} == places
    for name, place in places.items():
        module, _, function = place.partition(":")
        assert module.partition(".")[0] in set(PACKAGES) - {"assay"}
        assert loaders._load(name) is getattr(importlib.import_module(module), function)


def test_missing_package_is_an_error_of_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loaders, "GROUP", "assay.nothing")
    with pytest.raises(AssayError) as error:
        loaders.load_proposer()
    (problem,) = error.value.diagnostics
    assert (problem.code, problem.message) == ("no-package", "this installation lacks a part of `assay init`")
    assert problem.expected == "an entry point `init` of the group `assay.nothing`"


def test_code_has_the_modules_of_all_packages_and_no_tests() -> None:
    assert find_code_folders() == {name: COMPILER / name for name in PACKAGES}
    assert [path for _, path in iter_code_files()] == list_all_modules()
    names = [name for name, _ in iter_code_files()]
    assert {"assay/app/session/entry_points.py", "assay_dhall/parser.py", "assay_cluster/worker.py"} <= set(names)


def test_readme_has_the_counts_of_the_evaluator() -> None:
    pattern = r"passes (\d+) of\s+the (\d+) official"
    texts = [(folder / "README.md").read_text(encoding="utf-8") for folder in (ROOT, COMPILER / "assay_dhall")]
    counts = [match.groups() for text in texts if (match := re.search(pattern, text))]
    assert len(counts) == 2
    assert counts[0] == counts[1]
