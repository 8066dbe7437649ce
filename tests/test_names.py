"""Names of functions, classes and modules say what they do or are: participles of saying and finding are none."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.laboratory import ROOT

PACKAGE = ROOT / "compiler" / "assay"
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
#: names that were there before the rule, by file; take away what you rename, add nothing
FORMER = {
    "app/article_parts.py": {"kept"},
    "app/comparison.py": {"kept"},
    "app/examples.py": {"told"},
    "app/hashing.py": {"_found", "_held"},
    "app/prepare.py": {"made"},
    "app/session.py": {"shown"},
    "app/trace_constants.py": {"said"},
    "engine/executor.py": {"asked"},
    "engine/results.py": {"said"},
    "ingest/batches.py": {"_kept"},
    "ingest/collected.py": {"found", "lacking"},
    "ingest/dropped_records.py": {"asked"},
    "ingest/hashing_ahead.py": {"held"},
    "ingest/plain_copies.py": {"taken"},
    "ingest/quarantine_limit.py": {"kept"},
    "ingest/readers/json_lines_worker.py": {"taken"},
    "ingest/readers/malformed_text_lines.py": {"found"},
    "ingest/readers/tables.py": {"taken"},
    "lang/check/checker.py": {"found"},
    "lang/line_pattern.py": {"shown"},
    "lang/scopes.py": {"found"},
    "lang/units.py": {"lacking"},
    "remote/http.py": {"shown"},
    "remote/object_store.py": {"_beside"},
    "report/article.py": {"said"},
    "util/diagnostics.py": {"shown"},
}


def names_of(path: Path) -> Iterator[str]:
    """Yield the names of a module's functions, methods and classes."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name


def is_banned(name: str) -> bool:
    return name.strip("_").lower() in BANNED


def test_new_names_are_not_banned() -> None:
    banned = {
        path.relative_to(PACKAGE).as_posix(): names
        for path in sorted(PACKAGE.rglob("*.py"))
        if (names := set(filter(is_banned, names_of(path))))
    }
    assert banned == FORMER


def test_modules_are_not_banned() -> None:
    assert [path for path in PACKAGE.rglob("*.py") if is_banned(path.stem)] == []


@pytest.mark.parametrize("name", ["told", "_found", "Made", "__kept"])
def test_banned_name_is_recognized(name: str) -> None:
    assert is_banned(name)
