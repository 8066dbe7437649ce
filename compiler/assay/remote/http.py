"""Query a Prometheus server's HTTP API with retries, and report what goes wrong."""

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

RETRIED_STATUSES = (429, 500, 502, 503, 504)  # HTTP statuses that are retried
LONGEST = 30.0  # longest wait between two attempts in seconds
TEXT_LIMIT = 300  # characters of a text of the server
#: texts by which servers refuse a query whose result is too large
TOO_MANY = (
    "too many samples",
    "would load too many",
    "exceeded the maximum",
    "exceeds the limit",
    "cannot select more than",
)


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """The number of attempts, the first wait in seconds (doubled every time), the timeout of a response in seconds."""

    attempts: int = 5
    first_wait: float = 0.5
    timeout: float = 120.0
    sleep: Callable[[float], None] = time.sleep


class TooManySamplesError(Exception):
    """The server refuses a query because the response would be too large; the text is that of the server."""


@dataclass(frozen=True, slots=True)
class Server:
    """A server by its address.  Raises AssayError: the address is invalid."""

    url: str
    retry_policy: RetryPolicy = RetryPolicy()
    opener: urllib.request.OpenerDirector = field(default_factory=urllib.request.build_opener)

    def __post_init__(self) -> None:
        try:
            parts = urllib.parse.urlsplit(self.url)
            is_valid = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
        except ValueError:
            is_valid = False
        if not is_valid:
            message = f"invalid address of a server: {self.url}"
            raise fail("bad-address", message, expected="such as http://localhost:9090", status=USAGE)

    @property
    def public_address(self) -> str:
        """The address without a password."""
        parts = urllib.parse.urlsplit(self.url)
        return urllib.parse.urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))

    def send_request(self, path: str, parameters: Sequence[tuple[str, str]]) -> bytes:
        """Return the text of a successful response.

        Raises TooManySamplesError, and AssayError: an unreachable server, an error response, or another server than
        Prometheus.
        """
        request = self._build_request(path, parameters)
        wait = self.retry_policy.first_wait
        for attempt in range(1, self.retry_policy.attempts + 1):
            try:
                with self.opener.open(request, timeout=self.retry_policy.timeout) as response:
                    return self._check_success(response.read())
            except urllib.error.HTTPError as error:
                refusal, can_retry = self._translate_refusal(error), error.code in RETRIED_STATUSES
                requested_wait = _parse_seconds(error.headers.get("Retry-After"))
            except (OSError, http.client.HTTPException) as error:
                refusal, can_retry, requested_wait = self._build_unreachable_error(error, attempt), True, None
            if not can_retry or attempt == self.retry_policy.attempts:
                raise refusal
            self.retry_policy.sleep(min(max(wait, requested_wait or 0.0), LONGEST))
            wait *= 2
        raise AssertionError("`attempts` is at least 1")

    def request_data(self, path: str, parameters: Sequence[tuple[str, str]]) -> Any:
        """Return the data of a successful response."""
        text = self.send_request(path, parameters)
        try:
            return json.loads(text)["data"]
        except (ValueError, KeyError, RecursionError):
            raise self._build_no_prometheus_error(text) from None

    def _build_request(self, path: str, parameters: Sequence[tuple[str, str]]) -> urllib.request.Request:
        parts = urllib.parse.urlsplit(self.public_address)
        full_path = parts.path.rstrip("/") + path
        target = urllib.parse.urlunsplit(
            (parts.scheme, parts.netloc, full_path, urllib.parse.urlencode(parameters), "")
        )
        request = urllib.request.Request(target, headers={"Accept": "application/json", "User-Agent": "assay"})
        user, separator, _ = urllib.parse.urlsplit(self.url).netloc.rpartition("@")
        if separator:
            secret = base64.b64encode(urllib.parse.unquote(user).encode()).decode()
            request.add_header("Authorization", f"Basic {secret}")
        return request

    def _check_success(self, text: bytes) -> bytes:
        """Return a response if it reports success; normally only its beginning is parsed."""
        head = text[:200].replace(b" ", b"").replace(b"\n", b"")
        if not head.startswith(b'{"status":"success"'):
            document = _parse_object(text)
            if document.get("status") != "success" or "data" not in document:
                raise self._build_no_prometheus_error(text)
        return text

    def _translate_refusal(self, error: urllib.error.HTTPError) -> AssayError:
        """Return the error for an HTTP error response.  Raises TooManySamplesError."""
        with error:
            text = error.read()
        document = _parse_object(text)
        if document.get("status") != "error":
            if error.code in RETRIED_STATUSES or error.code in (401, 403):
                return self._build_error(
                    error.code, text.decode("utf-8", errors="replace").strip()[:TEXT_LIMIT] or error.reason
                )
            return self._build_no_prometheus_error(text, f"HTTP {error.code} {error.reason}")
        cause = str(document.get("error", ""))
        if error.code not in RETRIED_STATUSES and any(word in cause for word in TOO_MANY):
            raise TooManySamplesError(cause)
        return self._build_error(error.code, f"{document.get('errorType', 'error')}: {cause}"[:TEXT_LIMIT])

    def _build_error(self, status: int, cause: str) -> AssayError:
        hint = "pass the name and password that the server requires: http://NAME:PASSWORD@HOST" if status == 401 else ""
        message = f"the server returns an error: {self.public_address}"
        return fail("server-error", message, found=f"HTTP {status}: {cause}", hint=hint)

    def _build_no_prometheus_error(self, text: bytes, status: str = "") -> AssayError:
        """Return the error for a response that does not come from Prometheus."""
        excerpt = text[:60].decode("utf-8", errors="replace").strip()
        return fail(
            "no-prometheus",
            f"the server is not a Prometheus server: {self.public_address}",
            expected="a JSON document with a status",
            found=", ".join(part for part in (status, repr(excerpt) if excerpt else "an empty response") if part),
            hint="pass the address of the server itself, such as http://localhost:9090",
        )

    def _build_unreachable_error(self, error: Exception, attempts: int) -> AssayError:
        cause = getattr(error, "reason", None) or error
        times = "once" if attempts == 1 else f"{attempts} times"
        return fail(
            "no-server",
            f"the server cannot be reached: {self.public_address}",
            found=f"{str(cause) or type(cause).__name__} (tried {times})",
            hint="check that it runs, and that this is its address",
        )


def _parse_object(text: bytes) -> Mapping[str, Any]:
    """Parse a JSON object; return an empty one if the text is not an object."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


def _parse_seconds(text: str | None) -> float | None:
    return float(text) if text and text.isdigit() else None
