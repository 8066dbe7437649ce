"""Diagnostics for Dhall that does not type-check: which expression, which fields, what was expected."""

from __future__ import annotations

import re
from collections.abc import Callable

from assay.spec.dhall_context import Context, Part
from assay.spec.dhall_mismatch import conversion, mismatch
from assay.spec.dhall_scan import BUILTINS, KEYWORDS, bound_names
from assay.spec.dhall_types import fields, short, variants
from assay.spec.diagnostics import Diagnostic, did_you_mean

_RECORD_OPERATORS = ("//", "⫽", "/\\", "∧", "//\\\\", "⩓")
_OPERANDS = {
    "++": "Text", "+": "Natural", "*": "Natural", "&&": "Bool", "||": "Bool", "==": "Bool", "!=": "Bool",
    "#": "List …", "//": "{ … }", "⫽": "{ … }", "/\\": "{ … }", "∧": "{ … }",
}  # fmt: skip
_SENTENCES = {
    "AssertMustTakeEquivalence": "`assert` needs an equivalence, `assert : a === b`",
    "EquivalenceTypeMismatch": "the two sides of `===` have different types",
    "EquivalenceArgumentsMustBeTerms": "the sides of `===` must be values, not types",
    "IfBranchMustBeTermTypeOrKind": "the branches of `if` must be values",
    "InvalidListType": "a list holds values, and the annotation of an empty one is a type `List …`",
    "InvalidFieldType": "the type of a field must be a type",
    "InvalidOptionalType": "`Some` needs a value, not a type",
    "InvalidVariantType": "the type of an alternative must be a type",
    "Invalid output type": "the result of a function type must be a type",
    "Merge1ArgMustBeRecord": "the first argument of `merge` must be a record of handlers",
    "Merge2ArgMustBeUnionOrOptional": "the second argument of `merge` must be a union or an Optional",
    "MergeAnnotMismatch": "the annotation of `merge` is not the type of its handlers' results",
    "MergeEmptyNeedsAnnotation": "`merge` without handlers needs a type annotation",
    "MergeHandlerTypeMismatch": "the handlers of `merge` have results of different types",
    "ProjectionMustBeRecord": "fields can only be projected from a record",
    "ProjectionWrongType": "the projected fields have another type than the record's",
    "Sort does not have a type": "`Sort` has no type",
    "WithMustBeRecord": "`with` can only change the fields of a record",
}


def explain(context: Context) -> Diagnostic:
    """What the type checker found, in words, with what can be learnt by asking it about the parts."""
    title = context.message.title
    for beginning, handler in _HANDLERS.items():
        if title.startswith(beginning):
            return handler(context)
    sentence = _SENTENCES.get(title)
    if sentence is None:
        spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", title)
        sentence = spaced[:1].lower() + spaced[1:] if " " in spaced else title
    return context.problem(sentence)


def _argument(context: Context) -> Diagnostic:
    expects = context.message.label("this expects an argument of type: ")
    has = context.message.label("but this has type: ")
    if expects is None or has is None:
        return context.problem("wrong type of function argument")
    expected = expects.text.partition(": ")[2]
    found = has.text.partition(": ")[2]
    call = context.operands(context.part.start)
    number = _argument_number(context, call)
    if number is None:
        where = None if has.many else context.primary(context.scan.index_at(context.label_start(has)))
        return mismatch(context, where or context.part, expected, found, "the argument")
    many = number > 1 or _takes_more(context)
    name = f"argument {number} of `{call[0].shown}`" if many else f"the argument of `{call[0].shown}`"
    return mismatch(context, call[number], expected, found, name)


def _argument_number(context: Context, call: list[Part]) -> int | None:
    """Which operand of a call is the wrong argument: the first that ends where the evaluator's marks say."""
    function, argument = context.message.labels[:2]

    def ends(part: Part) -> int:
        return context.scan.place(max(part.end - 1, part.start))[0]

    for number in range(1, len(call)):
        before, part = call[number - 1], call[number]
        if not function.many and before.end < context.part.end:
            continue
        if ends(before) >= function.line and (not argument.many or ends(part) >= argument.line):
            return number
    return None


def _takes_more(context: Context) -> bool:
    """Whether arguments follow the wrong one."""
    return len(context.operands(context.part.start)) > 2


def _annotation(context: Context) -> Diagnostic:
    expected, found = "", ""
    rest = context.message.title.removeprefix("annot mismatch: ")
    for match in re.finditer(" != ", rest):
        found, expected = rest[: match.start()], rest[match.end() :]
        if found.count('"') % 2 == 0:
            break
    part = context.part
    tokens = context.words(part)
    if any(token.text == "::" for token in tokens):
        whole = context.primary(context.scan.index_at(part.start)) or part
        name = whole.text.partition("::")[0].strip()
        return mismatch(context, whole, expected, found, f"`{name}::{{ … }}`")
    return mismatch(context, part, expected, found, "the annotated expression")


def _unbound(context: Context) -> Diagnostic:
    name = context.message.title.removeprefix("unbound variable ").strip("`")
    if name in KEYWORDS:
        return context.problem(f"`{name}` is a reserved word", hint="as a name it is written in backticks")
    part = None if context.message.column else _punned(context, name)
    return context.problem(f"unknown name `{name}`", part, hint=_near(name, bound_names(context.scan)))


def _punned(context: Context, name: str) -> Part | None:
    """The field of a record `{ name }`, which the evaluator reads as `{ name = name }` and gives no place."""
    tokens = context.scan.tokens
    for index in range(1, len(tokens) - 1):
        alone = tokens[index - 1].text in ("{", ",") and tokens[index + 1].text in ("}", ",")
        if alone and tokens[index].names(name):
            return context.cut(tokens[index].start, tokens[index].end)
    return None


def _near(name: str, bound: set[str]) -> str:
    if name in bound:
        return "this name is bound elsewhere in the file: a `let` binds it in what follows"
    builtins = BUILTINS if name[:1].isupper() else frozenset[str]()
    hints = (did_you_mean(name, known) for known in (bound, builtins))
    none = "no `let` or function around it binds this name"
    return next((hint for hint in hints if hint.startswith("did")), none)


def _not_a_function(context: Context) -> Diagnostic:
    found = context.message.title.removeprefix("expected function, found ").strip("`")
    call = context.operands(context.part.start)
    applied = next((part for part in call[1:] if part.start >= context.part.end), None)
    message = f"`{context.part.shown}` is not a function"
    if applied:
        message += f", but `{applied.shown}` follows it as an argument"
    hint = "there is an argument too many, or a comma or operator is missing before it"
    return context.problem(message, found=short(found), hint=hint)


def _field(context: Context) -> Diagnostic:
    whole = context.primary(context.scan.index_at(context.part.start)) or context.part
    dots = [token for token in context.top_level(whole) if token.text == "."]
    for dot in reversed(dots):
        record = context.cut(whole.start, dot.start)
        label = context.word(dot.end)
        types = context.types(whole, [record.text])
        if types is None:
            continue
        if fields(types[0]) is not None:
            known = fields(types[0]) or {}
            return _unknown(context, label, "field", record, list(known))
        if types[0] == "Type":
            return _unknown(context, label, "alternative", record, _alternatives(context, whole, record))
        message = f"`{record.shown}` is not a record, it has no field `{label.text}`"
        return context.problem(message, label, found=short(types[0]))
    label = context.word(dots[-1].end) if dots else whole
    return context.problem(f"unknown field `{label.text}`", label)


def _unknown(context: Context, label: Part, what: str, record: Part, known: list[str]) -> Diagnostic:
    message = f"unknown {what} `{label.text.strip('`')}` in `{record.shown}`"
    return context.problem(message, label, hint=did_you_mean(label.text.strip("`"), known))


def _alternatives(context: Context, whole: Part, union: Part) -> list[str]:
    types = context.types(whole, [f"\\(assay_probe : {union.text}) -> assay_probe"])
    match = re.match(r"∀\(assay_probe : (.*)\) → ", types[0]) if types else None
    return (variants(match.group(1)) or []) if match else []


def _projection(context: Context) -> Diagnostic:
    tokens = [token for token in context.top_level(context.part) if token.text == "."]
    if not tokens:
        return context.problem("a projected field does not exist in the record")
    record = context.cut(context.part.start, tokens[-1].start)
    types = context.types(context.part, [record.text])
    known = fields(types[0]) if types else None
    for token in context.words(context.cut(tokens[-1].end, context.part.end)):
        if known is not None and token.kind in ("label", "quoted") and token.text.strip("`") not in known:
            return _unknown(context, context.cut(token.start, token.end), "field", record, list(known))
    return context.problem("a projected field does not exist in the record")


def _list(context: Context) -> Diagnostic:
    whole = context.primary(context.scan.index_at(context.part.start)) or context.part
    items = context.split(context.inside(whole), ",")
    types = context.types(whole, [item.text for item in items])
    if types is None:
        return context.problem("the items of the list have different types")
    usual = max(types, key=types.count)
    number = next((index for index, kind in enumerate(types) if kind != usual), None)
    if number is None:
        return context.problem("the items of the list have different types")
    item = context.primary(context.scan.index_at(items[number].start)) or items[number]
    return mismatch(context, item, usual, types[number], f"item {number + 1} of the list")


def _operator(context: Context) -> Diagnostic:
    found = [token for token in context.top_level(context.part) if token.kind == "op" and _is_operator(token.text)]
    if not found:
        return context.problem("an operand has the wrong type")
    token = found[-1]
    left = context.cut(context.part.start, token.start)
    right = context.cut(token.end, context.part.end)
    types = context.types(context.part, [left.text, right.text])
    if types is None:
        message = f"an operand of `{token.text}` has the wrong type"
        return context.problem(message, context.cut(token.start, token.end))
    if token.text in _RECORD_OPERATORS and all(fields(kind) is not None for kind in types):
        return _collision(context, context.cut(token.start, token.end), types)
    return _operand(context, token.text, [left, right], types)


def _is_operator(text: str) -> bool:
    return text in _OPERANDS or text in _RECORD_OPERATORS


def _operand(context: Context, operator: str, sides: list[Part], types: list[str]) -> Diagnostic:
    wanted = _OPERANDS.get(operator, "")
    if operator == "#" and all(kind.startswith("List ") for kind in types):
        part = context.primary(context.scan.index_at(sides[1].start)) or sides[1]
        return mismatch(context, part, types[0], types[1], "the right side of `#`")
    simple = wanted.partition(" …")[0].partition(" }")[0].strip()
    wrong = next((index for index, kind in enumerate(types) if not kind.startswith(simple)), 1)
    side = _trimmed(context, sides[wrong])
    message = f"the {'right' if wrong else 'left'} side of `{operator}` has the wrong type"
    hint = conversion(wanted, types[wrong])
    return context.problem(message, side, expected=wanted, found=short(types[wrong]), hint=hint)


def _collision(context: Context, operator: Part, types: list[str]) -> Diagnostic:
    left, right = (fields(kind) or {} for kind in types)
    common = ", ".join(f"`{name}`" for name in sorted(left.keys() & right.keys()))
    message = f"both sides of `{operator.text}` have the field {common}"
    if left.keys() & right.keys() and len(left.keys() & right.keys()) > 1:
        message = f"both sides of `{operator.text}` have the fields {common}"
    return context.problem(message, operator, hint="`//` prefers the right side's fields")


def _conditional(context: Context) -> Diagnostic:
    pieces = _branches(context)
    types = context.types(context.part, [piece.text for piece in pieces]) if pieces else None
    if not types:
        return context.problem("the condition or the branches of `if` have the wrong types")
    if types[0] != "Bool":
        message = "the condition of `if` is not a Bool"
        return context.problem(message, _trimmed(context, pieces[0]), found=short(types[0]))
    return mismatch(context, _trimmed(context, pieces[2]), types[1], types[2], "the `else` branch")


def _branches(context: Context) -> list[Part]:
    """Condition and branches of the `if` that the error is about."""
    marks, depth = [], 0
    for token in context.top_level(context.part):
        depth += token.text == "if"
        if depth == 1 and token.text in ("if", "then", "else"):
            marks.append(token)
        depth -= token.text == "else"
    if len(marks) != 3:
        return []
    ends = [marks[1].start, marks[2].start, context.part.end]
    return [context.cut(mark.end, end) for mark, end in zip(marks, ends, strict=True)]


def _trimmed(context: Context, part: Part) -> Part:
    text = part.text
    return context.cut(part.start + len(text) - len(text.lstrip()), part.end - len(text) + len(text.rstrip()))


def _assertion(context: Context) -> Diagnostic:
    signs = [token for token in context.top_level(context.part) if token.text in ("===", "≡")]
    colon = next((token for token in context.top_level(context.part) if token.text == ":"), None)
    if not signs or not colon:
        return context.problem("the assertion does not hold")
    sides = [context.cut(colon.end, signs[0].start).text, context.cut(signs[0].end, context.part.end).text]
    types = context.types(context.part, [f"assert : ({side}\n) === ({side}\n)" for side in sides])
    left, right = (short(kind.partition(" ≡ ")[0]) for kind in types) if types else ("", "")
    return context.problem("the assertion does not hold", expected=right, found=left)


def _interpolation(context: Context) -> Diagnostic:
    tokens = context.scan.tokens
    whole = context.primary(context.scan.index_at(context.part.start)) or context.part
    first, last = context.scan.index_at(whole.start), context.scan.index_at(whole.end)
    for index in range(first, last):
        if tokens[index].text != "${":
            continue
        start = tokens[index].end
        end = context.closing(index)
        piece = _trimmed(context, context.cut(start, end))
        types = context.types(piece, [piece.text])
        if types and types[0] != "Text":
            hint = conversion("Text", types[0])
            message = "a value inside a text must be a Text"
            return context.problem(message, piece, expected="Text", found=short(types[0]), hint=hint)
    return context.problem("a value inside a text must be a Text")


def _merge(context: Context) -> Diagnostic:
    call = context.operands(context.part.start)
    types = context.types(context.part, [part.text for part in call[1:3]]) if len(call) > 2 else None
    handlers = fields(types[0]) if types else None
    alternatives = (variants(types[1]) or ["None", "Some"]) if types else []
    for name in alternatives:
        if handlers is not None and name not in handlers:
            return context.problem(f"`merge` has no handler for the alternative `{name}`", call[1])
    for name in handlers or {}:
        if name not in alternatives:
            message = f"`merge` has a handler `{name}`, which is no alternative"
            return context.problem(message, call[1], hint=did_you_mean(name, alternatives))
    return context.problem("the handlers of `merge` do not match the alternatives")


def _duplicate(context: Context) -> Diagnostic:
    before = context.scan.tokens[: context.scan.index_at(context.part.start)][-2:]
    if len(before) == 2 and before[1].text == "=":
        label = context.cut(before[0].start, before[0].end)
        return context.problem(f"the field `{label.text}` is given twice", label)
    return context.problem("a field is given twice")


def _hash(context: Context) -> Diagnostic:
    notes = dict(note.split(None, 1) for note in context.message.notes if " " in note)
    return context.problem(
        "the imported file is not the one whose hash is given",
        code="dhall-import",
        expected=notes.get("Expected", "").strip(),
        found=notes.get("Found", "").strip(),
        hint="when the change is wanted, replace the hash",
    )


def _needs_type(context: Context) -> Diagnostic:
    label = context.message.label("this has type: ")
    kind = label.text.partition(": ")[2].strip("`") if label else ""
    shown = context.part.shown
    has_defaults = re.match(r"\{ `?Type`? : Type, default : ", " ".join(kind.split()))
    hint = f"`{shown}.Type` is the type; `{shown}::{{ … }}` is a value of it, with defaults" if has_defaults else ""
    return context.problem(f"a type is needed here, `{shown}` is a value", found=short(kind), hint=hint)


_HANDLERS: dict[str, Callable[[Context], Diagnostic]] = {
    "wrong type of function argument": _argument,
    "annot mismatch": _annotation,
    "unbound variable": _unbound,
    "expected function": _not_a_function,
    "MissingRecordField": _field,
    "MissingUnionField": _field,
    "NotARecord": _field,
    "ProjectionMissingEntry": _projection,
    "InvalidListElement": _list,
    "BinOpTypeMismatch": _operator,
    "MustCombineRecord": _operator,
    "RecordTypeMergeRequiresRecordType": _operator,
    "IfBranchMismatch": _conditional,
    "InvalidPredicate": _conditional,
    "AssertMismatch": _assertion,
    "InvalidTextInterpolation": _interpolation,
    "MergeVariantMissingHandler": _merge,
    "MergeHandlerMissingVariant": _merge,
    "DuplicateFieldName": _duplicate,
    "hash mismatch": _hash,
    "Expected a type": _needs_type,
}
