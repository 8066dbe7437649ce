"""A Prometheus server's HTTP API: questions, answers, and what goes wrong between them."""

from __future__ import annotations

import base64
import http.client
import json
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from assay.util.diagnostics import USAGE, AssayError, fail

AGAIN = (429, 500, 502, 503, 504)  # what may go well the next time
LONGEST = 30.0  # seconds that are waited between two attempts
SHOWN = 300  # characters of a text of the server
#: what a server says of a question whose answer it will not work out
TOO_MANY = (
    "too many samples",
    "would load too many",
    "exceeded the maximum",
    "exceeds the limit",
    "cannot select more than",
)


@dataclass(frozen=True, slots=True)
class Patience:
    """How often a question is asked, seconds before it is asked again (then twice as many), seconds for an answer."""

    attempts: int = 5
    first: float = 0.5
    timeout: float = 120.0
    sleep: Callable[[float], None] = time.sleep


class TooManyError(Exception):
    """The server will not answer, since the answer would be too large; the text is its own."""


@dataclass(frozen=True, slots=True)
class Server:
    """A server by its address.  AssayError when that is none."""

    url: str
    patience: Patience = Patience()
    opener: urllib.request.OpenerDirector = field(default_factory=urllib.request.build_opener)

    def __post_init__(self) -> None:
        try:
            parts = urllib.parse.urlsplit(self.url)
            right = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
        except ValueError:
            right = False
        if not right:
            message = f"this is no address of a server: {self.url}"
            raise fail("bad-address", message, expected="such as http://localhost:9090", status=USAGE)

    @property
    def public_address(self) -> str:
        """The address without a password."""
        parts = urllib.parse.urlsplit(self.url)
        return urllib.parse.urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))

    def ask(self, path: str, parameters: Sequence[tuple[str, str]]) -> bytes:
        """The text of an answer that is a success.

        Raises TooManyError, and AssayError: the server cannot be reached, answers an error, or is no Prometheus.
        """
        request = self._request(path, parameters)
        wait = self.patience.first
        for attempt in range(1, self.patience.attempts + 1):
            try:
                with self.opener.open(request, timeout=self.patience.timeout) as answer:
                    return self._success(answer.read())
            except urllib.error.HTTPError as error:
                refusal, again = self._refused(error), error.code in AGAIN
                asked = _seconds(error.headers.get("Retry-After"))
            except (OSError, http.client.HTTPException) as error:
                refusal, again, asked = self._unreachable(error, attempt), True, None
            if not again or attempt == self.patience.attempts:
                raise refusal
            self.patience.sleep(min(max(wait, asked or 0.0), LONGEST))
            wait *= 2
        raise AssertionError("a question is asked at least once")

    def data(self, path: str, parameters: Sequence[tuple[str, str]]) -> Any:
        """The data of an answer."""
        text = self.ask(path, parameters)
        try:
            return json.loads(text)["data"]
        except (ValueError, KeyError, RecursionError):
            raise self._strange(text) from None

    def _request(self, path: str, parameters: Sequence[tuple[str, str]]) -> urllib.request.Request:
        parts = urllib.parse.urlsplit(self.public_address)
        place = parts.path.rstrip("/") + path
        target = urllib.parse.urlunsplit((parts.scheme, parts.netloc, place, urllib.parse.urlencode(parameters), ""))
        request = urllib.request.Request(target, headers={"Accept": "application/json", "User-Agent": "assay"})
        user, at, _ = urllib.parse.urlsplit(self.url).netloc.rpartition("@")
        if at:
            secret = base64.b64encode(urllib.parse.unquote(user).encode()).decode()
            request.add_header("Authorization", f"Basic {secret}")
        return request

    def _success(self, text: bytes) -> bytes:
        """The text of an answer, which says that it is a success; only its beginning is looked at."""
        head = text[:200].replace(b" ", b"").replace(b"\n", b"")
        if not head.startswith(b'{"status":"success"'):
            said = _document(text)
            if said.get("status") != "success" or "data" not in said:
                raise self._strange(text)
        return text

    def _refused(self, error: urllib.error.HTTPError) -> AssayError:
        """The error of an answer that is none.  Raises TooManyError."""
        with error:
            text = error.read()
        said = _document(text)
        if said.get("status") != "error":
            if error.code in AGAIN or error.code in (401, 403):
                return self._error(error.code, text.decode("utf-8", errors="replace").strip()[:SHOWN] or error.reason)
            return self._strange(text, f"HTTP {error.code} {error.reason}")
        cause = str(said.get("error", ""))
        if error.code not in AGAIN and any(word in cause for word in TOO_MANY):
            raise TooManyError(cause)
        return self._error(error.code, f"{said.get('errorType', 'error')}: {cause}"[:SHOWN])

    def _error(self, status: int, cause: str) -> AssayError:
        hint = "does the server want a name and a password? http://NAME:PASSWORD@HOST" if status == 401 else ""
        message = f"the server answers an error: {self.public_address}"
        return fail("server-error", message, found=f"HTTP {status}: {cause}", hint=hint)

    def _strange(self, text: bytes, status: str = "") -> AssayError:
        """The error of an answer that no Prometheus gives."""
        shown = text[:60].decode("utf-8", errors="replace").strip()
        return fail(
            "no-prometheus",
            f"what answers is no Prometheus server: {self.public_address}",
            expected="a JSON document with a status",
            found=", ".join(part for part in (status, repr(shown) if shown else "an empty answer") if part),
            hint="is this the server's own address, such as http://localhost:9090?",
        )

    def _unreachable(self, error: Exception, attempts: int) -> AssayError:
        cause = getattr(error, "reason", None) or error
        times = "once" if attempts == 1 else f"{attempts} times"
        return fail(
            "no-server",
            f"the server cannot be reached: {self.public_address}",
            found=f"{str(cause) or type(cause).__name__} (asked {times})",
            hint="does it run, and is this its address?",
        )


def _document(text: bytes) -> Mapping[str, Any]:
    """A JSON object; an empty one when the text is none."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _seconds(text: str | None) -> float | None:
    return float(text) if text and text.isdigit() else None
