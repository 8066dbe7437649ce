"""Test the scanner against the engine: same rows, and everything works without it."""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from assay.ingest import scanner
from assay.ingest.event_forms import group_required_forms, number_forms
from assay.ingest.field_sql import find_integer_paths
from assay.ingest.readers import json_lines_worker
from assay.ingest.readers.json_lines_worker import Tables
from assay.ingest.recognition import Recognition
from assay.ingest.scanner import FilePart, encode_files, encode_lines
from assay.lang.model.package import Event, Lookup, Quarantine, Source, Transform, Unless
from fuzz.mutate import mutate
from tests.compare_reference import CARDANO
from tests.ingest.test_corrupted_lines import read_real_lines
from tests.ingest.test_events_of_runs import load_package
from tests.support.commands import run_assay
from tests.support.ingesting import (
    SOURCE,
    IngestedFolder,
    build_event,
    build_field,
    build_fixed_field,
    build_form,
    format_record,
    ingest_log,
)
from tests.support.laboratory import ROOT


def find_cargo() -> str | None:
    """Skip unless a Rust compiler works: a command of this name may be a proxy for an absent one."""
    cargo = shutil.which("cargo")
    is_working = cargo and subprocess.run([cargo, "--version"], capture_output=True, check=False).returncode == 0
    return cargo if is_working else None


CARGO = find_cargo()
#: number of random variants; `just fuzz` runs more
TIMES = int(os.environ.get("ASSAY_FUZZ_EXAMPLES", "2"))
PLUS = Transform("plus", 2, "")
EVENTS = (
    build_event(
        "tick",
        build_form(
            [
                build_field("n"),
                build_field("m", "unsigned", "m", "deep.m", default="7"),
                build_field("moved", "integer", "moved", default="1", transforms=[PLUS]),
                build_field("share", "real", default="0.5"),
                build_field("said", "text", "said", "deep", default=""),
                build_field("on", "boolean", default="false"),
            ],
            [Unless(("off",), "true", False), Unless(("gone",), "", True)],
            new="Tick",
            old="a.Tick",
            oldest="LibTick",
        ),
        build_form(
            [
                build_field("n", "integer", "count"),
                build_field("m", "unsigned"),
                build_fixed_field("moved", "integer", "3"),
                build_fixed_field("share", "real", "1.5"),
                build_field("said", "text", default="x"),
                build_fixed_field("on", "boolean", "true"),
            ],
            new="Tock",
        ),
    ),
    build_event("other", build_form([build_field("n", "text", "n")], old="Other")),
    build_event("bare", build_form([], new="Bare")),
)

pytestmark = pytest.mark.usefixtures("with_scanner")
needs_scanner = pytest.mark.skipif(
    not scanner.is_available(), reason="the scanner was not built: no Rust compiler is there"
)


def test_scanner_is_built_where_a_compiler_exists() -> None:
    assert scanner.is_available() or not CARGO


def find_memory_checker() -> dict[str, str]:
    """Return the environment in which Cargo runs tests under a memory checker; empty if there is none.

    AddressSanitizer comes with most compilers, though not as a stable option; it finds leaks, too.
    """
    facts = subprocess.run(["rustc", "-vV", "--print", "sysroot"], capture_output=True, text=True, check=True).stdout
    (host,) = re.findall(r"^host: (.+)$", facts, re.MULTILINE)
    if [*Path(facts.splitlines()[-1]).glob(f"lib/rustlib/{host}/lib/librustc-*_rt.asan.*")]:
        return {"RUSTC_BOOTSTRAP": "1", "RUSTFLAGS": "-Zsanitizer=address", "CARGO_BUILD_TARGET": host}
    if shutil.which("valgrind"):
        command = "valgrind --quiet --leak-check=full --errors-for-leak-kinds=definite,indirect --error-exitcode=9"
        return {f"CARGO_TARGET_{host.upper().replace('-', '_')}_RUNNER": command, "CARGO_BUILD_TARGET": host}
    return {}


@pytest.mark.skipif(not CARGO, reason="no Rust compiler is there")
def test_native_tests_pass_under_memory_checker() -> None:
    assert CARGO
    manifest = str(ROOT / "native" / "Cargo.toml")
    result = subprocess.run(
        [CARGO, "test", "--locked", "--offline", "--quiet", "--manifest-path", manifest, "--lib"],
        capture_output=True, text=True, check=False, env={**os.environ, **find_memory_checker()},
    )  # fmt: skip
    assert result.returncode == 0, result.stdout + result.stderr
    assert " passed; 0 failed" in result.stdout


def disable_scanner(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scanner, "_load_library", lambda _: None)


def read_all_output(ingested: IngestedFolder, events: Sequence[Event]) -> dict[str, Any]:
    """Return everything that ingest wrote, as data."""
    tables = [*(item.name for item in events), "logs", "counts", "quarantine", "unknown"]
    facts = json.loads((ingested.folder / "ingest.json").read_text(encoding="utf-8"))
    return {table: ingested.read_rows(table) for table in tables} | {
        "facts": facts,
        "bytes": (ingested.folder / "unknown.parquet").read_bytes(),
    }


def read_both_ways(
    folder: Path,
    files: Mapping[str, bytes],
    monkeypatch: pytest.MonkeyPatch,
    events: Sequence[Event] = EVENTS,
    source: Source = SOURCE,
) -> dict[str, Any]:
    """Ingest files with and without the scanner, and check that the results are equal."""
    source = type(source)(
        **{name: getattr(source, name) for name in source.__dataclass_fields__} | {"quarantine": Quarantine(1.0, 10)}
    )
    with monkeypatch.context() as patch:
        disable_scanner(patch)
        expected = read_all_output(ingest_log(folder / "engine", files, events, source=source), events)
    scanner_output = read_all_output(ingest_log(folder / "scanner", files, events, source=source), events)
    for table, rows in expected.items():
        assert scanner_output[table] == rows, table
    return scanner_output


@pytest.fixture
def lines_set_aside(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Record how many lines the scanner leaves to the engine, per call."""
    counts: list[int] = []
    real_fill = Tables.recognize_aside_lines

    def count_filled(self: Tables, connection: Any, files: Any, rows: Any) -> Any:
        result = real_fill(self, connection, files, rows)
        counts.append(len(result[1]))
        return result

    monkeypatch.setattr(Tables, "recognize_aside_lines", count_filled)
    return counts


#: values in JSON notation
VALUES = [
    "0", "-1", "7", "-0", "01", "1.0", "1.50", "1e3", "-2.5", "0.1", "0.000001", "1e400", "123456789012345678",
    "1234567890123456789", "18446744073709551615", "99999999999999999999", "0.04987654321012345", "1234567890123456.5",
    "0.30000000000000004", "1e21", "123456789012345680000.0", "-0.0", "null", "true", "false", "tru", "NaN", "Infinity",
    '"5"', '"x"', '""', '"1.0"', '" 5"', r'"\u0035"', r'"a\nb"', r'"\ud83d\ude00"', r'"\ud800"', '"é"', '"\\/"',
    '"[1]"', "[]", "[1,2]", "[ 1 ]", '["a","b"]', "{}", '{"m":3}', '{"m": 3}', '{"m":3,"m":4}', '{"m":1.50}',
    '"Lib.New"', '{"x":"\\u0041"}', '{"z":[{"m":1}]}', "\x01", '"\t"', '"\x7f"', "1 2", "1,", '"', "",
]  # fmt: skip
KEYS = ["n", "m", "moved", "share", "said", "on", "off", "gone", "deep", "count", "type", "proof", "inner", "other"]
NAMES = ['"Tick"', '"Tock"', '"Bare"', '"Lib.Tick"', '"a.Tick"', '"Other"', '"LibTick"', '"Nothing"', '["a","Tick"]',
         '["Tick"]', "[]", '["a", "Tick"]', '["a",null,"Tick"]', '["a",1]', '"[Tick]"', "1", "null", "true",
         r'"\u0054ick"',
         '{"a":1}', f'"Long{"é" * 250}"', f'["Long","{"y" * 300}"]', '"Lib.Other"']  # fmt: skip
TIMES_OF_DAY = ["2026-02-05T18:52:16Z", "2026-02-05T18:52:16.5Z", "2026-02-05T18:52:16.123456789Z",
                "2026-02-05T18:52:16.1234567891Z", "2026-02-05 18:52:16Z", "2026-02-05T18:52:16+01:00",
                "2026-02-05 18:52:16,25-0330", "2026-02-05T18:52:16,25Z", "2026-02-05T18:52:16 +01:00",
                "2026-02-05T18:52:16.5", "2026-02-05T18:52:16-16:00", "1970-01-01T00:00:00.1+15:59",
                "2026-02-30T00:00:00Z", "2026-02-30T00:00:00+00:00", "2026-02-05T18:52:16.1234567891+01:00",
                "1969-12-31T23:59:59.5Z", "2024-02-29T23:59:60Z", "", "9999-01-01T00:00:00Z"]  # fmt: skip


def generate_body(random: Random) -> str:
    keys = ["n"] * (random.random() < 0.9) + random.choices(KEYS, k=random.randint(0, 4))
    return "{" + ",".join(f'"{key}":{generate_value(random)}' for key in keys) + "}"


def generate_value(random: Random) -> str:
    nested = random.random()
    if nested < 0.05:
        return generate_body(random)
    return str(random.randint(-5, 5)) if nested < 0.8 else random.choice(VALUES)


def generate_line(random: Random) -> str:
    """Return a random line; each property is ordinary often enough."""
    time_text = TIMES_OF_DAY[0] if random.random() < 0.8 else random.choice(TIMES_OF_DAY)
    name = '"Tick"' if random.random() < 0.5 else random.choice(NAMES)
    members = [
        f'"ts":"{time_text}"',
        f'"what":{name}',
        f'"body":{generate_body(random) if random.random() < 0.9 else generate_value(random)}',
    ]
    if random.random() < 0.2:
        random.shuffle(members)
    if random.random() < 0.1:
        members.append(random.choice(members))
    if random.random() < 0.1:
        members[random.randrange(len(members))] = generate_value(random)
    text = "{" + ",".join(members) + "}"
    return random.choice([text] * 9 + [f" {text}", f"{text} ", f"{text}x", "text", "", "\t{", text[:-1], f"é {text}"])


@needs_scanner
@pytest.mark.parametrize("seed", range(TIMES * 3))
def test_strange_values_give_same_rows(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(seed)
    line_ends = {
        "m-1/out": ["\n"],
        "m-1/out.1": ["\r\n"],
        "m-2/out": ["\n"] * 50 + ["\r\n"],
        "m-2/out.1": ["\r\n", "\n"],
    }
    files = {
        name: "".join(f"{generate_line(random)}{random.choice(ends)}" for _ in range(400)).encode()
        for name, ends in line_ends.items()
    }
    source = replace(SOURCE, zone=random.choice(["", "Z", "+05:30", "-08:00"]))
    actual = read_both_ways(tmp_path, files, monkeypatch, source=source)
    assert len(actual["tick"]) > 100
    assert len(actual["quarantine"]) > 20
    assert len({name for _, name, *_ in actual["unknown"]}) > 10


@needs_scanner
@pytest.mark.parametrize("seed", range(TIMES * 2))
def test_similar_lines_give_same_rows(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The scanner remembers lines, and reads only the values of similar ones."""
    random = Random(seed)
    shapes = [generate_line(random) for _ in range(30)] + [
        format_record(n=0, m=1, said="x", share=0.5, on=True),
        format_record("Bare", z=[1]),
    ]
    values = [*VALUES, *(str(number) for number in range(40)), *(f'"{number}"' for number in range(40))]

    def vary_values(text: str) -> str:
        return re.sub(r'(?<=[:\[,])("[^"{}]*"(?!:)|-?[0-9.]+|true|false|null)',
                      lambda match: random.choice(values) if random.random() < 0.2 else match[0], text)  # fmt: skip

    files = {
        f"m-{host}/out": "".join(f"{vary_values(random.choice(shapes))}\n" for _ in range(1500)).encode()
        for host in (1, 2)
    }
    match = read_both_ways(tmp_path, files, monkeypatch)
    assert len(match["tick"]) > 50


@needs_scanner
@pytest.mark.parametrize("seed", range(TIMES * 4))
def test_broken_bytes_give_same_rows(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(seed)
    whole_lines = [f"{format_record(n=number, m=number, said='x' * number)}\n".encode() for number in range(20)]
    files = {}
    for host in range(6):
        lines = random.choices(whole_lines, k=60)
        for _ in range(random.choice([0, 1, 5])):
            lines.insert(random.randrange(60), mutate(random, whole_lines))
        files[f"m-{host}/out"] = b"".join(lines)
    actual = read_both_ways(tmp_path, files, monkeypatch)
    assert len(actual["tick"]) > 100


@needs_scanner
@pytest.mark.parametrize("seed", range(TIMES))
def test_logs_of_real_nodes_give_same_rows(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(seed)
    source = load_package().package.sources[0]
    events = [item for item in load_package().package.events if item.source == source.name]
    files = {}
    for host in range(4):
        lines = random.choices(read_real_lines(), k=500)
        lines[::50] = (mutate(random, read_real_lines()) for _ in lines[::50])
        files[f"node-{host}/stdout"] = b"\n".join(lines) + random.choice([b"", b"\n", b"\n\n"])
    actual = read_both_ways(tmp_path, files, monkeypatch, events, source)
    assert sum(len(actual[event.name]) for event in events) > 100


@needs_scanner
@pytest.mark.parametrize("case", ["baseline", "legacy", "list-ns", "edges"])
def test_nearly_all_lines_of_runs_are_plain(case: str) -> None:
    """Otherwise the scanner would be useless: names of all generations, lists, wrapped bodies."""
    source = load_package().package.sources[0]
    events = [item for item in load_package().package.events if item.source == source.name]
    recognition = Recognition(
        source, number_forms(events, {e.name: frozenset(f.name for f in e.fields) for e in events})
    )
    message = encode_lines(recognition)
    path = next((CARDANO / case / "run").glob("node-*/*.gz"))
    with tempfile.NamedTemporaryFile() as plain_file:
        plain_file.write(gzip.decompress(path.read_bytes()))
        plain_file.flush()
        assert message
        scan = scanner.scan(encode_files([FilePart(Path(plain_file.name), 0, plain_file.tell())], 2**40) + message, 1)
    assert scan
    (file,) = scan.files
    assert file.lines > 500
    assert (file.is_strange, scan.odd_count < file.lines / 100) == (False, True), scan.odd_count


@needs_scanner
def test_scanner_can_be_disabled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_SCANNER", "off")
    monkeypatch.setattr(scanner, "_load_library", lambda _: pytest.fail("it is asked"))
    assert ingest_log(tmp_path, [format_record(n=1)]).read_rows("tick", "n") == [(1,)]


@needs_scanner
def test_only_odd_lines_are_left_to_the_engine(tmp_path: Path, lines_set_aside: list[int]) -> None:
    lines = [format_record(n=number) for number in range(500)]
    lines[100] = format_record(n=1).replace("1}", "1.0}")
    lines[200] = "{"
    ingested = ingest_log(tmp_path, lines)
    assert lines_set_aside == [2]
    assert [row[0] for row in ingested.read_rows("tick", "n")] == [*range(100), 1, *range(101, 200), *range(201, 500)]
    assert ingested.read_rows("tick", "seq")[100:102] == [(101,), (102,)]
    assert ingested.read_rows("quarantine", "line", "reason") == [(201, "not JSON")]


@needs_scanner
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("time_text", "zone"),
    [
        ("2026-02-05T18:52:16.5+01:00", ""),
        ("2026-02-05T14:22:16.5-0330", ""),
        ("2026-02-05 17:52:16,500", "Z"),
        ("2026-02-05T22:22:16.500", "+04:30"),
    ],
)
def test_offsets_and_line_ends_are_read_by_the_scanner(
    time_text: str, zone: str, end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Tables, "recognize_aside_lines", lambda *_: pytest.fail("lines are set aside"))
    monkeypatch.setattr(Tables, "fill", lambda *_: pytest.fail("the engine reads the file"))
    content = f"{format_record(ts=time_text, n=1)}{end}".encode() * 3
    ingested = ingest_log(tmp_path, content, source=replace(SOURCE, zone=zone))
    assert ingested.read_rows("tick", "t_ns") == [(1_770_313_936_500_000_000,)] * 3


@needs_scanner
def test_file_with_many_odd_lines_is_left_to_the_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Tables, "recognize_aside_lines", lambda *_: pytest.fail("lines are set aside"))
    odd_line = (format_record(n=1, said="x" * 1000).replace(":1,", ": 1.0,") + "\n").encode()
    plain_line = (format_record(n=2) + "\n").encode()
    ingested = ingest_log(tmp_path, plain_line * 10 + odd_line * 2000)
    assert len(ingested.read_rows("tick", "n")) == 2010


@needs_scanner
def test_rows_of_several_pieces_are_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines_set_aside: list[int]
) -> None:
    """A piece has 8192 rows. If one of the last lines of a file is strange, its rows are dropped from several pieces.

    Lines that are set aside may fill several pieces, too.
    """
    plain_lines = [
        format_record(n=number, said="x" * (number % 3)) if number % 5 else format_record(n=number)
        for number in range(10_000)
    ]
    odd_lines = [format_record(n=number).replace(f"{number}}}", f"{number}.0}}") for number in range(9000)]
    many_lines = plain_lines * 4
    mixed_lines = [
        item for index, line in enumerate(odd_lines) for item in (*many_lines[index * 4 : index * 4 + 4], line)
    ]
    files = {
        "m-1/out.3": plain_lines,
        "m-1/out.2": [*plain_lines, *plain_lines, format_record(n=1) + "\r"],
        "m-1/out.1": plain_lines,
        "m-1/out": mixed_lines,
    }
    texts = {name: "".join(f"{line}\n" for line in lines).encode() for name, lines in files.items()}
    actual = read_both_ways(tmp_path, texts, monkeypatch, EVENTS[:1])
    assert len(actual["tick"]) == 4 * 10_000 + 1 + 5 * 9000
    assert lines_set_aside == [9000]
    assert not actual["quarantine"]


@needs_scanner
@pytest.mark.parametrize("limit", [0, 200_000, 500_000, 10**9])
@pytest.mark.parametrize("workers", [1, 2])
def test_files_beyond_memory_limit_are_read_later(
    limit: int, workers: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine, which can use a disk, reads the part of a file beyond a worker's limit."""
    monkeypatch.setattr(json_lines_worker, "SCANNER_MEMORY", limit)
    engine_indices: list[int] = []
    real_fill = json_lines_worker._Reading.recognize_files

    def record_indices(self: Any, indices: Sequence[int]) -> Any:
        engine_indices.extend(indices)
        return real_fill(self, indices)

    monkeypatch.setattr(json_lines_worker._Reading, "recognize_files", record_indices)
    files = {
        f"m-{host}/out{part}": "".join(
            f"{format_record(n=number, said='x' * host)}\n" for number in range(500)
        ).encode()
        for host in range(1, 9)
        for part in ("", ".1")
    }
    ingested = ingest_log(tmp_path, files, EVENTS, workers=workers)
    rows = ingested.read_rows("tick", "host", "seq", "n")
    assert len(rows) == 16 * 500
    assert [row[2] for row in rows] == [*range(500)] * 16
    assert [row[1] % 2**40 for row in rows] == [*range(1, 501)] * 16
    assert ingested.read_rows("logs", "host", "lines") == [(f"m-{host}", 1000) for host in range(1, 9)]
    assert len(engine_indices) == (16 if limit == 0 else 0)


@needs_scanner
@pytest.mark.parametrize(
    "other",
    [
        {"time_form": "ms"},
        {"time": ("ts", "0")},
        {"lookups": (Lookup(("what",), False, "[", "new"),)},
        {"time": ()},
    ],
)
def test_unsupported_recognition_disables_the_scanner(other: dict[str, Any]) -> None:
    source = type(SOURCE)(**{name: getattr(SOURCE, name) for name in SOURCE.__dataclass_fields__} | other)
    wanted = {"tick": frozenset({"n"})}
    assert encode_lines(Recognition(SOURCE, number_forms(EVENTS, wanted)))
    assert encode_lines(Recognition(source, number_forms(EVENTS, wanted))) is None


@needs_scanner
def test_event_with_too_many_keys_is_left_to_the_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wide_event = build_event(
        "tick", build_form([build_field(f"f{number}", default="0") for number in range(200)], new="Tick")
    )
    actual = read_both_ways(
        tmp_path, {"m-1/out": f"{format_record(f0=1, f199=2)}\n".encode()}, monkeypatch, [wide_event]
    )
    (row,) = actual["tick"]
    assert (row[4], row[203], len(row)) == (1, 2, 4 + 2 * 200)  # after the fields: which of them are defaults


@needs_scanner
def test_malformed_message_does_not_crash() -> None:
    valid_message = encode_files([], 2**40) + (encode_lines(Recognition(SOURCE, number_forms(EVENTS, {}))) or b"")
    assert scanner.scan(valid_message, 0)
    random = Random(1)
    for _ in range(2000):
        cut = random.randrange(len(valid_message))
        damaged_message = bytearray(valid_message[:cut] if random.random() < 0.3 else valid_message)
        for _ in range(random.randint(1, 4)):
            if damaged_message:
                damaged_message[random.randrange(len(damaged_message))] = random.choice([0, 1, 2, 127, 255])
        scan = scanner.scan(bytes(damaged_message), 0)
        if scan:
            scan.close()


@needs_scanner
def test_deleted_or_shortened_file_is_reported_as_strange(tmp_path: Path) -> None:
    message = encode_lines(Recognition(SOURCE, number_forms(EVENTS, {})))
    path = tmp_path / "log"
    path.write_text(f"{format_record(n=1)}\n", encoding="utf-8")
    assert message
    size = path.stat().st_size
    parts = [
        FilePart(path, 0, size),
        FilePart(path, 0, size + 1),
        FilePart(tmp_path / "none", 0, 5),
        FilePart(tmp_path, 0, 5),
    ]
    scan = scanner.scan(encode_files(parts, 2**40) + message, len(parts))
    assert scan
    assert [file.is_strange for file in scan.files] == [False, True, True, True]


def test_library_of_other_version_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scanner, "VERSION", scanner.VERSION + 1)
    scanner._load_library.cache_clear()
    try:
        assert not scanner.is_available()
    finally:
        scanner._load_library.cache_clear()


def test_file_that_is_no_library_is_ignored(tmp_path: Path) -> None:
    (tmp_path / scanner.NAME).write_bytes(b"no library")
    assert scanner._load_library(tmp_path / scanner.NAME) is None


def test_path_read_as_text_by_any_field_is_text() -> None:
    event_of_one_form = build_event(
        "e",
        build_form([build_field("a"), build_field("b", "unsigned", "b", "c"), build_field("t", "text", "c")], new="E"),
    )
    event_of_two_forms = build_event(
        "e", build_form([build_field("a")], new="E"), build_form([build_field("a", "integer", "z")], new="F")
    )
    cut = build_event(
        "e",
        build_form(
            [build_field("a", "integer", "a", transforms=[Transform("take", 3, "")]), build_field("b")], new="E"
        ),
    )

    def list_whole_paths(item: Event) -> set[tuple[str, ...]]:
        wanted = {"e": frozenset(item_field.name for item_field in item.fields)}
        (wanted_event,) = group_required_forms(number_forms([item], wanted))
        return set(find_integer_paths(wanted_event))

    assert list_whole_paths(event_of_one_form) == {("a",)}
    assert list_whole_paths(event_of_two_forms) == {("a",), ("z",)}
    assert list_whole_paths(cut) == {("b",)}


def test_missing_scanner_is_noted_once_for_large_logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = ("ingest", CARDANO / "tiny/plain/run", CARDANO / "list-ns/run", "--system", "cardano", "--cache")
    monkeypatch.setattr("assay.ingest.scanner.LIBRARY_PATH", tmp_path / "none.so")
    assert "scanner" not in run_assay(*command, tmp_path / "small").err
    monkeypatch.setattr("assay.app.session.ingester.SLOW", 1)
    assert run_assay(*command, tmp_path / "large").err.count("without its native scanner") == 1
    assert "scanner" not in run_assay(*command, tmp_path / "large").err  # nothing is read
    monkeypatch.setenv("ASSAY_SCANNER", "off")
    assert "scanner" not in run_assay(*command, tmp_path / "off").err
