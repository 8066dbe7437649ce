"""Expressions that grow or nest without end, by name; run as a program, tells how each of them ends."""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path

from assay.dhall import DhallError, Evaluator, to_data

_NUMBERS = "let f = \\(n : Natural) -> n * n in "
_DOUBLED = "".join(f"let x{i + 1} = {{ a = x{i}, b = x{i} }} " for i in range(40))
_PAIR = "let pair = \\(a : Type) -> \\(x : a) -> { l = x, r = x } "


def _types(name: str) -> str:
    return f"let {name}0 = Natural " + "".join(
        f"let {name}{i + 1} = {{ a : {name}{i}, b : {name}{i} }} " for i in range(40)
    )


# An expression, and words that its diagnostic has.
HOSTILE = {
    "squares of squares": (_NUMBERS + "f (" * 60 + "2" + ")" * 60, "bits of one number"),
    "powers": ("Natural/fold 100000 Natural (\\(n : Natural) -> n * n) 3", "bits of one number"),
    "sums": ("Natural/fold 100000 Natural (\\(n : Natural) -> n + n) 3", "bits of one number"),
    "long number": ("1" * 100_000, "digits"),
    "long count": ("Natural/fold 1000000000000 Natural (\\(n : Natural) -> n + 1) 0", "steps"),
    "count in a count": (
        "Natural/fold 99999 Natural (\\(n : Natural) -> Natural/fold 99999 Natural (\\(m : Natural) -> m + 1) n) 0",
        "steps",
    ),
    "texts doubled": ('Natural/fold 100 Text (\\(t : Text) -> t ++ t) "ab"', "characters"),
    "texts interpolated": ('Natural/fold 100 Text (\\(t : Text) -> "${t}-${t}") "ab"', "characters"),
    "texts replaced": ('Natural/fold 100 Text (\\(t : Text) -> Text/replace "a" "aaaa" t) "a"', "characters"),
    "texts shown": ('Natural/fold 100 Text (\\(t : Text) -> Text/show t) "\\"\\\\"', "characters"),
    "lists doubled": ("Natural/fold 100 (List Natural) (\\(t : List Natural) -> t # t) [ 1 ]", "items"),
    "lists grown": ("Natural/fold 1000000 (List Natural) (\\(t : List Natural) -> t # [ 1 ]) [ 1 ]", "items"),
    "lists indexed": (
        "List/indexed Natural (Natural/fold 20 (List Natural) (\\(t : List Natural) -> t # t) [ 1 ])",
        "more than",
    ),
    "parentheses": ("(" * 10_000 + "1" + ")" * 10_000, "nested more than"),
    "records": ("{ a = " * 10_000 + "1" + " }" * 10_000, "nested more than"),
    "types of records": ("{ a : " * 10_000 + "Natural" + " }" * 10_000, "nested more than"),
    "lists": ("[" * 10_000 + "1" + "]" * 10_000, "nested more than"),
    "functions": ("\\(x : Natural) -> " * 10_000 + "1", "nested more than"),
    "arrows": ("Natural -> " * 10_000 + "Natural", "nested more than"),
    "interpolations": ('"${' * 10_000, "nested more than"),
    "optionals": ("Some (" * 10_000 + "1" + ")" * 10_000, "nested more than"),
    "conditions": ("if True then 1 else " * 10_000 + "1", "nested more than"),
    "operators": ("1" + " + 1" * 10_000, "operators follow each other"),
    "arguments": ("f" + " x" * 10_000, "arguments follow each other"),
    "selections": ("x" + ".a" * 10_000, "selections follow each other"),
    "bindings": ("let x = 1 " * 10_000 + "in x", "follow each other"),
    "changes": ("{=}" + " with a = 1" * 10_000, "follow each other"),
    "types compared": (_types("T") + _types("U") + "in \\(x : T40) -> (x : U40)", "steps"),
    "shared parts": ("let x0 = 1 " + _DOUBLED + "in x40", "parts"),
    "shared parts of functions": (
        _PAIR
        + "let t0 = Natural let x0 = 1 "
        + "".join(f"let x{i + 1} = pair t{i} x{i} let t{i + 1} = {{ l : t{i}, r : t{i} }} " for i in range(40))
        + "in x40",
        "parts",
    ),
    "functions in functions": (
        "Natural/fold 1000000 (Natural -> Natural) (\\(f : Natural -> Natural) -> \\(x : Natural) -> f (x + 1)) "
        "(\\(x : Natural) -> x) 0",
        "steps",
    ),
    "calls in calls": (
        "Natural/fold 100000 (Natural -> Natural) (\\(f : Natural -> Natural) -> \\(x : Natural) -> f (x + 1)) "
        "(\\(x : Natural) -> x) 0",
        "calls inside each other",
    ),
    "assertion": ("assert : Natural/fold 10000000 Natural (\\(n : Natural) -> n + 1) 0 === 1", "steps"),
    "text of an argument": (
        'assert : (\\(x : Text) -> Natural/fold 100 Text (\\(t : Text) -> t ++ x ++ t) "a") === (\\(x : Text) -> x)',
        "more than",
    ),
}


def end(text: str) -> tuple[str, str, str]:
    """Evaluate a text: the message, the code and the place of its first diagnostic."""
    try:
        to_data(Evaluator().evaluate_text(text).value)
    except DhallError as error:
        item = error.diagnostics[0]
        return item.message, item.code, str(item.span)
    return "", "", ""


def peak_megabytes() -> int:
    """Return the most memory that this process has had; on Linux not what its parent had before it began."""
    if sys.platform == "linux":
        status = Path("/proc/self/status").read_text()
        return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) // 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (1 << 20)


if __name__ == "__main__":
    ends = {name: end(text) for name, (text, _) in HOSTILE.items()}
    print(json.dumps({"ends": ends, "megabytes": peak_megabytes()}))
