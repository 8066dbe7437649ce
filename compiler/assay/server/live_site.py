"""The site of `assay watch --serve`: a report that browsers reload after each build, or the errors of the last one."""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path

from assay.app.audit.site_templates import build_asset, create_environment
from assay.server.requests import Request
from assay.server.responses import (
    CATALOGUE_TYPES,
    REPORT_POLICY,
    REPORT_TYPES,
    Response,
    build_text_response,
    read_file,
)

HEARTBEAT = 10.0  # seconds between signs of life, which find closed connections
ASSETS = {"catalogue.css": ".css", "server.css": ".css", "live.js": ".js"}
PAGE, CHARTS = "report.html", "charts"


class LiveSite:
    """The site of the report that is built into a folder."""

    def __init__(self, report: str, folder: Path) -> None:
        self._report = report
        self._folder = folder
        self._changed = threading.Condition()
        self._process = secrets.token_hex(4)  # so that a browser reloads when another process serves the report
        self._version = self._number = 0
        self._problem = ""

    def publish(self, problem: str) -> None:
        """Publish the outcome of a build: its errors, or none, which makes browsers reload."""
        with self._changed:
            self._number += 1
            self._version += not problem
            self._problem = problem
            self._changed.notify_all()

    def answer(self, request: Request) -> Response:
        """Return the response to a request."""
        first, *rest = request.parts
        if first == "" and not rest:
            page = create_environment().get_template("server/live.html.j2").render(report=self._report)
            return Response(page.encode())
        if first == "assets" and len(rest) == 1 and rest[0] in ASSETS:
            return Response(build_asset(rest[0]).encode(), CATALOGUE_TYPES[ASSETS[rest[0]]])
        if first == "events" and not rest:
            return Response(self._list_events(), "text/event-stream")
        response = None
        if first == "report" and (rest == [PAGE] or rest[:1] == [CHARTS]):
            response = read_file(self._folder, rest, REPORT_TYPES, REPORT_POLICY)
        return response or build_text_response(HTTPStatus.NOT_FOUND, "there is no such page")

    def _list_events(self) -> Iterator[bytes]:
        """Yield the state at once, and again after each build."""
        number = -1
        while True:
            with self._changed:
                is_changed = self._changed.wait_for(lambda: self._number != number, HEARTBEAT)  # noqa: B023
                number = self._number
                text = self._format_state() if is_changed else ":\n\n"
            yield text.encode()

    def _format_state(self) -> str:
        state = {
            "version": f"{self._process}-{self._version}",
            "problem": self._problem,
            "has_report": (self._folder / PAGE).is_file(),
        }
        return f"data: {json.dumps(state)}\n\n"
