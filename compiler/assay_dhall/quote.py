"""Convert values to expressions in normal form, with the original names of binders or `_` for all."""

from __future__ import annotations

from collections.abc import Callable

from assay_dhall.budget import METER, find_budget_error
from assay_dhall.hooks import HOOKS
from assay_dhall.syntax import (
    Apply,
    Assert,
    Builtin,
    If,
    Lambda,
    ListLiteral,
    Literal,
    Merge,
    Node,
    Operation,
    Pi,
    Project,
    RecordLiteral,
    RecordType,
    Select,
    ShowConstructor,
    SomeLiteral,
    Source,
    TextLiteral,
    ToMap,
    UnionType,
    Var,
    With,
)
from assay_dhall.values import (
    MISSING,
    NApply,
    NFree,
    NIf,
    NMerge,
    NOperation,
    NProject,
    NSelect,
    NShow,
    NToMap,
    NVar,
    NWith,
    VAlternative,
    Value,
    VAssert,
    VBuiltin,
    VConst,
    VConstructor,
    VEquivalence,
    VInteger,
    VLambda,
    VList,
    VNone,
    VPi,
    VRecord,
    VRecordType,
    VSome,
    VTemporal,
    VText,
    VUnionType,
)

NOWHERE = Source("(normal form)", "")
ELLIPSIS = "…"
COST = 10
"""The steps that a node of a normal form counts as, since it takes about 200 bytes."""
MAX_FIELDS = 12
Names = list[str]
"""The names of the binders around a value, by level."""


def quote(value: Value, names: Names, anonymous: bool = False, depth: int = -1) -> Node:
    """Return the normal form of a value as an expression; `anonymous` names every binder `_`.

    With a `depth`, deeper parts, fields beyond `MAX_FIELDS` and items beyond three become a variable named `…`.
    """
    return _Quoter(names, anonymous, depth).quote(value)


class _Quoter:
    __slots__ = ("anonymous", "depth", "names")

    def __init__(self, names: Names, anonymous: bool, depth: int) -> None:
        self.names = list(names)
        self.anonymous = anonymous
        self.depth = depth

    def quote(self, value: Value) -> Node:
        if self.depth >= 0:
            return self.quote_short(value)
        return self.quote_whole(value)

    def quote_short(self, value: Value) -> Node:
        """Quote a value with the remaining depth; what is deeper becomes an ellipsis."""
        if self.depth == 0 and type(value) in (VRecord, VRecordType, VList, VUnionType, VPi, VLambda):
            braced = type(value) in (VRecord, VRecordType)
            return RecordType(NOWHERE, 0, 0, {ELLIPSIS: _DOTS}) if braced and value.fields else _DOTS
        if self.depth == 0:
            return _QUOTERS[type(value)](self, value) if type(value) in _SHORT else _DOTS
        self.depth -= 1
        node = self.quote_whole(value)
        self.depth += 1
        return node

    def quote_whole(self, value: Value) -> Node:
        METER.steps -= COST
        METER.depth -= 1
        if METER.steps < 0 or METER.depth < 0:
            raise find_budget_error()
        node = _QUOTERS[type(value)](self, value)
        METER.depth += 1
        return node

    def quote_optional(self, value: Value) -> Node | None:
        return None if value is None else self.quote(value)

    def quote_fields(self, fields: dict[str, Value]) -> dict[str, Node]:
        if self.depth >= 0 and len(fields) > MAX_FIELDS:
            return {name: self.quote(fields[name]) for name in sorted(fields)[:MAX_FIELDS]} | {ELLIPSIS: _DOTS}
        return {name: self.quote(fields[name]) for name in sorted(fields)}

    def bind(self, name: str, result: Callable[[NVar], Value]) -> tuple[str, Node]:
        """Return the name of a binder, and its quoted body."""
        name = "_" if self.anonymous else name
        variable = NVar(len(self.names), name)
        self.names.append(name)
        body = self.quote(result(variable))
        self.names.pop()
        return name, body

    def quote_variable(self, value: NVar) -> Node:
        name = self.names[value.level]
        return Var(NOWHERE, 0, 0, name, self.names[value.level + 1 :].count(name), value.level)

    def quote_free(self, value: NFree) -> Node:
        return Var(NOWHERE, 0, 0, value.name, value.index + self.names.count(value.name), -1 - value.index)

    def quote_function(self, value: VLambda) -> Node:
        domain = self.quote(HOOKS.evaluate(value.node.domain, value.env))
        name, body = self.bind(value.node.name, lambda variable: HOOKS.apply(value, variable))
        return Lambda(NOWHERE, 0, 0, name, domain, body, value.node.height, 0, value.node.cost)

    def quote_pi(self, value: VPi) -> Node:
        domain = self.quote(value.domain)
        name, body = self.bind(value.name, lambda variable: HOOKS.instantiate(value.closure, variable))
        return Pi(NOWHERE, 0, 0, name, domain, body)

    def quote_builtin(self, value: VBuiltin) -> Node:
        node: Node = Builtin(NOWHERE, 0, 0, value.name)
        for argument in value.arguments:
            node = Apply(NOWHERE, 0, 0, node, self.quote(argument))
        return node

    def quote_list(self, value: VList) -> Node:
        """Quote a list: all items, or with a limited depth the first three."""
        if value.items and self.depth >= 0:
            items = [self.quote(item) for item in value.items[:3]] + [_DOTS] * (len(value.items) > 3)
            return ListLiteral(NOWHERE, 0, 0, items, None)
        if value.items:
            return ListLiteral(NOWHERE, 0, 0, [self.quote(item) for item in value.items], None)
        element = value.element
        if type(element) is NApply and element.argument is MISSING:
            return ListLiteral(NOWHERE, 0, 0, [], self.quote(element.function))
        annotation = Apply(NOWHERE, 0, 0, Builtin(NOWHERE, 0, 0, "List"), self.quote(element))
        return ListLiteral(NOWHERE, 0, 0, [], annotation)

    def quote_text(self, value: VText) -> Node:
        parts: list[str | Node] = [""]
        for part in value.parts:
            if type(part) is str:
                parts[-1] = part
            else:
                parts += [self.quote(part), ""]
        return TextLiteral(NOWHERE, 0, 0, parts)

    def quote_union(self, value: VUnionType) -> Node:
        return UnionType(
            NOWHERE, 0, 0, {name: self.quote_optional(value.fields[name]) for name in sorted(value.fields)}
        )

    def quote_alternative(self, value: VAlternative) -> Node:
        node = Select(NOWHERE, 0, 0, self.quote(value.union), value.name)
        return node if value.payload is MISSING else Apply(NOWHERE, 0, 0, node, self.quote(value.payload))

    def quote_operation(self, value: NOperation) -> Node:
        return Operation(NOWHERE, 0, 0, value.operator, self.quote(value.left), self.quote(value.right))

    def quote_merge(self, value: NMerge) -> Node:
        annotation = self.quote_optional(value.annotation)
        return Merge(NOWHERE, 0, 0, self.quote(value.handlers), self.quote(value.union), annotation)

    def quote_if(self, value: NIf) -> Node:
        positive, negative = self.quote(value.positive), self.quote(value.negative)
        return If(NOWHERE, 0, 0, self.quote(value.condition), positive, negative)

    def quote_with(self, value: NWith) -> Node:
        return With(NOWHERE, 0, 0, self.quote(value.value), value.path, self.quote(value.update))


_DOTS = Var(NOWHERE, 0, 0, ELLIPSIS, 0, -1)


def _quote_literal(_quoter: _Quoter, value: Value) -> Node:
    return Literal(NOWHERE, 0, 0, value)


_QUOTERS: dict[type, Callable[..., Node]] = {
    int: _quote_literal,
    str: _quote_literal,
    float: _quote_literal,
    bytes: _quote_literal,
    VInteger: _quote_literal,
    VTemporal: _quote_literal,
    bool: lambda _quoter, value: Builtin(NOWHERE, 0, 0, str(value)),
    VConst: lambda _quoter, value: Builtin(NOWHERE, 0, 0, value.name),
    VBuiltin: _Quoter.quote_builtin,
    VLambda: _Quoter.quote_function,
    VPi: _Quoter.quote_pi,
    VList: _Quoter.quote_list,
    VText: _Quoter.quote_text,
    VRecord: lambda quoter, value: RecordLiteral(NOWHERE, 0, 0, quoter.quote_fields(value.fields)),
    VRecordType: lambda quoter, value: RecordType(NOWHERE, 0, 0, quoter.quote_fields(value.fields)),
    VUnionType: _Quoter.quote_union,
    VAlternative: _Quoter.quote_alternative,
    VConstructor: lambda quoter, value: Select(NOWHERE, 0, 0, quoter.quote(value.union), value.name),
    VSome: lambda quoter, value: SomeLiteral(NOWHERE, 0, 0, quoter.quote(value.value)),
    VNone: lambda quoter, value: Apply(NOWHERE, 0, 0, Builtin(NOWHERE, 0, 0, "None"), quoter.quote(value.type)),
    VEquivalence: lambda quoter, value: Operation(
        NOWHERE, 0, 0, "===", quoter.quote(value.left), quoter.quote(value.right)
    ),
    VAssert: lambda quoter, value: Assert(NOWHERE, 0, 0, quoter.quote(value.type)),
    NVar: _Quoter.quote_variable,
    NFree: _Quoter.quote_free,
    NApply: lambda quoter, value: Apply(NOWHERE, 0, 0, quoter.quote(value.function), quoter.quote(value.argument)),
    NOperation: _Quoter.quote_operation,
    NIf: _Quoter.quote_if,
    NSelect: lambda quoter, value: Select(NOWHERE, 0, 0, quoter.quote(value.value), value.name),
    NProject: lambda quoter, value: Project(NOWHERE, 0, 0, quoter.quote(value.value), value.names),
    NMerge: _Quoter.quote_merge,
    NToMap: lambda quoter, value: ToMap(
        NOWHERE, 0, 0, quoter.quote(value.value), quoter.quote_optional(value.annotation)
    ),
    NWith: _Quoter.quote_with,
    NShow: lambda quoter, value: ShowConstructor(NOWHERE, 0, 0, quoter.quote(value.value)),
}
_SHORT = frozenset((int, str, float, bytes, bool, VInteger, VTemporal, VConst, VBuiltin, NVar, NFree))
