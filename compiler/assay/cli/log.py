"""Write the log of stages on stderr: one line per stage, as text or as JSON."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime

from assay.cli import output

FORMS = ("text", "json")


class _TextHandler(logging.Handler):
    """Write records as lines of text.

    Looks up stderr on each write, since a progress display replaces it.
    """

    def emit(self, record: logging.LogRecord) -> None:
        facts = getattr(record, "facts", {})
        fact_texts = [f"{name}={_quote_text(value)}" for name, value in facts.items()]
        output.print_line(
            " ".join([f"{_get_time(record):%H:%M:%S.%f}"[:-3], record.getMessage(), *fact_texts]), err=True
        )


class _JsonHandler(logging.Handler):
    """Write records as lines of JSON."""

    def emit(self, record: logging.LogRecord) -> None:
        timestamp = _get_time(record).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        fields = {"at": timestamp, "level": record.levelname.lower(), "stage": record.getMessage()}
        output.print_data(fields | getattr(record, "facts", {}), err=True, indent=None)


def set_up_logging(form: str) -> None:
    """Log every stage from now on; replaces the handlers of a former command in this process."""
    logger = logging.getLogger("assay")
    logger.handlers[:] = [_JsonHandler() if form == "json" else _TextHandler()]
    logger.propagate = False
    logger.setLevel(logging.INFO)


def stop_logging() -> None:
    """Stop logging."""
    logger = logging.getLogger("assay")
    logger.handlers.clear()
    logger.setLevel(logging.NOTSET)


def _get_time(record: logging.LogRecord) -> datetime:
    return datetime.fromtimestamp(record.created, UTC)


def _quote_text(value: object) -> str:
    text = str(value)
    return json.dumps(text, ensure_ascii=False) if not text or any(c.isspace() or c in '"=' for c in text) else text
