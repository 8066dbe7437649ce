"""Convert lines of logfmt (`level=info msg="served request" took=12ms`) to objects of JSON.

After this, a log of them is read like one of JSON lines. The value of a member is a text, true for a key alone, or null
where nothing follows the `=`.
"""

from __future__ import annotations

import json
import re

from sqlglot import exp

from assay.ingest import invalid_text, sql_trees
from assay.sql import dialect
from assay.sql.dialect import build_column
from assay.util.regex import BLANK, WHITE_SPACE_ESCAPES

_KEY = rf'[^{WHITE_SPACE_ESCAPES}="]+'
_QUOTED = r'"(?:[^"\\]|\\.)*"'
_VALUE = rf'(?:{_QUOTED}|[^{WHITE_SPACE_ESCAPES}"]*)'
#: a key, `=` unless it is alone, its value
PAIR = rf"({_KEY})(=?)({_VALUE})"
#: a whole line, of which at least one key has a value
LINE = rf"^{BLANK}*(?:{_KEY}{BLANK}+)*{_KEY}={_VALUE}(?:{BLANK}+{_KEY}(?:={_VALUE})?)*{BLANK}*$"
#: the beginning of a line that is no text
BEGINNING = rf"^{BLANK}*{_KEY}="
_TORN = "{"  # no JSON, but the beginning of an object
_TRUE, _NULL = "true", "null"


def build_json(line: exp.Expr) -> exp.Expr:
    """Return a line as the text of an object; the empty text if it is not logfmt.

    If it only begins like logfmt, or has invalid text, return the beginning of an object. The escape sequences of
    quoted values are those of JSON; others make the object invalid.
    """
    items = [
        sql_trees.call("regexp_extract_all", line.copy(), sql_trees.build_text(PAIR), dialect.build_integer(group))
        for group in (1, 2, 3)
    ]
    key, sign, value = (
        sql_trees.call("struct_extract", build_column("pair"), dialect.build_integer(index)) for index in (1, 2, 3)
    )
    ifs = [
        exp.If(this=exp.EQ(this=sign, expression=sql_trees.build_text("")), true=sql_trees.build_text(_TRUE)),
        exp.If(this=exp.EQ(this=value.copy(), expression=sql_trees.build_text("")), true=sql_trees.build_text(_NULL)),
        exp.If(this=sql_trees.build_starts_with(value, '"'), true=value.copy()),
    ]
    text = exp.Case(ifs=ifs, default=_quote(value.copy()))
    member = sql_trees.call("concat", _quote(key), sql_trees.build_text(":"), text)
    members = dialect.build_list_transform(sql_trees.call("list_zip", *items), "pair", member)
    joined = sql_trees.call("array_to_string", members, sql_trees.build_text(","))
    json_object = sql_trees.call("concat", sql_trees.build_text("{"), joined, sql_trees.build_text("}"))
    torn = sql_trees.build_if(_matches(line, BEGINNING), sql_trees.build_text(_TORN), sql_trees.build_text(""))
    is_whole = exp.and_(_matches(line, LINE), exp.Not(this=exp.paren(invalid_text.is_invalid_line(line.copy()))))
    return sql_trees.build_if(is_whole, json_object, torn)


def _quote(text: exp.Expr) -> exp.Expr:
    return sql_trees.cast(sql_trees.call("to_json", text), "TEXT")


def _matches(line: exp.Expr, pattern: str) -> exp.Expr:
    return sql_trees.call("regexp_matches", line.copy(), sql_trees.build_text(pattern))


def build_json_lines(source: str) -> exp.Select:
    """Return the query for lines of logfmt as JSON lines, with the columns of `lines.build_lines_without_nul`."""
    line = sql_trees.build_alias(build_json(build_column("line")), "line")
    return sql_trees.set_source(dialect.select("file", "padded", line), source)


def parse_line(text: str) -> dict[str, object]:
    """Return the members of a line, the first value of each key. Raise ValueError if it is not logfmt."""
    if not re.match(LINE, text):
        raise ValueError("not logfmt")
    members: dict[str, object] = {}
    for key, sign, value in re.findall(PAIR, text):
        members.setdefault(key, _parse_value(value) if sign else True)
    return members


def _parse_value(value: str) -> object:
    """Return the value of a member; None if it is empty."""
    return json.loads(value) if value.startswith('"') else value or None
