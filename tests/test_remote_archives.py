"""Runs in archives: what good ones yield, and that bad ones are refused by name, with nothing written elsewhere."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import os
import signal
import struct
import tarfile
import zipfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest
import zstandard

from assay.engine.result_cache import Store
from assay.ingest.discovery import files_of
from assay.remote.mirror import mirrored
from assay.remote.required_files import Wanted
from assay.util.diagnostics import AssayError
from assay.util.progress import Progress, ignore_notice, ignore_progress
from assay.util.scratch import clean_up
from tests.compare_reference import CARDANO
from tests.support.commands import assay

PLAIN = CARDANO / "tiny" / "plain" / "run"
CONTENT = {path.relative_to(PLAIN).as_posix(): path.read_bytes() for path in PLAIN.rglob("*") if path.is_file()}
WANTED = Wanted(("genesis-shelley.json", "meta.json", "node-*/stdout", "node-*/stdout.gz"))

PACKED: dict[str, Callable[[bytes], bytes]] = {
    ".tar": bytes,
    ".tar.gz": lambda tar: gzip.compress(tar[:5000], 1) + gzip.compress(tar[5000:], 1),
    ".tgz": gzip.compress,
    ".tar.bz2": bz2.compress,
    ".tar.xz": lzma.compress,
    ".tar.zst": lambda tar: zstandard.compress(tar[:5000]) + zstandard.compress(tar[5000:]),
}


def tar_of(*members: tuple[tarfile.TarInfo | str, bytes], form: int = tarfile.PAX_FORMAT) -> bytes:
    """A tar of members: names, or heads, with their content."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=form) as archive:
        for member, content in members:
            head = tarfile.TarInfo(member) if isinstance(member, str) else member
            head.size = head.size or len(content)
            archive.addfile(head, io.BytesIO(content) if head.isreg() else None)
    return stream.getvalue()


def of_kind(name: str, kind: bytes, link: str = "", size: int = 0) -> tuple[tarfile.TarInfo, bytes]:
    head = tarfile.TarInfo(name)
    head.type, head.linkname, head.size = kind, link, size
    return head, b""


def zip_of(*members: tuple[zipfile.ZipInfo | str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, content in members:
            archive.writestr(member, content)
    return stream.getvalue()


def run_tar(above: str = "") -> bytes:
    return tar_of(*((f"{above}{name}", content) for name, content in CONTENT.items()), ("notes/more", b"not wanted"))


def mirror(cache: Path, archive: Path, wanted: Wanted = WANTED, progress: Progress = ignore_progress) -> Path:
    with ExitStack() as locks:
        return mirrored(Store(cache), str(archive), "run", wanted, locks, progress, ignore_notice)


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def refused(archive: Path, content: bytes, cache: Path) -> str:
    """What is said of an archive; nothing of it stays."""
    archive.write_bytes(content)
    cache.mkdir(exist_ok=True)
    around = {path for path in archive.parent.parent.rglob("*") if cache not in path.parents}
    with pytest.raises(AssayError) as caught:
        mirror(cache, archive)
    assert around == {path for path in archive.parent.parent.rglob("*") if cache not in path.parents}
    assert {path.name for path in cache.rglob("*") if path.is_file()} <= {"lock"}
    return f"{caught.value}\n".replace(str(archive), archive.name)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder within a folder, which `..` leads out of."""
    (tmp_path / "in").mkdir()
    return tmp_path / "in"


# Good ones


@pytest.mark.parametrize("suffix", PACKED)
def test_the_wanted_files_of_an_archive_are_unpacked(tmp_path: Path, suffix: str) -> None:
    archive = tmp_path / f"run{suffix}"
    archive.write_bytes(PACKED[suffix](run_tar()))
    assert files(mirror(tmp_path / "cache", archive)) == CONTENT


def test_a_zip_is_unpacked_and_what_stands_below_one_folder_is_the_run(tmp_path: Path) -> None:
    archive = tmp_path / "run.zip"
    members = [(f"run 5/{name}", content) for name, content in CONTENT.items()]
    archive.write_bytes(zip_of(("run 5/", b""), *members, ("__MACOSX/run 5/._meta.json", b""), ("run 5/core", b"0")))
    folder = mirror(tmp_path / "cache", archive)
    assert (folder.name, files(folder)) == ("run 5", CONTENT)


def of_system(system: int, *members: tuple[str, bytes]) -> bytes:
    """A zip whose members name the system that they were made on."""
    heads = [(zipfile.ZipInfo(name), content) for name, content in members]
    for head, _ in heads:
        head.create_system = system
    return zip_of(*heads)


def test_backslashes_of_a_zip_that_was_made_on_windows_divide_folders(tmp_path: Path) -> None:
    """Some of the names alone: the hosts of those were missing without a word."""
    archive = tmp_path / "run.zip"
    names = {name: name.replace("/", "\\") if name.startswith("node-1") else name for name in CONTENT}
    assert any("\\" in name for name in names.values())
    members = [(f"run 5\\{names[name]}", content) for name, content in CONTENT.items()]
    archive.write_bytes(of_system(0, ("run 5\\", b""), *members))
    folder = mirror(tmp_path / "cache", archive)
    assert (folder.name, files(folder)) == ("run 5", CONTENT)


@pytest.mark.parametrize("name", ["node-9\\stdout", "run\\node-9\\stdout"])
def test_a_backslash_where_a_run_has_a_folder_is_refused_in_archives_of_other_systems(place: Path, name: str) -> None:
    for suffix, content in (
        (".tar", tar_of(("node-1/stdout", b"{}"), (name, b"{}"))),
        (".zip", of_system(3, ("node-1/stdout", b"{}"), (name, b"{}"))),
    ):
        said = refused(place / f"run{suffix}", content, place / "cache")
        assert "\n  found:    its name has backslashes, where a run has folders\n" in said


def test_a_name_that_leads_elsewhere_by_backslashes_is_refused(place: Path) -> None:
    said = refused(place / "run.zip", of_system(0, ("node-1\\..\\..\\stdout", b"{}")), place / "cache")
    assert "\n  found:    its name leads out of the run (`..`)\n" in said


def test_a_backslash_elsewhere_is_a_character_of_a_name(tmp_path: Path) -> None:
    archive = tmp_path / "run.tar"
    archive.write_bytes(tar_of(("node-1/stdout", b"{}"), ("notes\\of\\stdout.txt", b"")))
    assert files(mirror(tmp_path / "cache", archive)) == {"node-1/stdout": b"{}"}


def test_several_zips_in_one_file_are_refused(place: Path) -> None:
    """The directory at the end names the members of the last one: hosts of the others would be missing."""
    first, last = zip_of(("meta.json", b"{}"), ("node-1/stdout", b"{}")), zip_of(("node-2/stdout", b"{}"))
    before = f"{len(first)} bytes of another before its first member"
    for content, found in (
        (first + last, before),
        (first + zip_of(), before),
        (first + last[:-30], "bytes behind its end"),
    ):
        assert (
            refused(place / "run.zip", content, place / "cache")
            == f"""\
error[broken-archive]: the archive is more than one zip: run.zip
  expected: one zip, and nothing else
  found:    {found}
  hint: unpack them into one folder, and pack that
"""
        )


def test_a_zip_may_stand_behind_the_program_that_unpacks_it_and_have_a_comment(tmp_path: Path) -> None:
    archive, stream = tmp_path / "run.zip", io.BytesIO(zip_of(("node-1/stdout", b"{}")))
    with zipfile.ZipFile(stream, "a") as members:
        members.comment = b"of tuesday"
    archive.write_bytes(b"MZ a program" + stream.getvalue())
    assert files(mirror(tmp_path / "cache", archive)) == {"node-1/stdout": b"{}"}


@pytest.mark.parametrize("suffix", PACKED)
def test_several_tars_in_one_file_are_refused(place: Path, suffix: str) -> None:
    first, last = tar_of(("node-1/stdout", b"{}")), tar_of(("node-2/stdout", b"{}"))
    content = PACKED[suffix](first) + PACKED[suffix](last)
    assert "\n  found:    what stands at byte 1024 is no member\n" in refused(
        place / f"run{suffix}", content, place / "cache"
    )


def test_one_host_alone_is_not_taken_for_the_folder_of_the_run(tmp_path: Path) -> None:
    archive = tmp_path / "run.tar"
    archive.write_bytes(tar_of(("./node-1/stdout", b"{}"), ("./notes", b"")))
    assert files(mirror(tmp_path / "cache", archive)) == {"node-1/stdout": b"{}"}


def test_an_archive_is_unpacked_once_and_again_when_it_changes_or_more_is_wanted(tmp_path: Path) -> None:
    archive, cache = tmp_path / "run.tar", tmp_path / "cache"
    archive.write_bytes(run_tar("run/"))
    before = mirror(cache, archive).stat().st_ino
    assert mirror(cache, archive).stat().st_ino == before
    archive.write_bytes(tar_of(*((f"run/{name}", content) for name, content in CONTENT.items()), ("run/extra", b"1")))
    assert files(mirror(cache, archive, Wanted(("extra",)))) == {**CONTENT, "extra": b"1"}
    assert files(mirror(cache, archive)) == {**CONTENT, "extra": b"1"}
    archive.write_bytes(run_tar())
    assert files(mirror(cache, archive)) == CONTENT


def test_an_archive_is_a_run_to_a_command(tmp_path: Path, cache: Path) -> None:
    archive = tmp_path / "10.6.tar.zst"
    archive.write_bytes(zstandard.compress(run_tar("run/")))
    done = assay("query", "CentiCpu", "--run", archive, "--run", f"dir={PLAIN}", "--no-filters", "--format", "json",
                 "--cache", cache)  # fmt: skip
    assert (done.status, done.err) == (0, "")
    packed, plain = done.json()
    assert packed == {**plain, "run": "10.6"}


def test_an_error_of_the_run_names_the_archive(tmp_path: Path, cache: Path) -> None:
    archive = tmp_path / "run.tar"
    archive.write_bytes(tar_of(*CONTENT.items(), ("node-7/other", b"")))
    done = assay("ingest", archive, "--system", "cardano", "--cache", cache)
    assert (done.status, done.err.split("\n")[0]) == (
        1,
        f"error[no-logs]: host node-7 has no log file: {archive}/node-7",
    )


# Bad ones

MEMBERS = {
    "/etc/stdout": (("/etc/stdout", b"x"), "its name is absolute"),
    "node-1/../../stdout": (("node-1/../../stdout", b"x"), "its name leads out of the run (`..`)"),
    "link": (of_kind("link", tarfile.SYMTYPE, "/etc/passwd"), "it is a link to /etc/passwd"),
    "hard": (of_kind("hard", tarfile.LNKTYPE, "../up"), "it is a link to ../up"),
    "device": (of_kind("device", tarfile.CHRTYPE), "it is neither a file nor a folder"),
    "pipe": (of_kind("pipe", tarfile.FIFOTYPE), "it is neither a file nor a folder"),
    "../up": (of_kind("../up", tarfile.DIRTYPE), "its name leads out of the run (`..`)"),
    "node-1/stdout/x": (("node-1/stdout/x", b"x"), "it is a file and a folder"),
    "node-1//./stdout": (("node-1//./stdout", b"[]"), "a member before has its name"),
    "bad\\udcff": (("bad\udcff", b"x"), "its name is no text"),
    "red\\x1b[31m/../x": (("red\x1b[31m/../x", b"x"), "its name leads out of the run (`..`)"),
}


@pytest.mark.parametrize("name", MEMBERS)
def test_a_member_that_cannot_be_a_file_of_the_run_is_refused(place: Path, name: str) -> None:
    member, why = MEMBERS[name]
    content = tar_of(("node-1/stdout", b"{}"), member, form=tarfile.GNU_FORMAT)
    said = refused(place / "run.tar", content, place / "cache")
    shown = "stdout" if "folder" in why and "file and" in why else name
    assert (
        said
        == f"""\
error[unsafe-name]: a member of the archive is refused: {shown}
  expected: names of files below the run
  found:    {why}
  note: in run.tar
"""
    )


def test_a_member_of_a_zip_that_leads_elsewhere_is_refused(place: Path) -> None:
    link = zipfile.ZipInfo("link")
    link.external_attr = 0o120777 << 16
    for member, why in (("../up", "its name leads out"), ("/up", "its name is absolute"), (link, "it is a link")):
        said = refused(place / "run.zip", zip_of(("meta.json", b"{}"), (member, b"/etc")), place / "cache")
        assert f"\n  found:    {why}" in said


@pytest.mark.parametrize("suffix", PACKED)
def test_a_cut_archive_is_refused(place: Path, suffix: str) -> None:
    whole = PACKED[suffix](run_tar())
    for cut in (len(whole) // 2, len(whole) - 3):
        if suffix == ".tar" and cut > len(whole) // 2:
            continue  # those zeros are more than are needed
        said = refused(place / f"run{suffix}", whole[:cut], place / "cache")
        lines = said.split("\n")
        assert lines[0] == f"error[broken-archive]: the archive of the run cannot be read to its end: run{suffix}"
        assert lines[1] == f"  expected: the content of a {suffix}"
        assert lines[3:] == ["  hint: is it cut off, or still being written?", ""]


def test_an_archive_that_was_packed_with_too_wide_a_window_is_told_as_that(place: Path) -> None:
    width = zstandard.ZstdCompressionParameters.from_level(1, window_log=28)
    packer = zstandard.ZstdCompressor(compression_params=width).compressobj()
    said = refused(place / "run.tar.zst", packer.compress(run_tar()) + packer.flush(), place / "cache")
    assert said.endswith(
        "  hint: it was packed with a window of more than 128 MiB (`zstd --long`): pack it again without\n"
    )


def test_a_tar_that_is_cut_between_members_or_damaged_in_one_is_refused(place: Path) -> None:
    whole = tar_of(("meta.json", b"{}"), ("node-1/stdout", b"{}"))
    assert "  found:    it ends before its content does\n" in refused(place / "run.tar", whole[:1024], place / "cache")
    damaged = whole[:1030] + b"X" + whole[1031:]
    assert "  found:    what stands at byte 1024 is no member\n" in refused(place / "a.tar", damaged, place / "cache")


def test_a_cut_or_damaged_zip_is_refused(place: Path) -> None:
    whole = zip_of(("meta.json", b"{}" * 400))
    start = "error[broken-archive]: the archive of the run cannot be read to its end: run.zip\n"
    for content in (whole[:-30], whole[:50] + b"\xff\xff" + whole[52:], b""):
        assert refused(place / "run.zip", content, place / "cache").startswith(start)


def test_an_archive_of_another_kind_than_its_name_says_is_told_by_its_content(place: Path) -> None:
    for suffix, content, real in (
        (".tar.gz", zstandard.compress(run_tar()), ".tar.zst"),
        (".tar.zst", gzip.compress(run_tar()), ".tar.gz"),
        (".tar.xz", run_tar(), ".tar"),
        (".tar", zip_of(("meta.json", b"{}")), ".zip"),
        (".zip", lzma.compress(run_tar()), ".tar.xz"),
    ):
        said = refused(place / f"run{suffix}", content, place / "cache")
        assert said.startswith("error[broken-archive]: ")
        assert said.endswith(f"  hint: its content is that of a {real}: rename it\n")
    said = refused(place / "run.tar.gz", b"<html>", place / "cache")
    assert said.endswith(
        "  hint: archives are .tar.bz2, .tar.gz, .tar.xz, .tar.zst, .tbz2, .tgz, .txz, .tzst, .tar, .zip\n"
    )


def test_an_archive_that_would_fill_the_disk_is_refused_before_it_does(place: Path) -> None:
    head = of_kind("node-1/stdout", tarfile.REGTYPE, size=10**17)[0].tobuf(tarfile.GNU_FORMAT)
    said = refused(place / "run.tar", head + bytes(5000), place / "cache").split("\n")
    assert said[0].startswith("error[disk-full]: the disk of the cache has no room for run.tar: ")
    assert said[1] == "  expected: 100000000.0 GB"
    assert said[2].endswith(" free")
    assert said[3] == "  hint: free some, or name a folder on another disk with --cache"


def test_a_zip_that_would_fill_the_disk_is_refused_before_it_does(place: Path) -> None:
    content = bytearray(zip_of(*((f"node-{number}/stdout", b"") for number in range(20_000))))
    start = 0
    while (start := content.find(b"PK\x01\x02", start)) >= 0:
        content[start + 24 : start + 28] = struct.pack("<I", 0xFFFFFFFE)
        start += 4
    said = refused(place / "run.zip", bytes(content), place / "cache")
    assert said.startswith("error[disk-full]: the disk of the cache has no room for run.zip: ")
    assert "\n  expected: 85899.3 GB\n" in said


def test_a_head_that_would_fill_the_memory_is_refused(place: Path) -> None:
    large = tarfile.TarInfo("node-1/stdout")
    large.pax_headers = {"comment": "x" * (17 * 2**20)}
    said = refused(place / "run.tar.gz", gzip.compress(tar_of((large, b"{}")), 1), place / "cache")
    assert said.startswith("error[broken-archive]: ")
    assert "\n  found:    the head of a member is larger than 16 MiB\n" in said


def killed_in(cache: Path, archive: Path) -> None:
    """Unpack an archive in a process that kills itself, without a warning, when all of it is read."""

    def kill(what: str, done: int, total: int) -> None:
        if what == "unpacking run" and done == total:
            os.kill(os.getpid(), signal.SIGKILL)

    child = os.fork()
    if not child:
        with contextlib.suppress(BaseException):
            mirror(cache, archive, progress=kill)
        os._exit(0)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL


def test_an_unpacking_that_is_killed_leaves_nothing(tmp_path: Path) -> None:
    archive, cache, other = (tmp_path / name for name in ("run.tar", "cache", "other"))
    for content in (run_tar(), tar_of(*CONTENT.items(), ("new", b""))):
        archive.write_bytes(content)
        before = {path.parent for path in cache.rglob("unpacked")}
        killed_in(cache, archive)
        left = [path for path in (cache / "scratch").glob("*/*/files/**/*") if path.is_file()]
        assert left, "it was killed before it had written anything"
        (folder,) = (cache / "mirror").iterdir()
        assert {path.name for path in folder.iterdir()} == {"lock", *(["unpacked"] if before else [])}
        killed_in(cache, archive)
        assert files(mirror(cache, archive)) == CONTENT
        clean_up(cache)
        mirror(other, archive)
        clean_up(other)
        assert files(cache).keys() == files(other).keys()
        assert not (cache / "scratch").exists()


def test_an_archive_of_several_runs_or_of_none_is_refused(place: Path) -> None:
    said = refused(place / "run.tar", tar_of(("a/meta.json", b"{}"), ("b/meta.json", b"{}")), place / "cache")
    assert (
        said
        == """\
error[no-run]: the archive holds more than one run: run.tar
  expected: one folder on top
  found:    a, b
  hint: pack each run by itself
"""
    )
    said = refused(place / "run.tar", tar_of(("readme", b"")), place / "cache")
    assert (
        said
        == """\
error[no-run]: the archive of the run holds no file that a source reads: run.tar
  expected: genesis-shelley.json, meta.json, node-*/stdout
  found:    readme
"""
    )


def test_an_archive_that_is_not_there(tmp_path: Path, cache: Path) -> None:
    done = assay("query", "CentiCpu", "--run", tmp_path / "run.tar.zst", "--cache", cache)
    assert (done.status, done.err) == (2, f"""\
error[no-run]: the archive of the run does not exist: {tmp_path / "run.tar.zst"}
  hint: --run takes a directory of a run, an archive of one, or an s3:// address
""")  # fmt: skip


# What is wanted


def test_wanted_globs_are_those_of_folders(tmp_path: Path) -> None:
    names = ("a", "a.gz", "b/a", "b/c/a", "b/c/d/a", "b/.a", "ab/c", "[x]", "._a", "b/._a")
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    for glob in ("*", "a*", "*/a", "*/*", "**/a", "b/**/a", "b/*/a", "?b/c", "[ab]", "*/.*", "[[]x]", "**/*"):
        found = {path.relative_to(tmp_path).as_posix() for path in files_of(tmp_path, glob)}
        assert {name for name in names if Wanted((glob,)).has(name)} == found, glob
