"""Test the checker's messages about phases, instants, nested series and comparisons."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.app.phases import Bounds, Instant, locate_phases, select_phases
from assay.app.prepare import IngestedRun, Part
from assay.app.runs import NamedRun
from assay.engine.mount import HostLog, RunFacts
from assay.engine.results import RunResults
from assay.lang import decode
from assay.lang import workspace as workspaces
from assay.lang.blocks.conclusion import Conclusion, Rule
from assay.lang.blocks.fact import Fact
from assay.lang.check.check import check_package
from assay.lang.model.article import Block
from assay.lang.model.expression import Expression
from assay.lang.model.package import Package
from assay.lang.model.series import Series, Term
from assay.lang.model.vocabulary import Cut, Phase
from assay.lang.workspace import Workspace
from assay.util.diagnostics import AssayError
from tests.support.laboratory import ROOT
from tests.support.workspaces import NO_POSITIONS

SECOND = 10**9
Change = Callable[[Package], Package]


def change_phase(**changes: Any) -> Change:
    """Change the first phase of the upgrade report."""

    def change(package: Package) -> Package:
        (article,) = package.articles
        first, *other_phases = article.phases
        return replace(package, articles=(replace(article, phases=(replace(first, **changes), *other_phases)),))

    return change


def change_cut(**changes: Any) -> Change:
    """Change the instant of the upgrade."""
    return lambda package: replace(package, cuts=(replace(package.cuts[0], **changes),))


def change_grain(name: str, **changes: Any) -> Change:
    return lambda package: replace(
        package, grains=tuple(replace(item, **changes) if item.name == name else item for item in package.grains)
    )


def change_series(name: str, change: Callable[[Series], Series]) -> Change:
    return lambda package: replace(
        package, series=tuple(change(item) if item.name == name else item for item in package.series)
    )


def replace_blocks(number: int, *blocks: Block) -> Change:
    """Put blocks in the place of those of their kind in a part."""

    def change(package: Package) -> Package:
        (article,) = package.articles
        parts = [*article.parts]
        other_blocks = (item for item in parts[number].blocks if not isinstance(item, type(blocks[0])))
        parts[number] = replace(parts[number], blocks=(*other_blocks, *blocks))
        return replace(package, articles=(replace(article, parts=tuple(parts)),))

    return change


def set_rule(kind: str) -> Change:
    def change(package: Package) -> Package:
        conclusion, *_ = package.articles[0].parts[-1].select(Conclusion)
        other = replace(conclusion, rules=(Rule("cpu_usage", kind, 10),))
        return replace_blocks(len(package.articles[0].parts) - 1, other)(package)

    return change


CPU = "cpu_usage_series"
WRONG: dict[str, tuple[Change, str, str]] = {
    "phase-ends": (
        change_phase(until=""),
        "phase `before` of article `upgrade` is the whole run",
        "expected: one instant, or two different ones",
    ),
    "one instant for both ends": (
        change_phase(since="upgrade"),
        "phase `before` of article `upgrade` begins and ends at `upgrade`",
        "",
    ),
    "unknown-instant": (
        change_phase(until="upgrad"),
        "unknown instant `upgrad` in phase `before` of article `upgrade`",
        "hint: did you mean `upgrade`?",
    ),
    "margin": (
        change_phase(margin="rate_windw"),
        "the margin `rate_windw` of phase `before` of article `upgrade` is not a constant of type duration",
        "hint: did you mean `rate_window`?",
    ),
    "duplicate-phase": (change_phase(name="after"), "article `upgrade` has 2 phases named `after`", ""),
    "constant of a cut": (
        change_cut(constant="host"),
        "constant `host` of instant `upgrade` is not an instant",
        "hint: ",
    ),
    "table of a cut": (
        change_cut(of="memory_totl", column="t_ns", pick="first"),
        "unknown table `memory_totl` of instant `upgrade`",
        "hint: is it in the package's lists? did you mean `memory_total`",
    ),
    "column of a cut": (
        change_cut(of="memory_total", column="value", pick="first"),
        "column `value` of `memory_total` in instant `upgrade` is not an instant",
        "hint: ",
    ),
    "pick of a cut": (
        change_cut(of="memory_total", column="t_ns", pick="middle"),
        "unknown `pick` of instant `upgrade`",
        "found:    middle",
    ),
    "at of a grain": (
        change_grain("cpu_point", at="value"),
        "`at` of grain `cpu_point` names `value`, which is not an instant of the grain",
        "hint: there are `t_ns`",
    ),
    "unknown-series": (
        change_series(CPU, lambda item: replace(item, terms=(Term("idle", "cpu_idl", "mean"),))),
        f"unknown series `cpu_idl` in series `{CPU}`",
        "hint: is it in the package's lists? did you mean `cpu_idle`",
    ),
    "series-term": (
        change_series(CPU, lambda item: replace(item, terms=(Term("idle", "cpu_idle", "men"),))),
        f"unknown aggregation `men` of the lines of `cpu_idle` in series `{CPU}`",
        "hint: did you mean `mean`?",
    ),
    "labels of terms": (
        change_series(CPU, lambda item: replace(item, terms=(Term("idle", "cpu_idle", ""),))),
        f"series `{CPU}` and its term `idle` have different labels",
        "hint: `meanOf` and similar functions combine the lines with equal labels",
    ),
    "other steps": (
        change_series("cpu_idle", lambda item: replace(item, every="rate_window")),
        f"series `{CPU}` and its term `idle` have different windows or steps",
        "",
    ),
    "term of a value": (
        change_series(CPU, lambda item: replace(item, value=Expression("column", name="idel"))),
        f"unknown column `idel` in the value of series `{CPU}`",
        "hint: did you mean `idle`?",
    ),
    "unit of a value": (
        change_series("memory_used_series", lambda item: replace(item, unit=replace(item.unit, name="second"))),
        "the value of series `memory_used_series` has a unit that does not convert to the declared unit",
        "expected: second",
    ),
    "both samples and terms": (
        change_series(CPU, lambda item: replace(item, reading="rate")),
        f"series `{CPU}` has both terms and samples",
        "hint: remove either ",
    ),
    "window of a rate": (
        change_series("cpu_idle", lambda item: replace(item, window="host")),
        "constant `host` in `windowNs` of series `cpu_idle` is not a duration",
        "hint: ",
    ),
    "rule": (
        set_rule("fals"),
        "unknown kind `fals` of a rule in part `Conclusion` of article `upgrade`",
        "hint: did you mean `falls`?",
    ),
    "facts": (
        replace_blocks(0, Fact("hst")),
        "unknown constant `hst` in part `Host and configuration` of article `upgrade`",
        "hint: did you mean `host`?",
    ),
}


@functools.cache
def _decode_upgrade_package() -> Package:
    """Return the package as its Dhall declares it: a resolved one cannot be checked again."""
    shipped_workspace = Workspace(ROOT)
    root = shipped_workspace.specs / "antelope" / "package.dhall"
    package = decode.decode_package(
        workspaces.evaluate_data(shipped_workspace, "antelope", workspaces.scan_sources(shipped_workspace, "antelope")),
        str(root),
    )
    return replace(package, articles=tuple(item for item in package.articles if item.name == "upgrade"))


@pytest.mark.parametrize("case", WRONG)
def test_invalid_phase_definition_is_an_error(case: str) -> None:
    change, message, more = WRONG[case]
    package = _decode_upgrade_package()
    assert check_package(package, NO_POSITIONS) == ()
    findings = check_package(change(package), NO_POSITIONS)
    matching = [item for item in findings if item.message == message]
    assert len(matching) == 1, [item.message for item in findings]
    assert more in str(AssayError(tuple(matching)))


# Instants and phases of a run.


def run(first: int, last: int) -> IngestedRun:
    """Create a run with data from one instant to another."""
    log = HostLog("", 1, 1, 0, last, first)
    unused: Any = None
    part = Part(unused, unused, "", "", (), ROOT)
    part.__dict__["facts"] = RunFacts((log,), {}, {}, ())
    return IngestedRun(NamedRun("r", ROOT), {}, (part,))


@settings(max_examples=200, deadline=None)
@given(
    cuts=st.lists(st.integers(0, 100), min_size=1, max_size=3),
    margin=st.integers(0, 20).map(lambda n: n * SECOND),
    extent=st.tuples(st.integers(0, 60), st.integers(0, 60)),
)
def test_phases_between_instants_partition_time_or_are_refused(
    cuts: list[int], margin: int, extent: tuple[int, int]
) -> None:
    """Consecutive instants bound one phase each, in the order of their names."""
    package: Any = replace(EMPTY, cuts=())
    names = [f"c{number}" for number in range(len(cuts))]
    ends = ["", *names, ""]
    phases = [Phase(f"p{number}", since, until, margin, "", "") for number, (since, until) in enumerate(pairwise(ends))]
    instant_options = [f"{name}={t}" for name, t in zip(names, cuts, strict=True)]
    wanted = select_phases(package, phases, instant_options, ())
    assert wanted is not None
    first, last = extent[0] * SECOND, (extent[0] + extent[1]) * SECOND
    times = [t * SECOND for t in cuts]
    is_outside = any(not first <= t <= last for t in times)
    too_short = [b - a <= 2 * margin for a, b in pairwise(times)]
    try:
        actual_phases = locate_phases(wanted, run(first, last), RunResults({}, {}, (), ()))
    except AssayError as error:
        codes = {item.code for item in error.diagnostics}
        assert (
            codes == {"instant-outside"}
            if is_outside
            else codes <= {"phase-backwards", "phase-margin", "phase-overlap"}
        )
        assert is_outside or any(too_short)
        return
    assert not is_outside
    assert not any(too_short)
    for number, bounds in enumerate(actual_phases.phases):
        since = times[number - 1] + margin if number else None
        until = times[number] - margin if number < len(times) else None
        assert bounds == Bounds(f"p{number}", since, until)
    assert [item.t_ns for item in actual_phases.instants] == sorted(times)


EMPTY: Any = Package("s", (), (), (), (), (), (), (), (), (), (), (), ())


def test_data_instant_is_read_from_the_data() -> None:
    """The instant is the first of a table. A value of the user takes precedence; without a row there is no instant."""
    cut = Cut("start", "", "blocks", "t_ns", "first", None, "")
    package = replace(EMPTY, cuts=(cut,))
    phases = [Phase("before", "", "start", 0, "", "")]

    def resolve_instants(rows: list[dict[str, object]], *instant_options: str) -> tuple[Instant, ...]:
        wanted = select_phases(package, phases, instant_options, ())
        assert wanted is not None
        return locate_phases(wanted, run(0, 9 * SECOND), RunResults({}, {}, (), (), {"cut start": rows})).instants

    assert resolve_instants([{"t_ns": 7}]) == (Instant("start", 7, "first t_ns of blocks"),)
    assert resolve_instants([{"t_ns": 7}], "start=1.5") == (Instant("start", 3 * SECOND // 2, "--at"),)
    with pytest.raises(AssayError) as error_info:
        resolve_instants([{"t_ns": None}])
    assert (
        str(error_info.value)
        .splitlines()[0]
        .endswith("run r: the instant `start` has no time: `blocks` has no row for it")
    )
