"""Find positions in the SQL of specs: line and column in its text.

A span does not name its file, because only the workspace knows the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import sqlglot
from sqlglot.errors import ParseError, TokenError

from assay.sql import dialect
from assay.util.diagnostics import Span, suggest_nearest

_LINE = re.compile(r"^LINE (\d+): (.*)\n( *)(\^+)", re.MULTILINE)
CUT = "..."  # marks an omission in a long line
_NAMED = re.compile(r'"([^"]+)"')


def build_span(sql: str, offset: int, length: int) -> Span:
    """Return the span of some characters of a text."""
    before = sql[:offset]
    return Span("", before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1, length)


def find_word(sql: str, word: str, after: str = "", before: str = "") -> Span | None:
    """Return the first span of a name or keyword that is neither in a comment nor in a string.

    The text before it must end with `after`, and the text behind it must start with `before`.
    """
    try:
        tokens = sqlglot.tokenize(sql, read=dialect.DIALECT)
    except TokenError:
        tokens = []
    for token in tokens:
        quoted = sql[token.start] == "'"
        follows = sql[: token.start].endswith(after) and sql[token.end + 1 :].lstrip().startswith(before)
        if token.text.casefold() == word.casefold() and follows and not quoted:
            return build_span(sql, token.start, token.end - token.start + 1)
    return None


def find_result_column(sql: str, name: str) -> Span | None:
    """Return the first place where the outermost query names a column of its result; None if it does not."""
    try:
        tokens = sqlglot.tokenize(sql, read=dialect.DIALECT)
    except TokenError:
        return None
    depth, first_token = 0, None
    for token in tokens:
        depth += {"(": 1, ")": -1}.get(token.text, 0)
        if depth == 0 and token.text.casefold() == "select":
            first_token = None
        elif first_token is None and token.text.casefold() == name.casefold() and sql[token.start] != "'":
            first_token = token
    return build_span(sql, first_token.start, first_token.end - first_token.start + 1) if first_token else None


def locate_parse_error(sql: str, error: ParseError) -> Span | None:
    """Return where a text stops being valid SQL."""
    first = error.errors[0] if error.errors else {}
    begin, word = str(first.get("start_context") or ""), str(first.get("highlight") or "")
    index = sql.find(f"{begin}{word}{first.get('end_context') or ''}") if word else -1
    return build_span(sql, index + len(begin), len(word)) if index >= 0 else None


def locate_engine_error(sql: str, message: str) -> Span | None:
    """Return the position in `sql` of an error that the engine reports for `EXPLAIN`, a newline, and `sql`.

    If the report has no position, this is the position of the first name that it quotes.
    """
    line_match = _LINE.search(message)
    line = _get_line(sql, int(line_match[1]) - 1) if line_match else ""
    excerpt = line_match[2].removeprefix(CUT).removesuffix(CUT) if line_match else ""
    if line_match and excerpt in line:
        before = (
            len(line_match[3]) - len(f"LINE {line_match[1]}: ") - (len(CUT) if line_match[2].startswith(CUT) else 0)
        )
        return Span("", int(line_match[1]) - 1, line.index(excerpt) + before + 1, len(line_match[4]))
    name_spans = (find_word(sql, name) for name in _NAMED.findall(message))
    return next((span for span in name_spans if span), None)


def suggest_columns(message: str, columns: Iterable[str]) -> str:
    """Return a hint with the columns that an unknown name may mean.

    Candidates are the names that the engine lists, and `columns`.  Empty if no name is similar, and for other errors.
    """
    problem, _, candidates = message.partition("Candidate bindings:")
    names = [name.rpartition(".")[2] for name in _NAMED.findall(candidates.split("\n")[0])]
    words = _NAMED.findall(problem)
    candidate_names = {*names, *columns}
    return (
        suggest_nearest(words[-1], candidate_names) if words and candidates and words[-1] not in candidate_names else ""
    )


def _get_line(sql: str, number: int) -> str:
    lines = sql.split("\n")
    return lines[number - 1] if 1 <= number <= len(lines) else ""
