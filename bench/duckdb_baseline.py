"""What DuckDB alone does with log files, as a yardstick.

    python bench/duckdb_baseline.py lines|read_json FILE ...

`lines` counts the lines: the floor for anything that reads the files. `read_json` lets DuckDB infer columns
and reads every one of them for every line, keeping nothing: the least that a script on it would cost.
"""

import sys

import duckdb

QUERIES = {
    "lines": """
        SELECT count(*)
        FROM read_csv($files, columns = {'line': 'VARCHAR'}, header = false, auto_detect = false,
                      delim = '\x01', quote = '', escape = '', max_line_size = 16777216)
    """,
    # The first line of a log is not JSON.
    "read_json": """
        SELECT count(COLUMNS(*))
        FROM read_json($files, format = 'newline_delimited', ignore_errors = true)
    """,
}


def main() -> int:
    """Prints the counts; status 2 when the command line is not as above."""
    if len(sys.argv) < 3 or sys.argv[1] not in QUERIES:
        print(__doc__, file=sys.stderr)
        return 2
    print(*duckdb.connect().execute(QUERIES[sys.argv[1]], {"files": sys.argv[2:]}).fetchone() or ())
    return 0


if __name__ == "__main__":
    sys.exit(main())
