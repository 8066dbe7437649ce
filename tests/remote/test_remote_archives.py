"""Test runs in archives: contents of good ones, and errors of bad ones, which write nothing elsewhere."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import os
import re
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
from assay.ingest.discovery import find_files
from assay.remote.mirror import mirror_run
from assay.remote.required_files import RequiredFiles
from assay.util.diagnostics import AssayError
from assay.util.progress import Progress, ignore
from assay.util.scratch import clean_up
from tests.compare_reference import CARDANO
from tests.support.commands import run_assay
from tests.support.outcomes import read_contents

PLAIN = CARDANO / "tiny" / "plain" / "run"
CONTENT = {path.relative_to(PLAIN).as_posix(): path.read_bytes() for path in PLAIN.rglob("*") if path.is_file()}
WANTED = RequiredFiles(("genesis-shelley.json", "meta.json", "node-*/stdout", "node-*/stdout.gz"))

PACKED: dict[str, Callable[[bytes], bytes]] = {
    ".tar": bytes,
    ".tar.gz": lambda tar: gzip.compress(tar[:5000], 1) + gzip.compress(tar[5000:], 1),
    ".tgz": gzip.compress,
    ".tar.bz2": bz2.compress,
    ".tar.xz": lzma.compress,
    ".tar.zst": lambda tar: zstandard.compress(tar[:5000]) + zstandard.compress(tar[5000:]),
}


def make_tar(*members: tuple[tarfile.TarInfo | str, bytes], form: int = tarfile.PAX_FORMAT) -> bytes:
    """Create a tar of members: names or headers, with their content."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=form) as archive:
        for member, content in members:
            tar_info = tarfile.TarInfo(member) if isinstance(member, str) else member
            tar_info.size = tar_info.size or len(content)
            archive.addfile(tar_info, io.BytesIO(content) if tar_info.isreg() else None)
    return stream.getvalue()


def make_member(name: str, kind: bytes, link: str = "", size: int = 0) -> tuple[tarfile.TarInfo, bytes]:
    tar_info = tarfile.TarInfo(name)
    tar_info.type, tar_info.linkname, tar_info.size = kind, link, size
    return tar_info, b""


def make_zip(*members: tuple[zipfile.ZipInfo | str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, content in members:
            archive.writestr(member, content)
    return stream.getvalue()


def make_run_tar(parent_prefix: str = "") -> bytes:
    return make_tar(
        *((f"{parent_prefix}{name}", content) for name, content in CONTENT.items()), ("notes/more", b"not wanted")
    )


def mirror(cache: Path, archive: Path, wanted: RequiredFiles = WANTED, progress: Progress = ignore) -> Path:
    with ExitStack() as locks:
        return mirror_run(Store(cache), str(archive), "run", wanted, locks, progress, ignore)


def read_refusal(archive: Path, content: bytes, cache: Path) -> str:
    """Return the error for an archive, and check that no file of it remains."""
    archive.write_bytes(content)
    cache.mkdir(exist_ok=True)
    paths = {path for path in archive.parent.parent.rglob("*") if cache not in path.parents}
    with pytest.raises(AssayError) as error_info:
        mirror(cache, archive)
    assert paths == {path for path in archive.parent.parent.rglob("*") if cache not in path.parents}
    assert {path.name for path in cache.rglob("*") if path.is_file()} <= {"lock"}
    return f"{error_info.value}\n".replace(str(archive), archive.name)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Create a folder in a folder, so that `..` leaves it."""
    (tmp_path / "in").mkdir()
    return tmp_path / "in"


# Good archives


@pytest.mark.parametrize("suffix", PACKED)
def test_only_required_files_are_unpacked(tmp_path: Path, suffix: str) -> None:
    archive = tmp_path / f"run{suffix}"
    archive.write_bytes(PACKED[suffix](make_run_tar()))
    assert read_contents(mirror(tmp_path / "cache", archive)) == CONTENT


def make_system_zip(system: int, *members: tuple[str, bytes]) -> bytes:
    """Create a zip whose members name their operating system."""
    zip_members = [(zipfile.ZipInfo(name), content) for name, content in members]
    for zip_info, _ in zip_members:
        zip_info.create_system = system
    return make_zip(*zip_members)


def make_commented_zip() -> bytes:
    stream = io.BytesIO(make_zip(("node-1/stdout", b"{}")))
    with zipfile.ZipFile(stream, "a") as members:
        members.comment = b"of tuesday"
    return stream.getvalue()


def make_windows_zip() -> bytes:
    """Create a zip in which one host has backslashes (regression: it was missing without a message)."""
    names = {name: name.replace("/", "\\") if name.startswith("node-1") else name for name in CONTENT}
    assert any("\\" in name for name in names.values())
    return make_system_zip(0, ("run 5\\", b""), *((f"run 5\\{names[name]}", CONTENT[name]) for name in CONTENT))


#: archive, name of the folder of the run ("" for any name), its files
GOOD: dict[str, tuple[str, bytes, str, dict[str, bytes]]] = {
    "one top folder": (
        ".zip",
        make_zip(
            ("run 5/", b""),
            *((f"run 5/{name}", content) for name, content in CONTENT.items()),
            ("__MACOSX/run 5/._meta.json", b""),
            ("run 5/core", b"0"),
        ),
        "run 5",
        CONTENT,
    ),
    "backslashes of Windows divide folders": (".zip", make_windows_zip(), "run 5", CONTENT),
    "another backslash is a character of a name": (
        ".tar",
        make_tar(("node-1/stdout", b"{}"), ("notes\\of\\stdout.txt", b"")),
        "",
        {"node-1/stdout": b"{}"},
    ),
    "a program before the zip and a comment": (
        ".zip", b"MZ a program" + make_commented_zip(), "", {"node-1/stdout": b"{}"},
    ),
    "a single host is not the folder of the run": (
        ".tar", make_tar(("./node-1/stdout", b"{}"), ("./notes", b"")), "", {"node-1/stdout": b"{}"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", GOOD)
def test_good_archive_is_unpacked(case: str, tmp_path: Path) -> None:
    suffix, content, name, expected = GOOD[case]
    archive = tmp_path / f"run{suffix}"
    archive.write_bytes(content)
    folder = mirror(tmp_path / "cache", archive)
    assert (name in ("", folder.name), read_contents(folder)) == (True, expected)


@pytest.mark.parametrize("suffix", PACKED)
def test_concatenated_tars_are_refused(place: Path, suffix: str) -> None:
    first, last = make_tar(("node-1/stdout", b"{}")), make_tar(("node-2/stdout", b"{}"))
    content = PACKED[suffix](first) + PACKED[suffix](last)
    assert "\n  found:    the data at byte 1024 is not a member\n" in read_refusal(
        place / f"run{suffix}", content, place / "cache"
    )


def test_archive_is_unpacked_again_only_after_a_change(tmp_path: Path) -> None:
    archive, cache = tmp_path / "run.tar", tmp_path / "cache"
    archive.write_bytes(make_run_tar("run/"))
    before = mirror(cache, archive).stat().st_ino
    assert mirror(cache, archive).stat().st_ino == before
    archive.write_bytes(make_tar(*((f"run/{name}", content) for name, content in CONTENT.items()), ("run/extra", b"1")))
    assert read_contents(mirror(cache, archive, RequiredFiles(("extra",)))) == {**CONTENT, "extra": b"1"}
    assert read_contents(mirror(cache, archive)) == {**CONTENT, "extra": b"1"}
    archive.write_bytes(make_run_tar())
    assert read_contents(mirror(cache, archive)) == CONTENT


def test_commands_accept_an_archive_as_run(tmp_path: Path, cache: Path) -> None:
    archive = tmp_path / "10.6.tar.zst"
    archive.write_bytes(zstandard.compress(make_run_tar("run/")))
    result = run_assay(
        "query",
        "CentiCpu",
        "--run",
        archive,
        "--run",
        f"dir={PLAIN}",
        "--no-filters",
        "--format",
        "json",
        "--cache",
        cache,
    )
    assert (result.status, result.err) == (0, "")
    archive_result, folder_result = result.parse_json()
    assert archive_result == {**folder_result, "run": "10.6"}


def test_error_of_the_run_names_the_archive(tmp_path: Path, cache: Path) -> None:
    archive = tmp_path / "run.tar"
    archive.write_bytes(make_tar(*CONTENT.items(), ("node-7/other", b"")))
    result = run_assay("ingest", archive, "--system", "cardano", "--cache", cache)
    assert (result.status, result.err.split("\n")[0]) == (
        1,
        f"error[no-logs]: host node-7 has no log file: {archive}/node-7",
    )


# Bad archives

MEMBERS = {
    "/etc/stdout": (("/etc/stdout", b"x"), "its name is absolute"),
    "node-1/../../stdout": (("node-1/../../stdout", b"x"), "its name leads out of the run (`..`)"),
    "link": (make_member("link", tarfile.SYMTYPE, "/etc/passwd"), "it is a link to /etc/passwd"),
    "hard": (make_member("hard", tarfile.LNKTYPE, "../up"), "it is a link to ../up"),
    "device": (make_member("device", tarfile.CHRTYPE), "it is neither a file nor a folder"),
    "pipe": (make_member("pipe", tarfile.FIFOTYPE), "it is neither a file nor a folder"),
    "../up": (make_member("../up", tarfile.DIRTYPE), "its name leads out of the run (`..`)"),
    "node-1/stdout/x": (("node-1/stdout/x", b"x"), "it is a file and a folder"),
    "node-1//./stdout": (("node-1//./stdout", b"[]"), "an earlier member has this name"),
    "bad\\udcff": (("bad\udcff", b"x"), "its name has a NUL or is not UTF-8"),
    "red\\x1b[31m/../x": (("red\x1b[31m/../x", b"x"), "its name leads out of the run (`..`)"),
}


@pytest.mark.parametrize("name", MEMBERS)
def test_member_that_cannot_be_a_file_is_refused(place: Path, name: str) -> None:
    member, reason = MEMBERS[name]
    content = make_tar(("node-1/stdout", b"{}"), member, form=tarfile.GNU_FORMAT)
    message = read_refusal(place / "run.tar", content, place / "cache")
    printed_path = "stdout" if "folder" in reason and "file and" in reason else name
    assert (
        message
        == f"""\
error[unsafe-name]: a member of the archive is refused: {printed_path}
  expected: names of files below the run
  found:    {reason}
  note: in run.tar
"""
    )


@pytest.mark.parametrize("suffix", PACKED)
def test_truncated_archive_is_refused(place: Path, suffix: str) -> None:
    archive_content = PACKED[suffix](make_run_tar())
    for cut in (len(archive_content) // 2, len(archive_content) - 3):
        if suffix == ".tar" and cut > len(archive_content) // 2:
            continue  # only surplus zeros are missing
        message = read_refusal(place / f"run{suffix}", archive_content[:cut], place / "cache")
        lines = message.split("\n")
        assert lines[0] == f"error[broken-archive]: the archive of the run cannot be read to its end: run{suffix}"
        assert lines[1] == f"  expected: the content of a {suffix}"
        assert lines[3:] == ["  hint: is it cut off, or still being written?", ""]


TWO_MEMBERS = make_tar(("meta.json", b"{}"), ("node-1/stdout", b"{}"))
FIRST_ZIP, LAST_ZIP = make_zip(("meta.json", b"{}"), ("node-1/stdout", b"{}")), make_zip(("node-2/stdout", b"{}"))
LONG_ZIP = make_zip(("meta.json", b"{}" * 400))


def make_link() -> zipfile.ZipInfo:
    link = zipfile.ZipInfo("link")
    link.external_attr = 0o120777 << 16
    return link


def pack_wide() -> bytes:
    width = zstandard.ZstdCompressionParameters.from_level(1, window_log=28)
    packer = zstandard.ZstdCompressor(compression_params=width).compressobj()
    return packer.compress(make_run_tar()) + packer.flush()


def make_oversized_zip() -> bytes:
    """Create a zip of 20,000 members that claim to be 4 GiB each."""
    content = bytearray(make_zip(*((f"node-{number}/stdout", b"") for number in range(20_000))))
    start = 0
    while (start := content.find(b"PK\x01\x02", start)) >= 0:
        content[start + 24 : start + 28] = struct.pack("<I", 0xFFFFFFFE)
        start += 4
    return bytes(content)


def make_large_header() -> bytes:
    tar_info = tarfile.TarInfo("node-1/stdout")
    tar_info.pax_headers = {"comment": "x" * (17 * 2**20)}
    return gzip.compress(make_tar((tar_info, b"{}")), 1)


BACKSLASHES = "...\n  found:    its name has backslashes, where a run has folders\n..."
SEVERAL_ZIPS = """\
error[broken-archive]: the archive is more than one zip: run.zip
  expected: one zip, and nothing else
  found:    {}
  hint: unpack them into one folder, and pack it
"""
CUT_ZIP = "error[broken-archive]: the archive of the run cannot be read to its end: run.zip\n..."
#: archive, its content, and the message, in which `...` matches any text
BAD: dict[str, tuple[str, Callable[[], bytes], str]] = {
    **{
        f"{name} in a {suffix}": (suffix, content, BACKSLASHES)
        for name in ("node-9\\stdout", "run\\node-9\\stdout")
        for suffix, content in (
            (".tar", lambda name=name: make_tar(("node-1/stdout", b"{}"), (name, b"{}"))),
            (".zip", lambda name=name: make_system_zip(3, ("node-1/stdout", b"{}"), (name, b"{}"))),
        )
    },
    "a name that leaves the run by backslashes": (
        ".zip",
        lambda: make_system_zip(0, ("node-1\\..\\..\\stdout", b"{}")),
        "...\n  found:    its name leads out of the run (`..`)\n...",
    ),
    "two zips": (
        ".zip",
        lambda: FIRST_ZIP + LAST_ZIP,
        SEVERAL_ZIPS.format(f"{len(FIRST_ZIP)} bytes of another before its first member"),
    ),
    "a zip and an empty one": (
        ".zip",
        lambda: FIRST_ZIP + make_zip(),
        SEVERAL_ZIPS.format(f"{len(FIRST_ZIP)} bytes of another before its first member"),
    ),
    "a zip and part of another": (
        ".zip",
        lambda: FIRST_ZIP + LAST_ZIP[:-30],
        SEVERAL_ZIPS.format("bytes behind its end"),
    ),
    **{
        f"a zip with {reason}": (".zip", content, f"...\n  found:    {reason}...")
        for reason, content in {
            "its name leads out": lambda: make_zip(("meta.json", b"{}"), ("../up", b"/etc")),
            "its name is absolute": lambda: make_zip(("meta.json", b"{}"), ("/up", b"/etc")),
            "it is a link": lambda: make_zip(("meta.json", b"{}"), (make_link(), b"/etc")),
        }.items()
    },
    "a window of 256 MiB": (
        ".tar.zst",
        pack_wide,
        "...  hint: it was compressed with a window of more than 128 MiB (`zstd --long`): compress it again without\n",
    ),
    "a tar that ends between members": (
        ".tar", lambda: TWO_MEMBERS[:1024], "...  found:    it ends before its content does\n...",
    ),
    "a tar with a damaged header": (
        ".tar",
        lambda: TWO_MEMBERS[:1030] + b"X" + TWO_MEMBERS[1031:],
        "...  found:    the data at byte 1024 is not a member\n...",
    ),
    "a zip without its end": (".zip", lambda: LONG_ZIP[:-30], CUT_ZIP),
    "a damaged zip": (".zip", lambda: LONG_ZIP[:50] + b"\xff\xff" + LONG_ZIP[52:], CUT_ZIP),
    "an empty zip": (".zip", bytes, CUT_ZIP),
    **{
        f"a {real_suffix} named {suffix}": (
            suffix, content, f"error[broken-archive]: ...  hint: the content is a {real_suffix}: rename the file\n",
        )
        for suffix, real_suffix, content in (
            (".tar.gz", ".tar.zst", lambda: zstandard.compress(make_run_tar())),
            (".tar.zst", ".tar.gz", lambda: gzip.compress(make_run_tar())),
            (".tar.xz", ".tar", make_run_tar),
            (".tar", ".zip", lambda: make_zip(("meta.json", b"{}"))),
            (".zip", ".tar.xz", lambda: lzma.compress(make_run_tar())),
        )
    },
    "a page named .tar.gz": (
        ".tar.gz",
        lambda: b"<html>",
        "...  hint: archives are .tar.bz2, .tar.gz, .tar.xz, .tar.zst, .tbz2, .tgz, .txz, .tzst, .tar, .zip\n",
    ),
    "a tar larger than the disk": (
        ".tar",
        lambda: make_member("node-1/stdout", tarfile.REGTYPE, size=10**17)[0].tobuf(tarfile.GNU_FORMAT) + bytes(5000),
        "error[disk-full]: the disk of the cache has no room for run.tar: ...\n  expected: 100000000.0 GB\n... free\n"
        "  hint: free disk space, or pass a folder on another disk with --cache\n",
    ),
    "a zip larger than the disk": (
        ".zip",
        make_oversized_zip,
        "error[disk-full]: the disk of the cache has no room for run.zip: ...\n  expected: 85899.3 GB\n...",
    ),
    "a header larger than memory": (
        ".tar.gz",
        make_large_header,
        "error[broken-archive]: ...\n  found:    the head of a member is larger than 16 MiB\n...",
    ),
    "several runs": (
        ".tar",
        lambda: make_tar(("a/meta.json", b"{}"), ("b/meta.json", b"{}")),
        "error[no-run]: the archive holds more than one run: run.tar\n  expected: one folder on top\n"
        "  found:    a, b\n  hint: pack each run by itself\n",
    ),
    "no run": (
        ".tar",
        lambda: make_tar(("readme", b"")),
        "error[no-run]: the archive of the run holds no file that a source reads: run.tar\n"
        "  expected: genesis-shelley.json, meta.json, node-*/stdout\n  found:    readme\n",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_archive_is_refused_with_its_reason(case: str, place: Path) -> None:
    suffix, content, expected = BAD[case]
    message = read_refusal(place / f"run{suffix}", content(), place / "cache")
    pattern = re.escape(expected).replace(re.escape("..."), ".*")
    assert re.fullmatch(pattern, message, re.DOTALL), message


def unpack_and_kill(cache: Path, archive: Path) -> None:
    """Unpack an archive in a process that kills itself after reading everything."""

    def kill(stage: str, amount: int, total: int) -> None:
        if stage == "unpacking run" and amount == total:
            os.kill(os.getpid(), signal.SIGKILL)

    child = os.fork()
    if not child:
        with contextlib.suppress(BaseException):
            mirror(cache, archive, progress=kill)
        os._exit(0)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL


def test_killed_unpacking_leaves_no_files(tmp_path: Path) -> None:
    archive, cache, other_cache = (tmp_path / name for name in ("run.tar", "cache", "other"))
    for content in (make_run_tar(), make_tar(*CONTENT.items(), ("new", b""))):
        archive.write_bytes(content)
        before = {path.parent for path in cache.rglob("unpacked")}
        unpack_and_kill(cache, archive)
        leftover_files = [path for path in (cache / "scratch").glob("*/*/files/**/*") if path.is_file()]
        assert leftover_files, "it was killed before it had written anything"
        (folder,) = (cache / "mirror").iterdir()
        assert {path.name for path in folder.iterdir()} == {"lock", *(["unpacked"] if before else [])}
        unpack_and_kill(cache, archive)
        assert read_contents(mirror(cache, archive)) == CONTENT
        clean_up(cache)
        mirror(other_cache, archive)
        clean_up(other_cache)
        assert read_contents(cache).keys() == read_contents(other_cache).keys()
        assert not (cache / "scratch").exists()


def test_missing_archive_is_reported(tmp_path: Path, cache: Path) -> None:
    result = run_assay("query", "CentiCpu", "--run", tmp_path / "run.tar.zst", "--cache", cache)
    assert (result.status, result.err) == (2, f"""\
error[no-run]: the archive of the run does not exist: {tmp_path / "run.tar.zst"}
  hint: --run takes a directory of a run, an archive of one, or an s3:// address
""")  # fmt: skip


# Required files


def test_required_globs_are_those_of_folders(tmp_path: Path) -> None:
    names = ("a", "a.gz", "b/a", "b/c/a", "b/c/d/a", "b/.a", "ab/c", "[x]", "._a", "b/._a")
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    for glob in ("*", "a*", "*/a", "*/*", "**/a", "b/**/a", "b/*/a", "?b/c", "[ab]", "*/.*", "[[]x]", "**/*"):
        actual = {path.relative_to(tmp_path).as_posix() for path in find_files(tmp_path, glob)}
        assert {name for name in names if RequiredFiles((glob,)).has(name)} == actual, glob
