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
DRAWN = "html.complete"


def program() -> str:
    """Return the path of the browser; skip the test where there is none."""
    actual_path = next((path for name in NAMES if (path := shutil.which(name))), None)
    if not actual_path:
        pytest.skip(f"no browser: none of {', '.join(NAMES)} is installed")
    return actual_path


@contextmanager
def browser() -> Iterator[Browser]:
    """Run a browser."""
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        running = playwright.chromium.launch(executable_path=program(), args=arguments)
        try:
            yield running
        finally:
            running.close()


@dataclass
class Seen:
    """An open page with its console messages and requested addresses."""

    page: Page
    messages: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@contextmanager
def shown(running: Browser, file: Path, **options: Any) -> Iterator[Seen]:
    """Open a page file with its charts drawn; `options` are those of a Playwright context."""
    context = running.new_context(**{"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce", **options})
    try:
        seen = Seen(context.new_page())
        seen.page.set_default_timeout(60_000)
        seen.page.on("console", lambda message: seen.messages.append(message.text))
        seen.page.on("pageerror", lambda error: seen.messages.append(str(error)))
        seen.page.on("dialog", lambda dialog: (seen.messages.append(dialog.message), dialog.dismiss()))
        seen.page.on("request", lambda request: seen.requests.append(request.url))
        seen.page.goto(file.as_uri())
        if options.get("java_script_enabled", True):
            seen.page.wait_for_selector(DRAWN, state="attached")
        yield seen
    finally:
        context.close()


def barriers(page: Page) -> list[str]:
    """Return the accessibility problems that axe finds."""
    response: Any = Axe().run(page).response
    return [
        f"{item['id']}: {node['html'][:160]}"
        for item in response["violations"]
        if item["impact"] in ("serious", "critical", "moderate")
        for node in item["nodes"]
    ]
