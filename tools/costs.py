"""Write the costs of tests, by which `tests/support/deep.py` samples them, from the durations that pytest prints.

Usage: pytest --deep --durations=0 | python tools/costs.py [SCALE] > tests/costs.txt

The cost of a test is that of its most costly case, without fixtures. SCALE is that of a busy machine: 0.6 if tests take
10 s that usually take 6 s.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict

LEAST = 0.5  # seconds; cheaper tests always run
_LINE = re.compile(r"([0-9.]+)s +call +\S*?([^/\s]+\.py)::(\w+)")


def main() -> None:
    """Print `SECONDS FILE::TEST` for each costly test."""
    scale = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    tests: defaultdict[str, float] = defaultdict(float)
    for match in filter(None, map(_LINE.match, sys.stdin)):
        name = f"{match[2]}::{match[3]}"
        tests[name] = max(tests[name], float(match[1]) * scale)
    costly = [(name, seconds) for name, seconds in tests.items() if seconds >= LEAST]
    for name, seconds in sorted(costly):
        print(f"{seconds:.1f} {name}")


if __name__ == "__main__":
    main()
