"""Check examples: unique names, files inside the run, known metrics and filters, sorted samples."""

from __future__ import annotations

from collections import Counter

from assay.lang.check import filters
from assay.lang.check.checker import Checker
from assay.lang.formula import is_formula
from assay.lang.model.example import Example, Expectation
from assay.util.numbers import parse_decimal
from assay.util.os_errors import is_below


def check_examples(checker: Checker) -> None:
    """Check every example of the package."""
    for name, times in Counter(item.name for item in checker.package.examples).items():
        if times > 1:
            checker.report("duplicate-example", f"{times} examples are named `{name}`", name, hint="rename all but one")
    for item in checker.package.examples:
        _check_files(checker, item)
        filters.check_filter_uses(checker, f"example `{item.name}`", item.filters, item.name)
        for expectation in item.expect:
            _check_expectation(checker, item, expectation)
        ids = Counter(metric.id for metric in checker.package.metrics)
        for metric, times in Counter(expectation.metric for expectation in item.expect).items():
            if times > 1 and ids[metric] == 1:  # otherwise the duplicate id is reported
                checker.report(
                    "example", f"example `{item.name}` expects `{metric}` {times} times", item.name,
                    hint="list all of its samples in one expectation",
                )  # fmt: skip


def _check_files(checker: Checker, item: Example) -> None:
    for path, times in Counter(file.path for file in item.files).items():
        if not is_below(path) or path.endswith("/"):
            checker.report(
                "example-file", f"file `{path}` of example `{item.name}` is outside the run directory", item.name,
                expected="a path relative to the run directory, such as node-0/stdout",
            )  # fmt: skip
        elif times > 1:
            checker.report("example-file", f"example `{item.name}` has {times} files `{path}`", item.name)


def _check_expectation(checker: Checker, item: Example, expectation: Expectation) -> None:
    metrics = {metric.id: metric for metric in checker.package.metrics}
    if expectation.metric in metrics and is_formula(metrics[expectation.metric]):
        checker.report(
            "example", f"example `{item.name}` expects samples of the formula `{expectation.metric}`", item.name,
            hint="put worked examples of a formula in `examples` of the metric",
        )  # fmt: skip
    if expectation.metric not in metrics:
        checker.report_unlisted("metric", expectation.metric, f"in example `{item.name}`", metrics, within=(item.name,))
    numbers = []
    for text in expectation.samples:
        number = parse_decimal(text)
        if number is None:
            checker.report(
                "example", f"a sample of `{expectation.metric}` in example `{item.name}` is not a number", item.name,
                expected="a decimal number, such as 0.25", found=text,
            )  # fmt: skip
            return
        numbers.append(number)
    if numbers != sorted(numbers):
        checker.report(
            "example", f"the samples of `{expectation.metric}` in example `{item.name}` are not ascending", item.name,
            expected=", ".join(str(number) for number in sorted(numbers)), found=", ".join(expectation.samples),
        )  # fmt: skip
