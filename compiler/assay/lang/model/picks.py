"""How an instant of a grain is picked, in the words of specs."""

from __future__ import annotations

#: of the rows that agree
FIRST, LAST = "first", "last"
#: the last row ahead of another instant, in the log of that
LATEST_BEFORE = "latest before"
#: of other members of the row
COMPUTED = "computed"
PICKS = (FIRST, LAST, LATEST_BEFORE, COMPUTED)
