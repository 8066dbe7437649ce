"""The log on stderr: a line a stage, as text or as JSON."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime

import click

from assay.audit.visible import visible

FORMS = ("text", "json")


class _Text(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        facts = getattr(record, "facts", {})
        said = [f"{name}={_plain(value)}" for name, value in facts.items()]
        return visible(" ".join([f"{_instant(record):%H:%M:%S.%f}"[:-3], record.getMessage(), *said]))


class _Json(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        at = _instant(record).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        said = {"at": at, "level": record.levelname.lower(), "stage": record.getMessage()}
        return json.dumps(said | getattr(record, "facts", {}), ensure_ascii=False, default=str)


class _Standard(logging.Handler):
    """To stderr as it is when the line is written, below a progress display."""

    def emit(self, record: logging.LogRecord) -> None:
        click.echo(self.format(record), err=True)


def set_up(form: str) -> None:
    """From now on write a line for every stage; what another command of this process had asked for is over."""
    handler = _Standard()
    handler.setFormatter(_Json() if form == "json" else _Text())
    logger = logging.getLogger("assay")
    logger.handlers[:] = [handler]
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
