"""Split an object of JSON, as it is written, into its members."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace

from assay_propose.model import KeyPath

QUOTE = '"'
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+|\s+')


@dataclass(frozen=True, slots=True)
class Member:
    """A member of an object or a line: its path, the text before its value, its value as written, without quotes."""

    path: KeyPath
    before: str
    value: str
    has_quotes: bool = False


Row = tuple[list[Member], str]  # the members of a line, and the text behind the last


def split_json(line: str) -> Row:
    """Return the members of an object; a list is one value."""
    members: list[Member] = []
    keys: list[str] = []
    before, depth, is_value = "", 0, False
    for token in _TOKEN.findall(line):
        if depth:
            depth += (token == "[") - (token == "]")
            members[-1] = replace(members[-1], value=members[-1].value + token)
        elif is_value and token != "{" and not token.isspace():
            has_quotes = token.startswith(QUOTE)
            members.append(Member(tuple(keys), before, token[1:-1] if has_quotes else token, has_quotes))
            before, depth, is_value = "", int(token == "["), False
            keys.pop()
        else:
            before += token
            if token.startswith(QUOTE):
                keys.append(token[1:-1])
            elif token == "}" and keys:
                keys.pop()
            is_value = token == ":" or (is_value and token.isspace())
    return members, before


def is_object(text: str) -> bool:
    """Return whether a text is an object of JSON with members."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and bool(value)
