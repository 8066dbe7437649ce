"""Measure how often quantiles of repeats have a wrong verdict, and how often slower runs are detected.

The functions that judge reports see simulated runs of kinds of noise of `bench/verdicts.py`, all of which also differ
from run to run. For each kind it prints, as a Markdown table, in percent of the pairs of versions:

* false: verdicts of the median, p95 and p99 of unchanged versions at a margin of 2 %
* slower: versions whose samples are 20 % longer that are found worse
* gate: unchanged pairs of eight metrics for which a gate fails

Use: python -m bench.tails [--pairs 400]
"""

import argparse
import math
import zlib
from collections.abc import Sequence

from numpy.random import Generator, default_rng

from assay.judgement.shift import RunQuantiles
from assay.judgement.tails import JUDGED, TailChange, TailRule, judge_tails_of_repeats
from assay.judgement.verdict import Direction, Margin, Verdict
from bench.pages import LEVEL, build_quantiles
from bench.verdicts import MARGIN, Draw, use_bursts, use_lognormal, use_pauses

GATED = 8
DEVIATION = 0.02  # from run to run
KINDS: dict[str, tuple[Draw, int]] = {
    "lognormal, 20 %, 3 runs each": (use_lognormal(1000), 3),
    "lognormal, 20 %, 5 runs each": (use_lognormal(1000), 5),
    "correlation 0.9, 3 runs each": (use_lognormal(1000, correlation=0.9), 3),
    "heavy tail (σ 1.2), 3 runs each": (use_lognormal(1000, 1.2), 3),
    "heavy tail (σ 1.2), 5 runs each": (use_lognormal(1000, 1.2), 5),
    "bursts, 3 runs each": (use_bursts(1000), 3),
    "pauses, 1 in 150, 5 runs each": (use_pauses(1000, 150, 300), 5),
}


def draw_version(draw: Draw, runs: int, factor: float, random: Generator) -> list[RunQuantiles]:
    """Draw the runs of a version, which differ from each other."""
    levels = (factor * math.exp(DEVIATION * random.standard_normal()) for _ in range(runs))
    return [build_quantiles(draw(random, level)) for level in levels]


def judge_pair(draw: Draw, runs: int, factor: float, random: Generator) -> tuple[TailChange, ...]:
    """Judge the quantiles of two versions."""
    base, other = (draw_version(draw, runs, level, random) for level in (1.0, factor))
    return judge_tails_of_repeats(base, other, TailRule(Margin(MARGIN), Direction.LOWER, LEVEL, GATED))


def count_shares(pairs: Sequence[Sequence[TailChange]], verdicts: Sequence[Verdict]) -> str:
    """Return the percentage of pairs in which each quantile has one of these verdicts."""
    counts = (sum(any(t.share == share and t.verdict in verdicts for t in pair) for pair in pairs) for share in JUDGED)
    return "; ".join(f"{100 * count / len(pairs):.1f}" for count in counts)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=400)
    pairs = parser.parse_args().pairs
    print("| noise of a run | false: median, p95, p99 | +20 %: median, p95, p99 | gate |\n|---|---|---|---|")
    for name, (draw, runs) in KINDS.items():
        random = default_rng(zlib.crc32(name.encode()))
        unchanged = [judge_pair(draw, runs, 1.0, random) for _ in range(pairs)]
        slower = [judge_pair(draw, runs, 1.2, random) for _ in range(pairs)]
        groups = [unchanged[start : start + GATED] for start in range(0, pairs - GATED + 1, GATED)]
        failed = sum(any(tail.is_closing for pair in group for tail in pair) for group in groups)
        false = count_shares(unchanged, (Verdict.WORSE, Verdict.BETTER))
        print(f"| {name} | {false} | {count_shares(slower, (Verdict.WORSE,))} | {100 * failed / len(groups):.1f} |")


if __name__ == "__main__":
    main()
