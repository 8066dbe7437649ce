"""Listings: tables of the rows of a grain, in articles and in reports."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RowListing:
    """A table of the rows of a grain: columns `keys`, then what metrics measure on each row.

    With `rejected`, these are the rows that filters reject.  If `most` names one of its metrics, pages print only the
    rows of which it is greatest.
    """

    title: str
    grain: str
    keys: tuple[str, ...]
    metrics: tuple[str, ...]
    rejected: bool = False
    most: str = ""

    @property
    def file_name(self) -> str:
        """Return the name of its files, from its title: words in lower case, joined with hyphens."""
        return re.sub(r"[^\w]+", "-", self.title.lower()).strip("-_")
