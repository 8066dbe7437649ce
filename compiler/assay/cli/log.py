"""The log on stderr: a line a stage, as text or as JSON."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime

from assay.cli import output

FORMS = ("text", "json")


class _Text(logging.Handler):
    """Lines of text to stderr as it is when they are written, below a progress display."""

    def emit(self, record: logging.LogRecord) -> None:
        facts = getattr(record, "facts", {})
        said = [f"{name}={_plain(value)}" for name, value in facts.items()]
        output.line(" ".join([f"{_instant(record):%H:%M:%S.%f}"[:-3], record.getMessage(), *said]), err=True)


class _Json(logging.Handler):
    """The same as a line of JSON each."""

    def emit(self, record: logging.LogRecord) -> None:
        at = _instant(record).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        said = {"at": at, "level": record.levelname.lower(), "stage": record.getMessage()}
        output.data(said | getattr(record, "facts", {}), err=True, indent=None)


def set_up(form: str) -> None:
    """From now on write a line for every stage; what another command of this process had asked for is over."""
    logger = logging.getLogger("assay")
    logger.handlers[:] = [_Json() if form == "json" else _Text()]
    logger.propagate = False
    logger.setLevel(logging.INFO)


def tear_down() -> None:
    """Write no more lines."""
    logger = logging.getLogger("assay")
    logger.handlers.clear()
    logger.setLevel(logging.NOTSET)


def _instant(record: logging.LogRecord) -> datetime:
    return datetime.fromtimestamp(record.created, UTC)


def _plain(value: object) -> str:
    text = str(value)
    return json.dumps(text, ensure_ascii=False) if not text or any(c.isspace() or c in '"=' for c in text) else text
