"""Run a headless browser for tests of web pages."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")
CHARTS_DRAWN = "html.complete"


def find_browser() -> str:
    """Return the path of the browser; skip the test if there is none."""
    actual_path = next((path for name in NAMES if (path := shutil.which(name))), None)
    if not actual_path:
        pytest.skip(f"no browser: none of {', '.join(NAMES)} is installed")
    return actual_path


@contextmanager
def open_browser() -> Iterator[Browser]:
    """Run a browser."""
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        running = playwright.chromium.launch(executable_path=find_browser(), args=arguments)
        try:
            yield running
        finally:
            running.close()


@dataclass
class OpenPage:
    """An open page with its console messages and requested addresses."""

    page: Page
    messages: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@contextmanager
def open_page(running: Browser, place: Path | str, **options: Any) -> Iterator[OpenPage]:
    """Open a page file, or an address, with its charts drawn; `options` are those of a Playwright context."""
    context = running.new_context(**{"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce", **options})
    try:
        opened = OpenPage(context.new_page())
        opened.page.set_default_timeout(60_000)
        opened.page.on("console", lambda message: opened.messages.append(message.text))
        opened.page.on("pageerror", lambda error: opened.messages.append(str(error)))
        opened.page.on("dialog", lambda dialog: (opened.messages.append(dialog.message), dialog.dismiss()))
        opened.page.on("request", lambda request: opened.requests.append(request.url))
        opened.page.goto(place if isinstance(place, str) else place.as_uri())
        if options.get("java_script_enabled", True):
            opened.page.wait_for_selector(CHARTS_DRAWN, state="attached")
        yield opened
    finally:
        context.close()


def list_accessibility_problems(page: Page) -> list[str]:
    """Return the accessibility problems that axe finds."""
    response: Any = Axe().run(page).response
    return [
        f"{item['id']}: {node['html'][:160]}"
        for item in response["violations"]
        if item["impact"] in ("serious", "critical", "moderate")
        for node in item["nodes"]
    ]
