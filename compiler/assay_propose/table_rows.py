"""Find rows of tables among the messages of a text log: words that vary before columns of numbers with units."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from assay.ingest.quantities import QUANTITIES
from assay.lang.line_pattern import parse_pattern
from assay_propose.names import NameSpace, make_identifier
from assay_propose.text_templates import Template
from assay_propose.units import UNITS

EVENT = "table_row"  # name of the events, perhaps with a number behind it
_MIN_ROWS, _MIN_MEASURED, _MAX_TEXTS = 5, 2, 2
_BAR = "|"
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?")
_SUFFIXED = re.compile(r"([+-]?\d+(?:\.\d+)?)(%|[A-Za-z]+(?:/[A-Za-z]+)?)")
_TEXT = re.compile(r"[A-Za-z][^\s{}=\"'()\[\]|]*?(?P<end>[:,]?)")
_RULE = re.compile(r"[-=+| ]*")  # a line below the header
_GAPS = re.compile(r"\S(?:  +|\t)\S")  # between the words of a header
_TEXT_KIND, _PLAIN_KIND = "text", "number"
Shape = tuple[tuple[str, str], ...]
"""The columns of a row: what each is, and the text that all rows have behind its value."""


@dataclass(frozen=True, slots=True)
class _Row:
    """A message in columns: the values of those that vary, in order."""

    index: int
    shape: Shape
    values: tuple[str, ...]


def find_table_rows(messages: Sequence[str], used_names: Collection[str]) -> Mapping[int, Template]:
    """Return the templates of messages that are rows, by their index.

    Rows are at least `_MIN_ROWS` messages with columns of one shape: one or two words, each of which varies, and
    numbers, at least `_MIN_MEASURED` of which have a unit. No other message matches their pattern. Names of columns
    are those of a header above the rows, else follow from the units.
    """
    by_shape: dict[Shape, list[_Row]] = defaultdict(list)
    for index, message in enumerate(messages):
        if row := _split_row(index, message):
            by_shape[row.shape].append(row)
    templates: dict[int, Template] = {}
    for shape, rows in by_shape.items():
        texts = [column for column, kind in enumerate(_list_kinds(shape)) if kind == _TEXT_KIND]
        is_varying = all(len({row.values[column] for row in rows}) > 1 for column in texts)
        if len(rows) < _MIN_ROWS or not is_varying:
            continue
        pattern, names = _write_pattern(shape, _find_header(messages, rows[0]), used_names)
        expression = re.compile(parse_pattern(pattern).build_expression(()))
        indices = {row.index for row in rows}
        if not any(expression.search(text) for index, text in enumerate(messages) if index not in indices):
            templates |= {row.index: Template(pattern, tuple(zip(names, row.values, strict=True)), ()) for row in rows}
    return templates


def _list_kinds(shape: Shape) -> list[str]:
    return [kind for kind, _ in shape if kind]


def _split_row(index: int, message: str) -> _Row | None:
    """Return the columns of a message; None if it begins and ends with no word, or has too few numbers with units."""
    tokens = message.split()
    shape: list[tuple[str, str]] = []
    values: list[str] = []
    for position, token in enumerate(tokens):
        if token == _BAR:
            shape.append(("", _BAR))
        elif position and _NUMBER.fullmatch(tokens[position - 1]) and _is_unit(token):
            shape[-1] = token, ""
            shape.append(("", token))
        elif column := _describe_column(token):
            kind, value, suffix = column
            shape.append((kind, suffix))
            values.append(value)
        else:
            return None
    kinds = _list_kinds(tuple(shape))
    texts, measured = kinds.count(_TEXT_KIND), len(kinds) - kinds.count(_TEXT_KIND) - kinds.count(_PLAIN_KIND)
    is_named = kinds[:1] == [_TEXT_KIND] or (kinds[-1:] == [_TEXT_KIND] and measured > _MIN_MEASURED)
    if not is_named or texts > _MAX_TEXTS or measured < _MIN_MEASURED:
        return None
    return _Row(index, tuple(shape), tuple(values))


def _is_unit(token: str) -> bool:
    return token.lower() in UNITS or re.fullmatch(r"[A-Za-z]+/s(?:ec)?", token) is not None


def _describe_column(token: str) -> tuple[str, str, str] | None:
    """Return the kind of a column, its value and the text behind it; None for other words."""
    if _NUMBER.fullmatch(token):
        return _PLAIN_KIND, token, ""
    for kind in ("duration", "size"):
        if QUANTITIES[kind].is_valid(token):
            return kind, token, ""
    if match := _SUFFIXED.fullmatch(token):
        return match[2], match[1], match[2]
    match = _TEXT.fullmatch(token)
    return (_TEXT_KIND, token.removesuffix(match["end"]), match["end"]) if match else None


def _find_header(messages: Sequence[str], first: _Row) -> list[str]:
    """Return the names of columns in the line above the first row, if bars, gaps or a rule show that it is one."""
    above = first.index - 1
    while above >= 0 and _RULE.fullmatch(messages[above]):
        above -= 1
    if above < 0 or not (above < first.index - 1 or _GAPS.search(messages[above]) or _BAR in messages[above]):
        return []
    words = [word for word in messages[above].split() if word != _BAR]
    columns = [_describe_column(word) for word in words]
    if len(words) + 1 == len(first.values) and first.shape[-1][0] == _TEXT_KIND:
        words, columns = [*words, "name"], [*columns, None]
    is_header = len(words) == len(first.values) and all(column is None or column[0] == _TEXT_KIND for column in columns)
    return words if is_header else []


def _write_pattern(shape: Shape, header: Sequence[str], used_names: Collection[str]) -> tuple[str, tuple[str, ...]]:
    """Return the pattern of rows and the names of their columns, which end in the unit that follows a number."""
    unique, names, parts = NameSpace(used_names), list[str](), list[str]()
    for kind, text in shape:
        if not kind:
            parts.append(text)
            continue
        default = {_TEXT_KIND: "name", _PLAIN_KIND: "value"}.get(kind, kind)
        unit = "" if kind in (_TEXT_KIND, _PLAIN_KIND, "duration", "size") else "percent" if kind == "%" else kind
        title = header[len(names)] if header else default if not unit or unit.lower() in UNITS else f"value {unit}"
        name = make_identifier(f"{title} {unit}" if header else title.replace("%", "percent"), "value")
        names.append(unique.add(name))
        parts.append(f"{{{names[-1]}}}{text}")
    return " ".join(parts), tuple(names)
