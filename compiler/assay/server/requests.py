"""Parse and check requests of browsers.

A page of another site can send requests to this machine, also under a name of its own that leads here (DNS rebinding).
So a request must name this server as its host, and other pages may only link to it.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from email.message import Message
from urllib.parse import parse_qs, unquote

LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(\d{1,5}))?")
MOST_PARAMETERS = 20
FORM_TYPE = "application/x-www-form-urlencoded"


class BadRequestError(Exception):
    """A request that is refused; its text says why."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request: the decoded parts of its path, of which the last is empty after a slash, and its parameters.

    Those of a POST are the fields of its form.
    """

    parts: tuple[str, ...]
    parameters: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def get(self, name: str) -> str:
        """Return the first value of a parameter; empty without one."""
        return next(iter(self.parameters.get(name, ())), "")


def parse_target(target: str) -> Request:
    """Parse the path and parameters of a request line. Raises BadRequestError."""
    path, _, query = target.partition("?")
    if not path.startswith("/"):
        raise BadRequestError("the address is not a path")
    try:
        parts = tuple(unquote(part, errors="strict") for part in path[1:].split("/"))
        parameters = parse_qs(query, keep_blank_values=True, errors="strict", max_num_fields=MOST_PARAMETERS)
    except ValueError:
        raise BadRequestError("the address is not valid UTF-8, or has too many parameters") from None
    texts = (*parts, *parameters, *(value for values in parameters.values() for value in values))
    if any(_CONTROL.search(text) for text in texts):
        raise BadRequestError("the address has control characters")
    return Request(parts, parameters)


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach a server that listens at a host."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_own_host(headers: Message, host: str, port: int) -> bool:
    """Return whether the `Host` of a request is a server that listens at a host and port.

    An address of a network is its own name for each machine there, so beyond the loopback any address is accepted.
    """
    values = headers.get_all("Host", [])
    match = _HOST.fullmatch(values[0].strip()) if len(values) == 1 else None
    if not match or int(match[2] or 80) != port:
        return False
    name = match[1].lower()
    if name in LOOPBACK_NAMES or name.strip("[]") == host.lower():
        return True
    return not is_loopback(host) and (_is_address(name.strip("[]")) or name == socket.gethostname().lower())


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def is_of_other_site(headers: Message) -> bool:
    """Return whether a page of another site sent a request, other than by a link that the user followed."""
    is_link = headers.get("Sec-Fetch-Mode") == "navigate" and headers.get("Sec-Fetch-Dest") == "document"
    return headers.get("Sec-Fetch-Site", "none") in ("cross-site", "same-site") and not is_link


def is_foreign_post(headers: Message) -> bool:
    """Return whether a page of another site sent a form, or may have: its origin is another, or the browser says so.

    A page without referrers, as all pages here are, sends the origin `null`.
    """
    host, origin = headers.get("Host", "").strip().lower(), headers.get("Origin", "null").strip().lower()
    return headers.get("Sec-Fetch-Site", "same-origin") != "same-origin" or origin not in ("null", f"http://{host}")


def parse_form(headers: Message, body: bytes) -> Request:
    """Parse the form of a POST. Raises BadRequestError."""
    if headers.get_content_type() != FORM_TYPE:
        raise BadRequestError(f"the content is no form: expected {FORM_TYPE}")
    try:
        fields = parse_qs(body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=MOST_PARAMETERS)
    except ValueError:
        raise BadRequestError("the form is not valid UTF-8, or has too many fields") from None
    return Request((), fields)
