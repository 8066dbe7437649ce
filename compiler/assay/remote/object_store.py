"""List and read objects on object storage through fsspec, and report what goes wrong."""

from __future__ import annotations

import hashlib
import math
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from typing import IO, Any

from assay.remote.address import CREDENTIALS, PACKAGES, split_address
from assay.util.diagnostics import USAGE, AssayError, fail, suggest_names

PIECE = 8 * 2**20  # bytes per request
#: metadata that identifies the content of an object, the most reliable first
VERSIONS = ("ETag", "etag", "md5Hash", "content_md5", "generation", "LastModified", "last_modified", "updated", "mtime")
#: metadata with the time at which an object was written
TIMES = ("LastModified", "last_modified", "updated", "mtime")
CHANGED = "FileExpired"  # the error of s3fs for an object that changed since it was listed
EXTRA = "s3"
TRIES = 2  # attempts of s3fs, per object and per request; its client retries every request by itself
#: exceptions of these packages that are no OSError
STORAGE_ERRORS = (
    ("botocore.exceptions", "BotoCoreError"),
    ("botocore.exceptions", "ClientError"),
    ("aiohttp", "ClientError"),
)


@dataclass(frozen=True, slots=True)
class Object:
    """An object: its name below the prefix, its path in the storage, its size in bytes, the version of its content."""

    name: str
    path: str
    size: int
    version: str

    @property
    def fingerprint(self) -> tuple[int, str]:
        """Size and version: they differ if the content does."""
        return self.size, self.version


@dataclass(frozen=True, slots=True)
class Storage:
    """The storage of the objects of an address."""

    address: str
    system: Any

    def list_objects(self) -> tuple[Object, ...]:
        """Return all objects below the address, by name.  Raises AssayError `no-run` without objects."""
        scheme, path = split_address(self.address)
        with self.translate_errors("list"):
            listing = self.system.find(path, detail=True)
        items = [_build_object(name.removeprefix(f"{path}/"), info) for name, info in sorted(listing.items())
               if name.startswith(f"{path}/") and not name.endswith("/") and info.get("type") == "file"]  # fmt: skip
        if not items:
            raise self.build_no_objects_error(f"no objects at the address of the run: {self.address}", scheme, path)
        return tuple(items)

    def list_folders(self, file: str = "") -> dict[str, tuple[float, str]]:
        """Return the names of the folders below the address, or of those with a file; none without objects.

        Each has the time of its newest object (infinite if that is not known), and the hash of its listing.
        """
        path = split_address(self.address)[1]
        with self.translate_errors("list"):
            listing = self.system.find(path, detail=True)
        folders: dict[str, list[tuple[float, Object]]] = {}
        for name, info in sorted(listing.items()):
            folder, separator, rest = name.removeprefix(f"{path}/").partition("/")
            if name.startswith(f"{path}/") and separator and rest and info.get("type") == "file":
                folders.setdefault(folder, []).append((_get_time(info), _build_object(rest, info)))
        return {
            folder: (
                max(time for time, _ in items),
                hashlib.sha256(repr([(item.name, item.fingerprint) for _, item in items]).encode()).hexdigest(),
            )
            for folder, items in folders.items()
            if not file or any(item.name == file for _, item in items)
        }

    def find_object(self) -> Object | None:
        """Return the object at the address itself; None if there is none."""
        path = split_address(self.address)[1]
        try:
            with self.translate_errors("read"):
                info = self.system.info(path)
        except AssayError as error:
            if error.diagnostics[0].code == "no-run":
                return None
            raise
        return _build_object(path.rpartition("/")[2], info) if info.get("type") == "file" else None

    def read_pieces(self, item: Object, start: int) -> Iterator[bytes]:
        """Yield the bytes of an object from `start` on.  Raises AssayError, also if it changed since it was listed."""
        with self.translate_errors("read", item):
            if start == item.size:
                return
            with self.system.open(item.path, "rb", block_size=PIECE, cache_type="none") as stream:
                if _get_version(getattr(stream, "details", None) or {}) not in ("", item.version):
                    raise self._build_changed_error(item, "changed")
                stream.seek(start)
                while count := min(PIECE, item.size - start):
                    piece = _read(stream, count)
                    if len(piece) != count:  # for example the error page of a proxy
                        raise EOFError(f"a response of {len(piece)} bytes to a request for {count}")
                    start += count
                    yield piece

    @contextmanager
    def translate_errors(self, action: str, item: Object | None = None) -> Iterator[None]:
        """Convert errors of the storage and its connection to AssayError."""
        address = f"{split_address(self.address)[0]}://{item.path}" if item else self.address
        try:
            yield
        except PermissionError as error:
            raise fail("run-refused", f"the server refuses to {action}: {address}", found=_describe_cause(error),
                       hint=CREDENTIALS) from None  # fmt: skip
        except FileNotFoundError as error:
            if item:
                raise self._build_changed_error(item, "was removed") from None
            raise self.build_no_objects_error(
                f"the server does not have the address: {address}", *split_address(self.address), error
            ) from None
        except _get_exceptions() as error:
            if type(error).__name__ == CHANGED:
                assert item
                raise self._build_changed_error(item, "changed") from None
            if type(error).__name__ in ("NoCredentialsError", "PartialCredentialsError", "ProfileNotFound"):
                raise fail("run-refused", f"there are no credentials for: {address}", found=_describe_cause(error),
                           hint=f"{CREDENTIALS}; set FSSPEC_S3_ANON=true to read public data") from None  # fmt: skip
            is_interrupted = item is not None and not _is_unreachable(error)
            message = (
                "the server interrupted the transfer"
                if is_interrupted
                else "the server cannot be reached, or is not an object store"
            )
            raise fail("no-server", f"{message}: {address}", found=_describe_cause(error),
                       hint="run the same command again: it fetches only the rest" if is_interrupted
                       else "check the address in AWS_ENDPOINT_URL") from None  # fmt: skip

    def build_no_objects_error(self, message: str, scheme: str, path: str, error: OSError | None = None) -> AssayError:
        """Return the error of an address without objects, with similar names next to it."""
        hint = suggest_names(*siblings) if (siblings := self._list_siblings(path)) else ""
        cause = _describe_cause(error) if error else ""
        return fail("no-run", message, expected=f"objects below {scheme}://{path}/", found=cause, hint=hint)

    def _list_siblings(self, path: str) -> tuple[str, list[str]] | None:
        """Return the first part of a path that does not exist, and the names that exist in its place."""
        while path:
            path, _, last = path.rpartition("/")
            with suppress(*_get_exceptions()):
                names = [str(item).rstrip("/").rpartition("/")[2] for item in self.system.ls(path, detail=False)]
                return (last, names) if names else None
        return None

    def _build_changed_error(self, item: Object, change: str) -> AssayError:
        """Return the error of an object that changed since it was listed."""
        return fail(
            "run-changing",
            f"an object {change} during the transfer of the run: {split_address(self.address)[0]}://{item.path}",
            hint="run the same command again when the run is complete: it fetches only the rest",
        )


def open_storage(address: str, **options: Any) -> Storage:
    """Open the storage of an address; `options` are those of its package.

    Raises AssayError (usage): the package for it is not installed.
    """
    scheme, _ = split_address(address)
    try:
        import fsspec

        # Cached instances would return old listings.
        system = fsspec.filesystem(scheme, skip_instance_cache=True, **options)
        if scheme == EXTRA:
            system.retries = TRIES
        return Storage(address, system)
    except ImportError:
        package = PACKAGES[scheme]
        command = f"pip install 'assay[{EXTRA}]'" if scheme == EXTRA else f"pip install {package}"
        raise fail(
            "no-package", f"reading {scheme}:// requires the package {package}", hint=command, status=USAGE
        ) from None


def _build_object(name: str, info: Mapping[str, Any]) -> Object:
    return Object(name, str(info["name"]), int(info["size"]), _get_version(info))


def _get_time(info: Mapping[str, Any]) -> float:
    """Return when an object was written, in seconds; infinite if that is not known."""
    times = (info[name] for name in TIMES if isinstance(info.get(name), datetime))
    return next((item.timestamp() for item in times), math.inf)


def _read(stream: IO[bytes], count: int) -> bytes:
    """Read bytes of an object.

    s3fs raises IndexError while it handles an error without text, such as that of an aborted response.
    """
    try:
        return stream.read(count)
    except IndexError as error:
        raise error.__context__ if isinstance(error.__context__, OSError) else error from None


def _get_version(info: Mapping[str, Any]) -> str:
    return next((str(info[key]) for key in VERSIONS if info.get(key)), "")


def _get_exceptions() -> tuple[type[Exception], ...]:
    """Return the exceptions that imported storage packages raise when a server misbehaves."""
    loaded = [getattr(sys.modules[module], name) for module, name in STORAGE_ERRORS if module in sys.modules]
    # ValueError: invalid settings; LookupError: incomplete responses
    return (OSError, EOFError, ValueError, LookupError, *loaded)


def _is_unreachable(error: Exception) -> bool:
    return type(error).__name__ in ("EndpointConnectionError", "ConnectTimeoutError", "ClientConnectorError")


def _describe_cause(error: Exception) -> str:
    """Return the first line of an error's text."""
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    if not text and isinstance(error, TimeoutError):
        return "the response stopped"
    if isinstance(error, KeyError):
        return f"a response without {text}"
    return f"{text}".strip().partition("\n")[0][:300] or type(error).__name__
