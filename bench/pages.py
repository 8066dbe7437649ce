"""Measure how often pages of many unchanged metrics say that something changed, and how many real changes they show.

Each page compares single runs in 40 metrics, with the average, the median, p95 and p99 of each: the functions that
judge reports see simulated runs of the kinds of noise of `bench/verdicts.py`. It prints, as a Markdown table, in
percent of the pages:

* interval: some average or quantile has an interval beyond the margin of 2 %
* headline: some is more than chance makes of so many, so that the headline counts it
* gate: a gate of the first seven metrics fails
* found: the metrics that are slower, by their share that the headline counts

Use: python -m bench.pages [--pages 200] [--metrics 40]
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator, default_rng

from assay.app.judge.judging import mark_changes_by_chance
from assay.judgement.batches import count_places
from assay.judgement.gate import assess_gate
from assay.judgement.quantile_interval import find_index
from assay.judgement.report_judgements import JudgedChange
from assay.judgement.shift import SHARES, STEPS, RunQuantiles
from assay.judgement.tails import TailRule, judge_tails
from assay.judgement.verdict import Direction, Margin, Verdict
from bench.verdicts import (
    MARGIN,
    Draw,
    Samples,
    judge_pair,
    use_bursts,
    use_lognormal,
    use_pauses,
    use_shares,
    use_timeouts,
)

GATED = 7
LEVEL = 0.95
VERSION = "1.1"
KINDS: tuple[Draw, ...] = (
    use_lognormal(63),
    use_lognormal(1000),
    use_lognormal(1000, correlation=0.5),
    use_lognormal(1000, correlation=0.9),
    use_lognormal(2000, 1.2),
    use_pauses(2000, 150, 300),
    use_bursts(2000),
    use_timeouts(1000, 10_000.0, 1),
    use_shares(0.005),
)


@dataclass(frozen=True)
class Page:
    """A kind of page: how many of its metrics are slower, and by which factor."""

    name: str
    slower: int = 0
    factor: float = 1.0


PAGES = (
    Page("no metric changed"),
    Page("1 metric 10 % slower", 1, 1.1),
    Page("1 metric 50 % slower", 1, 1.5),
    Page("10 metrics 10 % slower", 10, 1.1),
    Page("10 metrics 50 % slower", 10, 1.5),
)


def build_quantiles(samples: Samples) -> RunQuantiles:
    """Build the distribution of a run as the SQL of a report does."""
    count = len(samples)
    ordered = np.sort(samples)
    quantiles = tuple(float(ordered[find_index(count, share)]) for share in SHARES)
    last = min(STEPS, count - 1)
    steps = tuple(float(ordered[number * (count - 1) // max(1, last)]) for number in range(last + 1))
    places = np.arange(count) * count_places(count) // count
    rows = []
    for place in np.unique(places):
        values = samples[places == place]
        rows.append((int(place), len(values), tuple(int((values <= quantile).sum()) for quantile in quantiles)))
    return RunQuantiles(quantiles, steps, tuple(rows), count)


def judge_metric(draw: Draw, factor: float, random: Generator) -> JudgedChange:
    """Judge the average of a metric and its quantiles."""
    base, other = draw(random, 1.0), draw(random, factor)
    margin = Margin(MARGIN)
    tails = judge_tails(build_quantiles(base), build_quantiles(other), TailRule(margin, Direction.LOWER, LEVEL, GATED))
    averages = float(base.mean()), float(other.mean())
    judgement = judge_pair([base], [other])
    return JudgedChange(judgement, margin, averages=averages, tails=tails, has_quantiles=True)


def judge_page(page: Page, metrics: int, random: Generator) -> dict[tuple[str, str], JudgedChange]:
    """Judge a page whose first metrics are slower; which kind of noise is first differs from page to page."""
    start = int(random.integers(len(KINDS)))
    changes = {
        (f"m{number}", VERSION): judge_metric(
            KINDS[(start + number) % len(KINDS)], page.factor if number < page.slower else 1.0, random
        )
        for number in range(metrics)
    }
    return mark_changes_by_chance(changes, LEVEL)


def is_changed(change: JudgedChange) -> bool:
    """Return whether an interval of a metric lies beyond its margin."""
    return change.judgement.is_certain or bool(change.tails)


def is_counted(change: JudgedChange) -> bool:
    """Return whether the headline counts the metric or one of its quantiles."""
    is_average = change.judgement.is_certain and not change.is_by_itself
    return is_average or any(not tail.is_by_itself for tail in change.tails)


def is_worse(change: JudgedChange) -> bool:
    """Return whether the headline counts the metric as worse."""
    if change.judgement.verdict is Verdict.WORSE and not change.is_by_itself:
        return True
    return any(tail.verdict is Verdict.WORSE and not tail.is_by_itself for tail in change.tails)


def measure_pages(page: Page, pages: int, metrics: int) -> Iterator[float | None]:
    """Yield the numbers of a row in percent; None for what does not apply."""
    random = default_rng(metrics + page.slower)
    counts = np.zeros(4)
    for _ in range(pages):
        changes = judge_page(page, metrics, random)
        slower = [changes[f"m{number}", VERSION] for number in range(page.slower)]
        others = [change for (name, _), change in changes.items() if int(name[1:]) >= page.slower]
        gate = assess_gate({key: changes[key].judgement for key in list(changes)[:GATED]}, LEVEL)
        closes = any(item.is_worse for item in gate) or any(
            tail.is_closing for key in list(changes)[:GATED] for tail in changes[key].tails
        )
        counts += (
            any(map(is_changed, others)),
            any(map(is_counted, others)),
            closes,
            sum(map(is_worse, slower)) / max(1, page.slower),
        )
    intervals, headline, gate_fails, detected = (100 * counts / pages).tolist()
    yield intervals
    yield headline
    yield gate_fails
    yield detected if page.slower else None


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pages", type=int, default=200, help="pages of each kind")
    parser.add_argument("--metrics", type=int, default=40, help="metrics of a page")
    arguments = parser.parse_args()
    print(f"| {arguments.metrics} metrics | interval | headline | gate | found |")
    print("|---|---:|---:|---:|---:|")
    for page in PAGES:
        numbers = measure_pages(page, arguments.pages, arguments.metrics)
        cells = ("–" if number is None else f"{number:.1f}" for number in numbers)
        print(f"| {page.name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
