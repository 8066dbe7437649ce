"""What the text of a query may refer to: told by its words, so that it may be more than it needs, never less."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection

_UNREAD = re.compile(r"--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'", re.DOTALL)
_STAR = re.compile(
    r"""(?: (?P<table> \w+ | "[^"]+" ) \s* \. | \b(?:select|distinct|all|from) | , | (?<! \bcount ) \( | \) ) \s* \*
        (?= \s* (?: $ | [,);] | \b(?:from|exclude|replace|rename|like|similar|ilike|where|union|except|intersect)\b ) )
      | \bnatural\b | \bcolumns \s* \( | \bgroup\s+by\s+all\b | \bunpivot\b | \bpivot\b
      | (?: ^ | \( ) \s* (?: from | table ) \b""",
    re.IGNORECASE | re.VERBOSE,
)


@functools.cache
def words(sql: str) -> frozenset[str]:
    """The words of a SQL text, those of constants with their `$`, too."""
    return frozenset(re.findall(r"\$\w+", sql)) | frozenset(re.findall(r"\w+", sql))


def takes_all(sql: str, whole: Collection[str]) -> bool:
    """Whether a SQL text takes columns that it does not name, by a star or a clause that stands for all there are.

    A star of a table that is `whole` anyway does not count.
    """
    return bool(_stars(sql) - {f"{name.casefold()}.*" for name in whole})


@functools.cache
def _stars(sql: str) -> frozenset[str]:
    text = _UNREAD.sub(" ", sql)
    return frozenset(f"{(found['table'] or '').strip(chr(34)).casefold()}.*" for found in _STAR.finditer(text))
