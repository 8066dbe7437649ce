"""Test names of functions, classes, modules and variables: participles of saying and finding are banned."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.modules import COMPILER, list_all_modules

BANNED = frozenset(
    [
        "told",
        "said",
        "asked",
        "found",
        "made",
        "kept",
        "held",
        "given",
        "shown",
        "taken",
        "lacking",
        "standing",
        "beside",
        "twice",
    ]
)


def iter_names(path: Path) -> Iterator[str]:
    """Yield the names of a module's functions, methods and classes."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name


def iter_variables(path: Path) -> Iterator[str]:
    """Yield the parameters and local variables of a module; `found` may accompany `expected`, as in messages."""
    for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            nodes = list(ast.walk(function))
            names = {node.arg for node in nodes if isinstance(node, ast.arg)}
            names |= {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
            yield from names - ({"found"} if "expected" in names else set())


def is_banned(name: str) -> bool:
    return name.strip("_").lower() in BANNED


def test_names_of_functions_and_classes_are_not_banned() -> None:
    banned = [
        f"{path.relative_to(COMPILER)}: {name}"
        for path in list_all_modules()
        for name in iter_names(path)
        if is_banned(name)
    ]
    assert banned == []


def test_names_of_parameters_and_variables_are_not_banned() -> None:
    banned = [
        f"{path.relative_to(COMPILER)}: {name}"
        for path in list_all_modules()
        for name in iter_variables(path)
        if is_banned(name)
    ]
    assert banned == []


def test_modules_are_not_banned() -> None:
    assert [path for path in list_all_modules() if is_banned(path.stem)] == []


@pytest.mark.parametrize("name", ["told", "_found", "Made", "__kept"])
def test_banned_name_is_recognized(name: str) -> None:
    assert is_banned(name)
