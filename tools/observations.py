#!/usr/bin/env python3
"""Compare drafted observations with the facts of release reports that authors wrote by hand (`just observations`).

python tools/observations.py [FACTS] [--details]

FACTS (default: golden/observations/facts.json) has what the reports state, by cell. A fact is a metric of a run that
changed; all metrics of an observation with a name are one. Recall is the share of the stated facts that are drafted,
precision the share of the drafted facts that are stated. `--details` lists the facts that differ. The exit status is 3
if drafts are worse than they have to be.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.app.build.draft import observe_reports, read_built_reports
from assay.app.session.session import Session, open_session
from assay.report.observations.statements import DraftedGroup, Statement, draft_groups

ROOT = Path(__file__).resolve().parent.parent
FACTS = ROOT / "golden" / "observations" / "facts.json"
PUBLISHED = ROOT / "golden" / "published"
LEAST_RECALL, LEAST_PRECISION = 0.85, 0.80
DIRECTIONS = {"up": 1, "down": -1}
COUNTS = ("stated", "drafted", "both", "opposite")

Fact = tuple[str, str, str, str]
"""Publication, base, run, and a metric or the name of several."""
Directions = dict[Fact, set[int]]
"""The directions in which facts are stated or drafted."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The changes that a report states and those that are drafted on its publications."""

    stated: Directions
    drafted: Directions

    @property
    def opposite(self) -> list[Fact]:
        """The facts whose directions differ."""
        both = self.stated.keys() & self.drafted.keys()
        return sorted(fact for fact in both if not self.stated[fact] & self.drafted[fact])

    @property
    def counts(self) -> Counter[str]:
        """The numbers of facts: stated, drafted, both, and in opposite directions."""
        both = self.stated.keys() & self.drafted.keys()
        numbers = (len(self.stated), len(self.drafted), len(both), len(self.opposite))
        return Counter(dict(zip(COUNTS, numbers, strict=True)))


def compare_report(session: Session, post: Mapping[str, Any]) -> Comparison:
    """Compare the facts of a report with drafts on its publications."""
    facts = [
        fact for sentence in post["sentences"] if sentence["section"] != "conclusion" for fact in sentence["facts"]
    ]
    compared = {(fact["publication"], fact["base"], fact["run"]) for fact in facts}
    names: dict[str, str] = {}
    drafted: Directions = {}
    for publication in sorted({publication for publication, _, _ in compared}):
        reports = observe_reports(read_built_reports(session, [str(PUBLISHED / f"{publication}.json")]))
        joint = (item for group in reports.rules.groups for item in group.observations if item.name)
        names |= {metric: item.name for item in joint for metric in item.metrics}
        for statement in _list_statements(draft_groups(reports.checked, reports.rules, reports.changes)):
            for change in statement.changes:
                place = (publication, change.place.base, change.place.run)
                if place in compared:
                    fact = (*place, names.get(change.metric, change.metric))
                    drafted.setdefault(fact, set()).add(statement.direction)
    stated: Directions = {}
    for item in facts:
        for cell in item["cells"] if item["kind"] == "change" else ():
            fact = (item["publication"], item["base"], item["run"], names.get(cell["metric"], cell["metric"]))
            stated.setdefault(fact, set()).add(DIRECTIONS[item["direction"]])
    return Comparison(stated, drafted)


def _list_statements(groups: Sequence[DraftedGroup]) -> Iterator[Statement]:
    """Yield all statements, also those on details."""
    for statement in (item for group in groups for item in group.statements):
        yield statement
        yield from statement.details


def compute_shares(counts: Mapping[str, int]) -> tuple[float, float]:
    """Return recall and precision; 1 where nothing is stated or drafted."""
    stated, drafted, both = (counts[name] for name in ("stated", "drafted", "both"))
    return both / stated if stated else 1.0, both / drafted if drafted else 1.0


def format_row(name: str, counts: Mapping[str, int]) -> str:
    """Return a line of the table."""
    recall, precision = compute_shares(counts)
    return f"{name:34}" + "".join(f"{counts[item]:9d}" for item in COUNTS) + f"{recall:9.2f}{precision:11.2f}"


def list_differences(comparison: Comparison) -> Iterator[str]:
    """Yield a line for each fact that is only stated, only drafted, or in another direction."""
    for fact in sorted(comparison.stated.keys() ^ comparison.drafted.keys()):
        yield f"  only {'stated ' if fact in comparison.stated else 'drafted'}  {' '.join(fact)}"
    yield from (f"  opposite      {' '.join(fact)}" for fact in comparison.opposite)


def main(arguments: Sequence[str]) -> int:
    """Print a line for each report and one for all."""
    files = [Path(text) for text in arguments if not text.startswith("-")] or [FACTS]
    total: Counter[str] = Counter()
    print(f"{'report':34}" + "".join(f"{item:>9}" for item in COUNTS) + f"{'recall':>9}{'precision':>11}")
    with tempfile.TemporaryDirectory() as cache:
        session = open_session(ROOT, Path(cache))
        for post in json.loads(files[0].read_text(encoding="utf-8"))["posts"]:
            comparison = compare_report(session, post)
            print(format_row(post["post"], comparison.counts))
            total.update(comparison.counts)
            for line in list_differences(comparison) if "--details" in arguments else ():
                print(line)
    print(format_row("all", total))
    recall, precision = compute_shares(total)
    return 3 if recall < LEAST_RECALL or precision < LEAST_PRECISION or total["opposite"] else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
