"""Describe differences between two analyses: integers and texts are equal, reals as in the reference."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.oracle import Analysis, format_manifest_cells
from tests.oracle.reference import is_same

#: facts that the compiler stores as instants, or as empty texts that the cell replaces
ONLY_AS_TEXT = frozenset({"Plutus script", "Number of filters applied"})


def compare_analyses(ours: Analysis, theirs: Analysis, cells: Mapping[str, str]) -> list[str]:
    """Return all differences between the compiler and the oracle; `cells` are those of the manifest."""
    sentences: list[str] = []
    for name in ("metrics", "chain", "hosts", "host_metrics", "chart_points"):
        sentences += compare_trees(getattr(ours, name), getattr(theirs, name), name)
    sentences += compare_trees(dict(ours.rejections), dict(theirs.rejections), "rejections")
    facts = {label: value for label, value in theirs.manifest.items() if label not in ONLY_AS_TEXT}
    sentences += compare_trees({label: ours.manifest[label] for label in facts}, facts, "manifest")
    expected = format_manifest_cells(theirs.manifest)
    return sentences + list(compare_trees({label: cells[label] for label in expected}, expected, "cells"))


def compare_trees(ours: Any, theirs: Any, path: str) -> Iterator[str]:
    """Yield differences between two trees of dataclasses, mappings, sequences and scalars."""
    mine, other = _list_members(ours), _list_members(theirs)
    if mine is None or other is None:
        if not (ours == theirs or is_same(ours, theirs)):
            yield f"{path}: found {ours!r}, oracle {theirs!r}"
    elif mine.keys() != other.keys():
        extra, missing = (sorted(map(str, names)) for names in (mine.keys() - other.keys(), other.keys() - mine.keys()))
        yield f"{path}: found besides {extra}, lacking {missing}"
    else:
        for name in mine:
            yield from compare_trees(mine[name], other[name], f"{path}.{name}")


def _list_members(value: Any) -> dict[Any, Any] | None:
    """Return the members of a node; None for a leaf."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {item.name: getattr(value, item.name) for item in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (list, tuple)):
        return dict(enumerate(value))
    return None


def assert_no_differences(sentences: Sequence[str]) -> None:
    """Fail with the first differences."""
    assert not sentences, "\n".join([f"{len(sentences)} differences", *sentences[:20]])
