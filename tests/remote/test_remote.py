"""Test runs on object storage: only required files are fetched, once, completely or not at all."""

from __future__ import annotations

import fcntl
import hashlib
import http.server
import json
import os
import subprocess
import sys
import tarfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import fsspec
import pytest

from assay.app.session.runs import parse_runs
from assay.engine.result_cache import Store
from assay.remote.mirror import mirror_run
from assay.remote.required_files import RequiredFiles
from assay.util.diagnostics import AssayError
from assay.util.progress import ignore
from tests.compare_reference import CARDANO
from tests.explain.test_explain import read_raw_line
from tests.support.commands import CommandResult, build_environment, run_assay, run_assay_process
from tests.support.laboratory import ROOT
from tests.support.storage import S3Server, find_free_port, open_cut_connection, run_s3_server

PLAIN = CARDANO / "tiny" / "plain" / "run"
PEER = CARDANO / "tiny" / "peerfirst" / "run"
HARNESS = CARDANO.parent / "antelope" / "harness"
FILES = {path.relative_to(PLAIN).as_posix() for path in PLAIN.rglob("*") if path.is_file()}
KEYS = ("AWS_PROFILE", "AWS_ENDPOINT_URL_S3", "AWS_SESSION_TOKEN", "FSSPEC_S3_ANON")
SECRET = "not-to-be-told"
ALL = RequiredFiles(("**",))


@pytest.fixture(scope="module")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    with run_s3_server(tmp_path_factory.mktemp("s3")) as server:
        server.client.create_bucket(Bucket="logs")
        server.put(PLAIN, "logs", "runs/plain")
        server.put(PEER, "logs", "runs/peer")
        server.put(HARNESS, "logs", "harness")
        server.client.put_object(Bucket="logs", Key="runs/plain/core.dump", Body=b"0" * 1000)
        server.client.put_object(Bucket="logs", Key="runs/plainer/meta.json", Body=b"{}")
        yield server


@pytest.fixture(autouse=True)
def _settings(monkeypatch: pytest.MonkeyPatch, s3: S3Server, tmp_path: Path) -> None:
    """Set credentials and the server address, and hide the user's own settings."""
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)
    settings = {
        "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_ENDPOINT_URL": s3.url,
        "AWS_DEFAULT_REGION": "us-east-1", "AWS_MAX_ATTEMPTS": "1", "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": str(tmp_path / "none"), "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "none"),
    }  # fmt: skip
    for name, value in settings.items():
        monkeypatch.setenv(name, value)


def query(cache: Path, *runs: str | Path) -> CommandResult:
    run_options = [item for run in runs for item in ("--run", run)]
    return run_assay("query", "CentiCpu", *run_options, "--no-filters", "--format", "json", "--cache", cache)


def read_values(result: CommandResult) -> dict[str, object]:
    """Return the figures by run."""
    assert (result.status, result.err) == (0, "")
    return {row["run"]: row["average"] for row in result.parse_json()}


def list_mirrored_files(cache: Path, address: str) -> set[str]:
    """Return the names of the files in a mirror."""
    folder = cache / "mirror" / hashlib.sha256(address.encode()).hexdigest()[:32] / "files"
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def mirror(cache: Path, address: str, wanted: RequiredFiles = ALL) -> Path:
    """Update a mirror from the server while others may change it."""
    with ExitStack() as locks:
        return mirror_run(Store(cache), address, "run", wanted, locks, ignore, ignore)


def read_refusal(cache: Path, address: str, wanted: RequiredFiles = ALL) -> str:
    """Return the error for a run that cannot be mirrored."""
    with pytest.raises(AssayError) as error_info:
        mirror(cache, address, wanted)
    return f"{error_info.value}\n"


# The same report


def report(out: Path, cache: Path, run: str) -> CommandResult:
    return run_assay("build", "antelope/harness", "--run", run, "--to", "md", "-o", out, "--cache", cache)


@pytest.fixture(scope="module")
def build_report(s3: S3Server, cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build a report of a run on the server."""
    out = tmp_path_factory.mktemp("far") / "report"
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"ENDPOINT_URL": s3.url, "ACCESS_KEY_ID": "key", "SECRET_ACCESS_KEY": SECRET}.items():
            patch.setenv(f"AWS_{name}", value)
        result = report(out, cache, "far=s3://logs/harness/")
    assert result.status == 0, result.err
    return out


def test_report_equals_that_of_directories_to_the_byte(build_report: Path, cache: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = report(out, cache, f"far={HARNESS}")
    assert result.status == 0, result.err
    names = {path.relative_to(out) for path in out.rglob("*") if path.is_file()}
    assert names == {path.relative_to(build_report) for path in build_report.rglob("*") if path.is_file()}
    for name in names - {Path("provenance.json")}:
        assert (out / name).read_bytes() == (build_report / name).read_bytes(), name
    remote_provenance, local_provenance = (
        json.loads((folder / "provenance.json").read_text("utf-8")) for folder in (build_report, out)
    )
    assert remote_provenance.pop("places") == {"far": "s3://logs/harness"}
    assert local_provenance.pop("places") == {"far": str(HARNESS)}
    assert remote_provenance == local_provenance
    for name in names:
        assert not [word for word in (SECRET, "mirror/") if word.encode() in (build_report / name).read_bytes()], name


def test_metric_is_traced_to_its_lines(cache: Path) -> None:
    result = run_assay("explain", "CentiCpu", "--run", "s3://logs/runs/peer", "--format", "json", "--cache", cache)
    assert (result.status, result.err) == (0, "")
    lines = [line for sample in result.parse_json()["run"]["largest"] for line in sample["lines"]]
    assert lines
    for line in lines:
        assert read_raw_line(PEER, line["file"], line["line"]) == line["text"]


def test_report_is_verified_from_the_server(build_report: Path, cache: Path) -> None:
    result = run_assay("verify", build_report, "--cache", cache)
    assert result.status == 0
    message = "fetching run far from s3://logs/harness, as in provenance.json; pass --run far=DIR to use another copy"
    assert message in result.err.splitlines()
    assert result.out.endswith(" files: all the same bytes\n")


def test_verify_reports_the_size_of_its_downloads(build_report: Path, tmp_path: Path) -> None:
    result = run_assay("verify", build_report, "--cache", tmp_path / "cache")
    (folder,) = (tmp_path / "cache" / "mirror").iterdir()
    sizes = [path.stat().st_size for path in (folder / "files").rglob("*") if path.is_file()]
    message = f"fetching {len(sizes)} objects of run far, {sum(sizes) / 1e6:.1f} MB, from s3://logs/harness"
    assert (result.status, result.err.splitlines()[1:]) == (0, [message])
    verification = run_assay("verify", build_report, "--cache", tmp_path / "cache")
    assert (verification.status, len(verification.err.splitlines())) == (0, 1)


# Fetched files


def test_only_files_of_sources_are_fetched_and_once(s3: S3Server, cache: Path) -> None:
    s3.put(PLAIN, "logs", "runs/once")
    s3.client.put_object(Bucket="logs", Key="runs/once/node-2/core.dump", Body=b"0" * 1000)
    before, lists = len(s3.list_read_objects()), s3.count_listings()
    remote_values = read_values(query(cache, "x=s3://logs/runs/once"))
    assert remote_values == read_values(query(cache, f"x={PLAIN}"))
    assert sorted(s3.list_read_objects()[before:]) == sorted(f"logs/runs/once/{name}" for name in FILES)
    assert list_mirrored_files(cache, "s3://logs/runs/once") == FILES
    before = len(s3.list_read_objects())
    assert read_values(query(cache, "x=s3://logs/runs/once/")) == remote_values
    assert (s3.list_read_objects()[before:], s3.count_listings() - lists) == ([], 2)


def test_only_changed_object_is_fetched_and_deleted_removed(s3: S3Server, tmp_path: Path) -> None:
    s3.put(PLAIN, "logs", "runs/changing")
    folder = mirror(tmp_path, "s3://logs/runs/changing")
    before = len(s3.list_read_objects())
    s3.client.put_object(Bucket="logs", Key="runs/changing/meta.json", Body=b"[]")
    s3.client.delete_object(Bucket="logs", Key="runs/changing/node-3/stdout.gz")
    assert mirror(tmp_path, "s3://logs/runs/changing") == folder
    assert s3.list_read_objects()[before:] == ["logs/runs/changing/meta.json"]
    assert (folder / "meta.json").read_bytes() == b"[]"
    assert list_mirrored_files(tmp_path, "s3://logs/runs/changing") == FILES - {"node-3/stdout.gz"}
    assert not (folder / "node-3").exists()
    assert {path.name for path in folder.parent.iterdir()} == {"files", "lock", "objects.jsonl"}


def test_damaged_file_in_mirror_is_fetched_again(s3: S3Server, tmp_path: Path) -> None:
    folder = mirror(tmp_path, "s3://logs/runs/peer")
    (folder / "meta.json").write_bytes(b"{")
    (folder / "node-2" / "left.part").write_bytes(b"{")
    before = len(s3.list_read_objects())
    mirror(tmp_path, "s3://logs/runs/peer")
    assert s3.list_read_objects()[before:] == ["logs/runs/peer/meta.json"]
    assert (folder / "meta.json").read_bytes() == (PEER / "meta.json").read_bytes()
    assert not (folder / "node-2" / "left.part").exists()


def test_files_of_another_source_are_fetched_in_addition(s3: S3Server, tmp_path: Path) -> None:
    mirror(tmp_path, "s3://logs/runs/plain", RequiredFiles(("*.json",)))
    before = len(s3.list_read_objects())
    mirror(tmp_path, "s3://logs/runs/plain", RequiredFiles(("node-2/stdout*",)))
    assert s3.list_read_objects()[before:] == ["logs/runs/plain/node-2/stdout.gz"]
    assert list_mirrored_files(tmp_path, "s3://logs/runs/plain") == {
        "meta.json",
        "genesis-shelley.json",
        "node-2/stdout.gz",
    }


def test_host_without_log_is_reported_as_in_a_directory(s3: S3Server, cache: Path) -> None:
    s3.put(PLAIN, "logs", "runs/silent")
    s3.client.put_object(Bucket="logs", Key="runs/silent/node-7/readme", Body=b"")
    result = query(cache, "s3://logs/runs/silent")
    assert (result.status, result.err) == (1, """\
error[no-logs]: host node-7 has no log file: s3://logs/runs/silent/node-7
  expected: stdout, stdout*, node-*.json (also with .gz or .zst)
  found:    nothing
""")  # fmt: skip


def test_archive_on_server_is_unpacked_and_deleted(s3: S3Server, cache: Path, tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "run", "w:gz") as archive:
        archive.add(PLAIN, "some folder")
    s3.client.put_object(Bucket="logs", Key="packed/plain.tar.gz", Body=(tmp_path / "run").read_bytes())
    before = len(s3.list_read_objects())
    actual = read_values(query(cache, "s3://logs/packed/plain.tar.gz"))
    assert actual == read_values(query(cache, f"plain={PLAIN}"))
    assert actual == read_values(query(cache, "s3://logs/packed/plain.tar.gz"))
    assert s3.list_read_objects()[before:] == ["logs/packed/plain.tar.gz"]
    assert not list((cache / "mirror").rglob("*.tar.gz"))


def test_change_waits_for_readers(s3: S3Server, tmp_path: Path) -> None:
    s3.client.put_object(Bucket="logs", Key="runs/shared/a", Body=b"1")
    folder = mirror(tmp_path, "s3://logs/runs/shared")
    reader = os.open(folder.parent / "lock", os.O_RDWR)
    fcntl.flock(reader, fcntl.LOCK_SH)
    assert mirror(tmp_path, "s3://logs/runs/shared") == folder  # nothing changed, so no command waits
    s3.client.put_object(Bucket="logs", Key="runs/shared/a", Body=b"22")
    messages: list[str] = []
    with ExitStack() as locks:
        mirror_arguments = (
            Store(tmp_path),
            "s3://logs/runs/shared",
            "run",
            ALL,
            locks,
            ignore,
            messages.append,
        )
        change = threading.Thread(target=mirror_run, args=mirror_arguments)
        change.start()
        while not messages:
            time.sleep(0.01)
        assert (messages, (folder / "a").read_bytes()) == (["waiting for another assay that uses run"], b"1")
        os.close(reader)
        change.join(60)
    assert (folder / "a").read_bytes() == b"22"


def test_waiting_is_reported_without_a_terminal(s3: S3Server, tmp_path: Path) -> None:
    name, cache = "s3://logs/runs/awaited", tmp_path / "cache"
    for key in FILES:
        s3.client.put_object(Bucket="logs", Key=f"runs/awaited/{key}", Body=(PLAIN / key).read_bytes())
    before = read_values(query(cache, f"far={name}"))
    s3.client.put_object(Bucket="logs", Key="runs/awaited/meta.json", Body=(PLAIN / "meta.json").read_bytes() + b"\n")
    (lock,) = (cache / "mirror").glob("*/lock")
    reader = os.open(lock, os.O_RDWR)
    fcntl.flock(reader, fcntl.LOCK_SH)
    query_command = (
        "query",
        "CentiCpu",
        "--run",
        f"far={name}",
        "--no-filters",
        "--format",
        "json",
        "--cache",
        str(cache),
    )
    env = build_environment()
    command = [sys.executable, "-m", "assay", *query_command]
    with subprocess.Popen(
        command, cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr
        assert process.stderr.readline() == "waiting for another assay that uses far\n"
        os.close(reader)
        out, err = process.communicate(timeout=60)
    assert (read_values(CommandResult(process.returncode, out, err)), err) == (before, "")


# Broken connections


def test_interrupted_download_is_resumed(s3: S3Server, tmp_path: Path) -> None:
    large_content = os.urandom(10_000_000)
    s3.client.put_object(Bucket="logs", Key="runs/large/log", Body=large_content)
    s3.client.put_object(Bucket="logs", Key="runs/large/small", Body=b"small")
    with open_cut_connection(s3) as line, pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", line.url)
        line.limit = 9_000_000
        message = read_refusal(tmp_path, "s3://logs/runs/large")
        assert message.startswith(
            "error[no-server]: the server interrupted the transfer: s3://logs/runs/large/log\n  found: "
        )
        assert message.endswith("  hint: run the same command again: it fetches only the rest\n")
        assert list_mirrored_files(tmp_path, "s3://logs/runs/large") == {"small"}
        (part,) = (tmp_path / "mirror").glob("*/parts/*")
        size = part.stat().st_size
        assert size == 8 * 2**20
        line.limit, line.byte_count = None, 0
        folder = mirror(tmp_path, "s3://logs/runs/large")
        assert len(large_content) - size < line.byte_count < len(large_content) - size + 50_000
    assert (folder / "log").read_bytes() == large_content
    assert not list((tmp_path / "mirror").glob("*/parts"))


def test_partial_download_of_changed_object_is_discarded(s3: S3Server, tmp_path: Path) -> None:
    s3.client.put_object(Bucket="logs", Key="runs/other/log", Body=b"1" * 9_000_000)
    with open_cut_connection(s3) as line, pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", line.url)
        line.limit = 8_700_000
        read_refusal(tmp_path, "s3://logs/runs/other")
    s3.client.put_object(Bucket="logs", Key="runs/other/log", Body=b"2" * 9_000_000)
    assert set((mirror(tmp_path, "s3://logs/runs/other") / "log").read_bytes()) == set(b"2")


def read_refusal_after_listing(cache: Path, address: str, change: Callable[[], object]) -> str:
    """Return the error for a run that changes between the listing and the first object."""
    with ExitStack() as locks, pytest.raises(AssayError) as error_info:
        mirror_run(Store(cache), address, "run", ALL, locks, ignore, ignore, report_fetching=lambda _: change())
    return f"{error_info.value}\n"


def test_object_lost_or_changed_during_fetch_is_reported(s3: S3Server, tmp_path: Path) -> None:
    """Regression: the message called the run missing, and suggested its own name."""
    name, place = "runs/living/log", {"Bucket": "logs", "Key": "runs/living/log"}
    changes: dict[str, Callable[[], object]] = {
        "was removed": lambda: s3.client.delete_object(**place),
        "changed": lambda: s3.client.put_object(**place, Body=b"b"),
    }
    for change_name, change in changes.items():
        s3.client.put_object(**place, Body=b"a")
        s3.client.put_object(Bucket="logs", Key="runs/living/other", Body=b"o")
        assert read_refusal_after_listing(tmp_path / change_name, "s3://logs/runs/living", change) == f"""\
error[run-changing]: an object {change_name} during the transfer of the run: s3://logs/{name}
  hint: run the same command again when the run is complete: it fetches only the rest
"""  # fmt: skip
        after = {"other": b"o", **({} if change_name == "was removed" else {"log": b"b"})}
        mirrored = mirror(tmp_path / change_name, "s3://logs/runs/living")
        assert {path.name: path.read_bytes() for path in mirrored.iterdir()} == after


class Portal(http.server.BaseHTTPRequestHandler):
    """A server with one object of 20 bytes; it answers with a longer page, or stops early."""

    item, stops, request_count = "<Key>r/log</Key><Size>20</Size><ETag>1</ETag>", False, 0

    def do_GET(self) -> None:
        is_list = "list-type" in self.path
        Portal.request_count += not is_list
        body = f"<ListBucketResult><Contents>{self.item}</Contents></ListBucketResult>"
        page = body if is_list else "<p>to log in</p>" * 3
        self.send_response(200)
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page.encode()[: None if is_list or not self.stops else 9])
        time.sleep(0 if is_list or not self.stops else 0.3)

    def log_message(self, *_words: object) -> None:
        """Suppress the server's log."""


@contextmanager
def serve_portal() -> Iterator[str]:
    """Start the server; return its address."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Portal) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_malformed_listing_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Regression: it ended with a traceback."""
    monkeypatch.setattr(Portal, "item", "<Key>r/log</Key>")
    with serve_portal() as address:
        monkeypatch.setenv("AWS_ENDPOINT_URL", address)
        assert "or is not an object store: s3://logs/r\n  found:    a response without 'Size'\n" in read_refusal(
            tmp_path, "s3://logs/r"
        )


@pytest.mark.parametrize(
    ("stops", "expected"), [(False, "a response of 48 bytes to a request for 20"), (True, "the response stopped")]
)
def test_answer_of_other_bytes_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stops: bool, expected: str
) -> None:
    """Regression: the page was stored as the object, and an early stop was reported as a bug."""
    monkeypatch.setitem(fsspec.config.conf, "s3", {"config_kwargs": {"read_timeout": 0.1}})
    monkeypatch.setattr(Portal, "request_count", 0)
    monkeypatch.setattr(Portal, "stops", stops)
    with serve_portal() as address:
        monkeypatch.setenv("AWS_ENDPOINT_URL", address)
        message = read_refusal(tmp_path, "s3://logs/r")
    assert (
        Portal.request_count <= 2 + stops
    )  # each may take 15 s (regression: half an hour with a server that never answers)
    assert message == f"""\
error[no-server]: the server interrupted the transfer: s3://logs/r/log
  found:    {expected}
  hint: run the same command again: it fetches only the rest
"""  # fmt: skip


# Refused runs


def test_empty_prefix_error_lists_its_neighbours(tmp_path: Path) -> None:
    assert read_refusal(tmp_path, "s3://logs/runs/plian") == """\
error[no-run]: no objects at the address of the run: s3://logs/runs/plian
  expected: objects below s3://logs/runs/plian/
  hint: did you mean `plain` or `plainer`?
"""  # fmt: skip
    assert "\n  hint: did you mean `runs`?\n" in read_refusal(tmp_path, "s3://logs/rnus/plain")
    assert "error[no-run]: no objects" in read_refusal(tmp_path, "s3://logs/runs/plain.tar.gz")


def test_missing_bucket_error_lists_the_buckets(tmp_path: Path) -> None:
    assert read_refusal(tmp_path, "s3://lags/runs/plain") == """\
error[no-run]: the server does not have the address: s3://lags/runs/plain
  expected: objects below s3://lags/runs/plain/
  found:    The specified bucket does not exist
  hint: did you mean `logs`?
"""  # fmt: skip


def test_objects_of_no_source_are_no_run(s3: S3Server, tmp_path: Path) -> None:
    for name in ("a/core", "b"):
        s3.client.put_object(Bucket="logs", Key=f"useless/{name}", Body=b"")
    assert read_refusal(tmp_path, "s3://logs/useless", RequiredFiles(("*.csv", "*.csv.gz", "a/*.json"))) == """\
error[no-run]: the run holds no file that a source reads: s3://logs/useless
  expected: *.csv, a/*.json
  found:    a/core, b
"""  # fmt: skip


def test_unreachable_server_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"http://127.0.0.1:{find_free_port()}"
    monkeypatch.setenv("AWS_ENDPOINT_URL", url)
    assert read_refusal(tmp_path, "s3://logs/runs/plain") == f"""\
error[no-server]: the server cannot be reached, or is not an object store: s3://logs/runs/plain
  found:    Could not connect to the endpoint URL: \
"{url}/logs?list-type=2&prefix=runs%2Fplain%2F&delimiter=&encoding-type=url"
  hint: check the address in AWS_ENDPOINT_URL
"""  # fmt: skip
    monkeypatch.setenv("AWS_ENDPOINT_URL", "no-url")
    assert "\n  found:    Invalid endpoint: no-url\n" in read_refusal(tmp_path, "s3://logs/runs/plain")


def test_refusing_server_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with run_s3_server(tmp_path, INITIAL_NO_AUTH_ACTION_COUNT="0") as strict:
        monkeypatch.setenv("AWS_ENDPOINT_URL", strict.url)
        message = read_refusal(tmp_path, "s3://logs/runs/plain")
    assert message == """\
error[run-refused]: the server refuses to list: s3://logs/runs/plain
  found:    The AWS Access Key Id you provided does not exist in our records.
  hint: credentials are taken from the environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_PROFILE) or ~/.aws
"""  # fmt: skip


def test_missing_credentials_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    assert read_refusal(tmp_path, "s3://logs/runs/plain") == """\
error[run-refused]: there are no credentials for: s3://logs/runs/plain
  found:    Unable to locate credentials
  hint: credentials are taken from the environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_PROFILE) or ~/.aws; \
set FSSPEC_S3_ANON=true to read public data
"""  # fmt: skip


UNSAFE = {
    "node-1/../../out": "its name leads out of the run (`..`)",
    "node-1//stdout": "a part of its name is empty or `.`",
}


@pytest.mark.parametrize("name", UNSAFE)
def test_object_that_cannot_be_a_file_is_refused(s3: S3Server, tmp_path: Path, name: str) -> None:
    key = f"unsafe/{len(name)}"
    for item in (name, "node-1/good"):
        s3.client.put_object(Bucket="logs", Key=f"{key}/{item}", Body=b"x")
    assert read_refusal(tmp_path / "cache", f"s3://logs/{key}") == f"""\
error[unsafe-name]: an object of the run is refused: {name}
  expected: names of files below the run
  found:    {UNSAFE[name]}
  note: in s3://logs/{key}
"""  # fmt: skip
    assert not [path for path in tmp_path.rglob("*") if path.name in ("out", "stdout", "good")]


def test_objects_with_conflicting_paths_are_refused(s3: S3Server, tmp_path: Path) -> None:
    for name in ("a", "a/b"):
        s3.client.put_object(Bucket="logs", Key=f"clash/{name}", Body=b"x")
    assert "is refused: a/b\n  expected: names of files below the run\n  found:    a is an object\n" in read_refusal(
        tmp_path, "s3://logs/clash"
    )


def test_missing_package_error_names_the_extra(tmp_path: Path) -> None:
    shadow = tmp_path / "s3fs.py"
    shadow.write_text("raise ImportError('no s3fs')\n", encoding="utf-8")
    path = f"{tmp_path}{os.pathsep}{Path(__file__).parents[2] / 'compiler'}"
    result = run_assay_process(
        "ingest", "s3://logs/runs/plain", "--cache", tmp_path / "c", environment={"PYTHONPATH": path}
    )
    assert (result.status, result.err) == (2, """\
error[no-package]: reading s3:// requires the package s3fs
  hint: pip install 'assay[s3]'
""")  # fmt: skip


# Addresses


def test_run_is_named_by_last_part_of_its_address(tmp_path: Path) -> None:
    (tmp_path / "a=b").mkdir()
    texts = ["s3://logs/runs/10.5/", "s3://logs/day=5/10.6.tar.zst", "named=s3://logs/x", f"{tmp_path}/10.7.tgz",
             f"{tmp_path}/a=b"]  # fmt: skip
    assert [run.id for run in parse_runs(texts)] == ["10.5", "10.6", "named", "10.7", "a=b"]
    assert [run.id for run in parse_runs([texts[0], "gs://other/old/10.5"])] == ["runs-10.5", "old-10.5"]
    assert [run.address for run in parse_runs(texts[:2])] == ["s3://logs/runs/10.5", "s3://logs/day=5/10.6.tar.zst"]


BAD = {
    "s3://AKIA:se/cret@logs/x": "the address of a run has credentials or a query\n"
    "  expected: s3://BUCKET/PREFIX\n  found:    `s3://…`\n"
    "  hint: credentials are taken from the environment",
    "s3://logs/x?X-Amz-Signature=cret": "the address of a run has credentials or a query\n",
    "s3:///x": "the address of a run names no bucket\n",
    "memory://x/y": "unknown scheme `memory://` of a run\n  expected: s3://BUCKET/PREFIX\n",
    "https://x/y.tar": "unknown scheme `https://` of a run\n",
}


@pytest.mark.parametrize("address", BAD)
def test_invalid_address_is_a_usage_error_without_secrets(cache: Path, address: str) -> None:
    result = query(cache, f"a={address}")
    assert (result.status, result.out) == (2, "")
    assert result.err.startswith(f"error[run-address]: {BAD[address]}")
    assert "cret" not in result.err
