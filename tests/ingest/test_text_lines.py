"""Text logs: unwanted events, broken files, long lines, and counts against plain Python."""

from __future__ import annotations

import gzip
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.ingest.manifest import has_required_events, hash_recognition
from assay.lang.model.package import Event, Form, Name, Quarantine, Source
from assay.util.diagnostics import AssayError
from tests.support.ingesting import SOURCES, IngestedFolder, build_field, format_error, ingest_log

LINES = SOURCES["text-lines"]
TIME_TEXT = "2022-09-08T17:22:36.707"


def create_form(fields: Sequence[Any], *patterns: str) -> Form:
    return Form(tuple(Name("log", pattern) for pattern in patterns), (), tuple(fields))


def create_event(name: str, *forms: Form) -> Event:
    return Event(name, LINES.name, forms, "")


TICK = create_event("tick", create_form([build_field("n")], "Tick {n}"))


def format_line(message: str, time: str = TIME_TEXT, level: str = "info ") -> str:
    return f"{level} {time} ] {message}"


def ingest_files(
    folder: Path,
    lines: Sequence[str] | bytes | Mapping[str, bytes],
    events: Sequence[Event] = (TICK,),
    source: Source = LINES,
    wanted: Mapping[str, frozenset[str]] | None = None,
) -> IngestedFolder:
    if not isinstance(lines, (bytes, Mapping)):
        lines = "".join(f"{text}\n" for text in lines).encode()
    return ingest_log(folder, {"m-1/out": lines} if isinstance(lines, bytes) else lines, events, wanted, source)


def read_refusal(folder: Path, lines: Any, **options: Any) -> str:
    with pytest.raises(AssayError) as error:
        ingest_files(folder, lines, **options)
    assert [path.name for path in folder.iterdir()] == ["run"]
    return format_error(error.value, folder)


def test_unwanted_text_events_are_counted_not_written(tmp_path: Path) -> None:
    tock = create_event("tock", create_form([build_field("n")], "Tock {n}"))
    ingested = ingest_files(
        tmp_path, [format_line("Tick 1"), format_line("Tock 2")], [TICK, tock], wanted={"tock": frozenset(("n",))}
    )
    assert ingested.read_rows("counts", "event", "n") == [("tick", 1), ("tock", 1)]
    assert [path.name for path in (ingested.folder / "events").iterdir()] == ["tock"]
    assert has_required_events(ingested.folder, LINES, [TICK, tock], {"tock": frozenset(("n",))})
    assert not has_required_events(ingested.folder, LINES, [TICK, tock], {"tick": frozenset(("n",))})
    assert not has_required_events(
        ingested.folder, replace(LINES, zone="+01:00"), [TICK, tock], {"tock": frozenset(("n",))}
    )


def test_truncated_text_log_is_an_error(tmp_path: Path) -> None:
    content = gzip.compress(f"{format_line('Tick 1')}\n".encode() * 100)[:-9]
    assert read_refusal(tmp_path, {"m-1/out.gz": content}) == (
        "error[broken-file]: the log file cannot be read to its end: DIR/run/m-1/out.gz\n"
        "  found:    the compressed data ends before the content\n"
        "  hint: is it cut off, or still being written? `zcat out.gz > out` saves the readable part; "
        "then move out.gz out of the run"
    )


MESSAGES = st.one_of(
    st.integers(-(2**63), 2**63 - 1).map(lambda n: ("tick", n, f"Tick {n}")),
    st.sampled_from(["Tick", "Tick x", "Tick 1 1", "Tick  "]).map(lambda text: ("broken", None, text)),
    st.sampled_from(["Tock 1", "tick 1", "x Tick 1", "-"]).map(lambda text: ("other", None, text)),
)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.one_of(MESSAGES, st.just(("text", None, ""))), min_size=1, max_size=12))
def test_each_line_is_counted_once(tmp_path_factory: pytest.TempPathFactory, items: list[tuple[str, Any, str]]) -> None:
    lines = [format_line("Tick 0"), *(format_line(text) if kind != "text" else "a ] b" for kind, _, text in items)]
    ingested = ingest_files(
        tmp_path_factory.mktemp("lines"), lines, source=replace(LINES, quarantine=Quarantine(1.0, 10))
    )
    ticks = [(seq, n) for seq, (kind, n, _) in enumerate(items, start=2) if kind == "tick"]
    assert ingested.read_rows("tick", "seq", "n") == [(1, 0), *ticks]
    numbers = [kind for kind, _, _ in items]
    log = ingested.read_log()
    assert log["lines"] == len(lines)
    assert log["quarantined"] == numbers.count("broken")
    assert log["text_lines"] == numbers.count("text")
    assert log["recognised"] == 1 + numbers.count("tick")
    assert [number for (number,) in ingested.read_rows("quarantine", "line")] == [
        seq for seq, (kind, _, _) in enumerate(items, start=2) if kind == "broken"
    ]


def test_long_event_is_broken_other_lines_are_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("plain_copies", "readers.lines", "quarantine"):
        monkeypatch.setattr(f"assay.ingest.{module}.LONGEST", 2**16)
    rest_event = create_event(
        "tick",
        create_form([build_field("n"), build_field("rest", "text", required=False)], "Tick {n} {rest...}", "Tick {n}"),
    )
    long_lines = [format_line("Tick 2 " + "x" * 2**16), format_line("other " + "x" * 2**17), "x" * 2**16]
    ingested = ingest_files(tmp_path, [format_line("Tick 1"), *long_lines, format_line("Tick 3")], (rest_event,))
    assert ingested.read_rows("tick", "seq", "n") == [(1, 1), (5, 3)]
    assert [row[1:4] for row in ingested.read_quarantine()] == [("m-1/out", 2, "longer than 8 MiB")]
    assert (ingested.read_log()["lines"], ingested.read_log()["quarantined"]) == (5, 1)


def test_giant_last_line_of_a_text_log_is_not_lost(tmp_path: Path) -> None:
    """The engine would silently drop it."""
    content = f"{format_line('Tick 5')}\n{format_line('Tick 6 ')}".encode() + b"x" * 200_000_000
    tolerant_lines = replace(LINES, quarantine=replace(LINES.quarantine, share=1.0))
    log = ingest_log(tmp_path, {"m-1/out": content}, (TICK,), None, tolerant_lines).read_log()
    assert (log["lines"], log["recognised"], log["quarantined"]) == (2, 1, 1)


@pytest.mark.parametrize(("line", "is_same"), [(LINES.line, False), ("", True)], ids=["with a head", "whole lines"])
def test_logs_are_read_again_where_ignored_names_count(line: str, is_same: bool) -> None:
    """Ignored names decide which lines without a head are malformed; elsewhere they only change what is reported."""
    source = replace(LINES, line=line)
    hashes = [hash_recognition(replace(source, ignored=names), [TICK]) for names in ((), ("Number of*",))]
    assert (hashes[0] == hashes[1]) == is_same
