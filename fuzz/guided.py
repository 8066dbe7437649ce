"""Fuzz one reader of pure Python guided by code coverage: `python -m fuzz.guided TARGET --seconds 120`.

It needs the package `atheris`, which has wheels for few systems and is therefore no dependency. Cases that reach new
code are saved under build/guided/ and are the start of the next run.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

CORPUS = Path("build/guided")


def _evaluate_dhall(data: bytes) -> None:
    """Evaluate Dhall; it must end with a value or an error within its budget."""
    from assay_dhall import Budget, DhallError, Evaluator, to_data

    text = data.decode("utf-8", "replace")
    with contextlib.suppress(DhallError):
        to_data(Evaluator(budget=Budget(steps=100_000)).evaluate_text(text).value)


def _parse_pattern(data: bytes) -> None:
    """Parse a line pattern."""
    from assay.lang import line_pattern

    with contextlib.suppress(line_pattern.PatternError):
        line_pattern.parse_pattern(data.decode("utf-8", "replace"))


def _parse_expression(data: bytes) -> None:
    """Parse an expression of a normal form; printing and parsing it again must give the same text."""
    from assay.lang.model.expression import format_expression, parse_expression

    with contextlib.suppress(ValueError):
        text = format_expression(parse_expression(data.decode("utf-8", "replace")))
        assert format_expression(parse_expression(text)) == text


def _decode_package(data: bytes) -> None:
    """Decode a package from plain data."""
    from assay.lang import decode
    from assay.util.diagnostics import AssayError

    with contextlib.suppress(AssayError, ValueError, RecursionError):
        decode.decode_package(json.loads(data), "here")


def _parse_number(data: bytes) -> None:
    """Parse a decimal; its magnitude must be bounded."""
    from assay.util.numbers import MAGNITUDE, parse_decimal

    number = parse_decimal(data.decode("utf-8", "replace"))
    assert not number or abs(number.adjusted()) <= MAGNITUDE


def _parse_document(data: bytes) -> None:
    """Parse a JSON document; a parsed document must be writable."""
    from assay.util.json_text import parse_json

    with contextlib.suppress(ValueError, RecursionError):
        json.dumps(parse_json(data.decode("utf-8", "replace")), ensure_ascii=False).encode()


def _split_lines(data: bytes) -> None:
    """Split a log into lines; offsets must be exact, and the repaired copy must be UTF-8 with as many lines."""
    from assay.ingest.plain_copies import create_repaired_copy, read_first_lines, read_lines
    from assay.util.diagnostics import AssayError

    # A file that begins like a compressed one is an error.
    with tempfile.TemporaryDirectory(prefix="fuzz-") as name, contextlib.suppress(AssayError):
        file = Path(name, "log")
        file.write_bytes(data)
        copy, _ = create_repaired_copy(file, Path(name), "copy")
        text = copy.read_bytes()
        assert text.decode("utf-8").count("\n") == data.count(b"\n")
        pieces, offset = data.split(b"\n"), 0
        for line, piece in zip(read_lines(file, range(1, len(pieces) + 1)), pieces, strict=False):
            bare = piece.lstrip(b"\0")  # NUL bytes before a line do not belong to it
            assert (line.offset, line.size) == (offset + len(piece) - len(bare), len(bare))
            offset += len(piece) + 1
        list(read_first_lines(file, 3))


TARGETS: dict[str, tuple[Callable[[bytes], None], bytes]] = {
    "dhall": (_evaluate_dhall, b"let x = ./a.dhall in \"${x}\" ++ ''\n  ${x} ''' \n'' -- {- -}"),
    "pattern": (_parse_pattern, b"a {x} b {? {y...} ?}"),
    "expression": (_parse_expression, b'over(as_unit[s](column start), coalesce(1.5 [s = 1/2 m], "a", x.y))'),
    "package": (_decode_package, b'{"system":"a","units":[],"metrics":[{"id":"a","measure":[{"op":"integer"}]}]}'),
    "number": (_parse_number, b"-1.50e-3"),
    "document": (_parse_document, b'{"a":["\\ud83d\\ude00","\\ud800",1e5,null]}'),
    "lines": (_split_lines, b'\xef\xbb\xbf{"a":1}\r\nx\ry\n\xff\xf4\x8f\xbf\xbf\n\0\0{"b":2}\n\0'),
}


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", choices=list(TARGETS))
    parser.add_argument("--seconds", type=int, default=120)
    options = parser.parse_args()
    try:
        import atheris
    except ImportError:
        sys.exit("error: fuzz.guided needs the package atheris; install it with `pip install atheris`")
    run, seed = TARGETS[options.target]
    with atheris.instrument_imports(include=["assay", "assay_dhall"]), contextlib.suppress(Exception):
        run(seed)  # imports the code to instrument
    folder = CORPUS / options.target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "seed").write_bytes(seed)
    limits = [f"-max_total_time={options.seconds}", "-timeout=10", f"-artifact_prefix={folder}/failed-"]
    atheris.Setup([sys.argv[0], *limits, str(folder)], run)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
