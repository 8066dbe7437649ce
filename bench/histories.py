"""Measure how often histories show changes that are none, and how often they find changes, on simulated runs.

The values go through the functions of `assay history` and of history reports. Noise is normal, 2 % of the level, alone
or with a correlation of neighbours; some is rounded to multiples of a unit. It prints two Markdown tables, in percent:

* series: those with a level shift, and those with a drift, for several courses
* pages of 40 metrics: unchanged ones with a change that is not marked as possible chance; and those where a step of 5 %
  in one metric is found without that mark, as a shift, or as a drift

Use: python bench/histories.py [--series 400] [--pages 200]
"""

import argparse
from collections.abc import Callable, Sequence

from numpy.random import Generator, default_rng

from assay.judgement.level_shifts import Course, find_course
from assay.judgement.page_discoveries import Series, find_courses
from verdicts import draw_correlated

LEVEL, NOISE, METRICS = 100.0, 2.0, 40
COUNTS = (12, 20, 30, 45, 60)

Shape = Callable[[float], float]
"""The change in percent at a place from 0 to 1 in a series."""

#: course, correlation of neighbours and, unless they are not rounded, unit of the values
COURSES: dict[str, tuple[Shape, float] | tuple[Shape, float, float]] = {
    "unchanged": (lambda _: 0.0, 0.0),
    "unchanged, correlation 0.3": (lambda _: 0.0, 0.3),
    "unchanged, correlation 0.6": (lambda _: 0.0, 0.6),
    "unchanged, correlation 0.8": (lambda _: 0.0, 0.8),
    "unchanged, rounded to 2 %": (lambda _: 0.0, 0.0, 2.0),
    "unchanged, rounded to 5 %": (lambda _: 0.0, 0.0, 5.0),
    "unchanged, rounded to 7 %": (lambda _: 0.0, 0.0, 7.0),
    "step of 5 % in the middle, rounded to 5 %": (lambda place: 5.0 * (place >= 0.5), 0.0, 5.0),
    "step of 5 % in the middle, correlation 0.3": (lambda place: 5.0 * (place >= 0.5), 0.3),
    "step of 10 % in the middle, correlation 0.6": (lambda place: 10.0 * (place >= 0.5), 0.6),
    "step of 5 % in the middle": (lambda place: 5.0 * (place >= 0.5), 0.0),
    "step of 5 % at three quarters": (lambda place: 5.0 * (place >= 0.75), 0.0),
    "step of 10 % in the middle": (lambda place: 10.0 * (place >= 0.5), 0.0),
    "two steps of 5 % at thirds": (lambda place: 5.0 * ((place >= 1 / 3) + (place >= 2 / 3)), 0.0),
    "10 % more in the third quarter": (lambda place: 10.0 * (0.5 <= place < 0.75), 0.0),
    "drift of 5 %": (lambda place: 5.0 * place, 0.0),
    "drift of 10 %": (lambda place: 10.0 * place, 0.0),
    "drift of 20 %": (lambda place: 20.0 * place, 0.0),
}


def draw_series(
    random: Generator, count: int, shape: Shape, correlation: float, unit: float = 0.0
) -> tuple[float, ...]:
    """Draw the values of a metric over `count` runs, as multiples of a unit unless it is 0."""
    noise = NOISE * draw_correlated(random, count, correlation)
    values = (shape(index / count) + value for index, value in enumerate(noise.tolist()))
    return tuple(LEVEL + (unit * round(value / unit) if unit else value) for value in values)


def measure_course(name: str, count: int, number: int) -> tuple[float, float]:
    """Return the percentages of series with a level shift, and with a drift."""
    random = default_rng(count)
    courses = [find_course(draw_series(random, count, *COURSES[name])) for _ in range(number)]
    return (100 * sum(bool(item.shifts) for item in courses) / number,
            100 * sum(bool(item.drift) for item in courses) / number)  # fmt: skip


def has_certain_change(courses: Sequence[Course]) -> bool:
    """Return whether a page shows a change that is not marked."""
    return any(not change.may_be_chance for course in courses for change in course.changes)


def measure_pages(count: int, correlation: float, number: int) -> tuple[float, float, float]:
    """Return the percentages of false pages, and of pages whose step is found as a shift, and as a drift."""
    random = default_rng([count, round(10 * correlation)])
    false = shifts = drifts = 0
    for _ in range(number):
        page = [Series(draw_series(random, count, lambda _: 0.0, correlation)) for _ in range(METRICS)]
        false += has_certain_change(find_courses(page))
        step = tuple(value + 5 * (index >= count // 2) for index, value in enumerate(page[0].values))
        (course, *_) = find_courses([Series(step), *page[1:]])
        shifts += any(not item.may_be_chance for item in course.shifts)
        drifts += bool(course.drift and not course.drift.may_be_chance)
    return 100 * false / number, 100 * shifts / number, 100 * drifts / number


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--series", type=int, default=400, help="series of each course and number of runs")
    parser.add_argument("--pages", type=int, default=200, help="pages of each noise and number of runs")
    arguments = parser.parse_args()
    print(f"| shifts; drifts | {' | '.join(f'{count} runs' for count in COUNTS)} |")
    print(f"|---|{'---|' * len(COUNTS)}")
    for name in COURSES:
        pairs = (measure_course(name, count, arguments.series) for count in COUNTS)
        print(f"| {name} | {' | '.join(f'{shift:.1f}; {drift:.1f}' for shift, drift in pairs)} |", flush=True)
    print("\n| correlation | runs | false pages | step found | as a drift |\n|---|---|---:|---:|---:|")
    for correlation in (0.0, 0.3, 0.6):
        for count in (30, 45, 60):
            numbers = measure_pages(count, correlation, arguments.pages)
            print(f"| {correlation:g} | {count} | {' | '.join(f'{item:.1f}' for item in numbers)} |", flush=True)


if __name__ == "__main__":
    main()
