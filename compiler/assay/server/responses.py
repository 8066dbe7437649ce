"""Build responses: pages, files of folders, redirections. Each has a content security policy."""

from __future__ import annotations

import errno
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from urllib.parse import quote

from assay.util.paths import resolve_path

COMMON_POLICY = "default-src 'none'; font-src data:; base-uri 'none'; form-action 'self'"
#: of the pages of the server: styles and scripts from `/assets` only, nothing inline
PAGE_POLICY = (
    f"{COMMON_POLICY}; style-src 'self'; script-src 'self'; connect-src 'self'; frame-src 'self'; "
    "frame-ancestors 'none'"
)
#: of reports: their own policy names the hashes of their scripts, and no address
REPORT_POLICY = (
    f"{COMMON_POLICY}; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'"
)
#: of the catalogue, whose diagrams have widths of their own
CATALOGUE_POLICY = f"{COMMON_POLICY}; style-src 'self' 'unsafe-inline'; script-src 'self'; frame-ancestors 'none'"

HTML = "text/html; charset=utf-8"
REPORT_TYPES = {
    ".html": HTML,
    ".svg": "image/svg+xml",
    ".json": "application/json",
    ".sql": "text/plain; charset=utf-8",
    ".md": "text/plain; charset=utf-8",
}
#: Only files of Assay itself are scripts or styles: a policy that names this server trusts them.
CATALOGUE_TYPES = {".html": HTML, ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}


@dataclass(frozen=True, slots=True)
class Response:
    """A response; a body that is an iterator is sent piece by piece, until its end or that of the connection."""

    body: bytes | Iterator[bytes]
    type: str = HTML
    status: HTTPStatus = HTTPStatus.OK
    policy: str = PAGE_POLICY
    headers: Mapping[str, str] | None = None


def build_text_response(status: HTTPStatus, text: str) -> Response:
    """Return a response with plain text."""
    return Response(f"{text}\n".encode(), "text/plain; charset=utf-8", status)


def build_redirection(*parts: str) -> Response:
    """Return a response that leads to the path of some parts, which are percent-encoded."""
    path = "/" + "/".join(quote(part, safe="") for part in parts)
    return Response(b"", status=HTTPStatus.SEE_OTHER, headers={"Location": path})


def read_file(folder: Path, parts: Sequence[str], types: Mapping[str, str], policy: str) -> Response | None:
    """Return the file of a folder with the path of some parts; None without one of these types.

    None also for hidden names, for a link out of the folder, and for all that is no plain name.
    """
    if any(part.startswith(".") or not part or any(char in part for char in "/\\:\0") for part in parts):
        return None
    path = folder.joinpath(*parts)
    kind = types.get(path.suffix)
    try:
        if kind is None or not path.is_file() or not resolve_path(path).is_relative_to(resolve_path(folder)):
            return None
        return Response(path.read_bytes(), kind, policy=policy)
    except OSError as error:
        if error.errno == errno.EMFILE:
            raise
        return None
