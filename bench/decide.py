"""Measure how often `assay decide` errs, and how many runs it saves against a number of runs that is fixed before.

First on simulated pairs of runs that differ by 2 % from run to run, at a margin of 2 %: in percent of the series, how
they end, the mean number of pairs, and how many pairs of a fixed number find the change as often by a t test. With
--real, then on commands of this machine, which compress the same file: equal ones, and one with more work to do.

Use: python -m bench.decide [--series 1000] [--real 10]
"""

import argparse
import contextlib
import io
import json
import math
import random
import shlex
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from fractions import Fraction
from pathlib import Path

from scipy import stats

from assay.cli.errors import run
from assay.cli.main import cli
from assay.judgement.sequential import Pair, compare_pairs
from assay.judgement.verdict import Direction, Verdict

MARGIN, LEVEL, PAIRS, DEVIATION = 2.0, 0.95, 20, 0.02
CHANGES = (0.0, 0.02, 0.05, 0.10, 0.20)
#: measures how long gzip takes for a file, five times
MEASURE = """
import json, os, subprocess, sys, time
place = os.environ["ASSAY_RUN"]
open(place + "/meta.json", "w").write('{"version": "1"}')
os.mkdir(place + "/web-1")
with open(place + "/web-1/log.jsonl", "w") as log:
    for number in range(5):
        for event in ("request.received", "work.started", "response.sent"):
            ns = time.time_ns()
            stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(ns // 10**9)) + ".%09dZ" % (ns % 10**9)
            data = {"request": str(number), **({"bytes": 1} if event == "response.sent" else {})}
            log.write(json.dumps({"time": stamp, "event": event, "data": data}) + chr(10))
            if event == "request.received":
                subprocess.run(["gzip", "-c", sys.argv[1]], stdout=subprocess.DEVNULL, check=True)
"""


def draw_pair(change: float, chance: random.Random, is_heavy: bool) -> Pair:
    """Draw the averages of a run of the base and of one of the candidate, with normal noise or t with 4 degrees."""

    def draw() -> float:
        scale = math.sqrt(chance.gammavariate(2, 0.5)) * math.sqrt(2) if is_heavy else 1.0
        return math.exp(DEVIATION * chance.gauss(0, 1) / scale)

    return Fraction(draw()), Fraction((1 + change) * draw())


def simulate(change: float, series: int, is_heavy: bool) -> str:
    """Return a row of the table."""
    chance = random.Random(f"{change}{is_heavy}")
    verdicts: Counter[Verdict] = Counter()
    count = 0
    for _ in range(series):
        pairs: list[Pair] = []
        verdict = Verdict.CANNOT_TELL
        while verdict is Verdict.CANNOT_TELL and len(pairs) < PAIRS:
            pairs.append(draw_pair(change, chance, is_heavy))
            verdict = compare_pairs(pairs).decide(MARGIN, Direction.LOWER, LEVEL)
        verdicts[verdict] += 1
        count += len(pairs)
    shares = " | ".join(
        f"{100 * verdicts[item] / series:.1f}" for item in (Verdict.WORSE, Verdict.BETTER, Verdict.SAME)
    )
    fixed = count_fixed_pairs(change, verdicts[Verdict.WORSE] / series) if change > MARGIN / 100 else "–"
    noise = "heavy tails" if is_heavy else "normal"
    return f"| {noise} | +{100 * change:g} % | {shares} | {count / series:.1f} | {fixed} |"


def count_fixed_pairs(change: float, power: float) -> str:
    """Return how many pairs find a change beyond the margin as often, if the number is fixed before, by a t test."""
    effect = (math.log1p(change) - math.log1p(MARGIN / 100)) / (DEVIATION * math.sqrt(2))
    target = min(power, 0.999)
    for pairs in range(2, 200):
        least = stats.t.ppf((1 + LEVEL) / 2, pairs - 1)
        if stats.nct.sf(least, pairs - 1, effect * math.sqrt(pairs)) >= target:
            return str(pairs)
    return "> 200"


def decide(workspace: Path, folder: Path, base: Path, candidate: Path) -> tuple[str, int]:
    """Return the verdict of `assay decide` on two files to compress, and the number of pairs."""
    measure = f"{shlex.quote(sys.executable)} {workspace / 'measure.py'}"
    options = ["--base", f"{measure} {base}", "--candidate", f"{measure} {candidate}", "--metric", "wait"]
    out = io.StringIO()
    with contextlib.chdir(workspace), contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        run(cli, ["decide", *options, "-o", str(folder), "--max-runs", str(2 * PAIRS), "--format", "json"])
    decision = json.loads(out.getvalue())
    return decision["verdict"], decision["pairs"]


def decide_commands(series: int) -> None:
    """Print a row for each pair of commands: equal ones, and those with 5, 10 and 20 % more to compress."""
    print("\n| work of the candidate | verdicts | pairs, mean |\n|---|---|---:|")
    with tempfile.TemporaryDirectory() as place:
        workspace = Path(place) / "shop"
        subprocess.run([sys.executable, "-m", "assay", "init", str(workspace)], check=True, capture_output=True)
        (workspace / "measure.py").write_text(MEASURE, encoding="utf-8")
        content = random.Random(1).randbytes(2**15) * 40
        for more in (0.0, 0.05, 0.10, 0.20):
            base, candidate = workspace / "base", workspace / f"candidate-{more}"
            base.write_bytes(content)
            candidate.write_bytes(content + content[: int(more * len(content))])
            results = [decide(workspace, workspace / f"{more}-{number}", base, candidate) for number in range(series)]
            counts = ", ".join(f"{count} {verdict}" for verdict, count in Counter(item for item, _ in results).items())
            print(
                f"| +{100 * more:g} % | {counts} | {statistics.mean(pairs for _, pairs in results):.1f} |", flush=True
            )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--series", type=int, default=1000)
    parser.add_argument("--real", type=int, default=0)
    arguments = parser.parse_args()
    print("| noise | change | worse | better | same | pairs, mean | fixed pairs |\n|---|---|---:|---:|---:|---:|---:|")
    for is_heavy in (False, True):
        for change in CHANGES:
            print(simulate(change, arguments.series, is_heavy), flush=True)
    if arguments.real:
        decide_commands(arguments.real)


if __name__ == "__main__":
    main()
