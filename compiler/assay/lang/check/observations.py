"""Check the rules that draft observations: their metrics, sizes, words and texts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import pairwise

from assay.lang.blocks.verdict import Verdict
from assay.lang.check.checker import Checker
from assay.lang.expression_types import UnitError
from assay.lang.model.observation import (
    ALIKE,
    BOUNDED,
    CASE_PLACEHOLDERS,
    DETAIL_PLACEHOLDERS,
    MEDIAN,
    OBSERVATION_PLACEHOLDERS,
    OF_ROWS,
    OF_SIZES,
    WHOLES,
    Observation,
    ObservationRules,
)
from assay.lang.units import UnknownUnitError
from assay.util.diagnostics import suggest_names
from assay.util.numbers import parse_decimal

_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_LEAST_WORDS = 2  # of a direction: for one metric and for several


def check_observations(checker: Checker) -> None:
    """Check the observations of every report."""
    for report in checker.package.reports:
        if report.observations:
            compared = (*report.listed_metrics, *report.compared_metrics)
            requests = (request for block in report.blocks for request in block.read_rows(checker.package))
            listed = [name for request in requests for name in request.metrics]
            verdicts = (block for part in report.parts for block in part.select(Verdict))
            judged = [name for verdict in verdicts for name in verdict.metrics]
            _check_rules(checker, f"report `{report.name}`", report.name, compared, report.observations, listed, judged)


def _check_rules(
    checker: Checker,
    report: str,
    name: str,
    compared: Iterable[str],
    rules: ObservationRules,
    listed: Iterable[str] = (),
    judged: Iterable[str] = (),
) -> None:
    """Check the rules of a report, in words, and its name.

    `compared` are the metrics whose changes its tables print, `listed` those of rows, `judged` those of verdicts.
    """
    owner = f"the observations of {report}"
    changed, measured = dict.fromkeys(compared), dict.fromkeys(listed)
    alike = {**changed, **dict.fromkeys(judged)}
    for group in rules.groups:
        if not group.title.strip():
            checker.report("title", f"a group of {owner} has no title", name, field="observations")
        for word, text in (("quiet", group.quiet), ("rest", group.rest)):
            _check_names(checker, f"`{word}` of group `{group.title}`", group.title, text, is_required=bool(text))
        for item in group.observations:
            metrics = measured if item.whole in OF_ROWS else alike if item.whole == ALIKE else changed
            _check_observation(checker, f"group `{group.title}` of {owner}", item.name or group.title, item, metrics)
    for direction, words in (("up", rules.up), ("down", rules.down)):
        if len(words) < _LEAST_WORDS or not all(word.strip() for word in words):
            message, expected = (
                f"`{direction}` of {owner} has too few words",
                "a word for one metric and one for several",
            )
            checker.report("observation-words", message, name, expected=expected, field="observations")
    if both := [word for word in rules.up if word in rules.down]:
        message = f"{owner} have a word for both directions"
        checker.report("observation-words", message, both[0], found=", ".join(both))
    for word, text in (("undecided", rules.undecided), ("unjudged", rules.unjudged)):
        _check_names(checker, f"`{word}` of {owner}", name, text, is_required=True)
    _check_placeholders(checker, f"`detail` of {owner}", name, rules.detail, DETAIL_PLACEHOLDERS)
    _check_placeholders(checker, f"`inCase` of {owner}", name, rules.in_case, CASE_PLACEHOLDERS)
    _check_sizes(checker, owner, name, rules)
    _check_plurals(checker, owner, rules, {**alike, **measured})


def _check_plurals(checker: Checker, owner: str, rules: ObservationRules, metrics: Iterable[str]) -> None:
    for name in rules.plurals:
        if name not in metrics:
            message = f"`plurals` of {owner} name `{name}`, which the report does not show"
            checker.report("observation-metric", message, name, hint=suggest_names(name, metrics))


def _check_sizes(checker: Checker, owner: str, name: str, rules: ObservationRules) -> None:
    sizes = [parse_decimal(size.below) for size in rules.sizes]
    numbers = [Fraction(size) for size in sizes if size is not None]
    if len(numbers) < len(sizes) or any(a >= b for a, b in pairwise([Fraction(0), *numbers])):
        checker.report(
            "observation-words",
            f"the sizes of {owner} do not ascend",
            name,
            expected="decimal numbers above 0, each greater than the one before it",
            found=", ".join(size.below or "nothing" for size in rules.sizes),
            field="observations",
        )
    if bool(rules.sizes) != bool(rules.beyond):
        message, expected = f"{owner} have no word for the largest changes", "`beyond` with `sizes`, or neither"
        checker.report("observation-words", message, name, expected=expected, field="observations")


def _check_observation(
    checker: Checker, owner: str, word: str, observation: Observation, compared: Iterable[str]
) -> None:
    names = (*observation.metrics, *observation.also, *observation.after)
    for name in dict.fromkeys(names):
        if name not in compared:
            message, hint = f"{owner} names `{name}`, which the report does not show", suggest_names(name, compared)
            checker.report("observation-metric", message, name or word, hint=hint, within=(word,))
    if not observation.metrics:
        checker.report("observation-metric", f"{owner} has an observation of no metric", word)
    if observation.whole not in WHOLES:
        checker.report_unknown("whole", observation.whole, f"in {owner}", WHOLES, word=observation.whole or word)
    if observation.whole == MEDIAN and not observation.name.strip():
        message, hint = f"{owner} has a statement on several metrics without a name", 'set `name = "…"`'
        checker.report("observation-words", message, word, hint=hint)
    _check_placeholders(checker, f"the text of {owner}", word, observation.text, OBSERVATION_PLACEHOLDERS)
    if observation.whole in OF_SIZES:
        _check_least(checker, owner, word, observation)
    if observation.whole in BOUNDED and parse_decimal(observation.bound) is None:
        message = f"{owner} has a statement without a bound"
        checker.report(
            "observation-size", message, word, expected="a decimal number", found=observation.bound or "none"
        )


def _check_placeholders(checker: Checker, owner: str, word: str, text: str, names: Sequence[str]) -> None:
    for name in _PLACEHOLDER.findall(text):
        if name not in names:
            listed = ", ".join(f"{{{item}}}" for item in names)
            message, hint = f"unknown placeholder `{{{name}}}` in {owner}", suggest_names(name, names)
            checker.report("unknown-placeholder", message, f"{{{name}}}", expected=listed, hint=hint, within=(word,))


def _check_names(checker: Checker, owner: str, word: str, text: str, *, is_required: bool) -> None:
    """Check that a sentence on metrics without a statement names them: a subject would claim more than they show."""
    _check_placeholders(checker, owner, word, text, ("name",))
    if is_required and "{name}" not in text:
        message, hint = f"{owner} does not name the metrics that it is about", 'write "No significant change: {name}."'
        checker.report("observation-words", message, word, expected="a text with {name}", found=text, hint=hint)


def _check_least(checker: Checker, owner: str, word: str, observation: Observation) -> None:
    """Check from what size on an observation is made, and from what distance on a metric is an outlier."""
    margin = observation.at_least
    texts = [text for text in (margin.percent, margin.amount) if text] or [""]
    for text in [*texts, *([observation.outlier] if observation.outlier else [])]:
        number = parse_decimal(text)
        if number is None or number <= 0:
            message = f"{owner} has a statement without a size"
            checker.report("observation-size", message, word, expected="decimal numbers above 0", found=text or "none")
    if observation.whole == MEDIAN and margin.amount:
        message = f"{owner} compares the median of changes with an amount, which the metrics do not share"
        checker.report("observation-size", message, word, expected="percent", found=margin.amount)
        return
    metrics = {metric.id: metric for metric in checker.package.metrics}
    for metric in [metrics[name] for name in observation.metrics if margin.amount and name in metrics]:
        try:
            checker.library.compute_factor(margin.unit.name, metric.unit.name)
        except UnitError:
            message = f"{owner} compares `{metric.id}` with an amount in another kind of unit"
            checker.report(
                "unit",
                message,
                metric.id,
                expected=metric.unit.name,
                found=margin.unit.name,
                within=(word,),
                cause=f"amount {metric.unit.name} {margin.unit.name}",
            )
        except UnknownUnitError as error:
            checker.report_unknown_unit(error, owner, word)
