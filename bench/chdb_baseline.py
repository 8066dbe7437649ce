"""ClickHouse in this process over log files: two paths of every line, counted by one of them.

python bench/chdb_baseline.py FILE...
"""

import sys

import chdb


def main() -> None:
    """Prints the counts."""
    files = ",".join(sys.argv[1:])
    paths = "JSONExtractString(line, 'ns') AS ns, JSONExtractString(line, 'at') AS at"
    query = f"SELECT ns, count(), max(at) FROM (SELECT {paths} FROM file('{{{files}}}', 'LineAsString')) GROUP BY ns"
    print(chdb.query(query, "CSV"))


if __name__ == "__main__":
    main()
