"""Phases of runs: which are asked for, when each begins and ends in a run, and what is wrong with them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from assay.app.prepare import IngestedRun
from assay.engine.results import RunResults
from assay.ingest.readers.sample_store import listed
from assay.lang import time_format
from assay.lang.model.package import Metric, Package
from assay.lang.model.vocabulary import SINCE, UNTIL, Cut, Phase
from assay.plan.planner import can_split_by_phase, cut_name
from assay.remote import prometheus_times as times
from assay.util.diagnostics import USAGE, AssayError, Diagnostic, did_you_mean, fail, raise_all

FIRST, LAST = -(2**63), 2**63 - 1
_GIVEN = re.compile(r"([^=]+)=(.*)\.\.(.*)")


@dataclass(frozen=True, slots=True)
class Times:
    """What the user said of instants, in ns: of a run by its id, of all runs by the empty id; `texts` as given."""

    at: Mapping[tuple[str, str], int]
    texts: tuple[str, ...]

    def of(self, run: str, cut: str) -> int | None:
        """The instant of a run, if the user named it."""
        return self.at.get((run, cut), self.at.get(("", cut)))


@dataclass(frozen=True, slots=True)
class PhaseSelection:
    """The phases that are asked for, the instants that they name, and what the user said of these; `texts` are phases
    as the command line has them (none: those of the report); `may_be_empty`: they need not have samples."""

    phases: tuple[Phase, ...]
    cuts: tuple[Cut, ...]
    times: Times
    texts: tuple[str, ...]
    may_be_empty: bool = False


@dataclass(frozen=True, slots=True)
class Instant:
    """A named instant of a run, in ns since 1970, and what told it."""

    name: str
    t_ns: int
    told_by: str


@dataclass(frozen=True, slots=True)
class Bounds:
    """A phase of a run: its first ns and the first ns after it, with margins off; None where it is open."""

    name: str
    since: int | None
    until: int | None

    @property
    def parameters(self) -> Mapping[str, int]:
        """What stands for the bounds in statements."""
        return {
            SINCE: FIRST if self.since is None else self.since,
            UNTIL: LAST if self.until is None else self.until,
        }


@dataclass(frozen=True, slots=True)
class RunPhases:
    """A run's phases, in the order of the report, and the instants at which it is cut, in the order of time."""

    instants: tuple[Instant, ...]
    phases: tuple[Bounds, ...]


def select_phases(
    package: Package, declared: Sequence[Phase], at: Sequence[str], given: Sequence[str]
) -> PhaseSelection | None:
    """The phases to cut runs by: those given, else those of the report; None when there are none.

    AssayError (usage) for a phase or an instant that there is not, and for a time that is none.
    """
    phases = tuple(_one(package, declared, text) for text in given) or tuple(declared)
    if not phases:
        if at:
            raise fail("no-phases", "--at tells an instant of phases, and there are none", status=USAGE,
                       hint="--phase NAME=FROM..TO names one")  # fmt: skip
        return None
    twice = {phase.name for phase in phases if sum(other.name == phase.name for other in phases) > 1}
    if twice:
        raise fail("duplicate-phase", f"two phases are called `{sorted(twice)[0]}`", status=USAGE)
    named = list(dict.fromkeys(name for phase in phases for name in (phase.since, phase.until) if name))
    told = {cut.name: cut for cut in package.cuts}
    own = [name for text in given if "=" in text for name in _ends(text) if name]
    times_given = _times(at, {*named, *told})
    for name in own:
        if name not in told and not any(cut == name for _, cut in times_given.at):
            known = [*told, *(cut for _, cut in times_given.at)]
            raise fail("unknown-instant", f"there is no instant `{name}`", status=USAGE,
                       hint=did_you_mean(name, known) if known else f"--at {name}=TIME tells it")  # fmt: skip
    cuts = tuple(told.get(name) or Cut(name, "", "", "", "", None, "") for name in named)
    return PhaseSelection(phases, cuts, times_given, tuple(given))


def _one(package: Package, declared: Sequence[Phase], text: str) -> Phase:
    """A phase of the command line: one that is declared, or `NAME=FROM..TO`."""
    if "=" in text:
        name = text.partition("=")[0]
        return Phase(name, *_ends(text), 0, "", "")
    listed = [*(item.phases for item in package.articles), *(item.phases for item in package.reports)]
    known = {phase.name: phase for phases in listed for phase in phases}
    known |= {phase.name: phase for phase in declared}
    if text not in known:
        raise fail("unknown-phase", f"there is no phase `{text}`", status=USAGE,
                   hint=did_you_mean(text, known) if known else "--phase NAME=FROM..TO makes one")  # fmt: skip
    return known[text]


def _ends(text: str) -> tuple[str, str]:
    found = _GIVEN.fullmatch(text)
    if found is None or not (found[2] or found[3]):
        raise fail("bad-phase", f"--phase {text} is no phase", status=USAGE,
                   expected="NAME=FROM..TO, instants by their names; one of them may be left out")  # fmt: skip
    return found[2], found[3]


def _times(given: Sequence[str], known: Iterable[str]) -> Times:
    found: dict[tuple[str, str], int] = {}
    for text in given:
        name, equals, time = text.partition("=")
        run, _, cut = name.rpartition(":")
        if not equals or not cut:
            raise fail("bad-time", f"--at {text} names no instant", status=USAGE, expected="NAME=TIME")
        if cut not in known:
            raise fail("unknown-instant", f"there is no instant `{cut}`", status=USAGE, hint=did_you_mean(cut, known))
        try:
            found[run, cut] = times.nanoseconds(time, f"--at {cut}")
        except AssayError as error:
            raise AssayError(error.diagnostics, USAGE) from None
    return Times(found, tuple(given))


def check_runs(asked: PhaseSelection, runs: Iterable[str]) -> None:
    """AssayError (usage) when an instant is told of a run that there is not."""
    known = list(runs)
    for run, cut in asked.times.at:
        if run and run not in known:
            raise fail("run-name", f"--at {run}:{cut} is about a run that there is not", status=USAGE,
                       hint=did_you_mean(run, known))  # fmt: skip


def check_metrics(package: Package, metrics: Iterable[Metric]) -> None:
    """AssayError when phases cannot cut a metric: what it is made of has no instant, or not all of it."""
    raise_all(
        Diagnostic(
            "no-instant",
            f"phases cannot cut metric `{metric.id}`: not all that it is made of has an instant",
            hint=f"name the instant of grain `{metric.grain}` with `at`",
        )
        for metric in metrics
        if not can_split_by_phase(package, metric.grain)
    )


def resolved(asked: PhaseSelection, run: IngestedRun, results: RunResults) -> RunPhases:
    """When the phases of a run begin and end.  AssayError with all that is wrong: an instant that nobody tells or that
    is outside of the run's data, phases that end before they begin or that overlap."""
    problems: list[Diagnostic] = []
    instants: dict[str, Instant] = {}
    for cut in asked.cuts:
        found = _instant(asked, cut, run, results)
        if isinstance(found, Diagnostic):
            problems.append(found)
        else:
            instants[cut.name] = found
    raise_all(problems)
    phases = tuple(_bounds(phase, run, instants) for phase in asked.phases)
    raise_all(_disorder(run.run.id, asked.phases, phases, instants))
    return RunPhases(tuple(sorted(instants.values(), key=lambda item: item.t_ns)), phases)


def _instant(asked: PhaseSelection, cut: Cut, run: IngestedRun, results: RunResults) -> Instant | Diagnostic:
    told = asked.times.of(run.run.id, cut.name)
    by = "--at"
    if told is None and cut.constant:
        told, by = _whole(run.constants.get(cut.constant)), f"constant {cut.constant}"
    if told is None and cut.of:
        told, by = _whole(results.rows[cut_name(cut.name)][0]["t_ns"]), f"{cut.pick} {cut.column} of {cut.of}"
    what = f"run {run.run.id}: the instant `{cut.name}`"
    if told is None:
        cause = f": `{cut.of}` has no row that tells it" if cut.of else ""
        hint = f"--at {cut.name}=TIME tells it" + (f", or the run's constant `{cut.constant}`" if cut.constant else "")
        return Diagnostic("no-instant-given", f"{what} is not known{cause}", hint=hint)
    first, last = extent(run)
    if not first <= told <= last:
        return Diagnostic(
            "instant-outside",
            f"{what} is outside of the run's data",
            expected=f"from {time_format.format_instant(first)} to {time_format.format_instant(last)}",
            found=f"{time_format.format_instant(told)} ({by})",
        )
    return Instant(cut.name, told, by)


def overruled(package: Package, runs: Iterable[tuple[str, IngestedRun, RunPhases]]) -> Iterator[str]:
    """A sentence for each instant that the user tells otherwise than the run, whose own a table of facts may show."""
    constants = {cut.name: cut.constant for cut in package.cuts if cut.constant}
    for label, run, phases in runs:
        for instant in phases.instants:
            name = constants.get(instant.name, "")
            own = _whole(run.constants.get(name))
            if own is not None and own != instant.t_ns:
                yield (
                    f"{label} is cut at {instant.name} {time_format.format_instant(instant.t_ns)} ({instant.told_by}), "
                    f"and not at {time_format.format_instant(own)}, which its constant {name} tells."
                )


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) else None


def extent(run: IngestedRun) -> tuple[int, int]:
    """The first and the last instant of a run's data, in ns."""
    firsts = [log.first_ns for log in run.logs if log.first_ns is not None]
    lasts = [log.last_ns for log in run.logs if log.last_ns is not None]
    return min(firsts, default=0), max(lasts, default=0)


def _bounds(phase: Phase, run: IngestedRun, instants: Mapping[str, Instant]) -> Bounds:
    margin = _whole(run.constants.get(phase.margin)) if phase.margin else phase.margin_ns
    assert margin is not None
    since = instants[phase.since].t_ns + margin if phase.since else None
    until = instants[phase.until].t_ns - margin if phase.until else None
    return Bounds(phase.name, since, until)


def _disorder(
    run: str, phases: Sequence[Phase], bounds: Sequence[Bounds], instants: Mapping[str, Instant]
) -> Iterator[Diagnostic]:
    """Phases that end before they begin, or that overlap."""
    fine = []
    for phase, found in zip(phases, bounds, strict=True):
        if found.since is None or found.until is None or found.since < found.until:
            fine.append(found)
            continue
        since, until = instants[phase.since], instants[phase.until]
        backwards = since.t_ns >= until.t_ns
        ends = "where" if since.t_ns == until.t_ns else "before"
        yield Diagnostic(
            "phase-backwards" if backwards else "phase-margin",
            f"run {run}: the phase `{phase.name}` ends {ends} it begins"
            if backwards
            else f"run {run}: its margins leave nothing of the phase `{phase.name}`",
            found=f"from {time_format.format_instant(since.t_ns)} (`{since.name}`) "
            f"to {time_format.format_instant(until.t_ns)} (`{until.name}`)",
        )
    fine.sort(key=lambda item: (item.parameters[SINCE], item.parameters[UNTIL]))
    for one, other in pairwise(fine):
        if other.parameters[SINCE] < one.parameters[UNTIL]:
            yield Diagnostic(
                "phase-overlap",
                f"run {run}: the phases `{one.name}` and `{other.name}` overlap",
                found=f"`{one.name}` {describe_bounds(one)}; `{other.name}` {describe_bounds(other)}",
            )


def describe_bounds(bounds: Bounds) -> str:
    since = "its first instant" if bounds.since is None else time_format.format_instant(bounds.since)
    until = "its last" if bounds.until is None else time_format.format_instant(bounds.until)
    return f"from {since} to {until}"


def check_samples(run: IngestedRun, bounds: Bounds, results: RunResults) -> None:
    """AssayError when no metric has a sample in a phase."""
    if results.metrics and not any(found.size for found in results.metrics.values()):
        first, last = extent(run)
        named = listed(sorted(results.metrics))
        raise fail(
            "empty-phase",
            f"run {run.run.id}: there are no samples of {named} in the phase `{bounds.name}`, "
            f"{describe_bounds(bounds)}",
            expected=f"samples; the run's data is from {time_format.format_instant(first)} "
            f"to {time_format.format_instant(last)}",
            hint="is the instant right, and its margin not too large? Without phases, does the run have any?",
        )
