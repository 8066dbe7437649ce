"""Comment on the pull request of a CI job: GitHub Actions, or GitLab CI with its merge requests.

Each comment begins with a marker that is not displayed. A later comment with the same marker replaces the text of the
former one, so a pull request has one comment for each report, however often its jobs run.
"""

from __future__ import annotations

import http.client
import json
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from assay.util.diagnostics import AssayError, fail

PAGE = 100  # comments of one response
MOST_PAGES = 100
TIMEOUT = 60.0  # seconds
TEXT_LIMIT = 300  # characters of a text of the server
PRESENT_VARIABLES = "GITHUB_REPOSITORY, or CI_PROJECT_ID with CI_MERGE_REQUEST_IID"


@dataclass(frozen=True, slots=True)
class PullRequest:
    """A pull request by the addresses of its comments.

    `comments` is that of all of them, `comment` that to which the id of one is appended; `update_method` replaces one.
    """

    comments: str
    comment: str
    update_method: str
    headers: Mapping[str, str]

    def write_comment(self, marker: str, text: str) -> None:
        """Replace the comment with this marker, or else add one. Raises AssayError for a refused request."""
        body = {"body": f"<!-- {quote(marker)} -->\n{text}"}
        former = self._find_comment(f"<!-- {quote(marker)} -->")
        if former is None:
            self._send("POST", self.comments, body)
        else:
            self._send(self.update_method, f"{self.comment}/{former}", body)

    def _find_comment(self, first_line: str) -> int | None:
        """Return the id of the first comment that begins with a line."""
        try:
            ids = (int(item["id"]) for item in self._iter_comments() if str(item["body"]).startswith(first_line))
            return next(ids, None)
        except (KeyError, TypeError, ValueError):
            raise _build_comment_error(self.comments, "a response that is not a list of comments") from None

    def _iter_comments(self) -> Iterator[Mapping[str, Any]]:
        for page in range(1, MOST_PAGES + 1):
            comments = self._send("GET", f"{self.comments}?per_page={PAGE}&page={page}", None)
            yield from comments
            if len(comments) < PAGE:
                return

    def _send(self, method: str, address: str, body: Mapping[str, str] | None) -> Any:
        """Return the data of a response. Raises AssayError for a refusal, and for a server that does not answer."""
        content = json.dumps(body).encode() if body else None
        headers = {"Content-Type": "application/json", "User-Agent": "assay", **self.headers}
        request = urllib.request.Request(address, content, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT) as response:
                return json.loads(response.read())
        except urllib.error.HTTPError as error:
            answer = f"{error.code} {error.reason} {error.read(TEXT_LIMIT).decode(errors='replace')}".strip()
            raise _build_comment_error(address, answer) from None
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise _build_comment_error(address, str(error)) from None


def _build_comment_error(address: str, answer: str) -> AssayError:
    return fail(
        "no-comment",
        "the comment on the pull request cannot be written",
        found=f"{answer} ({address})",
        hint="the token must be allowed to write comments; GitHub gives pull requests from forks none that is",
    )


def find_pull_request(environment: Mapping[str, str]) -> PullRequest | None:
    """Return the pull request that environment variables of a CI job name; None if the job has none.

    Raises AssayError outside of a job, and for a job without a token.
    """
    if environment.get("GITHUB_REPOSITORY"):
        return _find_github_pull_request(environment)
    if environment.get("CI_PROJECT_ID"):
        return _find_gitlab_merge_request(environment)
    raise fail(
        "no-comment",
        "no pull request to comment on: this is not a job of GitHub Actions or GitLab CI",
        expected=f"environment variables such as {PRESENT_VARIABLES}",
    )


def _find_github_pull_request(environment: Mapping[str, str]) -> PullRequest | None:
    number = _read_pull_request_number(environment.get("GITHUB_EVENT_PATH", ""))
    if number is None:
        return None
    token = _require_token(environment, "GITHUB_TOKEN", "`env: GITHUB_TOKEN: ${{ github.token }}` of the step sets it")
    server = environment.get("GITHUB_API_URL", "https://api.github.com")
    issues = f"{server}/repos/{quote(environment['GITHUB_REPOSITORY'])}/issues"
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/vnd.github+json"}
    return PullRequest(f"{issues}/{number}/comments", f"{issues}/comments", "PATCH", headers)


def _read_pull_request_number(event: str) -> int | None:
    """Return the number of the pull request in the file of a GitHub event; None for an event of another kind."""
    try:
        document = json.loads(Path(event).read_text(encoding="utf-8")) if event else {}
        return int(document["pull_request"]["number"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _find_gitlab_merge_request(environment: Mapping[str, str]) -> PullRequest | None:
    number = environment.get("CI_MERGE_REQUEST_IID")
    if not number:
        return None
    token = _require_token(environment, "GITLAB_TOKEN", "set a masked variable to a project token with the scope `api`")
    server = environment.get("CI_API_V4_URL", "https://gitlab.com/api/v4")
    notes = f"{server}/projects/{quote(environment['CI_PROJECT_ID'], safe='')}/merge_requests/{quote(number)}/notes"
    return PullRequest(notes, notes, "PUT", {"PRIVATE-TOKEN": token})


def _require_token(environment: Mapping[str, str], name: str, hint: str) -> str:
    token = environment.get(name, "")
    if not token:
        raise fail("no-comment", f"no token to comment with: {name} is not set", hint=hint)
    return token
