"""The statement that writes rows as Parquet."""

from __future__ import annotations

from pathlib import Path

from sqlglot import exp

from assay.sql import dialect


def copied(query: exp.Query, target: Path) -> str:
    """The statement that writes a query's rows as Parquet, and tells about its columns."""
    options = [("FORMAT", "parquet"), ("COMPRESSION", "snappy"), ("PARQUET_VERSION", "v2")]
    params = [exp.CopyParameter(this=exp.var(name), expression=exp.var(value)) for name, value in options]
    params.append(exp.CopyParameter(this=exp.var("RETURN_STATS")))
    copy = exp.Copy(this=exp.Paren(this=query), kind=False, files=[exp.Literal.string(str(target))], params=params)
    return copy.sql(dialect=dialect.DIALECT, copy=False)
