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

from tests.support.commands import assay
from tests.support.laboratory import ROOT
from tests.support.workspaces import edited

PATIENCE = 60.0
BUILT = re.compile(r"build/live/report\.pdf \(\d+\.\d s\)")
METRICS = "specs/service/metrics.dhall"


@dataclass(frozen=True)
class Watch:
    """A running `assay watch`: its process and its output lines."""

    place: Path
    process: subprocess.Popen[bytes]
    said: queue.Queue[str]

    def line(self) -> str:
        """Return the next nonempty line."""
        return self.said.get(timeout=PATIENCE)

    def built(self) -> None:
        """Wait for a report without messages, and compare it with one built by a new process."""
        assert BUILT.fullmatch(line := self.line()), line
        code = self.process.poll()
        assert code is None
        fresh = self.place / "build" / "fresh"
        shutil.rmtree(fresh, ignore_errors=True)
        runs = ("--run", "v=1.0", "--run", "runs/1.1")
        done = assay("build", "service/comparison", *runs, "-o", fresh, "--cache", fresh / "cache", within=self.place)
        assert done.status == 0, done.err
        for name in ("document.json", "results.json", "specs.json", "report.pdf"):
            assert (self.place / "build/live" / name).read_bytes() == (fresh / name).read_bytes(), name

    def refused(self) -> str:
        """Wait for an error; return its first line."""
        first = self.line()
        assert first.startswith("error["), first
        return first

    def passed(self) -> None:
        """Consume the rest of an error message."""
        while True:
            try:
                line = self.said.get(timeout=0.5)
            except queue.Empty:
                return
            assert not BUILT.fullmatch(line), line


@pytest.fixture
def watch(tmp_path: Path) -> Iterator[Watch]:
    """Start `assay watch` in a workspace with its own templates; its run has `=` in its name and a linked host."""
    assert assay("init", tmp_path / "ws").status == 0
    place = tmp_path / "ws"
    shutil.copytree(ROOT / "templates", place / "templates")
    (place / "runs/1.0").rename(place / "v=1.0")
    (place / "v=1.0" / "web-1").rename(place / "web-1")
    (place / "v=1.0" / "web-1").symlink_to(place / "web-1")
    (place / "notes").mkdir()
    (place / "notes" / "wait.txt").write_text("From the request on", "utf-8")
    import_line = "doc = ../../notes/wait.txt as Text"
    edited(place / METRICS, 'doc = "From the request to the moment at which a worker takes it up"', import_line)
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
        assert BUILT.fullmatch(watched.line())
        yield watched
        process.kill()


def test_every_input_of_report_is_watched(watch: Watch) -> None:
    place = watch.place
    (place / "notes" / "wait.txt").write_text("Until a worker takes it up", "utf-8")  # imported from outside specs/
    watch.built()
    log = place / "web-1" / "log.jsonl"
    text = log.read_text("utf-8")
    other = place / "other"
    other.write_text(re.sub(r"\d(?=}})", lambda match: str(9 - int(match[0])), text), "utf-8")
    assert other.stat().st_size == log.stat().st_size
    shutil.copystat(log, other)
    other.replace(log)  # of the same size and time
    watch.built()
    (place / "web-1" / "log.jsonl").write_text(text, "utf-8")  # behind a link
    watch.built()
    shutil.rmtree(place / "build" / "live")
    watch.built()


def test_watched_fonts_are_the_existing_ones(watch: Watch) -> None:
    fonts = watch.place / "templates" / "fonts"
    shutil.move(fonts, watch.place / "fonts")
    fonts.mkdir()
    assert "the report cannot be set: unknown font family" in watch.refused()
    watch.passed()
    for path in (watch.place / "fonts").iterdir():
        shutil.copyfile(path, fonts / f"other-{path.name}")
    watch.built()


def test_respelling_of_equal_number_is_a_change(watch: Watch) -> None:
    """-0.0 equals 0.0; both spellings must build the same, whichever is cached."""
    size = "S.grain.taken at.sent events.field.bytes"
    for before, zero in (("", "0.0"), ("0.0", "-0.0"), ("-0.0", "1.0")):
        edited(watch.place / METRICS, _plus(size, before), _plus(size, zero))
        watch.built()


def _plus(measure: str, number: str) -> str:
    return f"measure = S.x.plus ({measure}) (S.x.quantity {number} S.unit.byte)" if number else f"measure = {measure}"


def test_editor_backup_files_are_ignored(watch: Watch) -> None:
    for folder in ("specs/service", "templates/report", "templates/fonts", "queries/service"):
        (watch.place / folder / ".#tables.typ").symlink_to("user@host.123:456")
        (watch.place / folder / ".tables.typ.swp").write_bytes(b"\0")
        (watch.place / folder / "tables.typ~").write_text("", "utf-8")
    edited(watch.place / METRICS, '"Working time"', '"Time of work"')
    assert BUILT.fullmatch(watch.line())
    assert not list((watch.place / "build/live").rglob(".*"))


def test_refused_build_is_reported_and_watch_continues(watch: Watch) -> None:
    link = watch.place / "templates" / "away.txt"
    link.symlink_to(ROOT / "README.md")
    assert watch.refused() == "error[template]: a link points outside the workspace"
    watch.passed()
    link.unlink()
    watch.built()
    live = watch.place / "build" / "live"
    shutil.rmtree(live)
    live.write_text("in the way", "utf-8")
    edited(watch.place / METRICS, '"Working time"', '"Time of work"')
    assert watch.refused().startswith("error[output]: ")
    watch.passed()
    live.unlink()  # nothing that is read has changed
    watch.built()


def test_interrupt_ends_watch_at_any_time(watch: Watch) -> None:
    watch.process.send_signal(signal.SIGINT)
    assert watch.process.wait(PATIENCE) == 130
    assert watch.line() == "interrupted"
    assert watch.said.empty()
