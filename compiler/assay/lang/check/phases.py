"""Check phases: their boundaries, the reports that use them, and the instants that grains are split by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from assay.lang import scopes
from assay.lang.check.checker import Checker
from assay.lang.model.package import Grain
from assay.lang.model.vocabulary import FIRST, LAST, SINCE, UNTIL, Cut, Phase
from assay.util.diagnostics import suggest_names

PICKS = (FIRST, LAST)


def check_phases(checker: Checker) -> None:
    """Check boundaries, the phases of reports, and the instants that grains are split by."""
    for name, times in Counter(cut.name for cut in checker.package.cuts).items():
        if times > 1:
            checker.report("duplicate-cut", f"{times} instants of runs are named `{name}`", name)
    for cut in checker.package.cuts:
        _check_boundary(checker, cut)
    for report in checker.package.reports:
        _check_phase_list(checker, f"report `{report.name}`", report.phases)
    for grain in checker.package.grains:
        if grain.at:
            _check_split_instant(checker, grain)
    for name in (name for name in sorted(scopes.collect_constants(checker.package)) if name.lower() in (SINCE, UNTIL)):
        checker.report("reserved-name", f"constant `{name}` has the name of a parameter of a phase", name)


def _check_boundary(checker: Checker, cut: Cut) -> None:
    owner = f"instant `{cut.name}`"
    constants = scopes.collect_constants(checker.package)
    if cut.constant and constants.get(cut.constant, scopes.UNTYPED).type != "instant":
        instants = [name for name, kind in constants.items() if kind.type == "instant"]
        checker.report(
            "unknown-constant",
            f"constant `{cut.constant}` of {owner} is not an instant",
            cut.constant or cut.name,
            hint=suggest_names(cut.constant, instants),
            within=(cut.name,),
        )
    if not cut.of:
        return
    rows = scopes.list_row_columns(checker.package, cut.of)
    if rows is None:
        tables = [item.name for item in checker.package.tables]
        checker.report_unlisted("table", cut.of, f"of {owner}", tables, within=(cut.name,))
        return
    if rows.get(cut.column, scopes.UNTYPED).type != "instant":
        instants = [name for name, kind in rows.items() if kind.type == "instant"]
        checker.report(
            "unknown-column",
            f"column `{cut.column}` of `{cut.of}` in {owner} is not an instant",
            cut.column or cut.name,
            hint=suggest_names(cut.column, instants),
            within=(cut.name,),
        )
    if cut.pick not in PICKS:
        checker.report("cut-pick", f"unknown `pick` of {owner}", cut.name,
                       expected=", ".join(PICKS), found=cut.pick)  # fmt: skip
    if cut.where:
        description = f"the condition of {owner}"
        checker.check_condition(
            cut.where, scopes.build_row_scope(checker.package, cut.of), owner, cut.name, description
        )


def _check_phase_list(checker: Checker, owner: str, phases: Sequence[Phase]) -> None:
    for name, times in Counter(phase.name for phase in phases).items():
        if times > 1:
            checker.report("duplicate-phase", f"{owner} has {times} phases named `{name}`", name)
    for phase in phases:
        _check_phase(checker, f"phase `{phase.name}` of {owner}", phase)


def _check_phase(checker: Checker, owner: str, phase: Phase) -> None:
    boundaries = [cut.name for cut in checker.package.cuts]
    for name in (phase.since, phase.until):
        if name and name not in boundaries:
            checker.report_unknown("instant", name, f"in {owner}", boundaries, word=phase.name)
    if phase.since == phase.until:
        ends = f"begins and ends at `{phase.since}`" if phase.since else "is the whole run"
        checker.report("phase-ends", f"{owner} {ends}", phase.name, expected="one instant, or two different ones")
    durations = scopes.list_durations(checker.package)
    if phase.margin and phase.margin not in durations:
        checker.report(
            "unknown-constant",
            f"the margin `{phase.margin}` of {owner} is not a constant of type duration",
            phase.margin or phase.name,
            hint=suggest_names(phase.margin, durations),
            within=(phase.name,),
        )


def _check_split_instant(checker: Checker, grain: Grain) -> None:
    """Check that a grain is split by one of its instants.

    A grain with a subject or runs has none: the rows of the other grain decide.
    """
    scope = scopes.build_grain_scope(checker.package, grain)
    kinds = {**scope.leaves["column"], **scope.leaves["instant"]}
    instants = [name for name, kind in kinds.items() if kind.type == "instant"]
    if grain.at not in instants:
        checker.report(
            "unknown-instant",
            f"`at` of grain `{grain.name}` names `{grain.at}`, which is not an instant of the grain",
            grain.at or grain.name,
            hint=suggest_names(grain.at, instants),
            within=(grain.name,),
        )
    if grain.subject or grain.runs:
        base = grain.subject.grain if grain.subject else grain.runs.of if grain.runs else ""
        checker.report(
            "phase-instant",
            f"grain `{grain.name}` has `at` but already takes its instant for phases from grain `{base}`",
            grain.name,
            hint="remove `at`: the rows follow those of the other grain",
        )
