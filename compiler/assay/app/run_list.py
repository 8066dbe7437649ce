"""Read lists of runs: text files with a run, `[NAME=]DIR`, in each line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from assay.remote.address import is_address
from assay.util.diagnostics import USAGE, AssayError, Diagnostic, Span, fail, read_excerpt


def read_run_lists(files: Sequence[Path]) -> tuple[str, ...]:
    """Return the runs of some lists, as on a command line; directories are relative to the file that names them.

    Empty lines, and those that begin with `#`, are left out.

    Raises AssayError (usage) with every line that names no run.
    """
    runs: list[str] = []
    problems: list[Diagnostic] = []
    for file in files:
        for number, line in enumerate(_read_text(file).splitlines(), start=1):
            run = line.strip()
            if not run or run.startswith("#"):
                continue
            name, equals, place = (part.strip() for part in run.partition("="))
            if not equals or is_address(run):
                name, place = "", run
            if not place or (equals and not name and not is_address(run)):
                problems.append(
                    _describe_problem("run-name", "invalid run", file, number, line, expected="NAME=DIR or DIR")
                )
                continue
            located_place = place if is_address(place) else str(file.parent / place)
            if not is_address(place) and not Path(located_place).exists():
                message = f"the run directory does not exist: {located_place}"
                hint = f"paths are relative to {file.parent}"
                problems.append(_describe_problem("no-run", message, file, number, line, hint=hint))
            runs.append(f"{name}={located_place}" if name else located_place)
    if problems:
        raise AssayError(tuple(problems), USAGE)
    return tuple(runs)


def _read_text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        cause = getattr(error, "strerror", "") or str(error)
        raise fail("run-list", f"the list of runs cannot be read: {file}", found=cause, status=USAGE,
                   expected="a text file with NAME=DIR in each line") from None  # fmt: skip


def _describe_problem(
    code: str, message: str, file: Path, number: int, line: str, *, expected: str = "", hint: str = ""
) -> Diagnostic:
    column = len(line) - len(line.lstrip()) + 1
    length = len(line.strip())
    excerpt = read_excerpt(file, number, column, length)
    return Diagnostic(code, message, Span(str(file), number, column, length), excerpt, expected=expected, hint=hint)
