"""Random well-typed Dhall terms as text, for comparing evaluators.

A type is text for a base type, or a tuple: `("List", T)`, `("Optional", T)`, `("Record", ((name, T), ...))`,
`("Union", ((name, T or None), ...))`, `("Function", T, T)`.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

BASES = ("Natural", "Integer", "Bool", "Text", "Double")
NAMES = ("a", "b", "c")
Type = Any


@st.composite
def generate_types(draw: st.DrawFn, depth: int = 2) -> Type:
    """Draw a type of data."""
    kind = draw(
        st.sampled_from(("base", "base", "base", "List", "Optional", "Record", "Union") if depth else ("base",))
    )
    if kind == "base":
        return draw(st.sampled_from(BASES))
    if kind in ("List", "Optional"):
        return (kind, draw(generate_types(depth - 1)))
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=3, unique=True))
    if kind == "Record":
        return (kind, tuple((name, draw(generate_types(depth - 1))) for name in sorted(names)))
    payloads = tuple((name.upper(), draw(st.one_of(st.none(), generate_types(depth - 1)))) for name in sorted(names))
    return (kind, payloads)


def show_type(type_: Type) -> str:
    """Return a type as Dhall text."""
    if isinstance(type_, str):
        return type_
    kind, *rest = type_
    if kind in ("List", "Optional"):
        return f"({kind} {show_type(rest[0])})"
    if kind == "Record":
        return "{ " + ", ".join(f"{name} : {show_type(inner)}" for name, inner in rest[0]) + " }"
    if kind == "Union":
        parts = [name if inner is None else f"{name} : {show_type(inner)}" for name, inner in rest[0]]
        return "< " + " | ".join(parts) + " >"
    return f"({show_type(rest[0])} -> {show_type(rest[1])})"


class Terms:
    """Draws terms; `scope` holds the names in scope with their types."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.count = 0

    def draw_term(self, type_: Type, scope: tuple[tuple[str, Type], ...], depth: int) -> str:
        """Draw a term of a type, in parentheses where it is not a literal."""
        forms = ["literal"]
        if any(inner == type_ for _, inner in scope):
            forms += ["variable"] * 2
        if depth > 0:
            forms += ["if", "let", "call", "merge", "select", "annotate", "fold"]
            forms += {"Natural": ["natural"] * 3, "Bool": ["bool"] * 3, "Text": ["text"] * 3}.get(str(type_), [])
            if isinstance(type_, tuple):
                forms += [f"of_{type_[0].lower()}"] * 3
        form = self.draw(st.sampled_from(forms))
        return getattr(self, f"draw_{form}")(type_, scope, depth - 1)

    def draw_name(self) -> str:
        self.count += 1
        return self.draw(st.sampled_from(("x", "y", f"v{self.count}")))

    def bind(self, scope, name, type_):
        return (*((other, inner) for other, inner in scope if other != name), (name, type_))

    def draw_literal(self, type_, scope, depth) -> str:
        if type_ == "Natural":
            return str(self.draw(st.integers(0, 9)))
        if type_ == "Integer":
            return f"{self.draw(st.integers(-9, 9)):+d}"
        if type_ == "Bool":
            return self.draw(st.sampled_from(("True", "False")))
        if type_ == "Double":
            return self.draw(st.sampled_from(("0.5", "-1.25", "3.0", "1e10", "2.5e-3")))
        if type_ == "Text":
            return self.draw(st.sampled_from(('""', '"a"', '"a\\"b"', '"ab\\n"', "''\n  ab\n    c\n  ''", '"\\u00e9"')))
        return getattr(self, f"draw_literal_{type_[0].lower()}")(type_, scope, depth)

    def draw_literal_list(self, type_, scope, depth) -> str:
        items = [self.draw_term(type_[1], scope, depth) for _ in range(self.draw(st.integers(0, 3)))]
        return "[ " + ", ".join(items) + " ]" if items else f"([] : {show_type(type_)})"

    def draw_literal_optional(self, type_, scope, depth) -> str:
        if self.draw(st.booleans()):
            return f"(None {show_type(type_[1])})"
        return f"(Some {self.draw_term(type_[1], scope, depth)})"

    def draw_literal_record(self, type_, scope, depth) -> str:
        return "{ " + ", ".join(f"{name} = {self.draw_term(inner, scope, depth)}" for name, inner in type_[1]) + " }"

    def draw_literal_union(self, type_, scope, depth) -> str:
        name, inner = self.draw(st.sampled_from(type_[1]))
        return (
            f"({show_type(type_)}.{name}" + ("" if inner is None else f" {self.draw_term(inner, scope, depth)}") + ")"
        )

    def draw_variable(self, type_, scope, _depth) -> str:
        return self.draw(st.sampled_from([name for name, inner in scope if inner == type_]))

    def draw_if(self, type_, scope, depth) -> str:
        parts = [self.draw_term(inner, scope, depth) for inner in ("Bool", type_, type_)]
        return f"(if {parts[0]} then {parts[1]} else {parts[2]})"

    def draw_let(self, type_, scope, depth) -> str:
        inner = self.draw(generate_types(1))
        name, value = self.draw_name(), self.draw_term(inner, scope, depth)
        annotation = f" : {show_type(inner)}" if self.draw(st.booleans()) else ""
        return f"(let {name}{annotation} = {value} in {self.draw_term(type_, self.bind(scope, name, inner), depth)})"

    def draw_call(self, type_, scope, depth) -> str:
        inner = self.draw(generate_types(1))
        name = self.draw_name()
        body = self.draw_term(type_, self.bind(scope, name, inner), depth)
        return f"((\\({name} : {show_type(inner)}) -> {body}) {self.draw_term(inner, scope, depth)})"

    def draw_annotate(self, type_, scope, depth) -> str:
        return f"({self.draw_term(type_, scope, depth)} : {show_type(type_)})"

    def draw_select(self, type_, scope, depth) -> str:
        record = ("Record", tuple(sorted({"b": self.draw(generate_types(1)), "c": type_}.items())))
        return f"({self.draw_term(record, scope, depth)}.c)"

    def draw_merge(self, type_, scope, depth) -> str:
        union = self.draw(generate_types(2).filter(lambda drawn_type: drawn_type[0] in ("Union", "Optional")))
        alternatives = union[1] if union[0] == "Union" else (("None", None), ("Some", union[1]))
        handlers = []
        for label, inner in alternatives:
            name = self.draw_name()
            body = self.draw_term(type_, scope if inner is None else self.bind(scope, name, inner), depth)
            handlers.append(
                f"{label} = {body}" if inner is None else f"{label} = \\({name} : {show_type(inner)}) -> {body}"
            )
        return f"(merge {{ {', '.join(handlers)} }} {self.draw_term(union, scope, depth)})"

    def draw_fold(self, type_, scope, depth) -> str:
        item, name, rest = self.draw(generate_types(1)), "item", "rest"
        inner = self.bind(self.bind(scope, name, item), rest, type_)
        step = (
            f"\\({name} : {show_type(item)}) -> \\({rest} : {show_type(type_)}) -> "
            f"{self.draw_term(type_, inner, depth)}"
        )
        items = self.draw_term(("List", item), scope, depth)
        return (
            f"(List/fold {show_type(item)} {items} {show_type(type_)} ({step}) {self.draw_term(type_, scope, depth)})"
        )

    def draw_natural(self, _type, scope, depth) -> str:
        form = self.draw(st.sampled_from(("+", "*", "subtract", "clamp", "length")))
        if form == "clamp":
            return f"(Integer/clamp {self.draw_term('Integer', scope, depth)})"
        if form == "length":
            return f"(List/length Text {self.draw_term(('List', 'Text'), scope, depth)})"
        left, right = (self.draw_term("Natural", scope, depth) for _ in range(2))
        return f"(Natural/subtract {left} {right})" if form == "subtract" else f"({left} {form} {right})"

    def draw_bool(self, _type, scope, depth) -> str:
        form = self.draw(st.sampled_from(("&&", "||", "==", "!=", "isZero", "even", "odd")))
        if form in ("isZero", "even", "odd"):
            return f"(Natural/{form} {self.draw_term('Natural', scope, depth)})"
        return f"({self.draw_term('Bool', scope, depth)} {form} {self.draw_term('Bool', scope, depth)})"

    def draw_text(self, _type, scope, depth) -> str:
        form = self.draw(st.sampled_from(("++", "inside", "natural", "integer", "double", "show")))
        if form in ("natural", "integer", "double"):
            base = form.capitalize()
            return f"({base}/show {self.draw_term(base, scope, depth)})"
        if form == "show":
            return f"(Text/show {self.draw_term('Text', scope, depth)})"
        left, right = (self.draw_term("Text", scope, depth) for _ in range(2))
        return f'"<${{{left}}}|${{{right}}}>"' if form == "inside" else f"({left} ++ {right})"

    def draw_of_list(self, type_, scope, depth) -> str:
        if self.draw(st.booleans()):
            return f"(List/reverse {show_type(type_[1])} {self.draw_term(type_, scope, depth)})"
        return f"({self.draw_term(type_, scope, depth)} # {self.draw_term(type_, scope, depth)})"

    def draw_of_optional(self, type_, scope, depth) -> str:
        end = self.draw(st.sampled_from(("head", "last")))
        return f"(List/{end} {show_type(type_[1])} {self.draw_term(('List', type_[1]), scope, depth)})"

    def draw_of_record(self, type_, scope, depth) -> str:
        form = self.draw(st.sampled_from(("//", "with", "project", "/\\", "::")))
        fields = type_[1]
        record = self.draw_term(type_, scope, depth)
        selected_fields = tuple(field for field in fields if self.draw(st.booleans())) or fields[:1]
        if form == "//":
            return f"({record} // {self.draw_term(('Record', selected_fields), scope, depth)})"
        if form == "with":
            name, inner = selected_fields[0]
            return f"({record} with {name} = {self.draw_term(inner, scope, depth)})"
        if form == "::":
            schema = f"{{ Type = {show_type(type_)}, default = {record} }}"
            return f"({schema}::{self.draw_term(('Record', selected_fields), scope, depth)})"
        if form == "project":
            larger = ("Record", tuple(sorted({**dict(fields), "d": "Bool"}.items())))
            return f"({self.draw_term(larger, scope, depth)}.{{ {', '.join(name for name, _ in fields)} }})"
        remaining_fields = tuple(field for field in fields if field not in selected_fields)
        if not remaining_fields:
            return record
        return (
            f"({self.draw_term(('Record', selected_fields), scope, depth)} /\\ "
            f"{self.draw_term(('Record', remaining_fields), scope, depth)})"
        )

    def draw_of_union(self, type_, scope, depth) -> str:
        return self.draw_literal_union(type_, scope, depth)


@st.composite
def generate_typed_terms(draw: st.DrawFn) -> tuple[str, str]:
    """Draw a term and its type, both as text."""
    type_ = draw(generate_types())
    return Terms(draw).draw_term(type_, (), draw(st.integers(0, 4))), show_type(type_)
