"""Write the log of stages on stderr: one line per stage, as text or as JSON."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime

from assay.cli import output

FORMS = ("text", "json")


class _Text(logging.Handler):
    """Write records as lines of text.

    Looks up stderr on each write, since a progress display replaces it.
    """

    def emit(self, record: logging.LogRecord) -> None:
        facts = getattr(record, "facts", {})
        fact_texts = [f"{name}={_plain(value)}" for name, value in facts.items()]
        output.line(" ".join([f"{_instant(record):%H:%M:%S.%f}"[:-3], record.getMessage(), *fact_texts]), err=True)


class _Json(logging.Handler):
    """Write records as lines of JSON."""

    def emit(self, record: logging.LogRecord) -> None:
        at = _instant(record).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        fields = {"at": at, "level": record.levelname.lower(), "stage": record.getMessage()}
        output.data(fields | getattr(record, "facts", {}), err=True, indent=None)


def set_up(form: str) -> None:
    """Log every stage from now on; replaces the handlers of a former command in this process."""
    logger = logging.getLogger("assay")
    logger.handlers[:] = [_Json() if form == "json" else _Text()]
    logger.propagate = False
    logger.setLevel(logging.INFO)


def tear_down() -> None:
    """Stop logging."""
    logger = logging.getLogger("assay")
    logger.handlers.clear()
    logger.setLevel(logging.NOTSET)


def _instant(record: logging.LogRecord) -> datetime:
    return datetime.fromtimestamp(record.created, UTC)


def _plain(value: object) -> str:
    text = str(value)
    return json.dumps(text, ensure_ascii=False) if not text or any(c.isspace() or c in '"=' for c in text) else text
