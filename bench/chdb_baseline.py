"""Read log files with embedded ClickHouse: extract two paths of every line and group by one of them.

python bench/chdb_baseline.py FILE...
"""

import os
import sys
from pathlib import Path

import chdb


def main() -> None:
    """Print the counts."""
    files = [str(Path(name).absolute()) for name in sys.argv[1:]]
    # Brace alternatives with a leading slash match nothing, so names are relative.
    folder = os.path.commonpath([str(Path(name).parent) for name in files])
    names = ",".join(os.path.relpath(name, folder) for name in files)
    paths = "JSONExtractString(line, 'ns') AS ns, JSONExtractString(line, 'at') AS at"
    lines = f"file('{folder}/{{{names}}}', 'LineAsString')"
    counts = str(chdb.query(f"SELECT ns, count(), max(at) FROM (SELECT {paths} FROM {lines}) GROUP BY ns", "CSV"))
    if not counts:
        sys.exit("error: ClickHouse read no lines")
    print(counts)


if __name__ == "__main__":
    main()
