"""Read log files with DuckDB alone, as a reference for speed.

    python bench/duckdb_baseline.py lines|read_json FILE ...

`lines` counts lines, the lower bound for any reader. `read_json` infers columns and reads all of them for every line
without storing them, the lower bound for a script based on it.
"""

import sys

import duckdb

QUERIES = {
    "lines": """
        SELECT count(*)
        FROM read_csv($files, columns = {'line': 'VARCHAR'}, header = false, auto_detect = false,
                      delim = '\x01', quote = '', escape = '', max_line_size = 16777216)
    """,
    # The first line of a log is not JSON, hence ignore_errors.
    "read_json": """
        SELECT count(COLUMNS(*))
        FROM read_json($files, format = 'newline_delimited', ignore_errors = true)
    """,
}


def main() -> int:
    """Print the counts; return 2 when the command line is invalid."""
    if len(sys.argv) < 3 or sys.argv[1] not in QUERIES:
        print(__doc__, file=sys.stderr)
        return 2
    print(*duckdb.connect().execute(QUERIES[sys.argv[1]], {"files": sys.argv[2:]}).fetchone() or ())
    return 0


if __name__ == "__main__":
    sys.exit(main())
