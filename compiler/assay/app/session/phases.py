"""Select the phases of runs, locate when each begins and ends in a run, and report problems with them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from assay.engine.results import RunResults
from assay.ingest.readers.sample_store import format_names
from assay.lang import time_format
from assay.lang.model.package import Metric, Package
from assay.lang.model.vocabulary import SINCE, UNTIL, Cut, Phase
from assay.plan.planner import can_split_by_phase, name_cut_statement
from assay.remote import prometheus_times as times
from assay.runs.model import IngestedRun
from assay.util.diagnostics import USAGE, AssayError, Diagnostic, fail, raise_all, suggest_names

FIRST, LAST = -(2**63), 2**63 - 1
_PHASE_TEXT = re.compile(r"([^=]+)=(.*)\.\.(.*)")


@dataclass(frozen=True, slots=True)
class InstantTimes:
    """The instants that the user set, in ns, by run id and name; an empty run id applies to every run.

    `texts` are the options as typed.
    """

    ns_by_instant: Mapping[tuple[str, str], int]
    texts: tuple[str, ...]

    def get_time(self, run: str, cut: str) -> int | None:
        """Return the user's time for an instant of a run, or None."""
        return self.ns_by_instant.get((run, cut), self.ns_by_instant.get(("", cut)))


@dataclass(frozen=True, slots=True)
class PhaseSelection:
    """The selected phases, the instants that bound them, and the times that the user set for these instants.

    `texts` are the phases as typed on the command line; empty for the phases of the report. With `may_be_empty`, phases
    without samples are allowed.
    """

    phases: tuple[Phase, ...]
    cuts: tuple[Cut, ...]
    times: InstantTimes
    texts: tuple[str, ...]
    may_be_empty: bool = False

    def select_runs(self, runs: Collection[str]) -> PhaseSelection:
        """Return the selection without the times that the user set for other runs than `runs`."""
        ns_by_instant = {
            (run, cut): time for (run, cut), time in self.times.ns_by_instant.items() if not run or run in runs
        }
        return replace(self, times=replace(self.times, ns_by_instant=ns_by_instant))


@dataclass(frozen=True, slots=True)
class Instant:
    """A named instant of a run in ns since 1970, and the source of its time."""

    name: str
    t_ns: int
    time_source: str


@dataclass(frozen=True, slots=True)
class Bounds:
    """A phase of a run, after margins: its first ns and the first ns after it; None where the phase is open."""

    name: str
    since: int | None
    until: int | None

    @property
    def parameters(self) -> Mapping[str, int]:
        """The values of the placeholders for the bounds in statements."""
        return {
            SINCE: FIRST if self.since is None else self.since,
            UNTIL: LAST if self.until is None else self.until,
        }


@dataclass(frozen=True, slots=True)
class RunPhases:
    """The phases of a run in the order of the report, and the instants that bound them in order of time."""

    instants: tuple[Instant, ...]
    phases: tuple[Bounds, ...]


def select_phases(
    package: Package, declared: Sequence[Phase], time_texts: Sequence[str], phase_texts: Sequence[str]
) -> PhaseSelection | None:
    """Return the phases by which to split runs: those of the command line, or else those of the report.

    Returns None if there are no phases. Raises AssayError (usage) for an unknown phase or instant, and for an invalid
    time.
    """
    phases = tuple(_parse_phase(package, declared, text) for text in phase_texts) or tuple(declared)
    if not phases:
        if time_texts:
            raise fail("no-phases", "--at sets an instant, but there are no phases", status=USAGE,
                       hint="pass --phase NAME=FROM..TO")  # fmt: skip
        return None
    duplicates = {phase.name for phase in phases if sum(item.name == phase.name for item in phases) > 1}
    if duplicates:
        raise fail("duplicate-phase", f"duplicate phase `{sorted(duplicates)[0]}`", status=USAGE)
    instant_names = list(dict.fromkeys(name for phase in phases for name in (phase.since, phase.until) if name))
    declared_cuts = {cut.name: cut for cut in package.cuts}
    bound_names = [name for text in phase_texts if "=" in text for name in _parse_ends(text) if name]
    instant_times = _parse_times(time_texts, {*instant_names, *declared_cuts})
    for name in bound_names:
        if name not in declared_cuts and not any(cut == name for _, cut in instant_times.ns_by_instant):
            instants = [*declared_cuts, *(cut for _, cut in instant_times.ns_by_instant)]
            raise fail("unknown-instant", f"there is no instant `{name}`", status=USAGE,
                       hint=suggest_names(name, instants) if instants else f"pass --at {name}=TIME")  # fmt: skip
    cuts = tuple(declared_cuts.get(name) or Cut(name, "", "", "", "", None, "") for name in instant_names)
    return PhaseSelection(phases, cuts, instant_times, tuple(phase_texts))


def _parse_phase(package: Package, declared: Sequence[Phase], text: str) -> Phase:
    """Return a phase of the command line: a declared one, or `NAME=FROM..TO`."""
    if "=" in text:
        name = text.partition("=")[0]
        return Phase(name, *_parse_ends(text), 0, "", "")
    phase_lists = [item.phases for item in package.reports]
    phases_by_name = {phase.name: phase for phases in phase_lists for phase in phases}
    phases_by_name |= {phase.name: phase for phase in declared}
    if text not in phases_by_name:
        raise fail(
            "unknown-phase",
            f"there is no phase `{text}`",
            status=USAGE,
            hint=suggest_names(text, phases_by_name) if phases_by_name else "pass --phase NAME=FROM..TO",
        )
    return phases_by_name[text]


def _parse_ends(text: str) -> tuple[str, str]:
    match = _PHASE_TEXT.fullmatch(text)
    if match is None or not (match[2] or match[3]):
        raise fail("bad-phase", f"invalid phase `{text}` of --phase", status=USAGE,
                   expected="NAME=FROM..TO, with the names of one or two instants")  # fmt: skip
    return match[2], match[3]


def _parse_times(texts: Sequence[str], cut_names: Iterable[str]) -> InstantTimes:
    ns_by_instant: dict[tuple[str, str], int] = {}
    for text in texts:
        name, equals, time = text.partition("=")
        run, _, cut = name.rpartition(":")
        if not equals or not cut:
            raise fail("bad-time", f"invalid instant `{text}` of --at", status=USAGE, expected="NAME=TIME")
        if cut not in cut_names:
            raise fail(
                "unknown-instant", f"there is no instant `{cut}`", status=USAGE, hint=suggest_names(cut, cut_names)
            )
        try:
            ns_by_instant[run, cut] = times.parse_nanoseconds(time, f"--at {cut}")
        except AssayError as error:
            raise AssayError(error.diagnostics, USAGE) from None
    return InstantTimes(ns_by_instant, tuple(texts))


def check_runs(phase_selection: PhaseSelection, runs: Iterable[str]) -> None:
    """Raise AssayError (usage) if an instant was set for an unknown run."""
    run_ids = list(runs)
    for run, cut in phase_selection.times.ns_by_instant:
        if run and run not in run_ids:
            raise fail("run-name", f"unknown run `{run}` in --at {run}:{cut}", status=USAGE,
                       hint=suggest_names(run, run_ids))  # fmt: skip


def check_metrics(package: Package, metrics: Iterable[Metric]) -> None:
    """Raise AssayError if a metric cannot be split by phase because a table that it reads has no instant."""
    raise_all(
        Diagnostic(
            "no-instant",
            f"metric `{metric.id}` cannot be split by phase: a table that it reads has no instant",
            hint=f"set the instant `at` of grain `{metric.grain}`",
        )
        for metric in metrics
        if not can_split_by_phase(package, metric.grain)
    )


def locate_phases(phase_selection: PhaseSelection, ingested_run: IngestedRun, results: RunResults) -> RunPhases:
    """Locate the phases of a run in time.

    Without the time of an optional instant, phases that begin at it are left out, and those that end at it are open.

    Raises AssayError with all problems: instants that are unknown or outside of the run's data, phases that end before
    they begin, and phases that overlap.
    """
    problems: list[Diagnostic] = []
    instants: dict[str, Instant] = {}
    for cut in phase_selection.cuts:
        instant = _locate_instant(phase_selection, cut, ingested_run, results)
        if isinstance(instant, Diagnostic):
            problems.append(instant)
        elif instant:
            instants[cut.name] = instant
    raise_all(problems)
    selected = [phase for phase in phase_selection.phases if not phase.since or phase.since in instants]
    if not selected:
        phase = phase_selection.phases[0]
        message = f"the phase `{phase.name}` begins at the instant `{phase.since}`, which has no time"
        raise fail("no-instant-given", f"run {ingested_run.run.id}: {message}", hint=f"pass --at {phase.since}=TIME")
    phases = tuple(_compute_bounds(phase, ingested_run, instants) for phase in selected)
    raise_all(_check_order(ingested_run.run.id, selected, phases, instants))
    return RunPhases(tuple(sorted(instants.values(), key=lambda item: item.t_ns)), phases)


def _locate_instant(
    phase_selection: PhaseSelection, cut: Cut, ingested_run: IngestedRun, results: RunResults
) -> Instant | Diagnostic | None:
    """Return an instant of a run; None if it is optional and has no time."""
    t_ns = phase_selection.times.get_time(ingested_run.run.id, cut.name)
    time_source = "--at"
    if t_ns is None and cut.constant:
        t_ns, time_source = _get_integer(ingested_run.constants.get(cut.constant)), f"constant {cut.constant}"
    if t_ns is None and cut.of:
        t_ns, time_source = (
            _get_integer(results.rows[name_cut_statement(cut.name)][0]["t_ns"]),
            f"{cut.pick} {cut.column} of {cut.of}",
        )
    subject = f"run {ingested_run.run.id}: the instant `{cut.name}`"
    if t_ns is None and cut.optional:
        return None
    if t_ns is None:
        cause = f": `{cut.of}` has no row for it" if cut.of else ""
        hint = f"pass --at {cut.name}=TIME" + (
            f", or define the run's constant `{cut.constant}`" if cut.constant else ""
        )
        return Diagnostic("no-instant-given", f"{subject} has no time{cause}", hint=hint)
    first, last = get_time_range(ingested_run)
    if not first <= t_ns <= last:
        return Diagnostic(
            "instant-outside",
            f"{subject} is outside of the run's data",
            expected=f"from {time_format.format_instant(first)} to {time_format.format_instant(last)}",
            found=f"{time_format.format_instant(t_ns)} ({time_source})",
        )
    return Instant(cut.name, t_ns, time_source)


def iter_overrule_notes(package: Package, runs: Iterable[tuple[str, IngestedRun, RunPhases]]) -> Iterator[str]:
    """Yield a note for each instant that the user set to another time than that of the run's constant.

    A table of facts may show the constant although the run is split at the user's time.
    """
    constants = {cut.name: cut.constant for cut in package.cuts if cut.constant}
    for label, ingested_run, phases in runs:
        for instant in phases.instants:
            name = constants.get(instant.name, "")
            recorded_ns = _get_integer(ingested_run.constants.get(name))
            if recorded_ns is not None and recorded_ns != instant.t_ns:
                yield (
                    f"{label} is split at {instant.name} {time_format.format_instant(instant.t_ns)} "
                    f"({instant.time_source}) instead of {time_format.format_instant(recorded_ns)}, "
                    f"the value of its constant {name}."
                )


def _get_integer(value: object) -> int | None:
    return value if isinstance(value, int) else None


def get_time_range(ingested_run: IngestedRun) -> tuple[int, int]:
    """Return the first and the last instant of a run's data, in ns."""
    firsts = [log.first_ns for log in ingested_run.logs if log.first_ns is not None]
    lasts = [log.last_ns for log in ingested_run.logs if log.last_ns is not None]
    return min(firsts, default=0), max(lasts, default=0)


def _compute_bounds(phase: Phase, ingested_run: IngestedRun, instants: Mapping[str, Instant]) -> Bounds:
    margin = _get_integer(ingested_run.constants.get(phase.margin)) if phase.margin else phase.margin_ns
    assert margin is not None
    since = instants[phase.since].t_ns + margin if phase.since else None
    until = instants[phase.until].t_ns - margin if phase.until in instants else None
    return Bounds(phase.name, since, until)


def _check_order(
    run: str, phases: Sequence[Phase], bounds: Sequence[Bounds], instants: Mapping[str, Instant]
) -> Iterator[Diagnostic]:
    """Yield the problems of phases that end before they begin, or that overlap."""
    valid_bounds = []
    for phase, phase_bounds in zip(phases, bounds, strict=True):
        if phase_bounds.since is None or phase_bounds.until is None or phase_bounds.since < phase_bounds.until:
            valid_bounds.append(phase_bounds)
            continue
        since, until = instants[phase.since], instants[phase.until]
        is_backwards = since.t_ns >= until.t_ns
        ends = "where" if since.t_ns == until.t_ns else "before"
        yield Diagnostic(
            "phase-backwards" if is_backwards else "phase-margin",
            f"run {run}: the phase `{phase.name}` ends {ends} it begins"
            if is_backwards
            else f"run {run}: its margins leave nothing of the phase `{phase.name}`",
            found=f"from {time_format.format_instant(since.t_ns)} (`{since.name}`) "
            f"to {time_format.format_instant(until.t_ns)} (`{until.name}`)",
        )
    valid_bounds.sort(key=lambda item: (item.parameters[SINCE], item.parameters[UNTIL]))
    for first, second in pairwise(valid_bounds):
        if second.parameters[SINCE] < first.parameters[UNTIL]:
            yield Diagnostic(
                "phase-overlap",
                f"run {run}: the phases `{first.name}` and `{second.name}` overlap",
                found=f"`{first.name}` {describe_bounds(first)}; `{second.name}` {describe_bounds(second)}",
            )


def describe_bounds(bounds: Bounds) -> str:
    """Format the bounds of a phase."""
    since = "its first instant" if bounds.since is None else time_format.format_instant(bounds.since)
    until = "its last" if bounds.until is None else time_format.format_instant(bounds.until)
    return f"from {since} to {until}"


def check_samples(ingested_run: IngestedRun, bounds: Bounds, results: RunResults) -> None:
    """Raise AssayError if no metric has a sample in a phase."""
    if results.metrics and not any(result.size for result in results.metrics.values()):
        first, last = get_time_range(ingested_run)
        metric_names = format_names(sorted(results.metrics))
        raise fail(
            "empty-phase",
            f"run {ingested_run.run.id}: there are no samples of {metric_names} in the phase `{bounds.name}`, "
            f"{describe_bounds(bounds)}",
            expected=f"samples; the run's data is from {time_format.format_instant(first)} "
            f"to {time_format.format_instant(last)}",
            hint="check the instants and the margin, or build without phases",
        )
