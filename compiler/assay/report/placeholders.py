"""Fill the placeholders of titles and introductions, or leave out texts that compare if there is one run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from assay.lang.checked_package import CheckedPackage
from assay.lang.model.report import Report
from assay.report import run_results
from assay.report.run_results import RunFigures

_PLACEHOLDER = re.compile(r"\{([^{}]+)\}")


def split_paragraphs(text: str) -> list[str]:
    """Return the paragraphs of an introduction."""
    return [item for item in text.split("\n\n") if item.strip()]


def compares_runs(text: str) -> bool:
    """Return whether a text names several runs: `{others}`, or `{base}` and `{last}`."""
    return "{others}" in text or ("{base}" in text and "{last}" in text)


def choose_texts(system: str, report: Report, labels: Sequence[str], *, is_repeated: bool) -> tuple[str, list[str]]:
    """Return title and introduction; for a single run or version, without texts that compare it with others.

    A hint says how to compare, if the report compares metrics. `labels` are those of versions.
    """
    if len(labels) > 1:
        return report.title, split_paragraphs(report.intro)
    label = labels[0]
    word = "version" if is_repeated else "run"
    subject = "{base}" if label.lower().replace("-", "_") == system else f"{system}: {word} {{base}}"
    title = subject if compares_runs(report.title) else report.title
    hint = [f"One {word}: {{base}}. Name a second --run to compare."] if report.compared_metrics else []
    return title, [*hint, *(text for text in split_paragraphs(report.intro) if not compares_runs(text))]


def collect_placeholder_values(
    checked: CheckedPackage, runs: Sequence[RunFigures], run_labels: Sequence[str]
) -> dict[str, str]:
    """Return the values of placeholders in titles and introductions: labels of runs, constants of the first run."""
    declared_constants = [item for source in checked.package.sources for item in source.constants]
    constant_values = runs[0].constants
    constants = {
        f"constant.{item.name}": run_results.format_constant(item, constant_values[item.name])
        if constant_values[item.name] != ""
        else ""
        for item in declared_constants
        if item.name in constant_values
    }
    return {
        "base": run_labels[0],
        "others": list_labels(run_labels[1:] or run_labels),
        "last": run_labels[-1],
        **constants,
    }


def list_labels(labels: Iterable[str]) -> str:
    """Return distinct labels as a list in words: `a, b and c`."""
    *others, last = dict.fromkeys(labels)
    return f"{', '.join(others)} and {last}" if others else last


def fill_placeholders(text: str, placeholder_values: Mapping[str, str]) -> str:
    """Return a text with its placeholders replaced; unknown ones are left as they are."""
    return _PLACEHOLDER.sub(lambda match: placeholder_values.get(match[1], match[0]), text)
