"""The text of an expression, as normal forms hold it, back into its tree (the inverse of `expression.show`)."""

from __future__ import annotations

import json
import re
from decimal import Decimal, InvalidOperation

from assay.lang.model.expression import ARITY, Expression

#: leaves that are a word and a name
_NAMED = ("column", "instant", "field", "constant", "metric", "parameter")
_TOKEN = re.compile(
    r"\s*(?:(?P<string>\"(?:[^\"\\]|\\.)*\")|(?P<number>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|(?P<word>[A-Za-z_]\w*)"
    r"|(?P<unit>\[[^\]]*\])|(?P<mark>[(),.]))"
)


class _Reader:
    def __init__(self, text: str) -> None:
        self.tokens: list[tuple[str, str]] = []
        place = 0
        text = text.rstrip()
        while place < len(text):
            found = _TOKEN.match(text, place)
            if found is None or found.lastgroup is None:
                raise ValueError(f"unreadable at character {place + 1}")
            self.tokens.append((found.lastgroup, found.group(found.lastgroup)))
            place = found.end()
        self.place = 0

    def peek(self) -> tuple[str, str]:
        return self.tokens[self.place] if self.place < len(self.tokens) else ("end", "")

    def take(self, kind: str, text: str | None = None) -> str:
        found = self.peek()
        if found[0] != kind or (text is not None and found[1] != text):
            raise ValueError(f"expected {text or kind}, found {found[1] or 'the end'}")
        self.place += 1
        return found[1]


def parse(text: str) -> Expression:
    """The tree of an expression's text; ValueError names what is unreadable."""
    reader = _Reader(text)
    node = _node(reader)
    reader.take("end") if reader.peek()[0] != "end" else None
    return node


def _node(reader: _Reader) -> Expression:
    kind, text = reader.peek()
    if kind == "string":
        reader.take("string")
        return Expression("text", text=json.loads(text))
    if kind == "number":
        return _number(reader)
    word = reader.take("word")
    if word in ("true", "false"):
        return Expression("boolean", text=word)
    if reader.peek() == ("mark", "."):
        reader.take("mark")
        return Expression("taken", name=reader.take("word"), text=word)
    if word in ARITY:
        return _call(reader, word)
    if word not in _NAMED:
        raise ValueError(f"unknown word {word}")
    name = json.loads(reader.take("string")) if reader.peek()[0] == "string" else reader.take("word")
    unit, factor, base = _unit(reader.take("unit")) if reader.peek()[0] == "unit" else ("", "", "")
    return Expression(word, name=name, text=base, unit=unit, factor=factor)


def _number(reader: _Reader) -> Expression:
    text = reader.take("number")
    try:
        number = Decimal(text)
    except InvalidOperation:
        raise ValueError(f"{text} is beyond all numbers") from None
    if reader.peek()[0] == "unit":
        unit, factor, base = _unit(reader.take("unit"))
        return Expression("quantity", number=number, text=base, unit=unit, factor=factor)
    return Expression("real" if "." in text or "e" in text.lower() else "integer", number=number)


def _call(reader: _Reader, op: str) -> Expression:
    unit, factor, base = _unit(reader.take("unit")) if reader.peek()[0] == "unit" else ("", "", "")
    reader.take("mark", "(")
    operands = [_node(reader)]
    while reader.peek() == ("mark", ","):
        reader.take("mark")
        operands.append(_node(reader))
    reader.take("mark", ")")
    if ARITY[op] not in (None, len(operands)):
        raise ValueError(f"{op} takes {ARITY[op]} operands, found {len(operands)}")
    return Expression(op, tuple(operands), text=base, unit=unit, factor=factor)


def _unit(text: str) -> tuple[str, str, str]:
    """A unit, the factor to others, and which those are (the last two empty where they are not told)."""
    unit, _, rest = text[1:-1].partition(" = ")
    if not unit:
        raise ValueError("a unit without a name")
    factor, _, base = rest.partition(" ")
    return unit, factor, base
