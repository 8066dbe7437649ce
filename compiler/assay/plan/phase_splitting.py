"""What phases cut: tables whose rows have an instant, and all that is made of them."""

from __future__ import annotations

from assay.lang.model.package import Grain, Package, Relation, Series
from assay.lang.scopes import LOGS


def can_split_by_phase(package: Package, table: str) -> bool:
    """Whether phases restrict the rows of a table, or of what it is made of.

    Series by their instants, grains by their `at`; a grain without one follows its subject, the grain whose runs it
    has, or the tables that its relation reads, if all are cut (besides the hosts' logs).  Events are not cut.
    """
    tables = {item.name: item for item in package.tables}

    def cut(name: str) -> bool:
        """Whether the rows of a table are cut."""
        found = tables.get(name)
        if isinstance(found, Series):
            return True
        if isinstance(found, Relation):
            read = [used for used in found.uses if used != LOGS]
            return bool(read) and all(cut(used) for used in read)
        if not isinstance(found, Grain):
            return False
        return bool(found.at) or any(cut(of) for of in _made_of(found))

    return cut(table)


def _made_of(grain: Grain) -> tuple[str, ...]:
    subject = (grain.subject.grain,) if grain.subject else ()
    return (*subject, grain.runs.of if grain.runs else grain.relation)
