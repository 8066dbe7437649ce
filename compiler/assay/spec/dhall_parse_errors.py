"""Diagnostics for text that is not Dhall, or for numbers that it cannot hold."""

from __future__ import annotations

import re
from itertools import pairwise

from assay.spec.dhall_context import Context
from assay.spec.dhall_scan import BUILTINS, KEYWORDS, OPENING, Token
from assay.spec.diagnostics import Diagnostic

LONGEST = 60  # characters of a number that are shown
_OPERATORS = frozenset(
    [
        "import_alt",
        "bool_or",
        "natural_plus",
        "text_append",
        "list_append",
        "bool_and",
        "natural_times",
        "bool_eq",
        "bool_ne",
        "combine",
        "combine_types",
        "equivalent",
        "prefer",
        "arrow",
    ]
)
_EXPRESSION = frozenset(["expression", "missing", "if_", "merge", "NaN", "Some_", "toMap", "assert", "forall_keyword"])
_ARGUMENT = frozenset(["import_hashed", "primitive_expression"])
_FIELD = frozenset(["any_label_or_some", "record_type_entry", "empty_record_literal"])
_WORDS = {
    "double_quote_char": 'a closing `"`',
    "single_quote_continue": "a closing `''`",
    "let_binding": "`in`",
    "simple_label": "a name",
    "any_label": "a name",
    "EOI": "the end of the file",
}


def explain(context: Context) -> Diagnostic:
    """What is wrong with the text where the parser gave up."""
    reason = context.message.title
    start = context.scan.offset(context.message.line, context.message.column)
    index = context.scan.index_at(start)
    token = context.scan.tokens[index] if index < len(context.scan.tokens) else None
    at_word = token is not None and token.start == start
    part = context.cut(start, token.end if token and at_word else start + 1)
    if token is None and context.scan.tokens:
        part = context.cut(context.scan.tokens[-1].end, context.scan.tokens[-1].end)
    if not reason.startswith(("expected ", "unexpected ")):
        return _custom(context, reason)
    found = f"`{part.text}`" if at_word else "the end of the file"
    if token and not at_word:
        found = f"`{part.text}`" if part.text.strip() else "line break" if "\n" in part.text else "space"
    message = "the text ends too early" if found == "the end of the file" else f"unexpected {found}"
    wanted = _expected(reason, _open_bracket(context, start))
    hint = _hint(context, index, reason)
    return context.problem(message, part, code="dhall-parse", expected=wanted, hint=hint)


def _custom(context: Context, reason: str) -> Diagnostic:
    index = context.scan.index_at(context.scan.offset(context.message.line, context.message.column))
    part = context.primary(index)
    if re.search(r"too (large|small)|[Oo]verflow", reason):
        written = _number(part.text) if part else "the number"
        limits = "Natural below 2^64, Integer from -2^63 to 2^63 - 1, Double up to 1.7e308"
        return context.problem(f"{written} is out of range", part, code="dhall-parse", expected=limits)
    return context.problem(reason[:1].lower() + reason[1:], part, code="dhall-parse")


def _number(text: str) -> str:
    """What a message calls a number, of which it may have room for the first digits."""
    return f"the number `{text}`" if len(text) <= LONGEST else f"the number `{text[:LONGEST]}...` ({len(text)} digits)"


def _expected(reason: str, bracket: Token | None) -> str:
    rules = re.findall(r"\w+", re.sub(r"unexpected [^;]*(; )?", "", reason).removeprefix("expected "))
    names = [rule for rule in rules if rule != "or"]
    words: list[str] = []
    if _FIELD & set(names):
        words.append("the name of a field")
    elif _EXPRESSION & set(names):
        words.append("an expression")
    if _OPERATORS & set(names):
        words.extend([f"`{OPENING[bracket.text]}`", "`,`"] if bracket and bracket.text in "{[" else [])
        words.extend([f"`{OPENING[bracket.text]}`"] if bracket and bracket.text not in "{[" else [])
    words.extend(_WORDS[name] for name in names if name in _WORDS)
    words.extend(["an operator"] if _OPERATORS & set(names) else [])
    known = _FIELD | _EXPRESSION | _OPERATORS | _ARGUMENT | set(_WORDS)
    words.extend(name.strip("_").replace("_", " ") for name in names if name not in known)
    return " or ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def _open_bracket(context: Context, offset: int) -> Token | None:
    """The innermost bracket that is open at an offset."""
    stack: list[Token] = []
    for token in context.scan.tokens[: context.scan.index_at(offset)]:
        if token.kind in ("open", "text"):
            stack.append(token)
        elif token.kind in ("close", "text-end") and stack:
            stack.pop()
    return stack[-1] if stack and stack[-1].kind == "open" else None


def _hint(context: Context, index: int, reason: str) -> str:
    tokens = context.scan.tokens
    here = tokens[index : index + 3]
    return (
        _keyword_hint(context, index)
        or _colon_hint(context, here)
        or (_unclosed_hint(context) if not here else "")
        or ("a `let` needs `in` and the value after it" if not here and "let_binding" in reason else "")
        or ("a text stands in double quotes" if here and here[0].text.startswith("'") else "")
        or _conditional_hint(context, here)
        or _separator_hint(context, here)
    )


def _keyword_hint(context: Context, index: int) -> str:
    for token, after in pairwise(context.scan.tokens[max(index - 1, 0) : index + 2]):
        reserved = token.text in KEYWORDS | BUILTINS and token.kind == "label"
        if reserved and after.text in ("=", ":", ".") and (token.text in KEYWORDS or _is_bound(context, token)):
            return f"`{token.text}` is a reserved word: as a name it is written in backticks"
    return ""


def _is_bound(context: Context, token: Token) -> bool:
    index = context.scan.index_at(token.start)
    return index > 0 and context.scan.tokens[index - 1].text in ("let", "(")


def _colon_hint(context: Context, here: tuple[Token, ...]) -> str:
    for token in here:
        if token.text == ":" and not context.file.text[token.end : token.end + 1].isspace():
            return "a colon is followed by a space"
    return ""


def _unclosed_hint(context: Context) -> str:
    if not context.scan.unclosed:
        return ""
    token = context.scan.unclosed[-1]
    line, column = context.scan.place(token.start)
    return f"the `{token.text}` at line {line}, column {column} is not closed"


def _conditional_hint(context: Context, here: tuple[Token, ...]) -> str:
    words = [token.text for token in context.scan.tokens if token.kind == "label"]
    if not here and words.count("if") > words.count("else"):
        return "an `if` needs both `then` and `else`"
    return ""


def _separator_hint(context: Context, here: tuple[Token, ...]) -> str:
    if not here:
        return ""
    bracket = _open_bracket(context, here[0].start)
    if here[0].kind == "close" and bracket is None:
        return f"no bracket is open that `{here[0].text}` could close"
    index = context.scan.index_at(here[0].start)
    if here[0].text == "]" and index > 0 and context.scan.tokens[index - 1].text == "[":
        return "an empty list needs its type: `[] : List …`"
    near = context.scan.tokens[max(index - 1, 0) : index + 2]
    for token, after in pairwise(near):
        if token.kind in ("label", "quoted") and after.text in ("=", ":"):
            return f"{'a comma' if bracket else '`let`'} may be missing before `{token.text}`"
    return ""
