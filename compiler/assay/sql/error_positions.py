"""Places in the SQL of specs: line and column of its text, in a file that whoever knows the workspace names."""

from __future__ import annotations

import re
from collections.abc import Iterable

import sqlglot
from sqlglot.errors import ParseError, TokenError

from assay.sql import dialect
from assay.util.diagnostics import Span, suggest_nearest

_LINE = re.compile(r"^LINE (\d+): (.*)\n( *)(\^+)", re.MULTILINE)
CUT = "..."  # what is left out of a long line
_NAMED = re.compile(r'"([^"]+)"')


def at(sql: str, offset: int, length: int) -> Span:
    """The place of some characters of a text."""
    before = sql[:offset]
    return Span("", before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1, length)


def of_word(sql: str, word: str, after: str = "", before: str = "") -> Span | None:
    """Where a name, or a word of SQL, first stands outside of comments and texts, right `after` and `before` signs."""
    try:
        tokens = sqlglot.tokenize(sql, read=dialect.DIALECT)
    except TokenError:
        tokens = []
    for token in tokens:
        quoted = sql[token.start] == "'"
        follows = sql[: token.start].endswith(after) and sql[token.end + 1 :].lstrip().startswith(before)
        if token.text.casefold() == word.casefold() and follows and not quoted:
            return at(sql, token.start, token.end - token.start + 1)
    return None


def of_result(sql: str, name: str) -> Span | None:
    """Where the outermost query of a text first speaks of a column of its result; None where it does not name it."""
    try:
        tokens = sqlglot.tokenize(sql, read=dialect.DIALECT)
    except TokenError:
        return None
    depth, found = 0, None
    for token in tokens:
        depth += {"(": 1, ")": -1}.get(token.text, 0)
        if depth == 0 and token.text.casefold() == "select":
            found = None
        elif found is None and token.text.casefold() == name.casefold() and sql[token.start] != "'":
            found = token
    return at(sql, found.start, found.end - found.start + 1) if found else None


def of_parse_error(sql: str, error: ParseError) -> Span | None:
    """Where a text stops being SQL."""
    first = error.errors[0] if error.errors else {}
    begin, word = str(first.get("start_context") or ""), str(first.get("highlight") or "")
    found = sql.find(f"{begin}{word}{first.get('end_context') or ''}") if word else -1
    return at(sql, found + len(begin), len(word)) if found >= 0 else None


def of_engine_error(sql: str, said: str) -> Span | None:
    """Where the engine says that `EXPLAIN`, and a text from the next line on, is wrong; where it does not say, the
    first name that it speaks of."""
    shown = _LINE.search(said)
    line = _line(sql, int(shown[1]) - 1) if shown else ""
    cut = shown[2].removeprefix(CUT).removesuffix(CUT) if shown else ""
    if shown and cut in line:
        before = len(shown[3]) - len(f"LINE {shown[1]}: ") - (len(CUT) if shown[2].startswith(CUT) else 0)
        return Span("", int(shown[1]) - 1, line.index(cut) + before + 1, len(shown[4]))
    named = (of_word(sql, name) for name in _NAMED.findall(said))
    return next((place for place in named if place), None)


def near(said: str, columns: Iterable[str]) -> str:
    """A hint with the columns that may be meant where the engine finds none of a name, out of those that it has in mind
    and some more; empty where none is near, or the error is another."""
    asked, _, candidates = said.partition("Candidate bindings:")
    names = [name.rpartition(".")[2] for name in _NAMED.findall(candidates.split("\n")[0])]
    words = _NAMED.findall(asked)
    known = {*names, *columns}
    return suggest_nearest(words[-1], known) if words and candidates and words[-1] not in known else ""


def _line(sql: str, number: int) -> str:
    lines = sql.split("\n")
    return lines[number - 1] if 1 <= number <= len(lines) else ""
