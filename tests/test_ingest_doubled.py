"""Keys that stand twice in a line of a log, and lines with blanks ahead of their objects."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from assay.ingest.manifest import read_notes
from assay.ingest.readers import duplicate_keys, json_lines_tables
from assay.lang.model.package import Unless
from tests.support.ingesting import SOURCE, TICK, event, field, form, read, record

GOOD = record(n=1)
DEEP = event("tick", form([field("n", "integer", "at.n", "a_n", "é", required=False)], new="Tick", old="T"))
OTHER = event("tock", form([field("m")], new="Tock"))


def line(text: str, what: str = "Tick") -> str:
    return f'{{"ts":"2026-02-05T18:52:16Z","what":"{what}","body":{{{text}}}}}'


def told(count: int, first: str, key: str) -> tuple[str, ...]:
    if count == 1:
        return (f"a log line has two values of `{key}`, of which the first counts ({first}).",)
    return (f"{count} log lines have two values of a key, of which the first counts (the first is {first}, two values "
            f"of `{key}`).",)  # fmt: skip


@pytest.mark.parametrize(
    ("twice", "key"),
    [
        ('{"ts":"2026-02-05T18:52:16Z","what":"Tick","body":{"n":2},"ts":"2026-02-05T18:52:17Z"}', "ts"),
        ('{"ts":"2026-02-05T18:52:16Z","what":"Tick","what":"Tock","body":{"n":2}}', "what"),
        ('{"ts":"2026-02-05T18:52:16Z","what":"Tick","body":{"n":2},"body":{"n":3}}', "body"),
        ('{"ts":"2026-02-05T18:52:16Z","what":"Tick","body":{"n":2},"body":null}', "body"),
        (line('"n":2,"n":3'), "body.n"),
        (line('"n":2, "n" : "x"'), "body.n"),
        (line(r'"n":2,"\u006e":3'), "body.n"),
        (line('"n":2,"n":3}   ').replace("}   ", "   "), "body.n"),
        (" \t" + line('"n":2,"n":3'), "body.n"),
        ("\0\0" + line('"n":2,"n":3'), "body.n"),
    ],
)
def test_a_key_that_is_read_and_has_two_values_is_told_and_the_first_counts(
    tmp_path: Path, twice: str, key: str
) -> None:
    made = read(tmp_path, [GOOD, "text", twice, GOOD])
    assert made.rows("tick", "seq", "n") == [(1, 1), (3, 2), (4, 1)]
    padded = [note for note in read_notes(made.folder) if "NUL" in note]
    assert [*read_notes(made.folder)] == [*padded, *told(1, "m-1/out:3", key)]


@pytest.mark.parametrize(
    "twice",
    [
        line('"n":2,"n":2'),
        line('"n":2,"m":3,"m":4'),
        line('"n":2,"in":{"n":3}'),
        line('"n":2,"text":"n"'),
        line(r'"n":2,"text":"\"n\":3 \u00e9"'),
        line('"n":2,"list":[{"n":3},{"n":4}]'),
        line('"n":2,"see":1,"in":{"m":1,"m":2}'),
        line('"n":2,"n":3', "Noise"),
    ],
)
def test_equal_values_other_keys_and_lines_of_no_event_are_not_told(tmp_path: Path, twice: str) -> None:
    made = read(tmp_path, [GOOD, twice])
    assert (read_notes(made.folder), made.rows("quarantine")) == ((), [])


@pytest.mark.parametrize(
    ("twice", "key"),
    [
        (line('"at":{"n":1,"n":2}'), "body.at.n"),
        (line('"at":{"n":1},"at":{"n":2}'), "body.at"),
        (line('"a_n":1,"a_n":2'), "body.a_n"),
        (line('"é":1,"é":2'), "body.é"),
        (line(r'"é":1,"\u00e9":2'), "body.é"),
        ('{"ts":"2026-02-05T18:52:16Z","what":["T"],"what":"x","body":{"a_n":1}}', "what"),
        ('{"ts":"2026-02-05T18:52:16Z","body":{"type":"Lib.T","a_n":1,"type":"x"}}', "body.type"),
        (line('"proof":1,"inner":{"a_n":1,"a_n":2}'), "body.inner.a_n"),
        (line('"proof":1,"inner":{"a_n":1},"inner":{"a_n":2}'), "body.inner"),
    ],
)
def test_every_key_on_the_way_to_what_is_read_is_looked_at(tmp_path: Path, twice: str, key: str) -> None:
    made = read(tmp_path, [line('"a_n":7'), twice, line('"m":1,"m":1', "Tock")], [DEEP, OTHER])
    assert read_notes(made.folder) == told(1, "m-1/out:2", key)
    assert made.rows("tick", "seq") == [(1,), (2,)]


def test_a_key_by_which_lines_are_ruled_out_is_looked_at(tmp_path: Path) -> None:
    ruled = event("tick", form([field("n")], unless=[Unless(("edge",), "no", present=False)], new="Tick"))
    made = read(tmp_path, [line('"n":1,"edge":"yes","edge":"no"')], [ruled])
    assert (read_notes(made.folder), made.rows("tick", "n")) == (told(1, "m-1/out:1", "body.edge"), [(1,)])


def test_records_that_are_their_own_body_are_looked_at(tmp_path: Path) -> None:
    flat = replace(SOURCE, body=(), unwrap=(), lookups=SOURCE.lookups[:1])
    lines = [
        '{"ts":"2026-02-05T18:52:16Z","what":"Tick","n":1,"n":2}',
        '{"what":"Tick","ts":"2026-02-05T18:52:16Z","n":1}',
    ]
    made = read(tmp_path, lines, source=flat)
    assert (read_notes(made.folder), made.rows("tick", "n")) == (told(1, "m-1/out:1", "n"), [(1,), (1,)])


def test_a_log_of_which_nothing_is_wanted_is_read(tmp_path: Path) -> None:
    made = read(tmp_path, [line('"n":1,"n":2')], wanted={})
    assert (read_notes(made.folder), made.log()["recognised"]) == ((), 1)


def test_keys_of_fields_that_are_not_wanted_are_not_told(tmp_path: Path) -> None:
    both = event("tick", form([field("n"), field("m")], new="Tick"))
    made = read(tmp_path, [line('"n":1,"m":2,"m":3')], [both], {"tick": frozenset({"n"})})
    assert read_notes(made.folder) == ()


def test_lines_with_two_values_are_counted_over_hosts_files_and_rounds(tmp_path: Path) -> None:
    """Places are those in the file, also where files are read together, or again out of the batches of a cache."""
    twice, later = line('"n":2,"n":3'), line('"n":2,"n":3').replace(":16Z", ":59Z")
    files = {"m-2/out": f"{twice}\n{twice}\n", "m-1/out1": f"{GOOD}\n", "m-1/out2": f"text\n{later}\n{later}\n"}
    made = read(tmp_path, {name: text.encode() for name, text in files.items()}, [TICK, OTHER])
    assert read_notes(made.folder) == told(4, "m-1/out2:2", "body.n")


@pytest.mark.parametrize("blanks", [" ", "\t", " \r \t", " " * 5000])
def test_blanks_ahead_of_an_object_are_no_part_of_it(tmp_path: Path, blanks: str) -> None:
    """JSON allows them; such lines were taken for texts, and none was told."""
    lines = [GOOD, blanks + record(n=2), blanks + record(n="x"), blanks + GOOD + blanks, blanks + GOOD[:-1], blanks]
    made = read(tmp_path, lines)
    assert made.rows("tick", "seq", "n") == [(1, 1), (2, 2), (4, 1)]
    assert made.rows("quarantine", "line", "reason") == [
        (3, 'field n of tick: expected an integer, found "x"'),
        (5, "not JSON"),
    ]
    log = made.log()
    assert (log["lines"], log["recognised"], log["quarantined"], log["text_lines"]) == (6, 3, 2, 1)


@pytest.mark.parametrize("text", ["  { ncPort = 3001", "  {", "\t{}}", " [{}]", ' "{}"', "\u00a0" + GOOD, "\v" + GOOD])
def test_an_indented_text_that_begins_with_a_brace_is_no_object(tmp_path: Path, text: str) -> None:
    made = read(tmp_path, [text, GOOD])
    assert (made.rows("tick", "seq"), made.rows("quarantine"), made.log()["text_lines"]) == ([(2,)], [], 1)


def test_files_are_ordered_by_objects_with_blanks_ahead_too(tmp_path: Path) -> None:
    later, earlier = record(ts="2026-02-05T18:53:00Z", n=2), record(ts="2026-02-05T18:52:00Z", n=1)
    made = read(tmp_path, {"m-1/out": later.encode(), "m-1/out-1": f" {earlier}\n".encode()})
    assert made.rows("tick", "n") == [(1,), (2,)]


@pytest.mark.usefixtures("large")
def test_of_a_large_file_some_lines_are_asked_chosen_by_their_instants(tmp_path: Path) -> None:
    """Whatever is read beside them: the same lines of the same file, by one worker or two."""
    lines = [line('"n":2,"n":3').replace(":16Z", f":16.{number:09d}Z") for number in range(500)]
    files = {"m-1/out": "\n".join(lines).encode(), "m-2/out": b"\n".join([GOOD.encode()] * 9)}
    found = [read(tmp_path / str(workers), files, workers=workers) for workers in (1, 2)]
    (said,) = read_notes(found[0].folder)
    begins, count, rest = re.split(r"(\d+) log", said, maxsplit=1)
    first = next(number for number in range(11) if (1770317536_000000000 + number) % 11 == 0) + 1
    assert (begins, int(count)) == ("at least ", len(range(first, 501, 11)))
    assert f"(the first is m-1/out:{first}, two values of `body.n`)" in rest
    assert read_notes(found[1].folder) == (said,)


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if files of more than 1000 bytes were large."""
    monkeypatch.setattr(json_lines_tables, "SMALL", 1000)
    monkeypatch.setattr(duplicate_keys, "SMALL", 1000)
