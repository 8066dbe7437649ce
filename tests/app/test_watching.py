"""Test `assay watch`: it notices every change of an input, and only the user ends it."""

from __future__ import annotations

import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.commands import run_assay
from tests.support.laboratory import ROOT
from tests.support.workspaces import edit_file

PATIENCE = 60.0
BUILT = re.compile(r"build/live/report\.pdf")
SUMMARY = re.compile(r"\d worse, .*; \d+\.\d s")
METRICS = "specs/service/metrics.dhall"


@dataclass(frozen=True)
class Watch:
    """A running `assay watch`: its process and its output lines."""

    place: Path
    process: subprocess.Popen[bytes]
    output_lines: queue.Queue[str]

    def read_line(self) -> str:
        """Return the next nonempty line."""
        return self.output_lines.get(timeout=PATIENCE)

    def read_build(self) -> None:
        """Wait for the two lines of a build without messages."""
        assert BUILT.fullmatch(line := self.read_line()), line
        assert SUMMARY.fullmatch(line := self.read_line()), line

    def wait_for_build(self) -> None:
        """Wait for a report without messages, and compare it with one built by a new process."""
        self.read_build()
        code = self.process.poll()
        assert code is None
        new_build = self.place / "build" / "fresh"
        for folder in (new_build, self.place / "fresh-cache"):
            shutil.rmtree(folder, ignore_errors=True)
        runs = ("--run", "v=1.0", "--run", "runs/1.1")
        result = run_assay(
            "build", "service/comparison", *runs, "-o", new_build, "--cache", self.place / "fresh-cache", cwd=self.place
        )
        assert result.status == 0, result.err
        for name in ("document.json", "results.json", "specs.json", "report.pdf"):
            assert (self.place / "build/live" / name).read_bytes() == (new_build / name).read_bytes(), name

    def wait_for_error(self) -> str:
        """Wait for an error; return its first line."""
        first = self.read_line()
        assert first.startswith("error["), first
        return first

    def skip_message(self) -> None:
        """Consume the rest of an error message."""
        while True:
            try:
                line = self.output_lines.get(timeout=0.5)
            except queue.Empty:
                return
            assert not BUILT.fullmatch(line), line


@pytest.fixture
def watch(tmp_path: Path) -> Iterator[Watch]:
    """Start `assay watch` in a workspace with its own templates; its run has `=` in its name and a linked host."""
    assert run_assay("init", tmp_path / "ws").status == 0
    place = tmp_path / "ws"
    shutil.copytree(ROOT / "templates", place / "templates")
    (place / "runs/1.0").rename(place / "v=1.0")
    (place / "v=1.0" / "web-1").rename(place / "web-1")
    (place / "v=1.0" / "web-1").symlink_to(place / "web-1")
    (place / "notes").mkdir()
    (place / "notes" / "wait.txt").write_text("From the request on", "utf-8")
    import_line = "doc = ../../notes/wait.txt as Text"
    edit_file(place / METRICS, 'doc = "Time from receiving the request until a worker starts it"', import_line)
    command = [sys.executable, "-m", "assay", "--cache", "cache", "watch", "service/comparison"]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "compiler"), "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        [*command, "--run", "v=1.0", "--run", "runs/1.1", "-o", "build/live"], cwd=place, env=env,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    ) as process:  # fmt: skip
        lines: queue.Queue[str] = queue.Queue()

        def read() -> None:
            assert process.stdout
            for line in process.stdout:
                if line.strip():
                    lines.put(line.decode().rstrip("\n"))

        threading.Thread(target=read, daemon=True).start()
        watched = Watch(place, process, lines)
        watched.read_build()
        yield watched
        process.kill()


def test_every_input_of_report_is_watched(watch: Watch) -> None:
    place = watch.place
    (place / "notes" / "wait.txt").write_text("Until a worker takes it up", "utf-8")  # imported from outside specs/
    watch.wait_for_build()
    log = place / "web-1" / "log.jsonl"
    text = log.read_text("utf-8")
    other = place / "other"
    other.write_text(re.sub(r"\d(?=}})", lambda match: str(9 - int(match[0])), text), "utf-8")
    assert other.stat().st_size == log.stat().st_size
    shutil.copystat(log, other)
    other.replace(log)  # of the same size and time
    watch.wait_for_build()
    (place / "web-1" / "log.jsonl").write_text(text, "utf-8")  # behind a link
    watch.wait_for_build()
    shutil.rmtree(place / "build" / "live")
    watch.wait_for_build()


def test_watched_fonts_are_the_existing_ones(watch: Watch) -> None:
    fonts = watch.place / "templates" / "fonts"
    shutil.move(fonts, watch.place / "fonts")
    fonts.mkdir()
    assert "Typst cannot typeset the report: unknown font family" in watch.wait_for_error()
    watch.skip_message()
    for path in (watch.place / "fonts").iterdir():
        shutil.copyfile(path, fonts / f"other-{path.name}")
    watch.wait_for_build()


def test_respelling_of_equal_number_is_a_change(watch: Watch) -> None:
    """-0.0 equals 0.0; both spellings must build the same, whichever is cached."""
    size = "request.taken e.sent e.field.bytes"
    for before, zero in (("", "0.0"), ("0.0", "-0.0"), ("-0.0", "1.0")):
        edit_file(watch.place / METRICS, _add_to_measure(size, before), _add_to_measure(size, zero))
        watch.wait_for_build()


def _add_to_measure(measure: str, number: str) -> str:
    return f"measure = S.x.plus ({measure}) (S.x.quantity {number} S.unit.byte)" if number else f"measure = {measure}"


def test_editor_backup_files_are_ignored(watch: Watch) -> None:
    for folder in ("specs/service", "templates/report", "templates/fonts"):
        (watch.place / folder / ".#tables.typ").symlink_to("user@host.123:456")
        (watch.place / folder / ".tables.typ.swp").write_bytes(b"\0")
        (watch.place / folder / "tables.typ~").write_text("", "utf-8")
    edit_file(watch.place / METRICS, '"Working time"', '"Time of work"')
    watch.read_build()
    assert not list((watch.place / "build/live").rglob(".*"))


def test_refused_build_is_reported_and_watch_continues(watch: Watch) -> None:
    link = watch.place / "templates" / "away.txt"
    link.symlink_to(ROOT / "README.md")
    assert watch.wait_for_error() == "error[template]: a link points outside the workspace"
    watch.skip_message()
    link.unlink()
    watch.wait_for_build()
    live = watch.place / "build" / "live"
    shutil.rmtree(live)
    live.write_text("in the way", "utf-8")
    edit_file(watch.place / METRICS, '"Working time"', '"Time of work"')
    assert watch.wait_for_error().startswith("error[output]: ")
    watch.skip_message()
    live.unlink()  # no input has changed
    watch.wait_for_build()


def test_interrupt_ends_watch_at_any_time(watch: Watch) -> None:
    watch.process.send_signal(signal.SIGINT)
    assert watch.process.wait(PATIENCE) == 130
    assert watch.read_line() == "interrupted"
    assert watch.output_lines.empty()
