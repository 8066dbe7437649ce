"""Decide from the `results.json` of a build whether its gate is open."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.judgement.gate import has_enough_repeats, is_beyond_chance
from assay.report.judged_cells import format_margin
from assay.util.diagnostics import USAGE, fail

RESULTS = "results.json"


@dataclass(frozen=True, slots=True)
class GatedChange:
    """The change of a gated metric in a run; `p` is adjusted, numbers are None where nothing is judged.

    `margin` is the margin in words; `is_worse` says whether the metric is worse by more than it.
    """

    metric: str
    name: str
    verdict: str
    reason: str | None
    percent: float | None
    low: float | None
    high: float | None
    p: float
    margin: str
    is_worse: bool


@dataclass(frozen=True, slots=True)
class ComparedRun:
    """A run that is compared with the first, with its gated metrics in the order of their p."""

    id: str
    label: str
    changes: tuple[GatedChange, ...]


@dataclass(frozen=True, slots=True)
class GateResult:
    """What a gate says: the compared runs, and the sentence on the noise that intervals cover.

    `has_repeats` says whether there are as many runs of each version as the report demands.
    """

    report: str
    base: str
    runs: tuple[ComparedRun, ...]
    has_repeats: bool
    noise: str

    @property
    def is_open(self) -> bool:
        """Whether no gated metric is worse by more than its margin."""
        return not any(change.is_worse for run in self.runs for change in run.changes)


def read_gate(folder: Path, is_once: bool) -> GateResult:
    """Read the gate of a build's folder.

    Raises AssayError if there are too few repeats and it is not `is_once`, and for folders without judgements.
    """
    path = folder / RESULTS
    results = _read_results(path)
    judgement = results.get("judgement")
    if judgement is None:
        raise fail(
            "no-judgement",
            f"the build judges no differences: {path}",
            expected="a comparison of two or more runs by a report with a `judgement`",
            found=f"results of {results.get('report', 'no report')}",
            hint="add `judgement = Some S.Judgement::{=}` to the report, and build it again",
        )
    try:
        result = _build_result(results, judgement)
        repeats = judgement["repeats"]
        versions, calibration, demanded = repeats["runs"], repeats["calibration"], repeats["demanded"]
    except (KeyError, TypeError, ValueError, AttributeError):
        raise _build_format_error(path) from None
    if not result.has_repeats and not is_once:
        counts = ", ".join(map(str, versions))
        raise fail(
            "too-few-repeats",
            "the gate does not decide: too few runs show how much runs of one version differ",
            expected=f"{demanded} runs of each version, or {demanded} calibration runs",
            found=f"{counts} runs, {calibration} calibration runs",
            hint="`--once` decides by what varies within the runs",
        )
    return result


def _read_results(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise fail(
            "no-build",
            f"the folder holds no results of a build: {path}",
            hint="name the folder that `assay build -o` wrote",
            status=USAGE,
        )
    try:
        results = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        raise _build_format_error(path) from None
    if not isinstance(results, dict):
        raise _build_format_error(path)
    return results


def _build_format_error(path: Path) -> Exception:
    message = f"the results are not what a build writes: {path}"
    return fail("no-build", message, hint="build the report again")


def _build_result(results: Mapping[str, Any], judgement: Mapping[str, Any]) -> GateResult:
    base, *others = results["runs"]
    repeats = judgement["repeats"]
    has_repeats = has_enough_repeats(repeats["demanded"], repeats["runs"], repeats["calibration"])
    runs = tuple(ComparedRun(run["id"], run["label"], _list_changes(results, judgement, run["id"])) for run in others)
    return GateResult(results["report"], base["label"], runs, has_repeats, judgement["noise"])


def _list_changes(results: Mapping[str, Any], judgement: Mapping[str, Any], run: str) -> tuple[GatedChange, ...]:
    level = float(judgement["level"])
    changes = []
    for metric in judgement["gate"]:
        data, declaration = judgement["metrics"][metric][run], results["metrics"][metric]
        adjusted = float(data["gate"])
        changes.append(
            GatedChange(
                metric,
                declaration["name"],
                data["verdict"],
                data["reason"],
                data["percent"],
                data["low"],
                data["high"],
                adjusted,
                format_margin(data["margin"], declaration["unit"]),
                is_beyond_chance(adjusted, level),
            )
        )
    return tuple(sorted(changes, key=lambda item: (item.p, item.metric)))
