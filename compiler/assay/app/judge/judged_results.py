"""Read the judgements of a comparison from its results, as `results.json` has them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from assay.judgement.change import Interval
from assay.judgement.gate import is_beyond_chance
from assay.judgement.interval import Reason
from assay.judgement.verdict import Verdict
from assay.lang.segments import is_segment
from assay.report.judged_cells import format_margin, format_verdict
from assay.util.diagnostics import USAGE, fail

RESULTS = "results.json"
NO_SECTION = "Other metrics"


@dataclass(frozen=True, slots=True)
class RecordedChange:
    """The change of a metric in a run; numbers are None where nothing is known.

    `section` is the title of the section that shows the metric, `better` its better direction, `base` and `value` are
    averages in `unit`. `low` and `high` are the ends of the interval in percent; from a base of 0 there is only that of
    the difference. `margin` is the margin in words, `least_margin` in percent. `p_margin` is that of "not worse by more
    than the margin", and `p` the same adjusted for the number of gated metrics; None outside of the gate. `df` are the
    degrees of freedom of the interval. `is_closing` says whether the metric closes the gate, `is_worse_uncorrected`
    whether only the adjustment keeps it from doing so. `paired` is what its segments show together
    if each has too few samples.
    `is_moved` says whether the metric has no interval although it changed by more than its margin. `mix` is how samples
    differ in the values of a dimension, if they do: averages and change are then those of the common values. `tails`
    are the quantiles that changed beyond the margin, with their verdicts. `is_by_itself` says that so many metrics have
    such a verdict by chance. `equal_to` is an earlier metric with the same averages and interval, with which it counts
    as one.
    """

    metric: str
    name: str
    unit: str
    section: str
    verdict: str
    reason: str | None
    better: str
    base: float | None
    value: float | None
    difference: float | None
    difference_low: float | None
    difference_high: float | None
    percent: float | None
    low: float | None
    high: float | None
    p_margin: float | None
    p: float | None
    df: float | None
    margin: str
    least_margin: float | None
    is_closing: bool
    is_worse_uncorrected: bool
    paired: Mapping[str, Any] = field(default_factory=dict)
    is_moved: bool = False
    mix: Mapping[str, Any] = field(default_factory=dict)
    tails: tuple[Mapping[str, Any], ...] = ()
    is_by_itself: bool = False
    equal_to: str = ""

    @property
    def is_worse(self) -> bool:
        """Whether the metric is worse by its verdict, or closes the gate."""
        return self.verdict == "worse" or self.is_closing

    @property
    def verdict_text(self) -> str:
        """The verdict, and whether chance may explain it: `worse, by itself`."""
        return format_verdict("", self.verdict, self.is_by_itself)

    @property
    def is_segment(self) -> bool:
        """Whether the metric is a segment of another one."""
        return is_segment(self.metric)

    @property
    def is_gateable(self) -> bool:
        """Whether a gate may decide on the metric: it is judged, and better in a direction."""
        return self.p_margin is not None and not self.reason and self.better != "neither"

    @property
    def lacks_samples(self) -> bool:
        """Whether there are no samples to judge the metric by, or a run has lost the value that the base has."""
        return self.reason in (Reason.NO_SAMPLES, Reason.LOST_SAMPLES) or (self.base is not None and self.value is None)

    @property
    def has_interval(self) -> bool:
        """Whether the change has an interval, in percent or as a difference."""
        return self.percent is not None or self.is_from_zero

    @property
    def is_from_zero(self) -> bool:
        """Whether the change is judged, but has no percentage because the base is 0."""
        return self.percent is None and self.difference is not None

    @property
    def worst_end(self) -> float | None:
        """The end of the interval in percent that is worse for a metric with a direction."""
        return self.low if self.better == "higher" else self.high

    @property
    def is_undecided(self) -> bool:
        """Whether a gated metric passes, though its interval or a run that is too short allows that it is worse."""
        if self.p is None or self.is_closing or self.verdict != Verdict.CANNOT_TELL:
            return False
        end = 0.0 if self.worst_end is None else self.worst_end
        is_beyond = (-end if self.better == "higher" else end) > (self.least_margin or 0.0)
        return is_beyond or self.is_from_zero or self.reason is not None

    @property
    def certain_change(self) -> float:
        """How far the interval is from no change, in percent; 0 if it holds 0 or is not known.

        A change from a base of 0 is infinitely many percent.
        """
        if self.is_from_zero:
            low, high = self.difference_low or 0.0, self.difference_high or 0.0
            return math.inf if Interval(low, high).distance else 0.0
        return 0.0 if self.low is None or self.high is None else Interval(self.low, self.high).distance


def list_distinct(changes: Iterable[RecordedChange]) -> list[RecordedChange]:
    """Return changes, perhaps of several versions, one of those that are equal."""
    listed: list[RecordedChange] = []
    subjects: set[tuple[object, ...]] = set()
    for change in changes:
        subject = change.equal_to or change.metric, change.base, change.value, change.low, change.high
        if not change.equal_to or subject not in subjects:
            listed.append(change)
        subjects.add(subject)
    return listed


@dataclass(frozen=True, slots=True)
class ComparedRun:
    """A version that is compared with the base, with its changes in the order of the report.

    `caution` is the sentence why the comparison itself is suspect; empty if it is not. `hosts` are the numbers of
    hosts of the runs of base and version; empty if they are not known. `all_segments` are the changes of segments, in
    the gate or not.
    """

    id: str
    label: str
    changes: tuple[RecordedChange, ...]
    caution: str = ""
    hosts: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
    all_segments: tuple[RecordedChange, ...] = ()

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
    return build_change(metric, name, unit, str(section), (base, value), data, float(judgement["level"]))


def build_change(
    metric: str,
    name: str,
    unit: str,
    section: str,
    averages: tuple[float | None, float | None],
    data: Mapping[str, Any],
    level: float,
) -> RecordedChange:
    """Return a change from its judgement as `results.json` holds it, and from the averages of base and run."""
    p, p_margin = _read_number(data["gate"]), _read_number(data["p_margin"])
    mix = data.get("mix", {})
    if mix and mix["base"] is not None:
        averages = _read_number(mix["base"]), _read_number(mix["value"])
    change = RecordedChange(
        metric,
        name,
        unit,
        section,
        str(data["verdict"]),
        str(data["reason"]) if data["reason"] else None,
        str(data["better"]),
        *averages,
        _read_number(data["difference"]),
        _read_number(data["difference_low"]),
        _read_number(data["difference_high"]),
        _read_number(data["percent"]),
        _read_number(data["low"]),
        _read_number(data["high"]),
        p_margin,
        p,
        _read_number(data["df"]),
        format_margin(data["margin"], unit),
        _read_number(data["margin"]["least"]),
        False,
        False,
        data.get("paired", {}),
        bool(data.get("moved")),
        mix,
        tuple(data.get("tails", ())),
        bool(data.get("by_itself")),
        str(data.get("equal_to", "")),
    )
    return change if p is None else decide_change(change, p, level)


def decide_change(change: RecordedChange, p: float, level: float) -> RecordedChange:
    """Return a change as a gate has it in which its adjusted p is `p`."""
    is_closing = is_beyond_chance(p, level) or any(item["closes"] for item in change.tails)
    is_decided = change.p_margin is not None and not change.reason
    is_worse_uncorrected = is_decided and not is_closing and is_beyond_chance(change.p_margin or 0.0, level)
    return replace(change, p=p, is_closing=is_closing, is_worse_uncorrected=is_worse_uncorrected)


def _read_average(declaration: Mapping[str, Any], run: str) -> float | None:
    """Return the average of a metric in a run, or the mean of a version of several; None without samples."""
    means = declaration.get("versions", {})
    # Formulas have no size.
    result = {"average": means[run]} if run in means else declaration["runs"][run]
    average = result["average"]
    is_number = isinstance(average, (int, float)) and math.isfinite(average)
    return average if is_number and result.get("size", 1) else None


def _read_number(value: object) -> float | None:
    if value is None or isinstance(value, (int, float)):
        return value
    raise TypeError(f"not a number: {value!r}")
