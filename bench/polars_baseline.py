"""Read log files with Polars: extract two paths of every line and group by one of them, as a reference for speed.

python bench/polars_baseline.py FILE...
"""

import sys

import polars as pl


def main() -> None:
    """Print the number of lines of each namespace, and the latest instant."""
    lines = pl.scan_lines(sys.argv[1:], name="line")
    paths = {name: pl.col("line").str.json_path_match(f"$.{name}") for name in ("ns", "at")}
    print(lines.select(**paths).group_by("ns").agg(pl.len(), pl.col("at").max()).collect(engine="streaming"))


if __name__ == "__main__":
    main()
