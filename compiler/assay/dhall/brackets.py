"""What is in brackets: lists, unions and records."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from assay.dhall.syntax import ListLit, Node, Op, Project, Rec, RecType, UnionType

if TYPE_CHECKING:
    from assay.dhall.parser import Parser

EMPTY_LIST = "an empty list needs its type: `[] : List …`"
LAST_NAME = re.compile(r"([A-Za-z_][A-Za-z0-9_/-]*)\s*\Z")


def parse_list(parser: Parser, start: int) -> Node:
    """Parse a list with items."""
    parser.open_bracket()
    items: list[Node] = []
    if parser.kind == ",":
        parser.advance()
    while parser.kind != "]":
        items.append(parser.parse_expression())
        if parser.kind == ",":
            parser.advance()
        elif parser.kind != "]":
            raise parser.refuse("`]`, `,` or an operator")
    if not items:
        raise parser.fail("unexpected `]`", parser.start, parser.start + 1, "an expression", EMPTY_LIST)
    parser.close_bracket("]", "`]`")
    return ListLit(parser.file, start, parser.before, items, None)


def parse_union(parser: Parser, start: int) -> Node:
    """Parse the type of a union."""
    parser.open_bracket()
    fields: dict[str, Node | None] = {}
    places: dict[str, int] = {}
    if parser.kind == "|":
        parser.advance()
    while parser.kind != ">":
        place, payload = parser.start, None
        name = parser.take_label("the name of an alternative or `>`")
        if parser.kind == ":":
            parser.take_spaced(":")
            payload = parser.parse_expression()
        if name in fields:
            raise parser.fail(f"the alternative `{name}` is written twice", place, place + len(name))
        fields[name], places[name] = payload, place
        if parser.kind == "|":
            parser.advance()
        elif parser.kind != ">":
            raise parser.refuse("`>`, `|` or an operator" if payload else "`>`, `|` or `:`")
    parser.close_bracket(">", "`>`")
    return UnionType(parser.file, start, parser.before, fields, places)


def parse_record(parser: Parser, start: int) -> Node:
    """Parse a record or the type of one."""
    parser.open_bracket()
    if parser.kind == ",":
        parser.advance()
    if parser.kind == "=":
        parser.advance()
        if parser.kind == ",":
            parser.advance()
        parser.close_bracket("}", "`}`")
        return Rec(parser.file, start, parser.before, {}, {})
    fields: dict[str, Node] = {}
    places: dict[str, int] = {}
    is_type: bool | None = None if parser.kind != "}" else True
    while parser.kind != "}":
        is_type = _parse_field(parser, fields, places, is_type)
        if parser.kind == ",":
            parser.advance()
        elif parser.kind != "}":
            raise parser.refuse("`}`, `,` or an operator", _hint_comma(parser))
    parser.close_bracket("}", "`}`")
    return (RecType if is_type else Rec)(parser.file, start, parser.before, fields, places)


def _hint_comma(parser: Parser) -> str:
    name = LAST_NAME.search(parser.text, max(0, parser.start - 80), parser.start)
    return f"a comma may be missing before `{name[1]}`" if parser.kind in ("=", ":") and name else ""


def _parse_field(parser: Parser, fields: dict[str, Node], places: dict[str, int], is_type: bool | None) -> bool:
    place = parser.start
    name = parser.take_label("the name of a field or `}`" if is_type is None else "the name of a field")
    if parser.kind == ":" and is_type is not False:
        parser.take_spaced(":")
        if name in fields:
            raise parser.fail(f"the field `{name}` is written twice", place, place + len(name))
        places[name] = place
        fields[name] = parser.parse_expression()
        return True
    if is_type:
        raise parser.refuse("`:`", "this record is a type: its fields have no values" if parser.kind == "=" else "")
    _parse_value(parser, fields, places, name, place)
    return False


def _parse_value(parser: Parser, fields: dict[str, Node], places: dict[str, int], name: str, place: int) -> None:
    path = [(name, place)]
    if parser.kind in (",", "}"):
        value: Node = parser.make_variable(place, parser.before, name, 0)
    else:
        while parser.kind == ".":
            parser.advance()
            path.append((parser.take_label("the name of a field"), parser.before))
        parser.take("=", "`=`, `.`, `,` or `}`" if places else "`=`, `:`, `.`, `,` or `}`")
        value = parser.parse_expression()
    for part, offset in reversed(path[1:]):
        value = Rec(parser.file, place, value.end, {part: value}, {part: offset - len(part)})
    earlier = fields.get(name)
    if earlier is None:
        fields[name], places[name] = value, place
    else:
        fields[name] = Op(parser.file, place, parser.before, "/\\", earlier, value, place)


def parse_projection(parser: Parser, start: int, node: Node) -> Node:
    """Parse the names of fields that are selected."""
    parser.open_bracket()
    names: list[str] = []
    places: list[int] = []
    if parser.kind == ",":
        parser.advance()
    while parser.kind != "}":
        places.append(parser.start)
        names.append(parser.take_label("the name of a field or `}`"))
        if parser.kind == ",":
            parser.advance()
        elif parser.kind != "}":
            raise parser.refuse("`,` or `}`")
    parser.close_bracket("}", "`}`")
    return Project(parser.file, start, parser.before, node, names, places)
