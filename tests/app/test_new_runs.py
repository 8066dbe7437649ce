"""`assay watch-runs`: each run that appears is built, recorded and gated once, whatever stops the command."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import CommandResult, build_environment, run_assay
from tests.support.nights import write_night
from tests.support.storage import list_settings, run_s3_server
from tests.support.workspaces import edit_file

PATIENCE = 60.0
WORDS = ("nights", "service/comparison", "--once", "--settle", "0", "--to", "md", "--baseline", "median:3")


@pytest.fixture
def shop(tmp_path: Path, cache: Path) -> Path:
    """Create a workspace with a results folder, and an empty folder of nights."""
    place = tmp_path / "shop"
    assert run_assay("init", place).status == 0
    edit_file(place / "assay.toml", "baseline", f'results = "results"\ncache = "{cache}"\nbaseline')
    (place / "nights").mkdir()
    return place


def add_nights(shop: Path, *nights: int, factor: float = 1.0) -> None:
    for night in nights:
        write_night(shop / "runs/1.0", shop / "nights" / f"night-{night}", night, factor)


def watch(shop: Path, *words: str) -> CommandResult:
    return run_assay("watch-runs", *WORDS, *words, cwd=shop)


def list_states(result: CommandResult) -> list[str]:
    """Return the run and the state of each line."""
    words = [line.split() for line in result.out.splitlines()]
    return [f"{name.strip(':')} {state.strip(':,')}" for name, state, *_ in words]


def list_results(shop: Path) -> list[str]:
    return sorted(path.parent.name for path in shop.glob("results/figures/*/*.json"))


@contextmanager
def receive(*statuses: int) -> Iterator[tuple[str, list[tuple[str, dict[str, Any]]]]]:
    """Run a server that answers with these statuses, then 204; yield its address and the requests: token, JSON."""
    requests: list[tuple[str, dict[str, Any]]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers["Content-Length"]))
            requests.append((self.headers.get("Authorization", ""), json.loads(content)))
            self.send_response(statuses[len(requests) - 1] if len(requests) <= len(statuses) else 204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/hook", requests
        server.shutdown()


def test_each_run_is_done_once_and_a_worse_one_calls(shop: Path) -> None:
    add_nights(shop, 1, 2, 3, 4)
    result = watch(shop, "--command", "cat >> calls.json", "--tag", "nightly")
    assert (result.status, list_states(result)) == (
        0, ["night-1 undecided", "night-2 undecided", "night-3 undecided", "night-4 passes"],
    )  # fmt: skip
    assert watch(shop).out == ""
    add_nights(shop, 5, factor=1.5)
    result = watch(shop, "--command", "cat >> calls.json", "--tag", "nightly")
    assert (result.status, list_states(result)) == (4, ["night-5 worse"])
    call = json.loads((shop / "calls.json").read_text(encoding="utf-8"))
    assert (call["run"], call["state"], call["report"]) == ("night-5", "worse", "service/comparison")
    assert {item["metric"] for item in call["worse"]} == {"wait", "work"}
    assert 40 < call["worse"][0]["low"] < call["worse"][0]["percent"] < call["worse"][0]["high"] < 60
    assert Path(shop / call["build"] / "report.md").is_file()
    assert watch(shop).out == ""
    assert list_results(shop) == [f"night-{number}" for number in range(1, 6)]
    listed = run_assay("runs", "list", "--tag", "nightly", "--format", "csv", cwd=shop).out
    assert len(listed.splitlines()) == 6


def test_run_that_is_being_copied_is_left(shop: Path) -> None:
    add_nights(shop, 1)
    words = [word if word != "0" else "3600" for word in WORDS]
    assert run_assay("watch-runs", *words, cwd=shop).out == ""
    assert watch(shop, "--marker", "DONE").out == ""
    (shop / "nights/night-1/DONE").touch()
    assert list_states(watch(shop, "--marker", "DONE")) == ["night-1 undecided"]


def test_copy_that_keeps_old_times_is_new(shop: Path) -> None:
    add_nights(shop, 1)
    old = time.time() - 1e6
    for file in (shop / "nights").rglob("*"):
        os.utime(file, (old, old))
    words = [word if word != "0" else "600" for word in WORDS]
    assert run_assay("watch-runs", *words, cwd=shop).out == ""


def test_run_that_cannot_be_built_is_tried_again_once_it_changes(shop: Path) -> None:
    (shop / "nights/night-1").mkdir()
    (shop / "nights/night-1/notes.txt").write_text("nothing", encoding="utf-8")
    result = watch(shop, "--notify", "problem", "--command", "cat >> calls.json")
    assert (result.status, list_states(result)) == (1, ["night-1 failed"])
    assert json.loads((shop / "calls.json").read_text(encoding="utf-8"))["state"] == "failed"
    assert (watch(shop).out, list_results(shop), list(shop.glob("results/runs/*.json"))) == ("", [], [])
    add_nights(shop, 1)
    assert list_states(watch(shop)) == ["night-1 undecided"]


def test_wrong_specs_fail_no_run(shop: Path) -> None:
    add_nights(shop, 1)
    metrics = shop / "specs/service/metrics.dhall"
    text = metrics.read_text(encoding="utf-8")
    edit_file(metrics, "e.sent", "e.sendt")
    result = watch(shop)
    assert (result.status, result.out) == (1, "")
    metrics.write_text(text, encoding="utf-8")
    assert list_states(watch(shop)) == ["night-1 undecided"]


def test_post_has_secrets_of_the_environment_and_is_repeated(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add_nights(shop, 1)
    monkeypatch.setenv("HOOK_TOKEN", "Bearer hunter2")
    with receive(403, 500) as (url, requests):
        monkeypatch.setenv("HOOK", url)
        words = ("--post", "env:HOOK", "--header", "Authorization=HOOK_TOKEN", "--notify", "all")
        result = watch(shop, *words)
        assert (result.status, len(requests)) == (1, 1)
        assert "warning[no-post]: the server does not accept the document: env:HOOK\n  found:    403" in result.err
        assert "hunter2" not in result.out + result.err
        assert url not in result.out + result.err
        result = watch(shop, *words)  # 500, then accepted
        assert (result.status, len(requests)) == (0, 3)
        assert watch(shop, *words).out == ""
    assert [token for token, _ in requests] == ["Bearer hunter2"] * 3
    assert {document["run"] for _, document in requests} == {"night-1"}


ERRORS = (
    (("absent", "service/comparison"), "no-folder"),
    (("nights", "service/comparisn"), "unknown-report"),
    (("nights", "service/comparison", "--post", "ftp://x"), "post-url"),
    (("nights", "service/comparison", "--post", "http://u:hunter2@x/"), "post-url"),
    (("nights", "service/comparison", "--post", "http://x/", "--header", "A=NO_SUCH"), "no-variable"),
    (("nights", "service/comparison", "--post", "http://x/", "--header", "A"), "post-header"),
    (("nights", "service/comparison", "--baseline", "last:x"), "baseline"),
    (("nights", "service/comparison", "--marker", "a/b"), "marker"),
)


@pytest.mark.parametrize(("words", "code"), ERRORS)
def test_wrong_options_are_refused(shop: Path, words: tuple[str, ...], code: str) -> None:
    result = run_assay("watch-runs", *words, "--once", cwd=shop)
    assert result.status == 2
    assert result.err.startswith(f"error[{code}]: ")
    assert "hunter2" not in result.err


def test_interrupts_leave_no_run_half_done(shop: Path) -> None:
    """Stopped and killed at many instants, the command ends with the same results as one that is not."""
    add_nights(shop, 1, 2, 3, 4, 5)
    words = [sys.executable, "-m", "assay", "watch-runs", *(word for word in WORDS if word != "--once")]
    command = [*words, "--every", "0.2", "--notify", "all", "--command", "cat >> calls.json; echo >> calls.json"]
    delays = [0.5 + 0.35 * number for number in range(7)]
    for number, delay in enumerate(delays):
        with subprocess.Popen(
            command, cwd=shop, env=build_environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as process:
            time.sleep(delay)
            process.send_signal((signal.SIGKILL, signal.SIGINT, signal.SIGTERM)[number % 3])
            text, _ = process.communicate(timeout=PATIENCE)
            assert "Traceback" not in text
    watch(shop, "--notify", "all", "--command", "cat >> calls.json; echo >> calls.json")
    assert list_results(shop) == [f"night-{number}" for number in range(1, 6)]
    calls = [json.loads(line) for line in (shop / "calls.json").read_text(encoding="utf-8").splitlines() if line]
    assert {call["run"] for call in calls} == {f"night-{number}" for number in range(1, 6)}
    assert len(calls) <= 5 + len(delays)
    assert watch(shop).out == ""


def test_two_watchers_do_each_run_once(shop: Path) -> None:
    add_nights(shop, 1, 2, 3)
    line = [sys.executable, "-m", "assay", "watch-runs", *WORDS]
    processes = [
        subprocess.Popen(line, cwd=shop, env=build_environment(), stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    lines = [text for process in processes for text in process.communicate(timeout=PATIENCE)[0].splitlines()]
    assert sorted(line.partition(":")[0] for line in lines) == ["night-1", "night-2", "night-3"]


def test_runs_on_object_storage_appear(shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add_nights(shop, 1, 2)
    with run_s3_server(tmp_path) as server:
        for name, value in list_settings(server.url, tmp_path).items():
            monkeypatch.setenv(name, value)
        server.client.create_bucket(Bucket="logs", CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
        words = ("watch-runs", "s3://logs/nights", *WORDS[1:], "--marker", "DONE")
        server.put(shop / "nights/night-1", "logs", "nights/night-1")
        assert run_assay(*words, cwd=shop).out == ""
        server.client.put_object(Bucket="logs", Key="nights/night-1/DONE", Body=b"")
        assert list_states(run_assay(*words, cwd=shop)) == ["night-1 undecided"]
        assert run_assay(*words, cwd=shop).out == ""
        server.put(shop / "nights/night-2", "logs", "nights/night-2")
        result = run_assay(*words[:-2], cwd=shop)
        assert list_states(result) == ["night-2 undecided"]
    assert list_results(shop) == ["night-1", "night-2"]
    shutil.rmtree(shop / "nights")
