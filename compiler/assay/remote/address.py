"""Parse addresses of remote runs, and check the names of their objects as local files."""

from __future__ import annotations

import re

from assay.util.diagnostics import USAGE, AssayError, fail


def split_path(name: str) -> tuple[str, ...]:
    """Split a name into its parts, without `.` and empty ones."""
    return tuple(part for part in name.split("/") if part not in ("", "."))


def replace_backslashes(name: str) -> str:
    """Replace backslashes of a name by slashes."""
    return name.replace("\\", "/")


def explain_refusal(name: str) -> str:
    """Return why a name cannot be that of a file below a folder; empty if it can."""
    if name.startswith("/"):
        return "its name is absolute"
    if ".." in name.split("/"):
        return "its name leads out of the run (`..`)"
    if not split_path(name):
        return "it has no name"
    if "\0" in name or not _is_text(name):
        return "its name has a NUL or is not UTF-8"
    return ""


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


#: scheme of an address -> the package that reads it
PACKAGES = {"s3": "s3fs", "gs": "gcsfs", "gcs": "gcsfs", "az": "adlfs", "abfs": "adlfs"}
#: suffixes of archives, the longest first
ARCHIVES = (".tar.bz2", ".tar.gz", ".tar.xz", ".tar.zst", ".tbz2", ".tgz", ".txz", ".tzst", ".tar", ".zip")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(.*)", re.S)


def is_address(text: str) -> bool:
    """Return whether a text is an address with a scheme, not a path."""
    return _SCHEME.fullmatch(text) is not None


def check_address(text: str, subject: str = "run", hint: str = "download the run, and pass its folder") -> str:
    """Return the address of a subject without trailing slashes.

    Raises AssayError (usage): an unsupported scheme, no bucket, or a user name, password or token in it. Such secrets
    would appear in reports, so the message does not repeat the address.
    """
    match = _SCHEME.fullmatch(text)
    assert match, "callers check `is_address`"
    scheme, rest = match[1].lower(), match[2].rstrip("/")
    bucket = rest.partition("/")[0]
    if scheme not in PACKAGES:
        raise _build_error(subject, f"unknown scheme `{scheme}://` of a {subject}", f"`{scheme}://`", hint)
    if "@" in bucket or (":" in bucket and not bucket.startswith("arn:")) or "?" in rest:
        message = f"the address of a {subject} has credentials or a query"
        raise _build_error(subject, message, f"`{scheme}://…`", CREDENTIALS)
    if not bucket:
        raise _build_error(subject, f"the address of a {subject} names no bucket", f"`{text}`", "")
    return f"{scheme}://{rest}"


CREDENTIALS = (
    "credentials are taken from the environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_PROFILE) or ~/.aws"
)


def _build_error(subject: str, message: str, excerpt: str, hint: str) -> AssayError:
    return fail(f"{subject}-address", message, expected="s3://BUCKET/PREFIX", found=excerpt, hint=hint, status=USAGE)


def split_address(address: str) -> tuple[str, str]:
    """Split an address into scheme and rest: `s3`, `bucket/prefix`."""
    scheme, _, rest = address.partition("://")
    return scheme, rest


def get_archive_suffix(name: str) -> str:
    """Return the suffix that makes a name an archive; empty if it is none."""
    return next((end for end in ARCHIVES if name.lower().endswith(end)), "")


def is_archive(name: str) -> bool:
    """Return whether a name is that of an archive."""
    return bool(get_archive_suffix(name))


def get_run_name(text: str) -> str:
    """Return the name of a run by its address or path: the last part, without an archive's suffix."""
    last = text.rstrip("/").rpartition("/")[2]
    return last[: len(last) - len(get_archive_suffix(last))] or last
