"""Read the rows behind an article: those in `results.json`, and those in the files that it names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb

Rows = list[dict[str, Any]]


def read_result_rows(build: Path, run: str = "run") -> dict[str, Rows]:
    """Return the rows of a run by the names of their statements."""
    statements = json.loads((build / "results.json").read_text(encoding="utf-8"))["rows"][run]
    return {name: _read_rows(build, rows) for name, rows in statements.items()}


def _read_rows(build: Path, rows: Rows | dict[str, Any]) -> Rows:
    if isinstance(rows, list):
        return rows
    with duckdb.connect() as connection:
        result = connection.execute("SELECT * FROM read_parquet(?)", [str(build / rows["file"])])
        names = [item[0] for item in result.description]
        all_rows = [dict(zip(names, values, strict=True)) for values in result.fetchall()]
    assert len(all_rows) == rows["rows"]
    return all_rows
