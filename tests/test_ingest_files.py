"""The files of a run, its constants, and the hash of its contents."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assay.app.required_sources import has
from assay.app.runs import NamedRun
from assay.ingest import fingerprint, hashing
from assay.ingest.discovery import TAKEN, find_run
from assay.ingest.hashing import content_key, file_hashes
from assay.ingest.run_metadata import duplicate_constant_warnings, read_constants
from assay.lang.model.package import Constant, Unit
from assay.util.checksums import unseal_text
from assay.util.diagnostics import AssayError
from tests.support.ingesting import ONE, SOURCE, record, refusal


def write(run: Path, **files: str) -> Path:
    """A run with files given by their paths, in which `__` is a slash."""
    for name, content in files.items():
        path = run / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(content.encode()) if path.suffix == ".gz" else content.encode())
    return run


def put(run: Path, *names: str, minute: int = 0) -> Path:
    """A run with these log files, each a minute later than the one before."""
    for offset, name in enumerate(names):
        line = record(ts=f"2026-02-05T18:{minute + offset:02}:00Z", n=offset)
        write(run, **{name.replace("/", "__"): f"text\n{line}\n"})
    return run


def found(run: Path) -> dict[str, list[str]]:
    """The file names by host."""
    return {host.host: [path.name for path in host.files] for host in find_run(SOURCE, run).hosts}


def test_hosts_are_directories_in_the_order_of_their_names_as_text(tmp_path: Path) -> None:
    run = put(tmp_path, "m-2/out", "m-10/out", "m-1/out", "other/out", "m-file")
    assert list(found(run)) == ["m-1", "m-10", "m-2"]


def test_rotated_files_are_read_oldest_first_whatever_their_names(tmp_path: Path) -> None:
    run = put(tmp_path, "m-1/out.9.gz", "m-1/m-1-a.json", "m-1/out.1", "m-1/out", "m-1/m-1-0.json.gz")
    assert found(run) == {"m-1": ["out.9.gz", "m-1-a.json", "out.1", "out", "m-1-0.json.gz"]}


def test_files_of_one_instant_are_read_by_name_and_those_without_any_last(tmp_path: Path) -> None:
    line = record(ts="2026-02-05T18:52:00Z")
    later = record(ts="2026-02-05T18:52:00.000000001Z")
    write(tmp_path, **{"m-1__out0": "text\n", "m-1__out2": line, "m-1__out1": line, "m-1__out": later})
    assert found(tmp_path) == {"m-1": ["out1", "out2", "out", "out0"]}


def test_a_file_that_several_patterns_or_links_lead_to_is_read_once(tmp_path: Path) -> None:
    run = put(tmp_path, "m-1/out-a", "m-1/m-1-x.json")
    (run / "m-1" / "out").symlink_to(run / "m-1" / "out-a")
    assert [len(names) for names in found(run).values()] == [2]


def test_files_of_other_names_are_not_logs(tmp_path: Path) -> None:
    run = put(tmp_path, "m-1/out", "m-1/err", "m-1/m-1.txt", "m-1/deep/out")
    assert found(run) == {"m-1": ["out"]}


def test_what_macos_writes_beside_files_is_none_of_the_run(tmp_path: Path) -> None:
    tables = replace(SOURCE, kind="csv", hosts="", logs=("*.csv", "*/*.csv"))
    for name in ("a.csv", "._a.csv", "deep/b.csv.gz", "deep/._b.csv.gz"):
        write(tmp_path, **{name.replace("/", "__"): "n\n1\n"})
    (of_run,) = find_run(tables, tmp_path).hosts
    assert [path.relative_to(tmp_path).as_posix() for path in of_run.files] == ["a.csv", "deep/b.csv.gz"]
    hosts = replace(SOURCE, kind="text-lines", hosts="*.log", host_files=True, logs=())
    write(tmp_path, **{"n1.log": "", "._n1.log": "", "._n2.log.gz": ""})
    assert [host.host for host in find_run(hosts, tmp_path).hosts] == ["n1"]
    (tmp_path / "a.csv").unlink()
    run = NamedRun("run", tmp_path)
    assert [has(run, replace(tables, logs=(glob,))) for glob in ("*.csv", "*/*.csv")] == [False, True]


def test_a_log_that_is_there_plain_and_packed_is_not_read_twice(tmp_path: Path) -> None:
    line = record(n=1)
    with pytest.raises(AssayError) as error:
        find_run(SOURCE, write(tmp_path, **{"m-1__out": line, "m-1__out.gz": line}))
    assert refusal(error.value, tmp_path) == (
        "error[same-log]: out and out.gz of host m-1 are the same log: DIR/m-1\n  hint: keep one of them"
    )


FLAT = replace(SOURCE, hosts="logs/of-*.log", host_files=True, logs=())


@pytest.mark.parametrize(
    ("made", "found"),
    [
        (lambda place: place.symlink_to("nowhere"), "out (a link that leads to nothing)"),
        (lambda place: place.symlink_to("out"), "out (a loop of symbolic links)"),
        (os.mkfifo, "out (no regular file)"),
        (Path.mkdir, "out/"),
    ],
)
def test_what_is_called_like_a_log_and_is_none_is_told_as_what_it_is(
    tmp_path: Path, made: Callable[[Path], None], found: str
) -> None:
    (tmp_path / "m-1").mkdir()
    made(tmp_path / "m-1" / "out")
    with pytest.raises(AssayError) as error:
        find_run(SOURCE, tmp_path)
    assert refusal(error.value, tmp_path) == (
        "error[no-logs]: host m-1 has no log file: DIR/m-1\n"
        "  expected: out, out*, m-*.json (also with .gz or .zst)\n"
        f"  found:    {found}"
    )


def test_a_folder_that_may_be_no_host_is_told_with_the_glob_that_takes_it_for_one(tmp_path: Path) -> None:
    (tmp_path / "clients").mkdir()
    with pytest.raises(AssayError) as error:
        find_run(replace(SOURCE, hosts="*"), tmp_path)
    said = f"if clients is no host, `hosts` of source `{SOURCE.name}` is to find the others alone: it is `*`"
    assert error.value.diagnostics[0].hint == said


def test_hosts_can_be_files_of_one_folder_named_by_what_the_star_stands_for(tmp_path: Path) -> None:
    line = record(n=1)
    write(tmp_path, **{f"logs__{name}": line for name in ("of-b.log", "of-a.b.log.gz", "of-c.txt", "d.log")})
    hosts = find_run(FLAT, tmp_path).hosts
    assert [(host.host, [path.name for path in host.files]) for host in hosts] == [
        ("a.b", ["of-a.b.log.gz"]),
        ("b", ["of-b.log"]),
    ]


def test_a_host_that_is_a_file_is_there_plain_or_packed(tmp_path: Path) -> None:
    write(tmp_path, **{"logs__of-a.log": record(n=1), "logs__of-a.log.gz": record(n=1)})
    with pytest.raises(AssayError) as error:
        find_run(FLAT, tmp_path)
    assert refusal(error.value, tmp_path) == (
        "error[same-log]: of-a.log and of-a.log.gz are both the log of host a: DIR/logs\n  hint: keep one of them"
    )


def test_a_run_without_a_file_of_a_host_is_refused(tmp_path: Path) -> None:
    write(tmp_path, **{"logs__a.txt": "x"})
    with pytest.raises(AssayError) as error:
        find_run(FLAT, tmp_path)
    assert refusal(error.value, tmp_path) == (
        "error[no-hosts]: the run has no log of a host: DIR\n"
        "  expected: files logs/of-*.log (also with .gz or .zst)\n"
        "  found:    logs/"
    )


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "gone",
            f"error[no-run]: the run directory does not exist: DIR/gone\n  hint: {TAKEN}",
        ),
        (
            "file",
            f"error[no-run]: the run is no directory: DIR/file\n  hint: {TAKEN}",
        ),
        ("empty", "error[no-run]: the run directory is empty: DIR/empty"),
        (
            "bare",
            "error[no-hosts]: the run has no host directory: DIR/bare\n"
            "  expected: directories m-*\n"
            "  found:    meta.json, other/",
        ),
        (
            "idle",
            "error[no-logs]: host m-1 has no log file: DIR/idle/m-1\n"
            "  expected: out, out*, m-*.json (also with .gz or .zst)\n"
            "  found:    err",
        ),
        (
            "hollow",
            "error[no-logs]: host m-1 has no log file: DIR/hollow/m-1\n"
            "  expected: out, out*, m-*.json (also with .gz or .zst)\n"
            "  found:    nothing",
        ),
    ],
)
def test_a_run_that_is_none_is_refused(tmp_path: Path, name: str, message: str) -> None:
    write(tmp_path, file="", bare__other__out="x", idle__other__out="x", **{"bare__meta.json": "{}"})
    write(tmp_path, **{"idle__m-1__err": "x"})
    (tmp_path / "empty").mkdir()
    (tmp_path / "hollow" / "m-1").mkdir(parents=True)
    with pytest.raises(AssayError) as error:
        find_run(SOURCE, tmp_path / name)
    assert refusal(error.value, tmp_path) == message


def key(run: Path, memo: Path) -> str:
    files = find_run(SOURCE, run)
    return content_key(file_hashes(files, memo)[1], files)


def test_the_hash_of_a_run_is_of_its_hosts_and_contents_not_of_its_place(tmp_path: Path) -> None:
    run = put(tmp_path / "run", "m-1/out", "m-1/out.1", "m-2/out")
    first = key(run, tmp_path / "memo.json")
    shutil.copytree(run, tmp_path / "copy")
    (tmp_path / "copy" / "m-1" / "out.1").rename(tmp_path / "copy" / "m-1" / "out.7")
    assert key(tmp_path / "copy", tmp_path / "memo.json") == first
    (tmp_path / "copy" / "m-2").rename(tmp_path / "copy" / "m-3")
    assert key(tmp_path / "copy", tmp_path / "memo.json") != first


@pytest.mark.parametrize("change", ["a byte", "a file less", "a file moved to another host"])
def test_the_hash_of_a_run_changes_with_its_contents(tmp_path: Path, change: str) -> None:
    run = put(tmp_path / "run", "m-1/out", "m-1/out.1", "m-2/out")
    first = key(run, tmp_path / "memo.json")
    if change == "a byte":
        path = run / "m-2" / "out"
        path.write_bytes(path.read_bytes().replace(b'"n":2', b'"n":3'))
        os.utime(path, ns=(1, 1))
    elif change == "a file less":
        (run / "m-1" / "out.1").unlink()
    else:
        (run / "m-1" / "out.1").rename(run / "m-2" / "out.1")
    assert key(run, tmp_path / "memo.json") != first


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files whose bytes are read, as they are."""
    found: list[str] = []

    def watched(path: Path, mark: fingerprint.FileStamp) -> fingerprint.FileSnapshot:
        found.append(path.name)
        return fingerprint.hashed(path, mark)

    monkeypatch.setattr(hashing, "hashed", watched)
    monkeypatch.setattr(fingerprint, "SETTLED", 0)
    return found


def test_files_that_did_not_change_are_not_read_again(tmp_path: Path, hashed: list[str]) -> None:
    run, memo = put(tmp_path / "run", "m-1/out", "m-1/out.1"), tmp_path / "memo.json"
    first = key(run, memo)
    assert (key(run, memo), sorted(hashed)) == (first, ["out", "out.1"])
    before = (run / "m-1" / "out").stat()
    os.utime(run / "m-1" / "out", ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    assert (key(run, memo), hashed[2:]) == (first, ["out"])


@pytest.mark.usefixtures("hashed")
def test_a_file_whose_time_of_change_was_set_back_is_read_again(tmp_path: Path) -> None:
    run, memo = put(tmp_path / "run", "m-1/out"), tmp_path / "memo.json"
    path = run / "m-1" / "out"
    first, before = key(run, memo), path.stat()
    path.write_bytes(path.read_bytes().replace(b'"n":0', b'"n":1'))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = path.stat()
    assert (after.st_size, after.st_mtime_ns, after.st_ino) == (before.st_size, before.st_mtime_ns, before.st_ino)
    assert key(run, memo) != first


def test_a_file_that_has_just_changed_is_read_again(
    tmp_path: Path, hashed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fingerprint, "SETTLED", 10**18)
    run, memo = put(tmp_path / "run", "m-1/out"), tmp_path / "memo.json"
    assert (key(run, memo), hashed) == (key(run, memo), ["out", "out"])


@pytest.mark.usefixtures("hashed")
def test_a_memo_that_cannot_be_read_is_written_anew(tmp_path: Path) -> None:
    run, memo = put(tmp_path / "run", "m-1/out"), tmp_path / "memo.json"
    first = key(run, memo)
    memo.write_text("{torn")
    assert key(run, memo) == first
    assert len(json.loads(unseal_text(memo.name, memo.read_text()) or "{}")) == 1


def constant(kind: str, default: str | None = None, path: str = "a.b", files: str = "facts.json") -> Constant:
    unit = Unit("second", "s") if kind == "duration" else ONE
    return Constant("fact", tuple(files.split()), tuple(path.split(".")), kind, unit, default, "A fact")


def value(run: Path, written: str, kind: str, default: str | None = None) -> Any:
    write(run, **{"facts.json": f'{{"a":{{"b":{written}}}}}'})
    return read_constants(replace(SOURCE, constants=(constant(kind, default),)), run)["fact"]


@pytest.mark.parametrize(
    ("kind", "written", "expected"),
    [
        ("integer", "600", 600),
        ("integer", "18446744073709551616", 2**64),
        ("integer", "6e2", 600),
        ("integer", "600.0", 600),
        ("real", "0.05", 0.05),
        ("real", "2", 2.0),
        ("text", '"conway"', "conway"),
        ("text", '""', ""),
        ("boolean", "true", True),
        ("instant", '"2026-02-05T18:52:16Z"', 1770317536000000000),
        ("instant", '"2026-02-05T18:52:16.000000001Z"', 1770317536000000001),
        ("instant", '"2026-02-05T18:52:16.9999999999Z"', 1770317536999999999),
        ("duration", "1", 1_000_000_000),
        ("duration", "0.1", 100_000_000),
        ("duration", "0.000000001", 1),
        ("duration", "1e-3", 1_000_000),
        ("duration", "12345678.123456789", 12345678123456789),
    ],
)
def test_a_constant_is_read_exactly(tmp_path: Path, kind: str, written: str, expected: Any) -> None:
    read = value(tmp_path, written, kind)
    assert (read, type(read)) == (expected, type(expected))


@pytest.mark.parametrize(
    ("kind", "default", "expected"),
    [
        ("integer", "0", 0),
        ("real", "0.5", 0.5),
        ("text", "", ""),
        ("text", "none", "none"),
        ("duration", "0.5", 5 * 10**8),
    ],
)
@pytest.mark.parametrize("written", ["null", None])
def test_a_default_stands_for_a_fact_that_is_missing(
    tmp_path: Path, kind: str, default: str, expected: Any, written: str | None
) -> None:
    if written:
        assert value(tmp_path, written, kind, default) == expected
    else:
        write(tmp_path, **{"facts.json": "{}"})
        assert read_constants(replace(SOURCE, constants=(constant(kind, default),)), tmp_path) == {"fact": expected}


@pytest.mark.parametrize(
    ("kind", "written", "expected"),
    [
        ("integer", "1.5", "a whole number"),
        ("integer", '"600"', "a whole number"),
        ("integer", "true", "a whole number"),
        ("real", '"0.5"', "a number"),
        ("text", "7", "a text"),
        ("boolean", "1", "true or false"),
        ("instant", '"2026-02-30T18:52:16Z"', "a time in UTC, such as 2026-02-05T18:52:16Z"),
        ("instant", '"2026-02-05 18:52"', "a time in UTC, such as 2026-02-05T18:52:16Z"),
        ("instant", '"2026-02-05T18:52:16+01:00"', "a time in UTC, such as 2026-02-05T18:52:16Z"),
        ("instant", "1770317536", "a time in UTC, such as 2026-02-05T18:52:16Z"),
        ("duration", "0", "a number above 0"),
        ("duration", "-1", "a number above 0"),
        ("duration", "1E-12", "a nanosecond or more"),
    ],
)
def test_a_constant_of_another_type_is_refused_with_its_place(
    tmp_path: Path, kind: str, written: str, expected: str
) -> None:
    with pytest.raises(AssayError) as error:
        value(tmp_path, written, kind)
    text = refusal(error.value, tmp_path)
    assert text.startswith("error[wrong-fact]: `a.b` of the run's facts.json is not what it should be (A fact)\n")
    assert f'\n  at DIR/facts.json:1:7\n    1 | {{"a":{{"b":{written}}}}}\n' in text
    assert text.endswith(f"\n  expected: {expected}\n  found:    {written}")


@pytest.mark.parametrize("written", ["0", "-3", "0.0"])
@pytest.mark.parametrize(("kind", "expected"), [("integer", "a whole number above 0"), ("real", "a number above 0")])
def test_a_positive_constant_is_above_0(tmp_path: Path, kind: str, expected: str, written: str) -> None:
    above = replace(constant(kind), positive=True)
    write(tmp_path, **{"facts.json": f'{{"a":{{"b":{written}}}}}'})
    with pytest.raises(AssayError) as error:
        read_constants(replace(SOURCE, constants=(above,)), tmp_path)
    text = refusal(error.value, tmp_path)
    assert text.startswith("error[wrong-fact]: `a.b` of the run's facts.json is not what it should be (A fact)\n")
    assert text.endswith(f"\n  expected: {expected}\n  found:    {written}")
    assert value(tmp_path, written, kind) == float(written)
    write(tmp_path, **{"facts.json": '{"a":{"b":1}}'})
    assert read_constants(replace(SOURCE, constants=(above,)), tmp_path) == {"fact": 1}


def test_the_first_document_that_is_there_is_read(tmp_path: Path) -> None:
    write(tmp_path, **{"deep__second.json": '{"a":{"b":2}}', "third.json": '{"a":{"b":3}}'})
    fact = constant("integer", files="first.json deep/second.json third.json")
    assert read_constants(replace(SOURCE, constants=(fact,)), tmp_path) == {"fact": 2}


def test_all_that_is_missing_is_told_together(tmp_path: Path) -> None:
    write(tmp_path, **{"facts.json": '{"a":{}}'})
    facts = (constant("integer"), constant("text", path="x"), constant("text", files="gone.json or.json"))
    named = tuple(replace(item, name=f"fact{index}") for index, item in enumerate(facts))
    with pytest.raises(AssayError) as error:
        read_constants(replace(SOURCE, constants=named), tmp_path)
    assert refusal(error.value, tmp_path) == (
        "error[missing-fact]: the run's facts.json lacks `a.b` (A fact)\n  at DIR/facts.json\n\n"
        "error[missing-fact]: the run's facts.json lacks `x` (A fact)\n  at DIR/facts.json\n\n"
        "error[no-document]: the run has no gone.json or or.json: DIR\n"
        "  note: it tells the constant `fact2` (A fact) of source `machines`\n"
        "  hint: `assay schema gone.json` shows what it must hold"
    )


def test_a_document_that_is_no_json_is_refused_with_its_place(tmp_path: Path) -> None:
    write(tmp_path, **{"facts.json": '{\n "a": 1,\n}'})
    with pytest.raises(AssayError) as error:
        read_constants(replace(SOURCE, constants=(constant("integer"),)), tmp_path)
    text = refusal(error.value, tmp_path)
    assert text.startswith("error[not-json]: facts.json is not JSON: ")
    assert "\n  at DIR/facts.json:3:1\n" in text


def test_of_two_values_of_a_fact_the_first_counts_and_is_told(tmp_path: Path) -> None:
    (tmp_path / "facts.json").write_text('{"fact": 1, "fact": 2, "x": 1, "x": 2}')
    source = replace(SOURCE, constants=(constant("integer", path="fact"),))
    assert read_constants(source, tmp_path) == {"fact": 1}
    (told,) = duplicate_constant_warnings(source, tmp_path)
    assert told.startswith("facts.json has two values of `fact` (")
    assert told.endswith("); the first counts.")
    (tmp_path / "facts.json").write_text('{"fact": 1, "fact": 1}')
    assert duplicate_constant_warnings(source, tmp_path) == ()
