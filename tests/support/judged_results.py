"""Write `results.json` of comparisons with judgements, as builds have them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

NOISE = "Intervals hold what varies within these runs."
CAUTION = "The comparison itself is suspect."


def judge_metric(
    verdict: str,
    p: float | None = None,
    reason: str | None = None,
    percents: tuple[float, float, float] = (10.0, 7.5, 12.5),
    p_margin: float | None = None,
    **margin: float,
) -> dict[str, Any]:
    """Return what results say of a metric, which without a reason is by `percents` (change, low, high) above 100,
    so that the difference is the same number.

    `p` is adjusted; `p_margin` is the same unless it is passed.
    """
    changes = percents if reason is None else (None, None, None)
    return {
        "verdict": verdict,
        "reason": reason,
        "better": "lower",
        **dict(zip(("percent", "low", "high"), changes, strict=True)),
        **dict(zip(("difference", "difference_low", "difference_high"), changes, strict=True)),
        "p_margin": p if p_margin is None else p_margin,
        "gate": p,
        "df": 4,
        "margin": {"percent": 0.0, "amount": 0.0, "least": margin.get("percent", 0.0), **margin},
    }


def write_results(
    folder: Path,
    metrics: Mapping[str, Mapping[str, Any]],
    demanded: int = 0,
    repeats: Sequence[float] = (1, 1),
    names: Mapping[str, str] | None = None,
    labels: Sequence[str] = ("1.0", "1.1"),
    sections: Mapping[str, Sequence[str]] | None = None,
    hosts: Sequence[int] = (2, 2),
    findings: Sequence[int] = (0, 0),
    affected: Sequence[str] = (),
    shared_files: Sequence[str] = (),
) -> Path:
    """Write the results of a comparison of runs with the first; each run has the same judgements.

    The gate names the metrics with a p. `sections` are metrics by title; `hosts` and `findings` are the numbers of
    hosts and findings of the first runs, `affected` are the metrics of each finding.
    """
    runs = [{"id": f"run{number}", "label": label} for number, label in enumerate(labels)]
    averages = {run["id"]: {"size": 9, "average": 0.1 if run is runs[0] else 0.11} for run in runs}
    hosts_by_run = {run["id"]: hosts[min(number, len(hosts) - 1)] for number, run in enumerate(runs)}
    counts = dict(zip((run["id"] for run in runs), findings, strict=False))
    caution = CAUTION if len(set(hosts)) > 1 else ""
    results = {
        "report": "service/comparison",
        "runs": runs,
        "quality": {
            run: {
                "hosts": number,
                "findings": [
                    {"code": "incomplete-rows", "message": f"gap {item}.", "metrics": [*affected]}
                    for item in range(1, counts.get(run, 0) + 1)
                ],
            }
            for run, number in hosts_by_run.items()
        },
        "metrics": {
            name: {"name": (names or {}).get(name, f"Metric {name}"), "unit": "ms", "runs": averages}
            for name in metrics
        },
        "judgement": {
            "level": "0.95",
            "repeats": {"demanded": demanded, "runs": repeats, "calibration": 0},
            "noise": NOISE,
            "cautions": {run["id"]: caution for run in runs[1:]},
            "hosts": {run: [number] for run, number in hosts_by_run.items()},
            "shared_files": list(shared_files),
            "gate": [name for name, item in metrics.items() if item["gate"] is not None],
            "sections": [{"title": title, "metrics": listed} for title, listed in (sections or {}).items()],
            "metrics": {name: {run["id"]: item for run in runs[1:]} for name, item in metrics.items()},
        },
    }
    (folder / "results.json").write_text(json.dumps(results), encoding="utf-8")
    return folder
