"""Find level shifts and drifts of all series of a page, so that few pages without any show one as certain.

A page of 40 metrics asks 40 questions. The procedure of Benjamini and Hochberg (1995) keeps the share of false answers
among all answers at 5 %; if nothing changed, at most 5 % of pages have one. The p of a series of n points is that of
its clearest change times the number of places to choose from: n / 2, or n^2 / 50 for long series, whose levels may
have two ends. Neighbouring places are nearly one; the numbers are measured. Series with the same values are one
question. What does not pass may be chance.

How alike neighbours are is known from all series together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from assay.judgement.alike_neighbours import measure_correlation, pool_correlations
from assay.judgement.level_shifts import Course, find_course, list_plain_levels

#: greatest share of pages that show a false change, if there is none
FALSE_SHARE = 0.05


@dataclass(frozen=True, slots=True)
class Series:
    """Values of a metric in the order of runs; `resolution` is the unit of the last printed digit."""

    values: tuple[float, ...]
    resolution: float = 0.0


def find_courses(page: Sequence[Series]) -> list[Course]:
    """Return what each series of a page does; what may be chance among so many is marked."""
    distinct = dict.fromkeys(page)
    rs = (measure_correlation(list_plain_levels(item.values, item.resolution)) for item in distinct)
    correlation = pool_correlations([r for r in rs if r is not None])
    courses = {item: find_course(item.values, item.resolution, correlation) for item in distinct}
    ps = [min((change.p for change in course.changes), default=1.0) * _count_places(item)
          for item, course in courses.items()]  # fmt: skip
    limit = find_discovery_limit(ps)
    return [_mark_chance(courses[item], limit, _count_places(item)) for item in page]


def find_discovery_limit(ps: Sequence[float], share: float = FALSE_SHARE) -> float:
    """Return the greatest p that counts as a discovery among tests; below 0 if none does."""
    passed = (p for rank, p in enumerate(sorted(ps), start=1) if p <= share * rank / len(ps))
    return max(passed, default=-1.0)


def _count_places(series: Series) -> float:
    count = len(series.values)
    return max(1.0, count / 2, count**2 / 50)


def _mark_chance(course: Course, limit: float, places: float) -> Course:
    shifts = tuple(replace(item, may_be_chance=item.p * places > limit) for item in course.shifts)
    drift = course.drift and replace(course.drift, may_be_chance=course.drift.p * places > limit)
    return Course(shifts, drift)
