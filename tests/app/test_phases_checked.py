"""Test phases between instants: where they begin and end in a run, and which are refused."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.app.session.phases import Bounds, Instant, locate_phases, select_phases
from assay.engine.mount import HostLog, RunFacts
from assay.engine.results import RunResults
from assay.lang.model.package import Package
from assay.lang.model.vocabulary import Cut, Phase
from assay.runs.model import IngestedRun, NamedRun, Part
from assay.util.diagnostics import AssayError
from tests.support.laboratory import ROOT

SECOND = 10**9


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
