"""Hostile expressions, and a process that evaluates some of them and prints the result of each.

Usage: python -m assay_dhall.tests.hostile [NAME ...]
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

from assay_dhall import DhallError, Evaluator, normalize, to_data


def build_chain(first: str, step: str, count: int, last: str) -> str:
    """Return `let x0 = first let x1 = step(x0) ... in last`; `@` in `step` and `last` is the name before."""
    lines = [f"let x0 = {first}"]
    lines += [f"let x{number} = {step.replace('@', f'x{number - 1}')}" for number in range(1, count + 1)]
    return "\n".join([*lines, f"in {last.replace('@', f'x{count}')}"])


def build_pair(kind: str) -> str:
    sign = ":" if kind == "type" else "="
    return f"{{ a {sign} @, b {sign} @ }}"


BOMBS: dict[str, Callable[[], str]] = {
    "squares": lambda: build_chain("2", "@ * @", 40, "@"),
    "squares_shown": lambda: build_chain("2", "@ * @", 12, "Natural/show @"),
    "fold_forever": lambda: "Natural/fold 10000000000000 Natural (\\(n : Natural) -> n + 1) 0",
    "fold_of_folds": lambda: (
        "let f = \\(n : Natural) -> Natural/fold n Natural (\\(m : Natural) -> m * 2 + 1) 1 in f (f (f (f 3)))"
    ),
    "text_doubling": lambda: build_chain('"abcdefgh"', "@ ++ @", 60, "@"),
    "text_interpolated": lambda: build_chain('"abcdefgh"', '"${@}${@}"', 60, "@"),
    "text_fold": lambda: 'Natural/fold 1000000 Text (\\(t : Text) -> t ++ t) "a"',
    "text_show": lambda: build_chain('"\\""', "Text/show @", 60, "@"),
    "text_replace": lambda: build_chain('"aaaaaaaa"', 'Text/replace "a" @ @', 20, "@"),
    "list_doubling": lambda: build_chain("[ 1, 2, 3 ]", "@ # @", 60, "@"),
    "list_fold": lambda: "Natural/fold 1000000 (List Natural) (\\(l : List Natural) -> l # l) [ 1 ]",
    "list_cons": lambda: "Natural/fold 1000000 (List Natural) (\\(l : List Natural) -> [ 1 ] # l) [ 1 ]",
    "parentheses": lambda: "(" * 10_000 + "1" + ")" * 10_000,
    "records": lambda: "{ a = " * 10_000 + "1" + " }" * 10_000,
    "record_types": lambda: "{ a : " * 10_000 + "Natural" + " }" * 10_000,
    "lists": lambda: "[ " * 10_000 + "1" + " ]" * 10_000,
    "lambdas": lambda: "\\(x : Natural) -> " * 10_000 + "x",
    "arrows": lambda: "Natural -> " * 10_000 + "Natural",
    "operators": lambda: " + ".join(["1"] * 10_000),
    "applications": lambda: "f" + " x" * 10_000,
    "selections": lambda: "x" + ".a" * 10_000,
    "ifs": lambda: "if True then 1 else " * 10_000 + "2",
    "lets": lambda: build_chain("1", "@ + 1", 10_000, "@"),
    "withs": lambda: "{ a = 1 }" + " with a = 2" * 10_000,
    "duplicates": lambda: "{ " + ", ".join(["a.b = 1"] * 10_000) + " }",
    "dotted": lambda: "{ a" + ".a" * 10_000 + " = 1 }",
    "comments": lambda: "{-" * 100_000 + "-}" * 100_000 + "1",
    "interpolations": lambda: '"${' * 10_000 + "1" + '}"' * 10_000,
    "nested_somes": lambda: "Natural/fold 1000000 Natural (\\(n : Natural) -> n) (" * 400 + "1" + ")" * 400,
    "type_pairs": lambda: build_chain("Natural", build_pair("type"), 60, "\\(x : @) -> x"),
    "type_pairs_compared": lambda: build_chain(
        "{ t = Natural, u = Natural }",
        "{ t = { a : @.t, b : @.t }, u = { a : @.u, b : @.u } }",
        60,
        "\\(x : @.t) -> (x : @.u)",
    ),
    "value_pairs": lambda: build_chain("1", build_pair("value"), 60, "@"),
    "value_pairs_asserted": lambda: build_chain(
        "{ l = 1, r = 1 }", "{ l = { a = @.l, b = @.l }, r = { a = @.r, b = @.r } }", 60, "assert : @.l === @.r"
    ),
    "type_error_in_pairs": lambda: build_chain("1", build_pair("value"), 60, "@ + 1"),
    "closures": lambda: build_chain("\\(n : Natural) -> n + 1", "\\(n : Natural) -> @ (@ n)", 60, "@ 1"),
    "closures_deep": lambda: (
        "Natural/fold 1000000 (Natural -> Natural) (\\(f : Natural -> Natural) -> \\(n : Natural) -> f (n + 1)) "
        "(\\(n : Natural) -> n) 1"
    ),
    "polymorphic": lambda: build_chain(
        "\\(a : Type) -> \\(x : a) -> x",
        "\\(a : Type) -> \\(x : a) -> { p = @ { q : a } { q = x }, r = @ a x }",
        60,
        "@ Natural 1",
    ),
    "nested_with": lambda: (
        "Natural/fold 1000000 { a : Natural } (\\(r : { a : Natural }) -> r with a = r.a + 1) { a = 0 }"
    ),
    "wide_records": lambda: build_chain(
        "{ a = 1 }", "@ // { " + ", ".join(f"f{number} = 1" for number in range(1000)) + " }", 100, "@"
    ),
    "fold_holding_records": lambda: (
        "Natural/fold 10000000 { n : Natural } (\\(r : { n : Natural }) -> { n = r.n + 1 }) { n = 0 }"
    ),
    "fold_holding_closures": lambda: (
        "Natural/fold 10000000 (Natural -> Natural) (\\(f : Natural -> Natural) -> \\(n : Natural) -> f (n + 1)) "
        "(\\(n : Natural) -> n)"
    ),
    "fold_holding_somes": lambda: (
        "List/length Natural (Natural/fold 10000000 (List Natural) (\\(l : List Natural) -> "
        "List/reverse Natural l # [ 1 ]) [ 1 ])"
    ),
    "tall_but_allowed": lambda: "{ a = " * 900 + "1" + " }" * 900,
    "tall_calls": lambda: (
        "Natural/fold 100000 (Natural -> Natural) (\\(f : Natural -> Natural) -> \\(n : Natural) -> "
        + "1 + (" * 900
        + "f n"
        + ")" * 900
        + ") (\\(n : Natural) -> n) 1"
    ),
    "digits": lambda: "9" * 100_000,
    "lets_in_blocks": lambda: "[ " + ", ".join([build_chain("1", "@", 900, "@")] * 200) + " ]",
    "unary": lambda: "List/length Natural (" + "[ 1 ] # " * 900 + "[ 2 ])",
    "fold_of_records": lambda: (
        "let T = { n : Natural, t : List Text } in "
        'Natural/fold 100000 T (\\(r : T) -> { n = r.n + 1, t = r.t # [ Natural/show r.n ] }) { n = 0, t = [ "" ] }'
    ),
}


def run(name: str) -> str:
    """Evaluate an expression, normalize it and convert it to data; return the error message, or `value`."""
    evaluator, evaluated = Evaluator(), None
    try:
        evaluated = evaluator.evaluate_text(BOMBS[name](), "bomb.dhall")
        normalize(evaluated.value)
        to_data(evaluated.value)
    except DhallError as error:
        (problem,) = error.problems
        has_place = problem.span is not None or evaluated is not None  # the normal form of a value has none
        return problem.message if has_place else f"without a place: {problem.message}"
    return "value"


def measure_peak_megabytes() -> float:
    """Return the largest resident size of this process; macOS counts bytes, Linux kilobytes.

    What Linux counts as its peak begins with that of the process that started it, except in `/proc`.
    """
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text(encoding="utf-8").splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) / 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def main(names: list[str]) -> None:
    outcomes: dict[str, object] = {}
    for name in names or BOMBS:
        start = time.process_time()
        outcomes[name] = {"outcome": run(name), "seconds": round(time.process_time() - start, 2)}
    print(json.dumps({"outcomes": outcomes, "megabytes": measure_peak_megabytes()}))


if __name__ == "__main__":
    main(sys.argv[1:])
