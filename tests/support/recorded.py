"""Create recorded results without a build."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from assay.registry.model import Figures, RecordedResults, ResultsFile, compute_id

DEFINITION = "d" * 64


def create_results(run: str, value: float | None, day: str = "", **members: Any) -> RecordedResults:
    """Return the results of a run with one metric, `wait`, in ms; `definition` and `unit` are those of the metric."""
    definition, unit = members.pop("definition", DEFINITION), members.pop("unit", "ms")
    number = value or 0.0
    figures = Figures(name="Waiting time", unit=unit, definition=definition, size=0 if value is None else 10,
                      average=number, median=number, centiles=((0.5, number), (0.95, number)))  # fmt: skip
    usual = {"report": "service/comparison", "summary": "requests", "assay": "0.2.0", "data": f"logs of {run}"}
    content = ResultsFile(run=run, day=day, metrics={"wait": figures}, **{**usual, **members})
    identity = compute_id({"run": run, "value": value, "day": day, "unit": unit, "definition": definition, **members})
    return RecordedResults(Path(f"{run}.json"), identity, content)
