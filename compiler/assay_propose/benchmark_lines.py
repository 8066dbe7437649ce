"""Lines with the results of benchmarks, as `go test -bench` writes them: a name, iterations, and numbers with units."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from assay_propose.known_text_formats import KnownTextFormat, MatchedText
from assay_propose.names import make_identifier

FORMAT = "Go benchmarks"
START = "Benchmark"
EVENT, NAME, ITERATIONS = "result", "benchmark", "iterations"
#: a result: its name, iterations, and pairs of a number and a unit
RESULT = re.compile(rf"{START}(\S*)\s+(\d+)((?:\s+[+-]?\d[\d.e+-]*\s\S+)+)\s*")
_PAIR = re.compile(r"(\S+)\s(\S+)")
_HEADER = re.compile(r"(goos|goarch|pkg|cpu): ")
_MIN_SHARE = 0.5  # of the lines that are results, if the lines above do not say what they are
_PLACES = {"ns/op": "time_per_op", "MB/s": "throughput", "B/op": "bytes_per_op", "allocs/op": "allocs_per_op"}
_IGNORED = ("--- BENCH: *", "FAIL *", "PASS", "cpu: *", "goarch: *", "goos: *", "ok *", "pkg: *")


def match_benchmark_lines(lines: Sequence[str]) -> MatchedText | None:
    """Return the results among lines; None without results, or with few of them and no header."""
    rows, unit_lists = [], []
    for position, line in enumerate(lines):
        if match := RESULT.fullmatch(line):
            pairs = split_pairs(match[3])
            unit_lists.append([unit for _, unit in pairs])
            values = {NAME: match[1], ITERATIONS: match[2]}
            rows.append((position, values | {name_place(unit): number for number, unit in pairs}))
    count = sum(bool(line.strip()) for line in lines)
    has_header = any(map(_HEADER.match, lines))
    if not rows or not (has_header or len(rows) >= _MIN_SHARE * count):
        return None
    positions = {position for position, _ in rows}
    others = tuple(line for index, line in enumerate(lines) if line.strip() and index not in positions)
    item = KnownTextFormat(FORMAT, EVENT, _write_pattern(unit_lists), "", (ITERATIONS,), {}, _IGNORED)
    return MatchedText(item, item.pattern, "", tuple(rows), others)


def split_pairs(text: str) -> list[tuple[str, str]]:
    """Return the numbers of a result, each with its unit."""
    return [(match[1], match[2]) for match in _PAIR.finditer(text)]


def name_place(unit: str) -> str:
    """Return what a number with a unit is called: `p99-ns` is `p99_ns`, `hits/op` is `hits_per_op`."""
    return _PLACES.get(unit) or make_identifier(unit.replace("/", " per "), "value")


def order_units(unit_lists: Iterable[Sequence[str]]) -> list[str]:
    """Return the units of results in an order that the units of each result have, too."""
    ordered: list[str] = []
    for units in unit_lists:
        place = 0
        for unit in units:
            if unit not in ordered:
                ordered.insert(place, unit)
            place = ordered.index(unit) + 1
    return ordered


def _write_pattern(unit_lists: Sequence[Sequence[str]]) -> str:
    """Return the pattern of results; those of other runs may end with other units."""
    parts = []
    for unit in order_units(unit_lists):
        text = unit.replace("{", "{{").replace("}", "}}")
        part = f" {{{name_place(unit)}}} {text}"
        parts.append(part if all(unit in units for units in unit_lists) else f"{{?{part}?}}")
    return f"{START}{{{NAME}}} {{{ITERATIONS}}}{''.join(parts)}{{? {{...}}?}}"
