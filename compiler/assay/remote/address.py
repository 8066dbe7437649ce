"""Addresses of remote runs, and the names of their objects as local files."""

from __future__ import annotations

import re

from assay.util.diagnostics import USAGE, AssayError, fail


def parts_of(name: str) -> tuple[str, ...]:
    """The parts of a name: those that say nothing (`.`, empty ones) left out."""
    return tuple(part for part in name.split("/") if part not in ("", "."))


def slashed(name: str) -> str:
    """A name whose parts backslashes divide, too."""
    return name.replace("\\", "/")


def refusal(name: str) -> str:
    """Why a name cannot be that of a file below a folder; empty when it can."""
    if name.startswith("/"):
        return "its name is absolute"
    if ".." in name.split("/"):
        return "its name leads out of the run (`..`)"
    if not parts_of(name):
        return "it has no name"
    if "\0" in name or not _is_text(name):
        return "its name is no text"
    return ""


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


#: scheme of an address -> the package that reads it
PACKAGES = {"s3": "s3fs", "gs": "gcsfs", "gcs": "gcsfs", "az": "adlfs", "abfs": "adlfs"}
#: ends of the names of archives, the longest first
ARCHIVES = (".tar.bz2", ".tar.gz", ".tar.xz", ".tar.zst", ".tbz2", ".tgz", ".txz", ".tzst", ".tar", ".zip")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(.*)", re.S)


def is_address(text: str) -> bool:
    """Whether a text is meant as an address, with a scheme, not as a path."""
    return _SCHEME.fullmatch(text) is not None


def checked_address(text: str) -> str:
    """The address without slashes at its end.

    AssayError (usage): of no scheme that runs are read by, without a bucket, or with a name, a password or a token in
    it, which would come into reports; such an address is not repeated.
    """
    found = _SCHEME.fullmatch(text)
    assert found, "asked only of what is an address"
    scheme, rest = found[1].lower(), found[2].rstrip("/")
    bucket = rest.partition("/")[0]
    if scheme not in PACKAGES:
        raise _bad(f"runs are not read from `{scheme}://`", f"`{scheme}://`", "fetch the run, and name its directory")
    if "@" in bucket or (":" in bucket and not bucket.startswith("arn:")) or "?" in rest:
        raise _bad("the address of a run holds more than its place", f"`{scheme}://…`", CREDENTIALS)
    if not bucket:
        raise _bad("the address of a run names no bucket", f"`{text}`", "")
    return f"{scheme}://{rest}"


CREDENTIALS = (
    "credentials are taken from the environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_PROFILE) or ~/.aws"
)


def _bad(message: str, found: str, hint: str) -> AssayError:
    return fail("run-address", message, expected="s3://BUCKET/PREFIX", found=found, hint=hint, status=USAGE)


def place_in(address: str) -> tuple[str, str]:
    """Scheme and the rest of an address: `s3`, `bucket/prefix`."""
    scheme, _, rest = address.partition("://")
    return scheme, rest


def suffix_of(name: str) -> str:
    """The end of a name by which it is an archive; empty when it is none."""
    return next((end for end in ARCHIVES if name.lower().endswith(end)), "")


def is_archive(name: str) -> bool:
    """Whether a name is that of an archive."""
    return bool(suffix_of(name))


def name_of(text: str) -> str:
    """What a run is called by its address or path: the last part, without the end of an archive's name."""
    last = text.rstrip("/").rpartition("/")[2]
    return last[: len(last) - len(suffix_of(last))] or last
