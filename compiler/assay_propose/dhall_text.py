"""Write Dhall as text, in the layout of the shipped specs."""

from __future__ import annotations

from collections.abc import Sequence

from assay_propose.units import RATE

WIDTH = 118
_ESCAPES = {"\\": "\\\\", '"': '\\"', "$": "\\$", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def quote_text(text: str) -> str:
    """Return a text literal."""
    characters = (_ESCAPES.get(char) or (f"\\u{{{ord(char):04X}}}" if ord(char) < 32 else char) for char in text)
    return f'"{"".join(characters)}"'


def format_list(items: Sequence[str], indent: int, empty_type: str = "Text") -> str:
    """Return a list on one line if it fits there, else an item per line; `indent` are the columns of its lines."""
    if not items:
        return f"[] : List {empty_type}"
    line = f"[ {', '.join(items)} ]"
    if indent + len(line) <= WIDTH and "\n" not in line:
        return line
    margin = "\n" + " " * indent
    return "[ " + f"{margin}, ".join(items) + f"{margin}]"


def format_texts(texts: Sequence[str], indent: int = 8) -> str:
    """Return a list of text literals."""
    return format_list([quote_text(text) for text in texts], indent)


def format_member(items: Sequence[str], indent: int, used: int, empty_type: str = "Text") -> str:
    """Return a list behind `name =`: on this line of which `used` columns are used, or on lines of its own."""
    line = format_list(items, 0, empty_type)
    if "\n" not in line and used + 1 + len(line) <= WIDTH:
        return f" {line}"
    return "\n" + " " * indent + format_list(items, indent, empty_type)


def format_record(members: Sequence[tuple[str, str, str]], indent: int, begin: str = "{") -> str:
    """Return a record with a member per line; a member is name, value and a comment, which stands above it.

    `begin` is what the record begins with: `{`, or the name of a type with `::{` for its completion.
    """
    if len(members) == 1 and begin == "{" and not members[0][2] and "\n" not in members[0][1]:
        line = f"{{ {members[0][0]} = {members[0][1]} }}"
        if indent + len(line) <= WIDTH:
            return line
    margin = "\n" + " " * indent
    lines = [begin] if begin != "{" else []
    for index, (name, value, comment) in enumerate(members):
        sign = "," if lines else "{"
        texts = comment.splitlines()
        if texts and not index and not lines:
            lines.append(f"{{ -- {texts.pop(0)}")
            sign = " "
        lines.extend(f"  -- {line}" for line in texts)
        gap = "" if value.startswith("\n") else " "
        lines.append(f"{sign} {name} ={gap}{value}" if value else f"{sign} {name}")
    return margin.join([*lines, "}"])


def write_unit(unit: str) -> str:
    """Return the expression of a unit, a word of the schema or a text in quotes."""
    if unit.startswith('"'):  # the text that records have for it
        return f'(S.unit.unit "dimensionless" {unit})'
    if " / " in unit:
        measured, _, time = unit.partition(" / ")
        symbols = f"${{S.unit.{'none' if measured == 'dimensionless' else measured}.symbol}}/${{S.unit.{time}.symbol}}"
        return f'(S.unit.unit {quote_text(unit)} "{symbols}")'
    rate, _, measured = unit.partition(" ")
    return f"(S.unit.{rate} S.unit.{measured or 'none'})" if rate == RATE else f"S.unit.{unit}"
