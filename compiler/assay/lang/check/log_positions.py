"""The checker's part about places in logs: they are comparable within the log of one host alone; and whose logs a
relation reads."""

from __future__ import annotations

from assay.lang.check.checker import Checker
from assay.lang.dependencies import events_of
from assay.lang.model.package import Grain, Instant
from assay.lang.model.picks import LATEST_BEFORE
from assay.lang.scopes import HOST, LOGS


def check_log_positions(checker: Checker) -> None:
    """Check what is picked by its place in a log, and of whose logs relations are."""
    source = {event.name: event.source for event in checker.package.events}
    of_hosts = {item.name for item in checker.package.sources if item.hosts}
    for grain in checker.package.grains:
        named = {item.name: item for item in grain.instants}
        for instant in grain.instants:
            anchor = named.get(instant.before)
            if instant.pick == LATEST_BEFORE and anchor and {instant.of, anchor.of} <= set(source):
                _latest(checker, grain, instant, anchor, (source[instant.of], source[anchor.of]), of_hosts)
    if len(checker.package.sources) > 1:
        _logs(checker)


def _latest(
    checker: Checker, grain: Grain, instant: Instant, anchor: Instant, sources: tuple[str, str], of_hosts: set[str]
) -> None:
    """The latest before another stands in the same log as that."""
    what = f"instant `{instant.name}` of grain `{grain.name}` is the latest before `{anchor.name}`"
    if sources[0] != sources[1]:
        checker.report(
            "pick",
            f"{what}, which is of another source: their records have no order",
            instant.name,
            expected=f"an event of source {sources[1]}",
            found=f"`{instant.of}` of {sources[0]}",
        )
        return
    loose = [item for item in (instant, anchor) if HOST not in {pair.field for pair in item.on}]
    if sources[0] in of_hosts and loose:
        checker.report(
            "pick",
            f"{what}, but `{loose[0].name}` is not bound by the host: logs of several hosts have no order",
            instant.name,
            expected=f"a pair of `{HOST}` among `on`",
            found=", ".join(pair.field for pair in loose[0].on),
        )


def _logs(checker: Checker) -> None:
    """Where there are several sources, a relation over the logs says by its events whose logs."""
    package = checker.package
    texts = [(f"relation `{item.name}`", item.name, item.uses) for item in package.relations]
    checked = [(item.name, item.checks) for item in package.relations]
    checked += [(item.name, item.checks) for item in package.grains]
    for name, checks in checked:
        texts += [(f"check `{item.code}` of `{name}`", item.code, (*item.uses, name)) for item in checks]
    for what, word, uses in texts:
        if LOGS in uses and not events_of(package, uses):
            checker.report(
                "logs",
                f"{what} reads `{LOGS}`, but no event, so that it does not say of which source",
                word,
                expected=f"an event of one of {', '.join(sorted(item.name for item in package.sources))} among `uses`",
            )
