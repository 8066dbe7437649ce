"""The checker's part about phases: instants that are there, phases that name them, grains that can be cut."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from assay.lang import scopes
from assay.lang.check.checker import Checker
from assay.lang.model.package import Grain
from assay.lang.model.vocabulary import FIRST, LAST, SINCE, UNTIL, Cut, Phase
from assay.util.diagnostics import did_you_mean

PICKS = (FIRST, LAST)


def phases(checker: Checker) -> None:
    """Check the instants of a package, the phases of its reports and articles, and by what its grains are cut."""
    for name, times in Counter(cut.name for cut in checker.package.cuts).items():
        if times > 1:
            checker.report("duplicate-cut", f"{times} instants of runs are called `{name}`", name)
    for cut in checker.package.cuts:
        _cut(checker, cut)
    for report in checker.package.reports:
        _phases(checker, f"report `{report.name}`", report.phases)
    for article in checker.package.articles:
        _phases(checker, f"article `{article.name}`", article.phases)
    for grain in checker.package.grains:
        if grain.at:
            _at(checker, grain)
    for name in (name for name in sorted(scopes.collect_constants(checker.package)) if name.lower() in (SINCE, UNTIL)):
        checker.report("reserved-name", f"a constant has the name of a phase's parameter: `{name}`", name)


def _cut(checker: Checker, cut: Cut) -> None:
    what = f"instant `{cut.name}`"
    known = scopes.collect_constants(checker.package)
    if cut.constant and known.get(cut.constant, scopes.NOTHING).type != "instant":
        instants = [name for name, kind in known.items() if kind.type == "instant"]
        checker.report(
            "unknown-constant",
            f"{what} is told by a constant that is no instant: `{cut.constant}`",
            cut.constant or cut.name,
            hint=did_you_mean(cut.constant, instants),
            within=(cut.name,),
        )
    if not cut.of:
        return
    rows = scopes.list_row_columns(checker.package, cut.of)
    if rows is None:
        tables = [item.name for item in checker.package.tables]
        message = f"{what} is a column of an unknown table `{cut.of}`"
        checker.missing("unknown-table", message, cut.of, tables, within=(cut.name,))
        return
    if rows.get(cut.column, scopes.NOTHING).type != "instant":
        instants = [name for name, kind in rows.items() if kind.type == "instant"]
        checker.report(
            "unknown-column",
            f"{what} is a column of `{cut.of}` that is no instant: `{cut.column}`",
            cut.column or cut.name,
            hint=did_you_mean(cut.column, instants),
            within=(cut.name,),
        )
    if cut.pick not in PICKS:
        checker.report("cut-pick", f"{what} is neither the first nor the last of its column", cut.name,
                       expected=", ".join(PICKS), found=cut.pick)  # fmt: skip
    if cut.where:
        told = f"the condition of {what}"
        checker.condition(cut.where, scopes.build_row_scope(checker.package, cut.of), what, cut.name, told)


def _phases(checker: Checker, what: str, found: Sequence[Phase]) -> None:
    for name, times in Counter(phase.name for phase in found).items():
        if times > 1:
            checker.report("duplicate-phase", f"{what} has {times} phases called `{name}`", name)
    for phase in found:
        _phase(checker, f"phase `{phase.name}` of {what}", phase)


def _phase(checker: Checker, what: str, phase: Phase) -> None:
    known = [cut.name for cut in checker.package.cuts]
    for name in (phase.since, phase.until):
        if name and name not in known:
            message = f"{what} names an unknown instant `{name}`"
            checker.report("unknown-instant", message, phase.name, hint=did_you_mean(name, known))
    if phase.since == phase.until:
        ends = f"begins and ends at `{phase.since}`" if phase.since else "is the whole run"
        checker.report("phase-ends", f"{what} {ends}", phase.name, expected="two instants, or one")
    durations = scopes.list_durations(checker.package)
    if phase.margin and phase.margin not in durations:
        checker.report(
            "unknown-constant",
            f"{what} has its margin from a constant that is no duration: `{phase.margin}`",
            phase.margin or phase.name,
            hint=did_you_mean(phase.margin, durations),
            within=(phase.name,),
        )


def _at(checker: Checker, grain: Grain) -> None:
    """A grain's own instant: a member of it; not beside a subject's, which decides for its rows."""
    scope = scopes.build_grain_scope(checker.package, grain)
    kinds = {**scope.leaves["column"], **scope.leaves["instant"]}
    instants = [name for name, kind in kinds.items() if kind.type == "instant"]
    if grain.at not in instants:
        checker.report(
            "unknown-instant",
            f"phases cut grain `{grain.name}` by `{grain.at}`, which is no instant of it",
            grain.at or grain.name,
            hint=did_you_mean(grain.at, instants),
            within=(grain.name,),
        )
    if grain.subject or grain.runs:
        of = grain.subject.grain if grain.subject else grain.runs.of if grain.runs else ""
        checker.report(
            "phase-instant",
            f"phases cut grain `{grain.name}` by an instant of its own, and by that of `{of}`",
            grain.name,
            hint="leave out `at`: its rows follow those of the other grain",
        )
