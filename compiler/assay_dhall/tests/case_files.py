"""Cases of the evaluator as files: expressions, each with its type and normal form, or its errors.

A file holds cases separated by lines `---`. The last lines of a case state the result of the expression above them:
`: type` and `= normal form`; or, per error, `! start-end code: message`, then optionally `! expected:`, `! found:`,
`! note:` and `! hint:`. `python -m assay_dhall.tests.case_files` writes the current results.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from assay_dhall import DhallError, Problem, evaluate_text, normalize, print_node

FOLDER = Path(__file__).with_name("cases")
_RESULT = re.compile(r"[:=!] ")


@dataclass(frozen=True, slots=True)
class Case:
    """An expression and the lines that state its result."""

    file: str
    number: int
    expression: str
    result: str


def read_cases(path: Path) -> Iterator[Case]:
    """Yield the cases of a file."""
    for number, block in enumerate(path.read_text(encoding="utf-8").removesuffix("\n").split("\n---\n"), 1):
        lines = block.split("\n")
        start = len(lines)
        while start > 1 and _RESULT.match(lines[start - 1]):
            start -= 1
        yield Case(path.stem, number, "\n".join(lines[:start]), "\n".join(lines[start:]))


def list_cases() -> list[Case]:
    return [case for path in sorted(FOLDER.glob("*.cases")) for case in read_cases(path)]


def format_result(expression: str) -> str:
    """Return the lines that state the result of an expression."""
    try:
        evaluated = evaluate_text(expression, "case.dhall")
    except DhallError as error:
        return "\n".join(line for problem in error.problems for line in _describe(problem))
    type_text = print_node(normalize(evaluated.type))
    return f": {type_text}\n= {print_node(normalize(evaluated.value))}"


def _describe(problem: Problem) -> Iterator[str]:
    span = problem.span
    place = f"{span.line}:{span.column}-{span.end_line}:{span.end_column} " if span else ""
    yield f"! {place}{problem.code}: {problem.message}"
    parts = [("expected", problem.expected), ("found", problem.found)]
    parts += [("note", note) for note in problem.notes] + [("hint", problem.hint)]
    yield from (f"! {name}: {text}" for name, text in parts if text)


def main() -> None:
    for path in sorted(FOLDER.glob("*.cases")):
        blocks = [f"{case.expression}\n{format_result(case.expression)}" for case in read_cases(path)]
        path.write_text("\n---\n".join(blocks) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
