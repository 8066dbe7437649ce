"""What went wrong in an evaluation, as diagnostics: the file, the place, and what the evaluator meant."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from assay.spec import dhall_parse_errors, dhall_type_errors
from assay.spec.dhall_context import Context
from assay.spec.dhall_message import Message, parse
from assay.spec.dhall_run import MEMORY, Copy, Outcome
from assay.spec.dhall_scan import Scan, nesting, scan
from assay.spec.dhall_types import fields, short
from assay.spec.diagnostics import AssayError, Diagnostic, Span, excerpt_at, fail
from assay.spec.imports import SourceFile

_DEEP = 6
_REPEATING = "Natural/fold"  # does something as often as a number says
_LAST_CHARACTER = 0x10FFFF
_ESCAPE = re.compile(r"\\u\{([0-9a-fA-F]+)\}")
_EXPLAIN = {"parse": dhall_parse_errors.explain, "type": dhall_type_errors.explain}


def failure(outcome: Outcome, root: str, files: Sequence[SourceFile], copy: Copy, seconds: float) -> AssayError:
    """The error to raise for an outcome that is not a value."""
    if outcome.kind == "absent":
        return _absent(root)
    if outcome.kind in ("time", "memory"):
        return _too_much(outcome.kind, root, files, seconds)
    if outcome.kind == "broken":
        return _broken(interpolated(files)[cast(int, outcome.value)])
    if outcome.kind != "error":
        return _crash(outcome, root, files)
    message = parse(outcome.text)
    return AssayError((explain(message, root, files, copy),))


@dataclass(frozen=True, slots=True)
class Interpolated:
    """What stands between `${` and `}` in a text, at an offset of a file."""

    file: SourceFile
    start: int
    text: str


def interpolated(files: Sequence[SourceFile]) -> list[Interpolated]:
    """The expressions inside the texts of all files, in order.

    The evaluator must be asked about each of them: where one is no expression, it silently takes `${` for
    plain text, and so other places for code than the scan that looked for imports.
    """
    return [Interpolated(file, start, file.text[start:end]) for file in files for start, end in file.interpolations]


def _broken(piece: Interpolated) -> AssayError:
    line, column = scan(piece.file.text).place(piece.start - 2)
    length = len(piece.text.split("\n", 1)[0]) + 3
    return fail(
        "dhall-parse",
        "what stands between `${` and `}` is not an expression",
        span=Span(piece.file.name, line, column, length),
        excerpt=excerpt_at(piece.file.path, line, column, length),
        hint="for the characters themselves write `\\${`, or `''${` in a text of several lines",
    )


def explain(message: Message, root: str, files: Sequence[SourceFile], copy: Copy) -> Diagnostic:
    """The diagnostic for an error that the evaluator reported."""
    file = _file_of(message, root, files)
    context = Context(message, file, files, root, copy)
    if message.kind == "value":
        return _not_data(context)
    explainer = _EXPLAIN.get(message.kind)
    if explainer is None:
        text = " ".join(message.title.split())[:300]
        return Diagnostic("dhall-type", f"`{file.name}` cannot be evaluated: {text}", Span(file.name))
    return explainer(context)


def _file_of(message: Message, root: str, files: Sequence[SourceFile]) -> SourceFile:
    """The file that the message is about: the imports that lead to it are followed from the root."""
    by_name = {file.name: file for file in files}
    current = by_name[root]
    for line, column in message.imports[1:]:  # the first is the import of the root itself
        places = [item for item in current.imports if item.column == column and line in (item.line, 0)]
        current = by_name[(places or current.imports)[0].target]
    return current


def _not_data(context: Context) -> Diagnostic:
    """The root's value holds functions or types, which are no data."""
    whole = context.cut(0, len(context.file.text))
    types = context.types(whole, [context.file.text])
    culprits = _functions(types[0], ()) if types else []
    named = [".".join(path) for path in culprits if path]
    message = f"the value of `{context.root}` is not plain data"
    if named:
        message += f": `{named[0]}` is a function or a type"
    elif culprits:
        message = f"the value of `{context.root}` is a function or a type, not data"
    found = short(types[0]) if types else ""
    hint = "the file that is compiled must hold records, lists, texts, numbers and booleans only"
    return Diagnostic("dhall-value", message, Span(context.file.name), found=found, hint=hint)


def _functions(kind: str, path: tuple[str, ...]) -> list[tuple[str, ...]]:
    known = fields(kind)
    if known is not None:
        return [found for name, inner in known.items() for found in _functions(inner, (*path, name))]
    return [path] if "→" in kind or kind in ("Type", "Kind", "Sort") else []


def _too_much(kind: str, root: str, files: Sequence[SourceFile], seconds: float) -> AssayError:
    limit = f"{seconds:g} s" if kind == "time" else f"{MEMORY >> 30} GB of memory"
    message = f"the evaluation of `{root}` needs more than {limit}"
    scans = [(file, scan(file.text)) for file in files if file.is_code]
    file, scanned = max(scans, key=lambda pair: nesting(pair[1]).weight)
    deepest = nesting(scanned)
    if deepest.levels < _DEEP:
        return _too_often(f"dhall-{kind}", message, root, scans)
    line, column = scanned.place(deepest.start)
    return fail(
        f"dhall-{kind}",
        message,
        span=Span(file.name, line, column),
        found=f"literals nested {deepest.levels} deep here",
        hint="every level of nested brackets triples the time of parsing: bind inner parts with `let`",
    )


def _too_often(code: str, message: str, root: str, scans: Sequence[tuple[SourceFile, Scan]]) -> AssayError:
    """The error of an evaluation that is not deep; it stands where something is first repeated, if anything is."""
    hint = "does something in it grow each time it is repeated, or is it repeated very often?"
    for file, scanned in scans:
        for token in scanned.tokens:
            if token.text == _REPEATING:
                line, column = scanned.place(token.start)
                span = Span(file.name, line, column, len(token.text))
                excerpt = excerpt_at(file.path, line, column, len(token.text))
                return fail(code, message, span=span, excerpt=excerpt, hint=hint)
    return fail(code, message, span=Span(root), hint=hint)


def _crash(outcome: Outcome, root: str, files: Sequence[SourceFile]) -> AssayError:
    if "mapKey" in outcome.text:
        message = f"the value of `{root}` holds a list of records whose `mapKey` is not a Text"
        return fail("dhall-value", message, span=Span(root), hint="the keys of a map are texts")
    if "CharTryFromError" in outcome.text:
        return _no_character(root, files)
    text = " ".join(outcome.text.split())[:200]
    return fail(
        "dhall-crash",
        f"the evaluator ended abnormally while evaluating `{root}`",
        span=Span(root),
        found=text,
        hint=f"where it runs out of stack, or of its {MEMORY >> 30} GB of memory, it cannot say so: import long texts "
        "with `as Text`, and let no fold make a value that large",
    )


def _absent(root: str) -> AssayError:
    return fail(
        "dhall-absent",
        f"`{root}` cannot be evaluated: no Dhall evaluator is installed",
        hint="install the Python package `dhall`, or use specifications whose normal form is committed",
    )


def _no_character(root: str, files: Sequence[SourceFile]) -> AssayError:
    """The evaluator's parser fails on an escape beyond the last character without saying where it is."""
    message, expected = "the escape names no character", "at most `\\u{10FFFF}`"
    for file in files:
        for match in _ESCAPE.finditer(file.text):
            if int(match.group(1), 16) > _LAST_CHARACTER:
                line, column = scan(file.text).place(match.start())
                span = Span(file.name, line, column, len(match.group()))
                excerpt = excerpt_at(file.path, line, column, len(match.group()))
                return fail("dhall-parse", message, span=span, excerpt=excerpt, expected=expected)
    return fail("dhall-parse", message, span=Span(root), expected=expected)
