"""Read log files with Polars: group every line by a column that is inferred, as a reference for speed.

python bench/polars_baseline.py FILE...
"""

import sys

import polars as pl


def main() -> None:
    """Print the number of lines of each namespace."""
    lines = pl.scan_ndjson(sys.argv[1:], ignore_errors=True, infer_schema_length=1000)
    print(lines.group_by("ns").agg(pl.len(), pl.col("at").max()).collect(engine="streaming"))


if __name__ == "__main__":
    main()
