"""Remember the rows of queries, so that a query of unchanged inputs loads no specs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from assay.app.session.inputs import hash_inputs
from assay.app.session.selection import Selection
from assay.app.session.session import Session
from assay.app.session.stages import log_stage
from assay.engine.pruning import mark_used
from assay.engine.result_cache import read_sealed_text
from assay.runs.model import NamedRun
from assay.util.checksums import seal_text
from assay.util.paths import resolve_path

KIND = "answers"  # folder of the cache


@dataclass(frozen=True, slots=True)
class QueryRows:
    """The rows of a query as plain data, the filters and the summary that were applied, and warnings on the data.

    `by` is the column whose values have rows of their own; empty without one.
    """

    rows: list[dict[str, Any]]
    filters: tuple[str, ...]
    summary: str
    by: str
    warnings: tuple[str, ...]


def answer_query(session: Session, runs: Sequence[NamedRun], selection: Selection) -> QueryRows:
    """Return the rows of the selected metrics over runs, from the cache if no input has changed. Raises AssayError."""
    inputs = hash_inputs(session, runs, selection.filters)
    path = _get_path(session, runs, selection)
    if inputs and (remembered := _read_rows(path, inputs)):
        with log_stage("kept", metrics=len(remembered.rows)):
            mark_used(path)
        return remembered
    from assay.app.compute.query import export_answer, query_metrics  # imports the engine

    answer = query_metrics(session, selection.metrics, runs, selection)
    rows = QueryRows(export_answer(answer), answer.filters, answer.summary, answer.by, answer.warnings)
    if inputs and inputs == hash_inputs(session, runs, selection.filters):
        text = json.dumps({"inputs": inputs, "rows": asdict(rows)})
        session.store.put(KIND, path.name, seal_text(path.name, text))
    return rows


def _get_path(session: Session, runs: Sequence[NamedRun], selection: Selection) -> Path:
    """Return the path of the rows of a query, named by the hash of its arguments and of the workspace's path."""
    places = [[run.id, run.version, run.is_named, run.place, str(resolve_path(run.directory))] for run in runs]
    key = json.dumps([str(session.workspace.root), places, asdict(selection)])
    return session.store.get_path(KIND, hashlib.sha256(key.encode()).hexdigest())


def _read_rows(path: Path, inputs: str) -> QueryRows | None:
    """Return the remembered rows of a query; None if its inputs have changed."""
    try:
        content = json.loads(read_sealed_text(path) or "{}")
        if content.get("inputs") != inputs:
            return None
        rows = content["rows"]
        return QueryRows(rows["rows"], tuple(rows["filters"]), rows["summary"], rows["by"], tuple(rows["warnings"]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
