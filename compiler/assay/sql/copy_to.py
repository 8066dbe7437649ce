"""The statement that writes rows as Parquet, into the file that its parameter `$target` names."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from assay.sql import dialect

TARGET = "target"
#: rows of a group, which are held until it is written: half as many as usual stay in the processor's caches
GROUP = 61_440


def copied(query: exp.Query) -> str:
    """The statement that writes a query's rows as Parquet, and tells about its columns."""
    options = {"FORMAT": "parquet", "COMPRESSION": "snappy", "PARQUET_VERSION": "v2", "ROW_GROUP_SIZE": str(GROUP)}
    return _copy(query, options, "RETURN_STATS")


def copied_plainly(query: exp.Query) -> str:
    """The statement that writes a small table as Parquet."""
    return _copy(query, {"FORMAT": "parquet"})


def _copy(query: exp.Query, options: Mapping[str, str], *flags: str) -> str:
    params = [exp.CopyParameter(this=exp.var(name), expression=exp.var(value)) for name, value in options.items()]
    params += [exp.CopyParameter(this=exp.var(name)) for name in flags]
    target = exp.Placeholder(this=TARGET)
    copy = exp.Copy(this=exp.Paren(this=query), kind=False, files=[target], params=params)
    return copy.sql(dialect=dialect.DIALECT, copy=False)
