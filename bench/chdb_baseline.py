"""ClickHouse in this process over log files: two paths of every line, counted by one of them.

python bench/chdb_baseline.py FILE...
"""

import os
import sys
from pathlib import Path

import chdb


def main() -> None:
    """Prints the counts."""
    files = [str(Path(name).absolute()) for name in sys.argv[1:]]
    # Alternatives with a leading slash match nothing.
    folder = os.path.commonpath([str(Path(name).parent) for name in files])
    names = ",".join(os.path.relpath(name, folder) for name in files)
    paths = "JSONExtractString(line, 'ns') AS ns, JSONExtractString(line, 'at') AS at"
    lines = f"file('{folder}/{{{names}}}', 'LineAsString')"
    counts = str(chdb.query(f"SELECT ns, count(), max(at) FROM (SELECT {paths} FROM {lines}) GROUP BY ns", "CSV"))
    if not counts:
        sys.exit("nothing was read")
    print(counts)


if __name__ == "__main__":
    main()
