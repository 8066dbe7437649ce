"""Comments on pull requests: one for each marker, on GitHub and on GitLab, over real HTTP."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from assay.remote.pull_requests import find_pull_request
from assay.util.diagnostics import AssayError
from tests.support.code_hosts import CodeHost, serve_comments

LINE = "<!-- assay%20gate%20service/comparison -->"
MARKER = "assay gate service/comparison"


def create_github_job(folder: Path, address: str, event: object) -> Mapping[str, str]:
    """Return the variables of a job of GitHub Actions."""
    file = folder / "event.json"
    file.write_text(json.dumps(event), encoding="utf-8")
    names = {"GITHUB_REPOSITORY": "o/r", "GITHUB_API_URL": address, "GITHUB_TOKEN": "secret"}
    return {**names, "GITHUB_EVENT_PATH": str(file)}


def create_gitlab_job(address: str) -> Mapping[str, str]:
    """Return the variables of a job of GitLab CI."""
    return {
        "CI_PROJECT_ID": "5",
        "CI_MERGE_REQUEST_IID": "7",
        "CI_API_V4_URL": f"{address}/api/v4",
        "GITLAB_TOKEN": "secret",
    }


def write(host: CodeHost, job: Mapping[str, str], text: str) -> list[tuple[str, str, str]]:
    """Write a comment; return the requests that it takes."""
    host.requests.clear()
    pull_request = find_pull_request(job)
    assert pull_request
    pull_request.write_comment(MARKER, text)
    return host.requests


def test_github_comment_is_added_and_then_replaced(tmp_path: Path) -> None:
    others = [f"{number}" for number in range(150)]
    with serve_comments(*others) as host:
        job = create_github_job(tmp_path, host.address, {"pull_request": {"number": 7}})
        path, secret = "/repos/o/r/issues/7/comments", "Bearer secret"
        pages = [("GET", path, secret)] * 2
        assert write(host, job, "first") == [*pages, ("POST", path, secret)]
        assert write(host, job, "second") == [*pages, ("PATCH", "/repos/o/r/issues/comments/150", secret)]
        assert host.comments == [*others, f"{LINE}\nsecond"]


def test_gitlab_note_is_added_and_then_replaced() -> None:
    with serve_comments() as host:
        path = "/api/v4/projects/5/merge_requests/7/notes"
        job = create_gitlab_job(host.address)
        assert write(host, job, "first") == [("GET", path, "secret"), ("POST", path, "secret")]
        assert write(host, job, "second") == [("GET", path, "secret"), ("PUT", f"{path}/0", "secret")]
        assert host.comments == [f"{LINE}\nsecond"]


def test_quoted_marker_is_no_marker(tmp_path: Path) -> None:
    with serve_comments(f"> {LINE}") as host:
        write(host, create_github_job(tmp_path, host.address, {"pull_request": {"number": 7}}), "text")
        assert host.comments == [f"> {LINE}", f"{LINE}\ntext"]


@pytest.mark.parametrize("event", [{}, {"pull_request": None}, [], {"pull_request": {"number": "x"}}])
def test_job_of_another_event_has_no_pull_request(tmp_path: Path, event: object) -> None:
    assert find_pull_request(create_github_job(tmp_path, "", event)) is None


def test_job_of_a_branch_has_no_merge_request() -> None:
    assert find_pull_request({"CI_PROJECT_ID": "5"}) is None


@pytest.mark.parametrize(("variable", "kind"), [("GITHUB_TOKEN", "github"), ("GITLAB_TOKEN", "gitlab")])
def test_missing_token_is_named(tmp_path: Path, variable: str, kind: str) -> None:
    event = {"pull_request": {"number": 7}}
    job = create_github_job(tmp_path, "", event) if kind == "github" else create_gitlab_job("")
    with pytest.raises(AssayError, match=f"{variable} is not set"):
        find_pull_request({**job, variable: ""})


@pytest.mark.parametrize(
    ("status", "answer", "message"),
    [
        (403, {"message": "Resource not accessible"}, "403 Forbidden .*Resource not accessible"),
        (200, {"message": "x"}, "not a list of comments"),
        (200, [{"id": None, "body": LINE}], "not a list of comments"),
        (200, 3, "not a list of comments"),
    ],
)
def test_refusal_of_the_server_is_quoted(status: int, answer: object, message: str) -> None:
    with serve_comments() as host:
        host.status, host.answer = status, answer
        with pytest.raises(AssayError, match=message):
            write(host, create_gitlab_job(host.address), "text")


def test_server_that_does_not_answer_is_named() -> None:
    with serve_comments() as host:
        pass
    with pytest.raises(AssayError, match=r"127\.0\.0\.1"):
        write(host, create_gitlab_job(host.address), "text")
