"""Derive the steps of a time from the metrics of its grain: which chain, which rest, and when there is none."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.lang.checked_package import CheckedPackage, MeasureResult
from assay.lang.model.expression import Expression
from assay.lang.model.package import Column, Grain, Instant, Metric, Package, Reduction
from assay.lang.model.vocabulary import Unit
from assay.lang.step_chains import Chain, NoSteps, add_steps, derive_chain, derive_whole_chain, find_ends
from tests.support.deep import scale_examples

Edge = tuple[str, str]
SECOND = Unit("second", "s")
MEASURED = MeasureResult("integer", "nanosecond", Fraction(1, 10**9))
MISSING = Expression("quantity", unit="second")


def at(name: str) -> Expression:
    return Expression("instant", name=name)


def between(edge: Edge, **changes: object) -> Metric:
    """Return the metric `ab` of the time from a to b."""
    start, end = edge
    values = {
        "id": start + end, "name": f"{start} {end}", "doc": "", "grain": "g",
        "measure": Expression("minus", (at(end), at(start))), "where": None, "accepted": True, "reduction": None,
        "per": "", "unit": SECOND, "better": "lower", "width": 4,
    }  # fmt: skip
    return Metric(**{**values, **changes})  # type: ignore[arg-type]


def build_grain(time: str = "a") -> Grain:
    instants = [Instant(name, "g", "first", "e", (), "", None, None, (), "") for name in "abcdefgh"]
    column = Column("z", "instant", Unit("nanosecond", "ns"), "")
    return Grain("g", "r", None, ("k",), (column,), tuple(instants), (), (), None, (), "", time=time)


def build_package(*metrics: Metric, time: str = "a") -> Package:
    return Package("s", (), (), (), (), (build_grain(time),), metrics, (), (), (), ())


def describe(chain: Chain | NoSteps | None) -> object:
    """Return the steps of a chain as `ab bc`, with a rest in brackets."""
    if not isinstance(chain, Chain):
        return chain
    texts = (f"{step.start}{step.end}" for step in chain.steps)
    return " ".join(
        text if step.source else f"({text})" for text, step in zip(texts, chain.steps, strict=True)
    )  # fmt: skip


@pytest.mark.parametrize(
    ("edges", "expected"),
    [
        ("ab bd", "ab bd"),
        ("ab bc cd", "ab bc cd"),
        ("ab bd bc cd", "ab bc cd"),  # the longest
        ("ab bc cd ac bd", "ab bc cd"),
        ("ab bd ae ef", "ab bd"),  # others lead elsewhere
        ("ab", "ab (bd)"),
        ("cd", "(ac) cd"),
        ("ab cd", "ab (bc) cd"),
        ("ab bc ed", "ab bc (ce) ed"),
        ("", NoSteps.NO_PARTS),
        ("de ef", NoSteps.NO_PARTS),  # after the end
        ("ea fe", NoSteps.NO_PARTS),  # before the beginning
        ("ab bd ac cd", NoSteps.SEVERAL),
        ("ab ac", NoSteps.SEVERAL),
        ("ab bc ca", NoSteps.CIRCULAR),
    ],
)
def test_steps_are_the_longest_chain(edges: str, expected: object) -> None:
    total = between(("a", "d"))
    metrics = [between((text[0], text[1])) for text in edges.split()]
    assert describe(derive_chain(build_package(total, *metrics), total)) == expected


@pytest.mark.parametrize(
    ("edges", "steps", "expected"),
    [
        ("ab bd ac cd", ("ac", "cd"), "ac cd"),  # of two equally long ones
        ("ab bc cd ac", ("ac", "cd"), "ac cd"),  # a shorter one
        ("ab bc cd bd", ("ab", "bc", "cd"), "ab bc cd"),
        ("ab bd ca", ("ab", "bd"), "ab bd"),  # beside others that are circular
    ],
)
def test_declared_steps_take_the_place_of_derived_ones(edges: str, steps: tuple[str, ...], expected: str) -> None:
    total = between(("a", "d"), steps=steps)
    metrics = [between((text[0], text[1])) for text in edges.split()]
    assert describe(derive_chain(build_package(total, *metrics), total)) == expected


@pytest.mark.parametrize(
    ("total", "expected"),
    [
        (between(("a", "c"), measure=Expression("coalesce", (between(("a", "c")).measure, MISSING))), "ab bc"),
        (between(("a", "c"), measure=Expression("minus", (at("c"), Expression("coalesce", (at("a"), at("b")))))),
         "ab bc"),
        (between(("a", "c"), reduction=Reduction(("k",), "max", 0.0)), NoSteps.REDUCED),
        (between(("a", "c"), measure=at("c")), NoSteps.NO_DIFFERENCE),
        (between(("a", "c"), measure=Expression("minus", (Expression("column", name="k"), at("a")))),
         NoSteps.NO_DIFFERENCE),
        (between(("a", "c"), grain=""), NoSteps.NO_DIFFERENCE),
    ],
)  # fmt: skip
def test_ends_are_instants(total: Metric, expected: object) -> None:
    package = build_package(total, between(("a", "b")), between(("b", "c")))
    assert describe(derive_chain(package, total)) == expected


def test_column_of_instants_is_an_end() -> None:
    start = Expression("column", name="z")
    ends = find_ends(build_grain(), between(("a", "c"), measure=Expression("minus", (at("c"), start))))
    assert ends == (start, at("c"))


def test_rows_without_time_have_no_steps() -> None:
    total = between(("a", "c"))
    package = build_package(total, between(("a", "b")), between(("b", "c")), time="")
    assert derive_chain(package, total) is NoSteps.NO_TIME


def test_statistics_of_several_rows_measure_no_step() -> None:
    total = between(("a", "c"))
    least = between(("a", "b"), reduction=Reduction(("k",), "min", 0.0))
    assert describe(derive_chain(build_package(total, least, between(("b", "c"))), total)) == "(ab) bc"


def test_steps_have_rows_unit_and_direction_of_the_total() -> None:
    condition = Expression("column", name="valid")
    total = between(("a", "c"), where=condition, per="host", sampled_only=True)
    other = {"unit": Unit("millisecond", "ms"), "better": "neither", "accepted": False, "exact": True}
    chain = derive_chain(build_package(total, between(("a", "b"), **other), between(("b", "c"))), total)
    assert isinstance(chain, Chain)
    for step in chain.steps:
        metric = step.metric
        assert (metric.unit, metric.better, metric.per, metric.accepted) == (SECOND, "lower", "host", True)
        assert (metric.sampled_only, metric.exact) == (True, False)
        assert metric.where == Expression("and", (condition, Expression("column", name="has_steps_of_ac")))
    (complete,) = chain.rows.derived
    assert complete.column.name == "has_steps_of_ac"
    assert complete.value == Expression("and", tuple(Expression("present", (at(name),)) for name in "abc"))


def test_plain_metric_measures_a_step_rather_than_one_with_assumed_times() -> None:
    total, plain = between(("a", "c")), between(("a", "b"), id="plain")
    assumed = between(("a", "b"), id="assumed", measure=Expression("coalesce", (plain.measure, MISSING)))
    some = between(("a", "b"), id="some", where=at("c"))
    chain = derive_chain(build_package(total, assumed, some, plain, between(("b", "c"))), total)
    assert isinstance(chain, Chain)
    assert chain.steps[0].source == "plain"


@pytest.mark.parametrize(
    ("edges", "expected"),
    [("ab bc", "ab bc"), ("ab bc ac", None), ("ab", None), ("ab bc bd", None), ("ab bc ca", None), ("", None)],
)
def test_steps_without_total_are_those_of_the_grain(edges: str, expected: str | None) -> None:
    package = build_package(*(between((text[0], text[1])) for text in edges.split()))
    chain = derive_whole_chain(package, build_grain())
    assert describe(chain) == expected
    assert chain is None or (chain.name, chain.total.name) == ("g", "A to c")


def test_totals_of_one_grain_have_a_column_each() -> None:
    metrics = [between((text[0], text[1])) for text in ("ab", "bc", "cd", "ac", "bd")]
    package = build_package(*metrics)
    checked = CheckedPackage(package, {item.id: MEASURED for item in metrics}, {}, "")
    for total in metrics[3:]:
        chain = derive_chain(package, total)
        assert isinstance(chain, Chain)
        checked = add_steps(checked, chain)
    (grain,) = checked.package.grains
    assert [item.column.name for item in grain.derived] == ["has_steps_of_ac", "has_steps_of_bd"]
    assert {"ac: a to b", "ac: b to c", "bd: b to c", "bd: c to d"} < checked.measured.keys()


@given(st.sets(st.tuples(st.sampled_from("abcdefgh"), st.sampled_from("abcdefgh"))))
@settings(max_examples=scale_examples(200))
def test_steps_of_any_metrics_adjoin(pairs: set[Edge]) -> None:
    edges = [(start, end) for start, end in sorted(pairs) if start < end]
    total = between(("a", "h"))
    chain = derive_chain(build_package(total, *map(between, edges)), total)
    if not isinstance(chain, Chain):
        return
    ends = [chain.steps[0].start, *(step.end for step in chain.steps)]
    assert (ends[0], ends[-1]) == ("a", "h")
    assert all(one.end == other.start for one, other in pairwise(chain.steps))
    assert len(set(ends)) == len(ends) >= 3
    assert sum(not step.source for step in chain.steps) <= 1
    assert all((step.start, step.end) in edges for step in chain.steps if step.source)
