"""Check what judgements need: the time and cluster of grains, margins, and the gates of reports."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from assay.lang import scopes
from assay.lang.check.checker import Checker, Field
from assay.lang.expression_types import UnitError
from assay.lang.model.package import Grain, Metric
from assay.lang.model.report import Report
from assay.lang.model.vocabulary import Judgement, Margin
from assay.lang.segments import get_whole, is_segment, list_dimensions, parse_segment
from assay.lang.units import UnknownUnitError
from assay.util.diagnostics import suggest_names
from assay.util.numbers import parse_decimal

_ORDERED = ("integer", "instant")
_GREATEST_LEVEL = Fraction(9999, 10000)


def check_judgements(checker: Checker) -> None:
    """Check the time and cluster of grains, and margins, levels and gates."""
    for grain in checker.package.grains:
        _check_time(checker, grain)
        _check_cluster(checker, grain)
    for metric in checker.package.metrics:
        if metric.margin:
            _check_margin(checker, f"the margin of metric `{metric.id}`", metric.margin, metric.id, "margin")
            _check_margin_unit(checker, metric, metric.margin)
    for report in checker.package.reports:
        if report.judgement:
            _check_judgement(checker, report, report.judgement)


def _check_time(checker: Checker, grain: Grain) -> None:
    scope = scopes.build_grain_scope(checker.package, grain)
    kinds = {**scope.leaves["column"], **scope.leaves["instant"]}
    if not grain.time or kinds.get(grain.time, scopes.UNTYPED).type in _ORDERED:
        return
    checker.report(
        "judgement-time",
        f"`time` of grain `{grain.name}` names `{grain.time}`, which is not a time",
        grain.time,
        expected="an integer column or an instant of the grain",
        found=f"a column of type {kinds[grain.time].type}" if grain.time in kinds else "no column of the grain",
        hint=suggest_names(grain.time, [name for name, kind in kinds.items() if kind.type in _ORDERED]),
        within=(grain.name, Field("time")),
    )


def _check_cluster(checker: Checker, grain: Grain) -> None:
    columns = scopes.build_grain_scope(checker.package, grain).leaves["column"]
    if grain.cluster and grain.cluster not in columns:
        checker.report(
            "judgement-cluster",
            f"`cluster` of grain `{grain.name}` names `{grain.cluster}`, which is not a column of the grain",
            grain.cluster,
            hint=suggest_names(grain.cluster, columns),
            within=(grain.name, Field("cluster")),
        )


def _check_margin(checker: Checker, owner: str, margin: Margin, word: str, field: str) -> None:
    texts = [text for text in (margin.percent, margin.amount) if text]
    for text in texts or [""]:
        number = parse_decimal(text)
        if number is None or number < 0:
            checker.report(
                "margin",
                f"{owner} is not a number of at least 0",
                word,
                expected='decimal numbers of at least 0, such as `M.percentOr "2" "0.5" U.second`',
                found=text or "neither percent nor amount",
                cause=f"{field} {text}",
                field=field,
            )


def _check_margin_unit(checker: Checker, metric: Metric, margin: Margin) -> None:
    if not margin.amount:
        return
    try:
        checker.library.compute_factor(margin.unit.name, metric.unit.name)
    except UnitError:
        checker.report(
            "unit",
            f"the margin of metric `{metric.id}` has a unit that does not convert to the unit of the metric",
            metric.id,
            expected=metric.unit.name,
            found=margin.unit.name,
            hint="declare the amount in a unit of the same kind",
            cause=f"margin {metric.unit.name} {margin.unit.name}",
            field="margin",
        )
    except UnknownUnitError as error:
        checker.report_unknown_unit(error, f"the margin of metric `{metric.id}`", metric.id)


def _check_judgement(checker: Checker, report: Report, judgement: Judgement) -> None:
    owner = f"the judgement of report `{report.name}`"
    level = parse_decimal(judgement.level)
    if level is None or not Fraction(1, 2) < Fraction(level) <= _GREATEST_LEVEL:
        checker.report(
            "judgement-level",
            f"the level of {owner} is out of range",
            report.name,
            expected='a decimal number above 0.5 and up to 0.9999, such as "0.95"',
            found=judgement.level or "nothing",
            field="judgement",
        )
    _check_margin(checker, f"the margin of {owner}", judgement.margin, report.name, "judgement")
    if judgement.margin.amount:
        checker.report(
            "margin",
            f"the margin of {owner} is an amount, which the metrics do not share",
            report.name,
            expected="percent",
            found=judgement.margin.amount,
            hint="declare amounts in the `margin` of metrics",
            field="judgement",
        )
    _check_gate(checker, report, judgement.gate)


def _check_gate(checker: Checker, report: Report, gate: Sequence[str]) -> None:
    compared_metrics = dict.fromkeys((*report.listed_metrics, *report.also, *report.compared_metrics))
    better = {metric.id: metric.better for metric in checker.package.metrics}
    undirected: list[str] = []
    for name in dict.fromkeys(gate):
        whole = get_whole(name)
        if whole not in compared_metrics:
            checker.report(
                "gate",
                f"the gate of report `{report.name}` names `{name}`, which the report does not show",
                name or report.name,
                hint=suggest_names(whole, compared_metrics),
                within=(report.name, Field("gate")),
            )
        elif better.get(whole) == "neither":
            undirected.append(name)
        elif is_segment(name):
            _check_segment(checker, report, name)
    if undirected:
        names = ", ".join(f"`{name}`" for name in undirected)
        is_one = len(undirected) == 1
        which = "which is" if is_one else "which are"
        checker.report(
            "gate",
            f"the gate of report `{report.name}` names {names}, {which} better in no direction",
            undirected[0],
            expected=f'{"a metric" if is_one else "metrics"} with `better = "lower"` or `"higher"`',
            within=(report.name, Field("gate")),
        )


def _check_segment(checker: Checker, report: Report, name: str) -> None:
    """Check that a segment in a gate has the dimensions of its metric, and values of their types."""
    whole, _, text = name[:-1].partition("[")
    metric = next(item for item in checker.package.metrics if item.id == whole)
    dimensions = list_dimensions(checker.package, metric)
    within = (report.name, Field("gate"))
    try:
        split = parse_segment(checker.package, metric, text)
    except ValueError as error:
        message = f"the gate of report `{report.name}` names `{name}`, which is no segment of `{whole}`"
        checker.report("segment", message, name, expected=str(error), within=within)
        return
    for dimension in split.by:
        if dimension not in dimensions:
            checker.report(
                "unknown-dimension",
                f"the gate of report `{report.name}` names `{name}`, but `{dimension}` is no dimension of `{whole}`",
                name,
                expected=", ".join(dimensions) or "a metric whose grain has `dimensions`",
                hint=suggest_names(dimension, dimensions) if dimensions else "",
                within=within,
            )
