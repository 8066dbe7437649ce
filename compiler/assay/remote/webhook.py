"""Post JSON documents to a URL, with secrets from the environment only."""

from __future__ import annotations

import http.client
import os
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.util.diagnostics import USAGE, fail

TIMEOUT = 30.0  # seconds
WAITS = (1.0, 3.0)  # seconds before a further attempt
TEXT_LIMIT = 300  # characters of an answer
FROM_ENVIRONMENT = "env:"


class _NoRedirection(urllib.request.HTTPRedirectHandler):
    """Follows no redirection: a POST would become a GET, and headers would go to another server."""

    def redirect_request(self, *_: Any) -> None:
        """Return nothing."""
        return


@dataclass(frozen=True, slots=True)
class Webhook:
    """A URL that documents are posted to; `name` is what messages call it, without a secret."""

    url: str
    name: str
    headers: Mapping[str, str]

    def post(self, content: bytes, sleep: Callable[[float], None] = time.sleep) -> None:
        """Post a JSON document, in at most three attempts. Raises AssayError if the server does not accept it."""
        opener = urllib.request.build_opener(_NoRedirection)
        headers = {"Content-Type": "application/json", "User-Agent": "assay", **self.headers}
        answer = ""
        for wait in (*WAITS, None):
            try:
                request = urllib.request.Request(self.url, content, headers, method="POST")
                with opener.open(request, timeout=TIMEOUT):
                    return
            except urllib.error.HTTPError as error:
                answer = f"{error.code} {error.reason} {error.read(TEXT_LIMIT).decode(errors='replace')}".strip()
                if error.code < http.client.INTERNAL_SERVER_ERROR and error.code != http.client.TOO_MANY_REQUESTS:
                    break
            except (OSError, http.client.HTTPException, ValueError) as error:
                answer = str(error).replace(self.url, self.name)
            if wait is not None:
                sleep(wait)
        raise fail("no-post", f"the server does not accept the document: {self.name}", found=answer or "no answer",
                   hint="it is posted again with the next look at the folder")  # fmt: skip


def create_webhook(url: str, headers: Sequence[str], environment: Mapping[str, str] = os.environ) -> Webhook:
    """Return the webhook of a URL, or of `env:VARIABLE` with one, and of headers as `NAME=VARIABLE`.

    Raises AssayError (usage) for another form, and for a variable that is not set.
    """
    name = url
    if url.startswith(FROM_ENVIRONMENT):
        url = _read_variable(url.removeprefix(FROM_ENVIRONMENT), environment)
    try:
        parts = urllib.parse.urlsplit(url)
        is_valid = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        parts, is_valid = urllib.parse.urlsplit(""), False
    if not is_valid or parts.username or parts.password:
        actual = "a URL with a password" if parts.username or parts.password else name
        raise fail("post-url", "invalid URL to post to", expected="http://… or https://… without a password, or "
                   f"`{FROM_ENVIRONMENT}VARIABLE` with a URL that is a secret", found=actual, status=USAGE)  # fmt: skip
    values = {}
    for text in headers:
        header, _, variable = text.partition("=")
        if not header or not variable or not header.replace("-", "").isalnum():
            raise fail("post-header", f"invalid header `{text}`", found=text, status=USAGE,
                       expected="NAME=VARIABLE, such as Authorization=TOKEN")  # fmt: skip
        values[header] = _read_variable(variable, environment)
    return Webhook(url, name, values)


def _read_variable(name: str, environment: Mapping[str, str]) -> str:
    """Return the value of an environment variable. Raises AssayError (usage) if it is not set, or is no line."""
    value = environment.get(name, "").strip()
    if not value or not value.isprintable():
        raise fail("no-variable", f"the environment variable `{name}` is not set, or is no line of text",
                   hint="secrets are taken from the environment alone", status=USAGE)  # fmt: skip
    return value
