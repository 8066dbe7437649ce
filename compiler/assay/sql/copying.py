"""The statement that writes rows as Parquet."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from sqlglot import exp

from assay.sql import dialect

#: rows of a group, which are held until it is written: half as many as usual stay in the processor's caches
GROUP = 61_440


def copied(query: exp.Query, target: Path) -> str:
    """The statement that writes a query's rows as Parquet, and tells about its columns."""
    options = {"FORMAT": "parquet", "COMPRESSION": "snappy", "PARQUET_VERSION": "v2", "ROW_GROUP_SIZE": str(GROUP)}
    return _copy(query, target, options, "RETURN_STATS")


def copied_plainly(query: exp.Query, target: Path) -> str:
    """The statement that writes a small table as Parquet."""
    return _copy(query, target, {"FORMAT": "parquet"})


def _copy(query: exp.Query, target: Path, options: Mapping[str, str], *flags: str) -> str:
    params = [exp.CopyParameter(this=exp.var(name), expression=exp.var(value)) for name, value in options.items()]
    params += [exp.CopyParameter(this=exp.var(name)) for name in flags]
    copy = exp.Copy(this=exp.Paren(this=query), kind=False, files=[exp.Literal.string(str(target))], params=params)
    return copy.sql(dialect=dialect.DIALECT, copy=False)
