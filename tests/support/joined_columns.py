"""A publication of two runs whose columns are printed in other publications."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import ROUND_HALF_EVEN, Decimal
from pathlib import Path
from typing import Any

from tests.support.documentation import ROOT

PUBLISHED = ROOT / "golden" / "published"

Column = tuple[str, str]
"""The name of a publication, and the label of a run in it."""


def read_publication(name: str) -> dict[str, Any]:
    """Return a publication as data."""
    publication: dict[str, Any] = json.loads((PUBLISHED / f"{name}.json").read_text(encoding="utf-8"))
    return publication


def list_values(publication: dict[str, Any], run: str) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield the printed values of a run by section and row."""
    index = publication["runs"].index(run)
    for section in publication["sections"]:
        for row in section["rows"]:
            yield (section["title"], row["label"]), row["values"][index]


def join_columns(target: Path, base: Column, other: Column) -> Path:
    """Write a publication that compares two columns of others as `org-2023` does; the rest of it is that of `other`."""
    publication = read_publication(other[0])
    old, new = (dict(list_values(read_publication(name), run)) for name, run in (base, other))
    publication["runs"] = [base[1], other[1]]
    for section in publication["sections"]:
        section["columns"] = [base[1], other[1], "Δ", "Δ%"]
        for row in section["rows"]:
            values = [column[section["title"], row["label"]] for column in (old, new)]
            row["values"] = values
            row["deltas"], row["delta_pcts"] = ([text] for text in _compare(*map(Decimal, values)))
    target.write_text(json.dumps(publication), encoding="utf-8")
    return target


def _compare(old: Decimal, new: Decimal) -> tuple[str, str]:
    """Return the difference with three decimals, and its share of the first value in percent."""
    difference = (new - old).quantize(Decimal("0.001"), ROUND_HALF_EVEN)
    percent = round(100 * difference / old) if old else 0
    return str(difference), str(percent)
