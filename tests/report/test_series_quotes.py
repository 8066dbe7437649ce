"""Test quotes of series in prose: statistics, their words and units, and mistakes in them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from assay.lang.checked_package import CheckedPackage
from assay.lang.workspace import get_shipped_workspace, load_package
from assay.number_styles.registry import get_style
from assay.report.prose import ProseScope, read_prose_file
from assay.report.series_statistic import SeriesStatistic, format_statistic, parse_statistic, select_lines
from assay.util.diagnostics import Diagnostic

#: two lines, of which one ends early; a value that is not finite does not count
ROWS = [
    {"t_ns": second, "node": node, "value": value}
    for node, values in (("a", (1.0, 2.0, 3.0, 4.0)), ("b", (10.0, 0.1, float("nan"))))
    for second, value in enumerate(values)
]


@pytest.fixture(scope="module")
def checked(cache: Path) -> CheckedPackage:
    return load_package(get_shipped_workspace(), "cometbft", cache)


@pytest.mark.parametrize(
    ("name", "expected_value"),
    [
        ("max", Fraction(10)),
        ("min", Fraction(1, 10)),
        ("mean", Fraction("3.3875")),  # of 5.5, 1.05, 3 and 4
        ("share below 2", Fraction(200, 6)),
        ("share above 2", Fraction(300, 6)),
        ("share between 1 and 2.0", Fraction(200, 6)),
        ("share below 0.1", Fraction(0)),
        ("share between 0.1 and 10", Fraction(100)),
        ("share above -5", Fraction(100)),
    ],
)
def test_statistic_of_values_of_all_lines(name: str, expected_value: Fraction) -> None:
    statistic = parse_statistic(name)
    assert statistic is not None
    assert statistic.compute(ROWS) == expected_value
    assert statistic.compute([]) is None
    assert statistic.compute([row for row in ROWS if str(row["value"]) == "nan"]) is None


@pytest.mark.parametrize(
    "name", ["", "median", "Max", "share", "share below", "share below x", "share below 1e3", "share between 1"]
)
def test_other_words_are_no_statistic(name: str) -> None:
    assert parse_statistic(name) is None


def test_labels_select_lines() -> None:
    assert {row["node"] for row in select_lines(ROWS, (("node", "b"),))} == {"b"}
    assert select_lines(ROWS, (("node", "c"),)) == []


@pytest.mark.parametrize(
    ("series", "statistic", "value", "decimals", "unit", "expected_text"),
    [
        ("memory", "max", 1_600_000_000, 1, "GB", "1.6 GB"),
        ("memory", "max", 1_600_000_000, 2, "GiB", "1.49 GiB"),
        ("memory", "min", 5, 0, "", "5 Bytes"),
        ("cpu", "mean", Fraction(5, 2), 1, "", "2.5"),
        ("memory", "share below 5", Fraction(200, 3), 1, "", "66.7 %"),
        ("memory", "share below 5", Fraction(200, 3), None, "", "66.7 %"),
    ],
)
def test_statistic_has_its_unit(
    checked: CheckedPackage,
    series: str,
    statistic: str,
    value: int | Fraction,
    decimals: int | None,
    unit: str,
    expected_text: str,
) -> None:
    item = next(item for item in checked.package.series if item.name == series)
    parsed = parse_statistic(statistic) or SeriesStatistic("")
    style = get_style("three-digits")
    assert format_statistic(checked, style, item, parsed, Fraction(value), decimals, unit) == expected_text


#: arguments of a quote of the series `memory` -> the error
MISTAKES = {
    "": "prose quotes series `memory` without a statistic",
    'statistic = "median"': "prose quotes series `memory` by an unknown statistic",
    'statistic = "max", nod = "a"': "prose quotes series `memory` by an unknown label `nod`",
    'statistic = "max", job = 1': "prose quotes series `memory` by a value that label `job` never has",
    'statistic = "max", choice = "chosn"': "prose quotes series `memory` of an unknown choice `chosn`",
    'statistic = "max", choice = "timeless"': (
        "prose quotes series `memory` of choice `timeless`, which has no `begin` and `end`"
    ),
    'statistic = "max", unit = "s"': "prose quotes series `memory` in a unit that it does not convert to",
    'statistic = "max", unit = "Gb"': "prose quotes series `memory` in a unit that it does not convert to",
    'statistic = "share below 5", unit = "GB"': "prose quotes series `memory` by a share in another unit than percent",
    'statistic = "max", decimals = 16': "prose quotes `memory` with an invalid number of decimals",
}


@pytest.mark.parametrize("arguments", MISTAKES)
def test_mistake_in_a_quote_of_a_series_is_named(checked: CheckedPackage, tmp_path: Path, arguments: str) -> None:
    article = next(item for item in checked.package.reports if item.name == "qa")
    choices = (*article.choices, replace(article.choices[0], name="timeless", begin="", end=""))
    place = tmp_path / "part.md"
    place.write_text(f"- It is {{{{ memory({arguments}) }}}}.\n", encoding="utf-8")
    problems: list[Diagnostic] = []
    read_prose_file(place, "part.md", ProseScope(checked, choices), problems)
    assert [problem.message for problem in problems][:1] == [MISTAKES[arguments]]
    assert [str(problem.span) for problem in problems][:1] == ["part.md:1:9"]
