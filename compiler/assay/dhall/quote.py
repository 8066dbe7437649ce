"""Quotation: the normal form of a value as an expression again."""

from __future__ import annotations

from typing import Any

from assay.dhall.meter import METER
from assay.dhall.syntax import (
    App,
    Assert,
    Builtin,
    Embed,
    If,
    Lam,
    ListLit,
    Lit,
    Merge,
    Node,
    Op,
    Pi,
    Project,
    ProjectType,
    Rec,
    RecType,
    Select,
    ShowConstructor,
    SomeLit,
    Source,
    TextLit,
    ToMap,
    UnionType,
    Var,
    With,
)
from assay.dhall.values import (
    ABSENT,
    NApp,
    NEmptyList,
    NFree,
    NIf,
    NMerge,
    NOp,
    NProject,
    NProjectType,
    NSelect,
    NShow,
    NToMap,
    NVar,
    NWith,
    Value,
    VAssert,
    VBuiltin,
    VConst,
    VConstructor,
    VEquivalence,
    VInject,
    VLam,
    VList,
    VNone,
    VPi,
    VRec,
    VRecType,
    VSome,
    VText,
    VUnion,
)

_NOWHERE = Source("(normal form)", "")
_AT: tuple[Source, int, int] = (_NOWHERE, 0, 0)
_CONTAINERS = (VRec, VRecType, VUnion, VBuiltin, VPi, VList)


def quote(value: Value, level: int = 0) -> Node:
    """Give the normal form of a value in which variables from `level` on are bound by the value itself."""
    return Quoter(level).quote(value)


class Quoter:
    """One quotation; with `embed`, parts without variables of its own stay values.

    `base` is the level of the first variable of its own, and `uses_base` tells whether that one occurs; with
    `embed` it belongs to a function around the value.
    """

    __slots__ = ("base", "closed", "embed", "mentions", "names", "uses_base")

    def __init__(self, base: int, embed: bool = False) -> None:
        self.base = base
        self.embed = embed
        self.names = ["_"] if embed else []
        self.mentions = self.uses_base = False
        self.closed: dict[int, Value] = {}  # by identity; keeps the values alive, so that no identity is used twice

    def quote(self, value: Value) -> Node:
        """Quote a value under the binders passed so far."""
        if id(value) in self.closed:
            return Embed(*_AT, value)
        METER.spend()
        outer, self.mentions = self.mentions, False
        kind = type(value)
        rule = _RULES.get(kind)
        node: Node = Lit(*_AT, value) if rule is None else rule(self, value)
        if self.embed and not self.mentions:
            node = Embed(*_AT, value)
            if kind in _CONTAINERS:
                self.closed[id(value)] = value
        self.mentions |= outer
        return node

    def quote_body(self, value: Any) -> Node:
        """Quote the body of a function, or the type of its result."""
        level = self.base + len(self.names)
        variable = NVar(level, value.name, value.domain)
        body = value.call(variable)
        self.names.append(value.name)
        node = self.quote(body)
        self.names.pop()
        return node

    def quote_variable(self, value: NVar) -> Node:
        """Quote a variable: its index counts the binders of its name that are inside its own."""
        position = value.level - self.base
        if position < 0:
            return Var(*_AT, value.name, 0, value.level)
        self.mentions = True
        self.uses_base |= position == 0
        name = self.names[position]
        return Var(*_AT, name, self.names[position + 1 :].count(name), value.level)

    def quote_free(self, value: NFree) -> Node:
        """Quote a variable without a binder."""
        return Var(*_AT, value.name, value.index + self.names.count(value.name), None, value.index)

    def quote_fields(self, fields: dict[str, Value]) -> dict[str, Any]:
        """Quote the fields of a record or a union, sorted by name."""
        return {name: None if fields[name] is None else self.quote(fields[name]) for name in sorted(fields)}

    def quote_application(self, value: NApp) -> Node:
        """Quote an application that is stuck."""
        return App(*_AT, self.quote(value.function), self.quote(value.argument))

    def quote_builtin(self, value: VBuiltin) -> Node:
        """Quote a builtin with its arguments."""
        node: Node = Builtin(*_AT, value.name)
        for argument in value.arguments:
            node = App(*_AT, node, self.quote(argument))
        return node

    def quote_list(self, value: VList) -> Node:
        """Quote a list; only an empty one has its type."""
        if value.items:
            return ListLit(*_AT, [self.quote(item) for item in value.items], None)
        return ListLit(*_AT, [], App(*_AT, Builtin(*_AT, "List"), self.quote(value.element)))

    def quote_text(self, value: VText) -> Node:
        """Quote a text with interpolations: strings first, last and in between."""
        parts: list[Any] = [""]
        for part in value.parts:
            if isinstance(part, str):
                parts[-1] = part
            else:
                parts += (self.quote(part), "")
        return TextLit(*_AT, parts)

    def quote_injection(self, value: VInject) -> Node:
        """Quote an alternative, applied to its payload where it has one."""
        node = Select(*_AT, self.quote(value.union), value.name)
        return node if value.payload is ABSENT else App(*_AT, node, self.quote(value.payload))

    def quote_optional(self, value: Value | None) -> Node | None:
        """Quote an annotation, which may be absent."""
        return None if value is None else self.quote(value)


def _quote_merge(quoter: Quoter, value: NMerge) -> Node:
    handlers, union = quoter.quote(value.handlers), quoter.quote(value.union)
    return Merge(*_AT, handlers, union, quoter.quote_optional(value.annotation))


_RULES: dict[type, Any] = {
    bool: lambda _, value: Builtin(*_AT, "True" if value else "False"),
    VConst: lambda _, value: Builtin(*_AT, value.name),
    VList: Quoter.quote_list,
    VSome: lambda quoter, value: SomeLit(*_AT, quoter.quote(value.value)),
    VNone: lambda quoter, value: App(*_AT, Builtin(*_AT, "None"), quoter.quote(value.type)),
    VRec: lambda quoter, value: Rec(*_AT, quoter.quote_fields(value.fields), {}),
    VRecType: lambda quoter, value: RecType(*_AT, quoter.quote_fields(value.fields), {}),
    VUnion: lambda quoter, value: UnionType(*_AT, quoter.quote_fields(value.fields), {}),
    VInject: Quoter.quote_injection,
    VConstructor: lambda quoter, value: Select(*_AT, quoter.quote(value.union), value.name),
    VLam: lambda quoter, value: Lam(*_AT, value.name, quoter.quote(value.domain), quoter.quote_body(value)),
    VPi: lambda quoter, value: Pi(*_AT, value.name, quoter.quote(value.domain), quoter.quote_body(value)),
    VBuiltin: Quoter.quote_builtin,
    VText: Quoter.quote_text,
    VEquivalence: lambda quoter, value: Op(*_AT, "===", quoter.quote(value.left), quoter.quote(value.right)),
    VAssert: lambda quoter, value: Assert(*_AT, quoter.quote(value.type)),
    NVar: Quoter.quote_variable,
    NFree: Quoter.quote_free,
    NApp: Quoter.quote_application,
    NOp: lambda quoter, value: Op(*_AT, value.op, quoter.quote(value.left), quoter.quote(value.right)),
    NIf: lambda quoter, value: If(
        *_AT, quoter.quote(value.condition), quoter.quote(value.then), quoter.quote(value.other)
    ),
    NSelect: lambda quoter, value: Select(*_AT, quoter.quote(value.value), value.name),
    NProject: lambda quoter, value: Project(*_AT, quoter.quote(value.value), value.names, []),
    NProjectType: lambda quoter, value: ProjectType(*_AT, quoter.quote(value.value), quoter.quote(value.type)),
    NMerge: _quote_merge,
    NToMap: lambda quoter, value: ToMap(*_AT, quoter.quote(value.value), quoter.quote_optional(value.annotation)),
    NWith: lambda quoter, value: With(*_AT, quoter.quote(value.value), value.path, quoter.quote(value.new), []),
    NShow: lambda quoter, value: ShowConstructor(*_AT, quoter.quote(value.value)),
    NEmptyList: lambda quoter, value: ListLit(*_AT, [], quoter.quote(value.type)),
}
