"""Fuzzing that follows which code a case reaches, of what is pure Python: `python -m fuzz.guided TARGET --seconds 120`.

It needs the package `atheris`, which is not among the others: it has wheels for few systems.  Cases that reach
something new are kept under build/guided/, so that the next run goes on from there.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

SEEDS = Path("build/guided")


def _dhall(data: bytes) -> None:
    """Evaluate Dhall: it ends with a value or with problems, within its budget."""
    from assay.dhall import Budget, DhallError, Evaluator, to_data

    text = data.decode("utf-8", "replace")
    with contextlib.suppress(DhallError):
        to_data(Evaluator(budget=Budget(steps=100_000)).evaluate_text(text).value)


def _pattern(data: bytes) -> None:
    """Patterns of lines."""
    from assay.lang import line_pattern

    with contextlib.suppress(line_pattern.PatternError):
        line_pattern.parse(data.decode("utf-8", "replace"))


def _expression(data: bytes) -> None:
    """Expressions of normal forms: what is read shows itself."""
    from assay.lang.model.expression import parse, show

    with contextlib.suppress(ValueError):
        shown = show(parse(data.decode("utf-8", "replace")))
        assert show(parse(shown)) == shown


def _package(data: bytes) -> None:
    """Packages as plain data."""
    from assay.lang import decode
    from assay.util.diagnostics import AssayError

    with contextlib.suppress(AssayError, ValueError, RecursionError):
        decode.package(json.loads(data), "here")


def _number(data: bytes) -> None:
    """Decimal texts."""
    from assay.util.numbers import MAGNITUDE, parse_decimal

    found = parse_decimal(data.decode("utf-8", "replace"))
    assert not found or abs(found.adjusted()) <= MAGNITUDE


def _document(data: bytes) -> None:
    """JSON documents: whatever is read can be written."""
    from assay.util.json_text import parse_json

    with contextlib.suppress(ValueError, RecursionError):
        json.dumps(parse_json(data.decode("utf-8", "replace")), ensure_ascii=False).encode()


def _lines(data: bytes) -> None:
    """Lines of logs: they stand where they are said to, and a mended copy has as many and is UTF-8."""
    from assay.ingest.plain_copies import first_lines, lines_at, mended
    from assay.util.diagnostics import AssayError

    # What begins as if it were packed is an error.
    with tempfile.TemporaryDirectory(prefix="fuzz-") as name, contextlib.suppress(AssayError):
        file = Path(name, "log")
        file.write_bytes(data)
        copy, _ = mended(file, Path(name), "copy")
        text = copy.read_bytes()
        assert text.decode("utf-8").count("\n") == data.count(b"\n")
        pieces, at = data.split(b"\n"), 0
        for line, piece in zip(lines_at(file, range(1, len(pieces) + 1)), pieces, strict=False):
            bare = piece.lstrip(b"\0")  # NUL bytes ahead of a line are no part of it
            assert (line.offset, line.size) == (at + len(piece) - len(bare), len(bare))
            at += len(piece) + 1
        list(first_lines(file, 3))


TARGETS: dict[str, tuple[Callable[[bytes], None], bytes]] = {
    "dhall": (_dhall, b"let x = ./a.dhall in \"${x}\" ++ ''\n  ${x} ''' \n'' -- {- -}"),
    "pattern": (_pattern, b"a {x} b {? {y...} ?}"),
    "expression": (_expression, b'over(as_unit[s](column start), coalesce(1.5 [s = 1/2 m], "a", x.y))'),
    "package": (_package, b'{"system":"a","units":[],"metrics":[{"id":"a","measure":[{"op":"integer"}]}]}'),
    "number": (_number, b"-1.50e-3"),
    "document": (_document, b'{"a":["\\ud83d\\ude00","\\ud800",1e5,null]}'),
    "lines": (_lines, b'\xef\xbb\xbf{"a":1}\r\nx\ry\n\xff\xf4\x8f\xbf\xbf\n\0\0{"b":2}\n\0'),
}


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", choices=list(TARGETS))
    parser.add_argument("--seconds", type=int, default=120)
    given = parser.parse_args()
    try:
        import atheris
    except ImportError:
        sys.exit("fuzz.guided needs the package atheris: pip install atheris")
    run, seed = TARGETS[given.target]
    with atheris.instrument_imports(include=["assay"]), contextlib.suppress(Exception):
        run(seed)  # which imports what it needs
    folder = SEEDS / given.target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "seed").write_bytes(seed)
    limits = [f"-max_total_time={given.seconds}", "-timeout=10", f"-artifact_prefix={folder}/wrong-"]
    atheris.Setup([sys.argv[0], *limits, str(folder)], run)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
