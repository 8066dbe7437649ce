"""Read the judgements of a comparison from its results, as `results.json` has them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from assay.lang.segments import is_segment
from assay.report.verdicts.recorded_change import ComparedAverages, RecordedChange, parse_change
from assay.util.diagnostics import USAGE, fail

RESULTS = "results.json"
NO_SECTION = "Other metrics"


@dataclass(frozen=True, slots=True)
class ComparedRun:
    """A version that is compared with the base, with its changes in the order of the report.

    `caution` is the sentence why the comparison itself is suspect; empty if it is not. `causes` are sentences on what
    changes come from. `hosts` are the numbers of
    hosts of the runs of base and version; empty if they are not known. `all_segments` are the changes of segments, in
    the gate or not.
    """

    id: str
    label: str
    changes: tuple[RecordedChange, ...]
    caution: str = ""
    hosts: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
    all_segments: tuple[RecordedChange, ...] = ()
    causes: tuple[str, ...] = ()

    @property
    def segments(self) -> tuple[RecordedChange, ...]:
        """The changes of segments that are worse or better, and not by chance, the largest certain change first."""
        changed = [
            change for change in self.all_segments if change.verdict in ("worse", "better") and not change.is_by_itself
        ]
        return tuple(sorted(changed, key=lambda change: (-change.certain_change, change.metric)))

    @property
    def judged_segments(self) -> int:
        """How many changes of segments are judged, without those that are better in no direction."""
        return sum(change.has_interval and change.better != "neither" for change in self.all_segments)

    @property
    def worse_outside_gate(self) -> tuple[RecordedChange, ...]:
        """The changes of metrics and segments that are worse, and not by chance, but that the gate does not name."""
        whole = [change for change in self.changes if not change.is_segment]
        worse = [change for change in whole if change.verdict == "worse" and not change.is_by_itself]
        worse += [change for change in self.segments if change.verdict == "worse"]
        return tuple(change for change in worse if change.p is None)


@dataclass(frozen=True, slots=True)
class RecordedFinding:
    """A finding on the data of a run: its code, its message, and the ids of the metrics that it affects."""

    code: str
    message: str
    metrics: frozenset[str]


@dataclass(frozen=True, slots=True)
class JudgedResults:
    """The judgements of a comparison.

    `level` is that of intervals, `noise` the sentence on the noise that they cover. `repeats_demanded` is what the gate
    demands, `repeats` how many runs each version has. `findings` are those on the data of each run, by
    label; None for a run whose data were not assessed. `longest_run` is the time of the longest run in seconds; None if
    it is not known. `shared_files` has a sentence on each run that has the raw files
    of another.
    """

    report: str
    level: float
    base: str
    runs: tuple[ComparedRun, ...]
    repeats_demanded: int
    repeats: tuple[int, ...]
    calibration_runs: int
    noise: str
    findings: Mapping[str, tuple[RecordedFinding, ...] | None] = field(default_factory=dict)
    shared_files: tuple[str, ...] = ()
    longest_run: float | None = None

    @property
    def changes(self) -> Iterator[RecordedChange]:
        """The changes of all runs."""
        return (change for run in self.runs for change in run.changes)

    @property
    def whole_changes(self) -> Iterator[RecordedChange]:
        """The changes of all runs without those of segments, which a whole metric contains."""
        return (change for change in self.changes if not change.is_segment)

    @property
    def segments(self) -> Iterator[RecordedChange]:
        """The changes of segments that are worse or better, of all runs."""
        return (change for run in self.runs for change in run.segments)

    @property
    def judged_segments(self) -> int:
        """How many changes of segments are judged, of all runs."""
        return sum(run.judged_segments for run in self.runs)


def read_judged_results(folder: Path, group: str = "") -> JudgedResults:
    """Read the judgements of a build, or of one of its groups of runs, from its folder or its results.

    Raises AssayError for a build without them, and for several judged groups if `group` names none.
    """
    path = folder if folder.name == RESULTS and folder.is_file() else folder / RESULTS
    results = _select_group(path, read_results_data(path), group)
    if results.get("judgement") is None:
        raise _build_judgement_error(path, results)
    try:
        return parse_judged_results(results)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        raise _build_format_error(path) from None


def _select_group(path: Path, results: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the results of a group of runs, by default of the only judged one, as those of a report without groups."""
    judged = {item["name"]: item for item in list_judged_groups(results)}
    if not judged and (not name or "groups" in results):
        return results
    if name not in judged and (name or len(judged) > 1):
        raise fail(
            "no-group",
            f"the build judges no group `{name}`: {path}" if name else f"each group of runs is judged apart: {path}",
            expected=f"--group with one of {', '.join(judged)}" if judged else "a report with groups of runs",
            hint=f"decide on one of them, as in --group {next(iter(judged))}" if judged else "leave out --group",
            status=USAGE,
        )
    return get_group_results(results, judged[name] if name else next(iter(judged.values())))


def list_judged_groups(results: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the groups of runs of results that are judged, each apart."""
    return [item for item in results.get("groups", ()) if "judgement" in item]


def get_group_results(results: Mapping[str, Any], group: Mapping[str, Any]) -> dict[str, Any]:
    """Return the results of a judged group of runs as those of a report without groups."""
    runs = [item for item in results["runs"] if item.get("run", item["id"]) in group["runs"]]  # or its phases
    versions = [item for item in results.get("versions", ()) if item["id"] in group["judgement"]["hosts"]]
    return {**results, "runs": runs, "versions": versions, "judgement": group["judgement"]}


def _build_judgement_error(path: Path, results: Mapping[str, Any]) -> Exception:
    """Return the error of a build without judgements: a history, a report on noise, a single run, or no rules."""
    runs = results.get("runs")
    origin = str(results.get("report", "no report"))
    hint = "give the report metrics to compare, in sections or in comparisons of parts, and a `judgement`"
    if "runs" not in results:
        hint = "pass the output folder of a comparison"
    elif "groups" in results:
        origin = f"{origin}, none of whose groups has two runs with metrics to compare"
        hint = "pass a second --run of a group to `assay build`, or give a part of the group a comparison"
    elif "noise" in results:
        origin, hint = f"{origin} with --repeats", "build the report without --repeats"
    elif isinstance(runs, list) and len(runs) == 1:
        origin = f"{origin} of one run"
        hint = "pass a second --run to `assay build`, or compare with recorded results by `--baseline median:5`"
    return fail(
        "no-judgement",
        f"the build judges no differences: {path}",
        expected="a comparison of two or more runs by a report with a `judgement`",
        found=f"results of {origin}",
        hint=hint,
    )


def parse_judged_results(results: Mapping[str, Any]) -> JudgedResults:
    """Return the judgements of results with a `judgement`: those of whole metrics, and of segments in the gate.

    Raises KeyError, TypeError, ValueError, AttributeError or OverflowError for data that no build writes.
    """
    judgement = results["judgement"]
    repeats, cautions, hosts = judgement["repeats"], judgement["cautions"], judgement["hosts"]
    # Runs that are cases of a grid have no hosts there: they are not compared.
    base, *others = (item for item in results.get("versions") or results["runs"] if item["id"] in hosts)
    return JudgedResults(
        str(results["report"]),
        float(judgement["level"]),
        str(base["label"]),
        tuple(
            ComparedRun(
                run["id"],
                str(run["label"]),
                _list_changes(results, base["id"], run["id"]),
                str(cautions[run["id"]]),
                (tuple(map(int, hosts[base["id"]])), tuple(map(int, hosts[run["id"]]))),
                _list_segments(results, base["id"], run["id"]),
                tuple(map(str, judgement.get("causes", {}).get(run["id"], ()))),
            )
            for run in others
        ),
        int(repeats["demanded"]),
        tuple(map(int, repeats["runs"])),
        int(repeats["calibration"]),
        str(judgement["noise"]),
        _list_findings(results),
        tuple(map(str, judgement.get("shared_files", ()))),
        max(filter(None, map(_measure_time, results["runs"])), default=None),
    )


def _measure_time(run: Mapping[str, Any]) -> float | None:
    """Return the seconds from the first to the last record of a run; None if they are not known."""
    if "end" not in run:
        return None
    start, end = (datetime.fromisoformat(run[name]) for name in ("start", "end"))
    return (end - start).total_seconds()


def read_findings(build: Path) -> dict[str, tuple[RecordedFinding, ...] | None]:
    """Return the findings on each run of a build, by label. Raises AssayError."""
    path = build / RESULTS
    try:
        return _list_findings(read_results_data(path))
    except (KeyError, TypeError):
        raise _build_format_error(path) from None


def _list_findings(results: Mapping[str, Any]) -> dict[str, tuple[RecordedFinding, ...] | None]:
    """Return the findings on each run by label; None where the data were not assessed."""
    qualities = {str(run["label"]): results["quality"][run["id"]] for run in results["runs"]}
    return {
        label: tuple(map(_read_finding, item["findings"])) if item["hosts"] else None
        for label, item in qualities.items()
    }


def _read_finding(data: Mapping[str, Any]) -> RecordedFinding:
    return RecordedFinding(str(data["code"]), str(data["message"]), frozenset(map(str, data["metrics"])))


def read_results_data(path: Path) -> dict[str, Any]:
    """Return the data of a file of results. Raises AssayError."""
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
    message = f"the results are not what this version of Assay writes: {path}"
    return fail("no-build", message, hint="build the report again")


def _list_changes(results: Mapping[str, Any], base: str, run: str) -> tuple[RecordedChange, ...]:
    judgement = results["judgement"]
    section_by_metric: dict[str, str] = {}
    for section in judgement["sections"]:
        for metric in section["metrics"]:
            section_by_metric.setdefault(metric, section["title"])
    metrics = [*section_by_metric, *(metric for metric in judgement["metrics"] if metric not in section_by_metric)]
    return tuple(
        _read_change(results, metric, section_by_metric.get(metric, NO_SECTION), (base, run))
        for metric in metrics
        if metric in judgement["metrics"] and (metric in judgement["gate"] or not is_segment(metric))
    )


def _list_segments(results: Mapping[str, Any], base: str, run: str) -> tuple[RecordedChange, ...]:
    return tuple(
        _read_change(results, name, NO_SECTION, (base, run))
        for name in results["judgement"]["metrics"]
        if is_segment(name)
    )


def _read_change(results: Mapping[str, Any], metric: str, section: str, runs: tuple[str, str]) -> RecordedChange:
    """Return the change of a metric between two runs, of which the first is the base."""
    judgement, declaration = results["judgement"], results["metrics"][metric]
    base, value = (_read_average(declaration, run) for run in runs)
    name, unit = str(declaration["name"]), str(declaration["unit"])
    data = judgement["metrics"][metric][runs[1]]
    compared = ComparedAverages(metric, name, unit, str(section), (base, value))
    return parse_change(compared, data, float(judgement["level"]))


def _read_average(declaration: Mapping[str, Any], run: str) -> float | None:
    """Return the average of a metric in a run, or the mean of a version of several; None without samples."""
    means = declaration.get("versions", {})
    # Formulas have no size.
    result = {"average": means[run]} if run in means else declaration["runs"][run]
    average = result["average"]
    is_number = isinstance(average, (int, float)) and math.isfinite(average)
    return average if is_number and result.get("size", 1) else None
