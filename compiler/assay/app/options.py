"""What a user says of a build, and what comes of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.report.output_forms import FILES, USUAL


@dataclass(frozen=True, slots=True)
class Options:
    """What the user may say of a build; empty texts leave it to the report (or, the date, to the data)."""

    filters: tuple[str, ...] = ()
    no_filters: bool = False
    summary: str = ""
    style: str = ""
    title: str = ""
    author: str = ""
    date: str = ""
    at: tuple[str, ...] = ()
    phases: tuple[str, ...] = ()
    forms: tuple[str, ...] = USUAL


@dataclass(frozen=True, slots=True)
class Built:
    """A finished build: its folder, the report in each of its forms, and the warnings that it carries."""

    folder: Path
    reports: tuple[Path, ...]
    warnings: tuple[str, ...]


def reports(folder: Path, forms: Sequence[str]) -> tuple[Path, ...]:
    """The file that a reader opens, of each form."""
    return tuple(folder / FILES[form][0] for form in forms)
