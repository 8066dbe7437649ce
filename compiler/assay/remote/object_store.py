"""Object storage through fsspec: what is there, its bytes, and what goes wrong on the way."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import IO, Any

from assay.remote.address import CREDENTIALS, PACKAGES, place_in
from assay.util.diagnostics import USAGE, AssayError, did_you_mean, fail

PIECE = 8 * 2**20  # bytes that are asked for at a time
#: what tells one content of an object from another, the surest first
VERSIONS = ("ETag", "etag", "md5Hash", "content_md5", "generation", "LastModified", "last_modified", "updated", "mtime")
CHANGED = "FileExpired"  # what an object is called that is not what was listed, by s3fs
EXTRA = "s3"
TRIES = 2  # of s3fs, at an object and again at each request of it, each of which the client under it tries again itself
#: what they raise that is no OSError
RAISED = (("botocore.exceptions", "BotoCoreError"), ("botocore.exceptions", "ClientError"), ("aiohttp", "ClientError"))


@dataclass(frozen=True, slots=True)
class Object:
    """An object: its name below the prefix, its path in the storage, bytes, what tells its content from another."""

    name: str
    path: str
    size: int
    version: str

    @property
    def mark(self) -> tuple[int, str]:
        """Another one means another content."""
        return self.size, self.version


@dataclass(frozen=True, slots=True)
class Storage:
    """What holds the objects of an address."""

    address: str
    system: Any

    def objects(self) -> tuple[Object, ...]:
        """All objects below the address, by name.  AssayError `no-run` when there is none."""
        scheme, path = place_in(self.address)
        with self.asking("list"):
            found = self.system.find(path, detail=True)
        own = [_object(name.removeprefix(f"{path}/"), info) for name, info in sorted(found.items())
               if name.startswith(f"{path}/") and not name.endswith("/") and info.get("type") == "file"]  # fmt: skip
        if not own:
            raise self.nothing(f"there is nothing at the address of the run: {self.address}", scheme, path)
        return tuple(own)

    def object(self) -> Object | None:
        """The object that the address itself is; None when it is none."""
        path = place_in(self.address)[1]
        try:
            with self.asking("read"):
                info = self.system.info(path)
        except AssayError as error:
            if error.diagnostics[0].code == "no-run":
                return None
            raise
        return _object(path.rpartition("/")[2], info) if info.get("type") == "file" else None

    def pieces(self, item: Object, start: int) -> Iterator[bytes]:
        """The bytes of an object from one on.  AssayError also when it is not what was listed any more."""
        with self.asking("read", item):
            if start == item.size:
                return
            with self.system.open(item.path, "rb", block_size=PIECE, cache_type="none") as stream:
                if _version(getattr(stream, "details", None) or {}) not in ("", item.version):
                    raise self._changed(item, "changed")
                stream.seek(start)
                while asked := min(PIECE, item.size - start):
                    piece = _read(stream, asked)
                    if len(piece) != asked:  # such as a page of somebody on the way: not the object's bytes
                        raise EOFError(f"{len(piece)} bytes of an answer where {asked} were asked for")
                    start += asked
                    yield piece

    @contextmanager
    def asking(self, what: str, item: Object | None = None) -> Iterator[None]:
        """What goes wrong between us and the storage, as AssayError."""
        shown = f"{place_in(self.address)[0]}://{item.path}" if item else self.address
        try:
            yield
        except PermissionError as error:
            raise fail("run-refused", f"the server refuses to {what}: {shown}", found=_cause(error),
                       hint=CREDENTIALS) from None  # fmt: skip
        except FileNotFoundError as error:
            if item:
                raise self._changed(item, "is gone") from None
            raise self.nothing(f"the server has no such place: {shown}", *place_in(self.address), error) from None
        except _failures() as error:
            if type(error).__name__ == CHANGED:
                assert item
                raise self._changed(item, "changed") from None
            if type(error).__name__ in ("NoCredentialsError", "PartialCredentialsError", "ProfileNotFound"):
                raise fail("run-refused", f"there are no credentials for: {shown}", found=_cause(error),
                           hint=f"{CREDENTIALS}; FSSPEC_S3_ANON=true reads what is public") from None  # fmt: skip
            broken = item is not None and not _unreachable(error)
            message = "the server broke off" if broken else "the server cannot be reached, or does not answer as one"
            raise fail("no-server", f"{message}: {shown}", found=_cause(error),
                       hint="what was fetched is kept: the next run goes on with the rest" if broken
                       else "is AWS_ENDPOINT_URL its address?") from None  # fmt: skip

    def nothing(self, message: str, scheme: str, path: str, error: OSError | None = None) -> AssayError:
        """The error of an address with nothing there, with the names beside it."""
        hint = did_you_mean(*beside) if (beside := self._list_siblings(path)) else ""
        found = _cause(error) if error else ""
        return fail("no-run", message, expected=f"objects below {scheme}://{path}/", found=found, hint=hint)

    def _list_siblings(self, path: str) -> tuple[str, list[str]] | None:
        """The first name of a path that is not there, and the names that are in its place, as far as they are told."""
        while path:
            path, _, last = path.rpartition("/")
            with suppress(*_failures()):
                names = [str(item).rstrip("/").rpartition("/")[2] for item in self.system.ls(path, detail=False)]
                return (last, names) if names else None
        return None

    def _changed(self, item: Object, how: str) -> AssayError:
        """The error of an object that is not what was listed any more."""
        return fail(
            "run-changing",
            f"an object {how} while the run was fetched: {place_in(self.address)[0]}://{item.path}",
            hint="run again when the run is complete: what was fetched is kept",
        )


def open_storage(address: str) -> Storage:
    """The storage of an address.  AssayError (usage) when the package for it is lacking."""
    scheme, _ = place_in(address)
    try:
        import fsspec

        # An instance of its own: those that are kept remember what they listed.
        system = fsspec.filesystem(scheme, skip_instance_cache=True)
        if scheme == EXTRA:
            system.retries = TRIES
        return Storage(address, system)
    except ImportError:
        package = PACKAGES[scheme]
        how = f"pip install 'assay[{EXTRA}]'" if scheme == EXTRA else f"pip install {package}"
        raise fail("no-package", f"to read {scheme}:// takes the package {package}", hint=how, status=USAGE) from None


def _object(name: str, info: Mapping[str, Any]) -> Object:
    return Object(name, str(info["name"]), int(info["size"]), _version(info))


def _read(stream: IO[bytes], count: int) -> bytes:
    """Bytes of an object.  s3fs fails while it looks at an error that says nothing, as that of an answer that stops."""
    try:
        return stream.read(count)
    except IndexError as error:
        raise error.__context__ if isinstance(error.__context__, OSError) else error from None


def _version(info: Mapping[str, Any]) -> str:
    return next((str(info[key]) for key in VERSIONS if info.get(key)), "")


def _failures() -> tuple[type[Exception], ...]:
    """What packages of storage raise when a server does not do what it should; those that are imported."""
    loaded = [getattr(sys.modules[module], name) for module, name in RAISED if module in sys.modules]
    # a ValueError for settings that make no sense, a LookupError for answers that lack something
    return (OSError, EOFError, ValueError, LookupError, *loaded)


def _unreachable(error: Exception) -> bool:
    return type(error).__name__ in ("EndpointConnectionError", "ConnectTimeoutError", "ClientConnectorError")


def _cause(error: Exception) -> str:
    """The first line of what an error says."""
    said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    if not said and isinstance(error, TimeoutError):
        return "its answer stopped"
    if isinstance(error, KeyError):
        return f"an answer without {said}"
    return f"{said}".strip().partition("\n")[0][:300] or type(error).__name__
