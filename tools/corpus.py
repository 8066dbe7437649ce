#!/usr/bin/env python3
"""Propose a workspace for each kind of logs of tests/corpus, and print what is wrong (`just corpus`).

python tools/corpus.py [--accept] [KIND]...

`--accept` records the scores in tests/corpus/results.json. Else the exit status is 3 if a score is another one.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.support.corpus import Score, describe_scores, judge_kind, read_kinds, read_results, write_results

NAMES = {
    "number": "number wrong",
    "change": "change not reported",
    "others": "others changed",
    "commands": "command fails",
}


def main() -> int:
    """Judge all kinds, or those of the command line."""
    names = [name for name in sys.argv[1:] if not name.startswith("--")]
    recorded = read_results()
    scores = {name: Score(**values) for name, values in recorded.items()}
    is_same = True
    for name, kind in read_kinds().items():
        if names and name not in names:
            continue
        with tempfile.TemporaryDirectory() as folder:
            score, problems = judge_kind(name, kind, Path(folder))
        scores[name] = score
        is_same &= recorded.get(name) == asdict(score)
        if not score.is_full:
            print(f"{name}: {', '.join(NAMES[key] for key, holds in asdict(score).items() if not holds)}")
            print("".join(f"  {line}\n" for problem in problems for line in problem.splitlines()), end="", flush=True)
    print(describe_scores(scores))
    if "--accept" in sys.argv:
        write_results(scores)
        return 0
    return 0 if is_same else 3


if __name__ == "__main__":
    raise SystemExit(main())
